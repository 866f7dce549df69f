//! Order of nodes by what they are called, whatever order a file has them in.
//!
//! Numbers in names count as numbers, and coordinates such as `S3.0.7` begin with their fastest one, as this program
//! numbers switches: an export of a regular topology is read back with the numbers it had.

/// Places `0..` of nodes by name, then GUID: the numbers of the nodes in that order.
pub(super) fn in_order<'a>(nodes: impl Iterator<Item = (&'a str, u64)>) -> Vec<u32> {
    let keys: Vec<(Vec<Part>, &str, u64)> = nodes
        .map(|(name, guid)| (parts(name), name, guid))
        .collect();
    let mut order: Vec<u32> = (0..keys.len() as u32).collect();
    order.sort_by(|&a, &b| keys[a as usize].cmp(&keys[b as usize]));
    order
}

/// Part of a name.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// Numbers with points between them, the last one first; without leading zeros, the length tells the larger one.
    Numbers(Vec<(usize, String)>),
    Text(String),
}

fn parts(name: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let text = rest.find(|c: char| c.is_ascii_digit());
        let (before, after) = rest.split_at(text.unwrap_or(rest.len()));
        if !before.is_empty() {
            parts.push(Part::Text(before.to_owned()));
        }
        let end = after.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (numbers, others) = after.split_at(end.unwrap_or(after.len()));
        if !numbers.is_empty() {
            let number = |digits: &str| {
                let digits = digits.trim_start_matches('0');
                (digits.len(), digits.to_owned())
            };
            parts.push(Part::Numbers(
                numbers.split('.').rev().map(number).collect(),
            ));
        }
        rest = others;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_as_numbers() {
        let names = ["S1.1", "L10", "S0.1", "L9", "S10.0", "S2.0", "leaf", "L09"];
        let order = in_order(names.iter().map(|name| (*name, 0)));
        let sorted: Vec<&str> = order.iter().map(|&i| names[i as usize]).collect();
        assert_eq!(
            sorted,
            ["L09", "L9", "L10", "S2.0", "S10.0", "S0.1", "S1.1", "leaf"]
        );
        let same = in_order([("x", 7), ("x", 3)].into_iter());
        assert_eq!(same, [1, 0]);
    }
}
