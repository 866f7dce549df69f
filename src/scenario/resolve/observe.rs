//! Section `observe` against the traffic classes.

use super::super::schema::Scenario;
use super::super::syntax::Mistake;
use crate::measure::Observe;
use crate::registry::unknown;

/// What is recorded, with the classes by number.
pub(super) fn observe(scenario: &Scenario) -> Result<Observe, Mistake> {
    let count = scenario.traffic.len();
    let Some(observe) = &scenario.observe else {
        return Ok(Observe {
            classes: vec![true; count],
            ..Observe::default()
        });
    };
    let mut classes = vec![observe.classes.is_none(); count];
    for name in observe.classes.iter().flatten() {
        let names = || {
            scenario
                .traffic
                .iter()
                .map(|class| class.name.value.as_str())
        };
        let Some(number) = names().position(|known| known == name.value) else {
            return Err(name.mistake(unknown("traffic class", &name.value, names())));
        };
        classes[number] = true;
    }
    Ok(Observe {
        packets: observe.packets,
        flows: observe.flows,
        classes,
    })
}
