"""Queue disciplines with their parameters, as scenarios write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal, get_args

from pydantic import Field

from bufferlab.scenario.fields import Flag, RttText, SubBuffers, fraction, one_of, time
from bufferlab.scenario.part import Part
from bufferlab.scenario.trips import RttSource
from bufferlab.units import PS_PER_S


class Fifo(Part):
    """First in, first out, tail drop."""

    discipline: Literal["fifo"] = Field(description="Name of the queue discipline.")


class Codel(Part):
    """First in, first out, under CoDel (RFC 8289)."""

    discipline: Literal["codel"] = Field(description="Name of the queue discipline.")
    target_ps: Annotated[int, time(0, "5 ms")] = Field(
        5 * PS_PER_S // 1000,
        alias="target",
        description="Wait at which the queue may stand.",
        json_schema_extra={"default": "5 ms"},
    )
    interval_ps: Annotated[int, time(1, "100 ms")] = Field(
        PS_PER_S // 10,
        alias="interval",
        description="How long the queue has to stand before the first drop: about the longest usual rtt.",
        json_schema_extra={"default": "100 ms"},
    )
    ecn: Flag = Field(False, description="ECN-capable packets are marked in place of being dropped.")
    ce_threshold_ps: Annotated[int, time(0, "1 ms")] | None = Field(
        None,
        alias="ce_threshold",
        description="ECN-capable packets that waited for longer are marked; default never.",
    )
    control_law: Annotated[Literal["rfc", "linux"], one_of("rfc", "linux")] = Field(
        "rfc",
        description="Distance to the next drop: by the root of their count, or as Linux approximates it.",
    )


class SplitBuff(Part):
    """Sub-buffers by round-trip time, sized by the traffic (SplitBuff)."""

    discipline: Literal["splitbuff"] = Field(description="Name of the queue discipline.")
    sub_buffers: SubBuffers = Field(2, description="Number of sub-buffers.")
    update_ps: Annotated[int, time(1, "2 s")] = Field(
        2 * PS_PER_S,
        alias="update",
        description="Sizes and thresholds are computed anew so often: longer than the longest round trip.",
        json_schema_extra={"default": "2 s"},
    )
    smoothing: Annotated[float, fraction(1, "a weight", inclusive=True)] = Field(
        0.25, description="Weight of the last period's queueing delay in the smoothed one."
    )
    rtt: RttText = Field(
        RttSource("header"),
        description="Where the packets' round-trip times come from.",
        json_schema_extra={"default": "header"},
    )
    weighted: Flag = Field(
        False, description="Sub-buffers share the link by their numbers of flows, not alike."
    )


class SplitBuffBlind(Part):
    """Sub-buffers of equal size, flows put there at random (Blind-SplitBuff)."""

    discipline: Literal["splitbuff-blind"] = Field(description="Name of the queue discipline.")
    sub_buffers: SubBuffers = Field(2, description="Number of sub-buffers.")


Queue = Fifo | Codel | SplitBuff | SplitBuffBlind
"""Who waits, who is served, who is dropped: the union is the list of what scenarios may choose."""

QUEUES: Final[Mapping[str, type[Part]]] = {
    get_args(part.model_fields["discipline"].annotation)[0]: part for part in get_args(Queue)
}
"""The disciplines by name."""

QUEUE_WORDS: Final[Mapping[str, Mapping[str, object]]] = {
    **{name: {"discipline": name} for name in QUEUES},
    "splitbuff-weighted": {"discipline": "splitbuff", "weighted": True},
}
"""What `queue` may be in one word, and the table that it stands for."""

SPLITBUFF_CAP: Final = "2 bdp"
"""Buffer of a SplitBuff that is given none.

Its own size is the BDP of the packets' mean round-trip time, so twice that of the flows' seldom binds, save
before the first estimate: all wait in one queue then, and if nothing bounds it, slow start fills it with so
much that the losses after it cost a minute.
"""
