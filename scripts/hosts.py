"""The study of docs/hosts.md: what real hosts do to the least buffer of a link of 10 Gbit/s.

    .venv/bin/python scripts/hosts.py [--flows 1,4,16] [--controls reno,bbr] [--table docs/hosts.csv]

Each buffer is the least of a grid of 15 % with which a criterion holds; a part of the host is added with each
step. Points that the table has already are not measured again. `--figure` draws the table only.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
from matplotlib.figure import Figure

from bufferlab import Result, run

RATE = "10 Gbps"
RTT = "1.2 ms"
BDP_PACKETS = 10e9 * 1.2e-3 / 8 / 9000
#: Packets of 9000 bytes.
SEGMENT = "8948 B"
FLOWS = (1, 2, 4, 8, 16, 32, 64)
CONTROLS = ("reno", "cubic", "scalable", "bbr")
#: The parts in the order in which they are added: what `[host]` changes of `linux-100g`.
STEPS: Mapping[str, Mapping[str, Any] | None] = {
    "ideal": None,
    "bursts": {"interrupt_delay": "0 s", "quick_acks": 0},
    "interrupts": {},
    "noise": {"noise": "pareto(mean=8 us, shape=1.5)"},
    "fq": {"queue": "fq"},
}
#: Packets, 15 % apart.
SIZES = sorted({round(2 * 1.15**step) for step in range(46)})
UTILIZATION = 0.999
#: A queue of more than two packets, as one leaves it: the next is in transmission, so two wait.
WAITING = 2
CRITERIA = ("utilization", "queue")


class Point(NamedTuple):
    """Who sends, from which hosts."""

    control: str
    flows: int
    step: str


class Measured(NamedTuple):
    """What a run shows of the link."""

    utilization: float
    #: 1st percentile of what waits while the link sends.
    p1_packets: float


def main() -> None:
    """Measure what the command line asks for, and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--flows", default=",".join(map(str, FLOWS)))
    parser.add_argument("--controls", default=",".join(CONTROLS))
    parser.add_argument("--steps", default=",".join(STEPS))
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--table", type=Path, default=Path("docs/hosts.csv"))
    parser.add_argument("--figure", type=Path, help="draw the table here, and measure nothing")
    options = parser.parse_args()
    if options.figure:
        draw(pl.read_csv(options.table), options.figure)
        return
    points = [
        Point(control, int(flows), step)
        for control in options.controls.split(",")
        for flows in options.flows.split(",")
        for step in options.steps.split(",")
    ]
    for row in measure(points, options.seconds, options.table):
        sys.stdout.write(f"{row}\n")
        sys.stdout.flush()


def measure(points: list[Point], seconds: float, table: Path) -> Iterator[dict[str, Any]]:
    """The least buffer of each point by each criterion, which the table keeps."""
    known = pl.read_csv(table).rows(named=True) if table.exists() else []
    done = {(row["control"], row["flows"], row["step"]) for row in known}
    with table.open("a", newline="") as file:
        writer = csv.DictWriter(file, [*Point._fields, *CRITERIA, "standing"], lineterminator="\n")
        if not known:
            writer.writeheader()
        for point in points:
            if tuple(point) in done:
                continue
            row = least(point, seconds)
            writer.writerow(row)
            file.flush()
            yield row


def least(point: Point, seconds: float) -> dict[str, Any]:
    """The least buffers of a point; `standing` is the 1st percentile with a buffer of a BDP."""
    runs: dict[int, Measured] = {}

    def measured(size: int) -> Measured:
        if size not in runs:
            runs[size] = simulate(point, size, seconds)
        return runs[size]

    found = {
        "utilization": search(lambda size: measured(size).utilization >= UTILIZATION),
        "queue": search(lambda size: measured(size).p1_packets >= WAITING),
    }
    return {**point._asdict(), **found, "standing": measured(round(BDP_PACKETS)).p1_packets}


def search(holds: Callable[[int], bool]) -> int | None:
    """The least size with which a criterion holds, by bisection; `None` if there is none."""
    below, above = -1, len(SIZES) - 1
    if not holds(SIZES[above]):
        return None
    while above - below > 1:
        middle = (below + above) // 2
        below, above = (below, middle) if holds(SIZES[middle]) else (middle, above)
    return SIZES[above]


def simulate(point: Point, size: int, seconds: float) -> Measured:
    """One run."""
    host = STEPS[point.step]
    scenario: dict[str, Any] = {
        "run": {"duration": f"{seconds} s", "warmup": f"{seconds / 5} s", "stack": "linux"},
        "bottleneck": {"rate": RATE, "buffer": f"{size} packets"},
        "flows": [
            {
                "count": point.flows,
                "rtt": RTT,
                "segment": SEGMENT,
                "congestion": point.control,
                "start": "uniform(0 s, 100 ms)",
            }
        ],
        "probes": {"interval": "20 us", "flows": []},
    }
    if host is None:
        scenario["flows"][0]["jitter"] = "0 s"
    else:
        scenario["run"]["host"] = "linux-100g"
        scenario["host"] = dict(host)
        if not host:
            del scenario["host"]
    return of_result(run(scenario, threads=1, progress=False)[0])


def of_result(result: Result) -> Measured:
    """What a run shows. No packet leaves an idle link, so nothing counts then."""
    link = result.queues.filter(pl.col("group") == "all").row(0, named=True)
    start_s = result.resolved["run"]["warmup_ps"] / 1e12
    waiting = result.queue_samples.filter(pl.col("time_s") > start_s)["backlog_packets"]
    idle = round((1 - link["utilization"]) * waiting.len())
    busy = waiting.sort().tail(waiting.len() - idle)
    return Measured(link["utilization"], float(busy.quantile(0.01, "lower") or 0))


def draw(table: pl.DataFrame, path: Path) -> None:
    """A panel for each control: the least buffers over the number of flows."""
    figure = Figure(figsize=(9, 6.5), layout="constrained")
    axes = figure.subplots(2, 2, sharex=True, sharey=True)
    for axis, control in zip(axes.flat, CONTROLS, strict=True):
        for index, step in enumerate(STEPS):
            rows = table.filter((pl.col("control") == control) & (pl.col("step") == step)).sort("flows")
            color = f"C{index}"
            axis.plot(rows["flows"], rows["utilization"], "-o", color=color, markersize=3, label=step)
            axis.plot(rows["flows"], rows["queue"], ":", color=color)
        root = [BDP_PACKETS / flows**0.5 for flows in FLOWS]
        axis.plot(FLOWS, root, color="gray", linewidth=0.8, label="BDP/√n")
        axis.set(title=control, xscale="log", yscale="log")
        axis.set_xticks(FLOWS, [str(flows) for flows in FLOWS], minor=False)
        axis.minorticks_off()
    for axis in axes[1]:
        axis.set_xlabel("flows")
    for axis in axes[:, 0]:
        axis.set_ylabel("least buffer, packets")
    axes[0, 0].legend(fontsize=7)
    figure.savefig(path, dpi=100)


if __name__ == "__main__":
    main()
