"""What was run, in a line for each link and each group of flows, for every result and study."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Final

from bufferlab.display import significant
from bufferlab.render.queue_text import parameter_text, queue_text
from bufferlab.render.view import Terms
from bufferlab.results.tables import BITS_PER_BYTE
from bufferlab.scenario import Scenario
from bufferlab.units import PS_PER_S, format_rate, format_size, format_time

if TYPE_CHECKING:
    from bufferlab._scenario_types import (
        ResolvedApplication,
        ResolvedBuffer,
        ResolvedFlow,
        ResolvedLaw,
        ResolvedLink,
        ResolvedScenario,
    )

MOST_LINES: Final = 8
"""So many links and groups have a line; the number of the others is told."""

_DIGITS: Final = 4

_TOLD: Final = ("congestion", "jitter")
"""Keys of a connection that have words of their own in a line."""

_NO_DELAY: Final = "no delayed_ack"
"""An acknowledgment for each segment."""


@dataclass(frozen=True)
class ScenarioLines:
    """A scenario in lines.

    Attributes:
        resolved: The scenario under a seed.
        seeds: The seeds of the runs, if there are several.
        varied: What differs from run to run, by name of the link: "buffer", "queue". It is left out.
        assumed: What it takes for granted.
    """

    resolved: ResolvedScenario
    seeds: Sequence[int] = ()
    varied: Mapping[str, Collection[str]] = field(default_factory=dict)
    assumed: Sequence[str] = ()

    def terms(self) -> Terms:
        """A line for each of the first links and groups, and for all that was assumed."""
        links, flows = self.resolved["links"], self.resolved["flows"]
        lines = [
            *((f"link {link['name']}", self._link(link)) for link in links[:MOST_LINES]),
            *_others(len(links), "links"),
            *((_label(flow, flows), self._flow(flow)) for flow in flows[:MOST_LINES]),
            *_others(len(flows), "groups of flows"),
            *(("assumed", text) for text in self.assumed),
        ]
        return Terms(lines)

    def _link(self, link: ResolvedLink) -> str:
        varied = self.varied.get(link["name"], ())
        parts = [format_rate(link["rate_bps"])]
        if link["delay_ps"]:
            parts.append(f"delay {format_time(link['delay_ps'])}")
        if "buffer" not in varied:
            parts.append(self._buffer(link))
        if "queue" not in varied:
            parts.append(queue_text(link))
        if varied:
            parts.append(f"{' and '.join(varied)} as below")
        if link["loss"]:
            parts.append(f"loss {significant(link['loss'] * 100)} %")
        return ", ".join([*parts, *_changes(link)])

    def _buffer(self, link: ResolvedLink) -> str:
        buffer = link["buffer"]
        limit = buffer["limit"]
        if buffer["kind"] == "unlimited":
            return "unlimited buffer"
        packets, size_bytes = _sizes(buffer, link["packet_bytes"])
        sizes = [] if size_bytes is None or buffer["kind"] == "bytes" else [format_size(_round(size_bytes))]
        if size_bytes is not None and buffer["kind"] != "time":
            drained_s = size_bytes * BITS_PER_BYTE / link["rate_bps"]
            sizes.append(format_time(_round(drained_s * PS_PER_S)))
        text = f"buffer {buffer['text']}"
        if limit is not None and buffer["kind"] not in {"packets", "bytes"}:
            text += f": {packets} packets" + (f" with seed {self.seeds[0]}" if self._is_drawn(link) else "")
        return f"{text} ({', '.join(sizes)})" if sizes else text

    def _is_drawn(self, link: ResolvedLink) -> bool:
        """Whether each seed has another buffer."""
        crossing = (
            flow for flow in self.resolved["flows"] if link["name"] in {*flow["path"], *flow["reverse_path"]}
        )
        by_flows = link["buffer"]["kind"] in {"bdp", "stanford"}
        return (
            len(self.seeds) > 1 and by_flows and any(flow["rtt"]["kind"] != "constant" for flow in crossing)
        )

    def _flow(self, flow: ResolvedFlow) -> str:
        parts = [*_sends(flow), f"RTT {_rtt(flow)}"]
        if len(self.resolved["links"]) > 1:
            parts.append(f"over {', '.join(flow['path'])}")
        if flow["reverse_path"]:
            parts.append(f"back over {', '.join(flow['reverse_path'])}")
        if flow["access_rate_bps"] is not None:
            parts.append(f"access {format_rate(flow['access_rate_bps'])}")
        if flow["tcp"] is not None and flow["tcp"]["jitter"] is not None:
            parts.append(f"jitter {flow['tcp']['jitter']['text']}")
        if flow["start"].get("value") != 0:
            parts.append(f"start {flow['start']['text']}")
        if flow["stop"] is not None:
            parts.append(f"stop {flow['stop']['text']}")
        if flow["tcp"] is not None:
            parts.append(f"stack {flow['stack']}")
            parts.extend(_tcp(flow))
        if flow["host_model"] is not None:
            parts.append(f"host {flow['host']}")
        return ", ".join(parts)


def _tcp(flow: ResolvedFlow) -> list[str]:
    """What a group's TCP has beyond its stack's preset."""
    tcp = flow["tcp"]
    if tcp is None:
        return []
    usual = _preset(flow["stack"], tcp["congestion"])
    return [
        _NO_DELAY if (key, value) == ("delayed_ack", 1) else parameter_text(key, value)
        for key, value in tcp.items()
        if key not in _TOLD and value != usual.get(key, value)
    ]


@cache
def _preset(stack: str, congestion: str) -> Mapping[str, object]:
    """The TCP of a flow that has a stack, a congestion control and no other keys of its own."""
    scenario = Scenario.from_dict(
        {
            "run": {"duration": "1 s"},
            "bottleneck": {"rate": "1 Mbps", "buffer": "1 packets"},
            "flows": [{"rtt": "1 ms", "stack": stack, "congestion": congestion}],
        }
    )
    tcp: Mapping[str, object] = scenario.seeded().resolved["flows"][0]["tcp"] or {}
    return tcp


def _others(count: int, what: str) -> list[tuple[str, str]]:
    return [("", f"and {count - MOST_LINES:,} more {what}")] if count > MOST_LINES else []


def _label(flow: ResolvedFlow, flows: Sequence[ResolvedFlow]) -> str:
    return "flows" if len(flows) == 1 and flow["name"] == "flows0" else f"flows {flow['name']}"


def _sizes(buffer: ResolvedBuffer, packet_bytes: int | None) -> tuple[int | None, int | None]:
    """Packets and bytes of a buffer, as far as they are known."""
    limit = buffer["limit"]
    if not isinstance(limit, dict):
        return None, None
    packets = limit.get("packets")
    if packets is None:
        return None, limit["bytes"]
    return packets, None if packet_bytes is None else packets * packet_bytes


def _round(number: float) -> float:
    """To a few digits: what is derived is not exact."""
    return round(number, _DIGITS - 1 - math.floor(math.log10(number))) if number > 0 else 0.0


def _changes(link: ResolvedLink) -> Iterator[str]:
    changes = link["changes"]
    if len(changes) > 2:
        yield f"{len(changes)} changes of the buffer"
    else:
        yield from (
            f"buffer {each['buffer']['text']} from {format_time(each['at_ps'])} on" for each in changes
        )


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
            every = _every(application["interval_ps"], application["arrivals"])
            parts = [f"{application['size']['text']} each", f"one {every}"]
        case "web":
            parts = [f"pages of {application['size']['text']} every {application['every']['text']}"]
        case "udp":
            every = _every(application["interval_ps"], application["arrivals"])
            parts = [f"{format_size(application['packet_bytes'])} {every}"]
        case "ping":
            parts = [f"{format_size(application['packet_bytes'])} {_every(application['interval_ps'])}"]
    return parts


def _every(interval_ps: int, arrivals: str = "constant") -> str:
    every = f"every {format_time(_round(interval_ps))}"
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
