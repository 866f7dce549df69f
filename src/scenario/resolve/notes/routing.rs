//! Parameters of routing engines that another one of theirs leaves without effect.

use super::varied::Varied;
use crate::routing::ENGINES;
use crate::scenario::Resolved;
use crate::scenario::syntax::Node;

/// What is said of passes over the destinations where ports are counted, once.
pub(super) fn notes(resolved: &Resolved, varied: &Varied<'_>) -> Option<String> {
    let part = &resolved.scenario.routing;
    let entry = ENGINES.find(&part.name.value)?;
    let has = |name: &str| entry.parameters.iter().any(|known| known.name == name);
    let written = |name: &str| part.parameter(name).map(Node::to_text);
    let balance = written("balance").filter(|_| has("balance"))?;
    let passes = written("passes").filter(|_| has("passes"))?;
    (balance == "Ports" && passes != "1" && !varied.includes("routing")).then(|| {
        format!(
            "{}.passes changes nothing: with `balance: Ports` every destination chooses its ports once, with `Load` as often as that",
            part.name.path
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{NOTHING, UNIFORM, said_beside};
    use crate::routing::ENGINES;

    #[test]
    fn passes_where_ports_are_counted_are_told() {
        let told = "routing.passes changes nothing: with `balance: Ports` every destination chooses its ports once, with `Load` as \
                    often as that";
        let of =
            |routing: &str, varied: &[&str]| said_beside(varied, &[UNIFORM, ("MinHop()", routing)]);
        let has = |name: &str, parameter: &str| {
            let entry = ENGINES.find(name).expect("an engine");
            entry.parameters.iter().any(|known| known.name == parameter)
        };
        let both = ENGINES
            .names()
            .filter(|name| has(name, "balance") && has(name, "passes"));
        for engine in both {
            let ports = format!("{engine}(passes: 4, balance: Ports)");
            assert_eq!(of(&ports, &[]), [told], "{engine}");
            for varied in ["routing", "routing.balance"] {
                assert_eq!(of(&ports, &[varied]), NOTHING, "{engine}");
            }
            for others in [
                "passes: 4",
                "passes: 4, balance: Load",
                "passes: 1, balance: Ports",
                "balance: Ports",
            ] {
                assert_eq!(
                    of(&format!("{engine}({others})"), &[]),
                    NOTHING,
                    "{engine}, {others}"
                );
            }
        }
        assert_eq!(of("TurnProhibition(passes: 4)", &[]), NOTHING);
    }
}
