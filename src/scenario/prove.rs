//! The last step before a run: is what the routing engine promises true?

use crate::ids::SlId;
use crate::plan::{BufferSharing, Plan};
use crate::routing::proof::dependency_graph::describe_cycle;
use crate::routing::{Proof, Routes, VerifyError, VerifyOptions, adaptive, verify};
use crate::topology::{Graph, Shape};

/// Checks the routes for the lanes and service levels of the plan.
///
/// # Errors
/// Names the wrong path or the broken promise; routes that may deadlock are an error unless the plan says
/// `allow_deadlock`.
pub fn prove(graph: &Graph, routes: &Routes, plan: &Plan) -> Result<Proof, String> {
    let mut service_levels: Vec<SlId> = plan
        .classes
        .iter()
        .filter(|class| !class.management)
        .flat_map(|class| class.service_levels.iter().copied())
        .collect();
    service_levels.sort_unstable();
    service_levels.dedup();
    if service_levels.is_empty() {
        service_levels.push(SlId(0));
    }
    let options = VerifyOptions {
        service_levels: &service_levels,
        lanes: plan.switch.lanes,
        pool_shared: plan.switch.sharing == BufferSharing::PortPool,
        senders: None,
        receivers: None,
        allow_unreachable: plan.allow_unreachable,
    };
    let tables = match routes {
        Routes::Tables(tables) => tables,
        Routes::Adaptive(routes) => {
            // packets on their way need one for every pair
            let whole = VerifyOptions {
                allow_unreachable: false,
                ..options
            };
            let proof = adaptive::verify(graph, routes, &whole);
            let proof = proof.map_err(|error| error.to_string())?;
            refuse_cycle(graph, &proof, plan, "the data lanes")?;
            return Ok(proof);
        }
    };
    let proof = verify(graph, tables, &options).map_err(|error| refuse(&error, plan))?;
    refuse_cycle(graph, &proof, plan, "the data lanes")?;
    if plan.classes.iter().any(|class| class.management) && !options.pool_shared {
        // VL15 is one lane: layers do not help there
        let merged = VerifyOptions {
            pool_shared: true,
            ..options
        };
        let management = verify(graph, tables, &merged).map_err(|error| error.to_string())?;
        refuse_cycle(graph, &management, plan, "VL15")?;
    }
    Ok(proof)
}

fn refuse(error: &VerifyError, plan: &Plan) -> String {
    match error {
        VerifyError::NoPath {
            is_missing: true, ..
        } if !plan.allow_unreachable => {
            format!("{error}; `allow_unreachable: true` leaves such pairs out")
        }
        _ => error.to_string(),
    }
}

fn refuse_cycle(graph: &Graph, proof: &Proof, plan: &Plan, lanes: &str) -> Result<(), String> {
    if proof.acyclic || plan.allow_deadlock {
        return Ok(());
    }
    let cycle = proof.cycle.as_deref().unwrap_or_default();
    let other = match graph.shape() {
        Shape::Dragonfly(_) => {
            "another engine (`DragonflyMinimal` and `Ugal` are made for dragonflies)"
        }
        _ => "another engine",
    };
    Err(format!(
        "{lanes} may deadlock: choose {other} or more lanes, or set `allow_deadlock: true`; the \
         channels that may wait in a circle:\n{}",
        describe_cycle(graph, cycle)
    ))
}
