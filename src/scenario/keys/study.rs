//! Keys of what a study records, varies and claims: sections `observe`, `sweep` and `expect`.

use super::{Section, key, need, with};

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
        with("claim", "text", "\"\"", "The claim in words"),
        need(
            "metric",
            "metric",
            "Path of the value in summary.json; see `virtlane list metric`"
        ),
        with(
            "at",
            "list of (axis, value)",
            "[]",
            "Points of the sweep the claim is about: axes and the values they must have; default: all"
        ),
        key(
            "over",
            "list of (axis, value)",
            Some("None"),
            "Points that the value is divided by"
        ),
        with(
            "points",
            "Each | Mean | Max | Min",
            "Each",
            "How the points become one value; `Each` = every point by itself, with `over` against the point \
             that has the same values on all axes not named"
        ),
        with(
            "seeds",
            "Mean | Max | Min | Each",
            "Mean",
            "How the seeds of a point become one value"
        ),
        need(
            "relation",
            "Equals | AtLeast | AtMost",
            "How the result relates to `value`"
        ),
        need("value", "number", "Expected value"),
        with(
            "tolerance",
            "number | Relative(number)",
            "0",
            "Deviation allowed, absolute or as a fraction of `value`"
        ),
        key(
            "published",
            "number",
            Some("None"),
            "What the source says: a claim that holds is `reproduced` when this is `value`, or when the result is \
             within 10 % of it, else `ordering only`"
        ),
        with("source", "text", "\"\"", "Where the value comes from"),
        with(
            "deviation",
            "text",
            "\"\"",
            "Why the result is not the source's; a claim that does not hold is then `differs`, not `fails`"
        ),
    ]
);
