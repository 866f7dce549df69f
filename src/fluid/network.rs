//! Links with capacities, flows with routes: what solvers of rates read.
//!
//! # Numbers
//!
//! Capacities and rates are integers, so many [`UNIT`]ths of a flit per cycle, and every division is rounded down. Exact
//! fractions would have to grow without bound: the share of a link is what earlier shares left of it, so that the
//! denominators of hundreds of levels multiply. Rounded down, no link ever carries more than its capacity; and since
//! a share is wrong by less than one unit, what is found are the exact rates of a network in which the capacity of a
//! link is smaller by less than one unit for each unit of the weight on it. The checks of [`check`](super::check) rest
//! on this bound and need no tolerance. `UNIT` has many small divisors, so that the shares of few flows are exact.

/// Parts that a flit per cycle is counted in: 2^24 3^12 5^7 7^5 11^3 13^2 17 19 23, just below 2^104.
pub const UNIT: u128 = (1 << 24)
    * 3u128.pow(12)
    * 5u128.pow(7)
    * 7u128.pow(5)
    * 11u128.pow(3)
    * 13u128.pow(2)
    * (17 * 19 * 23);

/// Largest capacity of a link \[[`UNIT`]ths of a flit per cycle\].
pub const LARGEST_CAPACITY: u128 = UNIT << 16;

/// Largest weight of a flow.
pub const LARGEST_WEIGHT: u64 = 1 << 40;

/// A capacity or rate in flits per cycle.
pub fn flits_per_cycle(units: u128) -> f64 {
    units as f64 / UNIT as f64
}

/// Links and flows. Made by a [`Builder`].
///
/// # Examples
/// ```
/// use virtlane::fluid::network::{Builder, UNIT};
/// use virtlane::fluid::rates::SOLVERS;
///
/// let mut network = Builder::new(vec![UNIT, UNIT]);
/// network.flow(1, 0, [0, 1]);
/// network.flow(1, 1, [0]);
/// network.flow(2, 2, [1]);
/// let solver = SOLVERS.lookup("Ffa").unwrap().build;
/// let rates = (solver.solve)(&network.build(), 1).unwrap().rates;
/// assert_eq!(rates, [UNIT / 3, UNIT / 3 * 2, UNIT / 3 * 2]);
/// ```
#[derive(Clone, Debug)]
pub struct Network {
    capacities: Vec<u128>,
    flows: Vec<Flow>,
    /// First of every flow's links in `links`, then their number.
    first_link: Vec<u32>,
    links: Vec<u32>,
    /// First of every link's flows in `users`, then their number.
    first_user: Vec<u32>,
    users: Vec<u32>,
    /// Weight of all flows, `[link]`.
    totals: Vec<u128>,
    applications: usize,
    /// Who stands at both ends of every link; empty when that is not known.
    ends: Vec<[u32; 2]>,
}

/// What a flow is beside its route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Weight: its size, or its part of a link; 1 to [`LARGEST_WEIGHT`].
    pub weight: u64,
    /// Application it belongs to.
    pub application: u32,
}

impl Network {
    /// Capacities of the links \[[`UNIT`]ths of a flit per cycle\].
    pub fn capacities(&self) -> &[u128] {
        &self.capacities
    }

    /// Elements at both ends of every link, numbered by whoever made the network; empty when they are not known.
    pub fn ends(&self) -> &[[u32; 2]] {
        &self.ends
    }

    /// The flows.
    pub fn flows(&self) -> &[Flow] {
        &self.flows
    }

    /// Number of applications: one more than the highest.
    pub fn applications(&self) -> usize {
        self.applications
    }

    /// Links of a flow.
    pub fn route(&self, flow: usize) -> &[u32] {
        &self.links[self.first_link[flow] as usize..self.first_link[flow + 1] as usize]
    }

    /// Flows of a link.
    pub fn users(&self, link: usize) -> &[u32] {
        &self.users[self.first_user[link] as usize..self.first_user[link + 1] as usize]
    }

