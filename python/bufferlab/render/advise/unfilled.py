"""A link that nothing fills: something else holds its flows back, and no buffer changes that."""

from __future__ import annotations

from typing import Final

from bufferlab.render.advise.words import queue_text
from bufferlab.results.metrics.metric import FRACTION
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.unmet import searched
from bufferlab.units import packets_text

_TIMES: Final = 8
"""Over buffers from this part of the largest on, the use of the link is looked at: our choice."""

_LEAST_GAP: Final = 0.02
"""What lacks to the use that is asked for is at least this, and more than those buffers' uses differ."""


def unfilled(advice: Advice) -> str | None:
    """That a use of the link which is missed cannot be had: of a much larger buffer no more comes.

    A sentence; `None` if the targets are met, or what is tried here decides.

    Args:
        advice: The answer.
    """
    missed = {check.target.name for check in advice.answer.checks if not check.met and check.target.at_least}
    asked = next((each for each in advice.targets if each.name == "utilization" and each.at_least), None)
    if advice.choice.meets or asked is None or asked.name not in missed:
        return None
    for entry in searched(advice.entries):
        memory = entry.buffers
        if memory is None or (largest := memory.sizes[-1]) < advice.site.bdp_packets:
            continue
        sizes = [size for size in memory.sizes if size * _TIMES >= largest]
        uses = [use for size in sizes if (use := memory.mean(size, asked.name)) is not None]
        if len(uses) < 2 or asked.bound - max(uses) <= max(max(uses) - min(uses), _LEAST_GAP):
            continue
        shares = [FRACTION.quantity(use, digits=2) for use in (min(uses), max(uses))]
        share = shares[1] if shares[0] == shares[1] else f"{shares[0].removesuffix(' %')} to {shares[1]}"
        buffers = f"{queue_text(entry.queue)} of {sizes[0]} to {packets_text(largest)}"
        return (
            f"Nothing fills this link: {share} of it is used with a {buffers}. Something else holds its "
            "flows back, and no buffer here changes that."
        )
    return None
