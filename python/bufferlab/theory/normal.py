"""Normal quantiles in two conventions: one-sided, and that of the heterogeneous-TCP paper.

P(W ≥ BDP) ≥ tau for a normal W needs the one-sided quantile z with Phi(z) = tau: 2.326 for 0.99. P. Yang,
E. Zhang and L. Xu, Sizing Router Buffer for the Internet with Heterogeneous TCP (2013), Theorem 1, takes "the
z-score corresponding to the probability 2 tau − 1": Phi(z) = 2 tau − 1, 2.05 for 0.99. That guarantees a
probability of only 0.98: if tau lies below z, 2 tau − 1 lies within ±z, so it belongs in a table of central
areas, where it also gives 2.326. The paper's numbers follow from 2.05.
"""

from __future__ import annotations

from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from bufferlab.theory.arrays import FloatArray

Convention = Literal["one-sided", "document"]
"""How a probability becomes a z-score; see the module."""

CONVENTIONS: Final[tuple[Convention, ...]] = get_args(Convention)


def z_score(probability: ArrayLike, convention: Convention = "one-sided") -> FloatArray:
    """z-score of a guarantee probability (tau for the utilization, rho for the loss).

    Args:
        probability: In (0, 1); any shape.
        convention: `"one-sided"`: Phi(z) = probability. `"document"`: Phi(z) = 2·probability − 1, which
            exists above 1/2 only.

    Raises:
        ValueError: A probability outside of these bounds; 1 would need an infinite buffer.
    """
    from scipy import special  # noqa: PLC0415 - slow to import

    wanted = np.asarray(probability, dtype=np.float64)
    least = 0.5 if convention == "document" else 0.0
    if not np.all((wanted > least) & (wanted < 1.0)):
        raise ValueError(f"a probability must be above {least:g} and below 1, not {probability!r}")
    below = 2.0 * wanted - 1.0 if convention == "document" else wanted
    return np.asarray(special.ndtri(below), dtype=np.float64)


def probability_of(z: ArrayLike, convention: Convention = "one-sided") -> FloatArray:
    """The probability that a z-score guarantees: the inverse of `z_score`.

    At z = 0 that is 1/2 one-sided, and 3/4 in the paper's convention (its example below (18)).
    """
    from scipy import special  # noqa: PLC0415 - slow to import

    below = np.asarray(special.ndtr(np.asarray(z, dtype=np.float64)), dtype=np.float64)
    return (1.0 + below) / 2.0 if convention == "document" else below
