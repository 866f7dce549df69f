//! Trees, and flies of three stages and more: fabrics in which some switches have all the hosts.

use super::net::Net;

/// Topologies that a fabric may be whose switches have `hosts` hosts or none.
pub(super) fn forms(net: &Net, hosts: u32) -> Vec<String> {
    let leaves = (0..net.len() as u32).filter(|&switch| net.hosts[switch as usize] > 0);
    let levels = net.distances(leaves.clone());
    let mut forms = Vec::new();
    if let Some(height) = levels.iter().max().filter(|&&most| most != u32::MAX) {
        let mut across = Vec::new();
        for (switch, links) in net.links.iter().enumerate() {
            let level = levels[switch];
            let sideways = links.iter().filter(|(to, _)| levels[*to as usize] == level);
            across.extend(sideways.map(|&(_, links)| links));
        }
        let tree = match across.first() {
            None => levelled(net, hosts, &levels, *height + 1),
            Some(width) => Some(format!(
                "EnrichedTree(k: {hosts}, n: {}, width: {width})",
                height + 1
            )),
        };
        forms.extend(tree);
    }
    let ends = leaves.count() as u32;
    let stages = net.len() as u32 / ends + 1;
    if stages > 2 && hosts > 1 && hosts.checked_pow(stages - 1) == Some(ends) {
        forms.push(format!("KAryNFly(k: {hosts}, n: {stages})"));
    }
    forms
}

/// The tree whose switches of a level have the same numbers of children and parents.
fn levelled(net: &Net, hosts: u32, levels: &[u32], height: u32) -> Option<String> {
    let (mut children, mut parents, mut parallel) = (vec![hosts], vec![1], vec![1]);
    for level in 0..height {
        let mut of_level = (0..net.len()).filter(|&switch| levels[switch] == level);
        let counts = |switch: usize| {
            let (mut up, mut down) = (None, None);
            for &(to, links) in &net.links[switch] {
                let side = if levels[to as usize] > level {
                    &mut up
                } else {
                    &mut down
                };
                let (count, own) = side.get_or_insert((0, links));
                if *own != links {
                    return None;
                }
                *count += 1;
            }
            Some((up, down))
        };
        let common = counts(of_level.next()?)?;
        if !of_level.all(|switch| counts(switch) == Some(common)) {
            return None;
        }
        if let Some((count, links)) = common.0 {
            parents.push(count);
            parallel.push(links);
        }
        if let Some((count, _)) = common.1 {
            children.push(count);
        }
    }
    let is_whole = [children.len(), parents.len()] == [height as usize; 2];
    is_whole.then(|| named(&children, &parents, &parallel))
}

/// The tree by its closest name.
fn named(children: &[u32], parents: &[u32], parallel: &[u32]) -> String {
    let (k, levels) = (children[0], children.len());
    let is_single = parallel.iter().all(|&links| links == 1);
    let others = &children[1..];
    if is_single && k > 1 && others.iter().chain(&parents[1..]).all(|&count| count == k) {
        return format!("KAryNTree(k: {k}, n: {levels})");
    }
    if let ([leaves], &[_, spines], &[_, links]) = (others, parents, parallel) {
        return match spines {
            1 => format!("Star(leaves: {leaves}, hosts_per_leaf: {k}, parallel_links: {links})"),
            _ => format!(
                "LeafSpine(leaves: {leaves}, spines: {spines}, hosts_per_leaf: {k}, parallel_links: {links})"
            ),
        };
    }
    let arity = others[0];
    if parents.iter().all(|&count| count == 1) && others.iter().all(|&count| count == arity) {
        let links = &parallel[1..];
        return format!(
            "Tree(arity: {arity}, levels: {levels}, hosts_per_leaf: {k}, parallel: {links:?})"
        );
    }
    format!("Xgft(children: {children:?}, parents: {parents:?}, parallel: {parallel:?})")
}
