"""`bufferlab size`: the buffer that runs confirm, what they say of the rules, and the rules alone."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from inspect import signature
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from bufferlab.cli.size import size
from bufferlab.experiment.interruption import RunInterrupted
from bufferlab.experiment.runner import Runner
from bufferlab.studies.least import Goal
from bufferlab.theory.normal import CONVENTIONS
from bufferlab.theory.targets import CHARACTERISTICS, DEFAULT_CONFIDENCE

from .conftest import Command

LINK = ("size", "--rate", "622Mbps", "--rtt", "100ms")
RULES = (*LINK, "--theory")
SHARES = "reno:21.22%,bic:25.76%,cubic-0.8:15.15%,cubic-0.7:20.70%,ctcp:17.17%"
MIX = "reno:42,bic:51,cubic-0.8:30,cubic-0.7:41,ctcp:34"
SMALL = ("size", "small.toml", "--set", "run.duration=6 s")
QUICK = (*SMALL, "--resolution", "0.3", "--no-rules")


def document(bufferlab: Command, *args: str) -> dict[str, Any]:
    ended = bufferlab(*args, "--json")
    assert ended.status == 0, ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found


# What runs say


def test_the_answer_comes_first_and_says_how_sure_it_is(bufferlab: Command) -> None:
    ended = bufferlab(*SMALL, "--utilization", "90%", "--max-loss", "5 %")
    assert (ended.status, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[1].startswith("Take ") and "the smallest buffer that meets all targets" in lines[1]
    assert "utilization at least 90 %; loss at most 5 %; 95 % sure" in ended.out
    assert "\nhow sure " in ended.out
    assert "\nwhy not smaller " in ended.out
    assert ended.out.index("Take ") < ended.out.index("What the published rules say, and what runs say of it")
    for rule in ("bdp", "stanford", "spang", "tiny", "this answer"):
        assert f"\n {rule} " in ended.out


def test_at_the_answer_every_target_holds_on_fresh_seeds(bufferlab: Command) -> None:
    found = document(bufferlab, *SMALL, "--utilization", "0.9", "--max-loss", "0.05")
    assert found["confirmed"] and found["confidence"] >= 0.95
    packets = found["buffer"]["packets"]
    assert found["buffer"]["bytes"] == packets * 1500
    assert len(found["checks"]) == 2
    for check in found["checks"]:
        assert check["runs"] >= 2
        sign = 1 if check["metric"] == "utilization" else -1
        assert sign * (check["mean"] - check["bound"]) >= 0
    ended = bufferlab(
        "run", "small.toml", "--set", "run.duration=6 s", "--set", f"bottleneck.buffer={packets} packets",
        "--set", "run.seed=5000", "--seeds", "10", "--json",
    )  # fmt: skip
    queue = json.loads(ended.out)["queues"][0]
    assert queue["utilization"] >= 0.9 and queue["loss"] <= 0.05


def test_what_was_not_asked_for_is_reported_too(bufferlab: Command) -> None:
    """A buffer was recommended in silence about the loss that it brings."""
    ended = bufferlab(*QUICK, "--utilization", "0.9")
    (line,) = [line for line in ended.out.splitlines() if line.startswith("gives ")]
    assert "utilization " in line and ", loss " in line and ", mean wait " in line


def test_two_bounds_hold_at_the_answer_or_there_is_none(bufferlab: Command) -> None:
    """An answer to a utilization and a wait had a mean wait above the bound."""
    one = document(bufferlab, *QUICK, "--utilization", "0.9")
    wait_ms = next(each for each in one["tried"] if each["buffer_packets"] == one["buffer"]["packets"])[
        "wait_mean_ms"
    ]
    ended = bufferlab(*QUICK, "--utilization", "0.9", "--max-delay", f"{wait_ms * 0.8:.3f} ms", "--json")
    found = json.loads(ended.out)
    if found["buffer"] is None:
        assert ended.status == 2 and found["conflict"]
    else:
        assert all(check["confidence"] >= 0.95 for check in found["checks"])
    ended = bufferlab(*QUICK, "--utilization", "0.9", "--max-delay", f"{wait_ms * 1.5:.3f} ms", "--json")
    assert ended.status == 0 and json.loads(ended.out)["confirmed"]


def test_a_rule_is_marked_by_what_runs_say_of_it(bufferlab: Command) -> None:
    """The unverified command said "keeps the link busy" of buffers that do not."""
    found = document(bufferlab, *SMALL, "--utilization", "0.97")
    rules = {each["rule"]: each["simulated"] for each in found["rules"]}
    packets = found["buffer"]["packets"]
    for rule, simulated in rules.items():
        mean = simulated["values"]["utilization"]
        assert {"met": mean >= 0.97, "missed": mean < 0.97, "not proven": True}[simulated["targets"]], rule
        assert simulated["targets"] != "met" or simulated["packets"] > packets / 1.2
    assert "missed" in {each["targets"] for each in rules.values()}
    assert "met" in {each["targets"] for each in rules.values()}


def test_a_delay_alone_asks_for_the_largest_buffer(bufferlab: Command) -> None:
    found = document(bufferlab, *QUICK, "--max-delay", "10 ms")
    assert found["asked"]["for"] == "largest"
    (check,) = found["checks"]
    assert check["mean"] <= 10.0 and check["confidence"] >= 0.95
    assert found["beyond"] > found["buffer"]["packets"]
    ended = bufferlab(*QUICK, "--max-delay", "10 ms")
    assert "the largest buffer that meets the target" in ended.out
    assert "\nwhy not larger " in ended.out


def test_what_no_buffer_meets_says_the_conflict_and_the_closest(bufferlab: Command) -> None:
    ended = bufferlab(*QUICK, "--utilization", "97 %", "--max-delay", "1 ms")
    assert ended.status == 2
    line = ended.out.splitlines()[1]
    assert line.startswith("No buffer from 1 to ") and "The closest buffer, " in line
    assert "meets utilization at least 97 %, but still has mean wait " in line
    assert "Take " not in ended.out
    assert ended.line().startswith("bufferlab: small.toml: No buffer from 1 to")


def test_bounds_limit_the_search(bufferlab: Command) -> None:
    found = document(bufferlab, *QUICK, "--utilization", "0.8", "--bounds", "30..60")
    assert found["asked"]["bounds"] == [30, 60]
    assert found["buffer"]["packets"] == 30 and found["beyond"] is None


def test_the_scenario_s_own_queue_is_sized(bufferlab: Command) -> None:
    found = document(bufferlab, *QUICK, "--utilization", "0.9", "--set", "bottleneck.queue=fq_codel")
    assert found["queue"] == "fq_codel"


def test_targets_of_groups(bufferlab: Command) -> None:
    found = document(bufferlab, *QUICK, "--target", "near.goodput >= 1 Mbps", "--target", "wait_p95 < 60 ms")
    assert [each["metric"] for each in found["checks"]] == ["near.goodput_bps", "wait_p95_ms"]


def test_runs_without_chance_are_reported(bufferlab: Command) -> None:
    ended = bufferlab(*QUICK, "--set", "flows.near.start=0 s", "--set", "flows.near.count=1")
    assert "runs are identical, as nothing in the scenario is random" in ended.out
    assert "±" not in ended.out


def test_files_hold_what_was_tried(bufferlab: Command, tmp_path: Path) -> None:
    ended = bufferlab(*SMALL, "--resolution", "0.5", "--plot", "size.png", "--out", "found", "--json")
    assert ended.status == 0
    tried = pl.read_csv(tmp_path / "found/small-tried.csv")
    assert tried.columns[:4] == ["buffer_packets", "runs", "utilization", "utilization_ci95"]
    assert json.loads(ended.out)["runs"] == tried["runs"].sum()
    assert "stanford" in pl.read_csv(tmp_path / "found/small-rules.csv")["rule"].to_list()
    for name in ("size.png", "size.svg", "found/small.png"):
        assert (tmp_path / name).stat().st_size > 1000


def test_the_answer_is_the_same_however_many_threads(bufferlab: Command) -> None:
    one, three = (document(bufferlab, *QUICK, "--fresh", "--threads", threads) for threads in "13")
    assert one == three


def test_runs_that_are_too_short_are_reported(bufferlab: Command) -> None:
    ended = bufferlab(*QUICK)
    assert "beware           the warm-up of 1 s is shorter than a timeout and 20 round trips" in ended.out


def test_without_a_rule_runs_decide_alone(bufferlab: Command) -> None:
    ended = bufferlab(*QUICK, "--set", "flows.near.congestion=westwood", "--utilization", "0.9")
    assert ended.status == 0
    assert "no published rule applies: " in ended.out and "'westwood' has no model" in ended.out


def test_a_mix_without_a_file(bufferlab: Command) -> None:
    link = ("size", "--rate", "10Mbps", "--rtt", "30ms", "--resolution", "0.5", "--no-rules")
    short = ("--set", "run.duration=12 s", "--set", "run.warmup=6 s")
    found = document(bufferlab, *link, "--flows", "reno:2,bic:2", *short)
    assert found["confirmed"]


@pytest.mark.parametrize("known", [False, True])
def test_ctrl_c_leaves_the_best_answer_so_far(
    bufferlab: Command, monkeypatch: pytest.MonkeyPatch, *, known: bool
) -> None:
    """It comes with the first runs, or with those of the rules."""
    every = Runner.runs

    def interrupted(self: Runner, experiment: Any) -> Iterator[Any]:
        if not known or max(case.size for case in experiment.points) > 60:
            raise RunInterrupted([], 0, 30)
        return every(self, experiment)

    monkeypatch.setattr(Runner, "runs", interrupted)
    ended = bufferlab(*SMALL, "--utilization", "0.5", "--bounds", "20..60", "--set", "flows.far.rtt=200 ms")
    assert ended.status == 130
    cost = re.search(r"cost +(\d+) runs", ended.out)
    made = int(cost[1]) if cost is not None else 0
    assert (made > 0) == known
    assert ended.line() == f"bufferlab: interrupted: {made} of {made + 30} simulations finished"
    assert ("Take 20 packets" in ended.out) == known
    assert ("the search was interrupted" in ended.out) == known


def test_ctrl_c_within_a_round_counts_all_runs_once(
    bufferlab: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of rounds before, those of this one, and one that had finished when the signal came."""
    every, rounds = Runner.runs, iter(range(100))

    def interrupted(self: Runner, experiment: Any) -> Iterator[Any]:
        found = list(every(self, experiment))
        if next(rounds) == 0:
            yield from found
            return
        yield found[0]
        raise RunInterrupted(found[:2], 2, len(found))

    monkeypatch.setattr(Runner, "runs", interrupted)
    ended = bufferlab(*SMALL, "--utilization", "90%", "--no-rules")
    said = re.search(r"interrupted: (\d+) of (\d+) simulations finished", ended.err)
    counted = re.search(r"No answer yet: interrupted after (\d+) simulations", ended.out)
    assert said is not None and counted is not None
    assert said[1] == counted[1] and 3 < int(said[1]) <= int(said[2])


