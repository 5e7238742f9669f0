"""Fetches, pings and recorded datagrams, against what can be worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from bufferlab import Scenario, run
from bufferlab.results.exchanges import delay_variation, interarrival_jitter
from bufferlab.results.result import Result

WEB: dict[str, object] = {"kind": "web", "size": "14480 B", "every": "2 s"}
PING: dict[str, object] = {"kind": "ping", "interval": "100 ms"}


def one(application: dict[str, object], **changes: object) -> Result:
    """One flow alone over a link of 12 Mbps, a full segment a millisecond, and 100 ms there and back."""
    table: dict[str, Any] = {
        "run": {"duration": "21 s", "warmup": "0 s"},
        "bottleneck": {"rate": "12 Mbps", "delay": "10 ms", "buffer": "100 packets"},
        "flows": [{"name": "one", "rtt": "100 ms", "application": application}],
    }
    return run(Scenario.from_dict(table).with_overrides(dict(changes)))[0]


def test_a_page_takes_two_round_trips_and_its_transmission() -> None:
    pages = one(WEB).exchanges
    assert pages["start_s"].to_list() == [2 * k for k in range(11)]
    # SYN there and back, request there, ten segments back; the server's SYN has 52 bytes
    took_s = 0.2 + 8 * (52 + 10 * 1500) / 12e6
    assert pages["duration_s"].to_list() == pytest.approx([took_s] * 11, abs=1e-9)
    assert pages["bytes"].to_list() == [14_480] * 11


def test_each_page_has_a_new_connection() -> None:
    """100 segments need the same slow start each time; over one connection the second would leave at once."""
    pages = one({**WEB, "size": "144800 B"})
    durations = pages.exchanges["duration_s"].to_list()
    assert durations == pytest.approx([durations[0]] * len(durations), abs=1e-9)
    # a handshake and, with 10 segments at first and one more for each acknowledged, rounds of 10, 20, 40, 30
    assert durations[0] == pytest.approx(0.5, abs=0.05)
    turns: dict[str, object] = {"kind": "on-off", "size": "144800 B", "off": "1 s"}
    kept = one(turns, **{"flows.one.after_idle": "keep"}).exchanges["duration_s"].to_list()
    assert kept[1] < durations[0] - 0.25


def test_a_late_page_is_followed_at_once() -> None:
    pages = one({**WEB, "size": "1448 KB", "every": "1 s"}).exchanges
    starts, ends = pages["start_s"].to_list(), pages["end_s"].drop_nulls().to_list()
    assert pages["duration_s"].drop_nulls().min() > 1  # type: ignore[operator]
    # as soon as the server has the last acknowledgment, which may have been delayed
    waits = [start - end for start, end in zip(starts[1:], ends, strict=False)]
    assert all(-1e-9 <= wait <= 0.201 for wait in waits)


def test_a_page_shares_the_queue_of_its_path_with_a_bulk_flow() -> None:
    long = {"name": "long", "rtt": "100 ms"}
    page = {"name": "one", "rtt": "100 ms", "application": WEB}
    table = {
        "run": {"duration": "60 s"},
        "bottleneck": {"rate": "12 Mbps", "delay": "10 ms", "buffer": "400 packets"},
        "flows": [long, page],
    }
    rows = run(Scenario.from_dict(table))[0].summary()["flows"]
    # twice the wait in the queue: the server's SYN and the data
    assert rows[1]["exchange_s"] > 0.21 + 0.1
    assert rows[0]["exchanges"] is None
    assert rows[2]["exchanges"] is None  # of all groups together


def test_a_ping_is_returned() -> None:
    result = one(PING)
    pings = result.exchanges
    assert pings.height == 210
    took_s = 0.1 + 8 * 84 / 12e6
    # the last one is still under way
    assert pings["duration_s"].drop_nulls().to_list() == pytest.approx([took_s] * 209, abs=1e-9)
    assert pings["end_s"].null_count() == 1
    assert result.flows["rtt_ms"].item() == pytest.approx(took_s * 1000)
    row = result.summary()["flows"][0]
    assert (row["exchanges"], row["exchanges_not_done"]) == (209, 1)
    assert row["exchange_p95_s"] == pytest.approx(took_s)


def test_a_ping_s_answer_waits_on_its_way_back() -> None:
    table: dict[str, Any] = {
        "run": {"duration": "10 s", "warmup": "0 s"},
        "links": [
            {"name": "there", "rate": "12 Mbps", "buffer": "100 packets"},
            {"name": "back", "rate": "84 kbps", "buffer": "100 packets"},
        ],
        "flows": [{"path": ["there"], "reverse_path": ["back"], "rtt": "100 ms", "application": PING}],
    }
    pings = run(Scenario.from_dict(table))[0].exchanges
    took_s = 0.1 + 8 * 84 * (1 / 12e6 + 1 / 84e3)
    assert pings["duration_s"].drop_nulls().to_list() == pytest.approx([took_s] * 99, abs=1e-9)


def test_lost_pings_are_not_done() -> None:
    row = one(PING, **{"bottleneck.loss": 0.5}).summary()["flows"][0]
    assert row["exchanges"] + row["exchanges_not_done"] == 210
    assert 70 < row["exchanges_not_done"] < 140
    assert row["exchange_p99_s"] is None


def test_recorded_datagrams_have_their_variation_and_jitter(tmp_path: Path) -> None:
    voice = {"kind": "udp", "packet": "1500 B", "interval": "20 ms", "record": True}
    table = {
        "run": {"duration": "10 s", "warmup": "0 s"},
        "bottleneck": {"rate": "12 Mbps", "buffer": "100 packets"},
        "flows": [
            {"name": "voice", "rtt": "100 ms", "application": voice},
            {
                "rtt": "20 ms",
                "application": {**voice, "interval": "3 ms", "arrivals": "poisson", "record": False},
            },
        ],
    }
    result = run(Scenario.from_dict(table))[0]
    rows = result.exchanges
    assert rows["group"].unique().to_list() == ["voice"]
    came = rows.filter(pl.col("end_s").is_not_null())
    start, end = came["start_s"].to_numpy(), came["end_s"].to_numpy()
    gaps = np.diff(end)
    assert came["variation_ms"].to_list()[1:] == pytest.approx(((gaps - gaps.mean()) * 1000).tolist())
    assert came["variation_ms"][0] is None
    # RFC 3550 appendix A.8, as written there
    jitter, transit = 0.0, end[0] - start[0]
    for sent, arrival in zip(start[1:], end[1:], strict=True):
        d = abs((arrival - sent) - transit)
        transit = arrival - sent
        jitter += (d - jitter) / 16
    row = result.summary()["flows"][0]
    assert row["jitter_ms"] == pytest.approx(jitter * 1000)
    assert row["delay_variation_ms"] == pytest.approx(gaps.std() * 1000)
    assert row["delay_variation_ms"] > 0.1
    result.save(tmp_path / "out")
    assert Result.load(tmp_path / "out").exchanges.equals(rows)


def test_the_estimators_on_little_and_on_even_spacing() -> None:
    assert np.isnan(delay_variation(np.array([1.0]))).all()
    assert interarrival_jitter(np.array([1.0]), np.array([2.0])).tolist() == [0]
    even = np.arange(5.0)
    assert delay_variation(even).tolist()[1:] == [0] * 4
    assert interarrival_jitter(even, even + 3).tolist() == [0] * 5
    # a step of 16 in the delay moves the estimate by 1, which then fades by a sixteenth each packet
    step = interarrival_jitter(even, even + np.array([0, 16, 16, 16, 16]))
    assert step.tolist() == pytest.approx([0, 1, 15 / 16, (15 / 16) ** 2, (15 / 16) ** 3])
