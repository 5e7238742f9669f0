"""What a platform takes: bounds in its own units, and which buffers in packets those are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Final

from bufferlab import _core
from bufferlab.errors import InputError

_PER_S: Final = {"us": 10**6, "ms": 10**3}


@dataclass(frozen=True)
class Bound:
    """What a platform takes in one of its units.

    Attributes:
        who: What takes it: an option or a statement.
        unit: "packets", "bytes" (with the link header), "us" or "ms".
        most: The most.
        source: Where that was read: a document and a place in it.
        least: The least.
    """

    who: str
    unit: str
    most: int
    source: str
    least: int = 1

    def within(self, amount: int) -> int:
        """The amount, if it is not more than the most.

        Raises:
            InputError: It is more.
        """
        if amount > self.most:
            raise InputError(
                f"is more than {self.who} takes",
                key="buffer",
                value=f"{amount} {self.unit}",
                accepted=f"at most {self.most} {self.unit} ({self.source})",
            )
        return amount

    @property
    def shown(self) -> str:
        """The most, for people: "200 ms", "1 GB"."""
        if self.unit == "packets":
            return f"{self.most} packets"
        if self.unit == "bytes":
            return _core.format_quantity("size", self.most)
        return _core.format_quantity("time", self.most * 10**12 // _PER_S[self.unit])


@dataclass(frozen=True)
class Held:
    """How a platform's units become full packets on a link.

    Attributes:
        rate_bps: Rate of the link, bit/s.
        packet_bytes: Size of a full packet, bytes.
        overhead_bytes: What the platform counts for each packet beyond that, bytes.
    """

    rate_bps: int
    packet_bytes: int
    overhead_bytes: int

    def packets(self, amount: int, unit: str) -> Fraction:
        """How many full packets an amount holds; exact."""
        if unit == "packets":
            return Fraction(amount)
        if unit == "bytes":
            return Fraction(amount, self.packet_bytes + self.overhead_bytes)
        return Fraction(amount * self.rate_bps, 8 * self.packet_bytes * _PER_S[unit])


@dataclass(frozen=True)
class Allowed:
    """The buffers that a platform takes on a link.

    Attributes:
        platform: Name of the platform.
        title: Its name for people.
        least: The least, full packets.
        most: The most, full packets.
        bound: The bound that the most comes from.
    """

    platform: str
    title: str
    least: int
    most: int
    bound: Bound


def allowed(platform: str, title: str, bounds: Sequence[Bound], held: Held) -> Allowed | None:
    """The buffers that bounds leave, where any one of them may be used; `None` if there are no bounds.

    Args:
        platform: Name of the platform.
        title: Its name for people.
        bounds: What it takes in each of its units.
        held: How those become packets.

    Raises:
        InputError: It takes no full packet.
    """
    if not bounds:
        return None
    widest = max(bounds, key=lambda each: held.packets(each.most, each.unit))
    most = floor(held.packets(widest.most, widest.unit))
    if most < 1:
        rate = _core.format_quantity("rate", held.rate_bps)
        raise InputError(
            f"takes a buffer of {widest.shown} at most, which is less than a packet at {rate}",
            key="platform",
            value=platform,
            accepted="a faster link",
        )
    least = min(floor(held.packets(each.least, each.unit)) for each in bounds)
    return Allowed(platform, title, max(least, 1), most, widest)
