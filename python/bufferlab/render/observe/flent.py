"""What a test by Flent says, on one screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from bufferlab.captured.flent import FlentTest
from bufferlab.display import significant
from bufferlab.render.view import Heading, Terms, View
from bufferlab.units import format_rate


def flent_view(test: FlentTest) -> View:
    """A line for each thing that matters."""
    title = f"{PurePath(test.file).name}: {test.test or 'a test'} by Flent, {test.way}"
    return View([Heading(title), Terms(list(_lines(test)))])


def _lines(test: FlentTest) -> Iterator[tuple[str, str]]:
    rate, goodput = (format_rate(value, 4) for value in (test.rate_bps, test.goodput_bps))
    median, late, latest = (significant(value, 3) for value in test.waits_ms)
    yield "link", f"about {rate} with headers, by the fullest seconds; {goodput} of goodput in the mean"
    yield "long flows", f"{test.streams}; their congestion controls are not in the file"
    yield "round trip", f"{significant(test.rtt_ms, 3)} ms, the smallest ping"
    yield (
        "waits",
        f"median {median} ms, 95th percentile {late} ms, 99th {latest} ms above that ({test.pings:,} pings)",
    )
    packets = f"{test.buffer_packets} full packets" if test.buffer_packets > 1 else "a packet"
    yield (
        "buffer",
        f"{packets} or more, what the 99th percentile waits for, if all wait in one queue; where each flow "
        "has one of its own, pings do not show it",
    )
    if test.other_streams:
        yield (
            "beware",
            f"{test.other_streams} TCP streams sent the other way: pings, and with them the buffer, have the "
            "waits of both directions",
        )
