"""The picture of docs/hosts.md."""

from __future__ import annotations

import polars as pl
from matplotlib.figure import Figure

from bufferlab.evidence.documents import Work
from bufferlab.evidence.hosts.least import SCENARIOS, STEPS, bdp_packets
from bufferlab.experiment.simulation import prepare
from bufferlab.render.plots.style import Drawing


def draw(work: Work) -> Figure:
    """A panel for each control: the least buffers over the number of flows."""
    figure = Drawing(figsize=(9, 6.5), layout="constrained")
    axes = figure.subplots(2, 2, sharex=True, sharey=True)
    every = work.points.sort("flows")
    counts = every["flows"].unique().sort().to_list()
    bdp = bdp_packets(prepare(SCENARIOS / f"{STEPS[0]}.toml"))
    root = [bdp / flows**0.5 for flows in counts]
    for axis, control in zip(axes.flat, every["control"].unique(maintain_order=True), strict=False):
        for index, step in enumerate(STEPS):
            rows = every.filter(pl.col("control") == control, pl.col("step") == step)
            color = f"C{index}"
            axis.plot(rows["flows"], rows["utilization"], "-o", color=color, markersize=3, label=step)
            axis.plot(rows["flows"], rows["queue"], ":", color=color)
        axis.plot(counts, root, color="gray", linewidth=0.8, label="BDP/√n")
        axis.set(title=control, xscale="log", yscale="log")
        axis.set_xticks(counts, [str(flows) for flows in counts], minor=False)
        axis.minorticks_off()
    for axis in axes[1]:
        axis.set_xlabel("flows")
    for axis in axes[:, 0]:
        axis.set_ylabel("least buffer, packets")
    axes[0, 0].legend(fontsize=7)
    return figure
