//! Keys of what a study records, varies and claims: sections `observe`, `sweep` and `expect`.

use super::{Section, need, with};

section!(
    OBSERVE,
    "observe",
    "observe",
    "Records of packets and flows: of packets created in the measurement and delivered.",
    [
        with(
            "packets",
            "None | All | Every(n) | Fraction(f)",
            "None",
            "Packets with a row in packets.csv: Every(n) = each n-th a source makes in a class, Fraction(f) = each \
             with probability f"
        ),
        with(
            "flows",
            "true | false",
            "false",
            "Whether flows.csv has a row for every (class, source, destination)"
        ),
        with(
            "classes",
            "All | [names]",
            "All",
            "Traffic classes of both tables"
        ),
    ]
);

section!(
    SWEEP,
    "sweep",
    "sweep",
    "Values to vary, for `virtlane sweep`.",
    [
        need(
            "axes",
            "list of (key path, [values]) | Zip([(key path, [values]), ...])",
            "Every combination is run; the axes of a Zip advance together, such as a topology and its routing"
        ),
        with(
            "seeds",
            "integer >= 1",
            "1",
            "Runs per combination, with seeds counted from `seed`"
        ),
    ]
);

section!(
    EXPECT,
    "expect",
    "expect[...]",
    "What a result must be: the claim a study reproduces.",
    [
        need(
            "metric",
            "metric",
            "Path of the value in summary.json; see `virtlane list metric`"
        ),
        need(
            "relation",
            "Equals | AtLeast | AtMost",
            "How the result relates to `value`"
        ),
        need("value", "number", "Published or expected value"),
        with(
            "tolerance",
            "number | Relative(number)",
            "0",
            "Deviation allowed, absolute or as a fraction of `value`"
        ),
        with("source", "text", "\"\"", "Where the value comes from"),
    ]
);
