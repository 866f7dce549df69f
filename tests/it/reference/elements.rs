//! The elements of switches and hosts: what the channels that leave one have in common, and who hears broadcasts (D68).

use super::Setting;
use super::visits::owner;
use virtlane::control::{Algorithm, Element, Payload};
use virtlane::ids::HostId;
use virtlane::plan::Control;
use virtlane::topology::Endpoint;

/// The element of a class at a switch or host.
#[derive(Debug)]
struct Placed {
    element: Element,
    /// Cycles in which it has heard a copy of a broadcast.
    heard: Vec<u64>,
    /// What it has said after the last stage Notify, at first at its start.
    said: u32,
}

/// The elements of a class, and of those that have them in common with it (D73).
#[derive(Debug)]
struct OfClass {
    switches: Vec<Placed>,
    hosts: Vec<Placed>,
}

/// All elements.
#[derive(Debug)]
pub(super) struct Elements {
    /// By class; none of one that has those of a class before it.
    classes: Vec<Option<OfClass>>,
    /// By class: whose elements it has.
    owners: Vec<usize>,
}

impl Elements {
    /// Before cycle 0.
    pub(super) fn new(setting: Setting<'_>) -> Self {
        let of_class = |control: &Control| {
            let algorithm = &control.algorithm;
            if !algorithm.has_elements() {
                return None;
            }
            let times = control.transport.and_then(|times| times.broadcast);
            let times = times.expect("D68: such a class goes out of band");
            assert!(times.serialisation >= 1 && times.processing >= 1, "D68");
            assert!(algorithm.probes() && !algorithm.is_shared(), "D68");
            let placed = |is_host: bool| {
                let element = algorithm.element(is_host).expect("D68");
                let said = algorithm.says(&element);
                Placed {
                    element,
                    heard: Vec::new(),
                    said,
                }
            };
            Some(OfClass {
                switches: setting.graph.switch_ids().map(|_| placed(false)).collect(),
                hosts: setting.graph.host_ids().map(|_| placed(true)).collect(),
            })
        };
        let classes = setting.plan.classes.iter().enumerate();
        let own = classes.map(|(class, plan)| {
            let control = plan.control.as_ref();
            let control = control.filter(|_| owner(setting, class) == class);
            control.and_then(of_class)
        });
        let classes = 0..setting.plan.classes.len();
        Self {
            classes: own.collect(),
            owners: classes.map(|class| owner(setting, class)).collect(),
        }
    }

    /// That of a class at a switch or host, if the class has any.
    pub(super) fn at(&mut self, class: usize, place: Endpoint) -> Option<&mut Element> {
        let of_class = self.classes[self.owners[class]].as_mut()?;
        Some(&mut of_class.placed(place).element)
    }

    /// A probe of a class was delivered at a host in this cycle; returns the word of the broadcast that is wanted.
    pub(super) fn arrive(
        &mut self,
        setting: Setting<'_>,
        (class, host): (usize, HostId),
        payload: Payload,
        now: u64,
    ) -> Option<u32> {
        let element = self.at(class, Endpoint::Host(host))?;
        algorithm(setting, class).arrive(element, now, payload)
    }

    /// A copy of a broadcast is heard at a switch or host in this cycle; whether it is sent on.
    pub(super) fn hear(
        &mut self,
        setting: Setting<'_>,
        (class, place): (usize, Endpoint),
        word: u32,
        now: u64,
    ) -> bool {
        let of_class = self.classes[self.owners[class]].as_mut();
        let placed = of_class.expect("a class with elements").placed(place);
        placed.heard.push(now);
        let goes_on = algorithm(setting, class).hear(&mut placed.element, now, word);
        goes_on && matches!(place, Endpoint::Switch(..))
    }

    /// At the end of stage Notify: of each class whose element at this host says something else than after the last one,
    /// what it says.
    pub(super) fn tell(&mut self, setting: Setting<'_>, host: HostId) -> Vec<(usize, u32)> {
        let mut told = Vec::new();
        for (class, of_class) in self.classes.iter_mut().enumerate() {
            let Some(of_class) = of_class else { continue };
            let placed = &mut of_class.hosts[host.index()];
            let says = algorithm(setting, class).says(&placed.element);
            if says != placed.said {
                placed.said = says;
                told.push((class, says));
            }
        }
        told
    }

    /// Of every element of a class, those of switches, then those of hosts: the cycles in which it has heard copies, and
    /// its state in words.
    pub(super) fn seen(&self, class: usize) -> Vec<(Vec<u64>, String)> {
        let of_class = self.classes[class].iter();
        let all = of_class.flat_map(|of_class| of_class.switches.iter().chain(&of_class.hosts));
        all.map(|placed| (placed.heard.clone(), format!("{:?}", placed.element)))
            .collect()
    }
}

impl OfClass {
    fn placed(&mut self, place: Endpoint) -> &mut Placed {
        match place {
            Endpoint::Host(host) => &mut self.hosts[host.index()],
            Endpoint::Switch(switch, _) => &mut self.switches[switch.index()],
        }
    }
}

fn algorithm(setting: Setting<'_>, class: usize) -> &Algorithm {
    let control = setting.plan.classes[class].control.as_ref();
    &control.expect("a class with control").algorithm
}