    /// Weight of all flows of a link.
    pub fn total(&self, link: usize) -> u128 {
        self.totals[link]
    }

    /// Capacity of a link per weight of all its flows, rounded down; `None` of a link without flows.
    pub fn equal_share(&self, link: usize) -> Option<u128> {
        self.capacities[link].checked_div(self.totals[link])
    }

    /// Least of the equal shares of a flow's links; 0 of a flow without links.
    pub fn least_share(&self, flow: usize) -> u128 {
        let links = self.route(flow).iter();
        let shares = links.filter_map(|&link| self.equal_share(link as usize));
        shares.min().unwrap_or(0)
    }

    /// What all flows with these rates leave of every link \[[`UNIT`]ths of a flit per cycle\]; `None` where they are
    /// too many.
    pub fn left(&self, rates: &[u128]) -> Vec<Option<u128>> {
        let links = 0..self.capacities.len();
        let left = links.map(|link| {
            let mut users = self.users(link).iter();
            users.try_fold(self.capacities[link], |left, &flow| {
                left.checked_sub(rates[flow as usize])
            })
        });
        left.collect()
    }
}

/// Takes links and flows.
#[derive(Clone, Debug)]
pub struct Builder {
    capacities: Vec<u128>,
    flows: Vec<Flow>,
    first_link: Vec<u32>,
    links: Vec<u32>,
    ends: Vec<[u32; 2]>,
}

impl Builder {
    /// A network of links with these capacities, at most [`LARGEST_CAPACITY`], without flows
    /// \[[`UNIT`]ths of a flit per cycle\].
    pub fn new(capacities: Vec<u128>) -> Self {
        debug_assert!(capacities.iter().all(|&all| all <= LARGEST_CAPACITY));
        Self {
            capacities,
            flows: Vec::new(),
            first_link: vec![0],
            links: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// Says who stands at both ends of the links, in their order; all or none are said.
    pub fn between(&mut self, ends: impl IntoIterator<Item = [u32; 2]>) {
        self.ends.extend(ends);
    }

    /// Adds a link.
    pub fn link(&mut self, capacity: u128) -> u32 {
        debug_assert!(capacity <= LARGEST_CAPACITY);
        self.capacities.push(capacity);
        self.capacities.len() as u32 - 1
    }

    /// Adds a flow over some links, each named once.
    ///
    /// # Panics
    /// When the weight is not from 1 to [`LARGEST_WEIGHT`].
    pub fn flow(&mut self, weight: u64, application: u32, route: impl IntoIterator<Item = u32>) {
        assert!((1..=LARGEST_WEIGHT).contains(&weight), "weight {weight}");
        self.links.extend(route);
        self.first_link.push(self.links.len() as u32);
        self.flows.push(Flow {
            weight,
            application,
        });
    }

    /// The network. Cost: O(links + links of all routes).
    pub fn build(self) -> Network {
        debug_assert!(self.ends.is_empty() || self.ends.len() == self.capacities.len());
        let mut first_user = vec![0; self.capacities.len() + 1];
        for &link in &self.links {
            first_user[link as usize + 1] += 1;
        }
        for link in 1..first_user.len() {
            first_user[link] += first_user[link - 1];
        }
        let mut next = first_user.clone();
        let mut users = vec![0; self.links.len()];
        let mut totals = vec![0; self.capacities.len()];
        for (number, flow) in self.flows.iter().enumerate() {
            let links = self.first_link[number] as usize..self.first_link[number + 1] as usize;
            for &link in &self.links[links] {
                let next = &mut next[link as usize];
                users[*next as usize] = number as u32;
                *next += 1;
                totals[link as usize] += u128::from(flow.weight);
            }
        }
        let applications = self.flows.iter().map(|flow| flow.application as usize + 1);
        Network {
            applications: applications.max().unwrap_or(0),
            capacities: self.capacities,
            flows: self.flows,
            first_link: self.first_link,
            links: self.links,
            first_user,
            users,
            totals,
            ends: self.ends,
        }
    }
}
