//! What is known about the regular structure of a graph, for routing engines, patterns and closed forms.
//!
//! A shape fixes the numbering of switches, ports and hosts, so that an engine can compute coordinates
//! instead of searching. A graph with faults has no shape: what it
//! was, and what is missing, is its structure.

use crate::ids::SwitchId;

/// What a routing engine may know about the regular structure of a graph.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Shape {
    /// No structure is known.
    #[default]
    Irregular,
    /// A ring, mesh or torus.
    Grid(GridShape),
    /// A k-ary n-tree.
    Tree(TreeShape),
    /// A k-ary n-tree with horizontal links.
    EnrichedTree(EnrichedTreeShape),
    /// A parallel-ports extended generalised fat tree: star, tree, leaf-spine and Clos networks too.
    Xgft(XgftShape),
    /// A hypercube.
    Hypercube(HypercubeShape),
    /// A `HyperX`: Hamming graphs and complete graphs too.
    HyperX(HyperXShape),
    /// A dragonfly.
    Dragonfly(DragonflyShape),
    /// A k-ary n-fly.
    Fly(FlyShape),
    /// A concentrated mesh.
    ConcentratedMesh(ConcentratedMeshShape),
}

/// Structure of a mixed-radix mesh or torus; a ring is the torus of one dimension.
///
/// Switch id = sum of `coordinate[d] * stride[d]` with `stride[0] = 1` (dimension 0 varies fastest).
/// Ports: `2d + 1` leads to +1 and `2d + 2` to -1 in dimension `d`; host `j` of a switch is on port
/// `2 * dims + 1 + j`, or, in a mesh with `host_ports: LowestFree`, on the lowest ports without a link;
/// host id = switch * hosts per switch + j.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GridShape {
    /// Number of switches along each dimension, each at least 1.
    pub radix: Vec<u32>,
    /// Whether each dimension closes into a ring.
    pub wrap: Vec<bool>,
    /// Hosts on every switch.
    pub hosts_per_switch: u32,
}

impl GridShape {
    /// The coordinate of `switch` in `dimension`.
    pub fn coordinate(&self, switch: SwitchId, dimension: usize) -> u32 {
        let stride: u32 = self.radix[..dimension].iter().product();
        switch.0 / stride % self.radix[dimension]
    }
}

/// Structure of a k-ary n-tree (Petrini and Vanneschi).
///
/// Level 0 holds the roots, level `levels - 1` the leaves. Switch id = level * k^(n-1) + word, the word
/// read as a base-k number whose *most* significant digit is `w_0`. Level `l` switch `w` is linked to the
/// level `l + 1` switches whose words agree with `w` except in digit `w_l`. Ports: down ports `1..=k`
/// (down port `d + 1` of a level-`l` switch leads to the child with digit `w_l = d`; at a leaf to host
/// `word * k + d`), up ports `k + 1..=2k` (up port `k + 1 + d` leads to the parent with digit
/// `w_{l-1} = d`). Roots have only the `k` down ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeShape {
    /// Down (and up) ports of a switch.
    pub arity: u32,
    /// Levels of switches.
    pub levels: u32,
}

impl TreeShape {
    /// Switches on one level: `arity^(levels - 1)`.
    pub fn switches_per_level(&self) -> u32 {
        self.arity.pow(self.levels - 1)
    }

    /// Level of a switch, 0 = root.
    pub fn level(&self, switch: SwitchId) -> u32 {
        switch.0 / self.switches_per_level()
    }

    /// Word of a switch: its place within its level.
    pub fn word(&self, switch: SwitchId) -> u32 {
        switch.0 % self.switches_per_level()
    }
}

