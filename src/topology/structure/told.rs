//! A structure in words.

use super::Structure;
use crate::topology::Shape;
use crate::topology::graph::{Endpoint, GridShape};

/// Names of missing links that are told.
const TOLD: usize = 3;

impl Structure {
    /// What it is, such as `a 4-ary 3-tree` or `a 4x4 torus`.
    pub fn name(&self) -> String {
        let sizes = |sizes: &[u32]| {
            let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
            sizes.join("x")
        };
        match self.shape() {
            Shape::Grid(grid) => grid_name(grid, &sizes(&grid.radix)),
            Shape::Tree(tree) => format!("a {}-ary {}-tree", tree.arity, tree.levels),
            Shape::EnrichedTree(tree) => format!(
                "a {}-ary {}-tree with horizontal links of width {}",
                tree.tree.arity, tree.tree.levels, tree.width
            ),
            Shape::Xgft(tree) => match (&tree.children[..], &tree.parents[..]) {
                ([_, leaves], [_, 1]) => format!("a star of {leaves} leaves"),
                ([_, leaves], [_, spines]) => {
                    format!("a leaf-spine network of {leaves} leaves and {spines} spines")
                }
                (children, parents) if parents.iter().all(|&count| count == 1) => {
                    format!("a tree of {} levels", children.len())
                }
                (children, _) => format!("a fat tree of {} levels", children.len()),
            },
            Shape::Hypercube(cube) => format!("a hypercube of {} dimensions", cube.dimensions),
            Shape::HyperX(shape) => match (&shape.sizes[..], &shape.multiplicity[..]) {
                (&[size], [1]) => format!("a full mesh of {size} switches"),
                (&[size], [links]) => {
                    format!("a full mesh of {size} switches over {links} links each")
                }
                (all, _) => format!("a {} HyperX", sizes(all)),
            },
            Shape::Dragonfly(shape) => format!(
                "a dragonfly of {} groups of {} switches",
                shape.groups, shape.switches_per_group
            ),
            Shape::Fly(shape) => format!("a {}-ary {}-fly", shape.arity, shape.stages),
            Shape::ConcentratedMesh(mesh) => {
                format!("a {} concentrated mesh", sizes(&mesh.radix))
            }
            Shape::Irregular => match self.form.split('(').next() {
                Some(name) => format!("a {name} graph"),
                None => String::from("a graph"),
            },
        }
    }

    /// What is missing, such as ` with 1 missing link (S0 - S1)`; empty when nothing is.
    pub fn lack(&self) -> String {
        let model = self.model();
        let switches = self.numbering().missing_switches();
        if switches > 0 {
            return format!(" with {}", plural(switches, "missing switch", "es"));
        }
        let names = self.missing().iter().map(|&link| {
            let ends = model.link_ends(link).map(|end| match end {
                Endpoint::Switch(switch, _) => &model.switches()[switch.index()].name,
                Endpoint::Host(host) => &model.hosts()[host.index()].name,
            });
            format!("{} - {}", ends[0], ends[1])
        });
        let names: Vec<String> = names.collect();
        if names.is_empty() {
            return String::new();
        }
        let more = if names.len() > TOLD { ", ..." } else { "" };
        let told = names[..names.len().min(TOLD)].join(", ");
        format!(
            " with {} ({told}{more})",
            plural(names.len(), "missing link", "s")
        )
    }

    /// The whole: `a 4x4 torus with 1 missing link (S0 - S1), found in the graph`.
    pub fn told(&self) -> String {
        let found = if self.is_found {
            ", found in the graph"
        } else {
            ""
        };
        format!("{}{}{found}", self.name(), self.lack())
    }
}

fn grid_name(grid: &GridShape, sizes: &str) -> String {
    match (&grid.radix[..], grid.wrap.contains(&true)) {
        (&[size], true) if size > 2 => format!("a ring of {size} switches"),
        (_, true) => format!("a {sizes} torus"),
        (&[size], false) => format!("a line of {size} switches"),
        (_, false) => format!("a {sizes} mesh"),
    }
}

fn plural(count: usize, name: &str, ending: &str) -> String {
    let ending = if count == 1 { "" } else { ending };
    format!("{count} {name}{ending}")
}
