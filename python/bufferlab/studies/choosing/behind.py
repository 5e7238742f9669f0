"""How much worse users fare with one queue than with another: from runs with common seeds, and how surely."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bufferlab.stats import Estimate, estimate, t_quantile
from bufferlab.studies.choosing.objectives import Aspect
from bufferlab.studies.targets import Values


def behind(scores: Sequence[float], best: Sequence[float], claims: int) -> Estimate:
    """How much worse, as a share, seed by seed; the interval allows for that many claims."""
    return _allowing(estimate(-math.expm1(a - b) for a, b in zip(scores, best, strict=False)), claims)


def is_worse(behind: Estimate, share: float) -> bool:
    """Whether users are surely worse off, and by more than a share; of a single run nothing is sure."""
    mean = behind.mean or 0.0
    return mean > share and mean > (behind.half_width or 0.0)


def differs(behind: Estimate, share: float) -> bool:
    """Whether users are surely better or worse off, and by more than a share."""
    opposite = Estimate(-(behind.mean or 0.0), behind.half_width)
    return is_worse(behind, share) or is_worse(opposite, share)


def straddles(behind: Estimate, share: float) -> bool:
    """Whether users may be worse off by more than a share, or not; a single run does not tell."""
    return behind.half_width is None or abs((behind.mean or 0.0) - share) < behind.half_width


def surely_within(behind: Estimate, share: float) -> bool:
    """Whether users are surely neither worse nor better off by more than a share."""
    return behind.half_width is not None and abs(behind.mean or 0.0) + behind.half_width <= share


def surely_exceeds(behind: Estimate, share: float) -> bool:
    """Whether users are surely worse off by more than a share."""
    return behind.half_width is not None and (behind.mean or 0.0) - behind.half_width > share


def behind_in(aspect: Aspect, runs: Sequence[Values], chosen: Sequence[Values], claims: int) -> Estimate:
    """How much worse an aspect is, as a share; its interval from the mean logarithm's lower end."""
    pairs = zip(runs, chosen, strict=False)
    found = _allowing(estimate(math.log(aspect.utility(b) / aspect.utility(a)) for a, b in pairs), claims)
    mean = found.mean or 0.0
    share = -math.expm1(-mean)
    if found.half_width is None:
        return Estimate(share, None)
    return Estimate(share, share + math.expm1(found.half_width - mean))


def _allowing(found: Estimate, claims: int) -> Estimate:
    """An estimate with an interval that allows for that many claims."""
    if found.half_width is None:
        return found
    factor = t_quantile(found.known, claims) / t_quantile(found.known)
    return found._replace(half_width=found.half_width * factor)
