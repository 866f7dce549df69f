//! Three-stage Clos networks: `r` outer switches of `n` hosts, all linked to `m` middle switches.
//!
//! Guarantees: strictly non-blocking when `m >= 2n - 1` (any free pair of hosts can be connected without
//! moving a connection), rearrangeably non-blocking when `m >= n` (any permutation can be connected).
//! Fails with: [`TopologyError::Parameter`] when a number is 0, `m` is too small for the form asked for, or a
//! switch gets too many ports.
//! Cost: O(links + hosts) time and memory.
//!
//! Links are full duplex, so by default first and last stage are the same switches (a folded Clos network:
//! the input and the output of a host are one port). `folded: false` keeps them apart: `r` switches of the
//! first stage, then `r` of the last, each with its own `n` hosts.
//!
//! The numbering is that of [`XgftShape`] with two levels: outer switches first,
//! on each hosts, then the middle switches ascending.
//!
//! # Deviations
//!
//! The two theorems are about circuits; in a packet network they say that routes without a common link
//! exist, not that a routing engine finds them.
//!
//! References: [`CLOS`], [`BENES`]

use super::xgft::{self, Blame};
use crate::references::{BENES, CLOS};
use crate::registry::{Entry, Parameter};
use crate::topology::graph::limits::{at_least, node_count, parameter_error};
use crate::topology::graph::{Graph, XgftShape};
use crate::topology::{BuildContext, BuildTopology, Topology, TopologyError};
use serde::Deserialize;
use std::fmt;

/// What a scenario can say about it.
pub const ENTRY: Entry<BuildTopology> = Entry {
    name: "Clos",
    aliases: &[],
    summary: "three-stage Clos network, strictly or rearrangeably non-blocking",
    parameters: &[
        Parameter {
            name: "n",
            kind: "integer >= 1",
            default: None,
            summary: "hosts on an outer switch",
        },
        Parameter {
            name: "r",
            kind: "integer >= 1",
            default: None,
            summary: "outer switches of a stage",
        },
        Parameter {
            name: "m",
            kind: "integer >= 1",
            default: Some("fewest of the form"),
            summary: "middle switches; without `form` any number",
        },
        Parameter {
            name: "form",
            kind: "StrictlyNonBlocking | Rearrangeable",
            default: Some("Rearrangeable without `m`, else unchecked"),
            summary: "what `m` must suffice for: m >= 2n - 1, or m >= n",
        },
        Parameter {
            name: "folded",
            kind: "true | false",
            default: Some("true"),
            summary: "first and last stage are the same switches; false = r first and r last ones",
        },
    ],
    guarantees: &[
        "m >= 2n - 1: strictly non-blocking; m >= n: rearrangeably non-blocking",
        "outer switches first; ports: hosts, then middle switches ascending",
    ],
    references: &[CLOS, BENES],
    build: |arguments| Ok(Box::new(arguments.parse::<Clos>()?)),
};

/// What a Clos network can connect without a common link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum Form {
    /// Some permutations have no such connection: `m < n`.
    #[serde(skip)]
    Blocking,
    /// Any permutation: `m >= n`.
    Rearrangeable,
    /// Any free pair, whatever is connected already: `m >= 2n - 1`.
    StrictlyNonBlocking,
}

impl Form {
    /// The strongest form of `n` hosts on an outer switch and `m` middle switches (links up, when there are
    /// parallel ones).
    pub fn of(n: u32, m: u32) -> Self {
        let (n, m) = (u64::from(n), u64::from(m));
        if m + 1 >= 2 * n {
            Self::StrictlyNonBlocking
        } else if m >= n {
            Self::Rearrangeable
        } else {
            Self::Blocking
        }
    }

    /// Fewest middle switches for `n` hosts on an outer switch.
    fn fewest(self, n: u32) -> u32 {
        match self {
            Self::Blocking => 1,
            Self::Rearrangeable => n,
            Self::StrictlyNonBlocking => n.saturating_mul(2).saturating_sub(1),
        }
    }
}

impl fmt::Display for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Blocking => "blocking (m < n)",
            Self::Rearrangeable => "rearrangeably non-blocking (n <= m < 2n - 1)",
            Self::StrictlyNonBlocking => "strictly non-blocking (m >= 2n - 1)",
        })
    }
}

