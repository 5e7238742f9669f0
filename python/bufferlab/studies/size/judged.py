"""What runs say of the buffers that the rules give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bufferlab.studies.advise.advice import mean_values
from bufferlab.studies.least import Check, Run, Verdict, check
from bufferlab.studies.least.memory import Memory
from bufferlab.studies.targets import Target, Values

RUNS: Final = 8
"""Runs that judge a rule's buffer."""


@dataclass(frozen=True)
class Judged:
    """A rule's buffer, and what runs say of it.

    Attributes:
        rule: Name of the rule.
        packets: Its buffer, packets.
        values: Means over the runs.
        checks: Each target.
        verdict: Whether the targets are met there: surely all, surely not all, or neither.
    """

    rule: str
    packets: int
    values: Values
    checks: tuple[Check, ...]
    verdict: Verdict

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "rule": self.rule,
            "packets": self.packets,
            "targets": self.verdict,
            "checks": [each.to_dict() for each in self.checks],
            "values": dict(self.values),
        }


def judge(
    rule: str, packets: int, runs: Mapping[int, Values], targets: Sequence[Target], confidence: float
) -> Judged:
    """Judge a rule's buffer.

    Args:
        rule: Name of the rule.
        packets: Its buffer, packets.
        runs: What the runs with it measured, by seed.
        targets: What must be met.
        confidence: What makes a verdict sure.
    """
    memory = Memory(targets)
    memory.add({Run(packets, seed): values for seed, values in runs.items()})
    checks = tuple(check(memory, packets, target, list(runs)) for target in targets)
    verdict: Verdict = "not proven"
    if all(each.met and each.confidence >= confidence for each in checks):
        verdict = "met"
    elif memory.surely_fails(packets, 1.0 - confidence):
        verdict = "missed"
    return Judged(rule, packets, mean_values(memory.values(packets)), checks, verdict)
