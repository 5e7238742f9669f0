"""Lowering: the queue disciplines of a scenario as the engine takes them."""

from __future__ import annotations

from typing import Any

import pytest

from bufferlab.errors import InputError
from bufferlab.plan import lower
from bufferlab.scenario import Scenario

from .conftest import Make

MS = 10**9
S = 10**12


def has(plan: dict[str, Any], expected: dict[str, Any]) -> bool:
    """Whether a plan has these values; a parameter that is added does not matter."""
    return plan == plan | expected


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("20 packets", {"packets": 20}),
        ("30 kB", {"bytes": 30_000}),
        # 100 Mbps for 1 ms are 12,500 bytes, 8.3 packets of 1500
        ("1 ms", {"packets": 8}),
        # (10 + 3 x 990) / 4 ms at 100 Mbps are 6208 packets
        ("0.5 bdp", {"packets": 3104}),
    ],
)
def test_marks(make: Make, written: str, expected: dict[str, int]) -> None:
    discipline = lower(make({"links.west.mark_above": written}))["links"][0]["discipline"]
    assert discipline == {"kind": "fifo", "limit": {"packets": 100}, "mark_above": expected}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("codel", {}),
        ({"discipline": "codel"}, {}),
        (
            {
                "discipline": "codel",
                "target": "2 ms",
                "interval": "1 s",
                "ecn": True,
                "ce_threshold": "0 s",
                "control_law": "linux",
            },
            {
                "target_ps": 2 * MS,
                "interval_ps": S,
                "ecn": True,
                "ce_threshold_ps": 0,
                "control_law": "linux",
            },
        ),
    ],
)
def test_codel_is_lowered(make: Make, written: object, expected: dict[str, object]) -> None:
    plan = lower(make({"links.west.queue": written}))
    defaults = {"target_ps": 5 * MS, "interval_ps": 100 * MS, "ecn": False}
    unset = {"ce_threshold_ps": None, "control_law": "rfc"}
    discipline = {"kind": "codel", "limit": {"packets": 100}, **defaults, **unset, **expected}
    assert has(plan["links"][0]["discipline"], discipline)


def splitbuff(limit: object, **changes: object) -> dict[str, object]:
    defaults = {"sub_buffers": 2, "update_ps": S // 2, "smoothing": 0.5, "weighted": False}
    beyond = {"first_update_ps": S // 16, "thresholds": "mean", "hysteresis": 0.0, "mean": "packets"}
    rtt = {"kind": "header"}
    return {"kind": "splitbuff", "limit": limit, "rtt": rtt, **defaults, **beyond, **changes}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("splitbuff", {}),
        ("splitbuff-weighted", {"weighted": True, "thresholds": "gaps", "sub_buffers": 4}),
        (
            {
                "discipline": "splitbuff",
                "sub_buffers": 3,
                "update": "800 ms",
                "smoothing": 1,
                "weighted": True,
            },
            {
                "sub_buffers": 3,
                "update_ps": 800 * MS,
                "first_update_ps": 100 * MS,
                "smoothing": 1.0,
                "weighted": True,
            },
        ),
        (
            {
                "discipline": "splitbuff",
                "first_update": "20 ms",
                "thresholds": "gaps",
                "hysteresis": 0.2,
                "mean": "flows",
            },
            {"first_update_ps": 20 * MS, "thresholds": "gaps", "hysteresis": 0.2, "mean": "flows"},
        ),
    ],
)
def test_splitbuff_is_lowered(make: Make, written: object, expected: dict[str, object]) -> None:
    discipline = lower(make({"links.west.queue": written}))["links"][0]["discipline"]
    assert has(discipline, splitbuff({"packets": 100}) | expected)


@pytest.mark.parametrize(
    ("written", "information"),
    [
        ("header", {"kind": "header"}),
        ("header(4 bits)", {"kind": "quantized", "bits": 4}),
        ("header(1 bit)", {"kind": "quantized", "bits": 1}),
        ("handshake", {"kind": "handshake", "flows": 1024}),
        ("handshake( 64 flows )", {"kind": "handshake", "flows": 64}),
        ("timestamps(4096 flows)", {"kind": "timestamps", "flows": 4096}),
        ("oracle", {"kind": "oracle"}),
    ],
)
def test_sources_of_round_trip_times_are_lowered(make: Make, written: str, information: object) -> None:
    plan = lower(make({"links.west.queue": {"discipline": "splitbuff", "rtt": written}}))
    assert plan["links"][0]["discipline"]["rtt"] == information


@pytest.mark.parametrize("queue", ["splitbuff", "splitbuff-weighted", {"discipline": "splitbuff"}])
def test_splitbuff_needs_no_buffer(table: dict[str, Any], queue: object) -> None:
    del table["links"][0]["buffer"]
    table["links"][0]["queue"] = queue
    # twice (10 + 3 x 990) / 4 ms at 100 Mbps, in packets of 1500 bytes
    assert lower(Scenario.from_dict(table))["links"][0]["discipline"]["limit"] == {"packets": 12_417}


