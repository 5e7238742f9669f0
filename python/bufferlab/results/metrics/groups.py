"""Metrics of flow groups."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from bufferlab.results.frames_seen import FramesSeen
from bufferlab.results.groups import FlowGroup, number
from bufferlab.results.metrics.keys import GROUP
from bufferlab.results.metrics.metric import (
    BITS_PER_S,
    COUNT,
    FRACTION,
    MILLISECONDS,
    NUMBER,
    QUANTILES,
    SECONDS,
    Better,
    Dimension,
    Metric,
    Unit,
    Values,
)  # fmt: skip
from bufferlab.results.videos import Viewing
from bufferlab.stats import jain_index

Compute = Callable[[FlowGroup], float | None]

Watched = TypeVar("Watched", Viewing, FramesSeen)


def _several_flows(row: Values) -> bool:
    return row.get("flows") != 1


def _some_unfinished(row: Values) -> bool:
    return bool(row["unfinished_flows"])


def _sum(name: str, definition: str, title: str, *, hide_zero: bool = False) -> Metric:
    return Metric(
        name, COUNT, definition, lambda group: group.known_sum(name), title, Better.LOWER, hide_zero=hide_zero
    )


def _exchanges(
    name: str,
    unit: Unit,
    definition: str,
    compute: Compute,
    *,
    title: str,
    better: Better = Better.LOWER,
    out_of: str = "",
    has_line: bool = True,
    censored_by: str = "",
) -> Metric:
    """A metric of a group's exchanges, null without any."""

    def of(group: FlowGroup) -> float | None:
        return compute(group) if group.exchanges.height else None

    return Metric(
        name,
        unit,
        definition,
        of,
        title,
        better,
        out_of=out_of,
        has_line=has_line,
        censored_by=censored_by,
    )


def _viewing(group: FlowGroup) -> Viewing | None:
    return group.viewing


def _frames(group: FlowGroup) -> FramesSeen | None:
    return group.frames


def _watched(
    what: Callable[[FlowGroup], Watched | None],
    name: str,
    unit: Unit,
    definition: str,
    compute: Callable[[Watched], float | None],
    *,
    title: str,
    better: Better = Better.LOWER,
) -> Metric:
    """A metric of what those who look at a group's videos or calls see, null without any."""

    def of(group: FlowGroup) -> float | None:
        found = what(group)
        return None if found is None else compute(found)

    return Metric(name, unit, definition, of, title, better)


def _frame_quantile(percent: int, words: str) -> Metric:
    return _watched(
        _frames,
        f"frame_p{percent}_ms",
        MILLISECONDS,
        f"{words.capitalize()} of the times from the taking of a video call's frame to its last packet's "
        "arrival; those that lost a packet are not among them.",
        lambda frames: frames.delay_ms(percent),
        title=f"frames, {words}",
    )


def _completion_quantile(percent: int, words: str) -> Metric:
    return Metric(
        f"completion_p{percent}_s",
        SECONDS,
        f"{words.capitalize()} of the completion times{_UNFINISHED}",
        lambda group: group.completion.quantile(percent / 100),
        f"completion: {words}",
        Better.LOWER,
        censored_by="unfinished_flows",
    )


def _exchange_quantile(percent: int, words: str) -> Metric:
    return _exchanges(
        f"exchange_p{percent}_s",
        SECONDS,
        f"{words.capitalize()} of the exchanges' durations{_UNFINISHED}",
        lambda group: group.exchange.quantile(percent / 100),
        title=f"exchange: {words}",
        censored_by="exchanges_not_done",
    )


_UNFINISHED: Final = ". Unfinished ones take longer than was seen (Kaplan-Meier); null if too few finished."
_ALIKE: Final = " In “all” with groups of several kinds, those of endless TCP flows only; null without any."

