"""What may be wrong with what a capture says."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest

import bufferlab
from bufferlab import InputError
from bufferlab.captured.doubts import contradicted, doubts, impossible, late
from bufferlab.captured.filled import refuse_unfilled
from bufferlab.captured.findings import Findings
from bufferlab.captured.flows import flows_of
from bufferlab.captured.rate import Rate, is_impossible
from bufferlab.captured.scenario import Known
from bufferlab.render.observe.fit import fit_doubts, fit_lines, is_like, scenario_text, unfit_text

from .both_ways import BLOCK_PACKET, blocks, readdress
from .conftest import LINK, Captured


def test_a_direction_that_the_capture_does_not_have_is_a_guess(tmp_path: Path) -> None:
    """Clients ask for pages on the side to which a bulk transfer goes, and all addresses are private."""
    path = tmp_path / "both.pcapng"
    scenario = {
        "run": {"duration": "10 s"},
        "bottleneck": {"rate": "10 Mbps", "delay": "2 ms", "buffer": "1 bdp"},
        "flows": [
            {"rtt": "30 ms"},
            {"rtt": "30 ms", "count": 2, "application": {"kind": "web", "size": "60 kB", "every": "500 ms"}},
        ],
    }
    bufferlab.run(scenario, progress=False, pcap=path)
    seen = bufferlab.observe(path)
    assert seen.doubts == ()
    path.write_bytes(_undirected(path.read_bytes(), bytes))
    assert bufferlab.observe(path).load_bps == seen.load_bps  # their networks tell directions apart
    path.write_bytes(_undirected(path.read_bytes(), _scattered))
    guessed = bufferlab.observe(path)
    assert any("which way packets go is a guess" in each for each in guessed.doubts)
    assert "(a guess), interface 0" in str(guessed) and "(a guess)" not in str(seen)
    assert guessed.to_dict()["direction_is_guessed"] and not seen.is_guessed
    assert "beware" in str(guessed) and guessed.to_dict()["doubts"] == list(guessed.doubts)
    named = bufferlab.observe(path, inside=["10.0.0.0/9"])
    assert named.doubts == () and not named.is_guessed and named.load_bps == seen.load_bps > guessed.load_bps


def _undirected(content: bytes, to: Callable[[bytes], bytes]) -> bytes:
    """A simulated capture with other addresses, whose packets do not say which way they went."""
    found = bytearray()
    for kind, block in blocks(content):
        if kind == BLOCK_PACKET:
            readdress(block, to)
        at = block.find(_FLAGS, _OPTIONS) if kind == BLOCK_PACKET else -1
        if at >= 0:
            block[at + len(_FLAGS)] = 0
        found += block
    return bytes(found)


_OPTIONS: Final = 28
"""Where options begin in a packet's block at the earliest."""

_FLAGS: Final = b"\2\0\4\0"
"""Code and length of the option that has a packet's direction."""


def _scattered(simulated: bytes) -> bytes:
    """Addresses of which no two are in one network; those of senders are below 10.128.0.0."""
    return bytes((10, simulated[1] + simulated[3], *simulated[2:]))


def test_a_link_that_was_full_before_the_capture_began(captured: Captured) -> None:
    seen = bufferlab.observe(captured.at_receivers)
    assert seen.doubts == ()
    (link,) = seen.observation.links.filter(direction=1, interface=seen.interface).to_dicts()
    asked: dict[str, Any] = {"named": True, "ahead": False}
    late = seen.long.with_columns(is_opened=pl.lit(0))
    (said,) = doubts(seen.observation, link, late, **asked)
    assert "begins in the middle of flows on a busy link" in said
    assert list(doubts(seen.observation, link, seen.long, **asked)) == []
    idle = seen.observation.seconds.with_columns(
        pl.when(pl.int_range(pl.len()).over("direction") == 5)
        .then(0)
        .otherwise(pl.col("wire_bytes"))
        .alias("wire_bytes")
    )
    rested = dataclasses.replace(seen.observation, seconds=idle)
    assert list(doubts(rested, link, late, **asked)) == []
    before: dict[str, Any] = {"named": True, "ahead": True}  # there seconds scatter
    uneven = seen.observation.seconds.with_columns(
        wire_bytes=(pl.col("wire_bytes") * pl.when(pl.int_range(pl.len()) % 2 == 0).then(1.2).otherwise(0.85))
    )
    scattered = dataclasses.replace(seen.observation, seconds=uneven)
    (said,) = doubts(scattered, link, late, **before)
    assert "begins in the middle of flows on a busy link" in said
    assert list(doubts(rested, link, late, **before)) == []


