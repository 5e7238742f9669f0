"""`bufferlab validate referee`: settings drawn at random, here and in ns-2."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rich.markdown import Markdown

from bufferlab.cli.common import print_json, print_rich, say
from bufferlab.errors import InputError
from bufferlab.evidence.referee import referee
from bufferlab.evidence.referee.program import INSTALL, is_there
from bufferlab.evidence.referee.report import markdown, save, summary, update_docs
from bufferlab.evidence.referee.study import COUNT, DRAW, QUICK_COUNT
from bufferlab.experiment.runner import Runner

_REFERENCES: Final = ("ns2",)


@dataclass(frozen=True)
class Wanted:
    """What the options ask for."""

    draw: int | None
    count: int | None
    against: str
    quick: bool


def deliver_referee(wanted: Wanted, runner: Runner, out: Path, docs: Path | None, *, as_json: bool) -> None:
    """Run drawn settings on both sides, save and show what came of it.

    Raises:
        InputError: An option cannot be used, or there is no ns-2 and none of its runs.
        OutputError: A file cannot be written.
    """
    draw, count = wanted.draw or DRAW, wanted.count or (QUICK_COUNT if wanted.quick else COUNT)
    if wanted.against not in _REFERENCES:
        accepted = ", ".join(_REFERENCES)
        raise InputError("is no reference", file="--against", value=wanted.against, accepted=accepted)
    if not is_there():
        say(f"ns-2 is not installed, so only its kept runs are compared; to draw anew: {INSTALL}")
    result = referee(draw=draw, count=count, rows=out / f"ns2-draw-{draw}.csv", runner=runner)
    if result.lacking:
        say(f"{result.lacking} of {count} settings have no kept run of ns-2 and are left out")
    save(result, out)
    if docs is not None:
        update_docs(result, docs)
    if as_json:
        print_json(
            {
                "format": "bufferlab-referee",
                "format_version": 1,
                "draw": draw,
                "summary": summary(result.frame),
                "comparisons": result.frame.to_dicts(),
            }
        )
    else:
        print_rich(Markdown(markdown(result.frame)))
