//! The text of a GOAL schedule.

use super::Wrong;
use std::collections::{BTreeMap, BTreeSet};

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Computes for so many units of time.
    Compute(u64),
    /// Sends so many bytes to a rank with a tag.
    Send { bytes: u64, to: u32, tag: u64 },
    /// Receives from a rank with a tag.
    Receive { bytes: u64, from: u32, tag: u64 },
}

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Operation {
    pub(super) line: u64,
    pub(super) rank: u32,
    pub(super) action: Action,
    /// Operations it requires: number, whether their start is enough.
    pub(super) requires: Vec<(usize, bool)>,
}

/// What is expected on a line of a rank.
const LINE: &str = "expected `LABEL: calc N`, `LABEL: send Nb to RANK`, `LABEL: recv Nb from RANK`, \
                    `LABEL requires LABEL`, `LABEL irequires LABEL` or `}`";

/// The operations of all ranks, in the order of the text.
///
/// # Errors
/// The first line that is none of the language.
pub(super) fn operations(text: &str) -> Result<Vec<Operation>, Wrong> {
    let mut reader = Reader::default();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split("//").next().unwrap_or_default();
        // braces and the colon of a label are words of their own
        let line = ["{", "}", ":"].iter().fold(line.to_owned(), |line, mark| {
            line.replace(mark, &format!(" {mark} "))
        });
        let words: Vec<_> = line.split_whitespace().collect();
        reader
            .line(number, &words)
            .map_err(|reason| (number, reason))?;
    }
    match (reader.ranks, reader.open) {
        (None, _) => Err((0, "has no `num_ranks`: is it a GOAL schedule?".into())),
        (_, Some(rank)) => Err((0, format!("rank {rank} does not end: `}}` is missing"))),
        _ => Ok(reader.operations),
    }
}

#[derive(Default)]
struct Reader {
    operations: Vec<Operation>,
    ranks: Option<u32>,
    /// The rank that is open, and its labels.
    open: Option<u32>,
    labels: BTreeMap<String, usize>,
    /// Ranks so far.
    known: BTreeSet<u32>,
}

impl Reader {
    fn line(&mut self, line: u64, words: &[&str]) -> Result<(), String> {
        let Some(rank) = self.open else {
            return self.outside(words);
        };
        match words {
            [] => Ok(()),
            ["}"] => {
                self.open = None;
                self.labels.clear();
                Ok(())
            }
            [label, ":", rest @ ..] => self.operation(line, rank, label, rest),
            [label, kind @ ("requires" | "irequires"), other] => {
                let (number, other) = (self.label(label)?, self.label(other)?);
                let required = (other, *kind == "irequires");
                self.operations[number].requires.push(required);
                Ok(())
            }
            _ => Err(LINE.into()),
        }
    }

    /// A line between ranks.
    fn outside(&mut self, words: &[&str]) -> Result<(), String> {
        match (words, self.ranks) {
            ([], _) => Ok(()),
            (["num_ranks", ranks], None) => {
                self.ranks = Some(number(ranks)?);
                Ok(())
            }
            (["rank", rank, "{"], Some(ranks)) => {
                let rank = number(rank)?;
                if rank >= ranks {
                    return Err(format!("there is no rank {rank}: `num_ranks` is {ranks}"));
                }
                if !self.known.insert(rank) {
                    return Err(format!("rank {rank} is there twice"));
                }
                self.open = Some(rank);
                Ok(())
            }
            (_, None) => Err("expected `num_ranks N` first".into()),
            _ => Err("expected `rank N {`".into()),
        }
    }

    fn operation(
        &mut self,
        line: u64,
        rank: u32,
        label: &str,
        words: &[&str],
    ) -> Result<(), String> {
        let (action, clauses) = match words {
            ["calc", units, clauses @ ..] => (Action::Compute(number(units)?), clauses),
            ["send", bytes, "to", to, clauses @ ..] => {
                let (bytes, to, tag) = (self::bytes(bytes)?, self.rank(to)?, tag(clauses)?);
                (Action::Send { bytes, to, tag }, clauses)
            }
            ["recv", bytes, "from", from, clauses @ ..] => {
                let (bytes, from, tag) = (self::bytes(bytes)?, self.rank(from)?, tag(clauses)?);
                (Action::Receive { bytes, from, tag }, clauses)
            }
            _ => return Err(LINE.into()),
        };
        let known = |clause: &[&str]| matches!(clause, ["tag" | "cpu" | "nic", _]);
        if let Some(clause) = clauses.chunks(2).find(|clause| !known(clause)) {
            let clause = clause.join(" ");
            return Err(format!(
                "`{clause}`: expected `tag N`, `cpu N` or `nic N` there"
            ));
        }
        let new = self.operations.len();
        if self.labels.insert(label.to_owned(), new).is_some() {
            return Err(format!("the label `{label}` is there twice in rank {rank}"));
        }
        self.operations.push(Operation {
            line,
            rank,
            action,
            requires: Vec::new(),
        });
        Ok(())
    }

    fn label(&self, label: &str) -> Result<usize, String> {
        let found = self.labels.get(label);
        found
            .copied()
            .ok_or_else(|| format!("there is no operation `{label}` in this rank so far"))
    }

    fn rank(&self, text: &str) -> Result<u32, String> {
        let ranks = self.ranks.unwrap_or(0);
        match number(text)? {
            rank if rank < ranks => Ok(rank),
            rank => Err(format!("there is no rank {rank}: `num_ranks` is {ranks}")),
        }
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    let number = text.parse();
    number.map_err(|_| format!("`{text}` is not a whole number that can be here"))
}

/// `1024b`.
fn bytes(text: &str) -> Result<u64, String> {
    let count = text.strip_suffix(['b', 'B']);
    let count =
        count.ok_or_else(|| format!("`{text}` is no size: expected bytes such as `1024b`"))?;
    number(count)
}

/// The tag among the clauses; 0 without one.
fn tag(clauses: &[&str]) -> Result<u64, String> {
    let mut clauses = clauses.chunks(2);
    match clauses.find(|clause| clause[0] == "tag") {
        Some([_, tag]) => number(tag),
        _ => Ok(0),
    }
}
