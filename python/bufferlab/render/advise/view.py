"""An advice for people: the answer first, then the evidence."""

from __future__ import annotations

from bufferlab.display import as_view
from bufferlab.render.advise.box import MOST_TYPED, box_of, folded, to_type
from bufferlab.render.advise.evidence import evidence
from bufferlab.render.advise.explain import explanation
from bufferlab.render.view import Heading, View
from bufferlab.studies.advise.advice import Advice


@as_view.register
def advice_view(
    advice: Advice, *, platform: str = "linux", device: str | None = None, explain: bool = False
) -> View:
    """The answer in a box, the queues that were tried, the buffers.

    Args:
        advice: The advice.
        platform: For what the lines are that are to be typed.
        device: The interface whose output it is; default a usual name.
        explain: Tell also how it was found.
    """
    _, lines = to_type(advice, platform, device)
    typed: list[str | Heading] = [Heading(f"To type on {platform}"), "\n".join(lines)]
    return View(
        [
            box_of(advice, platform, device),
            *evidence(advice),
            *(typed if len(folded(lines, platform)) > MOST_TYPED else []),
            *(f"Note: {each}." for each in advice.warnings),
            *(explanation(advice, platform, device) if explain else []),
        ]
    )
