"""The answer and what runs today are run with a mix's most frequent control alone, too."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest

from bufferlab.experiment.simulation import prepare, simulate
from bufferlab.render.advise.mixes import enough
from bufferlab.scenario import Scenario
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.advising import advise
from bufferlab.studies.advise.course import Watch
from bufferlab.studies.advise.rough import Rough
from bufferlab.studies.advise.sensitivity import Sensitivity, Variant
from bufferlab.studies.advise.unmixed import SEEDS, unmixed
from bufferlab.studies.least.candidates import CHECK_SEEDS
from bufferlab.studies.targets import parse_targets, values_of_run

from ...advised import FIFO, advised, left_beside_today, runs
from ...small import dumbbell

MIX = f'{dumbbell()}congestion = "bbr"\n'


def asked(text: str, *, quick: bool = True, watch: Watch | None = None) -> Advice:
    return advise(
        Scenario.from_toml(text),
        ["utilization >= 80 %"],
        queues="fifo",
        bounds="1..40",
        quick=quick,
        today="fifo:3 packets",
        threads=1,
        progress=False,
        watch=watch,
    )


def test_one_control_alone_has_the_seeds_of_the_comparison_for_the_answer_and_for_today() -> None:
    advice = asked(MIX)
    found = advice.unmixed
    assert found is not None and found.today is not None
    assert found.title == "reno alone" and found.changed == {"far"} and found.least is None
    for size, measured in ((advice.answer.packets, found.values), (3, found.today.values)):
        changes = {"bottleneck.buffer": f"{size} packets", "flows[1].congestion": "reno"}
        alone = prepare(Scenario.from_toml(MIX), changes)
        runs = [simulate(alone, seed) for seed in range(1 + CHECK_SEEDS, 1 + CHECK_SEEDS + SEEDS)]
        expected = [values_of_run("bottleneck", run)["utilization"] for run in runs if run is not None]
        assert [each["utilization"] for each in measured] == expected and len(expected) == SEEDS
    document = json.loads(json.dumps(advice.to_dict()))["unmixed"]
    assert document["utilization"] == found.mean("utilization").mean
    assert document["today"]["loss"] == found.today.mean("loss").mean and document["least"] is None


def test_the_least_buffer_of_one_control_alone_is_that_of_its_change() -> None:
    advice = asked(MIX, quick=False)
    found, (alone, *_) = advice.unmixed, advice.sensitivity
    assert found is not None and alone.is_alone and alone.least is not None
    assert alone.least.size != advice.answer.packets
    assert found.least is not None and found.least.size == alone.least.size
    assert found.mean("utilization").mean == alone.values["utilization"] or alone.runs > SEEDS


@pytest.mark.parametrize(
    ("lost", "size"),
    [
        (0.009, 5),
        (0.039, 20),  # it named 5 packets, which lose 3.9 %
        (0.09, None),  # 40 packets are the answer's
    ],
)
def test_a_smaller_buffer_for_one_control_loses_little_or_no_more_than_the_answer(
    lost: float, size: int | None
) -> None:
    advice = advised({"fifo": (40, runs({**FIFO, "loss": lost * 5 / 40}))})
    base = Scenario.from_toml(dumbbell())
    change = Variant("cubic alone", "cubic alone", base, is_alone=True)
    suffices = Sensitivity("cubic alone", "cubic alone", FIFO, (), Rough(5, (5, 10)), is_alone=True)

    def found(*targets: str) -> int | None:
        there = unmixed(
            base,
            change,
            advice.answer,
            suffices,
            targets=parse_targets(targets, []),
            judged=(advice.aspects, advice.weights),
            measure=lambda case: tuple(runs({**FIFO, "loss": lost * 5 / case.size})),
            today=None,
            newer=(),
            rule=None,
        )
        shown = dataclasses.replace(advice, sensitivity=(suffices,), unmixed=there)
        least = None if there.least is None else there.least.size
        assert enough(shown)[0] == least
        return least

    assert found("utilization >= 99 %") == size
    assert found("utilization >= 99 %", "loss <= 10 %") == 5  # who bounds the loss has said how much


def test_what_a_mix_decides_is_known_before_other_changes_are_tried() -> None:
    known = []
    asked(MIX, quick=False, watch=lambda best, note: known.append((note, best and best.unmixed is not None)))
    turns = [(note, is_known) for note, is_known in known if note.startswith("trying ")]
    (first, before), (_, after), *_ = [each for each in turns if ";" not in each[0]]
    assert "reno alone (1 of" in first and not before and after


def test_how_far_its_runs_are_is_shown_as_theirs() -> None:
    notes: list[str] = []
    asked(MIX, watch=lambda _advice, note: notes.append(note))
    begun, ahead = "", set()
    for each in filter(None, notes):
        begun = begun if "; this round: " in each else each
        assert each.startswith(begun)
        ahead |= {begun} if each != begun else set()
    assert "running what is beside the answer with reno alone" in ahead


def test_what_today_s_queue_loses_with_the_newer_version_is_measured() -> None:
    advice = asked(MIX, quick=False)
    assert advice.unmixed is not None and len(advice.unmixed.newer) == SEEDS
    changes = {"bottleneck.buffer": "3 packets", "flows[1].congestion": "bbr3"}
    run = simulate(prepare(Scenario.from_toml(MIX), changes), 1 + CHECK_SEEDS)
    assert run is not None
    assert advice.unmixed.newer[0]["loss"] == values_of_run("bottleneck", run)["loss"]
    least = next(each.least for each in advice.sensitivity if each.is_newer)
    assert len(advice.unmixed.newer_least) == (SEEDS if least is not None and least.size is not None else 0)


def test_without_a_mix_nothing_is_alone() -> None:
    assert asked(dumbbell()).unmixed is None


def test_what_runs_today_is_run_without_the_mix_before_what_ifs(tmp_path: Path) -> None:
    """An interrupted answer can say then what drop counters tell."""
    path = tmp_path / "mix.toml"
    path.write_text(MIX)

    left = left_beside_today(path, queues="fifo")
    assert left.unmixed is None and left.today is not None
    assert len(left.today.alone) == SEEDS and left.today.alone != left.today.values[:SEEDS]
