"""`bufferlab size`: groups of protocols and constraints."""

from __future__ import annotations

import json

import pytest

from bufferlab.experiment.interruption import RunInterrupted
from bufferlab.experiment.runner import Runner

from .conftest import Command

LINK = ("size", "--rate", "622Mbps", "--rtt", "100ms")
SHARES = "reno:21.22%,bic:25.76%,cubic-0.8:15.15%,cubic-0.7:20.70%,ctcp:17.17%"
MIX = "reno:42,bic:51,cubic-0.8:30,cubic-0.7:41,ctcp:34"


def test_an_operators_question_is_answered(bufferlab: Command) -> None:
    ended = bufferlab(
        *LINK, "--flows", MIX, "--utilization", "0.99", "--max-loss", "0.01", "--max-delay", "20ms"
    )
    assert ended.status == 0 and ended.err == ""
    assert "198 long-lived flows (42 reno, 51 bic, 30 cubic-0.8, 41 cubic-0.7, 34 ctcp)" in ended.out
    assert "Feasible in theory" in ended.out
    for rule in (
        "bdp",
        "stanford",
        "stanford-erf",
        "single-flow",
        "spang",
        "bscl",
        "tiny",
        "heterogeneous-loss",
        "delay",
    ):
        assert rule in ended.out
    assert "Take 365 packets" in ended.out


def test_the_documents_own_reading_gives_its_buffers(bufferlab: Command) -> None:
    ended = bufferlab(
        *LINK,
        "--flows",
        MIX,
        "--max-loss",
        "0.01",
        "--z",
        "document",
        "--characteristics",
        "published",
        "--json",
    )
    rules = {each["rule"]: each for each in json.loads(ended.out)["rules"]}
    ratio = rules["heterogeneous-loss"]["buffer_bytes"] / rules["heterogeneous"]["buffer_bytes"]
    # 45.45 % with z = 2.05; the document's convention without rounding is 2.0537
    assert ratio == pytest.approx(1.4545, abs=0.002)


def test_an_infeasible_set_says_what_binds_and_what_would_do(bufferlab: Command) -> None:
    ended = bufferlab(*LINK, "--flows", MIX, "--max-loss", "0.01", "--max-delay", "1 ms")
    assert ended.status == 2
    assert "Infeasible in theory: delay allows 51 packets" in ended.out
    assert "utilization needs 114 packets" in ended.out and "loss needs 175 packets" in ended.out
    assert "a delay of 3.39 ms" in ended.out and "flows or more" in ended.out
    assert "Take 51 packets" in ended.out
    said = ended.line()
    assert "--max-delay: '1 ms' cannot be met with the other constraints: delay allows 51 packets" in said
    assert "but utilization needs 114 packets" in said and "and loss needs 175 packets" in said
    assert "(263.2 KB, 3.385 ms): loss binds; accepted" in said
    assert "accepted: all else as asked, a delay of 3.39 ms or 949 flows or more" in said


def test_what_would_satisfy_the_rest_does(bufferlab: Command) -> None:
    for options in (("--flows", MIX, "--max-delay", "3.39ms"), ("--flows", "949", "--mix", SHARES)):
        ended = bufferlab(*LINK, "--max-loss", "0.01", "--max-delay", "1 ms", *options)
        assert ended.status == 0 and ended.err == "", options


def test_an_infeasible_set_is_still_told_as_json(bufferlab: Command) -> None:
    ended = bufferlab(*LINK, "--flows", MIX, "--max-delay", "1 ms", "--json")
    assert ended.status == 2 and "--max-delay: '1 ms'" in ended.line()
    document = json.loads(ended.out)
    assert document["feasibility"]["feasible"] is False and document["feasibility"]["ways_out"]


