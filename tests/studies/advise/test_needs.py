"""What is asked for: by options, else by the scenario, else by default."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bufferlab import _scenario_types as types
from bufferlab.errors import InputError
from bufferlab.experiment.simulation import prepare
from bufferlab.scenario import Scenario
from bufferlab.studies.advise.needs import Needs
from bufferlab.studies.choosing.objectives import EMPHASIS, KINDS, Aspect
from bufferlab.studies.targets import Target, make_target

from ...small import dumbbell

DEFAULT = [make_target("utilization", 0.99)]
RATE = Aspect("throughput", "goodput", "bulk.goodput_bps", "more")
WAIT = Aspect("latency", "round trip", "wait_mean_ms", "less", 20.0)
LOST = Aspect("calls", "loss", "call.loss", "rest")
ASPECTS = (RATE, WAIT, LOST)
SCHEMA = Path(__file__).parents[3] / "docs" / "scenario.schema.json"


def stated(**advise: Any) -> Scenario:
    return prepare(Scenario.from_toml(dumbbell()), {"advise": advise})


def of_file(tmp_path: Path, lines: str) -> Scenario:
    path = tmp_path / "small.toml"
    path.write_text(f"{lines}\n{dumbbell()}")
    return Scenario.load(path)


def bounds(targets: tuple[Target, ...]) -> dict[str, float]:
    return {each.name: each.bound for each in targets}


def test_the_words_of_weights_are_those_of_for_and_of_aspects() -> None:
    keys = json.loads(SCHEMA.read_text())["$defs"]
    assert tuple(keys["Advise"]["properties"]["for"]["enum"]) == KINDS
    assert sorted(keys["Weights"]["properties"]) == sorted(KINDS)
    assert set(types.WeightsDict.__annotations__) == set(KINDS)
    assert set(types.AdviseDict.__annotations__) == {"for", "weights", "targets"}


def test_targets_of_the_scenario_hold_where_none_is_asked_for() -> None:
    base = stated(targets=["utilization >= 98 %", "wait_p99 < 20 ms"])
    found = Needs.of(base, (), None, DEFAULT)
    assert bounds(found.targets) == {"utilization": 0.98, "wait_p99_ms": 20.0}
    assert (found.targets_from, found.weights_from) == ("scenario", "default")
    asked = Needs.of(base, ["loss <= 1 %"], None, DEFAULT)
    assert (bounds(asked.targets), asked.targets_from) == ({"loss": 0.01}, "asked")
    none = Needs.of(stated(), (), None, DEFAULT)
    assert (list(none.targets), none.targets_from) == (DEFAULT, "default")


def test_what_is_asked_twice_is_one_target() -> None:
    base = stated(targets=["loss <= 2 %", "loss <= 1 %", "loss <= 2 %"])
    assert len(Needs.of(base, (), None, ()).targets) == 2
    assert len(Needs.of(base, ["loss <= 1 %", "loss <= 1 %"], None, ()).targets) == 1


def test_weights_of_the_scenario_hold_where_none_is_asked_for() -> None:
    weights = stated(weights={"calls": 3, "throughput": 0})
    found = Needs.of(weights, (), None, DEFAULT)
    assert found.weights(ASPECTS, weights) == {"throughput": 0.0, "latency": 1.0, "calls": 3.0}
    word = stated(**{"for": "latency"})
    assert Needs.of(word, (), None, DEFAULT).weights(ASPECTS, word)["latency"] == EMPHASIS
    asked = Needs.of(word, (), "calls", DEFAULT)
    assert asked.weights(ASPECTS, word) == {"throughput": 1.0, "latency": 1.0, "calls": EMPHASIS}
    assert (found.weights_from, asked.weights_from) == ("scenario", "asked")


@pytest.mark.parametrize(
    ("lines", "place", "message"),
    [
        (
            "[advise]\ntargets = ['loss < 1 %',\n  'utilisation >= 98 %']",
            "3:3: advise.targets[1]",
            "names no metric (did you mean 'utilization'?)",
        ),
        ("[advise]\nfor = 'pages'", "2:7: advise.for", "is nothing that this scenario can tell"),
        (
            "[advise]\nweights = { pages = 2 }",
            "2:21: advise.weights.pages",
            "accepted: throughput, fairness, latency",
        ),
        (
            "[advise.weights]\nthroughput = 0\nlatency = 0\ncalls = 0",
            "advise.weights",
            "leaves nothing to compare queues by; accepted: a weight above 0 for one of",
        ),
    ],
)
def test_mistakes_of_the_file_have_their_place(tmp_path: Path, lines: str, place: str, message: str) -> None:
    base = of_file(tmp_path, lines)
    with pytest.raises(InputError) as error:
        Needs.of(base, (), None, DEFAULT).weights(ASPECTS, base)
    text = str(error.value)
    assert text.startswith(f"{tmp_path / 'small.toml'}:") and place in text and message in text


def test_what_users_need_changes_no_run() -> None:
    base = Scenario.from_toml(dumbbell())
    assert stated(**{"for": "throughput"}).seeded().plan_json() == base.seeded().plan_json()
