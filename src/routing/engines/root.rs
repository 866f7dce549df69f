//! Chooses the roots of up*/down* routing and of spanning trees.
//!
//! Cost: for `Auto` one breadth-first search per switch; what up*/down* does beyond is in `root_by_load.rs`.

use crate::ids::SwitchId;
use crate::routing::RoutingError;
use crate::routing::balance::{Destination, destinations};
use crate::routing::paths::{Adjacency, UNREACHED};
use crate::topology::Graph;
use rayon::prelude::*;
use ron::value::RawValue;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use std::cmp::Reverse;

/// The root as written in the scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum Root {
    /// Chosen by the engine.
    #[default]
    Auto,
    /// Named one by one.
    These(Vec<Named>),
}

impl Root {
    /// Switch 0.
    pub(super) fn first() -> Self {
        Self::These(vec![Named::Number(0)])
    }
}

/// A switch as written in the scenario.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(super) enum Named {
    Number(u32),
    Name(String),
}

/// One root or a list of them.
#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMore {
    One(Named),
    More(Vec<Named>),
}

impl<'de> Deserialize<'de> for Root {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        // a bare word other than `Auto` is read as a name; the text tells it from a switch named "Auto"
        let text = raw.get_ron().trim();
        if text == "Auto" {
            return Ok(Self::Auto);
        }
        match ron::from_str(text) {
            Ok(OneOrMore::One(root)) => Ok(Self::These(vec![root])),
            Ok(OneOrMore::More(roots)) => Ok(Self::These(roots)),
            Err(_) => Err(D::Error::custom(format!(
                "root `{text}` is none of: `Auto`, a switch name in quotes, a switch number, a list of them"
            ))),
        }
    }
}

/// The one switch that `root` names; for `Auto`, and where that switch has no link, as in the parts of a fabric it is not
/// in, the one nearest to all hosts.
///
/// # Errors
/// [`RoutingError::Unsupported`] for a switch that does not exist, or with `reason` for none or several.
pub(super) fn single(
    engine: &'static str,
    root: &Root,
    graph: &Graph,
    adjacency: &Adjacency,
    reason: &str,
) -> Result<SwitchId, RoutingError> {
    match named(root, graph, engine)?.as_deref() {
        Some(&[root]) if graph.connected_ports(root).next().is_some() => Ok(root),
        None | Some(&[_]) => Ok(center(adjacency, &destinations(graph))),
        Some(_) => Err(RoutingError::unsupported(engine, reason)),
    }
}

/// The switches that `root` names, `None` for `Auto`.
///
/// # Errors
/// [`RoutingError::Unsupported`] of `engine`, for a switch that does not exist.
pub(super) fn named(
    root: &Root,
    graph: &Graph,
    engine: &'static str,
) -> Result<Option<Vec<SwitchId>>, RoutingError> {
    let Root::These(names) = root else {
        return Ok(None);
    };
    let roots = names.iter().map(|name| find(engine, name, graph));
    let roots = roots.collect::<Result<Vec<SwitchId>, RoutingError>>()?;
    for (place, root) in roots.iter().enumerate() {
        if roots[..place].contains(root) {
            let name = &graph.switches()[root.index()].name;
            return Err(RoutingError::Unsupported {
                engine,
                reason: format!("root `{name}` is there twice"),
            });
        }
    }
    Ok(Some(roots))
}

fn find(engine: &'static str, named: &Named, graph: &Graph) -> Result<SwitchId, RoutingError> {
    let mut switches = graph.switch_ids();
    let found = match named {
        Named::Number(number) => switches.find(|switch| switch.0 == *number),
        Named::Name(name) => switches.find(|switch| graph.switches()[switch.index()].name == *name),
    };
    found.ok_or_else(|| RoutingError::Unsupported {
        engine,
        reason: match named {
            Named::Number(number) => format!(
                "there is no root switch {number}, switches are numbered 0..={}",
                graph.switches().len() - 1
            ),
            Named::Name(name) => format!("there is no root switch named `{name}`"),
        },
    })
}

/// The switches farthest from any host, unless all switches have hosts.
pub(super) fn tops(adjacency: &Adjacency, destinations: &[Destination]) -> Option<Vec<SwitchId>> {
    let with_hosts: Vec<SwitchId> = destinations.iter().map(|d| d.switch).collect();
    let height = adjacency.distances(&with_hosts);
    let top = height.iter().copied().filter(|&h| h != UNREACHED).max()?;
    let switches = (0..adjacency.len()).filter(|&switch| height[switch] == top);
    (top > 0).then(|| switches.map(SwitchId::from).collect())
}

/// The switch nearest to all hosts, the first of [`by_distance`].
pub(super) fn center(adjacency: &Adjacency, destinations: &[Destination]) -> SwitchId {
    let nearest = by_distance(adjacency, destinations);
    nearest.first().copied().unwrap_or(SwitchId(0))
}

/// All switches by (sum of distances to hosts, eccentricity, -degree, id).
pub(super) fn by_distance(adjacency: &Adjacency, destinations: &[Destination]) -> Vec<SwitchId> {
    let mut keys: Vec<_> = (0..adjacency.len())
        .into_par_iter()
        .map(|switch| {
            let distance = adjacency.distances(&[SwitchId::from(switch)]);
            let sum: u64 = destinations
                .iter()
                .map(|d| d.hosts.len() as u64 * u64::from(distance[d.switch.index()]))
                .sum();
            let eccentricity = distance.into_iter().max();
            let degree = adjacency.exits(switch).len();
            (sum, eccentricity, Reverse(degree), switch)
        })
        .collect();
    keys.sort_unstable();
    keys.into_iter().map(|key| SwitchId::from(key.3)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Arguments;

    #[derive(Deserialize)]
    struct Parameters {
        root: Root,
    }

    fn read(text: &str) -> Result<Root, String> {
        let parsed = Arguments { text }.parse::<Parameters>();
        parsed.map(|p| p.root).map_err(|error| error.message)
    }

    #[test]
    fn all_spellings_are_read() {
        let name = |text: &str| Named::Name(text.into());
        assert_eq!(read("(root: Auto)"), Ok(Root::Auto));
        assert_eq!(read("(root: 3)"), Ok(Root::These(vec![Named::Number(3)])));
        assert_eq!(read("(root: \"S1\")"), Ok(Root::These(vec![name("S1")])));
        assert_eq!(read("(root: S1)"), Ok(Root::These(vec![name("S1")])));
        let both = Root::These(vec![Named::Number(2), name("S1")]);
        assert_eq!(read("(root: [2, \"S1\"])"), Ok(both));
        for wrong in ["true", "-1"] {
            let error = read(&format!("(root: {wrong})")).unwrap_err();
            assert!(
                error.starts_with(&format!("root `{wrong}` is none of: `Auto`")),
                "{error}"
            );
        }
    }
}
