"""Of which flow groups a metric can have a value, as their applications say: before anything is run.

What a metric is of decides it: only calls have a rating, and only recorded packets have a jitter. Exchanges
have no value of all groups together, since a ping and a page differ. A target without a value would be missed
by everything, which says nothing about a queue.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from bufferlab.errors import InputError
from bufferlab.results.latency.voice import codec_of
from bufferlab.results.metrics.registry import LATENCY
from bufferlab.studies.targets import Target

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedFlow

Has = Callable[["ResolvedFlow"], bool]
"""Whether a flow group can have a value."""


def _is_one_of(*kinds: str) -> Has:
    return lambda flow: flow["application"]["kind"] in kinds


def _is_recorded(flow: ResolvedFlow) -> bool:
    application = flow["application"]
    return application["kind"] == "video-call" or (
        application["kind"] == "udp" and bool(application["record"])
    )


def _exchanges(flow: ResolvedFlow) -> bool:
    application = flow["application"]
    if application["kind"] == "on-off":
        return application["size"] is not None  # bursts that last for a time have no end of their own
    return application["kind"] in {"web", "video", "ping"} or _is_recorded(flow)


def _has_round_trips(flow: ResolvedFlow) -> bool:
    return flow["tcp"] is not None or flow["application"]["kind"] == "ping"


def _samples_round_trips(flow: ResolvedFlow) -> bool:
    return _has_round_trips(flow) or flow["application"]["kind"] == "video-call"


def _probes(flow: ResolvedFlow) -> bool:
    """Whether its round trips are probes: a ping's, or a page's of one segment at most."""
    application, tcp = flow["application"], flow["tcp"]
    if application["kind"] != "web" or tcp is None:
        return application["kind"] == "ping"
    size = application["size"]
    return bool(tcp["handshake"]) and size["kind"] == "constant" and size["value"] <= tcp["segment_bytes"]


def _calls(flow: ResolvedFlow) -> bool:
    return codec_of(flow["application"]) is not None


_BY_NAME: Final[tuple[tuple[tuple[str, ...], Has], ...]] = (
    (("rtt_ms",), _samples_round_trips),
    (("loaded_rtt_", "idle_rtt_", "rtt_increase_"), _has_round_trips),
    (("completion_",), _is_one_of("transfer", "short-flows")),
    (("exchange",), _exchanges),
    (("delay_variation_ms", "jitter_ms"), _is_recorded),
    (
        ("bitrate_bps", "stalls", "stall_count", "startup_s", "switches_per_minute"),
        _is_one_of("video"),
    ),
    (("sent_bps", "frame_", "frames_", "low_bitrate"), _is_one_of("video-call")),
    (("rpm", "foreign_rpm", "loaded_rpm"), _probes),
    (("call_",), _calls),
)
"""By the beginnings of metrics' names, which groups have one; of all others every group has."""

_COMPARED: Final = ("goodput_bps", "goodput_min_bps", "goodput_max_bps", "jain_index")
"""Metrics of all groups together that are of flows of one kind, or else of endless ones of TCP."""

_OF_ALL: Final = ("rtt_ms", "completion_")
"""Of the metrics above, those that all groups together have, too."""


_UNDER_LOAD: Final = ("rpm", "loaded_rpm")
"""Metrics of probes that are of flows without end beside them, too."""


def refuse_valueless(target: Target, text: str, flows: Sequence[ResolvedFlow]) -> None:
    """Refuse a target on what has no value in this traffic.

    Args:
        target: The target.
        text: The same as it was written.
        flows: The scenario's flow groups.

    Raises:
        InputError: It has none; the message names the groups that have one.
    """
    having = [flow["name"] for flow in flows if _has(target.metric.name, flow, flows)]
    if target.group in having or (target.group is None and _has_of_all(target.metric.name, flows)):
        return
    bound = text if target.group is None else text.partition(".")[2]
    instead = [f"{name}.{bound.strip()}" for name in having]
    whose = "the whole scenario" if target.group is None else target.group
    raise InputError(
        f"has no value of {whose}" + (f" (did you mean '{instead[0]}'?)" if instead else ""),
        key="target",
        value=text,
        accepted=" or ".join(instead) or "a metric that some flow group of the scenario has",
    )


def _has(name: str, flow: ResolvedFlow, flows: Sequence[ResolvedFlow]) -> bool:
    """Whether a group can have a value of a metric."""
    if name in _UNDER_LOAD and not any(map(_is_one_of("bulk"), flows)):
        return False
    return next((has for names, has in _BY_NAME if name.startswith(names)), lambda _: True)(flow)


def _has_of_all(name: str, flows: Sequence[ResolvedFlow]) -> bool:
    """Whether all groups together can have one: the link, or what a single group has."""
    if name in LATENCY.numbers:
        return False
    if len(flows) == 1:
        return _has(name, flows[0], flows)
    if name in _COMPARED:
        kinds = {flow["application"]["kind"] for flow in flows}
        return len(kinds) == 1 or "bulk" in kinds
    is_of_groups = any(name.startswith(names) for names, _ in _BY_NAME)
    return not is_of_groups or (name.startswith(_OF_ALL) and any(_has(name, each, flows) for each in flows))
