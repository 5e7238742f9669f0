"""What an operator wants to know of a captured link: rate, flows, round trips, waits and losses."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from bufferlab.captured.apart import Groups
from bufferlab.captured.doubts import (
    closer,
    contains_waits,
    doubts,
    hardly_met,
    impossible,
    is_begun_busy,
    is_guessed,
    late,
    several_queues,
    varies,
)
from bufferlab.captured.fitting import Fit, fitted
from bufferlab.captured.flows import flows_of, loss_of, mean_bytes, rtt_quantile_ms, timed, waits_over_time
from bufferlab.captured.link import DIRECTIONS, VANTAGES, CapturedLink, WaitingGroup
from bufferlab.captured.observation import MOST_FLOWS, NS_PER_MS, NS_PER_S, TABLES, Observation, read_capture
from bufferlab.captured.paced import closer_bps, is_hardly_met, is_own_pace, is_unexplained, part_in_trains
from bufferlab.captured.parts import parts_of
from bufferlab.captured.privacy import read_key, without_names
from bufferlab.captured.rate import always_full, is_impossible, is_standing, rate_of
from bufferlab.captured.scenario import Known, Shares, scenario_of
from bufferlab.captured.shared import Hidden
from bufferlab.captured.waits import waits_of, with_depth, with_hidden
from bufferlab.display import Displayed, figure, save_figure
from bufferlab.errors import InputError
from bufferlab.files import make_folder, write_whole
from bufferlab.scenario import Scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure


_NEARLY: Final = 0.8
"""Interfaces that carry at least this part of what the busiest carries are as good. Our choice."""

_HALF: Final = 0.5
"""Part of its rate that a link carries at least where a queue may be met all the time. Our choice."""

_FULL: Final = 0.8
"""Flows wait for the link where it carries that part of its rate at least. Our choice."""

_CUT: Final = "most packets are cut within their headers, and what their options say is missing"


class Findings(CapturedLink, Displayed):
    """What a capture says of one direction of one link."""

    def scenario(
        self, *, rate: str | None = None, mix: Shares | None = None, rtt: str | None = None
    ) -> Scenario:
        """A scenario of this link and traffic, which `run`, `size`, `compare` and `advise` take.

        Args:
            rate: The link's rate where you know it: "100 Mbps".
            mix: Congestion controls of the long flows with their shares. Then nothing runs, and the queue is
                a FIFO. Default controls and queue are those of `fit`, which takes some runs.
            rtt: The flows' round-trip time without waiting where you know it: "40 ms", or a law.

        Raises:
            InputError: The link's rate is not known, or no flow has a round-trip time.
        """
        known = Known(rate=rate, rtt=rtt, mix=mix)
        return fitted(self, known).scenario if mix is None else scenario_of(self, known)

    def fit(
        self,
        *,
        rate: str | None = None,
        mix: Shares | None = None,
        rtt: str | None = None,
        tell: Callable[[float, str], None] = lambda _done, _note: None,
    ) -> Fit:
        """The scenario that does what was captured, and how near its run comes.

        Args:
            rate: The link's rate where you know it: "100 Mbps".
            mix: Congestion controls of the long flows with their shares; default those whose run is nearest,
                and the Internet's where none is near.
            rtt: The flows' round-trip time without waiting where you know it: "40 ms", or a law.
            tell: Called with the share of the work that is done, and a note.

        Raises:
            InputError: The link's rate is not known, or no flow has a round-trip time.
        """
        return fitted(self, Known(rate=rate, rtt=rtt, mix=mix), tell=tell)

    def to_dict(self) -> dict[str, Any]:
        """What `bufferlab observe --json` prints: plain values, with units in the names."""
        waits = self.waits or {}
        long = timed(self.long)
        shares = (5, 25, 50, 75, 95)
        named = ("median", "p95", "p99", "max")
        vantages = self.long["vantage"].value_counts(sort=True)
        return {
            "file": self.observation.file,
            "duration_s": self.observation.duration_s,
            "totals": dict(self.observation.totals),
            "interface": self.interface,
            "direction": self.direction,
            "direction_is_guessed": self.is_guessed,
            "rate_bps": self.rate_bps,
            "rate_error_bps": self.rate_error_bps,
            "rate_by": self.rate_by,
            "rate_windows": self.rate_windows,
            "why_no_rate": self.why_no_rate,
            "other_rate_bps": self.other_rate_bps,
            "other_rate_share": self.other_rate_share,
            "load_bps": self.load_bps,
            "utilization": self.utilization(),
            "long_flows": self.long_flows,
            "long_flows_in_all": len(self.long),
            "pausing_flows": self.pausing_flows,
            "pausing_flows_in_all": len(self.pausing),
            "long_parts": [dataclasses.asdict(each) for each in parts_of(self)],
            "rtt_ms": {f"p{share}": rtt_quantile_ms(long, share / 100) for share in shares},
            "short_flows_per_s": len(self.short) / self.observation.duration_s,
            "short_flow_bytes": self.short["new_bytes"].mean(),
            "datagrams_bps": float(self.datagrams["ip_bytes"].sum()) * 8 / self.observation.duration_s,
            "datagram_flows": len(self.datagrams),
            "wait_ms": {name: waits[f"{name}_ns"] / NS_PER_MS if waits else None for name in named},
            "wait_samples": waits.get("samples", 0),
            "why_no_waits": self.why_no_waits,
            "waits_are_senders_pace": self.is_paced,
            "rate_may_be_senders_pace": self.is_rate_a_pace,
            "waits_are_at_least": self.is_never_empty,
            "waits_apart": None if self.apart is None else [dataclasses.asdict(each) for each in self.apart],
            **{
                f"buffer{end}_ms": waits[f"depth{end}_ns"] / NS_PER_MS if waits.get("is_filled") else None
                for end in ("", "_low", "_high")
            },
            "loss": self.losses,
            "loss_episodes": int(self.flows["loss_episodes"].sum()),
            "spurious_segments": int(self.flows["spurious_segments"].sum()),
            "ecn_packets": {
                name: int(self.flows[f"{name}_packets"].sum()) for name in ("ect0", "ect1", "ce")
            },
            "mark_episodes": int(self.flows["mark_episodes"].sum()),
            "other_way": None if (other := self.other_way) is None else dataclasses.asdict(other),
            "seen_from": {VANTAGES[at]: count for at, count in vantages.iter_rows()},
            "read_bytes": self.observation.read_bytes,
            "skipped_bytes": self.observation.skipped_bytes,
            "file_bytes": self.observation.file_bytes,
            "warnings": [
                {"problem": text, "times": times, "first_byte": byte}
                for text, times, byte in self.observation.warnings
            ],
            "doubts": list(self.doubts),
        }

    def save(self, folder: str | PathLike[str]) -> list[Path]:
        """Write `observe.json`, `observe.txt`, the figure, and every table as Parquet into a folder.

        Addresses are in `connections.parquet`; payload is nowhere.

        Raises:
            OutputError: They cannot be written.
        """
        directory = Path(folder)
        make_folder(directory)
        document = json.dumps(self.to_dict(), indent=2, ensure_ascii=False)
        tables = {name: getattr(self.observation, name) for name in TABLES}
        return [
            write_whole(directory / "observe.json", f"{document}\n"),
            write_whole(directory / "observe.txt", f"{self}\n"),
            *(
                write_whole(directory / f"{name}.parquet", table.write_parquet)
                for name, table in tables.items()
            ),
            *save_figure(self.figure(), directory / "observe"),
        ]

    def __repr__(self) -> str:
        return f"<Findings {self.observation.file!r}: interface {self.interface}, {self.direction}>"

    def figure(self) -> Figure:
        """Round-trip times of flows, load and waiting over time."""
        return figure(self)


def observe(
    capture: str | PathLike[str],
    *,
    interface: int | None = None,
    direction: str | None = None,
    inside: Sequence[str] = (),
    only: Sequence[str] = (),
    joined: bool = False,
    flows: int = MOST_FLOWS,
    anonymize: str | PathLike[str] | None = None,
) -> Findings:
    """What a packet capture says of a link; docs/observe.md has the definitions.

    Args:
        capture: A pcap or pcapng file, also compressed by gzip or zstd; "-" is standard input.
        interface: Which interface of the capture; default the busiest.
        direction: "out" or "in"; default that with more bytes.
        inside: Networks on the near side of the link ("192.0.2.0/24"), which tell out from in. Without them
            private addresses are inside, and of two public ones that which sent the first packet.
        only: Networks ("192.0.2.0/24"): packets that have no end in one of these are left out.
        joined: The interfaces are the two ports of one tap.
        flows: Connections that are followed at a time; beyond that the longest silent ones end.
        anonymize: A file with a key of 64 hexadecimal digits, by which addresses become others (Crypto-PAn).

    Raises:
        InputError: The file cannot be read, is no capture, or has no such packet.
    """
    key = None if anonymize is None else read_key(anonymize)
    observation = read_capture(capture, inside=inside, only=only, joined=joined, flows=flows)
    links = observation.links
    chosen = _chosen(links, interface, direction, observation.duration_s)
    at, way = chosen["interface"], DIRECTIONS[chosen["direction"]]
    waiting = waits_of(observation, chosen)
    waits, ahead = waiting.row, waiting.is_ahead
    sent, hides, groups = flows_of(observation, at, chosen["direction"], is_ahead=ahead)
    ip_bytes = float(sent["wire_ip_bytes"].sum())
    # the rate on the wire is that of frames; scenarios count IP packets
    share = ip_bytes / chosen["wire_bytes"] if 0 < ip_bytes <= chosen["wire_bytes"] else 1.0
    losses = loss_of(sent)
    long = sent.filter(pl.col("long") & pl.col("elastic"))
    deep = None if waits is None else _with_buffer(waits, hides, observation, sent)
    stands = is_standing(None if hides is None else deep, rtt_quantile_ms(timed(long), 0.5))
    chosen = always_full(chosen) if stands else chosen
    is_paced = is_own_pace(observation, waits, long) or is_unexplained(chosen, waits, long)
    arrived_bps = chosen["wire_bytes"] * 8 / observation.duration_s * (1 - (losses or 0.0 if ahead else 0.0))
    rate = rate_of(
        chosen,
        sent,
        arrived_bps=arrived_bps,
        has_waits=waits is not None,
        losses=losses,
        duration_s=observation.duration_s,
        is_paced=is_paced,
        in_trains=part_in_trains(observation, at, chosen["direction"]),
        is_standing=stands,
        is_filled=bool(deep and deep["is_filled"]),
    )
    beware = list(doubts(observation, chosen, long, named=bool(inside), ahead=ahead))
    shown_bps = None if is_paced else closer_bps(chosen, losses, long)
    is_hardly = rate.bps is not None and is_hardly_met(chosen, deep, long, observation.duration_s)
    paces: list[str] = []
    if shown_bps is not None:
        paces += closer(shown_bps * share, chosen["rate_bps"] * share)
    elif is_hardly:
        paces += hardly_met(chosen["rate_bps"] * share)
    beware += paces
    is_busy = rate.bps is None or chosen["wire_bytes"] * 8 / observation.duration_s >= _HALF * rate.bps
    if hides is None and is_busy and not is_paced and not groups:
        moments = waits_over_time(observation, at, chosen["direction"], is_ahead=ahead, long=long)
        beware += late(long, moments)
    if key is not None:
        connections = without_names(observation.connections, key)
        observation = dataclasses.replace(observation, connections=connections)
    found = Findings(
        observation=observation,
        interface=at,
        direction=way,
        rate_bps=None if rate.bps is None else rate.bps * share,
        rate_error_bps=None if rate.error_bps is None else rate.error_bps * share,
        rate_by=rate.by,
        rate_windows=rate.windows,
        why_no_rate=_CUT if rate.bps is None and observation.is_cut else rate.why_none,
        why_no_waits=waiting.why_none,
        other_rate_bps=None if rate.other_bps is None else rate.other_bps * share,
        other_rate_share=rate.other_share,
        is_guessed=not inside and is_guessed(observation, at),
        load_bps=chosen["wire_bytes"] * share * 8 / observation.duration_s,
        ip_share=share,
        flows=sent,
        long_flows=float(long["seconds"].sum()) / observation.duration_s,
        waits=waits,
        is_offered=ahead,
        losses=losses,
        is_paced=is_paced,
        is_rate_a_pace=bool(paces),
        pace_doubts=tuple(paces),
        is_never_empty=is_begun_busy(observation, chosen, long, ahead=ahead),
    )
    found = dataclasses.replace(found, apart=_apart(found, groups))
    found = dataclasses.replace(found, waits=_whole(found, waits, hides))
    beware = [*several_queues(found), *varies(found), *beware, *contains_waits(found), *impossible(found)]
    return dataclasses.replace(found, doubts=tuple(beware))


def _apart(found: CapturedLink, groups: Groups | None) -> tuple[WaitingGroup, ...] | None:
    """The groups of long flows that wait apart; those of a link that is not full may wait elsewhere."""
    if groups is None or found.is_paced or (found.utilization() or 0.0) < _FULL:
        return None
    duration_s = found.observation.duration_s
    of_each = [found.long.join(group, on=["connection", "sender"]) for group in groups]
    rtts_ms = [timed(flows)["rtt_ms"].to_list() or [None] for flows in of_each]
    loads_bps = [float(flows["wire_ip_bytes"].sum()) * 8 / duration_s for flows in of_each]
    return tuple(
        WaitingGroup(len(flows), load_bps, rtt_ms[0], rtt_ms[-1])
        for flows, load_bps, rtt_ms in zip(of_each, loads_bps, rtts_ms, strict=True)
    )


def _whole(found: CapturedLink, waits: dict[str, Any] | None, hides: Hidden | None) -> dict[str, Any] | None:
    """What waits, with what hides in it and the buffer."""
    if waits is None:
        return None
    slowest_bps = found.slowest_bps()
    packet_ns = 0.0 if slowest_bps is None else mean_bytes(found.flows) * 8 / slowest_bps * NS_PER_S
    row = {**waits, "packet_ns": packet_ns}
    whole = _with_buffer(row, hides, found.observation, found.flows)
    # of several queues each fills at a depth of its own
    return {**whole, "is_filled": 0} if found.apart else whole


def _with_buffer(
    waits: dict[str, Any], hides: Hidden | None, observation: Observation, flows: pl.DataFrame
) -> dict[str, Any]:
    """The row with the buffer, if it fills, and with what hides in it, if flows wait in one queue."""
    if hides is not None:
        return with_hidden(waits, hides, observation)
    return with_depth(waits, observation, flows.with_columns(hidden_ms=0.0))


def _shows_rate(link: dict[str, Any], duration_s: float) -> bool:
    rate = link["rate_bps"]
    return rate is not None and rate > 0 and not is_impossible(rate, link["wire_bytes"] * 8 / duration_s)


def _chosen(
    links: pl.DataFrame, interface: int | None, direction: str | None, duration_s: float
) -> dict[str, Any]:
    rows = links
    if interface is not None:
        rows = rows.filter(pl.col("interface") == interface)
        if rows.is_empty():
            known = ", ".join(map(str, links["interface"].unique().sort()))
            raise InputError("is not in the capture", key="interface", value=interface, accepted=known)
    if direction is not None:
        if direction not in DIRECTIONS:
            raise InputError("is not a direction", key="direction", value=direction, accepted="out or in")
        rows = rows.filter(pl.col("direction") == DIRECTIONS.index(direction))
        if rows.is_empty():
            raise InputError("has no packet in the capture", key="direction", value=direction)
    # of interfaces before and behind one queue, which carry nearly the same, that which shows its rate
    near = rows.filter(pl.col("wire_bytes") >= _NEARLY * pl.col("wire_bytes").max())
    rated = near.filter([_shows_rate(row, duration_s) for row in near.iter_rows(named=True)])
    best = near if rated.is_empty() else rated
    found: dict[str, Any] = best.sort("wire_bytes", descending=True, maintain_order=True).row(0, named=True)
    return found
