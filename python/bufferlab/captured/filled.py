"""Whether anything fills a captured link: where nothing does, no buffer follows from the capture."""

from __future__ import annotations

from typing import Final

from bufferlab.captured.fitting import LITTLE_LOSS, OFF, Fit, lasting_utilization, with_known_rate
from bufferlab.captured.link import CapturedLink
from bufferlab.captured.marks import marked
from bufferlab.captured.scenario import Known, is_depth_seen
from bufferlab.display import significant
from bufferlab.errors import InputError

_FILLED: Final = 0.98
"""A link that carries as much of its rate is full. Our choice."""

_MORE: Final = 0.1
"""A run uses a link more if by that part of its rate. Our choice."""

_NOWHERE_NEAR: Final = 3.0
"""Waits are nowhere near those of a run that are as many times as long. Our choice."""

_WAITS: Final = {"wait_p50_ms": "a median wait", "wait_p95_ms": "a 95th percentile of the waits"}


def refuse_unfilled(link: CapturedLink, fit: Fit, known: Known) -> None:
    """Refuse to answer where nothing fills the link as far as the capture shows.

    It is not full, a run of its scenario is busier, and nothing is lost or marked, or next to nothing waits
    where no buffer was seen to fill. What holds its flows back, as a link of their own or their pace does, is
    not in that scenario. What a full buffer loses is a reason to size it all the same (`assumed_use`).

    Args:
        link: What was captured of a direction.
        fit: What comes nearest.
        known: What the operator says; without a rate, what senders with a pace sent may be taken for one.

    Raises:
        InputError: It is so.
    """
    accepted = "a capture from a busy hour; --scenario FILE writes what there is"
    link = with_known_rate(link, known)
    used = lasting_utilization(link)
    busier = _busier(fit, used)
    if used is not None and used < _FILLED and busier and (_keeps_all(link) or _hides_waits(link, fit)):
        lost = f"{_share(link.losses)} is lost" if link.losses else "nothing is lost"
        raise InputError(
            f"shows nothing that fills this link: {_share(used)} of it is used and {lost}, where a run of "
            f"its scenario has {busier}. What limits these flows, as their access or their senders do, is "
            "not in the scenario, so no buffer follows from it",
            file=link.observation.file,
            accepted=accepted,
        )
    if known.rate is None and fit.is_far and not fit.captured["loss"] and not marked(link.long):
        raise InputError(
            "shows no loss and no mark, and no run of its scenario does what was captured, so its rate may "
            "be that of its senders, and no buffer follows from it",
            file=link.observation.file,
            accepted=f"the link's rate (--rate), or {accepted}",
        )


def _share(part: float | None) -> str:
    return f"{significant(100 * (part or 0.0), 2)} %"


def _busier(fit: Fit, used: float | None) -> str:
    """What a run of the scenario has more of than was captured, in words; empty if nothing."""
    run = fit.reproduced
    found = []
    if (run["utilization"] or 0.0) > (used or 0.0) + _MORE:
        found.append(f"a utilization of {_share(run['utilization'])}")
    if fit.exceeds("loss", OFF):
        found.append(f"a loss of {_share(run['loss'])}")
    waits = (name for name in _WAITS if fit.exceeds(name, OFF))
    found.extend(f"{_WAITS[name]} of {significant(run[name] or 0.0, 2)} ms" for name in waits)
    return " and ".join(found[:2])


def _keeps_all(link: CapturedLink) -> bool:
    """Whether nothing is lost or marked, but by chance."""
    is_kept = link.losses is not None and link.losses < LITTLE_LOSS
    return is_kept and not marked(link.long)


def _hides_waits(link: CapturedLink, fit: Fit) -> bool:
    """Whether next to nothing waits, and no losses show a buffer that is full at times."""
    return not is_depth_seen(link) and any(fit.exceeds(name, _NOWHERE_NEAR) for name in _WAITS)


def assumed_use(link: CapturedLink, fit: Fit, known: Known) -> tuple[float, float] | None:
    """Which part of the link was used, and which a run of its scenario uses, if that is more; else `None`.

    Args:
        link: What was captured of a direction.
        fit: What comes nearest.
        known: What the operator says.
    """
    used, own = lasting_utilization(with_known_rate(link, known)), fit.reproduced["utilization"]
    return (used, own) if used is not None and own is not None and own > used + _MORE else None
