"""`bufferlab size --theory`: rules and models without a simulation."""

from __future__ import annotations

import json

import pytest

from .conftest import Command
from .sizes import MIX, RULES, SHARES, document


def test_theory_is_marked_as_unverified(bufferlab: Command) -> None:
    targets = ("--utilization", "0.99", "--max-loss", "0.01", "--max-delay", "20ms")
    ended = bufferlab(*RULES, "--flows", MIX, *targets)
    assert ended.status == 0 and ended.err == ""
    assert "198 long-lived flows (42 reno, 51 bic, 30 cubic-0.8, 41 cubic-0.7, 34 ctcp)" in ended.out
    assert "no run stands behind it" in ended.out
    lines = ended.out.splitlines()
    for rule in ("bdp", "stanford", "stanford-erf", "single-flow", "spang", "bscl", "tiny", "delay"):
        (line,) = [line for line in lines if line.startswith(f" {rule} ")]
        assert " unverified " in line
    assert any(line.startswith("unverified: Feasible in theory") for line in lines)
    for claim in ("Take ", "keeps", "busy"):
        assert claim not in ended.out


def test_the_documents_own_reading_gives_its_buffers(bufferlab: Command) -> None:
    options = ("--max-loss", "0.01", "--z", "document", "--characteristics", "published")
    rules = {each["rule"]: each for each in document(bufferlab, *RULES, "--flows", MIX, *options)["rules"]}
    ratio = rules["heterogeneous-loss"]["buffer_bytes"] / rules["heterogeneous"]["buffer_bytes"]
    # 45.45 % with z = 2.05; the document's convention without rounding is 2.0537
    assert ratio == pytest.approx(1.4545, abs=0.002)


def test_an_infeasible_set_says_what_binds_and_what_would_do(bufferlab: Command) -> None:
    ended = bufferlab(*RULES, "--flows", MIX, "--max-loss", "0.01", "--max-delay", "1 ms")
    assert (ended.status, ended.err) == (0, "")
    assert "unverified: Infeasible in theory: delay allows 51 packets" in ended.out
    assert "utilization needs 115 packets" in ended.out and "loss needs 176 packets" in ended.out
    assert "a delay of 3.39 ms" in ended.out and "949 flows or more" in ended.out


def test_what_would_satisfy_the_rest_does(bufferlab: Command) -> None:
    for options in (("--flows", MIX, "--max-delay", "3.39ms"), ("--flows", "949", "--mix", SHARES)):
        found = document(bufferlab, *RULES, "--max-loss", "0.01", "--max-delay", "1 ms", *options)
        assert found["feasibility"]["feasible"] is True, options
    found = document(bufferlab, *RULES, "--flows", MIX, "--max-delay", "1 ms")
    assert found["feasibility"]["feasible"] is False and found["feasibility"]["ways_out"]


@pytest.mark.parametrize(
    ("flows", "mix"),
    [
        ("newreno:3,tahoe:2", [("reno", 5)]),
        (
            "cubic(hystart):3,cubic:4,cubic-linux:5,cubic-linux(hystart):6",
            [("cubic", 3), ("cubic-linux", 15)],  # as the stack linux has it
        ),
        ("compound:3,fixed(20):4", [("ctcp", 3), ("fixed", 4)]),
        ("bbr:3,bbr1:4,bbr3:5", [("bbr", 7), ("bbr3", 5)]),
        ("scalable:1,htcp:2,vegas:3", [("scalable", 1), ("htcp", 2), ("vegas", 3)]),
        ("dctcp:3,reno:1", [("dctcp-unmarked", 3), ("reno", 1)]),
    ],
)
def test_every_congestion_control_is_a_group(
    bufferlab: Command, flows: str, mix: list[tuple[str, int]]
) -> None:
    ended = bufferlab(*RULES, "--flows", flows, "--json")
    assert ended.status == 0
    assert [(each["protocol"], each["flows"]) for each in json.loads(ended.out)["mix"]] == mix


def test_dctcp_on_a_link_that_marks_varies_less(bufferlab: Command) -> None:
    buffers = []
    codel = "bottleneck.queue={discipline='codel', ce_threshold='1 ms'}"
    for options in ((), ("--set", "bottleneck.mark_above=100 packets"), ("--set", codel)):
        document = json.loads(bufferlab(*RULES, "--flows", "dctcp:500", *options, "--json").out)
        buffers += [each["buffer_packets"] for each in document["rules"] if each["rule"] == "heterogeneous"]
    assert buffers[0] > 2 * buffers[1]
    assert buffers[1] == buffers[2]


