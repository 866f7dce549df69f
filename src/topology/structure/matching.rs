//! Finds which switch of one plain graph is which of another.
//!
//! Guarantees: what is found maps every link and every host of one onto those of the other, for that is checked at the
//! end. What is not found may exist: only [`TRIES`] choices are tried.
//! Cost: O(links log switches) time for each try.
//!
//! # Algorithm
//! 1. Both graphs are coloured together: switches of different colour have different numbers of hosts, or different
//!    numbers of links to a colour. Colours are split until nothing tells switches apart; where a colour has more
//!    switches in one graph than in the other, the try fails.
//! 2. Of the first colour with several switches in each, the lowest switch of the model is made one of the fabric, the
//!    lowest first, by a colour of their own; step 1 goes on from there. In regular networks it hardly ever matters
//!    which is taken: any other would do as well. Only the first [`DEPTH`] choices are taken back.
//! 3. When every colour has one switch in each, links and hosts are compared.
//!
//! Splitting the smaller part off, as in the minimisation of automata, makes the cost of all choices of a try that of
//! the links times the logarithm of their number.

use super::net::Net;

/// Choices that are tried in all.
const TRIES: u32 = 64;
/// Choices that are taken back.
const DEPTH: u32 = 3;

/// The switch of `fabric` that is each of `model`; `None` when none was found.
pub(super) fn find(model: &Net, fabric: &Net) -> Option<Vec<u32>> {
    if model.len() != fabric.len() || model.link_count() != fabric.link_count() {
        return None;
    }
    let both = Both { model, fabric };
    let mut colours = Colours::new(&both)?;
    let mut effort = Effort {
        tries: TRIES,
        sums: vec![0; 2 * model.len()],
    };
    if !colours.refine(&both, &mut effort.sums) {
        return None;
    }
    both.choose(colours, 0, &mut effort)
}

/// Tries left, and memory of [`Colours::refine`]: all zero between its calls.
struct Effort {
    tries: u32,
    sums: Vec<u64>,
}

/// Model and fabric side by side: switches of the fabric follow those of the model.
struct Both<'a> {
    model: &'a Net,
    fabric: &'a Net,
}

impl Both<'_> {
    fn hosts(&self, vertex: u32) -> u32 {
        let count = self.model.len();
        let vertex = vertex as usize;
        match vertex.checked_sub(count) {
            None => self.model.hosts[vertex],
            Some(own) => self.fabric.hosts[own],
        }
    }

    /// Neighbours and links to them.
    fn links(&self, vertex: u32) -> impl Iterator<Item = (u32, u32)> {
        let count = self.model.len();
        let vertex = vertex as usize;
        let (links, first) = match vertex.checked_sub(count) {
            None => (&self.model.links[vertex], 0),
            Some(own) => (&self.fabric.links[own], count as u32),
        };
        links.iter().map(move |&(to, weight)| (to + first, weight))
    }

    /// Steps 2 and 3.
    fn choose(&self, mut colours: Colours, depth: u32, effort: &mut Effort) -> Option<Vec<u32>> {
        let count = self.model.len() as u32;
        while let Some(start) = colours.next_choice() {
            let mut members = colours.members(start).to_vec();
            members.sort_unstable();
            let (ours, theirs) = members.split_at(members.len() / 2);
            if depth < DEPTH {
                for &own in theirs {
                    effort.tries = effort.tries.checked_sub(1)?;
                    let mut next = colours.clone();
                    next.join(ours[0], own);
                    if next.refine(self, &mut effort.sums)
                        && let Some(found) = self.choose(next, depth + 1, effort)
                    {
                        return Some(found);
                    }
                }
                return None;
            }
            colours.join(ours[0], theirs[0]);
            if !colours.refine(self, &mut effort.sums) {
                return None;
            }
        }
        let mut map = vec![0; count as usize];
        for pair in colours.order.chunks(2) {
            let (a, b) = (pair[0].min(pair[1]), pair[0].max(pair[1]));
            map[a as usize] = b.checked_sub(count)?;
        }
        self.is_same(&map).then_some(map)
    }

    fn is_same(&self, map: &[u32]) -> bool {
        (0..map.len()).all(|switch| {
            let own = map[switch] as usize;
            let links = self.model.links[switch].iter();
            let mut moved: Vec<(u32, u32)> = links
                .map(|&(to, links)| (map[to as usize], links))
                .collect();
            moved.sort_unstable();
            self.model.hosts[switch] == self.fabric.hosts[own] && moved == self.fabric.links[own]
        })
    }
}

/// Vertices by colour: a colour is a run of `order`, known by its start.
#[derive(Clone)]
struct Colours {
    order: Vec<u32>,
    place: Vec<u32>,
    /// Start of the colour of a vertex.
    colour: Vec<u32>,
    /// Length of the colour that starts at a place.
    length: Vec<u32>,
    /// Colours that others are still to be split by.
    waiting: Vec<u32>,
    is_waiting: Vec<bool>,
    /// No colour before this place has more than two vertices.
    settled: u32,
    /// Switches of the model.
    half: u32,
}

