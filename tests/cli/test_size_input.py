"""What `bufferlab size` takes, and what it refuses."""

from __future__ import annotations

from inspect import signature

import pytest

from bufferlab import Scenario, run
from bufferlab.cli.size import size
from bufferlab.cli.size_input import read_groups
from bufferlab.studies.internet import SHARES
from bufferlab.studies.least import Goal
from bufferlab.theory.normal import CONVENTIONS
from bufferlab.theory.targets import CHARACTERISTICS, DEFAULT_CONFIDENCE

from .conftest import Command
from .sizes import QUICK, RULES


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--flows", "reno:0"), "--flows: 'reno:0' is a group without flows"),
        (("--flows", "0"), "--flows: '0' is a group without flows"),
        (
            ("--flows", "999999999"),
            "bufferlab: --flows: is too large; accepted: flows (of all groups together): a whole number",
        ),
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
            "--measured: 'reno' is the protocol of no flow; accepted: bic",
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
            "--utilization: 'nan' is not a share; accepted: a share of 0 to 100 %, such as '99 %' or 0.99",
        ),
        (
            ("--flows", "200", "--utilization", "99"),
            "--utilization: '99' has no unit, and is more than 1, which is all (did you mean '99 %'?); "
            "accepted: a share of 0 to 100 %",
        ),
        (
            ("--flows", "200", "--utilization", "150"),
            "--utilization: '150' has no unit, and is more than 1, which is all; accepted: a share of 0 to",
        ),
        (("--flows", "200", "--utilization=-1"), "--utilization: '-1' is negative; accepted: a share of"),
        (("--flows", "200", "--max-delay=-1 ms"), "--max-delay: '-1 ms' is negative; accepted: a time of"),
        (
            ("--flows", "200", "--max-loss", "1"),
            "--max-loss: '1' has no unit (did you mean '1 %'?); accepted: a share of 0 to 100 %, such as",
        ),
        (
            ("--flows", "200", "--max-loss", "150 %"),
            "--max-loss: '150 %' is more than all; accepted: a share of 0 to 100 %, such as '1 %' or 0.01",
        ),
        (("--flows", "200", "--max-loss", "0"), "--max-loss: 0.0 is out of bounds"),
        (("--flows", "200", "--max-delay", "20"), "--max-delay: '20' has no unit"),
        (("--flows", "200", "--max-loss", "2"), "1, which is all (did you mean '2 %'?); accepted: a share"),
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
        (
            ("--target", "utilisation > 9"),
            "--target: 'utilisation > 9' names no metric (did you mean 'utiliz",
        ),
        (("--target", "calls.r > 80"), "--target: 'calls.r > 80' names no flow group; accepted: near, far"),
        (
            ("--target", "loss ~ 1 %"),
            "--target: 'loss ~ 1 %' is not a target; accepted: a metric, a relation",
        ),
        (
            ("--bounds", "90..10"),
            "--bounds: '90..10' is no range: 90 packets up to 10 packets; accepted: two",
        ),
        (
            ("--bounds", "1..1"),
            "--bounds: '1..1' is no range: 1 packet up to 1 packet; accepted: two buffers",
        ),
        (("--bounds", "5"), "--bounds: '5' is not a range of buffers"),
        (("--bounds", "1..x"), "--bounds: 'x' is not a number with a unit"),
        (("--bounds", "1..unlimited"), "--bounds: 'unlimited' has no end"),
        (("--confidence", "1"), "--confidence: 1.0 is out of bounds; accepted: from 0.5 to below 1"),
        (("--resolution", "0"), "--resolution: 0.0 is out of bounds"),
        (("--runs", "5"), "--runs: 5 is out of bounds; accepted: 20 or more"),
        (("--link", "east"), "--link: 'east' is not a link of the scenario; accepted: bottleneck"),
        (("--threads", "0"), "--threads: 0 is too small"),
        (("--rate", "1 Mbps"), "--rate: does not go with a scenario file"),
        (("--calls", "3"), "--calls: does not go with a scenario file"),
        (("--segment", "900 B"), "--segment: does not go with a scenario file"),
    ],
)
def test_a_question_that_cannot_be_asked(bufferlab: Command, options: tuple[str, ...], said: str) -> None:
    ended = bufferlab("size", "small.toml", *options)
    assert ended.status == 2 and ended.out == ""
    assert ended.line().startswith(f"bufferlab: {said}")


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


def test_defaults_are_those_of_the_search_and_the_rules() -> None:
    """They are written in the command's own module, as their modules are slow to import for a help."""
    defaults = {name: each.default for name, each in signature(size).parameters.items()}
    assert defaults["confidence"] == Goal.confidence
    assert defaults["resolution"] == Goal.resolution
    assert defaults["runs"] == Goal.runs
    assert (defaults["loss_confidence"], defaults["z"]) == (DEFAULT_CONFIDENCE, CONVENTIONS[0])
    assert defaults["characteristics"] == CHARACTERISTICS[0]


def test_cubic_is_as_the_stack_has_it() -> None:
    """One that Linux hosts run, unless the stack is the standards'."""
    own = SHARES[0][1]
    assert read_groups("cubic:3,reno:2", None, "linux") == [(own, 3), ("reno", 2)]
    assert read_groups("cubic:3", None, "rfc") == [("cubic", 3)]
    assert read_groups("10", "cubic:60%,bbr:40%", "linux") == [(own, 6), ("bbr", 4)]


@pytest.mark.parametrize("segment", ["1 B", "60 KB"])
def test_the_least_and_the_largest_segment_are_simulated(segment: str) -> None:
    flow = {"name": "long", "count": 2, "rtt": "20 ms", "segment": segment}
    made = Scenario.from_dict(
        {
            "run": {"duration": "2 s", "warmup": "500 ms", "stack": "linux"},
            "bottleneck": {"rate": "20 Mbps", "buffer": "1 bdp"},
            "flows": [flow],
        }
    )
    assert run(made).summary()["queues"][0]["utilization"] > 0.1


def test_too_many_segments_name_their_option(bufferlab: Command) -> None:
    ended = bufferlab("size", "--rate", "8 Tbps", "--rtt", "20 ms", "--flows", "2", "--segment", "1 B")
    assert ended.line().startswith(
        "bufferlab: --segment: 1 is not accepted; accepted: a run of at most 2147483648"
    )
