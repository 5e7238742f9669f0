"""What the first screen says where it is easily read as more than is known."""

from __future__ import annotations

import dataclasses
import math
import re
from importlib import resources
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import bufferlab
from bufferlab import Findings
from bufferlab.captured.flows import LEAST_RTT_MS
from bufferlab.captured.lengths import MEASURED, accuracy_text, short_texts

from .both_ways import between, cut
from .conftest import Captured


def screen(findings: Findings) -> str:
    """The text in one line."""
    return " ".join(str(findings).split())


def captured_link(folder: Path, place: str, rate: str, buffer: str, **flow: Any) -> Findings:
    """What a capture of a link with some CUBIC flows shows."""
    path = folder / "link.pcapng"
    scenario = {
        "run": {"duration": "20 s", "warmup": "0 s", "seed": 3, "stack": "linux"},
        "bottleneck": {"rate": rate, "delay": "2 ms", "buffer": buffer},
        "flows": [{"rtt": "30 ms", "congestion": "cubic-linux(hystart)", **flow}],
    }
    bufferlab.run(scenario, progress=False, pcap=path, pcap_at=[place])
    return bufferlab.observe(path)


def test_without_timestamps_round_trips_contain_what_waits(tmp_path: Path) -> None:
    """Behind the queue 30 ms were "without waiting: median 181 ms, 31.2 to 1336 ms"."""
    flows = {"count": 4, "timestamps": False, "start": "uniform(0 s, 6 s)"}
    text = screen(captured_link(tmp_path, "receivers", "10 Mbps", "150 ms", **flows))
    assert "smallest round trip, waiting included: median" in text and "without waiting" not in text
    assert "beware round trips contain what waited as each connection began" in text
    assert "the shortest, 31.2 ms, is nearest to that of the path" in text


def test_a_buffer_that_fills_for_moments_is_not_said_to_hold_what_is_not_seen(tmp_path: Path) -> None:
    """The rate was not known as waits were "too short to see", beside a buffer that is full at 2.4 ms."""
    bursts = {"kind": "on-off", "size": "300 kB", "off": "exponential(mean=1 s)"}
    flows = {"count": 12, "application": bursts, "access_rate": "30 Mbps"}
    seen = captured_link(tmp_path, "receivers", "90 Mbps", "2.5 ms", **flows)
    assert seen.waits is not None and seen.waits["is_filled"] and seen.rate_bps is None
    text = screen(seen)
    assert "though some were lost: the buffer is full for less than a window at a time" in text
    assert "it is full then, or the queue drops early" in text and "holds very few" not in text


@pytest.mark.parametrize("packets", [2, 3])
def test_a_buffer_of_few_packets_is_very_small(packets: int, tmp_path: Path) -> None:
    """Losses came "at no one depth", or medians were negative; before it the link was "hardly loaded"."""
    flows = {"count": 4, "start": "uniform(0 s, 2 s)"}
    behind = captured_link(tmp_path, "receivers", "20 Mbps", f"{packets} packets", **flows)
    assert f"what {packets} of mean size take" in screen(behind)
    before = screen(captured_link(tmp_path, "senders", "20 Mbps", f"{packets} packets", **flows))
    assert "though some were lost: the buffer holds very few" in before and "hardly loaded" not in before
    assert "buffer not known: it holds very few, as hardly any packet waits longer than" in before


def test_the_side_of_the_queue_is_said(captured: Captured) -> None:
    before, behind = (bufferlab.observe(path) for path in (captured.at_senders, captured.at_receivers))
    side = "seen from before the queue: what it drops and marks shows in acknowledgments alone; near the"
    assert f"{side} sender (5 of 5 long flows)" in screen(before)
    assert "seen from behind the queue: what arrives at it is not seen" in screen(behind)
    paced = screen(dataclasses.replace(before, is_paced=True))
    assert "seen from near the sender" in paced
    # some windows of 100 ms have packets that wait, which the line 'link' counts
    assert "in short hardly anything shows that packets wait for the link" in paced
    assert "buffer not known: hardly anything shows that packets wait for it" in paced
    links = before.observation.links.with_columns(
        pl.lit(0, pl.UInt64).alias(f"{name}_100ms_windows") for name in ("queued", "idle")
    )
    idle = dataclasses.replace(before.observation, links=links)
    none = screen(dataclasses.replace(before, is_paced=True, observation=idle))
    assert "in short nothing shows that packets wait for the link" in none


def test_a_path_that_takes_no_time_has_no_nearer_end(captured: Captured) -> None:
    found = bufferlab.observe(captured.at_receivers)
    short = found.flows.with_columns(rtt_ms=pl.lit(0.06))
    assert "a path of 60 us, of which hosts take as much" in screen(dataclasses.replace(found, flows=short))
    none = found.flows.with_columns(rtt_ms=pl.lit(LEAST_RTT_MS))
    assert "a path of less than 0.01 ms, of which" in screen(dataclasses.replace(found, flows=none))


def test_one_sample_has_no_percentiles(captured: Captured) -> None:
    found = bufferlab.observe(captured.at_senders)
    assert found.waits is not None
    once = dataclasses.replace(found, waits={**found.waits, "samples": 1, "max_ns": 3e6})
    assert "waits known of 1 sample alone, up to 3 ms buffer" in screen(once)


def test_waits_of_a_queue_that_may_never_have_been_empty_are_bounds(captured: Captured) -> None:
    """A queue of 53 ms in the median had 23 when the capture began in the middle of its flows."""
    found = bufferlab.observe(captured.at_senders)
    assert not found.is_never_empty
    assert "Mbps before drops, 10" in screen(found)
    assert re.search(
        r"the queue drops early; half of the packets find it at least \d\d % full losses", screen(found)
    )
    said = screen(dataclasses.replace(found, is_never_empty=True))
    assert "in short half of the packets wait at least 27.9 ms, one in twenty at least 3" in said
    assert "round trip without waiting: median at most " in said and "waits at least median " in said
    assert "buffer losses come at at least " not in said and "buffer losses come at least at " in said


