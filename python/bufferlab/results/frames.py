"""The engine's tables as data frames for people: names instead of indices, units in the columns' names.

Figures without a prefix belong to the measured window (from the warm-up's end to the run's end), those
that start with `whole_` to the whole run. Every frame has a column `seed`, so that the frames of several runs
can be stacked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from bufferlab.results import exchanges
from bufferlab.stats import histogram_quantiles
from bufferlab.units import PS_PER_S

if TYPE_CHECKING:
    from bufferlab._core import Outcome

ALL: Final = "all"
"""Stands for all groups together in the column `group`."""

ALL_GROUPS: Final = 2**32 - 1
"""Stands for the same in the engine's tables."""

ALL_CLASSES: Final = 2**32 - 1
"""Stands for all classes together in the engine's table of class samples."""

QUANTILES: Final[Mapping[str, float]] = {
    "wait_p50_ms": 0.50,
    "wait_p95_ms": 0.95,
    "wait_p99_ms": 0.99,
}
"""Quantiles of the waiting time in the table of queues."""

PS_PER_MS: Final = 10**9
BITS_PER_BYTE: Final = 8
NONE: Final = 2**64 - 1

Plan = Mapping[str, Any]
"""A plan as in plan.json; its keys are those of `crates/simulator/src/plan.rs`."""


@dataclass(frozen=True)
class Frames:
    """The frames of a run.

    Attributes:
        flows: One row a flow. `goodput_bps` counts in-order payload over the whole measured window, also
            for flows that started later or ended earlier; `rtt_ms` is the mean of the sender's round-trip
            samples, `propagation_ms` the round trip without any waiting or transmission; `transfer_bytes`
            what a transfer has to send, `finished_s` when its last byte was acknowledged, `completion_s` the
            time from its start (its SYN, or without a handshake its first segment) until its last byte was
            received: null if it was not by the run's end; `reordered_packets` those that came after one of a
            higher number that was sent later (RFC 4737 by the times of sending), `spurious_retransmissions`
            the data packets that came though they were there already.
        queues: One row a link and group, and one of group "all" for each link. `loss` is drops over
            arrivals at the queue; `utilization` the bits that left in the measured window over what the link
            could carry; `wait_…` is the time in the queue, own transmission not counted.
        histograms: The waits of the same pairs: packets from `lower_ms` up to, not including, `upper_ms`.
        queue_samples: Time series of the sampled links; counters of packets run from the run's start, while
            `throughput_bps` is that of the interval before `time_s`.
        flow_samples: Time series of the sampled flows, likewise.
        classes: One row a link and class of its discipline, for disciplines that have classes (SplitBuff's
            sub-buffers, the shortest round-trip times first); columns as those of `queues`.
        class_samples: Time series of what such disciplines hold and estimate on the sampled links, one row a
            class and one with class `null` for the whole: `limit_…` is how much may wait, `threshold_ms` the
            round-trip time from which on packets belong to the next class, `rtt_ms` the mean round-trip time
            without queueing, `delay_ms` the smoothed wait, `flows` the number of active flows, `weight` the
            part of the service in that of the class with the least, `state_bytes` what a router must keep
            beside the packets. What a discipline does not know (yet) is `null`. These are the router's
            estimates; what was is in the other frames.
        exchanges: One row a burst of an on-off application with a size, a fetch, a recorded datagram or a
            ping: `start_s` when there was data, the client asked, the packet left; `end_s` when the last
            byte, or the ping's answer, was received, null if it was not by the run's end. Of recorded
            datagrams `variation_ms` is the time since the arrival before less the mean of those times,
            `jitter_ms` the estimate of RFC 3550.
    """

    flows: pl.DataFrame
    queues: pl.DataFrame
    histograms: pl.DataFrame
    queue_samples: pl.DataFrame
    flow_samples: pl.DataFrame
    classes: pl.DataFrame
    class_samples: pl.DataFrame
    exchanges: pl.DataFrame


NAMES: Final = (
    "flows", "queues", "histograms", "queue_samples", "flow_samples", "classes", "class_samples",
    "exchanges",
)  # fmt: skip
"""The frames' names, which are also those of their files."""

