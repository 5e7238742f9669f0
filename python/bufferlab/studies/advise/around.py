"""Whether some delay of a discipline may do better than the answer: by the runs that look around.

To find the least delay that meets the targets takes hundreds of runs. Where users fare no better than with
the answer at any of a few delays between the least and the largest, no delay between them will be taken, as
it would have to be better by more than users notice. So that search need not be made.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.question import Question
from bufferlab.studies.advise.queues import Queue
from bufferlab.studies.choosing.choice import missed_targets
from bufferlab.studies.choosing.objectives import Aspect, Kind, score
from bufferlab.studies.choosing.thresholds import MATERIAL, leading_kind
from bufferlab.studies.least import Bench, Case, Run
from bufferlab.studies.targets import Target, Values

PROMISING: Final = MATERIAL / 2
"""A gain, as a share, from which on a delay near by may be better by what matters: few runs show it, and the
best delay may lie between two that were tried."""


@dataclass(frozen=True)
class Around:
    """What a few delays of a discipline came to.

    Attributes:
        tried: How many there were.
        gain: By which share users fare better at the best of them than with the answer; negative if worse.
        best: The best of those that meet their targets; `None` if none does.
    """

    tried: int
    gain: float
    best: int | None

    def is_promising(self, *, usual_meets: bool) -> bool:
        """Whether a delay may be taken in place of the answer, or be as good where the usual one is none.

        Args:
            usual_meets: Whether the usual delay meets the targets.
        """
        return self.gain >= (PROMISING if usual_meets else -MATERIAL - PROMISING)


def look_around(
    queue: Queue, advice: Advice, runs: Sequence[Run], bench: Bench, question: Question
) -> Around:
    """Run some delays of a queue, and the answer with the same seeds.

    Args:
        queue: The queue.
        advice: What is known.
        runs: The runs that look around, as a search begins.
        bench: Measures.
        question: What is asked.
    """
    seeds, sizes = sorted({run.seed for run in runs}), sorted({run.size for run in runs})
    cases = {size: Case(queue.name, size) for size in sizes}
    answer = Case(advice.answer.queue.name, advice.answer.setting)
    measured = bench.measure(dict.fromkeys((*cases.values(), answer), seeds))
    return looked_around(
        {size: [measured[case, seed] for seed in seeds] for size, case in cases.items()},
        [measured[answer, seed] for seed in seeds],
        {size: question.targets_at(queue, size) for size in sizes},
        advice.aspects,
        advice.weights,
    )


def in_reach(advice: Advice) -> list[Queue]:
    """Queues that were only looked at, but of which another delay than the usual one may be taken."""
    near = [advice.entries[name] for name in (advice.choice.name, *advice.choice.open)]
    of_them = [each.queue for each in near if each.around and each.setting != each.queue.usual]
    return list({queue.name: queue for queue in of_them}.values())


def looked_around(
    measured: Mapping[int, Sequence[Values]],
    answer: Sequence[Values],
    targets: Mapping[int, Sequence[Target]],
    aspects: Sequence[Aspect],
    weights: Mapping[Kind, float],
) -> Around:
    """What delays came to beside the answer.

    Args:
        measured: What each delay's runs measured.
        answer: What the answer's did, with the same seeds.
        targets: What each delay shall meet.
        aspects: What users feel.
        weights: How much each kind of aspect weighs; one that decides first is looked at alone as well.
    """
    leading = leading_kind(weights)
    counted = [weights] if leading is None else [weights, {leading: 1.0}]
    gains = {
        size: max(_gain(runs, answer, aspects, each) for each in counted) for size, runs in measured.items()
    }
    fit = [size for size, runs in measured.items() if not missed_targets(runs, targets[size])]
    return Around(len(measured), max(gains.values()), max(fit, key=lambda size: gains[size], default=None))


def _gain(
    runs: Sequence[Values], answer: Sequence[Values], aspects: Sequence[Aspect], weights: Mapping[Kind, float]
) -> float:
    """By which share users fare better, in the mean over seeds."""
    pairs = zip(runs, answer, strict=True)
    better = [score(one, aspects, weights) - score(other, aspects, weights) for one, other in pairs]
    return math.expm1(sum(better) / len(better))
