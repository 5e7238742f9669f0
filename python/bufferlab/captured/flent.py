"""What a test by Flent, the FLExible Network Tester, tells of a link: its rate, its flows, and what waits.

Format: Flent's documentation, "The Data File Format" (version 4, Flent 2.1): JSON, usually gzipped, with
`metadata`, `x_values` (seconds) and `results` (a series by name, `null` where there is no value). Series of
TCP streams begin with "TCP upload" or "TCP download" and are in Mbit/s of goodput; those that end with "sum",
"avg" or "totals" are made of them. Series of pings begin with "Ping (ms)".
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bufferlab.captured.scenario import NOTHING, Known
from bufferlab.errors import InputError
from bufferlab.scenario import Scenario
from bufferlab.studies.internet import STACK, controls_of, shared_out
from bufferlab.units import format_rate, parse_rate

WAYS: Final = ("upload", "download")

_STREAM: Final = re.compile(r"TCP (upload|download)\b")
_MADE: Final = (" sum", " avg", " totals")
_PING: Final = "Ping (ms)"
_ACCEPTED: Final = "a file that Flent wrote, *.flent.gz, of a test with TCP streams and pings"

_PACKET_BYTES: Final = 1500
_PAYLOAD_BYTES: Final = 1448
"""Of a full packet over IPv4: less 20 bytes of IP, 20 of TCP and 12 of timestamps (RFC 7323)."""

_SECOND: Final = 1.0
_FULL: Final = 0.9
"""The link's rate is this quantile of the goodput of all streams over a second: losses keep it from being
full at times. Our choice."""

_LATE: Final = 0.99
"""The quantile of waits that is taken for a full buffer."""

_PINGS: Final = {"kind": "ping", "interval": "200 ms"}
"""As Flent's own by default."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class FlentTest:
    """What a test tells of the direction in which its streams carry most.

    Attributes:
        file: The file.
        test: The test's name, such as `tcp_nup`.
        way: `upload` (from the host that ran Flent) or `download`.
        streams: TCP streams that way.
        other_streams: TCP streams the other way, whose queue the pings wait in as well.
        goodput_bps: What the streams carried together, mean.
        rate_bps: The link's rate, by the fullest seconds, headers included.
        rtt_ms: The smallest ping.
        waits_ms: Pings above that while the streams ran: median, 95th and 99th percentile.
        pings: How many these are.
    """

    file: str
    test: str
    way: str
    streams: int
    other_streams: int
    goodput_bps: float
    rate_bps: float
    rtt_ms: float
    waits_ms: tuple[float, float, float]
    pings: int

    @property
    def buffer_packets(self) -> int:
        """Full packets that the longest waits are, at least one."""
        return max(round(self.waits_ms[2] / 1e3 * self.rate_bps / 8 / _PACKET_BYTES), 1)

    def to_dict(self) -> dict[str, Any]:
        """The numbers as a document."""
        names = ("wait_p50_ms", "wait_p95_ms", "wait_p99_ms")
        own = {key: value for key, value in vars(self).items() if key != "waits_ms"}
        document = {"format": "bufferlab-flent-test", "format_version": 1, **own}
        return (
            document | dict(zip(names, self.waits_ms, strict=True)) | {"buffer_packets": self.buffer_packets}
        )

    def scenario(self, known: Known = NOTHING) -> Scenario:
        """A runnable scenario: a FIFO as deep as pings waited, the streams, and a ping.

        Args:
            known: What the operator knows; controls in place of the Internet's mix.

        Raises:
            InputError: Something that is known is no rate, time or control.
        """
        rate_bps = self.rate_bps if known.rate is None else parse_rate(known.rate)
        rtt = known.rtt or f"{self.rtt_ms:.4g} ms"
        controls = shared_out(self.streams, known.controls) if known.controls else controls_of(self.streams)
        groups = [
            {"name": control.partition("(")[0], "count": count, "congestion": control, "rtt": rtt}
            | {"start": "uniform(0 s, 1 s)"}
            for control, count in controls
        ]
        return Scenario.from_dict(
            {
                "run": {
                    "name": f"As tested by {Path(self.file).name}"[:80],
                    "duration": "60 s",
                    "stack": STACK,
                },
                "bottleneck": {
                    "rate": format_rate(round(rate_bps, 3 - int(np.log10(rate_bps)))),
                    "buffer": f"{self.buffer_packets} packets",
                },
                "flows": [*groups, {"name": "ping", "rtt": rtt, "application": _PINGS}],
            }
        )


