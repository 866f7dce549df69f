//! What is put into a layer at a time: pairs of an end and a target.

/// Ends and their targets.
#[derive(Clone, Debug)]
pub(super) struct Targets {
    /// End of each target.
    pub(super) end: Vec<u32>,
    /// Targets of each end.
    pub(super) of: Vec<Vec<u32>>,
}

impl Targets {
    pub(super) fn new(ends: usize, end: Vec<u32>) -> Self {
        let mut of = vec![Vec::new(); ends];
        for (target, &end) in (0..).zip(&end) {
            of[end as usize].push(target);
        }
        Self { end, of }
    }

    pub(super) fn ends(&self) -> usize {
        self.of.len()
    }

    pub(super) fn count(&self) -> usize {
        self.end.len()
    }

    /// The `number`-th target of an end.
    fn nth(&self, end: u32, number: u32) -> Option<usize> {
        let target = self.of[end as usize].get(number as usize);
        target.map(|&target| target as usize)
    }
}

/// Pairs placed together.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unit {
    /// All from an end.
    From(u32),
    /// All to a target.
    To(u32),
    /// From an end to a target.
    Pair(u32, u32),
    /// Between two ends, to the targets of this number.
    Both(u32, u32, u32),
}

impl Unit {
    /// Its ordered pairs.
    pub(super) fn pairs(self, targets: &Targets) -> Vec<(usize, usize)> {
        let own = |target: usize| targets.end[target];
        match self {
            Self::From(s) => {
                let others = (0..targets.count()).filter(|&t| own(t) != s);
                others.map(|t| (s as usize, t)).collect()
            }
            Self::To(t) => {
                let others = (0..targets.ends()).filter(|&s| s != own(t as usize) as usize);
                others.map(|s| (s, t as usize)).collect()
            }
            Self::Pair(s, t) => vec![(s as usize, t as usize)],
            Self::Both(s, d, number) => {
                let there = targets.nth(d, number).map(|t| (s as usize, t));
                let back = targets.nth(s, number).map(|t| (d as usize, t));
                there.into_iter().chain(back).collect()
            }
        }
    }

    /// Number of its pairs.
    pub(super) fn size(self, targets: &Targets) -> usize {
        match self {
            Self::From(s) => targets.count() - targets.of[s as usize].len(),
            Self::To(_) => targets.ends() - 1,
            Self::Pair(..) => 1,
            Self::Both(s, d, number) => {
                let has = |&end: &u32| targets.nth(end, number).is_some();
                [s, d].iter().filter(|end| has(end)).count()
            }
        }
    }
}
