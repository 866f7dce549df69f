//! Reads the configuration file of OpenSM's `torus-2QoS`.
//!
//! Fails with: line and reason, for the first line that makes no sense.
//! Cost: O(text).
//!
//! # Grammar
//!
//! ```text
//! torus 4 4 1                    or mesh; 1 = no such dimension; 4m and 4t open and close one dimension
//! xp_link 0x200000 0x200001      the link from the seed (first GUID) in the direction +x; xm_ ym_ zp_ likewise
//! y_dateline -2                  the origin of y lies 2 before the seed; the dateline lies before the origin
//! next_seed                      what follows is another seed, for when a switch of the one before is gone
//! ```
//!
//! What follows the words that count is ignored. `portgroup_max_ports`, `port_order` and `max_changes` mean nothing here: they are
//! kept, to be told.
//!
//! References: OpenSM `torus-2QoS.conf(5)`

/// Names of the dimensions.
pub(super) const DIMENSIONS: [&str; 3] = ["x", "y", "z"];

/// What the file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TorusConfig {
    /// Switches along each dimension.
    pub(super) radix: [u32; 3],
    /// Whether each dimension is a ring.
    pub(super) wrap: [bool; 3],
    /// Seeds in their order.
    pub(super) seeds: Vec<Seed>,
    /// Settings that change nothing here: line, keyword, and why.
    pub(super) unused: Vec<(usize, &'static str, &'static str)>,
}

/// Settings that change nothing here, and why.
const UNUSED: [(&str, &str); 3] = [
    (
        "portgroup_max_ports",
        "links between two switches are as many as there are",
    ),
    (
        "port_order",
        "parallel links are taken in the order of their ports",
    ),
    ("max_changes", "a run has the fabric it begins with"),
];

/// Links that tell the directions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Seed {
    /// GUID of the switch all links start at.
    pub(super) switch: Option<u64>,
    /// GUID of the neighbour in the directions +x, -x, +y, -y, +z, -z.
    pub(super) links: [Option<u64>; 6],
    /// Place of the origin relative to the switch.
    pub(super) origin: [i64; 3],
}

/// Reads the text.
///
/// # Errors
/// Line (from 1; 0 = the whole file) and reason.
pub(super) fn parse(text: &str) -> Result<TorusConfig, (usize, String)> {
    let mut config: Option<TorusConfig> = None;
    let mut last = 0;
    for (line, content) in (1..).zip(text.lines()) {
        let words: Vec<&str> = content.split_whitespace().collect();
        let Some(&keyword) = words.first().filter(|word| !word.starts_with('#')) else {
            continue;
        };
        last = line;
        let fail = |reason: String| (line, reason);
        match &mut config {
            None => config = Some(size(&words).map_err(fail)?),
            Some(config) => match UNUSED.iter().find(|(name, _)| *name == keyword) {
                Some(&(name, why)) => config.unused.push((line, name, why)),
                None => setting(config, keyword, &words).map_err(fail)?,
            },
        }
    }
    let config = config.ok_or_else(|| (0, "no line `torus X Y Z` or `mesh X Y Z`".to_owned()))?;
    for seed in &config.seeds {
        require_enough(&config, seed).map_err(|reason| (last, reason))?;
    }
    Ok(config)
}

/// `torus 4 4 1`
fn size(words: &[&str]) -> Result<TorusConfig, String> {
    let [kind @ ("torus" | "mesh"), sizes @ ..] = words else {
        return Err(format!(
            "`{}` comes first, expected `torus X Y Z` or `mesh X Y Z`",
            words[0]
        ));
    };
    let mut config = TorusConfig {
        radix: [1; 3],
        wrap: [false; 3],
        seeds: vec![Seed::default()],
        unused: Vec::new(),
    };
    for (d, name) in DIMENSIONS.iter().enumerate() {
        let word = *sizes.get(d).ok_or_else(|| format!("no radix of {name}"))?;
        let digits = word.trim_end_matches(['m', 'M', 't', 'T']);
        let radix = digits.parse().ok().filter(|&radix: &u32| radix > 0);
        config.radix[d] = radix.ok_or_else(|| {
            format!("radix `{word}` of {name}, expected a number from 1 on, with `m` or `t` behind it to open or close it")
        })?;
        let is_ring = match &word[digits.len()..] {
            "" => *kind == "torus",
            letter => letter.eq_ignore_ascii_case("t"),
        };
        // two switches are a ring of one link
        config.wrap[d] = is_ring && config.radix[d] > 2;
    }
    Ok(config)
}

