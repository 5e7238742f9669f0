"""A run whose rows do not fit into memory is refused before it begins, and not aborted while it runs."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

import bufferlab
from bufferlab.errors import InputError
from bufferlab.experiment.memory import exchange_rows

PINGS = """
[run]
duration = "100 s"
warmup = "1 s"

[bottleneck]
rate = "100 Mbps"
delay = "1 ms"
buffer = "50 packets"

[[flows]]
name = "probes"
rtt = "4 ms"
count = 1000
application = { kind = "ping", interval = "10 ms" }
"""


@pytest.mark.parametrize(
    ("application", "rows"),
    [
        ("{ kind = 'ping', interval = '10 ms' }", 10_000_000),
        ("{ kind = 'udp', rate = '80 kbps', packet = '100 B', record = true }", 10_000_000),
        ("{ kind = 'udp', rate = '80 kbps', packet = '100 B', record = false }", 0),
        ("{ kind = 'web', size = '1 kB', every = '2 s' }", 0),
    ],
)
def test_rows_are_those_of_pings_and_recorded_datagrams(application: str, rows: int) -> None:
    changed = PINGS.replace('{ kind = "ping", interval = "10 ms" }', application)
    assert exchange_rows(bufferlab.Scenario.from_toml(changed).resolved) == rows


def test_a_run_that_does_not_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bufferlab.experiment.memory.free_memory", lambda: 2_500_000_000)
    with pytest.raises(InputError) as caught:
        bufferlab.run(bufferlab.Scenario.from_toml(PINGS))
    assert str(caught.value) == (
        "the run makes 10,000,000 rows of exchanges, which take about 2.8 GB of memory; 2.5 GB are free; "
        "accepted: a longer interval of pings or recorded datagrams, fewer of such flows, a shorter run, "
        "or fewer --threads"
    )


@pytest.mark.parametrize("free", [10**12, None])
def test_a_small_run_or_one_that_fits_goes_on(monkeypatch: pytest.MonkeyPatch, free: int | None) -> None:
    monkeypatch.setattr("bufferlab.experiment.memory.free_memory", lambda: free)
    few = bufferlab.Scenario.from_toml(PINGS).with_overrides({"flows[0].count": 10, "run.duration": "2 s"})
    monkeypatch.setattr("bufferlab.experiment.memory._SMALL_BYTES", 0)
    assert bufferlab.run(few)[0].exchanges.height == 2000


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads Linux's /proc")
def test_a_limit_of_the_process_counts(tmp_path: Path) -> None:
    (tmp_path / "pings.toml").write_text(PINGS)
    limit = 4 * 2**30
    ended = subprocess.run(
        [sys.executable, "-m", "bufferlab", "run", "pings.toml", "--set", "flows[0].count=4000"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
    )
    assert ended.returncode == 2, ended.stderr
    assert "makes 40,000,000 rows of exchanges, which take about 11.2 GB of memory" in ended.stderr
