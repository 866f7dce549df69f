//! Keys with other values in other runs of a study.

/// Their key paths, as for `--set`.
pub(crate) struct Varied<'a>(Vec<&'a str>);

impl<'a> Varied<'a> {
    /// These, in any order.
    pub(crate) fn new(paths: impl Iterator<Item = &'a str>) -> Self {
        Self(paths.collect())
    }

    /// Whether what stands at `path` is among them, or is a part of one, or has one as a part; `*` is any key, number or name.
    pub(crate) fn includes(&self, path: &str) -> bool {
        self.0.iter().any(|varied| {
            let mut pairs = keys(path).zip(keys(varied));
            pairs.all(|(key, varied)| key == "*" || key == varied)
        })
    }
}

/// `traffic[0].size` and `traffic.0.size` are `traffic`, `0` and `size`.
fn keys(path: &str) -> impl Iterator<Item = &str> {
    let keys = path.split(['.', '[', ']']).map(str::trim);
    keys.filter(|key| !key.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_varied_as_a_whole_in_a_part_and_with_what_it_is_in() {
        let varied = Varied::new(["traffic[0].flows[1].limit", "fabric.host"].into_iter());
        for path in [
            "traffic.*.flows",
            "traffic.*.flows.*.limit",
            "traffic",
            "fabric.host.scheduler",
            "fabric",
        ] {
            assert!(varied.includes(path), "{path}");
        }
        for path in [
            "traffic.*.sl",
            "traffic.*.flows.*.stop",
            "fabric.switch.marking",
            "faults",
        ] {
            assert!(!varied.includes(path), "{path}");
        }
        let named = Varied::new(["traffic.bulk.control"].into_iter());
        assert!(named.includes("traffic.*.control") && !named.includes("traffic.*.flows"));
    }
}