/// Parameters of a Clos network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clos {
    /// Hosts on an outer switch.
    pub n: u32,
    /// Outer switches of a stage.
    pub r: u32,
    /// Middle switches; `None` = fewest of the form.
    #[serde(default)]
    pub m: Option<u32>,
    /// What `m` must suffice for.
    #[serde(default)]
    pub form: Option<Form>,
    /// Whether first and last stage are the same switches.
    #[serde(default = "yes")]
    pub folded: bool,
}

const fn yes() -> bool {
    true
}

impl Topology for Clos {
    fn build(&self, context: &BuildContext<'_>) -> Result<Graph, TopologyError> {
        at_least("n", self.n, 1)?;
        at_least("r", self.r, 1)?;
        let fewest = self.form.unwrap_or(Form::Rearrangeable).fewest(self.n);
        let middle = match (self.m, self.form) {
            (Some(m), Some(form)) if m < fewest => {
                let reason = format!(
                    "{m} middle switches for n = {} are {}, expected at least {fewest} for `{form:?}`",
                    self.n,
                    Form::of(self.n, m)
                );
                return Err(parameter_error("m", reason));
            }
            (m, _) => m.unwrap_or(fewest),
        };
        let outer = u64::from(self.r) * if self.folded { 1 } else { 2 };
        let outer = node_count("r", "outer switches", Some(outer))?;
        let shape = XgftShape {
            children: vec![self.n, outer],
            parents: vec![1, middle],
            parallel: vec![1, 1],
        };
        let blame = Blame {
            hosts: "n",
            children: "r",
            parents: "m",
            parallel: "m",
        };
        let name = |level, word| match level {
            1 if self.folded => format!("outer{word}"),
            1 if word < self.r => format!("first{word}"),
            1 => format!("last{}", word - self.r),
            _ => format!("middle{word}"),
        };
        xgft::build(shape, blame, name, context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::survey::Survey;
    use crate::topology::tests::context;

    fn clos(n: u32, r: u32, m: Option<u32>, form: Option<Form>) -> Clos {
        Clos {
            n,
            r,
            m,
            form,
            folded: true,
        }
    }

    #[test]
    fn the_two_classical_forms_have_their_middle_switches() {
        let switches = |form| {
            let graph = clos(4, 4, None, form).build(&context()).unwrap();
            assert_eq!(graph.hosts().len(), 16);
            graph.switches().len()
        };
        assert_eq!(switches(None), 4 + 4);
        assert_eq!(switches(Some(Form::Rearrangeable)), 4 + 4);
        assert_eq!(switches(Some(Form::StrictlyNonBlocking)), 4 + 7);
    }

    #[test]
    fn forms_are_those_of_the_theorems() {
        assert_eq!(Form::of(4, 3), Form::Blocking);
        assert_eq!(Form::of(4, 4), Form::Rearrangeable);
        assert_eq!(Form::of(4, 6), Form::Rearrangeable);
        assert_eq!(Form::of(4, 7), Form::StrictlyNonBlocking);
        assert_eq!(Form::of(1, 1), Form::StrictlyNonBlocking);
    }

    #[test]
    fn unfolded_it_has_two_outer_stages() {
        let unfolded = Clos {
            folded: false,
            ..clos(2, 4, None, None)
        };
        let graph = unfolded.build(&context()).unwrap();
        let survey = Survey::new(&graph);
        assert_eq!((survey.switches, survey.hosts), (4 + 4 + 2, 16));
        assert_eq!((survey.switch_links, survey.diameter), (8 * 2, 2));
        assert_eq!(graph.switches()[4].name, "last0");
    }

    #[test]
    fn too_few_middle_switches_are_refused() {
        let message = |m, form| {
            let error = clos(4, 4, m, form).build(&context()).unwrap_err();
            error.to_string()
        };
        assert_eq!(
            message(Some(6), Some(Form::StrictlyNonBlocking)),
            "`m`: 6 middle switches for n = 4 are rearrangeably non-blocking (n <= m < 2n - 1), expected \
             at least 7 for `StrictlyNonBlocking`"
        );
        assert_eq!(
            message(Some(0), None),
            "`m`: 0 is too small, expected at least 1"
        );
        assert!(clos(4, 4, Some(2), None).build(&context()).is_ok());
    }
}
