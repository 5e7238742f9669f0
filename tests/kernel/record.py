"""Records a kernel's reports, so that what is made of them is tested where there is no kernel.

python -m tests.kernel.record writes them anew; tests/kernel/recorded says what was run.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any, Final

from bufferlab.kernel.boot import boot
from bufferlab.kernel.cache import kernel
from bufferlab.kernel.emulate import OUR_LINK
from bufferlab.kernel.job import job_of
from bufferlab.plan import lower
from bufferlab.scenario import Scenario

FOLDER: Final = Path(__file__).parent / "recorded"
CASES: Final[dict[str, dict[str, Any]]] = {
    "reno-fifo": {"flows.bulk.count": 1},
    "reno-fq_codel": {"flows.bulk.count": 4, "bottleneck.queue": "fq_codel"},
    "applications": {"flows.bulk.congestion": "cubic-linux(hystart)"},
    "reno-splitbuff": {"flows.bulk.count": 2, "bottleneck.queue": "splitbuff"},
}
"""What was run, by file: changes of `scenario`."""

OURS: Final = {"reno-splitbuff"}
"""Those that crossed a link of Bufferlab's, together with flows from far."""


def scenario(case: str) -> Scenario:
    """The scenario of a record."""
    reno = {"rtt": "40 ms", "congestion": "reno"}
    more = [
        {"name": "page", "application": {"kind": "web", "size": "30 KB", "every": "1 s"}, **reno},
        {
            "name": "short",
            "application": {"kind": "short-flows", "size": "20 KB", "interval": "1 s"},
            **reno,
        },
        {
            "name": "call",
            "rtt": "40 ms",
            "application": {"kind": "udp", "packet": "200 B", "interval": "20 ms"},
        },
        {"name": "ping", "rtt": "40 ms", "application": {"kind": "ping", "interval": "200 ms"}},
    ]
    far = {"name": "far", "count": 2, "rtt": "200 ms", "congestion": "reno", "start": "uniform(0 s, 500 ms)"}
    return Scenario.from_dict(
        {
            "run": {"name": case, "duration": "15 s", "warmup": "5 s", "stack": "linux"},
            "bottleneck": {"rate": "5 Mbps", "buffer": "60 packets"},
            "flows": [
                {"name": "bulk", "rtt": "40 ms", "congestion": "reno", "start": "uniform(0 s, 500 ms)"},
                *([far] if case in OURS else []),
                *(more if case == "applications" else []),
            ],
        }
    ).with_overrides(CASES[case])


def recorded(case: str) -> dict[str, Any]:
    """A record: the kernel's title, and the rows that it reported of seed 1."""
    with gzip.open(FOLDER / f"{case}.json.gz", "rt", encoding="utf-8") as stream:
        found: dict[str, Any] = json.load(stream)
    return found


def main() -> None:
    """Record all cases by the newest kernel."""
    by = kernel()
    FOLDER.mkdir(exist_ok=True)
    for case in CASES:
        report = boot(by, job_of(lower(scenario(case), 1), ours=case in OURS), 1)
        text = json.dumps(
            {"kernel": by.title + (OUR_LINK if case in OURS else ""), "about": by.about, "rows": report.rows},
            sort_keys=True,
        )
        # without a time stamp, so that the same report is the same file
        (FOLDER / f"{case}.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))


if __name__ == "__main__":
    main()
