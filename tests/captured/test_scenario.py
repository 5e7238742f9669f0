"""Scenarios of captures: they run, and the link in them does what the captured one did."""

from __future__ import annotations

import dataclasses
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import bufferlab
from bufferlab import Findings, InputError, Scenario
from bufferlab.captured.doubts import refuse_idle
from bufferlab.captured.fitting import NEAR, PURE, Fit, captured_values, queues_tried
from bufferlab.captured.flows import LEAST_RTT_MS, flows_of, lasting_loss_of
from bufferlab.captured.laws import law
from bufferlab.captured.link import DIRECTIONS
from bufferlab.captured.long import by_bursts, long_groups
from bufferlab.captured.observation import NS_PER_MS
from bufferlab.captured.scenario import NOTHING, Known, Queue, packets_of, seen_queue
from bufferlab.render.observe.fit import fit_doubts, fit_lines

from .conftest import Captured, link_of

CUBIC = [("cubic-linux(hystart)", 100.0)]
CUBIC_FLOW: dict[str, Any] = {"congestion": "cubic-linux(hystart)", "start": "uniform(0 s, 2 s)"}


def test_a_run_of_it_does_what_the_captured_link_did(captured: Captured) -> None:
    made = bufferlab.observe(captured.at_senders).scenario(mix=CUBIC)
    again = link_of(bufferlab.run(made, overrides={"run.warmup": "5 s"}, progress=False)[0])
    truth = captured.link
    assert again["utilization"] == pytest.approx(truth["utilization"], abs=0.01)
    assert again["wait_mean_ms"] == pytest.approx(truth["wait_mean_ms"], rel=0.15)
    assert again["loss"] == pytest.approx(truth["loss"], rel=0.4)


def test_what_it_holds(captured: Captured) -> None:
    table: dict[str, Any] = bufferlab.observe(captured.at_senders).scenario(mix=CUBIC).to_dict()
    *long, short, datagrams = table["flows"]
    assert table["bottleneck"]["rate"] == "19.99 Mbps"
    assert int(table["bottleneck"]["buffer"].removesuffix(" packets")) == pytest.approx(67, abs=3)
    assert sum(each["count"] for each in long) == 5
    assert {each["segment"] for each in long} == {"1448 B"}
    assert sum(each["count"] for each in long if "80.0" in each["rtt"]) == 2
    assert short["application"]["size"] == "20000 B"
    assert short["application"]["interval"] == "280.4 ms"
    assert datagrams["application"]["packet"] == "300 B"


def test_calls_are_in_it_however_little_they_are_and_what_is_left_out_is_said(tmp_path: Path) -> None:
    path = tmp_path / "link.pcapng"
    udp: dict[str, Any] = {"kind": "udp", "packet": "200 B", "interval": "20 ms"}
    link = {
        "run": {"duration": "12 s", "seed": 3, "stack": "linux"},
        "bottleneck": {"rate": "40 Mbps", "delay": "2 ms", "buffer": "1 bdp"},
        "flows": [
            {"name": "bulk", "count": 2, "rtt": "30 ms", "congestion": "reno"},
            {"name": "call", "count": 3, "rtt": "30 ms", "application": udp},
            {"name": "telemetry", "rtt": "30 ms", "application": {**udp, "interval": "100 ms"}},
        ],
    }
    bufferlab.run(link, progress=False, pcap=path, pcap_at=["senders"])
    fit = bufferlab.observe(path).fit(mix=[("reno", 100.0)])
    flows: Any = fit.scenario.to_dict()["flows"]
    (call,) = (each for each in flows if each["name"] == "call")
    assert call["count"] == 3 and call["application"] == {**udp, "interval": "20 ms"}
    assert not any(each["name"] == "datagrams" for each in flows)
    assert fit.left_out == {"datagrams": pytest.approx(0.0004, rel=0.05)}  # 16 kbit/s of 40 Mbps
    assert "left out, with their share of the link's rate: datagrams (0.04 %)" in list(
        fit_lines(fit, is_mix_given=True)
    )


def without_ecn(rtts_ms: list[float], seconds: list[float]) -> pl.DataFrame:
    """Long flows of these round trips, each as long."""
    flows = pl.DataFrame({"rtt_ms": rtts_ms, "seconds": seconds})
    return flows.with_columns(uses_ecn=False, is_l4s=False)


def groups_of(*given: Any) -> list[dict[str, Any]]:
    """The groups of a scenario."""
    return [each.group for each in long_groups(*given)]


