"""What is asked for: what a command's options say, else the scenario's `[advise]`, else the defaults."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from bufferlab.errors import InputError
from bufferlab.scenario import Scenario
from bufferlab.studies.advise.floor import floor_beside, is_home, relaxed
from bufferlab.studies.choosing.objectives import Aspect, Emphasis, Kind, weights_for
from bufferlab.studies.targets import Target, parse_target, refuse_contradictions
from bufferlab.studies.valued import refuse_valueless

Origin = Literal["asked", "scenario", "default"]
"""Where something comes from: from who asks, from the scenario's file, or from nobody."""

TABLE = "advise"


@dataclass(frozen=True)
class Needs:
    """What shall be met, and what matters to users.

    Attributes:
        targets: What shall be met.
        emphasis: What matters most, or the weight of each kind; `None` weighs all alike.
        targets_from: Where the targets come from.
        weights_from: Where the weights come from.
        floor: Of the targets the one on the link's use that nobody has asked for, if there is one.
    """

    targets: tuple[Target, ...]
    emphasis: Emphasis | None
    targets_from: Origin
    weights_from: Origin
    floor: Target | None = None

    @classmethod
    def of(
        cls,
        base: Scenario,
        targets: Iterable[str | Target],
        emphasis: Emphasis | None,
        default: Sequence[Target],
    ) -> Needs:
        """Take what is asked, else what the scenario says.

        Args:
            base: The scenario.
            targets: Targets that are asked for; any of them takes the place of all that the scenario has.
            emphasis: The emphasis that is asked for.
            default: The targets where nobody names one.

        Raises:
            InputError: A target is none.
        """
        asked = tuple(dict.fromkeys(_parsed(targets, base)))  # what is asked twice is one target
        # what a home's line has as a file is the default of its users, who wrote no file
        written = () if asked or is_home(base) else targets_of(base)
        stated = emphasis_of(base)
        origin: Origin = "asked" if asked else "scenario" if written else "default"
        return cls(
            asked or written or tuple(default),
            stated if emphasis is None else emphasis,
            origin,
            "asked" if emphasis is not None else "default" if stated is None else "scenario",
        )

    def with_floor(self, base: Scenario, index: int) -> Needs:
        """These needs with a floor under the link's use, if the targets do not say enough of it.

        Args:
            base: The scenario.
            index: Index of the link.
        """
        if self.targets_from == "default":
            used = [target for target in self.targets if target.name == "utilization"]
            return dataclasses.replace(self, floor=used[0] if used else None)
        floor = floor_beside(self.targets, base, index)
        targets = self.targets if floor is None else (*self.targets, floor)
        return dataclasses.replace(self, targets=targets, floor=floor)

    def is_assumed(self, target: Target) -> bool:
        """Whether nobody has asked for a target, nor for less of it."""
        if self.targets_from == "default":
            return True
        return self.floor is not None and target in {self.floor, *relaxed([self.floor], self.floor)}

    def assumed(self, *, eases: bool = False) -> tuple[str, ...]:
        """What nobody has asked for, in a sentence.

        Args:
            eases: Whether less of it is asked of some queues, at their usual delay.
        """
        if self.floor is None:
            return ()
        (usual,) = relaxed([self.floor], self.floor)
        is_less = eases and usual != self.floor
        less = f" ({usual.show(usual.bound)} of a queue at its specification's delay)" if is_less else ""
        return (f"{self.floor}{less}, as nobody said how busy the link shall be; --utilization sets it",)

    def weights(self, aspects: Sequence[Aspect], base: Scenario) -> dict[Kind, float]:
        """The weight of each kind that the scenario has.

        Raises:
            InputError: One is weighed that it has not; from the scenario's file, its place is named.
        """
        if self.weights_from != "scenario":
            return weights_for(self.emphasis, aspects)
        with _placed(base):
            return weights_for(self.emphasis, aspects)


def targets_of(base: Scenario) -> tuple[Target, ...]:
    """The targets that a scenario has.

    Raises:
        InputError: One is none; the message has its place in the file.
    """
    found: list[Target] = []
    for index, text in enumerate(base.advise["targets"] if base.advise else ()):
        with _placed(base, f"targets[{index}]"):
            found += _parsed([text], base)
    with _placed(base, "targets"):
        refuse_contradictions(found)
    return tuple(dict.fromkeys(found))


def emphasis_of(base: Scenario) -> Emphasis | None:
    """What matters most to a scenario's users, or how much each kind does, as its file says."""
    stated = base.advise
    if stated is None:
        return None
    if stated["weights"] is None:
        return stated["emphasis"]
    weights: Mapping[str, float | None] = dict(stated["weights"])  # type: ignore[arg-type]
    return {kind: weight for kind, weight in weights.items() if weight is not None}


def _parsed(targets: Iterable[str | Target], base: Scenario) -> tuple[Target, ...]:
    parsed = tuple(each if isinstance(each, Target) else _of_text(each, base) for each in targets)
    refuse_contradictions(parsed)
    return parsed


def _of_text(text: str, base: Scenario) -> Target:
    """A target as it is written, of which the traffic can have a value."""
    found = parse_target(text, [flow["name"] for flow in base.flows])
    refuse_valueless(found, text, base.resolved["flows"])
    return found


@contextmanager
def _placed(base: Scenario, key: str | None = None) -> Iterator[None]:
    """Have errors name the place in the scenario's file."""
    try:
        yield
    except InputError as error:
        path = f"{TABLE}.{key or error.key}"
        line, column = base.place(path) or (None, None)
        raise InputError(
            error.problem,
            file=base.file,
            key=path,
            value=error.value,
            accepted=error.accepted,
            line=line,
            column=column,
        ) from error
