//! The statements of a GOAL schedule.
//!
//! ```text
//! num_ranks 2
//! rank 0 {                         /* statements are apart by blanks, in lines or not */
//!   work: calc 100                 // with a label, so that others can require it
//!   out: send 64b to 1 tag 7       // tag 0 without one; `cpu N`, `nic N` are read
//!   recv 128 b from -1 tag -1      // from any rank, with any tag; room for more than is sent
//!   out requires work              // begins when that has ended; `irequires`: when that has begun
//! }
//! ```

use super::Wrong;
use super::words::{Word, words};
use std::collections::{BTreeMap, BTreeSet};

/// What an operation does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Computes for so many units of time.
    Compute(u64),
    /// Sends so many bytes to a rank with a tag; `None` = one that every receive takes.
    Send {
        bytes: u64,
        to: u32,
        tag: Option<u64>,
    },
    /// Receives up to so many bytes from a rank with a tag; `None` = from any, with any.
    Receive {
        bytes: u64,
        from: Option<u32>,
        tag: Option<u64>,
    },
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

/// What is expected in a rank.
const STATEMENT: &str = "expected `LABEL: calc N`, `LABEL: send Nb to RANK`, `LABEL: recv Nb from RANK` (with or without \
                         `LABEL:`), `LABEL requires LABEL`, `LABEL irequires LABEL` or `}`";

/// The operations of all ranks, in the order of the text.
///
/// # Errors
/// The first statement that is none of the language.
pub(super) fn operations(text: &str) -> Result<Vec<Operation>, Wrong> {
    let words = words(text)?;
    let mut reader = Reader {
        words: &words,
        place: 0,
        operations: Vec::new(),
        ranks: 0,
    };
    reader.schedule()?;
    Ok(reader.operations)
}

struct Reader<'a> {
    words: &'a [Word<'a>],
    place: usize,
    operations: Vec<Operation>,
    ranks: u32,
}

/// A statement `A requires B`: line, A, B, whether the start of B is enough.
type Requirement<'a> = (u64, &'a str, &'a str, bool);

