"""What runs say of latency under load."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bufferlab

EXAMPLES = Path(__file__).parents[2] / "examples"
WINDOW = {"congestion": "fixed(1)", "delayed_ack": False, "handshake": False}


def rows(scenario: Any, **overrides: str) -> dict[str, dict[str, Any]]:
    changes = {key.replace("__", "."): value for key, value in overrides.items()}
    return {row["group"]: row for row in bufferlab.run(scenario, overrides=changes).summary()["latency"]}


def scenario(*flows: dict[str, Any], rate: str = "1 Mbps", **link: Any) -> dict[str, Any]:
    return {
        "run": {"duration": "20 s"},
        "bottleneck": {"rate": rate, "delay": "2 ms", "buffer": "100 packets", **link},
        "flows": [{"rtt": "40 ms", **flow} for flow in flows],
    }


def test_pings_alone_are_idle() -> None:
    ping = rows(scenario({"name": "p", "application": {"kind": "ping", "interval": "100 ms"}}))["p"]
    assert ping["kind"] == "ping"
    assert ping["idle_rtt_ms"] == pytest.approx(40 + 84 * 8 / 1e3)
    for key in ("loaded_rtt_ms", "loaded_rtt_p50_ms", "loaded_rtt_p99_ms"):
        assert ping[key] == pytest.approx(ping["idle_rtt_ms"])
    assert ping["rtt_increase_ms"] == pytest.approx(0, abs=1e-6)
    assert ping["bloat_grade"] == "A+"
    assert ping["foreign_rpm"] == pytest.approx(60_000 / ping["idle_rtt_ms"])
    assert ping["rpm"] is None  # nothing makes a load


def test_a_segment_at_a_time_is_idle() -> None:
    lone = rows(scenario({"name": "one", **WINDOW}))["one"]
    assert lone["kind"] == "TCP"
    assert lone["idle_rtt_ms"] == pytest.approx(40 + 1500 * 8 / 1e3)
    assert lone["loaded_rtt_ms"] == pytest.approx(lone["idle_rtt_ms"])
    assert lone["loaded_rtt_p99_ms"] == pytest.approx(lone["idle_rtt_ms"])


def test_flows_of_other_round_trips_are_idle_alike() -> None:
    """A window of one segment each: the nearer flow takes more samples, and nobody waits for long."""
    near_and_far = {"name": "both", "count": 2, "rtt": "100 ms", "rtt_spread": 0.9, **WINDOW}
    both = rows(scenario(near_and_far, rate="1 Gbps"))["both"]
    # 55 and 145 ms: as many samples as round trips in the 16 s measured
    assert both["idle_rtt_ms"] == pytest.approx(2 / (1 / 55 + 1 / 145), rel=0.01)
    assert both["rtt_increase_ms"] == pytest.approx(0, abs=0.02)


def test_the_way_back_counts_if_it_has_links() -> None:
    two = {
        "run": {"duration": "10 s"},
        "links": [
            {"name": "down", "rate": "10 Mbps", "buffer": "50 packets"},
            {"name": "up", "rate": "1 Mbps", "buffer": "50 packets"},
        ],
        "flows": [{"name": "one", "rtt": "40 ms", "path": ["down"], "reverse_path": ["up"], **WINDOW}],
    }
    lone = rows(two)["one"]
    assert lone["idle_rtt_ms"] == pytest.approx(40 + 1500 * 8 / 1e4 + 52 * 8 / 1e3)
    assert lone["loaded_rtt_ms"] == pytest.approx(lone["idle_rtt_ms"])
    assert lone["loaded_rtt_p50_ms"] is None  # waits in two queues do not add up by quantiles


def test_a_page_of_one_segment_takes_two_round_trips() -> None:
    page = {"kind": "web", "size": "1 B", "every": "1 s"}
    found = rows(scenario({"name": "page", "application": page}, rate="1 Gbps"))["page"]
    assert found["kind"] == "page"
    assert found["foreign_rpm"] == pytest.approx(60_000 / 40, rel=1e-3)
    larger = rows(scenario({"name": "page", "application": page | {"size": "1449 B"}}))["page"]
    assert (larger["kind"], larger["foreign_rpm"]) == ("TCP", None)


def test_responsiveness_looks_at_the_load_on_the_same_links() -> None:
    apart = {
        "run": {"duration": "10 s"},
        "links": [
            {"name": name, "rate": "10 Mbps", "delay": "1 ms", "buffer": "200 packets"} for name in "ab"
        ],
        "flows": [
            {"name": "load", "rtt": "20 ms", "path": ["a"]},
            *(
                {"name": f"ping-{name}", "rtt": "20 ms", "path": [name],
                 "application": {"kind": "ping", "interval": "50 ms"}}
                for name in "ab"
            ),
        ],
    }  # fmt: skip
    found = rows(apart)
    assert found["ping-b"]["rpm"] is None
    assert found["ping-a"]["loaded_rpm"] == pytest.approx(60_000 / found["load"]["loaded_rtt_ms"])
    assert found["ping-a"]["rpm"] == pytest.approx(
        (found["ping-a"]["foreign_rpm"] + found["ping-a"]["loaded_rpm"]) / 2
    )


def test_other_datagrams_have_no_latency() -> None:
    stream = {"kind": "udp", "packet": "1000 B", "rate": "100 kbps"}
    assert rows(scenario({"name": "s", "application": stream})) == {}


def test_samples_change_nothing() -> None:
    call = EXAMPLES / "call.toml"
    assert rows(call) == rows(call, probes__interval="10 ms")


def test_stored_results_have_the_same(tmp_path: Path) -> None:
    runs = bufferlab.run(EXAMPLES / "call.toml", seeds=2, out=tmp_path / "out")
    assert bufferlab.RunSet.load(tmp_path / "out").summary()["latency"] == runs.summary()["latency"]
    assert runs.latency_means["kind"].to_list() == ["TCP", "G.711", "ping"]
    ratings = [run.summary()["latency"][1]["call_r"] for run in runs]
    assert ratings[0] != ratings[1]  # the hosts' processing is random
    assert runs.latency_means["call_r"].to_list()[1] == pytest.approx(sum(ratings) / 2)


def test_what_the_example_says_of_a_call() -> None:
    """The comments of examples/call.toml: the queue decides whether one can talk."""
    fifo, fair = rows(EXAMPLES / "call.toml"), rows(EXAMPLES / "call.toml", bottleneck__queue="fq_codel")
    assert 50 < fifo["call"]["call_r"] < 70
    assert fair["call"]["call_r"] > 93
    assert (fifo["ping"]["bloat_grade"], fair["ping"]["bloat_grade"]) == ("F", "A+")
    assert fifo["ping"]["rpm"] < 300
    assert fair["ping"]["rpm"] > 1000


@pytest.mark.parametrize(
    ("sent", "rated"),
    [
        ({"packet": "200 B", "interval": "20 ms"}, True),  # G.711
        ({"packet": "60 B", "interval": "20 ms"}, True),  # G.729A
        ({"packet": "200 B", "rate": "80 kbps"}, True),
        ({"packet": "201 B", "interval": "20 ms"}, False),  # more than 64 kbit/s of speech
        ({"packet": "1640 B", "interval": "200 ms"}, True),
        ({"packet": "1640 B", "interval": "201 ms"}, False),  # longer than receivers should accept
        ({"packet": "40 B", "interval": "20 ms"}, False),  # headers alone
        ({"packet": "200 B", "interval": "20 ms", "arrivals": "poisson"}, False),
        ({"packet": "200 B", "interval": "20 ms", "sizes": "exponential"}, False),
        ({"packet": "200 B", "interval": "20 ms", "record": False}, False),
        ({"packet": "1000 B", "rate": "500 kbps"}, False),
        ({"packet": "1000 B", "rate": "500 kbps", "record": True}, True),
    ],
)
def test_what_comes_as_a_codec_sends_it_is_rated(sent: dict[str, Any], *, rated: bool) -> None:
    call = {"name": "call", "rtt": "20 ms", "application": {"kind": "udp", **sent}}
    found = rows(scenario(call))
    assert ("call" in found and found["call"]["call_r"] is not None) == rated