# What the rules say


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
    assert "--flows 'cubic-linux(hystart):500'" in controls and "BBR (version 1) hardly yields" in controls
    without = document(bufferlab, *RULES, "--flows", "cubic-linux(hystart):500")
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


def test_rules_say_what_they_take_a_mix_for(bufferlab: Command) -> None:
    line = " ".join(bufferlab(*RULES, "--flows", "10").out.split())
    assert "bdp, bscl, stanford-erf, tiny: all as Reno" in line
    assert "single-flow: all as the one with the largest window reduction" in line
    assert "What they take" not in bufferlab(*RULES, "--flows", "reno:10").out


def test_shares_become_flows(bufferlab: Command) -> None:
    ended = bufferlab(*RULES, "--flows", "10", "--mix", "reno:33.3%,bic:33.3%,ctcp:33.4%", "--json")
    mix = json.loads(ended.out)["mix"]
    assert [(each["protocol"], each["flows"]) for each in mix] == [("reno", 3), ("bic", 3), ("ctcp", 4)]


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
        (
            ("--flows", "200", "--utilization", "nan"),
            "--utilization: 'nan' is not a valid bound; accepted: a",
        ),
        (
            ("--flows", "200", "--utilization", "99"),
            "--utilization: '99' is not a valid bound; accepted: a sha",
        ),
        (
            ("--flows", "200", "--max-loss", "1"),
            "--max-loss: '1' has no unit, and is no share below 1; accepted: '1 %' or 0.01",
        ),
        (
            ("--flows", "200", "--max-loss", "150 %"),
            "--max-loss: '150 %' is not a valid bound; accepted: a sha",
        ),
        (("--flows", "200", "--max-loss", "0"), "--max-loss: 0.0 is out of bounds"),
        (("--flows", "200", "--max-delay", "20"), "--max-delay: '20' has no unit"),
        (("--flows", "200", "--max-loss", "2"), "--max-loss: '2' has no unit, and is no share"),
        (("--flows", "200", "--rtt", "40"), "--rtt: '40' has no unit"),
        (("--flows", "200", "--rate", "40"), "--rate: '40' has no unit"),
        (("--flows", "200", "--rtt", "0 s"), "--rtt: 0 leaves flows without a round-trip time"),
        (("--flows", "200", "--rtt", "0.4 ps"), "--rtt: 0 leaves flows without a round-trip time"),
        (("--flows", "200", "--spread", "2"), "--spread: 2.0 is out of bounds"),
        (("--flows", "200", "--segment", "10"), "--segment: '10' has no unit"),
        (("--flows", "200", "--max-delay", "0 ms"), "--max-delay: '0 ms' is too small"),
        (("--flows", "200", "--loss-confidence", "1"), "--loss-confidence: 1.0 is out of bounds"),
        (
            ("--flows", "200", "--target", "call.r > 80"),
            "--target: is checked by runs, and --theory makes none",
        ),
        (("--flows", "200", "--plot", "a.png"), "--plot: draws what runs measured; accepted: no --theory"),
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
    ended = bufferlab(*RULES, *options)
    assert ended.status == 2 and ended.out == ""
    assert said in ended.line()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--target", "utilisation > 9"), "target: 'utilisation > 9' names no metric (did you mean 'utiliz"),
        (("--target", "calls.r > 80"), "target: 'calls.r > 80' names no flow group; accepted: near, far"),
        (("--target", "loss ~ 1 %"), "target: 'loss ~ 1 %' is not a target; accepted: a metric, a relation"),
        (("--bounds", "90..10"), "bounds: '90..10' is no range: 90 packets up to 10 packets; accepted: two"),
        (("--bounds", "5"), "bounds: '5' is not a range of buffers"),
        (("--bounds", "1..x"), "bounds: 'x' is not a number with a unit"),
        (("--bounds", "1..unlimited"), "bounds: 'unlimited' has no end"),
        (("--confidence", "1"), "confidence: 1.0 is out of bounds; accepted: from 0.5 to below 1"),
        (("--resolution", "0"), "resolution: 0.0 is out of bounds"),
        (("--runs", "5"), "runs: 5 is out of bounds; accepted: 20 or more"),
        (("--link", "east"), "link: 'east' is not a link of the scenario; accepted: bottleneck"),
        (("--threads", "0"), "threads: 0 is too small"),
        (("--rate", "1 Mbps"), "--rate: does not go with a scenario file"),
        (("--calls", "3"), "--calls: does not go with a scenario file"),
        (("--segment", "900 B"), "--segment: does not go with a scenario file"),
    ],
)
def test_a_question_that_cannot_be_asked(bufferlab: Command, options: tuple[str, ...], said: str) -> None:
    ended = bufferlab("size", "small.toml", *options)
    assert ended.status == 2 and ended.out == ""
    assert ended.line().startswith(f"bufferlab: {said}")


