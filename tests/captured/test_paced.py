"""What senders do by themselves is no rate of the link, and no queue."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest

import bufferlab
from bufferlab import Findings, InputError
from bufferlab.captured.doubts import closer, hardly_met, without_pace
from bufferlab.captured.filled import refuse_unfilled
from bufferlab.captured.paced import closer_bps, is_hardly_met, is_unexplained
from bufferlab.captured.scenario import NOTHING, Known
from bufferlab.render.observe.fit import pace_text, use_text

CUBIC: Final = {"congestion": "cubic-linux(hystart)", "start": "uniform(0 s, 2 s)"}


def captured(
    folder: Path, rate: str, flows: list[dict[str, Any]], place: str = "senders", **link: object
) -> Findings:
    """What a capture of a link with such flows shows."""
    path = folder / "link.pcapng"
    scenario = {
        "run": {"duration": "20 s", "warmup": "0 s", "seed": 3, "stack": "linux"},
        "bottleneck": {"rate": rate, "delay": "2 ms", "buffer": "1 bdp", **link},
        "flows": [{**CUBIC, **each} for each in flows],
    }
    bufferlab.run(scenario, progress=False, pcap=path, pcap_at=[place])
    return bufferlab.observe(path)


@pytest.mark.parametrize(
    ("rate", "flows"),
    [
        # it was 6, 14 and 50 Mbps
        ("30 Mbps", [{"count": 3, "rtt": "40 ms", "access_rate": "2 Mbps"}]),
        (
            "40 Mbps",
            [
                {"count": 2, "rtt": "30 ms", "access_rate": "1 Mbps"},
                {"count": 3, "rtt": "60 ms", "access_rate": "4 Mbps"},
            ],
        ),
        ("100 Mbps", [{"count": 10, "rtt": "20 ms", "access_rate": "5 Mbps"}]),
    ],
)
def test_the_sum_of_senders_paces_is_no_rate(rate: str, flows: list[dict[str, Any]], tmp_path: Path) -> None:
    seen = captured(tmp_path, rate, flows)
    assert seen.rate_bps is None and seen.is_paced
    text = " ".join(str(seen).split())
    assert "rate not known, since nothing is lost, and packets wait no longer than a few take" in text
    assert "so none of it need be the link's" in text
    assert seen.to_dict()["waits_are_senders_pace"]


def test_distances_that_come_again_by_chance_are_no_rate(tmp_path: Path) -> None:
    """Behind a link of 30 Mbps three flows of 2 Mbps each showed 11.8."""
    seen = captured(tmp_path, "30 Mbps", [{"count": 3, "rtt": "40 ms", "access_rate": "2 Mbps"}], "receivers")
    assert seen.rate_bps is None
    assert "hardly any come in a row as close as the rest" in (seen.why_no_rate or "")


@pytest.mark.parametrize(
    ("rate", "burst", "place", "bps"),
    [
        # they were 20 and 5.1 Mbps at both places
        ("60 Mbps", {"count": 4, "rtt": "40 ms", "size": "300 KB", "off": "400 ms"}, "senders", None),
        ("60 Mbps", {"count": 4, "rtt": "40 ms", "size": "300 KB", "off": "400 ms"}, "receivers", 60e6),
        ("20 Mbps", {"count": 2, "rtt": "24 ms", "on": "20 ms", "off": "80 ms"}, "senders", None),
        ("20 Mbps", {"count": 2, "rtt": "24 ms", "on": "20 ms", "off": "80 ms"}, "receivers", 20e6),
    ],
)
def test_what_bursts_carry_is_no_rate(
    rate: str, burst: dict[str, Any], place: str, bps: float | None, tmp_path: Path
) -> None:
    flow = {key: burst[key] for key in ("count", "rtt")}
    by_turns = {key: burst[key] for key in burst if key not in flow}
    seen = captured(tmp_path, rate, [{**flow, "application": {"kind": "on-off", **by_turns}}], place)
    assert seen.rate_bps == (bps if bps is None else pytest.approx(bps, rel=0.01))
    assert bps is not None or "they come in bursts" in (seen.why_no_rate or "")
    assert seen.other_rate_bps is None


WEB: Final = {"kind": "web", "size": "0.5 MB", "every": "0.372 s"}
BY_TURNS: Final = {"kind": "on-off", "on": "0.2 s", "off": "0.835 s"}
SHORT_BURSTS: Final = {"kind": "on-off", "size": "0.5 MB", "off": "exponential(mean=1.41 s)"}


@pytest.mark.parametrize(
    ("mbps", "flow", "place", "found", "why"),
    [
        # they were 67, 34, 34 and 47 Mbps: in each second bursts come to about as much
        (100, {"count": 6, "rtt": "30 ms", "application": WEB}, "receivers", 100, ""),
        (50, {"count": 7, "rtt": "20 ms", "application": BY_TURNS}, "receivers", 50, ""),
        (50, {"count": 7, "rtt": "20 ms", "application": BY_TURNS}, "senders", None, "carry 33.6 Mbps alike"),
        # of senders' own links, which many windows exceed
        (
            100,
            {"count": 12, "rtt": "10 ms", "application": SHORT_BURSTS, "access_rate": "47.3 Mbps"},
            "receivers",
            None,
            "have no one rate",
        ),
    ],
)
def test_what_faster_windows_exceed_is_no_rate(
    mbps: int, flow: dict[str, Any], place: str, found: int | None, why: str, tmp_path: Path
) -> None:
    link = {"buffer": "0.35 bdp"} if flow["count"] == 6 else {"buffer": "1.3 bdp"}
    seen = captured(tmp_path, f"{mbps} Mbps", [flow], place, **link)
    assert seen.rate_bps == (None if found is None else pytest.approx(found * 1e6, rel=0.01))
    assert why in (seen.why_no_rate or "")
    unknown = "; the link's rate is not known" in " ".join(str(seen).split())
    assert unknown == (found is None)


@pytest.mark.parametrize(
    ("bps", "flows", "link"),
    [
        (
            25e6,
            [{"count": 5, "rtt": "35 ms", "ecn": "classic"}],
            {"buffer": "1000 packets", "queue": {"discipline": "codel", "ecn": True}},
        ),
        (20e6, [{"count": 4, "rtt": "40 ms", "window": "100 KB"}], {"buffer": "600 packets"}),
        (30e6, [{"rtt": "60 ms", "congestion": "bbr", "start": "0 s"}], {"buffer": "4 bdp"}),
    ],
)
@pytest.mark.parametrize("place", ["senders", "receivers"])
def test_a_full_link_that_loses_nothing_has_a_rate(
    bps: float, flows: list[dict[str, Any]], link: dict[str, Any], place: str, tmp_path: Path
) -> None:
    seen = captured(tmp_path, f"{bps / 1e6:g} Mbps", flows, place, **link)
    assert seen.losses == 0.0 and not seen.is_paced
    assert not any("follow each other as" in each for each in seen.doubts)
    assert seen.rate_bps == pytest.approx(bps, rel=0.01)


@pytest.mark.parametrize(
    ("median_ms", "episodes", "highest_mbps", "is_odd"),
    [
        (52.7, 0, 7.3, True),  # a kernel's receivers held acknowledgments back; it was "half wait 52.7 ms"
        (52.7, 3, 7.3, False),
        (52.7, 0, 12.0, False),  # bursts
        (9.0, 0, 7.3, False),
        (400.0, 0, 19.5, False),
    ],
)
def test_waits_that_no_window_carries_are_not_the_links(
    median_ms: float, episodes: int, highest_mbps: float, *, is_odd: bool
) -> None:
    link = {"rate_bps": 20e6, "highest_100ms_bps": highest_mbps * 1e6}
    waits = {"median_ns": median_ms * 1e6, "loss_episodes": episodes}
    long = pl.DataFrame({"ce_packets": [0], "mark_episodes": [0]})
    assert is_unexplained(link, waits, long) is is_odd
    assert not is_unexplained(link, None, long)


@pytest.mark.parametrize(
    ("changed", "losses", "marks", "is_closer"),
    [
        ({}, 0.0, 0, True),  # a kernel's senders with a pace; it was 14.9 of 20 Mbps, 97.3 % of it used
        ({}, 0.01, 0, False),
        ({}, 0.0, 9, False),
        ({"dispersion_share": 0.3}, 0.0, 0, False),
        ({"dispersion_bps": 16e6}, 0.0, 0, False),
        ({"is_queue_ahead": 1}, 0.0, 0, False),
        ({"rate_by": 3}, 0.0, 0, False),
    ],
)
def test_packets_closer_than_the_rate_has_it_are_doubted(
    changed: dict[str, float], losses: float, marks: int, *, is_closer: bool
) -> None:
    link = {
        "rate_bps": 15e6,
        "rate_by": 1,
        "is_queue_ahead": 0,
        "dispersion_bps": 20e6,
        "dispersion_share": 0.69,
    }
    found = closer_bps(
        {**link, **changed}, losses, pl.DataFrame({"ce_packets": [marks], "mark_episodes": [0]})
    )
    assert found == (20e6 if is_closer else None)
    (said,) = closer(20e6, 15e6)
    assert "follow each other as a link of 20 Mbps sends them, so 15 Mbps may be" in said


@pytest.mark.parametrize(
    ("changed", "drops", "marks", "is_met"),
    [
        ({}, 16, 0, False),  # four senders of 4 Mbps on 30 Mbps were a link of 16.5, 97 % of it used
        ({}, 90, 0, True),  # a small buffer, or a queue for each flow
        ({}, 0, 521, True),  # one that marks
        ({"queued_1s_windows": 58}, 16, 0, True),
        ({"wire_bytes": 80e6}, 16, 0, True),
        ({"rate_by": 3}, 16, 0, True),
        ({"rate_by": 2}, 16, 0, False),
    ],
)
def test_a_busy_link_where_packets_wait_seldom_is_doubted(
    changed: dict[str, float], drops: int, marks: int, *, is_met: bool
) -> None:
    long = pl.DataFrame({"ce_packets": [0], "mark_episodes": [marks]})
    link = {
        "rate_bps": 16.5e6,
        "rate_by": 1,
        "wire_bytes": 120e6,
        "queued_1s_windows": 10,
        "queued_100ms_windows": 90,
    }
    waits = {"loss_episodes": drops, "median_ns": 1e6}
    assert is_hardly_met({**link, **changed}, waits, long, 60.0) != is_met
    assert is_hardly_met(link, None, long.clear(), 60.0)
    # losses at one depth, or packets that wait for as long as a window, are of the link
    quiet = long.clear()
    assert is_hardly_met(link, {**waits, "loss_episodes": 16}, quiet, 60.0)
    assert not is_hardly_met(link, {**waits, "is_filled": 1}, quiet, 60.0)
    assert not is_hardly_met(link, {**waits, "median_ns": 272e6}, quiet, 60.0)
    (said,) = hardly_met(16.5e6)
    assert "packets wait seldom, so 16.5 Mbps may be what senders with a pace sent" in said


@pytest.mark.parametrize("place", ["senders", "receivers"])
def test_a_full_link_with_a_queue_for_each_flow_is_not_doubted(place: str, tmp_path: Path) -> None:
    """A packet waits little there though the link is never idle: "packets wait seldom"."""
    flows = [{"count": 4, "rtt": "uniform(15 ms, 60 ms)"}]
    seen = captured(tmp_path, "43 Mbps", flows, place, queue="fq_codel", buffer="10240 packets")
    assert seen.rate_bps == pytest.approx(43e6, rel=0.01) and not seen.is_rate_a_pace
    assert seen.doubts == ()


def test_a_rate_that_may_be_a_pace_is_doubted_where_it_is_read(tmp_path: Path) -> None:
    seen = captured(tmp_path, "10 Mbps", [{"count": 2, "rtt": "30 ms"}])
    assert not seen.is_rate_a_pace and pace_text(seen, NOTHING) == ""
    doubted = dataclasses.replace(seen, is_rate_a_pace=True)
    assert "of them; it may be the senders' pace); offered" in " ".join(str(doubted).split())
    first = pace_text(doubted, NOTHING)
    assert first.startswith("Beware, this may be wrong: 10 Mbps may be the pace of the senders")
    assert pace_text(doubted, Known(rate="10 Mbps")) == ""


@pytest.mark.parametrize(("mbps", "access"), [(40, "4.6 Mbps"), (50, "7.2 Mbps"), (30, "5.7 Mbps")])
@pytest.mark.parametrize("place", ["senders", "receivers"])
def test_no_answer_follows_where_flows_have_a_slower_link_of_their_own(
    mbps: int, access: str, place: str, tmp_path: Path
) -> None:
    """With --rate, one for flows that fill the link was 96 % sure."""
    flow = {"count": 5, "rtt": "uniform(20 ms, 50 ms)", "access_rate": access}
    known = Known(rate=f"{mbps} Mbps", mix=[("cubic-linux(hystart)", 100.0)])
    seen = captured(tmp_path, f"{mbps} Mbps", [flow], place)
    said = "shows nothing that fills this link: [5-9][0-9] % of it is used and nothing is lost, where a run"
    with pytest.raises(InputError, match=said):
        refuse_unfilled(seen, seen.fit(rate=known.rate, mix=known.mix), known)


@pytest.mark.parametrize("place", ["senders", "receivers"])
@pytest.mark.parametrize(
    ("control", "link"),
    [
        ("bbr", {"buffer": "4 bdp"}),
        ("reno", {"buffer": "12 packets"}),
        ("cubic-linux(hystart)", {"queue": "fq_codel", "buffer": "10240 packets"}),
        ("cubic-linux(hystart)", {"buffer": "20000 packets"}),
    ],
)
def test_a_link_that_is_filled_has_an_answer(
    control: str, link: dict[str, Any], place: str, tmp_path: Path
) -> None:
    flow = {"count": 3, "rtt": "uniform(20 ms, 50 ms)", "congestion": control}
    seen, known = (
        captured(tmp_path, "20 Mbps", [flow], place, **link),
        Known(rate="20 Mbps", mix=[(control, 1)]),
    )
    refuse_unfilled(seen, seen.fit(rate=known.rate, mix=known.mix), known)


@pytest.mark.parametrize(("mbps", "place"), [(50, "senders"), (34, "receivers")])
def test_an_answer_for_a_link_that_is_not_full_says_what_it_assumes(
    mbps: int, place: str, tmp_path: Path
) -> None:
    """A buffer that is full at times was refused; before the queue an answer was 96 % sure."""
    flows: list[dict[str, Any]] = [
        {"name": "slow", "count": 4, "rtt": "uniform(20 ms, 50 ms)", "access_rate": f"{mbps // 12} Mbps"},
        {
            "name": "bursts",
            "count": 3,
            "rtt": "30 ms",
            "application": {"kind": "on-off", "size": "1.5 MB", "off": "exponential(mean=2 s)"},
        },
    ]
    known = Known(rate=f"{mbps} Mbps", mix=[("cubic-linux(hystart)", 100.0)])
    seen = captured(tmp_path, f"{mbps} Mbps", flows, place, buffer="12 ms")
    fit = seen.fit(rate=known.rate, mix=known.mix)
    assert seen.waits is not None and seen.waits["is_filled"]
    refuse_unfilled(seen, fit, known)
    text = use_text(seen, fit, known)
    assert re.match(r"[4-8][0-9] % of the link was used; the answer assumes that these flows use 9", text)
    full = dataclasses.replace(fit, reproduced={**fit.reproduced, "utilization": 0.6})
    assert use_text(seen, full, known) == ""
    unseen = dataclasses.replace(seen, waits={**seen.waits, "is_filled": 0})
    with pytest.raises(InputError, match="shows nothing that fills this link"):
        refuse_unfilled(unseen, fit, known)


def test_whoever_names_the_rate_is_not_asked_for_it(tmp_path: Path) -> None:
    seen = captured(tmp_path, "20 Mbps", [{"count": 2, "rtt": "30 ms"}])
    doubted = dataclasses.replace(seen, doubts=("one", "a pace"), pace_doubts=("a pace",))
    assert without_pace(doubted) == ("one",)
    assert without_pace(seen) == seen.doubts


@pytest.mark.parametrize("place", ["senders", "receivers"])
def test_a_slow_link_that_is_full_from_the_start_is_not_doubted(place: str, tmp_path: Path) -> None:
    """Half of the packets waited 272 ms, and "packets wait seldom, so 5 Mbps may be what senders sent"."""
    flows = [{"count": 2, "rtt": "30 ms", "congestion": "reno"}]
    seen = captured(tmp_path, "5 Mbps", flows, place, buffer="400 ms")
    assert seen.rate_bps == pytest.approx(5e6, rel=0.02) and not seen.is_rate_a_pace