def test_flows_of_different_round_trips_are_different_groups() -> None:
    """One law of both would now and then draw the same time for all."""
    flows = without_ecn([30.0, 190.0, 33.0, 195.0, 188.0, 33.0], [60.0] * 6)
    (near, far) = groups_of(flows, 6, CUBIC)
    assert (near["name"], near["count"], near["rtt"]) == ("long-33ms", 3, "choice(30 ms, 33 ms: 2)")
    assert (far["name"], far["count"], far["rtt"]) == ("long-190ms", 3, "choice(188 ms, 190 ms, 195 ms)")
    (one,) = groups_of(flows.filter(pl.col("rtt_ms") < 100), 3, CUBIC)
    assert one["name"] == "long"
    mixed = groups_of(flows, 6, [("reno", 50.0), ("bbr", 50.0)])
    assert sorted((each["congestion"], each["name"], each["count"]) for each in mixed) == [
        ("bbr", "long-bbr-190ms", 2),
        ("bbr", "long-bbr-33ms", 1),
        ("reno", "long-reno-190ms", 1),
        ("reno", "long-reno-33ms", 2),
    ]


def test_flows_that_pause_are_of_a_kind_by_their_bursts() -> None:
    """Of videos and of bursts of 20 KB it was one kind, of bursts that neither sends."""
    bursts = [20e3, 31e3, 2.6e6, 1.1e6, 24e3]
    pausing = without_ecn([30.0] * 5, [60.0] * 5).with_columns(pl.Series("burst_mean_bytes", bursts))
    pausing = pausing.with_columns(
        silences=10,
        silence_mean_ns=pl.when(pl.col("burst_mean_bytes") > 1e5).then(2e9).otherwise(4e8),
        silence_deviation_ns=0.0,
        burst_deviation_bytes=pl.col("burst_mean_bytes"),
    )
    assert [(count, len(flows)) for count, flows in by_bursts(pausing, 5)] == [(3, 3), (2, 2)]
    small, large = groups_of(pausing.clear(), 0, CUBIC, (pausing, 5))
    assert (small["name"], small["count"]) == ("pausing-25KB", 3)
    assert (large["name"], large["count"]) == ("pausing-1800KB", 2)
    assert [each["application"]["off"] for each in (small, large)] == ["400 ms", "2000 ms"]
    assert large["application"]["size"] == "exponential(mean=1850000 B)"
    (one,) = groups_of(pausing.clear(), 0, CUBIC, (pausing.head(2), 2))
    assert one["name"] == "pausing"


def test_what_lasts_a_moment_has_no_group() -> None:
    """Of flows that take turns, no more are written than there are at a time."""
    flows = without_ecn([10.0, 20.0, 40.0, 80.0], [60.0, 2.0, 60.0, 2.0])
    assert [each["count"] for each in groups_of(flows, 2, CUBIC)] == [1, 1]


def test_the_controls_are_those_whose_run_is_nearest(captured: Captured) -> None:
    """With windows of ten packets CUBIC is Reno (RFC 9438, section 4.3)."""
    fit = bufferlab.observe(captured.at_receivers).fit()
    assert fit.controls in {"cubic", "reno"} and fit.distance is not None and fit.distance < NEAR
    flows: Any = fit.scenario.to_dict()["flows"]
    long = [each for each in flows if each["name"].startswith("long")]
    assert len({each["congestion"] for each in long}) == 1
    assert fit.reproduced["wait_p50_ms"] == pytest.approx(fit.captured["wait_p50_ms"], rel=0.3)


@pytest.mark.parametrize("control", ["reno", "bbr"])
def test_controls_of_another_link_are_found(control: str, tmp_path: Path) -> None:
    path = tmp_path / "link.pcapng"
    scenario = {
        "run": {"duration": "40 s", "seed": 11, "stack": "linux"},
        "bottleneck": {"rate": "15 Mbps", "delay": "2 ms", "buffer": "0.6 bdp"},
        "flows": [
            {
                "rtt": "70 ms",
                "rtt_spread": 0.3,
                "count": 4,
                "congestion": control,
                "start": "uniform(0 s, 2 s)",
            }
        ],
    }
    bufferlab.run(scenario, progress=False, pcap=path, pcap_at=["receivers"])
    assert bufferlab.observe(path).fit().controls == control


@pytest.mark.parametrize("control", ["cubic-linux", "bbr"])
def test_what_flows_lose_in_their_start_does_not_decide_their_controls(control: str, tmp_path: Path) -> None:
    """Plain CUBIC without HyStart loses half a window there, BBR for some round trips."""
    path = tmp_path / "link.pcapng"
    scenario = of("fifo", "1 bdp", control, 40)
    scenario["flows"][0] |= {"count": 1, "handshake": True, "timestamps": True}
    bufferlab.run(scenario, progress=False, pcap=path, pcap_at=["senders"])
    found = bufferlab.observe(path)
    lasting, fit = lasting_loss_of(found.flows), found.fit()
    assert lasting is not None and found.losses is not None and lasting < 0.3 * found.losses
    assert fit.captured["loss"] == lasting
    assert fit.controls == control.partition("-")[0]


