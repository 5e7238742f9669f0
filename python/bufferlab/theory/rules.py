"""Registry of buffer sizing rules: each is a small pure function of a `Demand`, with its citation.

To add a rule, write a function that takes a `Demand` and returns bytes (an array over `demand.flow_count`),
and decorate it with `rule`. Everything that lists rules (`bufferlab size`, its figure, its runs) reads
the registry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from bufferlab.theory.arrays import FloatArray
from bufferlab.theory.demand import Demand

RuleFunction = Callable[[Demand], FloatArray]

AS_RENO: Final = "all as Reno"
ANY_CONTROL: Final = "any control"
"""What a rule makes of the flows' congestion controls: its formula is Reno's, or looks at none."""


@dataclass(frozen=True)
class Rule:
    """A buffer sizing rule.

    Attributes:
        name: Its name in commands, columns and scenarios.
        title: The formula in short form, for tables.
        citation: Where the rule was published.
        assumptions: Conditions under which the rule holds.
        controls: What it makes of the flows' congestion controls.
        function: From a demand to bytes.
        needs: Targets that the demand must have; otherwise the rule does not apply.
        bound: `"least"` if the rule gives the smallest buffer, `"most"` if it gives the largest.
        rounding: How bytes are rounded to packets.
    """

    name: str
    title: str
    citation: str
    assumptions: tuple[str, ...]
    function: RuleFunction
    controls: str = AS_RENO
    needs: tuple[str, ...] = ()
    bound: Literal["least", "most"] = "least"
    rounding: Literal["nearest", "up", "down"] = "nearest"

    def applies(self, demand: Demand) -> bool:
        """Whether the demand has the targets that the rule needs."""
        return all(getattr(demand.targets, name) is not None for name in self.needs)

    def buffer_bytes(self, demand: Demand) -> FloatArray:
        """Buffer by this rule, bytes; one value for each number of flows in `demand`."""
        return np.asarray(self.function(demand), dtype=np.float64)

    def buffer_packets(self, demand: Demand) -> NDArray[np.int64]:
        """Buffer by this rule, packets, at least 1; see `rounding` (nearest: ties to even).

        Raises:
            ValueError: No buffer is enough by this rule.
        """
        exact = self.buffer_bytes(demand) / demand.packet_bytes
        if not np.all(np.isfinite(exact)):
            raise ValueError(f"no buffer is enough by the rule {self.name!r}")
        packets = _ROUNDING[self.rounding](exact)
        return np.asarray(np.maximum(packets, 1.0), dtype=np.int64)

    def buffer_ms(self, demand: Demand) -> FloatArray:
        """Time that the link takes to drain this rule's buffer when full, ms."""
        return np.asarray(self.buffer_bytes(demand) * 8e3 / demand.rate_bps, dtype=np.float64)


_ROUNDING: Final[Mapping[str, Callable[[FloatArray], FloatArray]]] = {
    "nearest": np.rint,
    # bytes that miss a whole number of packets by rounding give that number
    "up": lambda exact: np.ceil(exact * (1.0 - 1e-12)),
    "down": lambda exact: np.floor(exact * (1.0 + 1e-12)),
}

_RULES: dict[str, Rule] = {}


def rule(
    *,
    name: str,
    title: str,
    citation: str,
    assumptions: tuple[str, ...],
    controls: str = AS_RENO,
    needs: tuple[str, ...] = (),
    bound: Literal["least", "most"] = "least",
    rounding: Literal["nearest", "up", "down"] = "nearest",
) -> Callable[[RuleFunction], Rule]:
    """Decorator that turns a function into a registered `Rule`.

    Raises:
        ValueError: A rule of that name exists.
    """

    def register(function: RuleFunction) -> Rule:
        if name in _RULES:
            raise ValueError(f"there is a sizing rule named {name!r} already")
        _RULES[name] = Rule(name, title, citation, assumptions, function, controls, needs, bound, rounding)
        return _RULES[name]

    return register


def all_rules() -> tuple[Rule, ...]:
    """Every rule, in order of registration."""
    return tuple(_RULES.values())


def get_rule(name: str) -> Rule:
    """The rule of that name.

    Raises:
        KeyError: There is none; the message lists the names.
    """
    if name not in _RULES:
        raise KeyError(f"no sizing rule named {name!r}; there are: {', '.join(_RULES)}")
    return _RULES[name]


@rule(
    name="bdp",
    title="BDP = RTT·C",
    citation="C. Villamizar and C. Song, High performance TCP in ANSNET, ACM CCR 24(5), 1994",
    assumptions=(
        "flows halve their windows together, or there is one flow",
        "windows halve on a loss (Reno)",
        "the round-trip time is the flows' arithmetic mean, without queueing",
    ),
)
def bdp(demand: Demand) -> FloatArray:
    """Bandwidth-delay product: if B = BDP, a window halved from BDP + B still fills the pipe."""
    return np.full_like(demand.flow_count, demand.bdp_bytes)


@rule(
    name="stanford",
    title="BDP/√n",
    citation="G. Appenzeller, I. Keslassy and N. McKeown, Sizing router buffers, ACM SIGCOMM 2004",
    assumptions=(
        "many long-lived flows that are not synchronized",
        "the sum of their windows is normal, and its relative deviation falls as 1/√n",
        "full utilization is the only goal: neither loss nor fairness is bounded",
    ),
    controls=ANY_CONTROL,
)
def stanford(demand: Demand) -> FloatArray:
    """Bandwidth-delay product over the square root of the number of long-lived flows."""
    return np.asarray(demand.bdp_bytes / np.sqrt(demand.flow_count), dtype=np.float64)
