"""`--scenario FILE` of `advise` and `size`: the numbers as a file that gives the same answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Command

NUMBERS = ("--rate", "2 Mbps", "--rtt", "20 ms", "--flows", "reno:2", "--set", "run.duration=10 s")
BRIEF = ("--quick", "--queues", "fifo", "--json")


def test_the_file_gives_the_answer_of_the_numbers(bufferlab: Command) -> None:
    asked = bufferlab("advise", *NUMBERS, *BRIEF, "--scenario", "link.toml")
    assert asked.status == 0, asked.err
    assert "wrote link.toml: bufferlab run link.toml runs it" in asked.err
    text = Path("link.toml").read_text("utf-8")
    assert text.startswith("# answer: Only if its wait is accepted: fifo with a buffer of ")
    assert "\n# assumed: round-trip times lie evenly over" in text
    again = bufferlab("advise", "link.toml", *BRIEF)
    numbers, file = json.loads(asked.out), json.loads(again.out)
    assert file["buffer"] == numbers["buffer"] and file["checks"] == numbers["checks"]
    assert [file["resolved"][part] for part in ("run", "flows")] == [
        numbers["resolved"][part] for part in ("run", "flows")
    ]
    (link,) = file["resolved"]["links"]
    assert link["buffer"]["amount"] == numbers["buffer"]["packets"]  # the answer is in place


def test_numbers_that_are_refused_leave_no_file(bufferlab: Command) -> None:
    assert bufferlab("advise", "--home", "0/1Mbps", "--scenario", "home.toml").status == 2
    assert not Path("home.toml").exists()


def test_size_writes_it_for_its_rules_too(bufferlab: Command) -> None:
    ended = bufferlab("size", *NUMBERS, "--theory", "--scenario", "rules.toml")
    assert ended.status == 0, ended.err
    assert 'rate = "2 Mbps"' in Path("rules.toml").read_text("utf-8")


@pytest.mark.parametrize("verb", ["advise", "size"])
def test_no_file_is_replaced(bufferlab: Command, verb: str) -> None:
    Path("mine.toml").write_text("# mine\n", "utf-8")
    ended = bufferlab(verb, *NUMBERS, "--scenario", "mine.toml")
    assert ended.status == 2 and "--scenario: 'mine.toml' is there already" in ended.err
    assert Path("mine.toml").read_text("utf-8") == "# mine\n"
    ended = bufferlab(verb, *NUMBERS, "--scenario", "nowhere/link.toml")
    assert ended.status != 0 and "nowhere/link.toml: cannot be written (no such folder)" in ended.err
    assert not Path("nowhere").exists()


def test_the_answer_of_a_file_is_in_a_copy_of_it(bufferlab: Command) -> None:
    asked = bufferlab("advise", "small.toml", "--utilization", "0.9", *BRIEF, "--scenario", "copy.toml")
    assert asked.status == 0, asked.err
    text = Path("copy.toml").read_text("utf-8")
    assert text.startswith("# answer: Run fifo with a buffer of ") and "assumed: " not in text
    size = json.loads(asked.out)["buffer"]["packets"]
    assert (
        f'buffer = "{size} packets"' in text
        and f'buffer = "{size} packets"' not in Path("small.toml").read_text()
    )
    assert bufferlab("run", "copy.toml").status == 0
    Path("there").mkdir()
    varies = str(Path(__file__).parents[2] / "examples" / "cellular.toml")
    set_short = ("--set", "run.duration=12 s", "--set", "run.warmup=4 s")
    asked = bufferlab("advise", varies, *BRIEF, *set_short, "--scenario", "there/copy.toml")
    assert asked.status == 0, asked.err
    assert 'rate = "mahimahi(copy-files/cellular.down)"' in Path("there/copy.toml").read_text("utf-8")
    assert bufferlab("run", "there/copy.toml").status == 0
    ended = bufferlab("size", "small.toml", "--scenario", "other.toml")
    assert ended.status == 2 and "--scenario: 'other.toml' writes what --rate or" in ended.err


def test_a_file_without_an_answer_in_place_says_why(bufferlab: Command) -> None:
    asked = bufferlab(
        "advise", *NUMBERS, *BRIEF, "--max-delay", "1 us", "--scenario", "link.toml", "--utilization=1"
    )
    assert asked.status == 2
    assert (
        "bufferlab: link.toml stays as it was asked about, without an answer in place: no setting meets what "
        "is asked\n"
    ) in asked.err
    text = Path("link.toml").read_text("utf-8")
    assert "# answer" not in text and 'buffer = "1 bdp"' in text


def test_of_several_links_those_without_an_answer_are_named(bufferlab: Command) -> None:
    args = ("--home", "5/1Mbps", "--quick", "--set", "run.duration=8 s", "--target", "wait_mean <= 1 us")
    asked = bufferlab(
        "advise", *args, "--queues", "fifo", "--utilization", "99.9 %", "--scenario", "home.toml"
    )
    assert asked.status == 2
    assert "without an answer in place: no setting meets what is asked at download and upload\n" in asked.err


@pytest.mark.parametrize("verb", ["advise", "size"])
def test_the_figure_has_another_file(bufferlab: Command, verb: str) -> None:
    ended = bufferlab(verb, *NUMBERS, "--scenario", "link.svg", "--plot", "link.png")
    assert ended.status == 2
    assert ended.line() == "bufferlab: --scenario: 'link.svg' is the figure's file, too; accepted: another"
    assert not Path("link.svg").exists()


def test_what_is_refused_leaves_no_file_in_the_way_of_the_next_try(bufferlab: Command) -> None:
    asked = (*NUMBERS, *BRIEF, "--scenario", "link.toml")
    assert bufferlab("advise", *asked, "--queues", "fofi").status == 2
    assert not Path("link.toml").exists()
    assert bufferlab("advise", *asked).status == 0