@pytest.mark.skipif(shutil.which("tshark") is None, reason="needs tshark")
def test_a_known_round_trip_shows_what_waits_in_a_queue_that_is_never_empty(tmp_path: Path) -> None:
    """A bloated uplink, captured from the middle of its uploads on."""
    whole, cut = tmp_path / "whole.pcapng", tmp_path / "cut.pcapng"
    scenario = of("fifo", "150 ms", "reno", 60)
    scenario["bottleneck"]["rate"] = "10 Mbps"
    scenario["flows"][0] |= {"count": 3, "rtt": "30 ms", "timestamps": True, "start": "0 s"}
    (result,) = bufferlab.run(scenario, progress=False, pcap=whole, pcap_at=["senders"])
    late = ["tshark", "-r", str(whole), "-Y", "frame.time_relative>20", "-w", str(cut)]
    subprocess.run(late, check=True, capture_output=True)
    true_ms = float(link_of(result)["wait_p50_ms"])
    found = bufferlab.observe(cut)
    assert found.waits is not None and found.waits["median_ns"] / NS_PER_MS < 0.7 * true_ms
    fit = found.fit(rtt="30 ms")
    assert fit.captured["wait_p50_ms"] == pytest.approx(true_ms, rel=0.05)
    packets = int(fit.buffer.partition(" ")[0])
    assert packets == pytest.approx(125, rel=0.05) and (fit.controls, fit.queue) == ("reno", "fifo")
    (first, *_) = fit_lines(fit, is_mix_given=False)
    assert re.fullmatch(r"waits: \d+\.\d ms more in the median than the capture shows, .* as --rtt", first)
    assert found.fit(rtt="uniform(20 ms, 40 ms)").hidden_ms == 0.0  # a law tells nothing of one flow


def of(queue: str, buffer: str, control: str, seconds: int = 30) -> dict[str, Any]:
    """A busy link."""
    return {
        "run": {"duration": f"{seconds} s", "seed": 5, "stack": "linux"},
        "bottleneck": {"rate": "20 Mbps", "delay": "1 ms", "buffer": buffer, "queue": queue},
        "flows": [{"count": 6, "rtt": "40 ms", "congestion": control, "start": "uniform(0 s, 2 s)"}],
    }


def test_a_queue_that_is_no_fifo_is_in_the_scenario_and_said(tmp_path: Path) -> None:
    path = tmp_path / "link.pcapng"
    link = of("fq_codel", "10240 packets", "cubic-linux(hystart)")
    bufferlab.run(link, progress=False, pcap=path, pcap_at=["receivers"])
    fit = bufferlab.observe(path).fit()
    assert (fit.controls, fit.queue, fit.buffer, fit.queue_by) == (
        "cubic",
        "fq_codel",
        "10240 packets",
        "runs",
    )
    table: Any = fit.scenario.to_dict()
    assert table["bottleneck"]["queue"] == "fq_codel"
    lines = list(fit_lines(fit, is_mix_given=False))
    said = "queue: of those tried, a run with fq_codel (10240 packets) is nearest to the capture"
    assert any(line.startswith(said) and "limit is Linux's default" in line for line in lines)


def fit_beside_cubic(folder: Path, *, rate: str, rtt: str, cubic: int, others: tuple[str, int]) -> Fit:
    """What is found of a capture of flows of CUBIC beside some of another control."""
    path = folder / "link.pcapng"
    common = {"rtt": rtt, "rtt_spread": 0.3, "start": "uniform(0 s, 3 s)"}
    control, count = others
    link = {
        "run": {"duration": "40 s", "warmup": "0 s", "seed": 9, "stack": "linux"},
        "bottleneck": {"rate": rate, "delay": "2 ms", "buffer": "60 packets"},
        "flows": [
            {"name": "a", "count": cubic, "congestion": "cubic-linux(hystart)", **common},
            {"name": "b", "count": count, "congestion": control, **common},
        ],
    }
    bufferlab.run(link, progress=False, pcap=path, pcap_at=["senders"])
    return bufferlab.observe(path).fit()


def test_one_control_is_no_mix_if_it_loses_far_more(tmp_path: Path) -> None:
    """Of two flows of BBR beside four of CUBIC all were said to run BBR, whose run lost much more."""
    fit = fit_beside_cubic(tmp_path, rate="12 Mbps", rtt="40 ms", cubic=4, others=("bbr", 2))
    assert fit.controls == "cubic:50%,bbr:50%" and not fit.differs("loss")
    assert "bbr" in fit.supposed and fit.controls not in fit.supposed