def read_flent(file: str | PathLike[str], way: str | None = None) -> FlentTest:
    """Read a test's file.

    Args:
        file: What Flent wrote.
        way: `upload` or `download`; default that in which the streams carried more.

    Raises:
        InputError: It cannot be read, is none of Flent's, or has no such streams or no pings.
    """
    document = _document(file)
    results: Mapping[str, Sequence[float | None]] = document["results"]
    times = _series(document["x_values"])
    streams: dict[str, list[Floats]] = {each: [] for each in WAYS}
    for name, values in results.items():
        match = _STREAM.match(name)
        if match is not None and not name.endswith(_MADE):
            streams[match[1]].append(_series(values))
    pings = [_series(values) for name, values in results.items() if name.startswith(_PING)]
    if way is not None and way not in WAYS:
        raise InputError("is no direction of a test", key="direction", value=way, accepted=" or ".join(WAYS))
    carried = {each: float(np.nansum(own)) if own else 0.0 for each, own in streams.items()}
    chosen = way or max(carried, key=carried.__getitem__)
    if not carried[chosen] or not pings or not any(np.isfinite(each).any() for each in pings):
        lacks = f"TCP streams that {chosen}" if not carried[chosen] else "pings"
        raise InputError(f"has no {lacks}", file=file, accepted=_ACCEPTED)
    together = np.sum(streams[chosen], axis=0)  # without a value where a stream has none
    loaded = np.isfinite(together)
    waits = np.concatenate([each[loaded] for each in pings])
    waits = waits[np.isfinite(waits)]
    if not waits.size:
        raise InputError("has no pings while its streams ran", file=file, accepted=_ACCEPTED)
    least_ms = min(float(np.nanmin(each)) for each in pings if np.isfinite(each).any())
    median, late, latest = (float(each) for each in np.quantile(waits - least_ms, (0.5, 0.95, _LATE)))
    return FlentTest(
        file=str(file),
        test=str(document.get("metadata", {}).get("NAME", "")),
        way=chosen,
        streams=len(streams[chosen]),
        other_streams=sum(len(own) for each, own in streams.items() if each != chosen),
        goodput_bps=1e6 * float(together[loaded].mean()),
        rate_bps=1e6 * _fullest(together[loaded], times[loaded]) * _PACKET_BYTES / _PAYLOAD_BYTES,
        rtt_ms=least_ms,
        waits_ms=(median, late, latest),
        pings=int(waits.size),
    )


def _fullest(goodput: Floats, times: Floats) -> float:
    """A high quantile of the goodput's means over a second."""
    step = float(np.median(np.diff(times))) if times.size > 1 else _SECOND
    many = max(round(_SECOND / step), 1)
    whole = (
        goodput[: goodput.size // many * many].reshape(-1, many) if goodput.size >= many else goodput[None]
    )
    return float(np.quantile(whole.mean(axis=1), _FULL))


def _document(file: str | PathLike[str]) -> dict[str, Any]:
    try:
        content = Path(file).read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=file) from None
    try:
        text = gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content
        document = json.loads(text)
    except (OSError, EOFError, zlib.error, ValueError, RecursionError):
        raise InputError("is not a data file of Flent's", file=file, accepted=_ACCEPTED) from None
    if not _is_whole(document):
        raise InputError("is not a data file of Flent's", file=file, accepted=_ACCEPTED)
    return dict(document)


def _is_whole(document: object) -> bool:
    """Whether a document has times, and series that are as long, of numbers."""
    if not isinstance(document, dict):
        return False
    times, results = document.get("x_values"), document.get("results")
    if not isinstance(times, list) or not isinstance(results, dict) or not times:
        return False
    metadata = document.get("metadata", {})
    series = [times, *results.values()]
    return isinstance(metadata, dict) and all(
        isinstance(each, list) and len(each) == len(times) and all(map(_is_value, each)) for each in series
    )


def _is_value(value: object) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _series(values: Sequence[float | None]) -> Floats:
    return np.asarray([np.nan if value is None else value for value in values], dtype=np.float64)
