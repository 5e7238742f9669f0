"""What other traffic would do to the answer, in words."""

from __future__ import annotations

from collections.abc import Iterator

from bufferlab.render.advise.words import title_text
from bufferlab.render.view import Line
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.sensitivity import Sensitivity
from bufferlab.studies.targets import Target


def fragile(advice: Advice) -> str | None:
    """That other traffic would miss a target, and the buffer that holds wherever one does."""
    changes = advice.sensitivity
    missing = [each for each in changes if not each.holds]
    if not missing or not advice.choice.meets:
        return None
    counted = f"Fragile: {len(missing)} of {len(changes)} what-ifs miss {_them(advice)}"
    hopeless = [each for each in missing if each.least is None or each.least.size is None]
    enough = max((each.least.size for each in missing if each.least and each.least.size), default=None)
    if enough is None or not _more_is_safer(advice):
        return f"{counted}."
    but = f" but {_listed([each.brief for each in hopeless])}" if hopeless else ""
    return f"{counted}; about {enough} packets hold for all{but}."


def _them(advice: Advice) -> str:
    return "the target" if len(advice.targets) == 1 else "a target"


def _more_is_safer(advice: Advice) -> bool:
    """Whether larger buffers meet what smaller ones do: only of utilization and loss of the link."""
    return all(each.group is None and each.metric.name in {"utilization", "loss"} for each in advice.targets)


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def what_if(advice: Advice) -> Iterator[Line]:
    """Where the answer still meets all targets, and where it misses which; which sizes do there."""
    if advice.sensitivity and advice.choice.meets:
        shorter = [_told(advice, sizes=False), _counted(advice)]
        yield Line("what if", _told(advice, sizes=True), 4, shorter=shorter)


def _told(advice: Advice, *, sizes: bool) -> str:
    holding = [_kept(advice, each) if sizes else each.brief for each in advice.sensitivity if each.holds]
    parts = [f"Met with {', '.join(holding)}."] if holding else []
    missing: dict[Target, list[str]] = {}
    for each in advice.sensitivity:
        for target in each.missed[:1]:
            missing.setdefault(target, []).append(_broken(each, target) if sizes else each.brief)
    for target, found in missing.items():
        words = title_text(target)
        subject = words if target.group else f"{words[:1].upper()}{words[1:]}"
        parts.append(f"{subject} missed with {', '.join(found)}.")
    return " ".join(parts)


def _counted(advice: Advice) -> str:
    """In how many changes the answer meets all targets."""
    holding, total = sum(each.holds for each in advice.sensitivity), len(advice.sensitivity)
    return f"Met in {holding} of {total} changes of the traffic; the last table has each."


def _kept(advice: Advice, each: Sensitivity) -> str:
    """A change that keeps the targets, and about how much less buffer would do."""
    size = None if each.least is None else each.least.size
    if size is None or size >= advice.answer.packets:
        return each.brief
    return f"{each.brief} (about {size} suffice)"


def _broken(each: Sensitivity, target: Target) -> str:
    found = target.show(each.values.get(target.name))
    if each.least is None or len(each.least.tried) < 2:
        return f"{each.brief} ({found})"
    if each.least.size is not None:
        return f"{each.brief} ({found}; about {each.least.size} do)"
    first, last = each.least.tried[0], each.least.tried[-1]
    if target.wants_less:
        return f"{each.brief} ({found}; none tried from {first} to {last} does)"
    return f"{each.brief} ({found}; no buffer up to {last} packets is enough)"