def test_bbr3_beside_cubic_is_found(tmp_path: Path) -> None:
    """It was said to be Reno, and a run lost 0.64 % in place of 1.6."""
    fit = fit_beside_cubic(tmp_path, rate="30 Mbps", rtt="30 ms", cubic=6, others=("bbr3", 4))
    assert "bbr3" in str(fit.controls) and not fit.differs("loss")


def test_one_control_alone_is_tried_where_mixes_are_nearer(tmp_path: Path) -> None:
    """Behind the queue more seemed lost than was, and CUBIC, which ran, was neither named nor tried."""
    path = tmp_path / "link.pcapng"
    link = {
        "run": {"duration": "60 s", "seed": 21, "stack": "linux"},
        "bottleneck": {"rate": "10 Mbps", "delay": "5 ms", "buffer": "250 packets"},
        "flows": [
            {
                "name": "cu",
                "count": 3,
                "rtt": "45 ms",
                "rtt_spread": 0.3,
                "congestion": "cubic-linux",
                "start": "uniform(0 s, 3 s)",
            },
            {
                "name": "pages",
                "rtt": "uniform(20 ms, 60 ms)",
                "application": {
                    "kind": "short-flows",
                    "size": "pareto(mean=30 KB, shape=1.2)",
                    "load": "1 Mbps",
                },
            },
            {
                "name": "call",
                "rtt": "40 ms",
                "application": {"kind": "udp", "packet": "200 B", "interval": "20 ms"},
            },
        ],
    }
    bufferlab.run(link, progress=False, pcap=path, pcap_at=["receivers"])
    found = bufferlab.observe(path)
    fit = found.fit()
    assert PURE.keys() & {fit.controls, *fit.supposed}
    given = list(fit_lines(found.fit(mix=CUBIC), is_mix_given=True))
    assert any("with the controls given a run loses less or more than was captured" in each for each in given)


@pytest.mark.parametrize(
    ("queue", "buffer", "found", "by"),
    [("fq_codel", "60 packets", "fq_codel", "runs"), ("fifo", "20 ms", "fifo", "seen")],
)
def test_losses_at_one_depth_where_each_flow_may_have_a_queue(
    queue: str, buffer: str, found: str, by: str, tmp_path: Path
) -> None:
    """FQ-CoDel drops from the longest of its queues, at much the same wait, but flows do not wait alike."""
    path = tmp_path / "link.pcapng"
    long = {"count": 2, "congestion": "cubic-linux(hystart)", "start": "uniform(0 s, 3 s)"}
    link = {
        "run": {"duration": "30 s", "warmup": "0 s", "seed": 2, "stack": "linux"},
        "bottleneck": {"rate": "20 Mbps", "delay": "1 ms", "buffer": buffer, "queue": queue},
        "flows": [{"rtt": "20 ms", **long}, {"name": "b", "rtt": "60 ms", **long}],
    }
    bufferlab.run(link, progress=False, pcap=path, pcap_at=["receivers"])
    seen = bufferlab.observe(path)
    assert seen.waits is not None and seen.waits["is_filled"] == (queue == "fifo")
    fit = seen.fit()
    assert (fit.queue, fit.queue_by) == (found, by)
    lines = " ".join(fit_lines(fit, is_mix_given=False))
    assert "may be as near" not in lines.partition("queue: ")[2]


def test_no_fifo_is_tried_that_holds_less_than_packets_wait(captured: Captured) -> None:
    """Of one with 43 packets half of the packets cannot wait for what 50 take."""
    full = bufferlab.observe(captured.at_receivers)
    assert full.waits is not None
    waits = {**full.waits, "is_filled": 0, "p99_ns": 1.7 * full.waits["p99_ns"]}
    unknown = dataclasses.replace(full, waits=waits)
    fifos = [each.buffer for each in queues_tried(unknown, NOTHING) if each.discipline == "fifo"]
    sizes = [int(each.removesuffix(" packets")) for each in fifos if each != "1 bdp"]
    longest, late = (packets_of(unknown, NOTHING, waits[name]) for name in ("p99_ns", "p95_ns"))
    assert sizes == [int(each.removesuffix(" packets")) for each in (longest, late)]


