"""What those in video calls see: what can be worked out by hand, and what the draft says of a lone call."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from bufferlab import Scenario, run
from bufferlab.render.advise.compared import felt_column
from bufferlab.results.frames_seen import FramesSeen
from bufferlab.studies.choosing.objectives import possible_aspects
from bufferlab.studies.targets import parse_target

MEETING: dict[str, Any] = {"name": "meeting", "rtt": "50 ms", "application": {"kind": "video-call"}}


def scenario(rate: str, buffer: str, queue: str = "fifo", *others: dict[str, Any]) -> Scenario:
    return Scenario.from_dict(
        {
            "run": {"duration": "160 s", "warmup": "60 s", "stack": "linux"},
            "bottleneck": {"rate": rate, "buffer": buffer, "queue": queue},
            "flows": [MEETING, *others],
        }
    )


def seen(*what: Any) -> dict[str, Any]:
    row: dict[str, Any] = run(scenario(*what))[0].summary()["flows"][0]
    return row


@pytest.mark.parametrize("rate_mbps", [0.5, 1.0, 2.0])
def test_a_lone_call_takes_most_of_the_link_and_waits_little(rate_mbps: float) -> None:
    row = seen(f"{rate_mbps} Mbps", "300 ms")
    assert 0.75 < row["goodput_bps"] / 1e6 / rate_mbps < 0.97
    # 25 ms of propagation, and a frame's own time in the pacer
    assert row["frame_p95_ms"] < 110
    assert (row["frames_late"], row["low_bitrate"]) == (pytest.approx(0, abs=0.01), 0)


def test_a_call_that_nothing_bounds_has_its_highest_bitrate() -> None:
    row = seen("20 Mbps", "300 ms")
    assert row["sent_bps"] == pytest.approx(2.5e6, rel=0.02)
    assert row["goodput_bps"] == pytest.approx(row["sent_bps"], rel=0.02)


def test_beside_a_download_the_queue_decides_what_a_call_has() -> None:
    download = {"name": "download", "rtt": "50 ms", "start": "20 s"}
    fifo, fair = (seen("10 Mbps", "300 ms", queue, download) for queue in ("fifo", "fq_codel"))
    # a FIFO that TCP keeps full takes the delay and some of the bitrate; apart, the call has both
    assert fifo["frames_late"] > 0.9
    assert fair["frames_late"] < 0.05
    assert 0.1 * fair["goodput_bps"] < fifo["goodput_bps"] < 0.9 * fair["goodput_bps"]
    assert fair["goodput_bps"] == pytest.approx(2.5e6, rel=0.03)


def packets(**columns: list[Any]) -> pl.DataFrame:
    count = len(columns["start_s"])
    given = {"flow": [0] * count, "bytes": [1040] * count}
    return pl.DataFrame(given | columns, schema_overrides={"end_s": pl.Float64})


def test_a_frame_is_there_with_its_last_packet() -> None:
    table = packets(
        start_s=[0.5, 1.0, 1.0, 2.0, 3.0, 3.0, 4.9, 4.9],
        end_s=[0.6, 1.05, 1.1, 2.2, 3.05, None, 4.95, None],
    )
    frames = FramesSeen(table, 40, 10_000, 1.0, 5.0)
    # of those in the window 100 and 200 ms; the third lost a packet, the last one's may be under way
    assert frames.delay_ms(50) == pytest.approx(150)
    assert frames.late() == pytest.approx(2 / 3)
    # 8000 bits each: two, one, and one in the three whole seconds from 1 to 4.9 s
    assert frames.low_bitrate() == pytest.approx(2 / 3)
    assert frames.sent_bps() == pytest.approx(7 * 8000 / 3.9)


def test_without_frames_in_the_window_nothing_is_known() -> None:
    frames = FramesSeen(packets(start_s=[0.5], end_s=[0.6]), 40, 10_000, 1.0, 5.0)
    assert (frames.delay_ms(95), frames.late(), frames.low_bitrate(), frames.sent_bps()) == (None,) * 4


def test_targets_and_aspects_are_about_bitrate_and_frames() -> None:
    target = parse_target("meeting.frames_late < 2 %", ["meeting"])
    assert (target.name, target.margin(0.01) > 0) == ("meeting.frames_late", True)
    aspects = possible_aspects(scenario("1 Mbps", "300 ms"), 50.0)
    metrics = ["goodput_bps", "frame_p95_ms", "frames_late"]
    assert [each.metric for each in aspects] == [f"meeting.{name}" for name in metrics]
    assert {each.kind for each in aspects} == {"calls"}


def test_the_head_of_a_picture_s_time_says_of_which() -> None:
    advice: Any = SimpleNamespace(answer=SimpleNamespace(mean=lambda _: SimpleNamespace(mean=60.0)))
    heads = [felt_column(advice, each) for each in possible_aspects(scenario("1 Mbps", "300 ms"), 50.0)]
    assert [(each.head, each.shown) for each in heads] == [
        ("meeting", "Mbps"),
        ("meeting", "p95 ms"),
        ("meeting", "late %"),
    ]


def test_other_groups_have_no_frames() -> None:
    ping: Any = {"name": "ping", "rtt": "50 ms", "application": {"kind": "ping", "interval": "1 s"}}
    rows = run(scenario("1 Mbps", "300 ms", "fifo", ping))[0].summary()["flows"]
    known = {row["group"]: row["frames_late"] is not None for row in rows}
    assert known == {"meeting": True, "ping": False, "all": False}