def test_a_measured_variation_stands_for_the_model(bufferlab: Command) -> None:
    flows = ("--flows", "westwood:100,reno:100", "--measured", "westwood=0.1")
    document = json.loads(bufferlab(*RULES, *flows, "--json").out)
    assert document["characteristic"] == pytest.approx(((0.1**2 + 1 / 27) / 2) ** 0.5)


def test_json_has_the_constraints_and_the_range(bufferlab: Command) -> None:
    found = document(bufferlab, *RULES, "--flows", "bic:200", "--max-delay", "20ms")
    assert (found["format"], found["verified"]) == ("bufferlab-rules", False)
    assert found["targets"]["max_delay_s"] == 0.02
    assert found["mix"] == [{"protocol": "bic", "flows": 200.0}]
    assert found["feasibility"]["feasible"] is True
    assert found["feasibility"]["loss_bytes"] is None


def test_constraints_go_with_a_scenario_too(bufferlab: Command) -> None:
    ended = bufferlab("size", "small.toml", "--theory", "--max-loss", "0.02", "--max-delay", "30ms")
    assert ended.status == 0
    assert "3 long-lived flows (3 reno)" in ended.out
    assert "delay at most 30 ms" in ended.out


def test_flows_without_a_control_are_the_internet_s_and_it_is_said(bufferlab: Command) -> None:
    found = document(bufferlab, *RULES, "--flows", "500")
    mix = {each["protocol"]: each["flows"] for each in found["mix"]}
    assert mix == {"cubic-linux": 310, "bbr": 190}  # 36 and 22 of 58
    assert found["rtt_ms"] == pytest.approx(100.0, rel=1e-9)
    controls, times = found["assumed"]
    assert "310 CUBIC and 190 BBR" in controls and "36 %" in controls and "22 %" in controls
    assert "--flows cubic:500" in controls and "BBR (version 1) hardly yields" in controls
    without = document(bufferlab, *RULES, "--flows", "cubic:500")
    assert [(each["protocol"], each["flows"]) for each in without["mix"]] == [("cubic-linux", 500)]
    assert "± 90 %" in times and "our choice" in times and "--spread 0.2" in times
    shown = " ".join(bufferlab(*RULES, "--flows", "500").out.split())
    assert f"Assumed: {controls}." in shown and f"Assumed: {times}." in shown


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--flows", "1"), ["the flow is 1 CUBIC"]),
        (("--flows", "cubic:500"), ["round-trip times"]),
        (("--flows", "200", "--mix", "reno:40%,cubic:60%"), ["round-trip times"]),
        (("--flows", "200", "--stack", "rfc"), ["round-trip times"]),
        (("--flows", "200", "--spread", "0.2"), ["the 200 flows are"]),
        (("--flows", "cubic:1"), []),
        (("--flows", "cubic:200", "--spread", "0.2"), []),
    ],
)
def test_only_what_was_not_said_is_assumed(
    bufferlab: Command, options: tuple[str, ...], said: list[str]
) -> None:
    found = document(bufferlab, *RULES, *options)["assumed"]
    assert len(found) == len(said)
    assert all(text.startswith(start) for text, start in zip(found, said, strict=True))


def test_round_trips_that_are_drawn_spread_by_themselves(bufferlab: Command) -> None:
    drawn = ("size", "--rate", "100 Mbps", "--rtt", "uniform(20 ms, 60 ms)", "--theory")
    ended = bufferlab(*drawn, "--flows", "cubic:60", "--json")
    assert ended.status == 0
    found = json.loads(ended.out)
    assert found["assumed"] == []
    assert 20 < found["rtt_ms"] < 60
    refused = bufferlab(*drawn, "--flows", "cubic:60", "--spread", "0.5")
    assert refused.status == 2
    assert "--spread: 0.5 does not go with a random rtt" in refused.err


def test_rules_say_what_they_take_a_mix_for(bufferlab: Command) -> None:
    line = " ".join(bufferlab(*RULES, "--flows", "10").out.split())
    assert "bdp, bscl, stanford-erf, tiny: all as Reno" in line
    assert "single-flow: all as the one with the largest window reduction" in line
    assert "What they take" not in bufferlab(*RULES, "--flows", "reno:10").out


def test_shares_become_flows(bufferlab: Command) -> None:
    ended = bufferlab(*RULES, "--flows", "10", "--mix", "reno:33.3%,bic:33.3%,ctcp:33.4%", "--json")
    mix = json.loads(ended.out)["mix"]
    assert [(each["protocol"], each["flows"]) for each in mix] == [("reno", 3), ("bic", 3), ("ctcp", 4)]