def test_two_ports_of_a_tap_are_said_to_be_joined(captured: Captured, tmp_path: Path) -> None:
    path, found = tmp_path / "tap.pcapng", bytearray()
    for kind, block in blocks(captured.at_receivers.read_bytes()):
        if kind == BLOCK_PACKET:
            block[8] = block[41] // 128  # senders are 10.0.x.x, receivers 10.128.x.x
        found += block * (2 if kind == 1 else 1)
    path.write_bytes(found)
    apart, joined = bufferlab.observe(path), bufferlab.observe(path, joined=True)
    assert any("if they are the two ports of one tap, --joined" in each for each in apart.doubts)
    assert "connections at 2 interfaces" in " ".join(str(apart).split())
    assert not any("this direction was captured" in each for each in joined.doubts)


def test_an_interface_with_both_directions_is_named(tmp_path: Path) -> None:
    """It said to join the interfaces, or to name the round trip."""
    path = tmp_path / "both.pcapng"
    link = {**LINK, "run": {**LINK["run"], "duration": "6 s"}}
    bufferlab.run(link, progress=False, pcap=path, pcap_at=["bottleneck", "senders"])
    (said,) = (each for each in bufferlab.observe(path, interface=1).doubts if "only this direction" in each)
    assert "interface 0 (senders) has both: --interface 0; else name" in said and "--joined" not in said


def test_more_than_the_rate_is_doubted(at_senders: Findings) -> None:
    """103 % of it was carried, without a word."""
    assert at_senders.rate_bps is not None
    behind = dataclasses.replace(at_senders, is_offered=False)
    for part, said in ((1.01, False), (1.03, True)):
        found = list(impossible(dataclasses.replace(behind, load_bps=part * at_senders.rate_bps)))
        assert [each.startswith("103 % of 20 Mbps was carried") for each in found] == [True] * said
    lossy = dataclasses.replace(at_senders, load_bps=1.03 * at_senders.rate_bps, losses=0.03, is_offered=True)
    assert not any("was carried" in each for each in impossible(lossy))


@pytest.mark.parametrize(("arrived", "impossible"), [(9e6, False), (10.4e6, False), (11e6, True)])
def test_no_link_carries_more_than_its_rate(arrived: float, impossible: bool) -> None:
    assert is_impossible(10e6, arrived) == impossible


def test_packets_that_were_captured_twice_are_said(captured: Captured, tmp_path: Path) -> None:
    whole = captured.at_senders.read_bytes()
    blocks, at = [], 0
    while at < len(whole) // 3:
        size = int.from_bytes(whole[at + 4 : at + 8], "little")
        blocks.append(whole[at : at + size])
        at += size
    once, twice, later = (tmp_path / f"{name}.pcapng" for name in ("once", "twice", "later"))
    once.write_bytes(b"".join(blocks))
    head, packets = b"".join(blocks[:2]), [each for each in blocks[2:] if each[0] == 6]
    twice.write_bytes(head + b"".join(each + each for each in packets))
    # the second copy ten packets after the first, as on the other side of a queue
    late = packets[:10] + [each for pair in zip(packets[10:], packets, strict=False) for each in pair]
    later.write_bytes(head + b"".join(late))
    assert "may have packets twice" not in str(bufferlab.observe(once))
    assert "come twice in a row, so the capture may have packets twice" in " ".join(
        str(bufferlab.observe(twice)).split()
    )
    assert "% of the segments come again, so the capture may have packets twice" in " ".join(
        str(bufferlab.observe(later)).split()
    )


def test_losses_of_a_start_are_not_taken_for_what_lasts(tmp_path: Path) -> None:
    """Of BBR 4.3 % are lost in 30 s of its start, and nothing later; the scenario's run loses half of it."""
    path = tmp_path / "senders.pcapng"
    scenario = {
        "run": {"duration": "60 s", "warmup": "0 s", "stack": "linux"},
        "bottleneck": {"rate": "20 Mbps", "delay": "5 ms", "buffer": "80 ms"},
        "flows": [{"count": 4, "rtt": "40 ms", "congestion": "bbr", "start": "uniform(0 s, 2 s)"}],
    }
    bufferlab.run(scenario, progress=False, pcap=path)
    seen = bufferlab.observe(path)
    (said,) = (each for each in seen.doubts if "in the second half of the capture" in each)
    assert said.startswith("losses began 180 times, 0 of these in") and "may be wrong" in said
    assert "they are of a start that takes longer than what counts as one" in said  # more is lost without it
    moments = seen.observation.moments
    evenly = moments.with_columns(loss_episodes=pl.lit(1, pl.UInt64))
    (link,) = seen.observation.links.filter(direction=0).to_dicts()
    lasting = dataclasses.replace(seen.observation, moments=evenly)
    asked: dict[str, Any] = {"named": True, "ahead": True}
    started = seen.long.with_columns(start_retransmitted_segments=pl.col("retransmitted_segments"))
    assert any(
        "they are of the flows' start, and" in each
        for each in doubts(seen.observation, link, started, **asked)
    )
    assert not any("second half" in each for each in doubts(lasting, link, seen.long, **asked))


