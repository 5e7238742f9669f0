"""Our default is named where it decides the answer, and not where a target of one's own does."""

from __future__ import annotations

import dataclasses

import pytest

from bufferlab.render.advise.head import head
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.sensitivity import Sensitivity
from bufferlab.studies.targets import Values, parse_targets

from ..advised import FIFO, FQ_CODEL, advised, entry, runs

OWN, USE = "loss <= 1 %", "utilization >= 99 %"
IDLE: Values = {**FIFO, "utilization": 0.9}


def asked(low: Values) -> Advice:
    """A buffer of 14 packets, of which one packet was tried as well."""
    (floor,) = parse_targets([USE], [])
    idle = Sensitivity("twice the RTT", "twice the RTT", IDLE, (floor,), None, 4)
    advice = advised({"fifo": (14, runs(FIFO))}, (OWN, USE), sensitivity=[idle])
    made = entry("fifo", 14, runs(FIFO), advice.targets, other={1: low})
    needs = dataclasses.replace(advice.needs, floor=floor)
    return dataclasses.replace(advice, entries={made.name: made}, needs=needs)


@pytest.mark.parametrize(
    ("low", "is_named"), [(IDLE, True), ({**FIFO, "loss": 0.05}, False), ({**IDLE, "loss": 0.05}, False)]
)
def test_our_default_is_named_where_it_binds(low: Values, *, is_named: bool) -> None:
    text = " ".join(head(asked(low)))
    assert ("It meets the target and our default, utilization 99 %: " in text) == is_named
    assert ("is missed in 1 of 1 what-ifs: with twice the RTT" in text) == is_named
    assert ("It meets the target: " in text) != is_named


def test_a_target_of_one_s_own_that_is_missed_elsewhere_is_named_without_it() -> None:
    advice = asked({**FIFO, "loss": 0.05})
    both = dataclasses.replace(advice.sensitivity[0], missed=advice.targets, values={**IDLE, "loss": 0.02})
    text = " ".join(head(dataclasses.replace(advice, sensitivity=(both,))))
    assert "Fragile: 1 of 1 what-ifs miss a target (loss): with twice the RTT (2 %)" in text


def test_of_a_queue_at_its_usual_delay_nothing_binds() -> None:
    advice = advised({"fq_codel": (5000, runs(FQ_CODEL))}, (OWN, USE))
    needs = dataclasses.replace(advice.needs, floor=advice.targets[1])
    assert "It meets the target: " in " ".join(head(dataclasses.replace(advice, needs=needs)))
    alone = advised({"fq_codel": (5000, runs(FQ_CODEL))}, origin="default")
    assert "It meets our default, utilization 99 %: " in " ".join(head(alone))
