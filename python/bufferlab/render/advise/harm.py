"""What users would suffer in other traffic, where nobody asked about it, in words."""

from __future__ import annotations

from bufferlab.display import significant
from bufferlab.render.advise.reasons import unasked
from bufferlab.render.advise.users import BAD_CALL
from bufferlab.render.words import listed
from bufferlab.results.metrics.metric import FRACTION
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.sensitivity import Sensitivity
from bufferlab.studies.choosing.thresholds import loses_heavily


def calls(advice: Advice) -> dict[str, float]:
    """The ratings of calls that no target is about, by group."""
    return unasked(advice, advice.site.users, "call_r", family="call_")


def harms(advice: Advice, each: Sensitivity) -> list[tuple[str, str]]:
    """What hardly anybody would accept in a change of the traffic, and accepts of the answer.

    Each for a row, and as part of a sentence.
    """
    found = []
    for name, now in calls(advice).items():
        then = each.values.get(f"{name}.call_r")
        if then is not None and then < BAD_CALL <= now:
            rated = significant(then, 2)
            found.append((f"{name} R {rated}", f"{name} falls to R {rated}"))
    before, lost = advice.answer.checked("loss").mean, each.values.get("loss")
    if lost is not None and loses_heavily(lost, advice.targets) and not loses_heavily(before, advice.targets):
        share = FRACTION.quantity(lost, digits=2)
        found.append((f"loses {share}", f"{share} of the packets are lost"))
    return found


def harmed(advice: Advice) -> str | None:
    """In which change of the traffic users would suffer most, as a sentence; `None` if in none."""
    changes = [each for each in advice.sensitivity if not each.is_supposed]  # those have a line of their own
    hurt = [(each, found) for each in changes if (found := harms(advice, each))]
    if not hurt:
        return None
    worst, what = min(hurt, key=lambda pair: (-len(pair[1]), -(pair[0].values.get("loss") or 0.0)))
    others = [(each, found) for each, found in hurt if each is not worst]
    more = "" if not others else f"; {len(others)} more what-ifs do harm"
    if len(others) == 1:
        (other, found), *_ = others
        more = f"; with {other.brief} {listed([text for _, text in found])}"
    return f"But with {worst.brief} {listed([text for _, text in what])}{more}."
