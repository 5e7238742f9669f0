"""The size of the FIFO that runs today in another queue that is the answer: what need not change can stay."""

from __future__ import annotations

import dataclasses

import pytest

from bufferlab.render.advise.head import head
from bufferlab.scenario import Table
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.least import Run
from bufferlab.studies.targets import Values

from ..advised import FIFO, advised, fifo_today, runs

STAYS = (
    "Today's 64 packets may stay: LLQ meets the target with them, too (4 runs); mean wait 30 ms instead of "
    "20, "
)


def llq(at_64: Values | None, *, kind: str = "diffserv") -> Advice:
    """LLQ with 14 packets, where a FIFO of 64 runs today, which LLQ was run with, too."""
    advice = advised({"fifo": (14, runs(FIFO))})
    plain = advice.answer
    table: Table = {"discipline": kind, "classes": "EF: priority 5 %; rest: weight 1"}
    assert plain.least is not None
    memory = plain.least.memory.copy()
    if at_64 is not None:
        memory.add({Run(64, seed): at_64 for seed in range(4)})
    answer = dataclasses.replace(
        plain,
        queue=dataclasses.replace(plain.queue, name="llq" if kind == "diffserv" else "fifo", table=table),
        least=dataclasses.replace(plain.least, memory=memory),
    )
    return dataclasses.replace(
        advice, entries={advice.choice.name: answer}, today=fifo_today(FIFO, behind=0.3)
    )


@pytest.mark.parametrize(
    ("at_64", "kind", "is_said"),
    [
        ({**FIFO, "wait_mean_ms": 30.0}, "diffserv", True),
        (None, "diffserv", False),
        ({**FIFO, "wait_mean_ms": 30.0, "utilization": 0.9}, "diffserv", False),  # it misses the target
        ({**FIFO, "wait_mean_ms": 30.0, "loss": 0.06}, "diffserv", False),
        ({**FIFO, "wait_mean_ms": 30.0}, "fifo", False),  # that is the row `today`
    ],
)
def test_a_size_that_need_not_change_is_named_beside_the_smaller_one(
    at_64: Values | None, kind: str, *, is_said: bool
) -> None:
    found = [text for text in head(llq(at_64, kind=kind)) if "may stay" in text]
    assert found == ([f"{STAYS}loss 0.5 %, as much."] if is_said else [])