/// Every other line.
fn setting(config: &mut TorusConfig, keyword: &str, words: &[&str]) -> Result<(), String> {
    if keyword == "next_seed" {
        config.seeds.push(Seed::default());
        return Ok(());
    }
    let radix = config.radix;
    let Some(seed) = config.seeds.last_mut() else {
        return Ok(());
    };
    let (name, what) = keyword.split_at(keyword.len().min(1));
    let dimension = DIMENSIONS.iter().position(|known| *known == name);
    match (dimension, what) {
        (Some(d), "p_link" | "m_link") => {
            let guid = |place: usize| {
                let word = words.get(place).copied().unwrap_or_default();
                let digits = word.strip_prefix("0x").unwrap_or(word);
                u64::from_str_radix(digits, 16)
                    .map_err(|_| format!("`{word}` is no GUID such as `0x200000`"))
            };
            let (from, to) = (guid(1)?, guid(2)?);
            if radix[d] == 1 {
                return Err(format!("there is no dimension {name}: its radix is 1"));
            }
            if let Some(other) = seed.switch.replace(from).filter(|&other| other != from) {
                return Err(format!(
                    "this link starts at {from:#x}, others of the seed at {other:#x}; expected the same switch"
                ));
            }
            let link = &mut seed.links[2 * d + usize::from(what == "m_link")];
            match link.replace(to).filter(|&other| other != to) {
                Some(other) => Err(format!(
                    "this link leads to {to:#x}, an earlier `{keyword}` to {other:#x}"
                )),
                None => Ok(()),
            }
        }
        (Some(d), "_dateline") => {
            let word = words.get(1).copied().unwrap_or_default();
            seed.origin[d] = word
                .parse::<i32>()
                .map_err(|_| format!("`{word}` is no number such as `-2`"))?
                .into();
            Ok(())
        }
        _ => Err(format!(
            "unknown keyword `{keyword}`, expected `xp_link`, `xm_link`, `x_dateline` (or y, z), `next_seed`, \
             `portgroup_max_ports`, `port_order` or `max_changes`"
        )),
    }
}

/// Whether the links of a seed tell all directions.
fn require_enough(config: &TorusConfig, seed: &Seed) -> Result<(), String> {
    for (d, name) in DIMENSIONS.iter().enumerate() {
        let links = [seed.links[2 * d], seed.links[2 * d + 1]];
        let given = links.iter().flatten().count();
        if config.radix[d] > 1 && given == 0 {
            return Err(format!(
                "a seed has no link in {name}, expected `{name}p_link` or `{name}m_link`"
            ));
        }
        if config.radix[d] == 4 && config.wrap[d] && given < 2 {
            return Err(format!(
                "the ring of {name} has 4 switches, which one link does not tell apart: expected `{name}p_link` and \
                 `{name}m_link`"
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_manual_is_read() {
        let text = "# Look for a 2D (since x radix is one) 4x5 torus.\ntorus 1 4 5\n\n\
                    yp_link 0x200000 0x200005  # sw @ y=0,z=0 -> sw @ y=1,z=0\nym_link 0x200000 0x20000f\n\
                    zp_link 0x200000 0x200001\n\nnext_seed\nyp_link 0x20000b 0x200010\nym_link 0x20000b 0x200006\n\
                    zp_link 0x20000b 0x20000c\ny_dateline -2  # Move\nz_dateline -1\nportgroup_max_ports 32\n";
        let config = parse(text).unwrap();
        assert_eq!(
            (config.radix, config.wrap),
            ([1, 4, 5], [false, true, true])
        );
        let unused: Vec<_> = config.unused.iter().map(|one| (one.0, one.1)).collect();
        assert_eq!(unused, [(14, "portgroup_max_ports")]);
        let [first, second] = &config.seeds[..] else {
            panic!("two seeds");
        };
        let links = [
            None,
            None,
            Some(0x20_0005),
            Some(0x20_000f),
            Some(0x20_0001),
            None,
        ];
        assert_eq!(
            (first.switch, first.links, first.origin),
            (Some(0x20_0000), links, [0; 3])
        );
        assert_eq!(
            (second.switch, second.origin),
            (Some(0x20_000b), [0, -2, -1])
        );
        assert_eq!(
            parse("mesh 3T 4 5\nxp_link 1 2\nyp_link 1 3\nzp_link 1 4")
                .unwrap()
                .wrap,
            [true, false, false]
        );
    }

    #[test]
    fn mistakes_are_told_with_their_line() {
        for (text, line, reason) in [
            ("", 0, "no line `torus X Y Z`"),
            ("xp_link 1 2", 1, "`xp_link` comes first"),
            ("torus 4 4", 1, "no radix of z"),
            ("torus 4 x 1", 1, "radix `x` of y"),
            ("torus 5 5 1\n\nxp_link 0x1", 3, "`` is no GUID"),
            ("torus 5 5 1\nzp_link 1 2", 2, "there is no dimension z"),
            (
                "torus 5 5 1\nxp_link 1 2\nyp_link 2 3",
                3,
                "this link starts at 0x2",
            ),
            ("torus 5 5 1\nxp_link 1 2", 2, "a seed has no link in y"),
            (
                "torus 4 5 1\nxp_link 1 2\nyp_link 1 3",
                3,
                "the ring of x has 4 switches",
            ),
            (
                "torus 5 5 1\nxp_link 1 2\nxp_link 1 3",
                3,
                "this link leads to 0x3",
            ),
            ("torus 5 5 1\nx_dateline a", 2, "`a` is no number"),
            ("torus 5 5 1\nlink 1 2", 2, "unknown keyword `link`"),
        ] {
            let (place, message) = parse(text).unwrap_err();
            assert!(message.starts_with(reason), "{message}");
            assert_eq!(place, line, "{text}");
        }
    }
}
