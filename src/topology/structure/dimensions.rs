//! Puts the dimensions of a network in the order in which the first steps along them are named.

use super::{Reading, generate};
use crate::topology::Shape;

/// The same reading, the dimension whose first step from the origin leads to the lowest switch first.
pub(super) fn ordered(reading: Reading) -> Reading {
    let (sizes, links, hosts, name) = match reading.model.shape() {
        Shape::Grid(grid) => {
            let name = if grid.wrap.contains(&true) {
                "Torus"
            } else {
                "Mesh"
            };
            (grid.radix.clone(), None, grid.hosts_per_switch, name)
        }
        Shape::HyperX(shape) => (
            shape.sizes.clone(),
            Some(shape.multiplicity.clone()),
            shape.hosts_per_switch,
            "HyperX",
        ),
        _ => return reading,
    };
    let strides: Vec<u32> = (0..sizes.len())
        .map(|d| sizes[..d].iter().product())
        .collect();
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    // of two equal sizes the matching has taken the lower one first
    order.sort_by_key(|&d| reading.switches.get(strides[d] as usize).copied());
    if order.is_sorted() {
        return reading;
    }
    let moved = |values: &[u32]| -> Vec<u32> { order.iter().map(|&d| values[d]).collect() };
    let radix = moved(&sizes);
    let form = match &links {
        None => format!("{name}(radix: {radix:?}, hosts_per_switch: {hosts})"),
        Some(links) => format!(
            "HyperX(sizes: {radix:?}, multiplicity: {:?}, hosts_per_switch: {hosts})",
            moved(links)
        ),
    };
    let Some(model) = generate(&form) else {
        return reading;
    };
    let before = |switch: u32| -> u32 {
        let mut rest = switch;
        let places = order.iter().map(|&d| {
            let coordinate = rest % sizes[d];
            rest /= sizes[d];
            coordinate * strides[d]
        });
        places.sum()
    };
    let switches = 0..reading.switches.len() as u32;
    let switches = switches.map(|switch| reading.switches[before(switch) as usize]);
    Reading {
        form,
        switches: switches.collect(),
        model,
    }
}
