"""What users would suffer in other traffic, where nobody asked about it, in words."""

from __future__ import annotations

from typing import Final

from bufferlab.display import significant
from bufferlab.render.advise.reasons import much_lost
from bufferlab.render.advise.users import BAD_CALL
from bufferlab.render.words import listed
from bufferlab.results.metrics.metric import FRACTION
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.sensitivity import Sensitivity

_R: Final = "call_r"


def calls(advice: Advice) -> list[str]:
    """The groups whose calls are rated, and no target is about that."""
    asked = {target.group for target in advice.targets if target.metric.name.startswith("call_")}
    rated = [each.name for each in advice.site.users if advice.answer.checked(f"{each.name}.{_R}").mean]
    return [name for name in rated if name not in asked]


def harms(advice: Advice, each: Sensitivity) -> list[tuple[str, str]]:
    """What hardly anybody would accept in a change of the traffic, and accepts of the answer.

    Each for a row, and as part of a sentence.
    """
    found = []
    for name in calls(advice):
        now, then = advice.answer.checked(f"{name}.{_R}").mean, each.values.get(f"{name}.{_R}")
        if now is not None and then is not None and then < BAD_CALL <= now:
            rated = significant(then, 2)
            found.append((f"{name} R {rated}", f"{name} falls to R {rated}"))
    lost = each.values.get("loss")
    if much_lost(lost, advice.targets) and not much_lost(advice.answer.checked("loss").mean, advice.targets):
        share = FRACTION.quantity(lost or 0.0, digits=2)
        found.append((f"loses {share}", f"{share} of the packets are lost"))
    return found


def harmed(advice: Advice) -> str | None:
    """In which change of the traffic users would suffer most, as a sentence; `None` if in none."""
    hurt = [(each, found) for each in advice.sensitivity if (found := harms(advice, each))]
    if not hurt:
        return None
    worst, what = min(hurt, key=lambda pair: (-len(pair[1]), -(pair[0].values.get("loss") or 0.0)))
    others = len(hurt) - 1
    more = (
        f"; {others} more what-ifs do harm"
        if others > 1
        else "; one more what-if does harm"
        if others
        else ""
    )
    return f"But with {worst.brief} {listed([text for _, text in what])}{more}."