/// Structure of a k-ary n-tree whose logical nodes are chains of horizontal links (Zdornov and Birk).
///
/// The logical node of a level-`l` switch is the set of the `k^(n-1-l)` switches of its level that share
/// the digits `w_0..w_{l-1}`; they have consecutive words, and each is linked to the next by `width`
/// parallel links. Switches and tree ports are those of [`TreeShape`]; the ports after them (from
/// [`Self::first_horizontal_port`]) are `width` to the next switch of the chain and `width` to the one
/// before; those that would lead over an end of the chain are unconnected. Leaves have none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnrichedTreeShape {
    /// The tree without horizontal links.
    pub tree: TreeShape,
    /// Parallel links between neighbours of a chain, at least 1.
    pub width: u32,
}

impl EnrichedTreeShape {
    /// Switches of a logical node on `level`: `k^(n - 1 - level)`.
    pub fn chain_length(&self, level: u32) -> u32 {
        self.tree.arity.pow(self.tree.levels - 1 - level)
    }

    /// Place of a switch in the chain of its logical node, from 0.
    pub fn place(&self, switch: SwitchId) -> u32 {
        self.tree.word(switch) % self.chain_length(self.tree.level(switch))
    }

    /// First port to the next switch of the chain, on `level`.
    pub fn first_horizontal_port(&self, level: u32) -> u32 {
        let up = if level == 0 { 0 } else { self.tree.arity };
        self.tree.arity + up + 1
    }

    /// Links of a complete tree, those of hosts included.
    pub fn links(&self) -> u64 {
        let (k, levels) = (self.tree.arity, self.tree.levels);
        let hosts = u64::from(k).pow(levels);
        let per_level = u64::from(self.tree.switches_per_level());
        let horizontal = (0..levels.saturating_sub(1)).map(|level| {
            let length = u64::from(self.chain_length(level));
            per_level / length * (length - 1) * u64::from(self.width)
        });
        u64::from(levels) * hosts + horizontal.sum::<u64>()
    }

    /// Ports added for horizontal links over ports of the plain tree \[ratio\]: `2 * width * (n - 1) /
    /// (k * (2n - 1))`. Each switch above the leaves is charged `2 * width` ports, ends of chains too.
    pub fn port_overhead(&self) -> f64 {
        let (k, n) = (f64::from(self.tree.arity), f64::from(self.tree.levels));
        2.0 * f64::from(self.width) * (n - 1.0) / (k * (2.0 * n - 1.0))
    }
}

/// Structure of an extended generalised fat tree with parallel links (Öhring et al.; Zahavi).
///
/// Levels of switches count from 1 = leaves to `h`; level 0 are the hosts. A level-`l` switch is an
/// h-digit word `a`: digit `a_j` counts `0..parents[j]` where `j <= l`, `0..children[j]` where `j > l`
/// (`j` from 1; `parents[1] = 1`, for a host has one cable). Switches are numbered level by level from
/// the leaves, within a level by word, `a_1` least significant. Level `l` and level `l + 1` switches are
/// linked, by `parallel[l + 1]` links each, where they agree in every digit but `a_{l+1}`. Ports: child
/// `c` on `c * parallel[l] + 1 + copy`, behind them parent `t` on `children[l] * parallel[l] + t *
/// parallel[l + 1] + 1 + copy`. Host `j` of leaf number `i` is host `i * children[1] + j`, on port `j + 1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XgftShape {
    /// Children of a switch per level, leaves (whose children are hosts) first; each at least 1.
    pub children: Vec<u32>,
    /// Parents of a node per level, of hosts (1) first; each at least 1.
    pub parents: Vec<u32>,
    /// Parallel links to each parent per level, of hosts (1) first; each at least 1.
    pub parallel: Vec<u32>,
}

impl XgftShape {
    /// Levels of switches.
    pub fn height(&self) -> usize {
        self.children.len()
    }

    /// Size of digit `a_{digit + 1}` of the words of `level` (1 = leaves).
    pub fn radix(&self, level: usize, digit: usize) -> u32 {
        if digit < level {
            self.parents[digit]
        } else {
            self.children[digit]
        }
    }

    /// Nodes on `level`: 0 = hosts, 1 = leaves; `None` when they do not fit 64 bits.
    pub fn nodes(&self, level: usize) -> Option<u64> {
        (0..self.height()).try_fold(1u64, |product, digit| {
            product.checked_mul(u64::from(self.radix(level, digit)))
        })
    }