def test_no_loss_has_no_episodes(captured: Captured) -> None:
    lossless = screen(dataclasses.replace(bufferlab.observe(captured.at_senders), losses=0.0))
    assert "losses none of the segments had to be sent again" in lossless


def test_a_short_capture_says_how_short(captured: Captured, tmp_path: Path) -> None:
    minute = screen(bufferlab.observe(captured.at_senders))
    assert "in short half of the packets wait" in minute
    brief = screen(captured_link(tmp_path, "senders", "20 Mbps", "40 ms", count=3))
    assert "in short in these 20 s, half of the packets wait" in brief


def test_how_far_a_buffer_may_be_off_is_that_of_the_measured_captures(captured: Captured) -> None:
    with resources.files("bufferlab.evidence.captures").joinpath("measured/decisions.csv").open("rb") as file:
        rows = pl.read_csv(file).filter(~pl.col("capture").str.contains(","))
    measured = {
        int(name.split()[0]): (round(low, 2), round(high, 2))
        for name, low, high in rows.select("capture", "low_ratio", "high_ratio").iter_rows()
    }
    assert {each.capture_s: (each.low, each.high) for each in MEASURED} == measured
    ten, sixty = "0.8 to 1.66 times the right one in nine of ten", "from 60 s 0.83 to 1.18 times"
    assert accuracy_text(12.0).startswith(f"a buffer sized from 10 s was {ten}")
    assert accuracy_text(12.0).endswith(f"{sixty}: capture longer")
    nearest = "a buffer sized from captures of 30 s, the nearest shorter, was 0.83 to 1.29"
    assert accuracy_text(45.0).startswith(nearest)
    assert f"{sixty}, from less it is worse: capture" in accuracy_text(3.0)
    assert "capture longer" not in accuracy_text(59.0) and not list(short_texts(29.0))
    assert list(short_texts(12.0)) == [accuracy_text(12.0)]
    text = screen(bufferlab.observe(captured.at_senders))
    assert f"accuracy {accuracy_text(30.0)} link" in text and "; the buffer holds 3" in text


@pytest.mark.parametrize("place", ["senders", "receivers"])
def test_two_seconds_of_a_busy_link_say_that_waits_may_be_longer(place: str, tmp_path: Path) -> None:
    """Ten seconds of the same had both sentences."""
    whole = captured_link(tmp_path, place, "20 Mbps", "2 bdp", count=4).observation.file
    path = tmp_path / "two.pcapng"
    path.write_bytes(between(Path(whole).read_bytes(), 12.0, 14.0))
    seen = bufferlab.observe(path)
    assert seen.is_never_empty
    assert "waits at least median" in screen(seen) and "begins in the middle of flows" in screen(seen)
    opened = tmp_path / "opened.pcapng"
    opened.write_bytes(between(Path(whole).read_bytes(), 0.0, 2.0))
    assert not bufferlab.observe(opened).is_never_empty


def test_what_cut_headers_hide_is_not_said_to_be_none(captured: Captured, tmp_path: Path) -> None:
    """It was "0 connections", "none" and "no TCP in this direction"."""
    path = tmp_path / "cut.pcapng"
    path.write_bytes(cut(captured.at_senders.read_bytes(), 36))
    text = screen(bufferlab.observe(path))
    assert "packets, connections not known: headers are cut" in text
    assert "long flows not known: headers are cut" in text and "losses not known: headers are cut" in text


def test_few_samples_do_not_say_how_much_a_buffer_holds(captured: Captured) -> None:
    seen = bufferlab.observe(captured.at_receivers)
    calm = {**(seen.waits or {}), "is_filled": 0, "loss_episodes": 0, "samples": 80}
    flows = seen.flows.with_columns(pl.lit(0).alias("loss_episodes"))
    text = screen(dataclasses.replace(seen, waits=calm, flows=flows))
    assert "buffer not known: no loss was seen, and what waits was seen in 80 samples alone" in text


def test_packets_that_were_cut_within_their_options_are_counted(captured: Captured, tmp_path: Path) -> None:
    """Nothing said so, and "most packets have none: capture at the senders' side"."""
    path = tmp_path / "cut.pcapng"
    path.write_bytes(cut(captured.at_receivers.read_bytes(), 44))
    found = bufferlab.observe(path)
    totals = found.observation.totals
    assert totals["cut_packets"] == 0 and totals["cut_options_packets"] == totals["tcp_packets"]
    text, count = screen(found), f"{totals['tcp_packets']:,}"
    assert f"beware {count} packets are cut within their headers, before timestamps and SACK blocks" in text
    assert text.count("packets are cut") == 1 and "the capture cut them off (128 bytes" in text
    assert not bufferlab.observe(captured.at_receivers).observation.totals["cut_options_packets"]


def test_of_cut_headers_no_other_cause_hides_the_rate(captured: Captured, tmp_path: Path) -> None:
    path = tmp_path / "cut.pcapng"
    path.write_bytes(cut(captured.at_senders.read_bytes(), 44))
    known = bufferlab.observe(path)
    assert known.rate_bps == pytest.approx(20e6, rel=0.02)
    links = known.observation.links.with_columns(rate_bps=pl.lit(math.nan))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "bufferlab.captured.findings.read_capture",
            lambda *_args, **_named: dataclasses.replace(known.observation, links=links),
        )
        found = bufferlab.observe(path)
    assert "rate not known, since most packets are cut within their headers" in screen(found)
