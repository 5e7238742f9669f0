"""A group of flows in words: what it sends, over which way, and every key that differs from its presets."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from bufferlab.display import significant
from bufferlab.render.queue_text import parameter_text
from bufferlab.scenario import Scenario
from bufferlab.units import format_rate, format_size, format_time

if TYPE_CHECKING:
    from bufferlab._scenario_types import (
        ResolvedApplication,
        ResolvedFlow,
        ResolvedLaw,
        ResolvedShortFlows,
        ResolvedUdp,
        ResolvedVideo,
        ResolvedVideoCall,
    )

_DIGITS: Final = 4

_OWN_WORDS: Final = ("congestion", "jitter")
"""Keys of a connection that have words of their own."""

_NO_DELAY: Final = "no delayed_ack"
"""An acknowledgment for each segment."""


def flow_text(flow: ResolvedFlow, *, of_several: bool) -> str:
    """A group of flows; `of_several` says that there are several links, so that the path is shown."""
    parts = [*_sends(flow), f"RTT {_rtt(flow)}"]
    if of_several:
        parts.append(f"over {', '.join(flow['path'])}")
    if flow["reverse_path"]:
        parts.append(f"back over {', '.join(flow['reverse_path'])}")
    if flow["access_rate_bps"] is not None:
        parts.append(f"access {format_rate(flow['access_rate_bps'])}")
    parts.extend(_headers(flow))
    parts.extend(_jitter(flow))
    if flow["start"].get("value") != 0:
        parts.append(f"start {flow['start']['text']}")
    if flow["stop"] is not None:
        parts.append(f"stop {flow['stop']['text']}")
    return ", ".join([*parts, *_presets(flow)])


def _headers(flow: ResolvedFlow) -> Iterator[str]:
    """What its packets say to queues with classes, and to those that share among hosts."""
    if flow["dscp"]:
        yield f"DSCP {flow['dscp']}"
    for way, host in (("from", flow["sender"]), ("to", flow["receiver"])):
        if host is not None:
            yield f"{way} {host}"


def rounded(number: float) -> float:
    """To a few digits: what is derived is not exact."""
    return round(number, _DIGITS - 1 - math.floor(math.log10(number))) if number > 0 else 0.0


def _sends(flow: ResolvedFlow) -> list[str]:
    """How many of what, and what they send unless it is without end."""
    tcp, application = flow["tcp"], flow["application"]
    what = application["kind"] if tcp is None else tcp["congestion"]
    if application["kind"] == "short-flows":
        return [f"{what} short flows", *_application(application)]
    return [f"{flow['count']} × {what}", *_application(application)]


def _application(application: ResolvedApplication) -> list[str]:
    parts: list[str] = []
    match application["kind"]:
        case "transfer":
            parts = [f"{format_size(application['transfer_bytes'])} each"]
        case "echo":
            parts = [f"echo of {application['of']}"]
        case "on-off":
            on = application["on"] or application["size"]
            parts = [f"on for {on['text'] if on else ''}, off for {application['off']['text']}"]
        case "short-flows":
            parts = [f"{application['size']['text']} each", f"one {_short_flows_every(application)}"]
        case "web":
            parts = [f"pages of {application['size']['text']} every {application['every']['text']}"]
        case "video":
            parts = list(_video(application))
        case "video-call":
            parts = list(_video_call(application))
        case "udp":
            parts = list(_datagrams(application))
        case "ping":
            parts = [f"{format_size(application['packet_bytes'])} {_every(application['interval_ps'])}"]
    return parts


def _short_flows_every(flows: ResolvedShortFlows) -> str:
    every = _every(flows["interval_ps"], flows["arrivals"])
    return every if flows["load_bps"] is None else f"{every} (load {format_rate(flows['load_bps'])})"


def _video(video: ResolvedVideo) -> Iterator[str]:
    ladder, segment_ps = video["ladder_bps"], video["segment_ps"]
    rates = format_rate(ladder[0])
    if len(ladder) > 1:
        rates += f" to {format_rate(ladder[-1])} ({len(ladder)} bitrates)"
    yield f"video in segments of {format_time(segment_ps)} at {rates}"
    yield f"rule {video['rule'].replace('_', '-')}"
    yield f"buffer {format_time(video['buffer_ps'])}"
    if video["startup_ps"] != segment_ps:
        yield parameter_text("startup_ps", video["startup_ps"])
    if video["resume_ps"] != segment_ps:
        yield parameter_text("resume_ps", video["resume_ps"])
    if video["safety"] != _with_defaults(kind="video")["safety"]:
        yield parameter_text("safety", video["safety"])


def _video_call(call: ResolvedVideoCall) -> Iterator[str]:
    yield f"{format_rate(call['min_rate_bps'])} to {format_rate(call['max_rate_bps'])}"
    yield f"at first {format_rate(call['start_rate_bps'])}"
    yield f"{call['fps']} frames a second"
    shown = {"kind", "min_rate_bps", "max_rate_bps", "start_rate_bps", "fps"}
    others = ((key, value) for key, value in call.items() if key not in shown)
    usual = _with_defaults(kind="video-call")
    yield from (parameter_text(key, value) for key, value in others if value != usual[key])


def _datagrams(udp: ResolvedUdp) -> Iterator[str]:
    size = format_size(udp["packet_bytes"])
    if udp["sizes"] != "constant":
        size += f" ({udp['sizes']})"
    every = _every(udp["interval_ps"], udp["arrivals"])
    yield f"{size} {every}" if udp["rate_bps"] is None else f"{size} {every} ({format_rate(udp['rate_bps'])})"
    if udp["header_bytes"] != _with_defaults(kind="udp", packet="1500 B", interval="1 s")["header_bytes"]:
        yield parameter_text("header_bytes", udp["header_bytes"])
    if udp["record"]:
        yield "recorded"


def _every(interval_ps: int, arrivals: str = "constant") -> str:
    every = f"every {format_time(rounded(interval_ps))}"
    return every if arrivals == "constant" else f"{every} on average"


def _rtt(flow: ResolvedFlow) -> str:
    law = flow["rtt"]
    if flow["rtt_spread"]:
        return f"{law['text']} ± {significant(flow['rtt_spread'] * 100)} %"
    return _range(law) if law["kind"] == "uniform" and not law["truncated"] else law["text"]


def _range(law: ResolvedLaw) -> str:
    low, high = format_time(law["low"]), format_time(law["high"])
    number, _, unit = low.partition(" ")
    return f"{number} to {high}" if high.endswith(f" {unit}") else f"{low} to {high}"


def _jitter(flow: ResolvedFlow) -> Iterator[str]:
    """The jitter, also where it is as the stack has it; "no jitter" where the stack has some."""
    tcp = flow["tcp"]
    if tcp is None:
        return
    usual = _usual(flow)["tcp"]
    if tcp["jitter"] is not None:
        yield f"jitter {tcp['jitter']['text']}"
    elif usual is not None and usual["jitter"] is not None:
        yield "no jitter"


def _presets(flow: ResolvedFlow) -> Iterator[str]:
    """The stack and the host, each with what a group has beyond its preset."""
    tcp, host = flow["tcp"], flow["host_model"]
    if tcp is None:
        return
    usual = _usual(flow)
    yield f"stack {flow['stack']}"
    yield from (
        _NO_DELAY if (key, value) == ("delayed_ack", 1) else parameter_text(key, value)
        for key, value in _beyond(tcp, usual["tcp"])
        if key not in _OWN_WORDS
    )
    if host is not None:
        beyond = [parameter_text(key, value) for key, value in _beyond(host, usual["host_model"])]
        yield f"host {flow['host']}" + (f" ({', '.join(beyond)})" if beyond else "")


def _beyond(table: Mapping[str, object], preset: Mapping[str, object] | None) -> Iterator[tuple[str, object]]:
    usual = preset or {}
    return ((key, value) for key, value in table.items() if value != usual.get(key, value))


def _usual(flow: ResolvedFlow) -> ResolvedFlow:
    """A group of the same stack, congestion control and host, and no other keys of its own."""
    tcp = flow["tcp"]
    keys = {"stack": flow["stack"], "host": flow["host"], "congestion": tcp and tcp["congestion"]}
    return _group(*keys.items())


@cache
def _group(*keys: tuple[str, object]) -> ResolvedFlow:
    scenario = Scenario.from_dict(
        {
            "run": {"duration": "1 s"},
            "bottleneck": {"rate": "1 Mbps", "buffer": "1 packets"},
            "flows": [{"rtt": "1 ms", **dict(keys)}],
        }
    )
    return scenario.seeded().resolved["flows"][0]


@cache
def _with_defaults(**keys: str) -> Mapping[str, Any]:
    """An application where no other keys are given."""
    scenario = Scenario.from_dict(
        {
            "run": {"duration": "1 s"},
            "bottleneck": {"rate": "1 Mbps", "buffer": "1 packets"},
            "flows": [{"rtt": "1 ms", "application": keys}],
        }
    )
    return scenario.resolved["flows"][0]["application"]
