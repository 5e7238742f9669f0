"""What users would suffer in other traffic is said, though no target is about it."""

from __future__ import annotations

import dataclasses

from bufferlab.render.advise.harm import harmed, harms
from bufferlab.render.advise.unmet import without_one
from bufferlab.render.advise.view import advice_view
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.sensitivity import Sensitivity
from bufferlab.studies.targets import Values

from ..advised import FIFO, FQ_CODEL, advised, entry, runs
from .boxes import box

CLEAR: Values = {**FQ_CODEL, "call.call_r": 89.0}


def shaken(*changes: Values, targets: tuple[str, ...] = ("utilization >= 99 %",)) -> Advice:
    """An answer with a good call, and what becomes of it in changes of the traffic."""
    made = advised({"fq_codel": (5000, runs(CLEAR))}, targets)
    found = [Sensitivity(f"{at} flows", f"{at} flows", each, (), None) for at, each in enumerate(changes, 2)]
    return dataclasses.replace(made, sensitivity=tuple(found))


def test_a_call_that_falls_is_said_in_the_first_lines_and_in_its_row() -> None:
    advice = shaken({"call.call_r": 48.0, "loss": 0.2}, {"call.call_r": 88.0, "loss": 0.001})
    assert harmed(advice) == "But with 2 flows call falls to R 48 and 20 % of the packets are lost."
    text = " ".join(" ".join(box(advice)).split())
    assert "2 flows met; call R 48, loses 20 % 3 flows met" in text
    assert "call, R" in advice_view(advice).text(120)


def test_of_several_the_worst_is_named_and_the_others_are_counted() -> None:
    changes = ({"loss": 0.06}, {"loss": 0.3}, {"call.call_r": 60.0, "loss": 0.01})
    assert harmed(shaken(*changes[:2])) == (
        "But with 3 flows 30 % of the packets are lost; with 2 flows 6 % of the packets are lost."
    )
    assert (harmed(shaken(*changes)) or "").endswith("; 2 more what-ifs do harm.")


def test_what_a_target_is_about_is_no_harm_beside_it() -> None:
    bounded = shaken({"call.call_r": 48.0, "loss": 0.2}, targets=("loss <= 50 %", "call.r > 20"))
    assert harms(bounded, bounded.sensitivity[0]) == [] and harmed(bounded) is None


def test_what_one_target_would_have_to_give_is_said_with_the_setting_that_does_then() -> None:
    targets = ("utilization >= 99 %", "loss <= 0.1 %")
    dear = advised({"fifo": (14, runs({**FIFO, "utilization": 0.93}))}, targets)
    other: dict[int, Values] = {
        20: {**FIFO, "utilization": 0.995, "loss": 0.0011},
        30: {**FIFO, "utilization": 0.999, "loss": 0.004},
    }
    given = entry("fifo", 14, runs({**FIFO, "utilization": 0.93}), dear.targets, other=other)
    advice = dataclasses.replace(dear, entries={given.name: given})
    said = without_one(advice) or ""
    assert "Without loss at most 0.1 %, fifo, 20 packets may meet the other (not proven; loss 0.11 %)" in said