LATER_NAMES: Final = frozenset({"classes", "class_samples", "exchanges"})
"""Those that results of the first versions lack."""


def measured_s(plan: Plan, reached_ps: int) -> float:
    """Length of the measured window, s."""
    return max(reached_ps - int(plan["warmup_ps"]), 0) / PS_PER_S


def from_outcome(outcome: Outcome, plan: Plan, *, brief: bool = False) -> Frames:
    """Build the frames of a run of `plan`; if `brief`, only those that a summary needs: the rest is empty."""
    window_s = measured_s(plan, outcome.reached_ps)
    histograms = pl.DataFrame(outcome.histograms())
    flows = _flows(pl.DataFrame(outcome.flows()), plan, window_s)
    queues = _queues(pl.DataFrame(outcome.queues()), histograms, plan, window_s)
    pieces = exchanges.from_table(pl.DataFrame(outcome.exchanges()), plan)
    if brief:
        unused = dict.fromkeys(NAMES, pl.DataFrame())
        return Frames(**unused | {"flows": flows, "queues": queues, "exchanges": pieces})
    return Frames(
        flows=flows,
        queues=queues,
        histograms=_histograms(histograms, plan),
        queue_samples=_queue_samples(pl.DataFrame(outcome.queue_samples()), plan),
        flow_samples=_flow_samples(
            pl.DataFrame(outcome.sender_samples()), pl.DataFrame(outcome.receiver_samples()), plan
        ),
        classes=_classes(
            pl.DataFrame(outcome.classes()), pl.DataFrame(outcome.class_histograms()), plan, window_s
        ),
        class_samples=_class_samples(pl.DataFrame(outcome.class_samples()), plan),
        exchanges=pieces,
    )


def transfers(plan: Plan) -> pl.DataFrame:
    """What flows have to send: `transfer_bytes`, null without end; `is_short` for short flows."""
    flows = plan["flows"]
    of_groups = [group.get("source", {}).get("transfer_bytes") for group in plan["groups"]]
    table = pl.DataFrame(
        {
            "of_group": pl.Series([of_groups[group] for group in flows["group"]], dtype=pl.UInt64),
            "own": pl.Series(flows.get("transfer_bytes") or [NONE] * len(flows["group"]), dtype=pl.UInt64),
        }
    )
    short = pl.col("own") != NONE
    return table.select(
        pl.when(short).then("own").otherwise("of_group").alias("transfer_bytes"), short.alias("is_short")
    )


def _flows(table: pl.DataFrame, plan: Plan, window_s: float) -> pl.DataFrame:
    # a flow that was stopped is done with what it had sent, which is not the transfer
    is_done = pl.col("whole_delivered_bytes") >= pl.col("transfer_bytes")
    finished = pl.when(is_done).then(_unless_none("finished_ps"))
    table = table.with_columns(transfers(plan)["transfer_bytes"].gather(table["flow"]))
    return table.select(
        _seed(plan),
        "flow",
        _group_names(plan),
        _seconds("start_ps").alias("start_s"),
        _milliseconds("rtt_ps").alias("propagation_ms"),
        _rate("delivered_bytes", window_s).alias("goodput_bps"),
        _ratio(pl.col("rtt_sum_ps") / PS_PER_MS, pl.col("rtt_samples")).alias("rtt_ms"),
        "rtt_samples",
        "delivered_bytes",
        "sent_packets",
        "retransmissions",
        "timeouts",
        "recoveries",
        "reordered_packets",
        "spurious_retransmissions",
        "whole_delivered_bytes",
        "whole_sent_packets",
        "whole_retransmissions",
        "whole_timeouts",
        "whole_recoveries",
        "whole_reordered_packets",
        "whole_spurious_retransmissions",
        "transfer_bytes",
        _seconds(finished).alias("finished_s"),
        _seconds(_unless_none("received_ps") - pl.col("start_ps")).alias("completion_s"),
    )


