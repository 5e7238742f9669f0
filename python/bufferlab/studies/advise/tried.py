"""What runs have measured before there is an answer: what Ctrl-C leaves of an early search."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from bufferlab import _core, display
from bufferlab.studies.advise.entry import Site
from bufferlab.studies.advise.question import Question
from bufferlab.studies.advise.queues import Queue
from bufferlab.studies.choosing.choice import missed_targets
from bufferlab.studies.least import Case
from bufferlab.studies.targets import Target, Values, mean_over_runs, values_document

FORMAT: Final = "bufferlab-tried"
FORMAT_VERSION: Final = 1


@dataclass(frozen=True)
class Attempt:
    """A queue with a setting that was tried.

    Attributes:
        queue: The queue.
        setting: Its setting, in words.
        packets: Its buffer, packets.
        targets: What it shall meet.
        values: What each run measured.
    """

    queue: str
    setting: str
    packets: int
    targets: tuple[Target, ...]
    values: tuple[Values, ...]

    @property
    def missed(self) -> tuple[Target, ...]:
        """The targets that the means over the runs miss, as in an answer."""
        return missed_targets(self.values, self.targets)


@dataclass(frozen=True, eq=False, repr=False)
class Tried(display.Displayed):
    """What was tried when a search was interrupted that had no answer yet.

    Attributes:
        site: Where the answer would have been for.
        targets: What was asked for.
        attempts: What was tried, in the order of the queues and by rising settings.
    """

    site: Site
    targets: tuple[Target, ...]
    attempts: tuple[Attempt, ...]

    @property
    def runs(self) -> int:
        """How many runs there are."""
        return sum(len(each.values) for each in self.attempts)

    def to_dict(self) -> dict[str, Any]:
        """The document."""
        site = self.site
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "version": _core.engine_version,
            "name": site.name,
            "link": site.link,
            "rate_bps": site.rate_bps,
            "rtt_ms": site.rtt_ms,
            "packet_bytes": site.packet_bytes,
            "targets": [str(target) for target in self.targets],
            "answer": None,
            "tried": [_attempt(site, each) for each in self.attempts],
            "runs": self.runs,
            "finished": False,
        }

    def __repr__(self) -> str:
        return f"<Tried {self.site.name!r}: {self.runs} runs, no answer yet>"


def tried(
    question: Question,
    known: Mapping[tuple[Case, int], Values],
    attempt: Callable[[Case, tuple[Values, ...]], Attempt],
) -> Tried:
    """What runs have measured.

    Args:
        question: What was asked.
        known: What was measured, by case and seed.
        attempt: Describes a case with the values of its runs.
    """
    values: dict[Case, list[Values]] = defaultdict(list)
    for (case, _), each in known.items():
        values[case].append(each)
    names = list(dict.fromkeys(case.name for case in values))
    cases = sorted(values, key=lambda case: (names.index(case.name), case.size))
    return Tried(question.site, question.targets, tuple(attempt(case, tuple(values[case])) for case in cases))


def tried_queues(
    question: Question, known: Mapping[tuple[Case, int], Values], queues: Mapping[str, Queue]
) -> Tried:
    """What runs have measured of several queues.

    Args:
        question: What was asked.
        known: What was measured, by case and seed.
        queues: The queues by their names.
    """

    def attempt(case: Case, values: tuple[Values, ...]) -> Attempt:
        queue = queues[case.name]
        targets = question.targets_at(queue, case.size)
        return Attempt(queue.name, queue.show(case.size), queue.limit(case.size), targets, values)

    return tried(question, known, attempt)


def _attempt(site: Site, attempt: Attempt) -> dict[str, Any]:
    names = dict.fromkeys(name for values in attempt.values for name in values)
    return {
        "queue": attempt.queue,
        "setting": attempt.setting,
        "buffer": site.buffer(attempt.packets),
        "runs": len(attempt.values),
        "missed": [str(target) for target in attempt.missed],
        **values_document({name: mean_over_runs(name, attempt.values) for name in names}),
    }