def test_flows_that_only_met_a_queue_are_said() -> None:
    """A round trip of 239 ms on a path of 40, of a flow that lasted while others waited 200 ms or more."""
    rows = {
        "rtt_ms": [40.0, 239.0],
        "path_rtt_ns": [40e6, 239e6],
        "first_ns": [0, 5_000_000_000],
        "last_ns": [20_000_000_000, 9_000_000_000],
    }
    starts = [second * 1_000_000_000 for second in range(20)]
    waits = [0.0, *([200.0] * 15), *([3.0] * 4)]
    moments = pl.DataFrame({"start_ns": starts, "width_ns": [1_000_000_000] * 20, "wait_ms": waits})
    (said,) = late(pl.DataFrame(rows), moments)
    assert said.startswith("the round-trip times of 1 long flow contain a queue")
    assert "that of 239 ms has 200 ms of it or more" in said
    # it was taken off already; or it lasted into an empty queue; or nothing is known of the moments
    off = pl.DataFrame({**rows, "rtt_ms": [40.0, 39.0]})
    assert list(late(off, moments)) == []
    longer = pl.DataFrame({**rows, "last_ns": [20_000_000_000, 17_500_000_000]})
    assert list(late(longer, moments)) == []
    assert list(late(pl.DataFrame(rows), moments.clear())) == []
    # a round trip is as long as what it contains
    above = moments.with_columns(pl.col("wait_ms") * 1.3)
    assert list(late(pl.DataFrame(rows), above)) == []


@pytest.mark.parametrize(("rate_bps", "is_said"), [(20e6, True), (200e6, False)])
def test_a_link_that_is_half_empty_holds_no_flow_back_all_the_time(
    rate_bps: float, captured: Captured, monkeypatch: pytest.MonkeyPatch, *, is_said: bool
) -> None:
    """Of 44 % used the screen had "that of 22.5 ms has 22.8 ms of it or more"."""
    monkeypatch.setattr("bufferlab.captured.findings.late", lambda _long, _moments: ["late"])

    def not_alike(*args: Any, **kinds: Any) -> Any:
        return flows_of(*args, **kinds)[0], None, ()

    monkeypatch.setattr("bufferlab.captured.findings.flows_of", not_alike)
    monkeypatch.setattr("bufferlab.captured.findings.rate_of", lambda *_, **__: Rate(rate_bps, 1.0, ""))
    assert ("late" in bufferlab.observe(captured.at_senders).doubts) is is_said


@pytest.fixture(scope="module")
def at_senders(captured: Captured) -> Findings:
    return bufferlab.observe(captured.at_senders)


def test_what_the_operator_says_against_the_capture_is_said(at_senders: Findings) -> None:
    """The link has 20 Mbps, the flows 20 and 80 ms."""
    assert list(contradicted(at_senders, Known())) == []
    assert list(contradicted(at_senders, Known(rate="20 Mbps", rtt="20 ms"))) == []
    (rate,) = contradicted(at_senders, Known(rate="25 Mbps"))
    assert rate.startswith("--rate is 25 Mbps, the capture shows 19.9")
    (rtt,) = contradicted(at_senders, Known(rtt="60 ms"))
    assert rtt.startswith("--rtt is 60 ms, the capture has round trips of 2")


@pytest.mark.parametrize(("own_ms", "is_off"), [(40.0, False), (60.0, True)])
def test_waits_that_a_run_does_not_have_are_doubted(
    at_senders: Findings, own_ms: float, *, is_off: bool
) -> None:
    fit = at_senders.fit(mix=[("cubic-linux(hystart)", 100.0)])
    seen = {**fit.captured, "wait_p50_ms": 38.0, "wait_p95_ms": None}
    made = dataclasses.replace(fit, captured=seen, reproduced={**seen, "wait_p50_ms": own_ms}, distance=0.4)
    lines = " ".join(fit_lines(made, is_mix_given=True))
    assert ("beware: the median wait of the run and of the capture are far apart" in lines) == is_off
    assert is_like(made) != is_off and not is_like(dataclasses.replace(made, distance=9.0))
    guessed = fit_doubts(dataclasses.replace(made, queue_by="runs"), is_mix_given=True)
    first = "what runs today is not judged: no buffer was seen to fill"
    assert [each.startswith(first) for each in guessed] == ([] if is_off else [True])
    unfit = (
        "this may be wrong: the simulation does not do what was captured (median wait 60 ms, measured 38 ms)"
    )
    assert (unfit in unfit_text(made)) == is_off


