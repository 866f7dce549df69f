//! Algorithms whose switches and hosts have elements: what all channels that leave a switch or host have in common, and
//! broadcasts that go through the network from element to element (D68 of the model).
//!
//! An element is a fourth pure state machine on integers. It is visited with the agents of its channels, hears broadcasts, and
//! that of a host begins them, and tells the senders of its host what it says.
//!
//! New ones: an algorithm that implements [`Elements`] beside [`Probing`], and its name in the list at the end.

use super::{Agent, Algorithm, Payload, Probing, dffa_rounds, erratic};
use serde::{Deserialize, Serialize};
use std::fmt::Debug;

/// What an algorithm has whose switches and hosts have elements; `self` are its parameters.
pub trait Elements: Probing {
    /// State of an element.
    type Element: Debug + Clone + Serialize;

    /// Whether they have with these parameters.
    fn has_elements(&self) -> bool {
        true
    }

    /// The element of a switch or of a host before cycle 0.
    fn element(&self, is_host: bool) -> Self::Element;

    /// In place of [`Probing::visit`]: something takes the agent's channel in cycle `now`; the element is that of the
    /// switch or host which the channel leaves.
    fn pass(
        &self,
        agent: &mut Self::Agent,
        element: &mut Self::Element,
        now: u64,
        payload: &mut Payload,
    );

    /// A probe was delivered at a host in cycle `now`, before its receiver is told; what is to be broadcast, if anything.
    fn arrive(&self, element: &mut Self::Element, now: u64, payload: Payload) -> Option<u32>;

    /// A broadcast was heard in cycle `now`; whether a switch sends it on (a host never does).
    fn hear(&self, element: &mut Self::Element, now: u64, word: u32) -> bool;

    /// What the element of a host says; its senders are told when that changes.
    fn says(&self, element: &Self::Element) -> u32;
}

/// The algorithms with elements, and the states of these.
macro_rules! with_elements {
    ($($name:ident in $module:ident),* $(,)?) => {
        /// State of an element.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub enum Element {
            $(#[doc = concat!("See [`", stringify!($module), "`].")] $name(<$module::$name as Elements>::Element)),*
        }

        impl Algorithm {
            /// [`Elements::element`]; `None` where the algorithm has none.
            pub fn element(&self, is_host: bool) -> Option<Element> {
                match self {
                    $(Self::$name(own) if own.probes() && own.has_elements() => Some(Element::$name(own.element(is_host))),)*
                    _ => None,
                }
            }

            /// Whether switches and hosts have elements (D68).
            pub fn has_elements(&self) -> bool {
                match self {
                    $(Self::$name(own) => own.probes() && own.has_elements(),)*
                    _ => false,
                }
            }

            /// [`Elements::pass`].
            ///
            /// # Panics
            /// When agent or element are another algorithm's.
            pub fn pass(&self, agent: &mut Agent, element: &mut Element, now: u64, payload: &mut Payload) {
                match (self, agent, element) {
                    $((Self::$name(own), Agent::$name(agent), Element::$name(state)) => own.pass(agent, state, now, payload),)*
                    _ => unreachable!("agents and elements keep their algorithm"),
                }
            }

            /// [`Elements::arrive`].
            ///
            /// # Panics
            /// When the element is another algorithm's.
            pub fn arrive(&self, element: &mut Element, now: u64, payload: Payload) -> Option<u32> {
                match (self, element) {
                    $((Self::$name(own), Element::$name(state)) => own.arrive(state, now, payload),)*
                    _ => unreachable!("an element keeps its algorithm"),
                }
            }

            /// [`Elements::hear`].
            ///
            /// # Panics
            /// When the element is another algorithm's.
            pub fn hear(&self, element: &mut Element, now: u64, word: u32) -> bool {
                match (self, element) {
                    $((Self::$name(own), Element::$name(state)) => own.hear(state, now, word),)*
                    _ => unreachable!("an element keeps its algorithm"),
                }
            }

            /// [`Elements::says`].
            ///
            /// # Panics
            /// When the element is another algorithm's.
            pub fn says(&self, element: &Element) -> u32 {
                match (self, element) {
                    $((Self::$name(own), Element::$name(state)) => own.says(state),)*
                    _ => unreachable!("an element keeps its algorithm"),
                }
            }
        }
    };
}

with_elements![
    DffaRounds in dffa_rounds,
    Erratic in erratic,
];