FLOW_GROUPS: Final = Dimension(
    "flow group",
    "One row per flow group, and one with group “all” if there are several: `flows` of the summary, and in "
    "stores.",
    keys=(GROUP,),
    metrics=(
        Metric(
            "goodput_bps",
            BITS_PER_S,
            f"Mean goodput of a flow.{_ALIKE}",
            lambda group: number(group.alike_goodput_bps.mean()),
            "goodput per flow",
            Better.HIGHER,
        ),
        Metric(
            "goodput_min_bps",
            BITS_PER_S,
            f"Least goodput of a flow.{_ALIKE}",
            lambda group: group.alike_goodput_bps.min(),
            "goodput: least",
            Better.HIGHER,
            shown_if=_several_flows,
        ),
        Metric(
            "goodput_max_bps",
            BITS_PER_S,
            f"Largest goodput of a flow.{_ALIKE}",
            lambda group: group.alike_goodput_bps.max(),
            "goodput: largest",
            shown_if=_several_flows,
        ),
        Metric(
            "goodput_total_bps",
            BITS_PER_S,
            "Goodput of all flows together.",
            lambda group: group.goodput_bps.sum() if group.goodput_bps.len() else None,
            "goodput: total",
            Better.HIGHER,
            shown_if=_several_flows,
        ),
        Metric(
            "jain_index",
            NUMBER,
            "Jain's fairness index of the flows' goodputs: 1 if all are equal, 1/n if one of n has all."
            f"{_ALIKE}",
            lambda group: jain_index(group.alike_goodput_bps.to_list()),
            "Jain's fairness index",
            Better.HIGHER,
            shown_if=_several_flows,
        ),
        Metric(
            "rtt_ms",
            MILLISECONDS,
            "Mean of the senders' round-trip samples.",
            FlowGroup.rtt_ms,
            "round-trip time",
            Better.LOWER,
        ),
        Metric(
            "retransmission_fraction",
            FRACTION,
            "Retransmitted packets over packets sent.",
            lambda group: group.ratio("retransmissions", "sent_packets"),
            "retransmitted",
            Better.LOWER,
        ),
        _sum("retransmissions", "Retransmitted packets.", "retransmissions"),
        _sum("timeouts", "Retransmission timeouts.", "timeouts"),
        _sum("recoveries", "Fast recoveries.", "fast recoveries"),
        _sum(
            "reordered_packets",
            "Packets that arrived after one that was sent later (RFC 4737, by sending time).",
            "reordered packets",
            hide_zero=True,
        ),
        _sum(
            "spurious_retransmissions",
            "Data packets that arrived although the receiver had the data.",
            "spurious retransmissions",
            hide_zero=True,
        ),
        Metric(
            "finished_flows",
            COUNT,
            "Finished transfers. Those that had begun by the run's end count; short flows only if they began "
            "in the measured window.",
            lambda group: group.completion.ended,
            "transfers finished",
            Better.HIGHER,
            out_of="unfinished_flows",
        ),
        Metric(
            "unfinished_flows",
            COUNT,
            "The others of these transfers.",
            lambda group: group.completion.censored,
            "transfers not finished",
            Better.LOWER,
            has_line=False,
        ),
        Metric(
            "completion_s",
            SECONDS,
            "Mean completion time of the finished transfers.",
            lambda group: number(group.transfers["completion_s"].mean()),
            "completion: mean (finished)",
            Better.LOWER,
            censored_by="unfinished_flows",
        ),
        Metric(
            "completion_least_s",
            SECONDS,
            "Mean with the unfinished transfers, each as long as it was seen: the mean of all is not less.",
            lambda group: number(group.transfers_lasted_s.mean()),
            "completion: mean, at least",
            Better.LOWER,
            shown_if=_some_unfinished,
        ),
        *(_completion_quantile(percent, words) for percent, words in QUANTILES),
        _exchanges(
            "exchanges",
            COUNT,
            "Finished bursts, fetches, segments of videos, recorded datagrams, packets of video calls and "
            "pings. Those that began in the measured window count, and earlier ones of TCP if they are under "
            "way at the run's end.",
            lambda group: group.exchange.ended,
            title="exchanges finished",
            better=Better.HIGHER,
            out_of="exchanges_not_done",
        ),
        _exchanges(
            "exchanges_not_done",
            COUNT,
            "The others of these exchanges: lost, or under way at the run's end.",
            lambda group: group.exchange.censored,
            title="exchanges not finished",
            has_line=False,
        ),
        _exchanges(
            "exchange_s",
            SECONDS,
            "Mean duration of the finished exchanges.",
            lambda group: number(group.exchanges["duration_s"].mean()),
            title="exchange: mean (finished)",
            censored_by="exchanges_not_done",
        ),
        _exchanges(
            "exchange_sd_s",
            SECONDS,
            "Standard deviation of these durations.",
            lambda group: number(group.exchanges["duration_s"].std(ddof=0)),
            title="exchange: deviation",
            censored_by="exchanges_not_done",
        ),
        *(_exchange_quantile(percent, words) for percent, words in QUANTILES),
        _exchanges(
            "delay_variation_ms",
            MILLISECONDS,
            "Standard deviation of the times between a flow's arrivals (recorded datagrams).",
            lambda group: number(group.exchanges["variation_ms"].std(ddof=0)),
            title="delay variation",
        ),
        _exchanges(
            "jitter_ms",
            MILLISECONDS,
            "Mean over the flows of the last estimate of jitter by RFC 3550 (recorded datagrams).",
            FlowGroup.jitter_ms,
            title="jitter (RFC 3550)",
        ),
        _watched(
            _viewing,
            "bitrate_bps",
            BITS_PER_S,
            "Mean bitrate of what videos show in the measured window, by time.",
            Viewing.bitrate_bps,
            title="video: bitrate",
            better=Better.HIGHER,
        ),
        _watched(
            _viewing,
            "stalls",
            FRACTION,
            "Time in which videos stand still over this and the time in which they play; the start-up does "
            "not count.",
            Viewing.stalls,
            title="video: stalled",
        ),
        _watched(
            _viewing,
            "stall_count",
            COUNT,
            "Stalls of videos that begin in the measured window, of all flows together.",
            Viewing.stall_count,
            title="video: stalls",
        ),
        _watched(
            _viewing,
            "startup_s",
            SECONDS,
            "Mean time from a client's first request to the first picture, of the whole run; a video that "
            "does not begin counts with the time that was seen.",
            Viewing.startup_s,
            title="video: start-up",
        ),
        _watched(
            _viewing,
            "switches_per_minute",
            NUMBER,
            "Changes of the bitrate in a minute of playing.",
            Viewing.switches_per_minute,
            title="video: switches a minute",
        ),
        _watched(
            _frames,
            "sent_bps",
            BITS_PER_S,
            "Mean bitrate that a video call sends, headers not counted; what arrives is the goodput.",
            FramesSeen.sent_bps,
            title="sent, without headers",
            better=Better.HIGHER,
        ),
        *(_frame_quantile(percent, words) for percent, words in QUANTILES),
        _watched(
            _frames,
            "frames_late",
            FRACTION,
            "Frames of video calls that were not whole 150 ms after they were taken (ITU-T G.114), or never: "
            "what is lost is not sent again.",
            FramesSeen.late,
            title="frames late",
        ),
        _watched(
            _frames,
            "low_bitrate",
            FRACTION,
            "Seconds in which less than `low_rate` of a video call's bitrate arrived.",
            FramesSeen.low_bitrate,
            title="seconds of low bitrate",
        ),
    ),
)
