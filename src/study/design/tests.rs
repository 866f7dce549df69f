//! Which sweeps make which runs, and which are refused.

use super::*;

fn sweep(sweep: &str) -> Result<Design, StudyError> {
    let mut document = Document::embedded();
    document.assign("sweep", sweep)?;
    Design::new(&document)
}

#[test]
fn axes_are_combined_and_zipped_axes_advance_together() {
    let design = sweep(
        "(axes: [(\"traffic.0.process.load\", [0.1, 0.2]), Zip([(\"fabric.topology\", \
         [KAryNTree(k: 2, n: 2), Mesh(radix: [3, 3])]), (\"routing\", [FatTree(), \
         DimensionOrder()])]), (\"traffic.0.size\", [\"64 B\", \"128 B\"])], seeds: 2)",
    )
    .unwrap();
    let headers: Vec<_> = design
        .axes
        .iter()
        .map(|axis| axis.unit.as_deref())
        .collect();
    assert_eq!(
        headers,
        [Some("fraction of link rate"), None, None, Some("B")]
    );
    let cells: Vec<_> = design
        .points
        .iter()
        .map(|point| point.cells.join("|"))
        .collect();
    assert_eq!(cells.len(), 8);
    assert_eq!(
        cells[..3],
        [
            "0.1|KAryNTree(k: 2, n: 2)|FatTree()|64",
            "0.1|KAryNTree(k: 2, n: 2)|FatTree()|128",
            "0.1|Mesh(radix: [3, 3])|DimensionOrder()|64",
        ]
    );
    assert_eq!(design.runs.len(), 16);
    let seeds: Vec<_> = design
        .runs
        .iter()
        .map(|run| (run.point, run.seed))
        .collect();
    assert_eq!(seeds[..3], [(0, 1), (0, 2), (1, 1)]);
    let name = &design.runs[0].name;
    assert!(
        name.starts_with("0.1_KAryNTree-k-2-n-2-_FatTree-_64_seed1_"),
        "{name}"
    );
}

#[test]
fn no_axis_is_one_point() {
    let design = sweep("(axes: [], seeds: 3)").unwrap();
    assert_eq!((design.points.len(), design.runs.len()), (1, 3));
    assert!(design.runs[2].name.starts_with("seed3_"));
}

#[test]
fn senseless_sweeps_are_refused() {
    for (text, message) in [
        ("(axes: [(\"seed\", [1])])", "cannot be an axis"),
        ("(axes: [(\"sweep.seeds\", [1])])", "cannot be an axis"),
        (
            "(axes: [(\"fabric.switch.lanes\", [4]), (\"fabric.switch.lanes\", [4])])",
            "already an axis",
        ),
        (
            "(axes: [Zip([(\"fabric.switch.lanes\", [4]), (\"traffic.0.sl\", [0, 1])])])",
            "advance together",
        ),
        ("(axes: [Zip([])])", "at least one axis"),
        (
            "(axes: [(\"fabric.switch.lanes\", [4, 4])])",
            "stands here twice",
        ),
        (
            "(axes: [(\"traffic.0.process\", [Bernoulli(load: 0.1), Bernoulli(load: 0.2)]), \
             (\"traffic.0.process.load\", [0.3, 0.4])])",
            "points 1 and 3 of the sweep are the same run: `traffic.0.process = Bernoulli(load: 0.1)` and \
             `traffic.0.process = Bernoulli(load: 0.2)` make no difference",
        ),
        (
            "(axes: [(\"traffic.0.process.load\", [0.1, 0.10])])",
            "`0.10` is `0.1`, which stands before it",
        ),
        (
            "(axes: [(\"fabric.switch.lanes\", [1, 01])])",
            "`01` is `1`",
        ),
        (
            "(axes: [(\"fabric.link.rate\", [\"100 Gbit/s\", \"0.1 Tbit/s\"])])",
            "`\"0.1 Tbit/s\"` is `\"100 Gbit/s\"`",
        ),
        (
            "(axes: [Zip([(\"fabric.switch.lanes\", [4, 4]), (\"traffic.0.process.load\", [0.1, 1e-1])])])",
            "`4, 1e-1` is `4, 0.1`",
        ),
        (
            "(axes: [(\"traffic.uniform.process.load\", [0.1]), (\"traffic[0].process.load\", [0.2])])",
            "`traffic[0].process.load` is `traffic.uniform.process.load`",
        ),
        (
            "(axes: [(\"fabric.switch.lanes\", [4]), (\"fabric.switch\", [(lanes: 2, lane_capacity: \"64 flits\")])])",
            "`fabric.switch` sets `fabric.switch.lanes` again",
        ),
        (
            "(axes: [], quick: (set: [(\"traffic.0.size\", \"64 B\"), (\"traffic.uniform.size\", \"128 B\")]))",
            "`traffic.uniform.size` is `traffic.0.size`",
        ),
        ("(axes: [], seeds: 1000001)", "1000001 runs"),
        ("None", "no section `sweep`"),
    ] {
        let error = sweep(text).unwrap_err().to_string();
        assert!(error.contains(message), "{text}: {error}");
    }
}

