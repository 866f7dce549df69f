#!/usr/bin/env bash
# Reads the tables of a tiny sweep with Python: the figure of scripts/plot_sweep.py is drawn, and CSV and Parquet hold
# the same numbers.
#
#   scripts/check_tables.sh [DIR]   keeps the sweep and its figure in DIR
#
# Builds the feature `parquet`. Needs Python 3.10 or newer and a package index; without one it says so and ends with 0.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
out=${1:-$scratch/tables}
mkdir -p "$out"

if [[ -z ${VIRTLANE:-} ]]; then
    # the build of scripts/check_parquet.sh, which makes the program for its tests
    cargo test --quiet --locked --features parquet --test it --no-run
    VIRTLANE=${CARGO_TARGET_DIR:-target}/debug/virtlane
fi

cat >"$scratch/torus.ron" <<'RON'
Scenario(
    title: "tables", seed: 1,
    fabric: (topology: Torus(radix: [4, 4]), flit: "64 B", link: (rate: "10 Gbit/s", latency: "2 cycles"),
             switch: (lanes: 2, lane_capacity: "32 flits", routing_delay: "1 cycles")),
    routing: DimensionOrder(),
    traffic: [(name: "bulk", hosts: All, pattern: Uniform, process: Bernoulli(load: 0.3), size: "512 B", sl: 0)],
    phases: (warmup: "500 cycles", measure: "3000 cycles", drain: Auto),
    observe: (packets: Every(5), flows: true),
    sweep: (axes: [
        ("fabric.switch.queues", [Fifo, Voq]),
        ("traffic.bulk.process.load", [0.1, 0.3, 0.5, 0.7]),
    ], seeds: 3),
)
RON
"$VIRTLANE" sweep "$scratch/torus.ron" --quiet --out "$out/study"
[[ -s $out/study/sweep.parquet ]] || { echo "no Parquet was written" >&2; exit 1; }

python3 -m venv "$scratch/venv"
if ! "$scratch/venv/bin/pip" install --quiet --disable-pip-version-check matplotlib pandas pyarrow 2>"$scratch/pip.log"; then
    # only an index out of reach is no failure
    grep -Eqi 'connection|resolve|timed out|no matching distribution|network' "$scratch/pip.log" ||
        { cat "$scratch/pip.log" >&2; exit 1; }
    echo "no package index here: the tables are not read with Python"
    exit 0
fi

"$scratch/venv/bin/python" scripts/plot_sweep.py "$out/study"
"$scratch/venv/bin/python" - "$out/study" <<'PY'
import csv
import math
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, "scripts")
import pandas as pd
import plot_sweep

study = Path(sys.argv[1])
png = (study / "sweep.png").read_bytes()
assert png.startswith(b"\x89PNG") and len(png) > 20_000, len(png)


def texts(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file, as they are written."""
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def is_same(text: str, value) -> bool:
    """Whether a cell of a CSV file says this value."""
    if pd.isna(value):
        return text == ""
    if isinstance(value, str):
        return text == value
    return text == str(value).lower() if isinstance(value, bool) else float(text) == value


# what the figure is drawn from is what the CSV file says, read from either form
rows = texts(study / "sweep.csv")
with tempfile.TemporaryDirectory() as folder:
    shutil.copy(study / "sweep.csv", folder)
    for source in (study, Path(folder)):
        table = plot_sweep.read(source)
        assert plot_sweep.axes(table) == ["fabric.switch.queues", "traffic.bulk.process.load [fraction of link rate]"]
        assert len(table) == len(rows) == 8
        for column in (plot_sweep.OFFERED, plot_sweep.LATENCY, plot_sweep.HALF_WIDTH):
            for row, value in zip(rows, table[column], strict=True):
                # pandas reads the text of a float to the last bit or the one before it
                assert math.isclose(float(row[column]), value, rel_tol=1e-15), (source, column)
tables = sorted(study.rglob("*.csv"))
for path in tables:
    found = pd.read_parquet(path.with_suffix(".parquet")).astype(object)
    rows = texts(path)
    assert len(rows) == len(found), path
    for column in found.columns:
        for row, value in zip(rows, found[column], strict=True):
            assert is_same(row[column], value), (path, column, row[column], value)
print(f"{len(tables)} tables: CSV and Parquet hold the same values")
PY
