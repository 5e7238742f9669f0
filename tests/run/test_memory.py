"""A run whose rows do not fit into memory is refused before it begins, and not aborted while it runs."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import pytest

import bufferlab
from bufferlab.errors import InputError
from bufferlab.experiment.memory import exchange_rows, packets_in_flight
from bufferlab.plan import lower

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


FAST = """
[run]
duration = "10 s"
warmup = "1 s"

[bottleneck]
rate = "100 Gbps"
buffer = "1000 packets"

[[flows]]
count = 20
rtt = "1.5 s"
"""


@pytest.mark.parametrize(
    ("changes", "packets"),
    [
        ({}, 10**11 * 15 // (8 * 1500 * 10) + 1000),
        ({"flows[0].window": "15 MB"}, 20 * (15_000_000 // 1448)),
        ({"run.duration": "1 s", "run.warmup": "0 s"}, 10**11 // (8 * 1500) + 1000),
        ({"flows[0].application": {"kind": "udp", "rate": "8 Mbps", "packet": "1000 B"}}, 20 * 1501),
        ({"flows[0].application": {"kind": "transfer", "bytes": "144.8 MB"}}, 20 * 100_000),
    ],
)
def test_packets_in_flight_are_those_that_links_and_windows_let_be(
    changes: dict[str, object], packets: int
) -> None:
    assert packets_in_flight(lower(bufferlab.Scenario.from_toml(FAST).with_overrides(changes))) == packets


def test_a_recording_that_does_not_fit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes its memory for packets in flight, whatever its limit."""
    monkeypatch.setattr("bufferlab.experiment.memory.free_memory", lambda: 3_000_000_000)
    scenario = bufferlab.Scenario.from_toml(FAST)
    with pytest.raises(InputError) as caught:
        bufferlab.run(scenario, pcap=tmp_path / "a.pcapng", record_limit=20_000)
    assert str(caught.value) == (
        "up to 12,501,000 packets are in flight, which take about 4.4 GB of memory while they are recorded; "
        "3.0 GB are free; accepted: no --pcap or --trace, a lower rate, shorter round trips, smaller buffers "
        "or windows, or fewer --threads"
    )


def test_a_recording_that_fits_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bufferlab.experiment.memory._SMALL_BYTES", 0)
    scenario = bufferlab.Scenario.from_toml(FAST).with_overrides(
        {"bottleneck.rate": "1 Mbps", "flows[0].rtt": "20 ms", "run.duration": "2 s"}
    )
    assert bufferlab.run(scenario, pcap=tmp_path / "a.pcapng")[0].recordings[0].records > 10
