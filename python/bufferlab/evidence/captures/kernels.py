"""Captures that a real Linux kernel wrote, against what is known of its runs: docs/observe.md.

Hosts and their TCP are the kernel's, which also captures the packets; the link is the simulator's, so that
its waits and drops are known packet by packet (docs/kernel.md, "Our queue, the kernel's packets").
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import polars as pl

from bufferlab.captured.findings import Findings, observe
from bufferlab.evidence.captures.controls import FOUND, found_in
from bufferlab.evidence.captures.figures import summaries
from bufferlab.evidence.captures.kept import Rows, rows_of
from bufferlab.evidence.captures.seen import PLACES, estimates
from bufferlab.evidence.documents import Work
from bufferlab.evidence.reproduction import Request
from bufferlab.experiment.runner import Runner
from bufferlab.kernel import network
from bufferlab.kernel.boot import boot
from bufferlab.kernel.cache import kernel
from bufferlab.kernel.job import job_of
from bufferlab.kernel.outcome import result_of
from bufferlab.plan import plan_of
from bufferlab.results.result import Result
from bufferlab.scenario import Scenario

CONTROLS: Final = ("reno", "cubic-linux(hystart)", "bbr")
FLOWS: Final = (2, 8)
RTTS_MS: Final = (20, 80)
BUFFERS: Final = ("0.4 bdp", "1 bdp")
SETTINGS: Final = tuple(product(CONTROLS, FLOWS, RTTS_MS, BUFFERS))
QUICK_SETTINGS: Final = 1
DURATION_S: Final = 30


def kernel_tables(work: Work) -> dict[str, pl.DataFrame]:
    """A row an estimate and place: its error over all captures."""
    return {"estimates": summaries([row for row in _seen(work.request) if "quantity" in row])}


def kernel_control_tables(work: Work) -> dict[str, pl.DataFrame]:
    """A row a place and control: how often each was found."""
    rows = pl.DataFrame([row for row in _seen(work.request) if "found" in row])
    counted = rows.group_by("place", "control", maintain_order=True)
    counts = [(pl.col("found") == name).sum().alias(name) for name in FOUND]
    return {"controls": counted.agg(pl.len().alias("links"), *counts).sort("place", "control")}


@lru_cache(maxsize=1)
def _seen(request: Request) -> Rows:
    count = QUICK_SETTINGS if request.quick else len(SETTINGS)
    return rows_of(request, range(count), _rows)


def _rows(number: int, _runner: Runner) -> Rows:
    table = setting(number)
    result, seen = captured(table)
    rows: Rows = []
    for place in PLACES:
        own = {"scenario": number, "place": place}
        rows += [own | vars(each) for each in estimates(table, result, seen[place])]
        control = SETTINGS[number][0].partition("(")[0]
        rows.append(own | {"control": control, "found": found_in(seen[place])})
    return rows


def setting(number: int) -> dict[str, Any]:
    """The scenario of a number."""
    control, flows, rtt_ms, buffer = SETTINGS[number]
    return {
        "run": {"duration": f"{DURATION_S} s", "warmup": "0 s", "seed": number + 1, "stack": "linux"},
        "bottleneck": {"rate": "10 Mbps", "buffer": buffer, "queue": "fifo"},
        "flows": [
            {
                "name": "long-0",
                "count": flows,
                "rtt": f"{rtt_ms} ms",
                "congestion": control,
                "start": "uniform(0 s, 2 s)",
            }
        ],
    }


def captured(table: dict[str, Any]) -> tuple[Result, dict[str, Findings]]:
    """A kernel's run, and what its captures say: beside the senders, and behind the queue.

    Raises:
        InputError: There is no kernel.
    """
    by = kernel()
    scenario = Scenario.from_dict(table)
    seed = int(table["run"]["seed"])
    job = job_of(plan_of(scenario.seeded(seed)), ours=True)
    behind = [network.home(index) for index in range(len(job["receivers"]))]
    places = [(network.SENDING, ["out"]), (network.BEYOND, behind)]
    job["captures"] = [
        {"name": f"{name}.pcap", "namespace": namespace, "devices": devices}
        for name, (namespace, devices) in zip(PLACES, places, strict=True)
    ]
    with TemporaryDirectory(prefix="bufferlab-") as folder:
        report = boot(by, job, seed, captures=Path(folder))
        result = result_of(scenario, seed, report, title=by.title)
        return result, {place: observe(Path(folder, f"{place}.pcap")) for place in PLACES}