impl<'a> Reader<'a> {
    /// The word so many places further on; empty behind the last one.
    fn ahead(&self, places: usize) -> &'a str {
        self.words
            .get(self.place + places)
            .map_or("", |word| word.1)
    }

    /// Line of the next word, or of the last one.
    fn line(&self) -> u64 {
        let word = self.words.get(self.place).or(self.words.last());
        word.map_or(0, |word| word.0)
    }

    fn take(&mut self) -> &'a str {
        let word = self.ahead(0);
        self.place += 1;
        word
    }

    fn wrong<T>(&self, reason: impl Into<String>) -> Result<T, Wrong> {
        Err((self.line(), reason.into()))
    }

    fn schedule(&mut self) -> Result<(), Wrong> {
        if self.words.is_empty() {
            return Err((0, "has no `num_ranks`: is it a GOAL schedule?".into()));
        }
        if self.ahead(0) != "num_ranks" {
            return self.wrong("expected `num_ranks N` first");
        }
        self.place += 1;
        self.ranks = self.number()?;
        let mut known = BTreeSet::new();
        while self.place < self.words.len() {
            if self.ahead(0) != "rank" {
                return self.wrong("expected `rank N {`");
            }
            let line = self.line();
            self.place += 1;
            let rank = self.number()?;
            if rank >= self.ranks {
                return Err((line, self.no_rank(rank)));
            }
            if !known.insert(rank) {
                return Err((line, format!("rank {rank} is there twice")));
            }
            if self.ahead(0) != "{" {
                return Err((line, "expected `rank N {`".into()));
            }
            self.place += 1;
            self.rank(rank)?;
        }
        Ok(())
    }

    /// What stands in the braces of a rank.
    fn rank(&mut self, rank: u32) -> Result<(), Wrong> {
        let mut labels: BTreeMap<&str, usize> = BTreeMap::new();
        let mut requirements: Vec<Requirement<'a>> = Vec::new();
        loop {
            let line = self.line();
            match (self.ahead(0), self.ahead(1)) {
                ("", _) => return Err((0, format!("rank {rank} does not end: `}}` is missing"))),
                ("}", _) => {
                    self.place += 1;
                    break;
                }
                (label, ":") => {
                    self.place += 2;
                    let number = self.operations.len();
                    self.operation(line, rank)?;
                    if labels.insert(label, number).is_some() {
                        let reason = format!("the label `{label}` is there twice in rank {rank}");
                        return Err((line, reason));
                    }
                }
                (label, kind @ ("requires" | "irequires")) => {
                    requirements.push((line, label, self.ahead(2), kind == "irequires"));
                    self.place += 3;
                }
                _ => self.operation(line, rank)?,
            }
        }
        for (line, label, other, immediate) in requirements {
            let find = |label: &str| {
                let found = labels.get(label).copied();
                found.ok_or_else(|| {
                    (
                        line,
                        format!("there is no operation `{label}` in this rank"),
                    )
                })
            };
            let (number, other) = (find(label)?, find(other)?);
            self.operations[number].requires.push((other, immediate));
        }
        Ok(())
    }

    /// An operation behind its label, if it has one.
    fn operation(&mut self, line: u64, rank: u32) -> Result<(), Wrong> {
        let action = match self.ahead(0) {
            "calc" => {
                self.place += 1;
                let units = self.number()?;
                self.clauses()?;
                Action::Compute(units)
            }
            "send" => {
                self.place += 1;
                let (bytes, to) = (self.bytes()?, self.partner("to")?);
                let Some(to) = to else {
                    return Err((
                        line,
                        "a send has one rank to go to, expected its number".into(),
                    ));
                };
                let tag = self.clauses()?;
                Action::Send { bytes, to, tag }
            }
            "recv" => {
                self.place += 1;
                let (bytes, from) = (self.bytes()?, self.partner("from")?);
                let tag = self.clauses()?;
                Action::Receive { bytes, from, tag }
            }
            _ => return Err((line, STATEMENT.into())),
        };
        self.operations.push(Operation {
            line,
            rank,
            action,
            requires: Vec::new(),
        });
        Ok(())
    }

    fn number<T: std::str::FromStr>(&mut self) -> Result<T, Wrong> {
        let line = self.line();
        number(self.take()).map_err(|reason| (line, reason))
    }

    /// `1024b` or `1024 b`.
    fn bytes(&mut self) -> Result<u64, Wrong> {
        let line = self.line();
        let text = self.take();
        let count = match text.strip_suffix(['b', 'B']) {
            Some(count) => count,
            None if matches!(self.ahead(0), "b" | "B") => {
                self.place += 1;
                text
            }
            None => {
                let reason = format!("`{text}` is no size: expected bytes such as `1024b`");
                return Err((line, reason));
            }
        };
        number(count).map_err(|reason| (line, reason))
    }

    /// `to 3` or `from 3`; `None` for -1.
    fn partner(&mut self, keyword: &str) -> Result<Option<u32>, Wrong> {
        if self.ahead(0) != keyword {
            return self.wrong(STATEMENT);
        }
        self.place += 1;
        if self.ahead(0) == ANY {
            self.place += 1;
            return Ok(None);
        }
        let line = self.line();
        match self.number()? {
            rank if rank < self.ranks => Ok(Some(rank)),
            rank => Err((line, self.no_rank(rank))),
        }
    }

    /// The tag among the clauses behind an operation: 0 without one, `None` for -1.
    fn clauses(&mut self) -> Result<Option<u64>, Wrong> {
        let mut tag = Some(0);
        loop {
            match (self.ahead(0), self.ahead(1)) {
                ("tag", ANY) => {
                    tag = None;
                    self.place += 2;
                }
                (clause @ ("tag" | "cpu" | "nic"), next) if next != ":" => {
                    self.place += 1;
                    let value: u64 = self.number()?;
                    if clause == "tag" {
                        tag = Some(value);
                    }
                }
                // what follows is the next statement, or nothing that can be here
                (word, next) if is_statement(word, next) => return Ok(tag),
                (word, value) => {
                    return self.wrong(format!(
                        "`{word} {value}`: expected `tag N`, `cpu N` or `nic N` there"
                    ));
                }
            }
        }
    }

    fn no_rank(&self, rank: u32) -> String {
        format!("there is no rank {rank}: `num_ranks` is {}", self.ranks)
    }
}

/// Any rank, any tag.
const ANY: &str = "-1";

/// Whether a statement of a rank begins with these words.
fn is_statement(word: &str, next: &str) -> bool {
    matches!(word, "" | "}" | "calc" | "send" | "recv")
        || matches!(next, ":" | "requires" | "irequires")
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    let number = text.parse();
    number.map_err(|_| format!("`{text}` is not a whole number that can be here"))
}
