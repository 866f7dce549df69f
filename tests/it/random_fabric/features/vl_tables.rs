//! What a case has of VL tables: where they are asked (D6, D8, D18, D70), their rules and units (D54), and
//! which grants inputs accept first (D71).

use virtlane::plan::{Forwarding, InputSpeedup, Matching, Plan};
use virtlane::qos::vl_arbitration::{Accept, Places, Rules, Unit};

/// Where tables are, and which ones; those of wormhole switching (D65) have other features beside.
pub(super) fn vl_tables(plan: &Plan) -> Vec<(&'static str, bool)> {
    let switch = &plan.switch;
    let Some(tables) = &switch.vl_arbitration else {
        return Vec::new();
    };
    let wormhole = switch.forwarding == Forwarding::Wormhole;
    let at_inputs = switch.matching == Matching::InputFirst;
    let both = tables.places == Places::InputsAndChannels;
    let at_channels = switch.output_lane_buffer > 0 && (!at_inputs || both);
    let at_outputs = !at_inputs && !at_channels && !wormhole;
    let legacy = tables.rules == Rules::Legacy;
    let by_priority = tables.accept == Accept::HighFirst && !wormhole;
    let several = matches!(switch.input_speedup, InputSpeedup::Limited(2..));
    vec![
        ("huge flits with VL tables", plan.flit_bytes > 1 << 29),
        ("VL tables at inputs", at_inputs),
        ("VL tables at channels", at_channels),
        ("VL tables at outputs", at_outputs),
        ("tables at inputs and channels", both),
        ("legacy tables at inputs", at_inputs && legacy),
        (
            "legacy tables at channels behind output lanes",
            at_channels && !both && legacy,
        ),
        ("legacy tables at outputs", at_outputs && legacy),
        ("legacy tables at inputs and channels", both && legacy),
        (
            "tables in packets or flits",
            tables.unit != Unit::Blocks64 && !wormhole,
        ),
        ("accepting by priority", by_priority),
        (
            "accepting by priority with several places",
            by_priority && several,
        ),
    ]
}
