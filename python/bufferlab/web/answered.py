"""Buffers that a job's answer names, for the page's table of all buffers of a link."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from bufferlab.studies.words import FIFO
from bufferlab.units import packets_text


def buffers_answered(folder: Path) -> list[dict[str, Any]]:
    """What a job has answered: of each buffer the queue, its setting, its packets, and the targets in words.

    Args:
        folder: The job's folder.
    """
    for name, read in _ANSWERS.items():
        if (folder / name).exists():
            return [*read(json.loads((folder / name).read_text(encoding="utf-8")))]
    return []


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


def _sized(sizing: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The answer, if there is one, and the targets that were asked for."""
    if sizing["buffer"] is not None:
        packets = sizing["buffer"]["packets"]
        yield {
            "is_answer": True,
            "queue": sizing["queue"],
            "setting": packets_text(packets),
            "packets": packets,
            "targets": "; ".join(sizing["targets"]),
            "meets": sizing["confirmed"],
        }


_ANSWERS: Final[Mapping[str, Callable[[Mapping[str, Any]], Iterator[dict[str, Any]]]]] = {
    "results/advice.json": _advised,
    "results/scenario.json": _sized,
}
"""By the document that a command writes for a scenario of the page: `jobs.SCENARIO`."""
