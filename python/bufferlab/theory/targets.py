"""Targets for a link: utilization, loss and delay, and how probabilities become quantiles."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, Literal, get_args

from bufferlab.errors import InputError
from bufferlab.theory.normal import CONVENTIONS, Convention

Characteristics = Literal["derived", "published"]
"""Where characteristic values come from: the growth functions, or only from what a demand is given."""

CHARACTERISTICS: Final[tuple[Characteristics, ...]] = get_args(Characteristics)

DEFAULT_UTILIZATION: Final = 0.99
DEFAULT_CONFIDENCE: Final = 0.99


@dataclass(frozen=True)
class Targets:
    """The constraints on a link's buffer.

    Attributes:
        utilization: tau. In the theory of heterogeneous TCP, the probability that the windows fill the link;
            in simulations, the mean utilization.
        max_loss: phi, largest loss; `None` for no bound.
        max_delay_s: lambda, longest wait, s; `None` for no bound.
        confidence: rho, probability that the loss stays below its bound.
        convention: How probabilities become z-scores; see `bufferlab.theory.normal`.
        characteristics: Which characteristic values of the protocols are used: `derived` from the growth
            functions where none is given, or only `published` ones, which a demand has as `measured`.
    """

    utilization: float = DEFAULT_UTILIZATION
    max_loss: float | None = None
    max_delay_s: float | None = None
    confidence: float = DEFAULT_CONFIDENCE
    convention: Convention = "one-sided"
    characteristics: Characteristics = "derived"

    def __post_init__(self) -> None:
        """Refuse targets that no buffer can meet.

        Raises:
            InputError: A value out of bounds.
        """
        _word("convention", self.convention, CONVENTIONS)
        _word("characteristics", self.characteristics, CHARACTERISTICS)
        least = 0.5 if self.convention == "document" else 0.0
        for name in ("utilization", "confidence"):
            if not least < getattr(self, name) < 1.0:
                self._refuse(name, f"above {least:g} and below 1; 1 would need an infinite buffer")
        if self.max_loss is not None and not 0.0 < self.max_loss < 1.0:
            self._refuse("max_loss", "a share above 0 and below 1, such as 0.01 for 1 %")
        if self.max_delay_s is not None and not (math.isfinite(self.max_delay_s) and self.max_delay_s > 0):
            self._refuse("max_delay_s", "a time above 0")

    def _refuse(self, name: str, accepted: str) -> None:
        raise InputError("is out of bounds", key=name, value=getattr(self, name), accepted=accepted)


def _word(name: str, value: str, accepted: tuple[str, ...]) -> None:
    if value not in accepted:
        raise InputError("is not known", key=name, value=value, accepted=", ".join(accepted))
