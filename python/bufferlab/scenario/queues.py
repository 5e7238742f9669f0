"""Queue disciplines with their parameters, as scenarios write them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, Literal, Self, get_args

from pydantic import Field, model_validator

from bufferlab import units
from bufferlab.errors import InputError
from bufferlab.scenario.fields import (
    MAX_PACKET_BYTES,
    Flag,
    RttText,
    SubBuffers,
    ThresholdText,
    fraction,
    integer,
    one_of,
    size,
    time,
)
from bufferlab.scenario.part import Part
from bufferlab.scenario.trips import RttSource
from bufferlab.units import PS_PER_S

MIN_QUANTUM_BYTES: Final = 256
"""Least bytes a round, Linux's for FQ-CoDel: a packet waits for a bounded number of rounds."""

MAX_HASHED_QUEUES: Final = 1 << 16
"""Most queues of hashed flows, Linux's for FQ-CoDel."""


class Fifo(Part):
    """First in, first out, tail drop."""

    discipline: Literal["fifo"] = Field(description="Name of the queue discipline.")


class _ControlledDelay(Part):
    """What every queue under CoDel has."""

    discipline: str
    target_ps: Annotated[int, time(0, "5 ms")] = Field(
        5 * PS_PER_S // 1000,
        alias="target",
        description="Wait at which a queue may stand.",
        json_schema_extra={"default": "5 ms"},
    )
    interval_ps: Annotated[int, time(1, "100 ms")] = Field(
        PS_PER_S // 10,
        alias="interval",
        description="How long a queue has to stand before the first drop: about the longest usual rtt.",
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


class Codel(_ControlledDelay):
    """First in, first out, under CoDel (RFC 8289)."""

    discipline: Literal["codel"] = Field(description="Name of the queue discipline.")


class SplitBuff(Part):
    """Sub-buffers by round-trip time, sized by the traffic (SplitBuff)."""

    discipline: Literal["splitbuff"] = Field(description="Name of the queue discipline.")
    sub_buffers: SubBuffers = Field(2, description="Number of sub-buffers.")
    update_ps: Annotated[int, time(1, "500 ms")] = Field(
        PS_PER_S // 2,
        alias="update",
        description="Sizes and thresholds are computed anew so often: about the longest round trip.",
        json_schema_extra={"default": "500 ms"},
    )
    smoothing: Annotated[float, fraction(1, "a weight", inclusive=True)] = Field(
        0.5, description="Weight of the last period's queueing delay in the smoothed one."
    )
    first_update_given_ps: Annotated[int, time(1, "250 ms")] | None = Field(
        None,
        alias="first_update",
        description="First period, each twice the last up to update; default an eighth of that.",
    )
    rtt: RttText = Field(
        RttSource("header"),
        description="Where the packets' round-trip times come from.",
        json_schema_extra={"default": "header"},
    )
    weighted: Flag = Field(
        False, description="Sub-buffers share the link by their numbers of flows, not alike."
    )
    thresholds: Annotated[Literal["mean", "gaps"], one_of("mean", "gaps")] = Field(
        "mean",
        description="At the mean round-trip time, or in the gaps between these, as many as they need.",
    )
    hysteresis: Annotated[float, fraction(1, "a part", inclusive=True)] = Field(
        0.0, description="Part by which a threshold must change to be moved."
    )
    mean: Annotated[Literal["packets", "flows"], one_of("packets", "flows")] = Field(
        "packets", description="Over what the mean round-trip time is taken."
    )

    @property
    def first_update_ps(self) -> int:
        """First period, ps."""
        return self.first_update_given_ps or max(self.update_ps // 8, 1)


class SplitBuffBlind(Part):
    """Sub-buffers of equal size, flows put there at random (Blind-SplitBuff)."""

    discipline: Literal["splitbuff-blind"] = Field(description="Name of the queue discipline.")
    sub_buffers: SubBuffers = Field(2, description="Number of sub-buffers.")


class Drr(Part):
    """A queue a flow, served in rounds (deficit round robin)."""

    discipline: Literal["drr"] = Field(description="Name of the queue discipline.")
    quantum_bytes: Annotated[int, size(MIN_QUANTUM_BYTES, MAX_PACKET_BYTES, "1514 B")] = Field(
        1514,
        alias="quantum",
        description="Bytes that each queue may send a round; best no less than the largest packet.",
        json_schema_extra={"default": "1514 B"},
    )


class Red(Part):
    """First in, first out, with random early drops (RED and adaptive RED)."""

    discipline: Literal["red"] = Field(description="Name of the queue discipline.")
    min_threshold: ThresholdText | None = Field(
        None, description="Average backlog above which packets may be dropped; default by target_delay."
    )
    max_threshold: ThresholdText | None = Field(
        None, description="Average backlog above which all are dropped; default three times min_threshold."
    )
    target_delay_given_ps: Annotated[int, time(1, "5 ms")] | None = Field(
        None,
        alias="target_delay",
        description="Wait at the automatic thresholds' middle; default 5 ms. Not with given thresholds.",
    )
    weight: Annotated[float, fraction(1, "a weight", inclusive=True)] | None = Field(
        None, description="Share by which an arrival moves the average; default one that fits the rate."
    )
    max_p: Annotated[float, fraction(1, "a chance", inclusive=True)] = Field(
        0.1, description="Chance of a drop as the average reaches max_threshold; where it starts if adaptive."
    )
    gentle: Flag = Field(True, description="Above max_threshold the chance goes on to 1 at its double.")
    adaptive: Flag = Field(True, description="max_p follows the average, so that it stays in the middle.")
    ecn: Flag = Field(False, description="ECN-capable packets are marked in place of being dropped early.")
    mean_packet_bytes: Annotated[int, size(1, MAX_PACKET_BYTES, "1000 B")] | None = Field(
        None,
        alias="mean_packet",
        description="Typical size on the wire; default the largest full packet of the link's flows.",
    )

    @property
    def target_delay_ps(self) -> int:
        """Wait for which thresholds are chosen that are not given, ps."""
        return self.target_delay_given_ps or PS_PER_S // 200

    @model_validator(mode="after")
    def _thresholds_or_delay(self) -> Self:
        given = self.min_threshold or self.max_threshold
        if given and self.target_delay_given_ps is not None:
            raise InputError(
                "does not go with given thresholds",
                key="target_delay",
                value=units.format_time(self.target_delay_given_ps),
                accepted="either target_delay or min_threshold and max_threshold",
            )
        return self


class Pie(Part):
    """First in, first out, under PIE (RFC 8033)."""

    discipline: Literal["pie"] = Field(description="Name of the queue discipline.")
    target_ps: Annotated[int, time(0, "15 ms")] = Field(
        15 * PS_PER_S // 1000,
        alias="target",
        description="Wait to hold.",
        json_schema_extra={"default": "15 ms"},
    )
    update_ps: Annotated[int, time(PS_PER_S // 1000, "15 ms")] = Field(
        15 * PS_PER_S // 1000,
        alias="update",
        description="Time between updates of the chance of a drop.",
        json_schema_extra={"default": "15 ms"},
    )
    alpha: Annotated[float, fraction(1000, "a gain", inclusive=True)] = Field(
        0.125, description="Change of the chance for a second above the target, each update."
    )
    beta: Annotated[float, fraction(1000, "a gain", inclusive=True)] = Field(
        1.25, description="Change of the chance for a second by which the wait has grown, each update."
    )
    burst_ps: Annotated[int, time(0, "150 ms")] = Field(
        15 * PS_PER_S // 100,
        alias="burst",
        description="How long a burst passes unharmed after a calm time.",
        json_schema_extra={"default": "150 ms"},
    )
    ecn: Flag = Field(
        False,
        description="ECN-capable packets are marked in place of being dropped while the chance is small.",
    )


class FqCodel(_ControlledDelay):
    """Queues of hashed flows, served in rounds, each under CoDel (RFC 8290)."""

    discipline: Literal["fq_codel"] = Field(description="Name of the queue discipline.")
    ecn: Flag = Field(True, description="ECN-capable packets are marked in place of being dropped.")
    flows: Annotated[int, integer(1, MAX_HASHED_QUEUES, "queues")] = Field(
        1024, description="Queues to which flows are hashed."
    )
    quantum_bytes: Annotated[int, size(MIN_QUANTUM_BYTES, MAX_PACKET_BYTES, "1514 B")] = Field(
        1514,
        alias="quantum",
        description="Bytes that each queue may send a round; best no less than the largest packet.",
        json_schema_extra={"default": "1514 B"},
    )
    drop_batch: Annotated[int, integer(1, 2**32 - 1, "packets")] = Field(
        64, description="Most packets dropped at once when the buffer is full."
    )


Queue = Fifo | Codel | FqCodel | Pie | Red | Drr | SplitBuff | SplitBuffBlind
"""Who waits, who is served, who is dropped: the union is the list of what scenarios may choose."""

QUEUES: Final[Mapping[str, type[Part]]] = {
    get_args(part.model_fields["discipline"].annotation)[0]: part for part in get_args(Queue)
}
"""The disciplines by name."""

QUEUE_WORDS: Final[Mapping[str, Mapping[str, object]]] = {
    **{name: {"discipline": name} for name in QUEUES},
    "splitbuff-weighted": {
        "discipline": "splitbuff",
        "weighted": True,
        "thresholds": "gaps",
        "sub_buffers": 4,
    },
}
"""What `queue` may be in one word, and the table that it stands for."""

SPLITBUFF_CAP: Final = "2 bdp"
"""Buffer of a SplitBuff that is given none.

Its own size is the BDP of the packets' mean round-trip time, so twice that of the flows' seldom binds, save
before the first estimate: all wait in one queue then, and slow start would fill it with what is lost later.
"""