def _queues(table: pl.DataFrame, histograms: pl.DataFrame, plan: Plan, window_s: float) -> pl.DataFrame:
    table = _with_quantiles(table, histograms, "group")
    if "marked_packets" not in table.columns:
        table = table.with_columns(pl.lit(0, dtype=pl.UInt64).alias("marked_packets"))
    of_all = pl.col("group") == ALL_GROUPS
    throughput = _rate("departed_bytes", window_s)
    rate = _names("link", [link["rate_bps"] for link in plan["links"]], pl.UInt64)
    return table.select(
        _seed(plan),
        _link_names(plan),
        _group_names(plan),
        rate.alias("rate_bps"),
        (throughput / rate).alias("utilization"),
        throughput.alias("throughput_bps"),
        pl.when(of_all).then("busy_fraction").alias("busy_fraction"),
        _ratio(pl.col("dropped_packets"), pl.col("arrived_packets")).alias("loss"),
        *_waits(),
        *[
            pl.when(of_all).then(name).alias(name)
            for name in (
                "backlog_mean_packets",
                "backlog_max_packets",
                "backlog_mean_bytes",
                "backlog_max_bytes",
            )
        ],
        "arrived_packets",
        "arrived_bytes",
        "dropped_packets",
        "dropped_bytes",
        "lost_packets",
        "marked_packets",
        "departed_packets",
        "departed_bytes",
        "served_packets",
        "whole_arrived_packets",
        "whole_dropped_packets",
        "whole_lost_packets",
        "whole_departed_packets",
        "left_packets",
    )


def _with_quantiles(table: pl.DataFrame, histograms: pl.DataFrame, part: str) -> pl.DataFrame:
    """The table with the waits' quantiles; `part` names its groups or classes of a link."""
    buckets = histograms.sort("link", part, "lower_ps").partition_by("link", part, as_dict=True)
    rows: list[tuple[float | None, ...]] = []
    for link, index, longest_ps in table.select("link", part, "sojourn_max_ps").iter_rows():
        own = buckets.get((link, index), histograms.clear())
        found_ps = histogram_quantiles(
            own["lower_ps"].to_numpy(),
            (own["upper_ps"] - 1).to_numpy(),  # a bucket's bound belongs to the next
            own["count"].to_numpy(),
            list(QUANTILES.values()),
            largest=longest_ps,
        )
        rows.append(
            (link, index, *(None if wait_ps is None else wait_ps / PS_PER_MS for wait_ps in found_ps))
        )
    schema = {"link": pl.UInt32, part: pl.UInt32, **dict.fromkeys(QUANTILES, pl.Float64)}
    quantiles = pl.DataFrame(rows, schema=schema, orient="row")
    return table.join(quantiles, on=["link", part], how="left", maintain_order="left")


def _waits() -> list[pl.Expr]:
    served = pl.col("served_packets") > 0
    return [
        pl.when(served).then(pl.col("sojourn_mean_ps") / PS_PER_MS).alias("wait_mean_ms"),
        *[pl.col(name) for name in QUANTILES],
        pl.when(served).then(_milliseconds("sojourn_max_ps")).alias("wait_max_ms"),
    ]


def _classes(table: pl.DataFrame, histograms: pl.DataFrame, plan: Plan, window_s: float) -> pl.DataFrame:
    return _with_quantiles(table, histograms, "class").select(
        _seed(plan),
        _link_names(plan),
        "class",
        _rate("departed_bytes", window_s).alias("throughput_bps"),
        _ratio(pl.col("dropped_packets"), pl.col("arrived_packets")).alias("loss"),
        *_waits(),
        "arrived_packets",
        "arrived_bytes",
        "dropped_packets",
        "dropped_bytes",
        "departed_packets",
        "departed_bytes",
        "served_packets",
        "whole_arrived_packets",
        "whole_dropped_packets",
        "whole_departed_packets",
        "left_packets",
    )


