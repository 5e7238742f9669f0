"""A capture's tables, as the engine's observer gives them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from threading import Thread
from typing import Final

import polars as pl

from bufferlab import _core
from bufferlab.errors import InputError

TABLES: Final = (
    "connections",
    "directions",
    "trips",
    "losses",
    "links",
    "seconds",
    "queueing",
    "moments",
    "distributions",
)
"""The tables, one attribute of `Observation` each; docs/observe-tables.md has their columns."""

NS_PER_S: Final = 1e9
NS_PER_MS: Final = 1e6

_LOOK_S: Final = 0.1
_PATIENCE_S: Final = 2.0
"""How long a pipe has after Ctrl-C to come to its end."""

MOST_FLOWS: Final = 65_536
"""Connections that are followed at a time: some 100 MB."""


@dataclass(frozen=True)
class Observation:
    """What a capture holds.

    Attributes:
        file: The capture.
        totals: Packets, bytes and connections of all, by name.
        interfaces: Name, link type, bytes kept of a packet, packets that the capture missed, and rate, as the
            file has them.
        warnings: What could not be read: what, how often, and the first byte.
        read_bytes: Bytes that were read, without compression.
        skipped_bytes: Bytes between damaged lengths and the next records that can be.
        file_bytes: The file's size; `None` of what is compressed, and of a pipe.
        only: Networks of which each packet here has an end, where others were left out.
        connections: One row a connection.
        directions: Two rows a connection.
        trips: Time series of the round trips of long flows.
        losses: Times at which losses began, with what was waited before.
        links: One row an interface and direction.
        seconds: Time series of load and flows.
        queueing: What waits, by direction and side of the vantage point.
        moments: Time series of that.
        distributions: Sizes, times between arrivals, trains and waits: value and count.
    """

    file: str
    totals: Mapping[str, int]
    interfaces: Sequence[tuple[str | None, int, int | None, int | None, int | None]]
    warnings: Sequence[tuple[str, int, int]]
    connections: pl.DataFrame
    directions: pl.DataFrame
    trips: pl.DataFrame
    losses: pl.DataFrame
    links: pl.DataFrame
    seconds: pl.DataFrame
    queueing: pl.DataFrame
    moments: pl.DataFrame
    distributions: pl.DataFrame
    read_bytes: int = 0
    skipped_bytes: int = 0
    file_bytes: int | None = None
    only: tuple[str, ...] = ()

    @property
    def duration_s(self) -> float:
        """From the first packet to the last, s."""
        return max(self.totals["last_ns"] - self.totals["first_ns"], 1) / NS_PER_S

    @property
    def packets(self) -> int:
        """Packets that were read."""
        return self.totals["packets"]

    @property
    def cut(self) -> int:
        """Packets that the capture cut within their headers, TCP's options among them."""
        return self.totals["cut_packets"] + self.totals["cut_options_packets"]

    @property
    def is_cut(self) -> bool:
        """Whether the capture cut most packets of TCP within their options, or before, as timestamps are."""
        return 2 * self.cut > self.totals["tcp_packets"] + self.totals["cut_packets"]


def read_capture(
    capture: str | PathLike[str],
    *,
    inside: Sequence[str] = (),
    only: Sequence[str] = (),
    joined: bool = False,
    flows: int = MOST_FLOWS,
) -> Observation:
    """Read a capture: pcap or pcapng, also compressed by gzip or zstd; "-" is standard input.

    Args:
        capture: The file.
        inside: Networks on the near side of the link.
        only: Networks of which a packet has an end; others are left out.
        joined: The interfaces are the two ports of one tap.
        flows: Connections that are followed at a time.

    Raises:
        InputError: The file cannot be read, or is no capture; or it has no packet.
    """
    try:
        seen = _observed(
            lambda control: _core.observe(
                str(capture), control, inside=list(inside), only=list(only), joined=joined, flows=flows
            )
        )
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", file=str(capture)) from None
    except ValueError as error:
        raise InputError(str(error), file=str(capture)) from None
    if not seen.totals["packets"]:
        has_none = "has no IP packet of these networks" if only else "has no IP packet"
        raise InputError(has_none, file=str(capture), accepted="a capture of traffic")
    tables = {name: pl.DataFrame(getattr(seen, name)()) for name in TABLES}
    size = None if seen.compressed else _size(capture)
    return Observation(
        str(capture),
        seen.totals,
        seen.interfaces,
        seen.warnings,
        **tables,
        read_bytes=seen.bytes,
        skipped_bytes=seen.skipped_bytes,
        file_bytes=size,
        only=tuple(only),
    )


def _size(capture: str | PathLike[str]) -> int | None:
    """A file's size; `None` of what has none, such as standard input."""
    path = Path(capture)
    return path.stat().st_size if path.is_file() else None


def _observed(observe: Callable[[_core.Control], _core.Observation]) -> _core.Observation:
    """Read in a thread: at Ctrl-C what was read until then counts, as if the file had ended there.

    Raises:
        KeyboardInterrupt: At a second one, or if nothing comes from a pipe for a while.
    """
    control = _core.Control()
    found: Future[_core.Observation] = Future()

    def read() -> None:
        try:
            found.set_result(observe(control))
        except BaseException as error:  # noqa: BLE001 - the caller has it
            found.set_exception(error)

    Thread(target=read, daemon=True).start()
    until = math.inf
    while time.monotonic() < until:
        try:
            # not without end: Polars' handler of Ctrl-C has such a wait go on (SA_RESTART)
            if wait([found], _LOOK_S).done:
                return found.result()
        except KeyboardInterrupt:
            if control.is_canceled():
                raise
            control.cancel()
            until = time.monotonic() + _PATIENCE_S
    raise KeyboardInterrupt