    /// First switch of `level` (1 = leaves).
    pub fn first_switch(&self, level: usize) -> SwitchId {
        let below: u64 = (1..level).filter_map(|below| self.nodes(below)).sum();
        SwitchId(below as u32)
    }

    /// Level of a switch (1 = leaves) and its word.
    pub fn level_and_word(&self, switch: SwitchId) -> (usize, u32) {
        let mut word = u64::from(switch.0);
        for level in 1..self.height() {
            let nodes = self.nodes(level).unwrap_or(u64::MAX);
            if word < nodes {
                return (level, word as u32);
            }
            word -= nodes;
        }
        (self.height(), word as u32)
    }

    /// Whether every switch below the top has as many links up as down: full bisection bandwidth.
    pub fn is_full(&self) -> bool {
        (1..self.height()).all(|level| {
            let down = u64::from(self.children[level - 1]) * u64::from(self.parallel[level - 1]);
            let up = u64::from(self.parents[level]) * u64::from(self.parallel[level]);
            up >= down
        })
    }
}

/// Structure of a hypercube.
///
/// Switches that differ in bit `d` of their id are linked by port `d + 1`; host `j` of a switch is on port
/// `dimensions + 1 + j`; host id = switch * hosts per switch + j.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HypercubeShape {
    /// Number of dimensions; there are `2^dimensions` switches.
    pub dimensions: u32,
    /// Hosts on every switch.
    pub hosts_per_switch: u32,
}

/// Structure of a `HyperX`: all switches that differ in one coordinate only are linked (Ahn et al.).
///
/// Switch id = sum of `coordinate[d] * stride[d]` with `stride[0] = 1`. Hosts on ports
/// `1..=hosts_per_switch`, host id = switch * hosts per switch + j; then dimension by dimension, in each
/// the other coordinates ascending, in each its parallel links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HyperXShape {
    /// Switches along each dimension, each at least 1.
    pub sizes: Vec<u32>,
    /// Parallel links between two switches, per dimension; each at least 1.
    pub multiplicity: Vec<u32>,
    /// Hosts on every switch.
    pub hosts_per_switch: u32,
}

impl HyperXShape {
    /// The coordinate of `switch` in `dimension`.
    pub fn coordinate(&self, switch: SwitchId, dimension: usize) -> u32 {
        let stride: u32 = self.sizes[..dimension].iter().product();
        switch.0 / stride % self.sizes[dimension]
    }

    /// First port towards `coordinate` of `dimension`, from a switch whose own coordinate is `own`; the
    /// parallel links follow.
    pub fn port(&self, dimension: usize, own: u32, coordinate: u32) -> u32 {
        let before = self.sizes.iter().zip(&self.multiplicity).take(dimension);
        let before: u32 = before.map(|(size, links)| (size - 1) * links).sum();
        let place = coordinate - u32::from(coordinate > own);
        self.hosts_per_switch + before + place * self.multiplicity[dimension] + 1
    }
}

/// Structure of a dragonfly (Kim et al.).
///
/// Switch id = group * `switches_per_group` + router. Hosts on ports `1..=hosts_per_switch`, host id =
/// switch * hosts per switch + j; then the other routers of the group, ascending; then the global links,
/// by ascending switch at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DragonflyShape {
    /// Hosts of a switch, `p`.
    pub hosts_per_switch: u32,
    /// Switches of a group, `a`, all linked to each other.
    pub switches_per_group: u32,
    /// Global ports of a switch, `h`; not all need be in use.
    pub global_ports: u32,
    /// Number of groups, `g`.
    pub groups: u32,
}

impl DragonflyShape {
    /// Group of a switch.
    pub const fn group(&self, switch: SwitchId) -> u32 {
        switch.0 / self.switches_per_group
    }

    /// Place of a switch in its group.
    pub const fn router(&self, switch: SwitchId) -> u32 {
        switch.0 % self.switches_per_group
    }

