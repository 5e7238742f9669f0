"""The applications of a scenario: what sends, one class a kind.

A new kind is a class here and an entry of `APPLICATIONS`; `plan` and `draws` lower it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from bufferlab import units
from bufferlab.errors import InputError
from bufferlab.scenario.fields import (
    MAX_HEADER_BYTES,
    MAX_PACKET_BYTES,
    Flag,
    Name,
    RateBps,
    SizeLaw,
    TurnSize,
    TurnTime,
    one_of,
    size,
    time,
)
from bufferlab.scenario.part import Part
from bufferlab.units import PS_PER_S


class Bulk(Part):
    """TCP with data that never ends."""

    kind: Literal["bulk"] = Field(description="Kind of the application.")


class Transfer(Part):
    """TCP with so many bytes to send."""

    kind: Literal["transfer"] = Field(description="Kind of the application.")
    transfer_bytes: Annotated[int, size(1, units.MAX_SIZE_BYTES, "2 MB")] = Field(
        alias="bytes", description="Payload to send."
    )


class Udp(Part):
    """A source that does not listen to its path; its mean rate or mean interval is given."""

    kind: Literal["udp"] = Field(description="Kind of the application.")
    packet_bytes: Annotated[int, size(1, MAX_PACKET_BYTES, "1000 B")] = Field(
        alias="packet", description="Mean size on the wire, headers included."
    )
    rate_bps: RateBps | None = Field(None, alias="rate", description="Mean rate on the wire.")
    interval_given_ps: Annotated[int, time(1, "1 s")] | None = Field(
        None, alias="interval", description="Mean time between packets, in place of the rate."
    )
    header_bytes: Annotated[int, size(0, MAX_HEADER_BYTES, "28 B")] = Field(
        28,
        alias="header",
        description="Headers within the packet (20 bytes of IP, 8 of UDP).",
        json_schema_extra={"default": "28 B"},
    )
    arrivals: Annotated[Literal["constant", "poisson"], one_of("constant", "poisson")] = Field(
        "constant", description="Law of the times between packets."
    )
    sizes: Annotated[Literal["constant", "exponential"], one_of("constant", "exponential")] = Field(
        "constant", description="Law of the packet sizes."
    )

    record: Flag = Field(
        False, description="Each packet is a row of the exchanges, with its delay variation and jitter."
    )

    @property
    def interval_ps(self) -> int:
        """Mean time between packets, ps."""
        from_rate_ps = 8 * self.packet_bytes * PS_PER_S / (self.rate_bps or 1)
        return self.interval_given_ps or max(1, round(from_rate_ps))

    @model_validator(mode="after")
    def _one_rate(self) -> Self:
        if (self.rate_bps is None) == (self.interval_given_ps is None):
            raise InputError(
                "needs either a rate or an interval", accepted="rate = '50 Mbps' or interval = '1 s'"
            )
        if self.header_bytes > self.packet_bytes:
            raise InputError(
                "is more than the packet",
                key="header",
                value=units.format_size(self.header_bytes),
                accepted=f"at most {units.format_size(self.packet_bytes)}, as headers are part of the packet",
            )
        return self


class OnOff(Part):
    """TCP that has data, then none, by turns, over one connection."""

    kind: Literal["on-off"] = Field(description="Kind of the application.")
    on: TurnTime | None = Field(
        None, description="How long it has data at a time; may be exponential or Pareto."
    )
    size: TurnSize | None = Field(
        None, description="How much it has at a time, in place of on; may be exponential or Pareto."
    )
    off: TurnTime = Field(
        description="How long it is silent then: after on, or after the last byte of size is acknowledged."
    )

    @model_validator(mode="after")
    def _one_on(self) -> Self:
        if (self.on is None) == (self.size is None):
            raise InputError("needs either on or size", accepted="on = '1 s' or size = '100 KB'")
        return self


class ShortFlows(Part):
    """Transfers that come one after the other, each over a connection of its own."""

    kind: Literal["short-flows"] = Field(description="Kind of the application.")
    size: SizeLaw = Field(description="Payload of each flow; may be a distribution.")
    interval_given_ps: Annotated[int, time(1, "50 ms")] | None = Field(
        None, alias="interval", description="Mean time between the starts of two flows."
    )
    load_bps: RateBps | None = Field(
        None, alias="load", description="Mean payload that comes a second, in place of the interval."
    )
    arrivals: Annotated[Literal["poisson", "constant"], one_of("poisson", "constant")] = Field(
        "poisson", description="Law of the times between starts."
    )

    @property
    def interval_ps(self) -> int:
        """Mean time between starts, ps."""
        from_load_ps = 8 * (self.size.mean or 0) * PS_PER_S / (self.load_bps or 1)
        return self.interval_given_ps or max(1, round(from_load_ps))

    @model_validator(mode="after")
    def _one_rate(self) -> Self:
        if (self.load_bps is None) == (self.interval_given_ps is None):
            raise InputError(
                "needs either an interval or a load", accepted="interval = '50 ms' or load = '20 Mbps'"
            )
        if self.load_bps is not None and self.size.mean is None:
            raise InputError(
                "needs the mean of the sizes, which min and max change",
                key="load",
                value=units.format_rate(self.load_bps),
                accepted="interval = '50 ms', or a size without min and max",
            )
        return self


class Echo(Part):
    """A server's way back: what the flows of another group bring is returned as it comes."""

    kind: Literal["echo"] = Field(description="Kind of the application.")
    of: Name = Field(description="The group whose data is returned, flow by flow: bulk or a transfer.")


class Web(Part):
    """Fetches over TCP, one after the other, each over a connection of its own; the sender is the server."""

    kind: Literal["web"] = Field(description="Kind of the application.")
    size: TurnSize = Field(description="What each fetch brings; may be exponential or Pareto.")
    every: TurnTime = Field(
        description="From one fetch's start to the next one's, which waits for the last to be done."
    )


class Ping(Part):
    """Packets that the receiver returns."""

    kind: Literal["ping"] = Field(description="Kind of the application.")
    interval_ps: Annotated[int, time(1, "100 ms")] = Field(
        alias="interval", description="Time between two packets."
    )
    packet_bytes: Annotated[int, size(1, MAX_PACKET_BYTES, "84 B")] = Field(
        84,
        alias="packet",
        description="Size on the wire, both ways.",
        json_schema_extra={"default": "84 B"},
    )


Application = Bulk | Transfer | Echo | OnOff | ShortFlows | Web | Udp | Ping
"""What sends."""

APPLICATIONS: Final[Mapping[str, type[Part]]] = {
    "bulk": Bulk,
    "transfer": Transfer,
    "echo": Echo,
    "on-off": OnOff,
    "short-flows": ShortFlows,
    "web": Web,
    "udp": Udp,
    "ping": Ping,
}
"""The applications by the words of scenarios."""

DATAGRAMS: Final = (Udp, Ping)
"""Those without TCP."""