FQ_CODEL = {
    "kind": "fq_codel",
    "flows": 1024,
    "quantum_bytes": 1514,
    "drop_batch": 64,
    "codel_backlog": "own",
    "target_ps": 5 * MS,
    "interval_ps": 100 * MS,
    "ecn": True,
    "ce_threshold_ps": None,
    "control_law": "rfc",
}
PIE = {
    "kind": "pie",
    "target_ps": 15 * MS,
    "t_update_ps": 15 * MS,
    "alpha": 0.125,
    "beta": 1.25,
    "max_burst_ps": 150 * MS,
    "ecn": False,
}


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("fq_codel", FQ_CODEL),
        (
            {
                "discipline": "fq_codel",
                "flows": 16,
                "quantum": "300 B",
                "drop_batch": 1,
                "target": "1 ms",
                "interval": "10 ms",
                "ecn": False,
                "ce_threshold": "2 ms",
                "control_law": "linux",
                "codel_backlog": "all",
            },
            {
                "kind": "fq_codel",
                "flows": 16,
                "quantum_bytes": 300,
                "drop_batch": 1,
                "codel_backlog": "all",
                "target_ps": MS,
                "interval_ps": 10 * MS,
                "ecn": False,
                "ce_threshold_ps": 2 * MS,
                "control_law": "linux",
            },
        ),
        ("pie", PIE),
        (
            {
                "discipline": "pie",
                "target": "5 ms",
                "update": "1 ms",
                "alpha": 2,
                "beta": 0,
                "burst": "0 s",
                "ecn": True,
            },
            {
                "kind": "pie",
                "target_ps": 5 * MS,
                "t_update_ps": MS,
                "alpha": 2.0,
                "beta": 0.0,
                "max_burst_ps": 0,
                "ecn": True,
            },
        ),
        ("drr", {"kind": "drr", "quantum_bytes": 1514}),
        ("splitbuff-blind", {"kind": "splitbuff-blind", "sub_buffers": 2}),
        (
            {"discipline": "splitbuff-blind", "sub_buffers": 4},
            {"kind": "splitbuff-blind", "sub_buffers": 4},
        ),
        ({"discipline": "drr", "quantum": "9 KB"}, {"kind": "drr", "quantum_bytes": 9000}),
    ],
)
def test_queues_are_lowered(make: Make, written: object, expected: dict[str, object]) -> None:
    discipline = lower(make({"links.west.queue": written}))["links"][0]["discipline"]
    assert has(discipline, expected | {"limit": {"packets": 100}})


def red(lower_bound: object, upper_bound: object, **changes: object) -> dict[str, object]:
    defaults = {"weight": None, "max_p": 0.1, "gentle": True, "adaptive": True, "ecn": False}
    bounds = {"min_threshold": lower_bound, "max_threshold": upper_bound, "mean_packet_bytes": 1500}
    bounds["target_delay_ps"] = None
    return {"kind": "red", "limit": {"packets": 100}, **defaults, **bounds, **changes}


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        # 5 ms at 100 Mbps are 41.7 packets of 1500 bytes
        ({}, red({"packets": 21}, {"packets": 63})),
        ({"target_delay": "1 ms"}, red({"packets": 5}, {"packets": 15})),
        ({"mean_packet": "500 B"}, red({"packets": 62}, {"packets": 186}, mean_packet_bytes=500)),
        ({"min_threshold": "20 packets"}, red({"packets": 20}, {"packets": 60})),
        ({"max_threshold": "30 KB"}, red({"bytes": 10_000}, {"bytes": 30_000})),
        (
            {"min_threshold": "1.2 ms", "max_threshold": "11 packets", "weight": 0.002, "max_p": 1},
            red({"packets": 10}, {"packets": 11}, weight=0.002, max_p=1.0),
        ),
        (
            {"gentle": False, "adaptive": False, "ecn": True},
            red({"packets": 21}, {"packets": 63}, gentle=False, adaptive=False, ecn=True),
        ),
    ],
)
def test_red_is_lowered(make: Make, keys: dict[str, object], expected: dict[str, object]) -> None:
    plan = lower(make({"links.west.queue": {"discipline": "red"} | keys}))
    assert has(plan["links"][0]["discipline"], expected)


@pytest.mark.parametrize(
    ("lower_bound", "upper_bound"),
    [("20 packets", "20 packets"), ("20 packets", "30 KB"), (None, "1 packets")],
)
def test_thresholds_of_red_that_contradict_each_other(
    make: Make, lower_bound: str | None, upper_bound: str
) -> None:
    queue = {"discipline": "red", "max_threshold": upper_bound}
    queue |= {"min_threshold": lower_bound} if lower_bound else {}
    message = rf"links\[0\]\.queue\.max_threshold: '{upper_bound}' does not go with min_threshold"
    with pytest.raises(InputError, match=message):
        lower(make({"links.west.queue": queue}))
