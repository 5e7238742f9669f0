"""The settings of the grid, and what identifies a run of the kernel."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from bufferlab.kernel.job import job_of
from bufferlab.plan import lower
from bufferlab.scenario import Scenario

CONTROLS: Final = ("reno", "cubic-linux(hystart)", "bbr")
QUEUES: Final = ("fifo 0.3 bdp", "fifo 1 bdp", "fifo 3 bdp", "codel", "fq_codel", "pie")
FLOWS: Final = (8, 1, 2)
RTTS_MS: Final = (80, 20)
SEEDS: Final = (1, 2)
_FIFO: Final = "fifo "

LINUX: Final[Mapping[str, Mapping[str, str]]] = {
    "codel": {"discipline": "codel", "control_law": "linux"},
    "fq_codel": {"discipline": "fq_codel", "control_law": "linux", "codel_backlog": "all"},
}
"""Queues that the simulator has as an RFC says and as Linux does; the kernel has the latter only."""


class Setting(NamedTuple):
    """One place of the grid.

    Attributes:
        control: Congestion control of all flows.
        queue: Discipline; of a FIFO with its buffer.
        flows: How many flows.
        rtt_ms: Their round-trip time, ms.
    """

    control: str
    queue: str
    flows: int
    rtt_ms: int


def settings() -> list[Setting]:
    """All of them."""
    places = itertools.product(RTTS_MS, FLOWS, QUEUES, CONTROLS)
    return [Setting(control, queue, flows, rtt_ms) for rtt_ms, flows, queue, control in places]


def runs() -> Iterator[tuple[Setting, int]]:
    """All settings with the first seed, then with the next, so that a part of them is a whole grid."""
    for seed in SEEDS:
        for setting in settings():
            yield setting, seed


def scenario(setting: Setting, queue: Mapping[str, str] | None = None) -> Scenario:
    """The scenario of a setting; with another queue in its place, if one is given."""
    is_fifo = setting.queue.startswith(_FIFO)
    buffer = setting.queue.removeprefix(_FIFO) if is_fifo else "1000 packets"
    return Scenario.from_dict(
        {
            "run": {"duration": "60 s", "warmup": "20 s", "stack": "linux"},
            "bottleneck": {
                "rate": "10 Mbps",
                "buffer": buffer,
                "queue": queue or ("fifo" if is_fifo else setting.queue),
            },
            "flows": [
                {
                    "name": "bulk",
                    "count": setting.flows,
                    "rtt": f"{setting.rtt_ms} ms",
                    "congestion": setting.control,
                    "start": "uniform(0 s, 1 s)",
                }
            ],
        }
    )


def job_hash(of: Scenario, seed: int) -> str:
    """What a kernel is given, as a hash: a recorded run of another job is no run of this setting."""
    job: dict[str, Any] = job_of(lower(of, seed))
    return hashlib.sha256(json.dumps(job, sort_keys=True).encode()).hexdigest()[:16]
