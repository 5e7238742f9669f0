"""What senders know of their own connections: the output of `ss -tin` (ss(8), iproute2), once or in a row.

The kernel names each connection's congestion control, which no capture does, and the smallest round trip that
it has measured. `ss` prints flags and the control as bare words, then pairs (`tcp_stats_print`, misc/ss.c,
iproute2 6.1).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Final

import polars as pl

from bufferlab.captured.laws import law
from bufferlab.captured.link import LONG_BYTES
from bufferlab.errors import InputError
from bufferlab.scenario import check_congestion

_FLAGS: Final = {"ts", "sack", "ecn", "ecnseen", "fastopen"}
_ENDS: Final = re.compile(r"(\S+:\d+)\s+(\S+:\d+)(?:\s|$)")
_NUMBER: Final = re.compile(r"\b(bytes_acked|minrtt):([\d.]+)")
LINUX: Final = {"cubic": "cubic-linux(hystart)"}
"""Linux's words for what we call otherwise: its CUBIC, with its slow start."""


@dataclass(frozen=True)
class Sockets:
    """The long flows of a log.

    Attributes:
        controls: How many run each congestion control, by our words, the most frequent first.
        rtt: Their smallest round trips as a law; none if the log has none.
    """

    controls: dict[str, int]
    rtt: str | None

    @property
    def mix(self) -> list[tuple[str, float]]:
        """The controls with their shares."""
        return [(control, float(count)) for control, count in self.controls.items()]


@dataclass(frozen=True)
class _Socket:
    control: str
    line: int
    acked_bytes: int
    least_rtt_ms: float | None


def read_sockets(file: str | PathLike[str]) -> Sockets:
    """The long flows in a log: those of which more than 100 kB were acknowledged.

    Args:
        file: What `ss -tin` printed, also again and again; each connection's last entry counts.

    Raises:
        InputError: It cannot be read, has no such flow, or one with a control that is not simulated.
    """
    try:
        text = Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=file) from None
    last = dict(_sockets(text))
    long = [each for each in last.values() if each.acked_bytes > LONG_BYTES]
    if not long:
        raise InputError(
            "has no TCP connection of which more than 100 kB were acknowledged",
            file=file,
            accepted="what `ss -tin` prints on the hosts that send",
        )
    counted = Counter(_named(each, file) for each in long)
    rtts = [each.least_rtt_ms for each in long if each.least_rtt_ms]
    found = law(pl.Series(rtts), pl.Series([1.0] * len(rtts)), "ms") if rtts else None
    return Sockets(dict(counted.most_common()), found)


def _sockets(text: str) -> Iterator[tuple[tuple[str, str], _Socket]]:
    """Each connection's entries: its ends, and what the same or the next line says of it."""
    ends: tuple[str, str] | None = None
    for number, line in enumerate(text.splitlines(), 1):
        match = None if line[:1].isspace() else _ENDS.search(line)
        if match is not None:
            ends = (match[1], match[2])
        words = line[match.end() if match else 0 :].split()
        bare = [word for word in words[: len(_FLAGS) + 1] if word not in _FLAGS]
        if ends is None or not bare or ":" in bare[0] or "rto:" not in line:
            continue
        numbers = dict(_NUMBER.findall(line))
        acked_bytes = int(float(numbers.get("bytes_acked", 0)))
        least_rtt_ms = float(numbers["minrtt"]) if "minrtt" in numbers else None
        yield ends, _Socket(bare[0], number, acked_bytes, least_rtt_ms)


def _named(socket: _Socket, file: str | PathLike[str]) -> str:
    control = LINUX.get(socket.control, socket.control)
    try:
        check_congestion(control)
    except InputError as error:
        raise InputError(
            error.problem, file=file, line=socket.line, value=socket.control, accepted=error.accepted
        ) from None
    return control