def test_controls_that_may_be_others_and_a_loss_that_is_another_are_doubts(at_senders: Findings) -> None:
    fit = at_senders.fit(mix=[("cubic-linux(hystart)", 100.0)])
    near = dataclasses.replace(
        fit, controls="cubic", reproduced={**fit.captured, "loss": 0.11}, distance=0.1, queue_by="seen"
    )
    guessed = (
        "controls are not distinguished by runs: cubic, bbr and cubic:50%,bbr:50%; Vegas, DCTCP and others "
        "were not tried; --mix names them"
    )
    both = "loss without the flows' starts 11 %, measured {}"
    loses = f"losses of today's queue are those of the simulation: {both.format('9 %')}"
    for seen, alike, expected, first in (
        (0.11, ("bbr", "cubic:50%,bbr:50%", "reno"), [guessed], ""),
        (0.08, (), [], f"Beware, this may be wrong: the simulation does not do what was captured ({both})."),
        (0.09, (), [loses], ""),
        (0.105, (), [], ""),
    ):
        made = dataclasses.replace(near, captured={**fit.captured, "loss": seen}, alike=alike)
        assert list(fit_doubts(made, is_mix_given=False)) == expected
        assert unfit_text(made) == first.format("8 %")


@pytest.mark.parametrize(("own", "is_off"), [(0.0064, True), (0.013, False), (0.0179, False), (0.03, True)])
def test_a_run_that_loses_far_more_or_less_is_doubted_however_little_that_is(
    at_senders: Findings, own: float, *, is_off: bool
) -> None:
    """Of 1.6 % it had 0.64, no warning came, and today's queue was judged."""
    fit = at_senders.fit(mix=[("cubic-linux(hystart)", 100.0)])
    seen = {**fit.captured, "loss": 0.016}
    made = dataclasses.replace(fit, captured=seen, reproduced={**seen, "loss": own}, distance=0.4)
    assert is_like(made) != is_off and bool(unfit_text(made)) == is_off
    far = "beware: the loss without the flows' starts of the run and of the capture are far apart"
    assert any(each.startswith(far) for each in fit_lines(made, is_mix_given=False)) == is_off


@pytest.mark.parametrize(
    ("by", "queue", "is_known"),
    [("seen", "fifo", True), ("runs", "codel", True), ("runs", "fifo", False), ("assumed", "fifo", False)],
)
def test_a_fifo_whose_size_was_not_seen_is_assumed(
    at_senders: Findings, by: Any, queue: str, *, is_known: bool
) -> None:
    """It was judged as what runs today."""
    fit = at_senders.fit(mix=[("cubic-linux(hystart)", 100.0)])
    made = dataclasses.replace(fit, queue_by=by, queue=queue, reproduced=fit.captured, distance=0.1)
    assert made.is_queue_known == is_known
    comment = "# how much it holds was not seen and is assumed\nbuffer = "
    assert (comment in scenario_text(made)) == (by != "seen")
    judged = [each for each in fit_doubts(made, is_mix_given=True) if "what runs today is not judged" in each]
    assert bool(judged) != is_known


@pytest.mark.parametrize(
    ("captured_loss", "said"),
    [
        (
            0.047,
            "is near 5 %: for another capture of this link, with a loss above 5 %, the answer may be a queue",
        ),
        (
            0.056,
            "with a loss below 5 %, the answer may be the smallest buffer that meets the targets, or what",
        ),
        (0.02, ""),
        (0.09, ""),
    ],
)
def test_a_loss_near_the_bound_says_what_the_other_side_gives(
    at_senders: Findings, captured_loss: float, said: str
) -> None:
    """Before and behind one queue 4.7 and 5.3 % were lost, and the answers were opposite."""
    fit = at_senders.fit(mix=[("cubic-linux(hystart)", 100.0)])
    values = {**fit.captured, "loss": captured_loss}
    other = {**values, "loss": 0.061}  # that of a run was presented as the link's
    made = dataclasses.replace(fit, captured=values, reproduced=other, distance=0.1)
    near = [each for each in fit_doubts(made, is_mix_given=True) if "is near 5 %" in each]
    assert bool(near) == bool(said) and all(said in each for each in near)


@pytest.mark.parametrize(
    ("loss", "distance", "rate", "is_refused"),
    [(0.0, 9.0, None, True), (0.01, 9.0, None, False), (0.0, 0.3, None, False), (0.0, 9.0, "20 Mbps", False)],
)
def test_no_answer_follows_where_nothing_is_lost_and_no_run_is_near(
    at_senders: Findings, loss: float, distance: float, rate: str | None, *, is_refused: bool
) -> None:
    fit = at_senders.fit(mix=[("cubic-linux(hystart)", 100.0)])
    made = dataclasses.replace(fit, captured={**fit.captured, "loss": loss}, distance=distance)
    with pytest.raises(InputError, match="shows no loss and no mark") if is_refused else nullcontext():
        refuse_unfilled(at_senders, made, Known(rate=rate))
