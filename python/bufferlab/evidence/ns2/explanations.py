"""Why settings differ from ns-2: notes, and explanations that an experiment must show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from bufferlab.evidence.expressions import Names, holds
from bufferlab.evidence.ns2.criteria import criteria
from bufferlab.evidence.ns2.judging import Judgment, Verdict
from bufferlab.evidence.ns2.reference import Setting

_LINUX: Final = "linux-"
_OPTIONS: Final = ("access", "overhead", "spread", "queue", "ecn")
_NOTES: Final = tuple((each["when"], each["text"]) for each in criteria()["notes"])


@dataclass(frozen=True)
class Explanation:
    """A reason for differences, and the experiment in which they vanish.

    Attributes:
        name: Its name in tables.
        when: Condition on the setting.
        metrics: Names of the metrics that it is about.
        sign: Whether ours is above ns-2's (1) or below (-1).
        at_most: The greatest difference, as a part of ns-2's value or in the metric's own unit.
        options: What the setting has besides in the experiment, in ns-2 and here.
        text: The reason.
    """

    name: str
    when: str
    metrics: tuple[str, ...]
    sign: int
    at_most: float
    options: tuple[tuple[str, str], ...]
    text: str

    def covers(self, setting: Setting, judgment: Judgment) -> bool:
        """Whether it is about this difference."""
        figure = judgment.figure
        scale = abs(judgment.theirs) if figure.relative else 1.0
        large = judgment.verdict is Verdict.LARGE
        return large and self.is_about(setting, figure.name, judgment.difference, scale)

    def is_about(self, setting: Setting, metric: str, difference: float, scale: float) -> bool:
        """Whether it is about a difference of this metric, sign and size (in parts of `scale`)."""
        return (
            metric in self.metrics
            and 0 < difference * self.sign <= self.at_most * scale
            and holds(self.when, _names(setting))
        )

    def experiment(self, setting: Setting) -> Setting:
        """The setting of the experiment: nothing else is changed, in ns-2 neither."""
        options = dict(setting.options) | dict(self.options)
        return replace(setting, options=tuple(options.items()))


def _explanation(table: Mapping[str, Any]) -> Explanation:
    return Explanation(
        name=table["id"],
        when=table["when"],
        metrics=tuple(table["metrics"]),
        sign=table["sign"],
        at_most=table["at_most"],
        options=tuple(table["options"].items()),
        text=table["text"],
    )


def explanations(package: str = "bufferlab.evidence.ns2") -> tuple[Explanation, ...]:
    """The explanations in a package's criteria.toml."""
    return tuple(_explanation(each) for each in criteria(package).get("explanations", ()))


EXPLANATIONS: Final = explanations()


def note(setting: Setting) -> str:
    """What is known about such a setting; empty if nothing is. It excuses no difference."""
    names = _names(setting)
    return next((text for when, text in _NOTES if holds(when, names)), "")


def _names(setting: Setting) -> Names:
    return Names(
        {
            "scenario": setting.scenario,
            "stack": setting.stack,
            "control": setting.stack.removeprefix(_LINUX) if setting.stack.startswith(_LINUX) else "",
            "flows": setting.flows,
            **{name: setting.option(name) for name in _OPTIONS},
        }
    )