impl Colours {
    /// One colour for each number of hosts; `None` when these differ.
    fn new(both: &Both<'_>) -> Option<Self> {
        let count = 2 * both.model.len() as u32;
        let mut colours = Self {
            order: (0..count).collect(),
            place: (0..count).collect(),
            colour: vec![0; count as usize],
            length: vec![0; count as usize],
            waiting: vec![0],
            is_waiting: vec![false; count as usize],
            settled: 0,
            half: count / 2,
        };
        colours.length[0] = count;
        colours.is_waiting[0] = true;
        let hosts = (0..count).map(|vertex| (u64::from(both.hosts(vertex)), vertex));
        colours
            .split(0, &mut hosts.collect::<Vec<_>>())
            .then_some(colours)
    }

    fn members(&self, start: u32) -> &[u32] {
        &self.order[start as usize..(start + self.length[start as usize]) as usize]
    }

    /// The first colour of several switches of the model.
    fn next_choice(&mut self) -> Option<u32> {
        while let Some(&length) = self.length.get(self.settled as usize) {
            if length > 2 {
                return Some(self.settled);
            }
            self.settled += length;
        }
        None
    }

    /// Gives two vertices of one colour a colour of their own.
    fn join(&mut self, a: u32, b: u32) {
        let start = self.colour[a as usize];
        self.split(start, &mut [(1, a), (1, b)]);
    }

    /// Splits a colour by a number that some of its vertices have; whether all parts have as many vertices of both graphs.
    fn split(&mut self, start: u32, keyed: &mut [(u64, u32)]) -> bool {
        keyed.sort_unstable();
        let length = self.length[start as usize];
        let (mut end, mut largest) = (start + length, (length - keyed.len() as u32, start));
        let was_waiting = self.is_waiting[start as usize];
        let mut is_even = true;
        let mut parts = Vec::new();
        for run in keyed.chunk_by(|a, b| a.0 == b.0).rev() {
            let size = run.len() as u32;
            if end - start == size {
                // nothing is left before it
                parts.push((size, start));
                largest = largest.max((size, start));
                end = start;
                is_even &=
                    2 * run.iter().filter(|(_, vertex)| *vertex < self.half).count() as u32 == size;
                break;
            }
            end -= size;
            for (to, &(_, vertex)) in (end..).zip(run) {
                self.swap(to, self.place[vertex as usize]);
                self.colour[vertex as usize] = end;
            }
            let of_model = run.iter().filter(|(_, vertex)| *vertex < self.half).count();
            is_even &= 2 * of_model as u32 == size;
            self.length[end as usize] = size;
            parts.push((size, end));
            largest = largest.max((size, end));
        }
        if end > start {
            self.length[start as usize] = end - start;
            parts.push((end - start, start));
        } else {
            self.length[start as usize] = parts.last().map_or(0, |part| part.0);
        }
        if parts.len() > 1 {
            for (size, part) in parts {
                let is_due = was_waiting || (size, part) != largest;
                if is_due && !self.is_waiting[part as usize] {
                    self.is_waiting[part as usize] = true;
                    self.waiting.push(part);
                }
            }
        }
        is_even
    }

    fn swap(&mut self, a: u32, b: u32) {
        self.order.swap(a as usize, b as usize);
        for place in [a, b] {
            self.place[self.order[place as usize] as usize] = place;
        }
    }

    /// Step 1; whether the graphs may still be the same.
    fn refine(&mut self, both: &Both<'_>, sums: &mut [u64]) -> bool {
        let mut touched = Vec::new();
        while let Some(by) = self.waiting.pop() {
            self.is_waiting[by as usize] = false;
            touched.clear();
            for &vertex in self.members(by) {
                for (to, links) in both.links(vertex) {
                    if sums[to as usize] == 0 {
                        touched.push(to);
                    }
                    // far apart, so that sums of different links differ
                    sums[to as usize] +=
                        u64::from(links) << 32 | u64::from(links).pow(3) & 0xffff_ffff;
                }
            }
            let colour = &self.colour;
            touched.sort_unstable_by_key(|&vertex| (colour[vertex as usize], vertex));
            let runs: Vec<Vec<(u64, u32)>> = touched
                .chunk_by(|&a, &b| colour[a as usize] == colour[b as usize])
                .map(|run| run.iter().map(|&v| (sums[v as usize], v)).collect())
                .collect();
            for &vertex in &touched {
                sums[vertex as usize] = 0;
            }
            for mut run in runs {
                let start = self.colour[run[0].1 as usize];
                if !self.split(start, &mut run) {
                    return false;
                }
            }
        }
        true
    }
}