    /// Links between every two groups.
    pub const fn links_between_groups(&self) -> u32 {
        match self.groups {
            0 | 1 => 0,
            groups => self.switches_per_group * self.global_ports / (groups - 1),
        }
    }
}

/// Structure of a k-ary n-fly (butterfly), stages from 0.
///
/// Switch `w` of a stage is a word of `n - 1` base-k digits. Its output `p` leads to the switch of the next stage
/// whose word has `p` in place of the digit of weight `k^(n - 2 - stage)`, to the input numbered by that digit. Switch
/// `w` of the first and of the last stage is one switch, `w`, an end: ports `1..=k` to its hosts, `w * k + j`, then its
/// `k` outputs as a switch of the first stage, then its `k` inputs as one of the last. Switch `w` of a stage between has
/// id `stage * k^(n-1) + w`, ports `1..=k` are its inputs, the others its outputs. With one stage ends have hosts only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlyShape {
    /// Inputs, and outputs, of a switch.
    pub arity: u32,
    /// Stages.
    pub stages: u32,
}

impl FlyShape {
    /// Switches of a stage: `k^(n-1)`.
    pub const fn switches_per_stage(&self) -> u32 {
        self.arity.pow(self.stages - 1)
    }

    /// Id of a switch.
    pub const fn switch(&self, stage: u32, word: u32) -> u32 {
        if stage + 1 == self.stages {
            word
        } else {
            stage * self.switches_per_stage() + word
        }
    }

    /// Word of the switch behind an output of a stage, not the last one, and the input there.
    pub const fn behind(&self, stage: u32, word: u32, output: u32) -> (u32, u32) {
        let weight = self.arity.pow(self.stages - 2 - stage);
        let digit = word / weight % self.arity;
        (word - digit * weight + output * weight, digit)
    }

    /// Output in a stage towards a host.
    pub const fn output(&self, stage: u32, host: u32) -> u32 {
        host / self.arity.pow(self.stages - 1 - stage) % self.arity
    }
}

/// Structure of a concentrated mesh: two dimensions, a block of hosts on each switch.
///
/// Switch id = `x + radix[0] * y`. Ports 1 to 4 lead to +x, -x, +y and -y; with express channels those that would lead
/// over the border at the first and last `y` are linked to the switch half a row further, those at the first and last
/// `x` to the one half a column further. Host `hx + radix[0] * block[0] * hy` is on switch `(hx / block[0], hy /
/// block[1])`, on port `5 + hx mod block[0] + block[0] * (hy mod block[1])`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConcentratedMeshShape {
    /// Switches along both dimensions.
    pub radix: [u32; 2],
    /// Hosts of a switch along both dimensions.
    pub block: [u32; 2],
    /// Whether the border has express channels.
    pub express: bool,
}

impl ConcentratedMeshShape {
    /// The coordinate of `switch` in `dimension`.
    pub const fn coordinate(&self, switch: SwitchId, dimension: usize) -> u32 {
        match dimension {
            0 => switch.0 % self.radix[0],
            _ => switch.0 / self.radix[0],
        }
    }

    /// Port of the express channel of `switch` along `dimension`.
    pub fn express_port(&self, switch: SwitchId, dimension: usize) -> Option<u16> {
        let across = 1 - dimension;
        let at = self.coordinate(switch, across);
        let border = if at == 0 {
            Some(2 * across as u16 + 2)
        } else {
            (at + 1 == self.radix[across]).then_some(2 * across as u16 + 1)
        };
        border.filter(|_| self.express)
    }

    /// Switch of a host and its place there.
    pub const fn home(&self, host: u32) -> (SwitchId, u32) {
        let row = self.radix[0] * self.block[0];
        let (x, y) = (host % row, host / row);
        let switch = x / self.block[0] + self.radix[0] * (y / self.block[1]);
        let place = x % self.block[0] + self.block[0] * (y % self.block[1]);
        (SwitchId(switch), place)
    }
}
