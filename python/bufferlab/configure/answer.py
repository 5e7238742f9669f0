"""An answer: a link's rate, its queue and its buffer, which it can tell in the units that routers count."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING, Any, Final

from bufferlab import _core
from bufferlab.configure.bounds import Held
from bufferlab.configure.linklayer import MOST_BYTES
from bufferlab.errors import InputError
from bufferlab.resolved import key_of
from bufferlab.scenario import Scenario
from bufferlab.units import PS_PER_S

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedLink

_SIZED: Final = ("packets", "bytes", "time")
"""Kinds of buffer that are a size without any flows."""

_BUFFERS: Final = "'1000 packets', '1.5 MB' or '20 ms' (of sending)"

OVERHEAD_BYTES: Final = 14
"""What routers count for each packet unless said otherwise: an Ethernet header, bytes (IEEE 802.3, 3.1.1)."""


@dataclass(frozen=True)
class Answer:
    """What to configure.

    Attributes:
        rate_bps: Rate of the link, bit/s.
        queue: The queue as asked for: a word of scenarios, or its table's discipline.
        discipline: Its discipline.
        parameters: The discipline's parameters as a resolved scenario has them: `target_ps`, `quantum_bytes`
            and so on.
        kind: Unit in which the buffer was given: "packets", "bytes" or "time".
        amount: The buffer in that unit: packets, bytes, ps of sending. What waits counts, not the packet in
            transmission.
        packet_bytes: Size of a full packet as the buffer counts it, bytes.
        overhead_bytes: Bytes that the router counts for each packet beyond that: its link header.
        changed: The parameters that are not at the discipline's default, by their names there, with
            the keys of scenarios.
    """

    rate_bps: int
    queue: str
    discipline: str
    parameters: Mapping[str, Any]
    kind: str
    amount: int
    packet_bytes: int
    overhead_bytes: int
    changed: Mapping[str, str] = field(default_factory=dict)

    @property
    def size_bytes(self) -> Fraction:
        """The buffer in bytes of packets, without the router's overhead; exact."""
        if self.kind == "packets":
            return Fraction(self.amount * self.packet_bytes)
        if self.kind == "bytes":
            return Fraction(self.amount)
        return Fraction(self.amount * self.rate_bps, 8 * PS_PER_S)

    @property
    def packets(self) -> int:
        """The buffer in full packets, rounded up."""
        return ceil(self.size_bytes / self.packet_bytes)

    @property
    def held(self) -> Held:
        """How routers' units become full packets here."""
        return Held(self.rate_bps, self.packet_bytes, self.overhead_bytes)

    @property
    def counted_bytes(self) -> int:
        """The buffer in bytes as the router counts full packets, rounded up."""
        return self.counted(self.size_bytes)

    @property
    def microseconds(self) -> int:
        """How long the link sends the buffer, us, rounded up."""
        return self._duration(10**6)

    @property
    def milliseconds(self) -> int:
        """How long the link sends the buffer, ms, rounded up."""
        return self._duration(10**3)

    @property
    def duration_s(self) -> Fraction:
        """How long the link sends the buffer, s; exact."""
        return self.size_bytes * 8 / self.rate_bps

    @property
    def full_packet(self) -> str:
        """A full packet in the unit of the answer: "1 packet", "1500 B", "12 us"."""
        if self.kind == "packets":
            return "1 packet"
        if self.kind == "bytes":
            return f"{self.packet_bytes} B"
        return f"{ceil(Fraction(self.packet_bytes * 8 * 10**6, self.rate_bps))} us"

    def counted(self, size_bytes: Fraction | int) -> int:
        """Bytes of full packets as the router counts them, with its overhead, rounded up."""
        return ceil(Fraction(size_bytes) * (self.packet_bytes + self.overhead_bytes) / self.packet_bytes)

    def threshold_bytes(self, threshold: Mapping[str, int]) -> int:
        """A plan's threshold, {"packets": 20} or {"bytes": 30000}, in bytes as the router counts them."""
        if "packets" in threshold:
            return threshold["packets"] * (self.packet_bytes + self.overhead_bytes)
        return self.counted(threshold["bytes"])

    def _duration(self, per_second: int) -> int:
        return ceil(self.size_bytes * 8 * per_second / self.rate_bps)


def read_answer(rate: str, queue: str | Mapping[str, Any], buffer: str, packet: str, overhead: str) -> Answer:
    """Read an answer in the words of scenarios, with their units, defaults and bounds.

    Raises:
        InputError: A part is none; its key is that of the argument.
    """
    packet_bytes = _size(packet, "packet", least=1)
    overhead_bytes = _size(overhead, "overhead", least=0)
    if overhead_bytes > MOST_BYTES:
        raise InputError(
            "is too large",
            key="overhead",
            value=overhead,
            accepted=f"0 B to {MOST_BYTES} B for each packet",
        )
    try:
        link = _link(rate, queue, buffer, packet)
    except InputError as error:
        raise _as_arguments(error) from None
    size, discipline = link["buffer"], link["queue"]
    if size["kind"] not in _SIZED:
        raise InputError(
            "is not a size by itself",
            key="buffer",
            value=buffer,
            accepted=_BUFFERS,
        )
    parameters = {key: value for key, value in discipline.items() if key != "discipline"}
    usual: Mapping[str, Any] = _link(rate, discipline["discipline"], buffer, packet)["queue"]
    return Answer(
        rate_bps=link["rate_bps"],
        queue=queue if isinstance(queue, str) else discipline["discipline"],
        discipline=discipline["discipline"],
        parameters=parameters,
        kind=size["kind"],
        amount=int(size["amount"]),
        packet_bytes=packet_bytes,
        overhead_bytes=overhead_bytes,
        changed={
            key: key_of(key) for key, value in parameters.items() if value is not None and value != usual[key]
        },
    )


def _link(rate: str, queue: str | Mapping[str, Any], buffer: str, packet: str) -> ResolvedLink:
    table = {
        "run": {"duration": "1 s"},
        "bottleneck": {"rate": rate, "queue": queue, "buffer": buffer},
        "flows": [{"rtt": "1 s", "application": {"kind": "ping", "interval": "1 s", "packet": packet}}],
    }
    return Scenario.from_dict(table).seeded().resolved["links"][0]


def _size(text: str, key: str, *, least: int) -> int:
    try:
        return _core.parse_quantity("size", text, least)
    except InputError as error:
        raise error.at(key=key) from None


_ARGUMENTS: Final = {
    "bottleneck.rate": "rate",
    "bottleneck.queue": "queue",
    "bottleneck.buffer": "buffer",
    "flows[0].application.packet": "packet",
}
"""Where a scenario has the arguments."""


def _as_arguments(error: InputError) -> InputError:
    """The same mistakes with the arguments' names in place of the scenario's keys."""
    return InputError.of([_as_argument(mistake) for mistake in (error, *error.others)])


def _as_argument(mistake: InputError) -> InputError:
    key = mistake.key or ""
    for place, argument in _ARGUMENTS.items():
        if key.startswith(place):
            key = argument + key.removeprefix(place)
    accepted = _BUFFERS if key == "buffer" else mistake.accepted  # no flows, so no multiples of a BDP
    return InputError(mistake.problem, key=key, value=mistake.value, accepted=accepted)