/// Of what a file says, the file, the line and the key path are told.
#[test]
fn senseless_sweeps_are_refused_where_they_are_written() {
    let refused = |sweep: &str| {
        let text = crate::scenario::document::DEFAULT.trim_end();
        let text = text.strip_suffix(')').expect("a scenario");
        let text = format!("{text}\nsweep: (\n{sweep},\n),\n)");
        let document = Document::parse("own.ron", &text, std::path::Path::new("")).unwrap();
        let first = text.lines().position(|line| line == "sweep: (").unwrap() + 2;
        let error = Design::new(&document).unwrap_err().to_string();
        error.replace(&format!("own.ron:{first}:"), "own.ron:LINE:")
    };
    for (sweep, start) in [
        (
            "axes: [(\"traffic.0.process\", [Bernoulli(load: 0.1), Bernoulli(load: 0.2)]), (\"traffic.0.process.load\", [0.3])]",
            "own.ron:LINE:53: sweep.axes[0][1][1]: points 1 and 2 of the sweep are the same run: ",
        ),
        (
            "axes: [(\"fabric.switch.lanes\", [1, 2])], seeds: 4000000000",
            "own.ron:LINE:49: sweep.seeds: the sweep asks for 8000000000 runs, ",
        ),
        (
            "axes: [(\"fabric.switch.lanes\", [1, 2]), (\"fabric.switch.lanes\", [1])]",
            "own.ron:LINE:42: sweep.axes[1][0]: `fabric.switch.lanes` is already an axis",
        ),
    ] {
        let error = refused(sweep);
        assert!(error.starts_with(start), "{error}");
    }
    let error = Design::new(&Document::embedded()).unwrap_err().to_string();
    assert!(
        error.starts_with("default.ron:1:1: the scenario has no section"),
        "{error}"
    );
}

/// Seeds are counted from that of the scenario on, and none begins again at 0.
#[test]
fn seeds_beyond_the_largest_are_refused() {
    let seeds = |first: u64, count: u32| {
        let text = crate::scenario::document::DEFAULT.trim_end();
        let text = text.strip_suffix(')').expect("a scenario");
        let text = format!("{text}\nsweep: (axes: [], seeds: {count}))");
        let mut document = Document::parse("own.ron", &text, std::path::Path::new("")).unwrap();
        document.assign("seed", &first.to_string()).unwrap();
        let line = text.lines().count();
        let design = Design::new(&document).map_err(|error| error.to_string());
        design.map_err(|error| error.replace(&format!("own.ron:{line}:"), "own.ron:LINE:"))
    };
    let last = u64::MAX;
    let design = seeds(last - 1, 2).unwrap();
    let found: Vec<u64> = design.runs.iter().map(|run| run.seed).collect();
    assert_eq!(found, [last - 1, last]);
    assert_eq!(seeds(last, 1).unwrap().runs.len(), 1);
    for (first, count, left) in [(last - 1, 3, 2), (last, 2, 1), (last - 9, 1_000, 10)] {
        assert_eq!(
            seeds(first, count).unwrap_err(),
            format!(
                "own.ron:LINE:26: sweep.seeds: {count} seeds from `seed: {first}` on go beyond 18446744073709551615, the largest: \
                 expected at most {left}, or a smaller `seed`"
            )
        );
    }
}

#[test]
fn units_of_a_kind_go_to_the_header() {
    let design = sweep("(axes: [(\"traffic.0.size\", [\"64 B\", \"1 KiB\"])])").unwrap();
    assert_eq!(design.axes[0].unit, None);
    assert_eq!(design.points[1].cells, ["1 KiB"]);
}
