"""Buffers that a job's answer names, for the page's table of all buffers of a link."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from bufferlab.render.size.view import ANSWER

ADVICE: Final = "results/advice.json"
FIFO: Final = "fifo"
_LEAST: Final = 2
"""Cells of a row that has a buffer: its name, and its packets."""


def buffers_answered(folder: Path, view: Sequence[Mapping[str, Any]] | None) -> list[dict[str, Any]]:
    """What a job has answered: of each buffer the queue, its setting, its packets, and the targets in words.

    Args:
        folder: The job's folder.
        view: What its command has shown.
    """
    if (folder / ADVICE).exists():
        return [*_advised(json.loads((folder / ADVICE).read_text(encoding="utf-8")))]
    return [*_sized(view or [])]


def _advised(advice: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The answer, and the smallest FIFO that meets the targets, or is nearest, if that is another queue."""
    queues = advice.get("queues", [])
    others = [each for each in queues if each["queue"] == FIFO and advice.get("queue") != FIFO]
    for each in [*([advice] if advice.get("buffer") else []), *others[:1]]:
        yield {
            "is_answer": each is advice,
            "queue": each["queue"],
            "setting": each["setting"],
            "packets": each["buffer"]["packets"],
            "targets": "; ".join(advice["targets"]),
            "meets": all(check["met"] for check in each["checks"]),
        }


def _sized(view: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """The row of the answer beside the rules, and the targets that were asked for."""
    title = next((part["text"] for part in view if part["kind"] == "text"), "")
    terms = dict(line for part in view if part["kind"] == "terms" for line in part["lines"])
    rows = [row for part in view if part["kind"] == "grid" for row in part["rows"]]
    for row in rows:
        if len(row) > _LEAST and row[0] == ANSWER and row[1].isdigit():
            yield {
                "is_answer": True,
                "queue": title.rpartition(": ")[2].partition(" at ")[0],
                "setting": f"{row[1]} packets",
                "packets": int(row[1]),
                "targets": str(terms.get("asked", "")).partition("; ")[0],
                "meets": row[_LEAST] == "met",
            }
