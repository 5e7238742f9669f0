"""What was run, in a line for each link and each group of flows, for every result and study."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from bufferlab.display import significant
from bufferlab.render.flow_text import flow_text, rounded
from bufferlab.render.queue_text import parameter_text, queue_text
from bufferlab.render.view import Terms
from bufferlab.resolved import varies
from bufferlab.results.tables import BITS_PER_BYTE
from bufferlab.units import PS_PER_S, format_rate, format_size, format_time

if TYPE_CHECKING:
    from bufferlab._scenario_types import (
        ResolvedBuffer,
        ResolvedChange,
        ResolvedFlow,
        ResolvedLink,
        ResolvedMemory,
        ResolvedScenario,
    )

MOST_LINES: Final = 8
"""The most links and groups that have a line; of the others the number is shown."""

_WORDED: Final = {
    "name", "capacity", "rate_bps", "delay_ps", "buffer", "queue", "mark_above", "loss", "loss_bursts",
    "jitter", "handover", "changes", "packet_bytes",
}  # fmt: skip
"""Keys of a link that are given in words of their own, or need none."""


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
            *((f"memory {memory['name']}", _memory(memory)) for memory in self.resolved["memories"]),
            *(
                (_label(flow, flows), flow_text(flow, of_several=len(links) > 1))
                for flow in flows[:MOST_LINES]
            ),
            *_others(len(flows), "groups of flows"),
            *(("assumed", text) for text in self.assumed),
        ]
        return Terms(lines)

    def assumptions(self) -> Terms:
        """Only what was assumed."""
        return Terms([("assumed", text) for text in self.assumed])

    def _link(self, link: ResolvedLink) -> str:
        varied = self.varied.get(link["name"], ())
        parts = [_rate(link)]
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
        return ", ".join([*parts, *_varying(link), *_others_of(link), *_changes(link)])

    def _buffer(self, link: ResolvedLink) -> str:
        buffer = link["buffer"]
        limit = buffer["limit"]
        if buffer["kind"] == "unlimited":
            return "unlimited buffer"
        packets, size_bytes = _sizes(buffer, link["packet_bytes"])
        sizes = [] if size_bytes is None or buffer["kind"] == "bytes" else [format_size(rounded(size_bytes))]
        if size_bytes is not None and buffer["kind"] != "time":
            drained_s = size_bytes * BITS_PER_BYTE / link["rate_bps"]
            sizes.append(format_time(rounded(drained_s * PS_PER_S)))
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


def _others_of(link: ResolvedLink) -> Iterator[str]:
    """Keys without words of their own, where they are on: "per_packet 2 ms"."""
    return (
        parameter_text(key, value)
        for key, value in link.items()
        if key not in _WORDED and value not in (None, False, 0)
    )


def _memory(memory: ResolvedMemory) -> str:
    names = ", ".join(memory["links"][:MOST_LINES]) + (", …" if len(memory["links"]) > MOST_LINES else "")
    rule = "complete sharing" if memory["alpha"] is None else f"Dynamic Threshold, alpha {memory['alpha']:g}"
    if memory["congested_bytes"] is not None:
        rule = (
            f"Active Buffer Management, alpha {memory['alpha']:g} over the congested queues, "
            f"those from {format_size(memory['congested_bytes'])} on"
        )
    return f"{format_size(memory['size_bytes'])} shared by {names}, {rule}"


def _rate(link: ResolvedLink) -> str:
    rate = format_rate(link["rate_bps"])
    if link["capacity"] is not None:
        return f"{link['capacity']} (mean {rate})"
    return f"mean {rate}" if varies(link) else rate


def _varying(link: ResolvedLink) -> Iterator[str]:
    """What else varies of a link."""
    if link["loss_bursts"] is not None:
        yield f"losses in bursts {link['loss_bursts']}"
    if link["jitter"] is not None:
        yield f"jitter {link['jitter']['text']}"
    if link["handover"] is not None:
        yield f"handover {link['handover']}"


def _changes(link: ResolvedLink) -> Iterator[str]:
    changes = link["changes"]
    if len(changes) > 2:
        kinds = {"buffer": "buffer", "rate_bps": "rate", "delay_ps": "delay"}
        named = [word for key, word in kinds.items() if any(each.get(key) is not None for each in changes)]
        yield f"{len(changes)} changes of the {' and '.join(named)}"
    else:
        yield from (f"{_change(each)} from {format_time(each['at_ps'])} on" for each in changes)


def _change(change: ResolvedChange) -> str:
    buffer, rate_bps, delay_ps = change["buffer"], change["rate_bps"], change["delay_ps"]
    parts = [] if buffer is None else [f"buffer {buffer['text']}"]
    if rate_bps is not None:
        parts.append(f"rate {format_rate(rate_bps)}" if rate_bps else "no rate")
    if delay_ps is not None:
        parts.append(f"delay {format_time(delay_ps)}")
    return " and ".join(parts)