@pytest.mark.parametrize(("times", "found"), [(1.1, "fifo"), (4.0, "pie")])
def test_another_discipline_needs_to_be_clearly_nearer_than_a_fifo(
    times: float, found: str, captured: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Waits before losses that were read badly look like those of a queue that drops early."""
    full = bufferlab.observe(captured.at_receivers)
    unknown = dataclasses.replace(full, waits={**(full.waits or {}), "is_filled": 0})
    seen = captured_values(unknown)

    def run(scenario: Scenario) -> dict[str, float | None]:
        bottleneck: Any = scenario.to_dict()["bottleneck"]
        queue = bottleneck.get("queue", "fifo")
        off = {"pie": 1.0, "fifo": times}.get(queue, 9.0)
        return {
            name: value if name == "utilization" else (value or 0.0) * off for name, value in seen.items()
        }

    monkeypatch.setattr("bufferlab.captured.fitting._values", run)
    fit = unknown.fit()
    assert (fit.queue, fit.queue_by) == (found, "runs")
    assert ("pie (1000 packets)" in fit.queues_alike) == (found == "fifo")


def test_a_buffer_of_a_few_packets_is_found_under_senders_that_pace(tmp_path: Path) -> None:
    """Echoes contain what BBR waits before it sends, which is longer than this queue; its clock tells."""
    path = tmp_path / "link.pcapng"
    bufferlab.run(of("fifo", "7 packets", "bbr", 40), progress=False, pcap=path, pcap_at=["receivers"])
    found = bufferlab.observe(path)
    assert found.waits is not None and found.waits["p95_ns"] == pytest.approx(4.2e6, rel=0.15)
    # ticks of 1 ms blur waits by half of that, which is a packet here
    assert seen_queue(found) in (Queue("fifo", "7 packets"), Queue("fifo", "8 packets"))
    assert "packets of mean size" in str(found)


def test_a_buffer_that_drops_much_is_seen_while_senders_repair(tmp_path: Path) -> None:
    path = tmp_path / "link.pcapng"
    result = bufferlab.run(of("fifo", "67 packets", "bbr"), progress=False, pcap=path, pcap_at=["senders"])[0]
    truth, found = link_of(result), bufferlab.observe(path)
    assert truth["loss"] > 0.05 and found.waits is not None
    assert found.waits["median_ns"] / 1e6 == pytest.approx(truth["wait_p50_ms"], rel=0.05)
    assert found.waits["samples"] > 5_000


def test_connections_seen_one_way_need_their_round_trip(tmp_path: Path) -> None:
    path = tmp_path / "link.pcapng"
    bufferlab.run(of("fifo", "33 packets", "reno"), progress=False, pcap=path, pcap_at=["bottleneck"])
    found = bufferlab.observe(path)
    (doubt,) = (each for each in found.doubts if "only this direction was captured" in each)
    assert "no interface here has the other one" in doubt and "--joined" not in doubt
    assert found.rate_error_bps is not None and 1e4 < found.rate_error_bps < 1e5
    with pytest.raises(InputError, match="has no flow with a round-trip time"):
        found.scenario(mix=CUBIC)
    with pytest.raises(InputError, match="wrong unit"):
        found.scenario(mix=CUBIC, rtt="40 mm")
    fit = found.fit(rtt="40 ms")
    flows: Any = fit.scenario.to_dict()["flows"]
    assert {each["rtt"] for each in flows} == {"40 ms"} and sum(each["count"] for each in flows) == 6
    assert (fit.controls, fit.queue_by) == (None, "assumed")
    first, second, *_ = fit_lines(fit, is_mix_given=False)
    assert first.startswith("controls: not known, since losses and waits are not both known")
    assert second == "queue: not known, since no buffer was seen to fill; assumed is fifo (1 bdp)"


def test_a_buffer_that_never_fills_holds_more_than_waits(captured: Captured) -> None:
    """One wait that is far longer than all others may be a host's."""
    found = bufferlab.observe(captured.at_senders)
    assert found.waits is not None
    quiet = {"is_filled": 0, "loss_episodes": 0, "p99_ns": 100e6, "max_ns": 9e9}
    flows = found.flows.with_columns(loss_episodes=pl.lit(0))
    calm = dataclasses.replace(found, waits={**found.waits, **quiet}, flows=flows, losses=0.0)
    packets = int(seen_queue(calm).buffer.removesuffix(" packets"))
    mean_bytes = int(found.flows["ip_bytes"].sum()) / int(found.flows["packets"].sum())
    assert packets * mean_bytes == pytest.approx(20e6 * 0.2 / 8, rel=0.02)
    assert "no loss was seen; it holds more than 100 ms" in str(calm)
    short = dataclasses.replace(calm, waits={**calm.waits, "p99_ns": 10e6}) if calm.waits else calm
    assert seen_queue(short) == Queue("fifo", "1 bdp")
    lossy = dataclasses.replace(calm, losses=0.01)  # it was a bandwidth-delay product, which is less
    assert int(seen_queue(lossy).buffer.removesuffix(" packets")) == pytest.approx(packets / 2, abs=1)


@pytest.mark.parametrize(("place", "rate"), [("receivers", None), ("senders", "30 Mbps")])
def test_a_buffer_of_very_few_packets_is_that_of_the_scenario(
    place: str, rate: str | None, tmp_path: Path
) -> None:
    """It was a bandwidth-delay product, and there was no answer, as the link was never busy."""
    path = tmp_path / "link.pcapng"
    flow = {"count": 6, "rtt": "50 ms", "rtt_spread": 0.3, "congestion": "reno", "start": "uniform(0 s, 3 s)"}
    link = {
        "run": {"duration": "20 s", "warmup": "0 s", "seed": 4, "stack": "linux"},
        "bottleneck": {"rate": "30 Mbps", "delay": "4 ms", "buffer": "5 packets"},
        "flows": [flow],
    }
    bufferlab.run(link, progress=False, pcap=path, pcap_at=[place])
    found, known = bufferlab.observe(path), Known(rate=rate, mix=[("reno", 100.0)])
    assert int(seen_queue(found, known).buffer.removesuffix(" packets")) == pytest.approx(5, abs=1)
    refuse_idle(found, known)
    fit = found.fit(rate=rate, mix=known.mix)
    assert (fit.queue, fit.queue_by) == ("fifo", "seen")


def test_round_trips_within_a_host_are_of_no_path(captured: Captured) -> None:
    """Groups were called long-cubic-0us, with 0.001 ms."""
    found = bufferlab.observe(captured.at_senders)
    observation = found.observation
    short = observation.connections.with_columns(path_rtt_ns=pl.lit(133.0))
    near = dataclasses.replace(observation, connections=short, trips=observation.trips.clear())
    flows, _, _ = flows_of(near, found.interface, DIRECTIONS.index(found.direction), is_ahead=True)
    assert set(flows.filter(pl.col("long") & pl.col("elastic"))["rtt_ms"]) == {LEAST_RTT_MS}
    shown = dataclasses.replace(found, flows=flows)
    assert "a round trip takes less than 0.01 ms" in " ".join(str(shown).split())


def test_a_rate_by_hand_turns_waits_into_packets(captured: Captured) -> None:
    table: dict[str, Any] = (
        bufferlab.observe(captured.at_senders).scenario(mix=CUBIC, rate="40 Mbps").to_dict()
    )
    assert int(table["bottleneck"]["buffer"].removesuffix(" packets")) == pytest.approx(134, abs=6)


def test_what_no_run_comes_near_is_not_believed(captured: Captured) -> None:
    found = bufferlab.observe(captured.at_receivers)
    assert found.waits is not None
    found = dataclasses.replace(found, waits={**found.waits, "median_ns": 4e9, "p95_ns": 5e9}, losses=0.3)
    fit = found.fit()
    assert fit.controls is None and fit.distance is not None and fit.distance > NEAR
    assert "bbr" in {each["tcp"]["congestion"] for each in fit.scenario.flows if each["tcp"]}


def test_an_idle_link_needs_its_rate(tmp_path: Path) -> None:
    idle = {
        "run": {"duration": "5 s"},
        "bottleneck": {"rate": "100 Mbps", "delay": "1 ms", "buffer": "1 bdp"},
        "flows": [{"rtt": "20 ms", "window": "14480 B", "handshake": True}],
    }
    path = tmp_path / "idle.pcapng"
    bufferlab.run(idle, progress=False, pcap=path)
    found = bufferlab.observe(path)
    assert found.rate_bps is None and "rate not known" in str(found)
    with pytest.raises(InputError, match="does not show the link's rate"):
        found.scenario()
    table: dict[str, Any] = found.scenario(rate="100 Mbps").to_dict()
    assert table["bottleneck"]["rate"] == "100 Mbps"


def test_a_law_has_the_distributions_quantiles() -> None:
    few = law(pl.Series([10.0, 20.0, 20.0]), pl.Series([1.0, 1.0, 1.0]), "ms")
    assert few == "choice(10 ms, 20 ms: 2)"
    assert law(pl.Series([7.0] * 40), pl.Series([1.0] * 40), "ms") == "7 ms"
    many = law(pl.Series([float(value) for value in range(1, 1601)]), pl.Series([1.0] * 1600), "B")
    values = [int(part.split()[0]) for part in many.removeprefix("choice(").rstrip(")").split(", ")]
    assert values == [50 + 100 * index for index in range(16)] or values == [51 + 100 * i for i in range(16)]
    # who lasts longer counts for more
    heavy = law(pl.Series([1.0, *[9.0] * 20]), pl.Series([60.0, *[1.0] * 20]), "ms")
    assert heavy == "choice(1 ms: 3, 9 ms)"


def test_of_two_sides_of_a_queue_that_is_taken_which_shows_the_rate(tmp_path: Path) -> None:
    path = tmp_path / "both.pcapng"
    scenario = {
        "run": {"duration": "10 s"},
        "bottleneck": {"rate": "10 Mbps", "delay": "2 ms", "buffer": "20 packets"},
        "flows": [{"rtt": "30 ms", "count": 3}],
    }
    bufferlab.run(scenario, progress=False, pcap=path, pcap_at=["bottleneck"])
    found = bufferlab.observe(path)
    assert found.rate_bps == pytest.approx(10e6, rel=0.01) and not found.is_offered


def test_few_short_flows_are_transfers_so_that_no_run_is_without_one(tmp_path: Path) -> None:
    """They were a process of arrivals, of which one run in three had none and was refused."""
    path = tmp_path / "link.pcapng"
    transfer: dict[str, Any] = {"kind": "transfer", "bytes": "400 kB"}
    link = {
        "run": {"duration": "12 s", "seed": 3, "stack": "linux"},
        "bottleneck": {"rate": "20 Mbps", "delay": "2 ms", "buffer": "1 bdp"},
        "flows": [
            {"name": "bulk", "count": 2, "rtt": "30 ms", "congestion": "reno"},
            {"name": "file", "rtt": "30 ms", "start": "3 s", "application": transfer},
        ],
    }
    bufferlab.run(link, progress=False, pcap=path, pcap_at=["senders"])
    made = bufferlab.observe(path).scenario(mix=[("reno", 100.0)])
    flows: Any = made.to_dict()["flows"]
    (short,) = (each for each in flows if each["name"] == "short")
    assert short["count"] == 5 and short["application"]["kind"] == "transfer"  # one in 12 s
    assert int(short["application"]["bytes"].removesuffix(" B")) == pytest.approx(400_000, rel=0.01)
    assert len(bufferlab.run(made, seeds=5, progress=False)) == 5


STEADY: dict[str, Any] = {"name": "steady", "count": 2, "rtt": "40 ms", **CUBIC_FLOW}
VIDEO: dict[str, Any] = {"kind": "video", "ladder": ["1 Mbps", "2 Mbps"], "buffer": "12 s"}
BURSTS: dict[str, Any] = {
    "kind": "on-off",
    "size": "exponential(mean=500 KB)",
    "off": "exponential(mean=1 s)",
}


@pytest.mark.parametrize("place", ["senders", "receivers"])
@pytest.mark.parametrize(
    ("others", "pausing"),
    [
        ({"application": BURSTS}, 3),
        ({"application": VIDEO}, 3),
        ({}, 0),
        ({"congestion": "fixed(20)"}, 0),
        ({"application": {"kind": "on-off", "size": "6 MB", "off": "5 s"}}, 0),  # stops once
        ({"application": {"kind": "web", "size": "100 kB", "every": "1 s"}}, 0),  # a connection a page
    ],
)
def test_flows_that_pause_are_seen(place: str, others: dict[str, Any], pausing: int, tmp_path: Path) -> None:
    path = tmp_path / "link.pcapng"
    link = {
        "run": {"duration": "30 s", "warmup": "5 s", "seed": 29, "stack": "linux"},
        "bottleneck": {"rate": "20 Mbps", "delay": "3 ms", "buffer": "40 ms"},
        "flows": [STEADY, {**STEADY, "name": "other", "count": 3, "rtt": "30 ms", **others}],
    }
    bufferlab.run(link, progress=False, pcap=path, pcap_at=[place])
    found = bufferlab.observe(path)
    assert len(found.pausing) == pausing
    text = " ".join(str(found).split())
    assert (f"; {pausing} of 5 long flows pause" in text) == bool(pausing)
    groups = [group for group in _groups(found) if group["name"].startswith("pausing")]
    assert sum(group["count"] for group in groups) == pausing


def _groups(found: Findings) -> list[dict[str, Any]]:
    table: dict[str, Any] = found.scenario(mix=CUBIC).to_dict()
    return list(table["flows"])


@pytest.mark.parametrize("place", ["senders", "receivers"])
def test_a_run_of_flows_that_pause_uses_as_much(place: str, tmp_path: Path) -> None:
    """It was 1.0 with flows that always send."""
    path = tmp_path / "link.pcapng"
    link = {
        "run": {"duration": "60 s", "warmup": "5 s", "seed": 31, "stack": "linux"},
        "bottleneck": {"rate": "20 Mbps", "delay": "3 ms", "buffer": "40 ms"},
        "flows": [
            {**STEADY, "count": 8, "start": "uniform(0 s, 3 s)", "application": {**BURSTS, "size": "1 MB"}}
        ],
    }
    (result,) = bufferlab.run(link, progress=False, pcap=path, pcap_at=[place])
    found = bufferlab.observe(path)
    (group,) = _groups(found)
    assert group["application"]["kind"] == "on-off" and group["application"]["off"].startswith("exponential")
    # silences of less than 200 ms, one in six, are none, and the bursts around them one
    assert float(group["application"]["size"].removesuffix(" B")) == pytest.approx(1.2e6, rel=0.1)
    again = link_of(bufferlab.run(found.scenario(mix=CUBIC), progress=False)[0])
    assert again["utilization"] == pytest.approx(link_of(result)["utilization"], abs=0.06)


@pytest.mark.parametrize("place", ["senders", "receivers"])
def test_round_trips_of_flows_behind_links_of_their_own(place: str, tmp_path: Path) -> None:
    path = tmp_path / "link.pcapng"
    rates = {"20 ms": "100 Mbps", "50 ms": "20 Mbps", "80 ms": "10 Mbps"}
    link = {
        "run": {"duration": "30 s", "warmup": "5 s", "seed": 37, "stack": "linux"},
        "bottleneck": {"rate": "50 Mbps", "delay": "3 ms", "buffer": "1 bdp"},
        "flows": [
            {**STEADY, "name": f"of{number}", "count": 4, "rtt": rtt, "access_rate": rate}
            for number, (rtt, rate) in enumerate(rates.items())
        ],
    }
    (result,) = bufferlab.run(link, progress=False, pcap=path, pcap_at=[place])
    found = bufferlab.observe(path).long["rtt_ms"].sort()
    assert found.to_list() == pytest.approx(result.flows["propagation_ms"].sort().to_list(), rel=0.05)


@pytest.mark.parametrize(
    ("times", "is_judged"),
    [
        (1.0, True),
        (1.4, True),
        (
            1.6,
            False,
        ),  # far flows had 1.63 Mbps in a run, in truth 2.92, and "fifo is worse"
        (0.6, False),
    ],
)
def test_a_queue_is_not_judged_by_a_run_that_shares_the_link_otherwise(
    captured: Captured, times: float, *, is_judged: bool
) -> None:
    fit = bufferlab.observe(captured.at_receivers).fit(mix=CUBIC)
    assert [*fit.goodputs_bps] == ["long-21ms", "long-80ms"]
    seen = {name: pair[0] for name, pair in fit.goodputs_bps.items()}
    truth = captured.result.flows.group_by("group").agg(pl.col("goodput_bps").mean())
    means = dict(truth.iter_rows())
    assert seen["long-21ms"] == pytest.approx(means["near"], rel=0.1)
    assert seen["long-80ms"] == pytest.approx(means["far"], rel=0.1)
    shared = {"long-80ms": (3e6, 3e6 / times)}
    made = dataclasses.replace(fit, goodputs_bps=shared, queue_by="seen")
    said = [each for each in fit_doubts(made, is_mix_given=True) if "is not judged" in each]
    measured = "long-80ms gets 1.88 Mbps a flow, measured 3 Mbps"
    assert not made.shared_otherwise if is_judged else made.shared_otherwise
    assert bool(said) != is_judged and (times != 1.6 or measured in said[0])
    lines = list(fit_lines(made, is_mix_given=True))
    assert any(each.startswith("beware: flows share the link otherwise") for each in lines) != is_judged


def test_a_queue_whose_flows_share_as_captured_is_taken_before_a_nearer_one(tmp_path: Path) -> None:
    """FQ-CoDel was a FIFO of 56 packets, with which near flows get six times what far ones get."""
    path = tmp_path / "link.pcapng"
    groups = [{"count": 3, "rtt": "20 ms"}, {"count": 4, "rtt": "100 ms"}]
    link = {
        "run": {"duration": "30 s", "warmup": "0 s", "seed": 5, "stack": "linux"},
        "bottleneck": {"rate": "60 Mbps", "delay": "2 ms", "buffer": "1000 packets", "queue": "fq_codel"},
        "flows": [{"congestion": CUBIC[0][0], "start": "uniform(0 s, 3 s)", **each} for each in groups],
    }
    bufferlab.run(link, progress=False, pcap=path)
    fit = bufferlab.observe(path).fit(mix=CUBIC)
    assert fit.queue == "fq_codel" and not fit.shared_otherwise
    assert any(str(each).startswith("fifo") for each in fit.queues_alike)
