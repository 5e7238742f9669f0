"""`bufferlab validate referee`: settings drawn at random, here and in ns-2 or ns-3."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rich.markdown import Markdown

from bufferlab.cli.common import print_json, print_rich, say
from bufferlab.errors import InputError
from bufferlab.evidence.referee import referee
from bufferlab.evidence.referee.kept import name
from bufferlab.evidence.referee.peers import PEERS
from bufferlab.evidence.referee.report import markdown, save, summary, update_docs
from bufferlab.evidence.referee.study import DRAW, QUICK_COUNT
from bufferlab.experiment.runner import Runner


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
        InputError: An option cannot be used, or there is no such simulator and none of its runs.
        OutputError: A file cannot be written.
    """
    if wanted.against not in PEERS:
        accepted = ", ".join(PEERS)
        raise InputError("is no reference", file="--against", value=wanted.against, accepted=accepted)
    peer = PEERS[wanted.against]
    draw, count = wanted.draw or DRAW, wanted.count or (QUICK_COUNT if wanted.quick else peer.count)
    if not peer.is_there():
        say(f"{peer.name} is not installed, so only its kept runs are compared; to draw anew: {peer.install}")
    result = referee(peer=peer, draw=draw, count=count, rows=out / name(peer.key, draw), runner=runner)
    if result.lacking:
        say(f"{result.lacking} of {count} settings have no kept run of {peer.name} and are left out")
    save(result, out)
    if docs is not None:
        update_docs(result, docs)
    if as_json:
        print_json(
            {
                "format": "bufferlab-referee",
                "format_version": 1,
                "against": peer.key,
                "draw": draw,
                "summary": summary(result.frame),
                "comparisons": result.frame.to_dicts(),
            }
        )
    else:
        print_rich(Markdown(markdown(result.frame, peer)))
