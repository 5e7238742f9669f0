"""What viewers of adaptive video see, against what can be worked out by hand."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from bufferlab import Scenario, run
from bufferlab.results.result import Result
from bufferlab.results.videos import Viewing
from bufferlab.studies.choosing.objectives import possible_aspects
from bufferlab.studies.targets import parse_target

GOODPUT_BPS = 12e6 * 1448 / 1500


def one(ladder: list[str], duration: str = "60 s", **changes: Any) -> Result:
    """One video alone over a link of 12 Mbps, and 4 ms there and back."""
    table: dict[str, Any] = {
        "run": {"duration": duration, "warmup": "20 s"},
        "bottleneck": {"rate": "12 Mbps", "buffer": "100 packets"},
        "flows": [{"name": "tv", "rtt": "4 ms", "application": {"kind": "video", "ladder": ladder}}],
    }
    return run(Scenario.from_dict(table).with_overrides(dict(changes)))[0]


def seen(result: Result) -> dict[str, Any]:
    row: dict[str, Any] = result.summary()["flows"][0]
    return row


def test_a_link_that_is_fast_enough_shows_the_rate_below_the_safe_throughput() -> None:
    row = seen(one(["1 Mbps", "5 Mbps", "10 Mbps", "11 Mbps"]))
    assert row["bitrate_bps"] == pytest.approx(10e6)
    assert (row["stalls"], row["stall_count"], row["switches_per_minute"]) == (0, 0, 0)
    # a segment of 1 Mbps and 4 s, its slow start and the round trip
    assert 4e6 / GOODPUT_BPS < row["startup_s"] < 4e6 / GOODPUT_BPS + 0.1


def test_a_link_that_is_too_slow_stalls_for_the_rest_of_the_time() -> None:
    row = seen(one(["16 Mbps"], "200 s"))
    assert row["bitrate_bps"] == pytest.approx(16e6)
    # 4 s of playing take 4 s · 16 Mbps / goodput, and a round trip that is a thousandth of it
    assert row["stalls"] == pytest.approx(1 - GOODPUT_BPS / 16e6, abs=0.01)
    assert row["stall_count"] == pytest.approx(180 / (4 * 16e6 / GOODPUT_BPS), abs=1)


def segments(**columns: list[Any]) -> pl.DataFrame:
    count = len(columns["play_s"])
    given = {"flow": [0] * count, "number": list(range(count)), "bytes": [500_000] * count}
    return pl.DataFrame(given | columns, schema_overrides={"play_s": pl.Float64, "due_s": pl.Float64})


def test_only_what_lies_in_the_window_counts() -> None:
    # 4 s each at 1 Mbps, 2 s at 2 Mbps; the window is from 6 to 20 s
    table = segments(
        bitrate_bps=[1_000_000, 1_000_000, 2_000_000, 2_000_000, 1_000_000],
        due_s=[0.0, 5.0, 11.0, 13.0, 18.0],
        play_s=[1.0, 7.0, 11.0, 16.0, None],
        stall_s=[1.0, 2.0, 0.0, 3.0, 2.0],
    )
    viewing = Viewing(table, 6.0, 20.0)
    assert viewing.played_s == 4 + 2 + 2
    assert viewing.bitrate_bps() == (4 * 1e6 + 4 * 2e6) / 8
    # from 6 to 7 s, from 13 to 16 s, from 18 s to the end
    assert viewing.stalls() == (1 + 3 + 2) / (8 + 6)
    assert viewing.stall_count() == 2
    assert viewing.switches_per_minute() == 1 * 60 / 8
    assert viewing.startup_s() == 1.0


def test_what_never_begins_is_no_bitrate_and_a_long_start() -> None:
    table = segments(bitrate_bps=[1_000_000], due_s=[2.0], play_s=[None], stall_s=[18.0])
    viewing = Viewing(table, 6.0, 20.0)
    assert (viewing.bitrate_bps(), viewing.stalls(), viewing.switches_per_minute()) == (None, None, None)
    assert viewing.startup_s() == 18.0


def test_exchanges_have_the_segments_bitrates_and_moments() -> None:
    frame = one(["1 Mbps", "4 Mbps"]).exchanges
    assert frame["bitrate_bps"].to_list()[:3] == [1e6, 4e6, 4e6]
    assert frame["play_s"][0] == frame["end_s"][0] == frame["start_s"][0] + frame["stall_s"][0]
    ping: Any = {"kind": "ping", "interval": "1 s"}
    others = one(["1 Mbps"], "30 s", **{"flows.tv.application": ping}).exchanges
    assert others.height and others["bitrate_bps"].null_count() == others.height


def test_targets_and_aspects_are_about_the_share_of_stalls() -> None:
    target = parse_target("tv.stalls < 1 %", ["tv"])
    assert (target.name, target.margin(0.005) > 0, target.margin(0.02) > 0) == ("tv.stalls", True, False)
    scenario = Scenario.from_dict(
        {
            "run": {"duration": "10 s"},
            "bottleneck": {"rate": "12 Mbps", "buffer": "100 packets"},
            "flows": [{"name": "tv", "rtt": "4 ms", "application": {"kind": "video"}}],
        }
    )
    video = [each for each in possible_aspects(scenario, 4.0) if each.kind == "video"]
    assert [each.metric for each in video] == ["tv.bitrate_bps", "tv.stalls"]
    rates, stalls = video
    assert rates.utility({"tv.bitrate_bps": 4e6}) == 2 * rates.utility({"tv.bitrate_bps": 2e6})
    assert stalls.utility({"tv.stalls": 0.0}) == 2 * stalls.utility({"tv.stalls": 0.5})
