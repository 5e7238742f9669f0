"""The parts of a scenario, as validated: what is written as "10 ms" is an integer with its unit in the name.

Aliases are the keys of the file. Checks that need one part only are here; those across parts are in `checks`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Self, get_args

from pydantic import ConfigDict, Field, model_validator

from bufferlab import units
from bufferlab.distributions import Distribution, constant
from bufferlab.errors import InputError
from bufferlab.presets import DEFAULT_STACK, STACKS, AfterIdle, Growth, Recovery
from bufferlab.scenario.applications import (
    APPLICATIONS,
    DATAGRAMS,
    Application,
    Bulk,
    Echo,
    Ping,
    ShortFlows,
    Udp,
)
from bufferlab.scenario.fields import (
    MAX_FLOWS,
    MAX_HEADER_BYTES,
    MAX_PACKET_BYTES,
    MAX_SEGMENTS,
    BufferText,
    CongestionText,
    DelayedAck,
    Flag,
    Jitter,
    MarkText,
    Name,
    OffloadText,
    RateBps,
    Ssthresh,
    TimeLaw,
    Title,
    WindowText,
    WordOrTable,
    fraction,
    integer,
    one_of,
    size,
    time,
)
from bufferlab.scenario.part import Part
from bufferlab.scenario.queues import QUEUE_WORDS, SPLITBUFF_CAP, Fifo, Queue
from bufferlab.units import PS_PER_S

_MAX_TIMER_PS = 10_000 * PS_PER_S
_WARMUP_SHARE = 5  # the warm-up is a fifth of the run unless given


class Run(Part):
    """Length, warm-up, seed and stack of the run."""

    name: Title | None = Field(None, description="Title of the run.")
    duration_ps: Annotated[int, time(1, "500 s")] = Field(alias="duration", description="Simulated time.")
    warmup_given_ps: Annotated[int, time(0, "100 s")] | None = Field(
        None, alias="warmup", description="Measurements start here; default a fifth of the duration."
    )
    seed: Annotated[int, integer(0, 2**63 - 1, "the seed")] = Field(
        1, description="Seed of every random draw."
    )
    stack: Annotated[str, one_of(*STACKS)] = Field(
        DEFAULT_STACK,
        description="Preset of the TCP keys of every flow group that names no stack of its own.",
    )

    @property
    def warmup_ps(self) -> int:
        """When measurements start, ps."""
        return self.duration_ps // _WARMUP_SHARE if self.warmup_given_ps is None else self.warmup_given_ps

    @model_validator(mode="after")
    def _warmup_within_run(self) -> Self:
        if self.warmup_ps >= self.duration_ps:
            longest = units.format_time(self.duration_ps)
            raise InputError(
                "leaves nothing to measure",
                key="warmup",
                value=units.format_time(self.warmup_ps),
                accepted=f"less than the duration of {longest}",
            )
        return self


class Change(Part):
    """A new buffer from a moment on."""

    at_ps: Annotated[int, time(0, "100 s")] = Field(alias="at", description="When.")
    buffer: BufferText = Field(description="The new limit.")


def _buffer_or_queue(schema: dict[str, Any]) -> None:
    """A buffer is required of all queues but SplitBuff; that of the default queue, too."""
    schema["required"].remove("buffer")
    schema["anyOf"] = [{"required": ["buffer"]}, {"required": ["queue"]}]


class Link(Part):
    """A queue, a transmitter and a propagation delay."""

    model_config = ConfigDict(json_schema_extra=_buffer_or_queue)

    name: Name = Field("", description="Name; default link0, link1, …, or bottleneck in the short form.")
    rate_bps: RateBps = Field(alias="rate", description="Transmission rate.")
    delay_ps: Annotated[int, time(0, "1 ms")] = Field(
        0, alias="delay", description="Propagation delay, one way.", json_schema_extra={"default": "0 s"}
    )
    buffer: BufferText = Field(
        description="How much may wait; the packet in transmission is not counted. Only splitbuff needs none."
    )
    queue: Annotated[
        Annotated[Queue, Field(discriminator="discipline")],
        WordOrTable(
            QUEUE_WORDS, f"{', '.join(map(repr, QUEUE_WORDS))}, or a table such as {{discipline = 'codel'}}"
        ),
    ] = Field(Fifo(discipline="fifo"), description="Queue discipline, with its parameters if a table.")
    mark_above: MarkText | None = Field(
        None,
        description="An ECN-capable packet that finds more than this waiting is marked; default never.",
    )
    loss: Annotated[float, fraction(1, "a share of packets", inclusive=True)] = Field(
        0.0, description="Chance that an arriving packet is lost before the queue."
    )
    changes: list[Change] = Field([], description="Changes of the buffer during the run, in order of time.")

    @model_validator(mode="before")
    @classmethod
    def _splitbuff_sizes_itself(cls, table: object) -> object:
        if not isinstance(table, dict) or table.get("buffer") is not None:
            return table
        queue = table.get("queue")
        given = QUEUE_WORDS.get(queue, {}) if isinstance(queue, str) else queue
        sizes_itself = isinstance(given, Mapping) and given.get("discipline") == "splitbuff"
        return {**table, "buffer": SPLITBUFF_CAP} if sizes_itself else table

    @model_validator(mode="after")
    def _marks_by_the_queue(self) -> Self:
        if self.mark_above is not None and not isinstance(self.queue, Fifo):
            raise InputError(
                "goes with the queue 'fifo' only",
                key="mark_above",
                value=self.mark_above.text,
                accepted="ecn or ce_threshold in the queue's table",
            )
        return self

    @model_validator(mode="after")
    def _changes_in_order(self) -> Self:
        for index, (earlier, later) in enumerate(zip(self.changes, self.changes[1:], strict=False), start=1):
            if later.at_ps <= earlier.at_ps:
                raise InputError(
                    "is not later than the change before it",
                    key=f"changes[{index}].at",
                    value=units.format_time(later.at_ps),
                    accepted=f"a time after {units.format_time(earlier.at_ps)}",
                )
        return self


_TIMER = time(10**6, "200 ms", most_ps=_MAX_TIMER_PS)


class TcpKeys(Part):
    """Keys that override the stack preset of a flow group."""

    congestion: CongestionText | None = Field(None, description="Window growth and decrease.")
    fast_convergence: Flag | None = Field(
        None, description="BIC and CUBIC: a loss at a smaller window than the last one frees more room."
    )
    growth: Annotated[Growth, one_of("per-ack", "per-segment")] | None = Field(
        None, description="What a step of Reno's window growth counts."
    )
    recovery: Annotated[Recovery, one_of(*get_args(Recovery))] | None = Field(
        None, description="How losses are repaired; tahoe and newreno choose it too."
    )
    segment_bytes: Annotated[int, size(1, MAX_PACKET_BYTES, "1000 B")] | None = Field(
        None, alias="segment", description="Payload of a full segment."
    )
    header_bytes: Annotated[int, size(0, MAX_HEADER_BYTES, "40 B")] | None = Field(
        None, alias="header", description="Headers of a data segment on the wire, on top of the payload."
    )
    ack_bytes: Annotated[int, size(1, MAX_PACKET_BYTES, "40 B")] | None = Field(
        None, alias="ack", description="Size of a pure acknowledgment, and of a SYN, on the wire."
    )
    window: WindowText | None = Field(None, description="Advertised receive window.")
    window_scaling: Flag | None = Field(None, description="Without it the window is at most 65,535 bytes.")
    initial_window: Annotated[int, integer(1, MAX_SEGMENTS, "segments")] | None = Field(
        None, description="Initial congestion window, segments."
    )
    initial_ssthresh: Ssthresh | None = Field(
        None, description="Initial slow-start threshold, segments, or 'none'."
    )
    delayed_ack: DelayedAck | None = Field(
        None, description="Segments that an acknowledgment waits for: true is 2, false is 1."
    )
    ack_delay_ps: Annotated[int, time(0, "40 ms", most_ps=_MAX_TIMER_PS)] | None = Field(
        None, alias="ack_delay", description="Longest wait of a delayed acknowledgment."
    )
    min_rto_ps: Annotated[int, _TIMER] | None = Field(
        None, alias="min_rto", description="Lower bound of the retransmission timeout."
    )
    max_rto_ps: Annotated[int, _TIMER] | None = Field(
        None, alias="max_rto", description="Upper bound of the retransmission timeout."
    )
    rto_margin_ps: Annotated[int, time(0, "200 ms", most_ps=_MAX_TIMER_PS)] | None = Field(
        None,
        alias="rto_margin",
        description="Least margin of the retransmission timeout above the smoothed round-trip time.",
    )
    initial_rto_ps: Annotated[int, _TIMER] | None = Field(
        None, alias="initial_rto", description="Timeout before the first round-trip sample."
    )
    clock_ps: Annotated[int, time(1, "10 ms", "1 ps", most_ps=_MAX_TIMER_PS)] | None = Field(
        None, alias="clock", description="Granularity of the round-trip clock; 1 ps is exact."
    )
    timestamps: Flag | None = Field(None, description="A round-trip sample from each acknowledgment.")
    limited_transmit: Flag | None = Field(None, description="RFC 3042.")
    handshake: Flag | None = Field(None, description="A SYN goes first.")
    paced: Flag | None = Field(
        None, description="Segments leave at a pace, as Linux's under fq: 2 or 1.2 windows a round trip."
    )
    offload: OffloadText | None = Field(
        None, description="How many consecutive segments leave as one packet: segmentation offload."
    )
    after_idle: Annotated[AfterIdle, one_of(*get_args(AfterIdle))] | None = Field(
        None, description="The window of an on-off application after an idle time."
    )

    def given_tcp(self) -> dict[str, Any]:
        """The TCP keys that were given, by field name."""
        values = {name: getattr(self, name) for name in TcpKeys.model_fields}
        return {name: value for name, value in values.items() if value is not None}


class Flow(TcpKeys):
    """A group of flows that share everything but what is drawn at random."""

    name: Name = Field("", description="Name of the group; default flows0, flows1, ….")
    count: Annotated[int, integer(1, MAX_FLOWS, "flows (of all groups together)")] = Field(
        1, description="Number of flows."
    )
    rtt: TimeLaw = Field(
        description="Two-way propagation delay in all, that of the links included; may be a distribution."
    )
    rtt_spread: Annotated[float, fraction(1, "a share of the rtt", inclusive=False)] = Field(
        0.0, description="Spaces the flows' rtt evenly over rtt*(1-s) … rtt*(1+s)."
    )
    path: list[Name] | None = Field(
        None, min_length=1, description="Links that data crosses, in order; default the only link."
    )
    reverse_path: list[Name] = Field(
        [], description="Queued links that acknowledgments cross; default none, a pure delay."
    )
    access_rate_bps: RateBps | None = Field(
        None, alias="access_rate", description="Rate of the sender's own interface; default no bound."
    )
    jitter: Jitter | None = Field(None, description="Random processing delay at the sender; default none.")
    start: TimeLaw = Field(
        default_factory=lambda: constant(0, "0 s"),
        description="First packet; may be a distribution.",
        json_schema_extra={"default": "0 s"},
    )
    stop: TimeLaw | None = Field(None, description="No new data from here on; default the run's end.")
    application: Annotated[
        Annotated[Application, Field(discriminator="kind")],
        WordOrTable(
            {"bulk": {"kind": "bulk"}}, f"'bulk', or a table whose kind is one of {', '.join(APPLICATIONS)}"
        ),
    ] = Field(Bulk(kind="bulk"), description="What sends.")
    stack: Annotated[str, one_of(*STACKS)] | None = Field(
        None, description="Preset of the TCP keys; default run.stack."
    )

    @model_validator(mode="after")
    def _keys_agree(self) -> Self:
        if self.rtt_spread and self.rtt.kind != "constant":
            raise InputError(
                "does not go with a random rtt",
                key="rtt_spread",
                value=self.rtt_spread,
                accepted="one rtt, or 0",
            )
        if isinstance(self.application, DATAGRAMS):
            self._refuse_tcp_keys(self.application)
        if isinstance(self.application, ShortFlows):
            self._refuse_for_short_flows()
        if isinstance(self.application, Echo) and self.start.parameters != {"value": 0}:
            accepted = "no start: it begins with the group that it returns"
            raise InputError(
                "means nothing to an echo", key="start", value=self.start.text, accepted=accepted
            )
        fixed = self.stop is not None and self.stop.kind == self.start.kind == "constant"
        if fixed and self.stop and _value(self.stop) <= _value(self.start):
            raise InputError(
                "is not after the start",
                key="stop",
                value=self.stop.text,
                accepted=f"after {self.start.text}",
            )
        return self

    def _refuse_tcp_keys(self, application: Udp | Ping) -> None:
        returns = isinstance(application, Ping)
        tcp_fields = [*TcpKeys.model_fields, "stack", "jitter", *([] if returns else ["reverse_path"])]
        for name in tcp_fields:
            if getattr(self, name) not in (None, []):
                key = Flow.model_fields[name].alias or name
                problem = f"means nothing to a {application.kind} application"
                raise InputError(problem, key=key, accepted="no TCP keys here")

    def _refuse_for_short_flows(self) -> None:
        """One process of arrivals makes the flows, and flows that come later are no other kind of flows."""
        if self.count != 1:
            accepted = "no count: the interval or load of the application says how many flows come"
            raise InputError("means nothing to short-flows", key="count", value=self.count, accepted=accepted)
        if self.rtt_spread:
            accepted = "an rtt such as 'uniform(20 ms, 60 ms)', from which each flow draws its own"
            raise InputError(
                "means nothing to short-flows", key="rtt_spread", value=self.rtt_spread, accepted=accepted
            )


def _value(law: Distribution) -> float:
    return law.parameters["value"]


class Probes(Part):
    """What to sample over time."""

    interval_ps: Annotated[int, time(10**6, "10 ms")] = Field(
        alias="interval", description="Time between samples."
    )
    links: list[Name] | None = Field(None, description="Links to sample; default all.")
    flows: list[Name] | None = Field(None, description="Flow groups to sample; default all.")
    per_group: Annotated[int, integer(1, MAX_FLOWS, "flows")] = Field(
        10, description="Most flows sampled in each group, the first ones."
    )
