#!/usr/bin/env python3
# /// script
# requires-python = ">=3.10"
# dependencies = ["matplotlib>=3.8", "pandas>=2.1"]
# ///
"""Redraws latency against load of a sweep, with the confidence band of every curve.

    uv run scripts/plot_sweep.py STUDY [FIGURE.png]

Reads STUDY/sweep.parquet where the program was built with the feature `parquet` (and pandas has pyarrow), else
STUDY/sweep.csv. Points that differ only in load are a curve; the other axes name it.
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import pandas as pd

OFFERED = "load.offered [fraction of link rate]"
LATENCY = "latency.packet.mean [cycles]"
HALF_WIDTH = "latency.packet.mean.half_width [cycles]"


def read(study: Path) -> pd.DataFrame:
    """The table of a study, one row per point."""
    parquet = study / "sweep.parquet"
    if parquet.exists():
        try:
            return pd.read_parquet(parquet)
        except ImportError:
            print("no pyarrow here: the CSV file is read", file=sys.stderr)
    return pd.read_csv(study / "sweep.csv")


def axes(table: pd.DataFrame) -> list[str]:
    """Columns of the values that were varied: those between `point` and `verdict`."""
    columns = list(table.columns)
    return columns[1 : columns.index("verdict")]


def draw(table: pd.DataFrame, figure: Path) -> None:
    """Draws mean packet latency against offered load."""
    others = [axis for axis in axes(table) if axis.split(" ")[0].split(".")[-1] != "load"]
    curves = table.groupby(others, sort=False) if others else [((), table)]
    plot, plane = plt.subplots(figsize=(7, 4.5), layout="constrained")
    for names, curve in curves:
        # points without a result have no latency
        curve = curve.dropna(subset=[LATENCY]).sort_values(OFFERED)
        label = ", ".join(str(name) for name in names) or None
        load, mean = curve[OFFERED], curve[LATENCY]
        (line,) = plane.plot(load, mean, marker="o", markersize=4, label=label)
        half_width = curve[HALF_WIDTH].fillna(0.0)
        plane.fill_between(load, mean - half_width, mean + half_width, color=line.get_color(), alpha=0.25, linewidth=0)
        saturated = ~curve["verdict"].isin(["steady", "complete"])
        plane.plot(load[saturated], mean[saturated], "x", color=line.get_color(), markersize=9)
    level = table["confidence"].dropna()
    band = f"band: {level.iloc[0]:.0%} confidence interval" if len(level) else "no confidence intervals"
    plane.set(
        xlabel="offered load [fraction of link rate]",
        ylabel="mean packet latency [cycles]",
        title=f"{band}; x: not steady",
        xlim=(0, None),
        ylim=(0, None),
    )
    plane.grid(alpha=0.3)
    if others:
        plane.legend(title=", ".join(axis.split(".")[-1] for axis in others))
    plot.savefig(figure, dpi=150)


def main() -> None:
    if not 2 <= len(sys.argv) <= 3:
        sys.exit(__doc__)
    study = Path(sys.argv[1])
    figure = Path(sys.argv[2]) if len(sys.argv) == 3 else study / "sweep.png"
    draw(read(study), figure)
    print(figure)


if __name__ == "__main__":
    main()
