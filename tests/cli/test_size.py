"""`bufferlab size`: the buffer that runs confirm, and what they say of the rules."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from bufferlab.experiment.interruption import RunInterrupted
from bufferlab.experiment.runner import Runner

from .conftest import Command
from .sizes import QUICK, SMALL, document


def test_the_answer_comes_first_and_says_how_sure_it_is(bufferlab: Command) -> None:
    ended = bufferlab(*SMALL, "--utilization", "90%", "--max-loss", "5 %")
    assert (ended.status, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[1].startswith("Take ") and "the smallest buffer that meets all targets" in lines[1]
    assert "utilization at least 90 %; loss at most 5 %; 95 % sure" in ended.out
    assert "\nhow sure " in ended.out
    assert "\nwhy not smaller " in ended.out
    unfolded = re.sub(r"\n +", " ", ended.out)
    assert re.search(r"; means of \d+ runs with seeds 1001 (and|to) 10\d\d\n", unfolded)
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
    assert json.loads((tmp_path / "found/small.json").read_text()) == json.loads(ended.out)
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

    def interrupted(self: Runner, experiment: Any, *rest: Any) -> Iterator[Any]:
        if not known or max(case.size for case in experiment.points) > 60:
            raise RunInterrupted([], 0, 30)
        return every(self, experiment, *rest)

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

    def interrupted(self: Runner, experiment: Any, *rest: Any) -> Iterator[Any]:
        found = list(every(self, experiment, *rest))
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


# What to type, and what else the answer says


def test_what_to_type_for_the_answer_is_in_text_and_json(bufferlab: Command) -> None:
    asked = (*QUICK, "--utilization", "90%", "--platform", "junos", "--device", "xe-0/0/1")
    ended = bufferlab(*asked)
    assert ended.status == 0, ended.err
    assert ended.out.index("Take ") < ended.out.index("To type on junos") < ended.out.index("link bottleneck")
    said = " ".join(ended.out.split())
    assert said.index("'show interfaces queue xe-0/0/1'") < said.index("undo 'rollback 1'; 'commit'.")
    assert "set interfaces xe-0/0/1 " in ended.out or "interfaces xe-0/0/1 " in ended.out
    made = document(bufferlab, *asked)["configuration"]
    assert (made["platform"], made["unit"]) == ("junos", "us")
    assert made["lines"][0] in ended.out
    assert document(bufferlab, *QUICK, "--utilization", "90%")["configuration"] is None


def test_a_heavy_loss_that_nobody_bounded_is_said_after_the_answer(bufferlab: Command) -> None:
    fast = (*QUICK, "--set", "flows[0].count=12", "--bounds", "1..4")
    ended = bufferlab(*fast, "--utilization", "50%")
    said = " ".join(ended.out.split())
    assert re.search(r"But \d+ % of the packets are lost, and each of the \d buffers tried, up to", said)
    assert "By the target alone, " in said and "bufferlab advise weighs larger buffers" in said
    bounded = bufferlab(*fast, "--utilization", "50%", "--max-loss", "50%")
    assert "of the packets are lost" not in bounded.out


def test_a_wait_above_the_round_trip_that_nobody_bounded_is_said_after_the_answer(bufferlab: Command) -> None:
    numbers = ("--rate", "2 Mbps", "--rtt", "20 ms", "--flows", "reno:2", "--set", "run.duration=10 s")
    asked = ("size", *numbers, "--bounds", "40..45", "--no-rules", "--utilization", "90%")
    said = " ".join(bufferlab(*asked).out.split())
    assert re.search(r"But packets wait \d+ ms in the mean, longer than the RTT of 20 ms; --max-delay", said)
    assert "longer than the RTT" not in bufferlab(*asked, "--max-delay", "900 ms").out