def _class_samples(table: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    return table.select(
        _seed(plan),
        _seconds("time_ps").alias("time_s"),
        _link_names(plan),
        pl.when(pl.col("class") != ALL_CLASSES).then("class").alias("class"),
        "backlog_packets",
        "backlog_bytes",
        _unless_none("limit_packets").alias("limit_packets"),
        _unless_none("limit_bytes").alias("limit_bytes"),
        _milliseconds(_unless_none("threshold_ps")).alias("threshold_ms"),
        _milliseconds(_unless_none("rtt_ps")).alias("rtt_ms"),
        _milliseconds("delay_ps").alias("delay_ms"),
        pl.when(pl.col("flows") >= 0).then("flows").alias("flows"),
        "weight",
        "state_bytes",
    )


def _histograms(table: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    return table.select(
        _seed(plan),
        _link_names(plan),
        _group_names(plan),
        _milliseconds("lower_ps").alias("lower_ms"),
        _milliseconds("upper_ps").alias("upper_ms"),
        pl.col("count").alias("packets"),
    )


def _queue_samples(table: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    return table.sort("link", "time_ps", maintain_order=True).select(
        _seed(plan),
        _seconds("time_ps").alias("time_s"),
        _link_names(plan),
        "backlog_packets",
        "backlog_bytes",
        "arrived_packets",
        "dropped_packets",
        "departed_bytes",
        _interval_rate("departed_bytes", "link").alias("throughput_bps"),
    )


def _flow_samples(senders: pl.DataFrame, receivers: pl.DataFrame, plan: Plan) -> pl.DataFrame:
    table = senders.join(receivers, on=["time_ps", "flow"], how="full", coalesce=True)
    groups = pl.Series(plan["flows"]["group"], dtype=pl.UInt32)
    table = table.with_columns(groups.gather(table["flow"]).alias("group"))
    return table.sort("flow", "time_ps").select(
        _seed(plan),
        _seconds("time_ps").alias("time_s"),
        "flow",
        _group_names(plan),
        "cwnd_segments",
        "ssthresh_segments",
        pl.when(pl.col("srtt_ps") > 0).then(_milliseconds("srtt_ps")).alias("srtt_ms"),
        "inflight_segments",
        "retransmissions",
        "delivered_bytes",
        _interval_rate("delivered_bytes", "flow").alias("goodput_bps"),
    )


def _seed(plan: Plan) -> pl.Expr:
    return pl.lit(plan["seed"], dtype=pl.UInt64).alias("seed")


def _group_names(plan: Plan) -> pl.Expr:
    names = [group["name"] for group in plan["groups"]]
    of_all = pl.col("group") == ALL_GROUPS
    one = pl.when(~of_all).then("group")
    return pl.when(of_all).then(pl.lit(ALL)).otherwise(_names(one, names, pl.String)).alias("group")


def _link_names(plan: Plan) -> pl.Expr:
    return _names("link", [link["name"] for link in plan["links"]], pl.String).alias("link")


def _names(index: str | pl.Expr, values: Sequence[object], dtype: type[pl.DataType]) -> pl.Expr:
    column = pl.col(index) if isinstance(index, str) else index
    return column.replace_strict(list(range(len(values))), list(values), default=None, return_dtype=dtype)


def _seconds(column: str | pl.Expr) -> pl.Expr:
    return _divided(pl.col(column) if isinstance(column, str) else column, PS_PER_S)


def _milliseconds(column: str | pl.Expr) -> pl.Expr:
    return _divided(pl.col(column) if isinstance(column, str) else column, PS_PER_MS)


def _unless_none(column: str) -> pl.Expr:
    """What the engine writes as its largest number is none."""
    return pl.when(pl.col(column) != NONE).then(column)


def _divided(counts: pl.Expr, unit: int) -> pl.Expr:
    """Integers over a unit; 60 for 60 units, where polars alone, by the inverse, has 60.00000000000001."""
    return counts // unit + (counts % unit) / unit


def _rate(column: str, window_s: float) -> pl.Expr:
    rate_bps = pl.col(column).cast(pl.Float64) * BITS_PER_BYTE / window_s
    return rate_bps if window_s > 0 else pl.lit(None, dtype=pl.Float64)


def _ratio(part: pl.Expr, whole: pl.Expr) -> pl.Expr:
    return pl.when(whole > 0).then(part / whole)


def _interval_rate(column: str, owner: str) -> pl.Expr:
    """Bits a second since the owner's sample before, or the run's start; rows must be in order of time."""

    def step(name: str) -> pl.Expr:
        value = pl.col(name).cast(pl.Float64)
        return value - value.shift(1, fill_value=0.0).over(owner)

    length_s = step("time_ps") / PS_PER_S
    return pl.when(length_s > 0).then(step(column) * BITS_PER_BYTE / length_s)
