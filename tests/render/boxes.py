"""The box of an advice as its tests read it."""

from __future__ import annotations

from bufferlab.render.advise.box import box_of
from bufferlab.render.advise.typed import Typed
from bufferlab.render.view import View
from bufferlab.studies.advise.advice import Advice

from ..advised import FIFO, FQ_CODEL, runs

MET = {"fifo": (14, runs(FIFO)), "fq_codel": (5000, runs(FQ_CODEL))}


def box(advice: Advice, typed: Typed | None = None) -> list[str]:
    """The lines of the box on a terminal of 80 columns, without its frame."""
    lines = View([box_of(advice, typed or Typed())]).text(80).splitlines()
    assert len(lines) <= 24
    assert all(len(line) == 80 for line in lines) and "…" not in "".join(lines[1:])
    return [line.strip("│╭╮╰╯─ ") for line in lines]