# What to type, and what else the answer says


def test_what_to_type_for_the_answer_is_in_text_and_json(bufferlab: Command) -> None:
    asked = (*QUICK, "--utilization", "90%", "--platform", "junos", "--device", "xe-0/0/1")
    ended = bufferlab(*asked)
    assert ended.status == 0, ended.err
    assert ended.out.index("Take ") < ended.out.index("To type on junos") < ended.out.index("link bottleneck")
    assert "set interfaces xe-0/0/1 " in ended.out or "interfaces xe-0/0/1 " in ended.out
    made = document(bufferlab, *asked)["configuration"]
    assert (made["platform"], made["unit"]) == ("junos", "us")
    assert made["lines"][0] in ended.out
    assert document(bufferlab, *QUICK, "--utilization", "90%")["configuration"] is None


def test_a_platform_that_cannot_be_used_is_refused_before_any_run(bufferlab: Command) -> None:
    ended = bufferlab(*QUICK, "--platform", "ios")
    assert (ended.status, ended.out) == (2, "")
    assert "--platform: 'ios' is not a known platform" in ended.err
    ended = bufferlab(*QUICK, "--device", "eth1")
    assert (ended.status, ended.out) == (2, "")
    assert "--device: is for the lines to type; accepted: --platform" in ended.err
    ended = bufferlab(*RULES, "--flows", "200", "--platform", "linux")
    assert (ended.status, ended.out) == (2, "")
    assert "--platform: is for the answer of runs; accepted: no --theory" in ended.err


def test_a_heavy_loss_that_nobody_bounded_is_said_after_the_answer(bufferlab: Command) -> None:
    fast = (*QUICK, "--set", "flows[0].count=12", "--bounds", "1..4")
    ended = bufferlab(*fast, "--utilization", "50%")
    said = " ".join(ended.out.split())
    assert re.search(r"But \d+ % of the packets are lost, and each of the \d buffers tried, up to", said)
    bounded = bufferlab(*fast, "--utilization", "50%", "--max-loss", "50%")
    assert "of the packets are lost" not in bounded.out


def test_defaults_are_those_of_the_search_and_the_rules() -> None:
    """They are written in the command's own module, as their modules are slow to import for a help."""
    defaults = {name: each.default for name, each in signature(size).parameters.items()}
    assert defaults["confidence"] == Goal.confidence
    assert defaults["resolution"] == Goal.resolution
    assert defaults["runs"] == Goal.runs
    assert (defaults["loss_confidence"], defaults["z"]) == (DEFAULT_CONFIDENCE, CONVENTIONS[0])
    assert defaults["characteristics"] == CHARACTERISTICS[0]