@pytest.mark.parametrize(
    ("flows", "mix"),
    [
        ("newreno:3,tahoe:2", [("reno", 5)]),
        (
            "cubic(hystart):3,cubic:4,cubic-linux:5,cubic-linux(hystart):6",
            [("cubic", 7), ("cubic-linux", 11)],
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
    ended = bufferlab(*LINK, "--flows", flows, "--json")
    assert ended.status == 0
    assert [(each["protocol"], each["flows"]) for each in json.loads(ended.out)["mix"]] == mix


def test_dctcp_on_a_link_that_marks_varies_less(bufferlab: Command) -> None:
    buffers = []
    codel = "bottleneck.queue={discipline='codel', ce_threshold='1 ms'}"
    for options in ((), ("--set", "bottleneck.mark_above=100 packets"), ("--set", codel)):
        document = json.loads(bufferlab(*LINK, "--flows", "dctcp:500", *options, "--json").out)
        buffers += [each["buffer_packets"] for each in document["rules"] if each["rule"] == "heterogeneous"]
    assert buffers[0] > 2 * buffers[1]
    assert buffers[1] == buffers[2]


def test_a_measured_variation_stands_for_the_model(bufferlab: Command) -> None:
    flows = ("--flows", "westwood:100,reno:100", "--measured", "westwood=0.1")
    document = json.loads(bufferlab(*LINK, *flows, "--json").out)
    assert document["characteristic"] == pytest.approx(((0.1**2 + 1 / 27) / 2) ** 0.5)


def test_json_has_the_constraints_and_the_range(bufferlab: Command) -> None:
    ended = bufferlab(*LINK, "--flows", "bic:200", "--max-delay", "20ms", "--json")
    document = json.loads(ended.out)
    assert document["targets"]["max_delay_s"] == 0.02
    assert document["mix"] == [{"protocol": "bic", "flows": 200.0}]
    assert document["feasibility"]["feasible"] is True
    assert document["feasibility"]["loss_bytes"] is None
    stanford = next(each for each in document["rules"] if each["rule"] == "stanford")
    assert stanford["meets_utilization"] is True and stanford["meets_loss"] is None


def test_constraints_go_with_a_scenario_too(bufferlab: Command) -> None:
    ended = bufferlab("size", "small.toml", "--max-loss", "0.02", "--max-delay", "30ms")
    assert ended.status == 0
    assert "3 long-lived flows (3 reno)" in ended.out
    assert "delay at most 30 ms" in ended.out


def test_shares_become_flows(bufferlab: Command) -> None:
    ended = bufferlab(*LINK, "--flows", "10", "--mix", "reno:33.3%,bic:33.3%,ctcp:33.4%", "--json")
    mix = json.loads(ended.out)["mix"]
    assert [(each["protocol"], each["flows"]) for each in mix] == [("reno", 3), ("bic", 3), ("ctcp", 4)]


def test_a_few_flows_are_verified(bufferlab: Command) -> None:
    ended = bufferlab(
        "size", "small.toml", "--max-delay", "30ms", "--verify", "--seeds", "1", "--curve", "0", "--json"
    )
    assert ended.status == 0
    document = json.loads(ended.out)
    simulated = {each["rule"] for each in document["verification"]}
    assert {"bdp", "stanford", "delay"} <= simulated
    assert document["recommendation"]["verified"] is True
    assert document["recommendation"]["buffer_ms"] <= 30.0


def test_a_mix_is_simulated_as_it_is(bufferlab: Command) -> None:
    link = ("size", "--rate", "20Mbps", "--rtt", "30ms", "--verify", "--seeds", "1", "--curve", "0", "--json")
    used = []
    for flows in ("reno:2,bic:2,cubic-0.8:2,cubic-0.7:2,ctcp:2", "reno:10"):
        ended = bufferlab(*link, "--flows", flows)
        assert ended.status == 0
        verification = json.loads(ended.out)["verification"]
        used += [each["utilization"] for each in verification if each["rule"] == "stanford"]
    assert 0.8 < used[1] < used[0] <= 1.0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--flows", "reno:0"), "--flows: 'reno:0' is a group without flows"),
        (("--flows", "0"), "--flows: '0' is a group without flows"),
        (("--flows", "reno:many"), "--flows: 'reno:many' is not a number of flows"),
        (("--flows", ""), "--flows: '' is not a number of flows"),
        (
            ("--flows", "cubix:20"),
            "--flows: 'cubix' is not a known congestion control (did you mean 'cubic'?)",
        ),
        (("--flows", "reno:3,bic:4,,"), "--flows: 'reno:3,bic:4,,' is not a number of flows"),
        (("--flows", "reno:-3"), "--flows: 'reno:-3' is not a number of flows"),
        (
            ("--flows", "fixed:3"),
            "--flows: 'fixed' is not a known congestion control (did you mean 'fixed(N)'",
        ),
        (
            ("--flows", "westwood:9"),
            "--rate/--rtt/--flows: congestion: 'westwood' has no model of its window",
        ),
        (
            ("--flows", "bic:9", "--measured", "bik=0.1"),
            "--measured: 'bik' is not a known protocol (did you mean 'bic'?)",
        ),
        (("--flows", "bic:9", "--measured", "bic"), "--measured: 'bic' is not a protocol with the deviation"),
        (("--flows", "bic:9", "--measured", "bic=1"), "--measured: 'bic=1' is not a protocol with the"),
        (
            ("--flows", "bic:9", "--measured", "reno=0.1"),
            "measured: 'reno' is the protocol of no flow; accepted: bic",
        ),
        (
            ("--flows", "bbr:9", "--stack", "ns2-sack1"),
            "flows[0].congestion: 'bbr' needs the recovery sack",
        ),
        (
            ("--flows", "200", "--utilization", "1"),
            "--utilization: 1.0 is out of bounds; accepted: above 0 and",
        ),
        (("--flows", "200", "--utilization", "nan"), "--utilization: nan is out of bounds"),
        (("--flows", "200", "--utilization", "99%"), "--utilization"),
        (
            ("--flows", "200", "--max-loss", "1"),
            "--max-loss: 1.0 is out of bounds; accepted: a share above 0 and",
        ),
        (("--flows", "200", "--max-loss", "1.5"), "--max-loss: 1.5 is out of bounds"),
        (("--flows", "200", "--max-loss", "0"), "--max-loss: 0.0 is out of bounds"),
        (("--flows", "200", "--max-delay", "20"), "--max-delay: '20' has no unit"),
        (("--flows", "200", "--max-delay", "0 ms"), "--max-delay: '0 ms' is too small"),
        (("--flows", "200", "--confidence", "1"), "--confidence: 1.0 is out of bounds"),
        (("--flows", "200", "--z", "two"), "--z: 'two' is not known; accepted: one-sided, document"),
        (("--flows", "200", "--mix", "reno:40%,bic:50%"), "--mix: 'reno:40%,bic:50%' adds up to 90 %"),
        (
            ("--flows", "200", "--mix", "reno:60%,bic:50%"),
            "adds up to 110 %; accepted: shares of 100 % together",
        ),
        (("--flows", "200", "--mix", "reno:40%,bic"), "--mix: 'bic' is not a share of the flows"),
        (("--flows", "200", "--mix", "reno:0%,bic:100%"), "--mix: 'reno:0%' is not a share"),
        (
            ("--flows", "200", "--mix", "vega:100%"),
            "--mix: 'vega' is not a known congestion control (did you mean 'vegas",
        ),
        (("--flows", "reno:10", "--mix", "bic:100%"), "--flows: 'reno:10' names protocols already"),
        (
            ("--flows", "bbr:9", "--characteristics", "published"),
            "'bbr' has no published characteristic value",
        ),
    ],
)
def test_bad_input_is_one_line_and_status_2(bufferlab: Command, options: tuple[str, ...], said: str) -> None:
    ended = bufferlab(*LINK, *options)
    assert ended.status == 2 and ended.out == ""
    assert said in ended.line()


def test_ctrl_c_while_verifying_leaves_what_theory_says(
    bufferlab: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise RunInterrupted([], 0, 30)

    monkeypatch.setattr(Runner, "all", interrupted)
    ended = bufferlab("size", "small.toml", "--verify")
    assert ended.status == 130
    assert ended.line() == "bufferlab: interrupted: 0 of 30 simulations finished"
    assert "stanford" in ended.out
