"""Bufferbloat: A simulation (M. Santcroos and S. van Genderen, 2011; OMNeT++ with INET).

The text has neither the windows below 2^18 by name nor the five buffers but 400 and 500 frames nor the size
of event C's packets; `bloat_inet_runs` says what stands for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import polars as pl
from matplotlib.figure import Figure

from bufferlab.evidence.bloat_inet import figures, runs
from bufferlab.evidence.bloat_inet.runs import BUFFERS, WINDOWS_BYTES, Setting
from bufferlab.evidence.registry import Reproduced, Request, reproduction
from bufferlab.results.result import Result

CITATION: Final = "M. Santcroos and S. van Genderen, Bufferbloat: A simulation, 2011"

LARGEST_BYTES: Final = WINDOWS_BYTES[-1]
SETTLES_BYTES: Final = 2**16
"""The document's bound between windows where the queue settles and those where it grows on."""

_QUEUE_AXIS: Final = "queue at router 1 (frames)"

ZOOM_MS: Final = 100.0
"""Axis of figure 6, each way; the document's is lost."""

_GROWS: Final = (15.0, 39.0)
_OVERLAPS: Final = (55.0, 85.0)

_NOTES: Final = (
    "Two clients, two routers, two servers; 1 Mbps and 20 ms between the routers, PPP frames of 583 "
    "bytes, INET's Reno of 2011 (stack inet-reno). Event A: 20 MB from 0 s; B: 2 MB from 40 s, which its "
    "server returns; C: a datagram of 100 bytes (ours: the text has no size) a second. Nothing is random: "
    "one run says it all.",
)
_ECHO_WHY: Final = (
    "Our server's data has acknowledgments of its own, which wait in router 1's queue as frames of 47 "
    "bytes, as INET sends one for each segment that brings data; in one connection some ride on event B's "
    "data."
)
_TWICE_WHY: Final = (
    "Event B adds its own growth, one segment a round trip, but it doubles the wait as well, so each of "
    "the two grows half as fast: the sum rises steeply while B is in slow start only."
)


@reproduction(
    name="bloat-inet/fig2",
    title="router 1's queue over time for advertised windows of 7504 to 262144 bytes",
    citation=CITATION,
)
def fig2(request: Request) -> Reproduced:
    """Queue length over time."""
    series = {title: runs.backlog(result) for title, result in _by_window(request).items()}
    rows = [_queue_row(*each) for each in zip(WINDOWS_BYTES, series.values(), strict=True)]
    drawn = figures.draw_lines(series, "frames", _QUEUE_AXIS)
    return _reproduced("fig2", _long(series, "window"), {"fig2": drawn}, rows, request)


def _queue_row(window_bytes: int, queue: pl.DataFrame) -> dict[str, Any]:
    before, during = runs.growth(queue, *_GROWS), runs.growth(queue, *_OVERLAPS)
    grows = window_bytes > SETTLES_BYTES
    settled = queue.filter(pl.col("time_s").is_between(*_GROWS))["frames"].mean()
    return {
        "window_bytes": window_bytes,
        "published": "grows on; twice as fast in overlap" if grows else "settles at the window",
        "window_less_bdp_frames": window_bytes // runs.SEGMENT_BYTES - _bdp_frames(),
        "mean_15_to_39_s_frames": _rounded(settled),
        "growth_15_to_39_s_frames_s": before,
        "growth_overlap_frames_s": during if grows else None,
        "most_frames": queue["frames"].max(),
        "why": _TWICE_WHY if grows else _SETTLES_WHY,
    }


_SETTLES_WHY: Final = (
    "Windows up to 2^16 bytes: slow start ends at the advertised window, and what is more than one "
    "bandwidth-delay product of it (8 frames and one in transmission) waits."
)


def _bdp_frames() -> int:
    """What is under way in 40 ms, and the frame in transmission."""
    return int(runs.RATE_BPS * 0.04 / 8 / runs.FRAME_BYTES) + 1


@reproduction(
    name="bloat-inet/fig3",
    title="event A's round-trip time over time, same runs",
    citation=CITATION,
)
def fig3(request: Request) -> Reproduced:
    """Round-trip time over time, and what becomes of its peak where acknowledgments ride on data."""
    results = _by_window(request)
    series = {title: runs.round_trips(result) for title, result in results.items()}
    last, largest = list(results.values())[-1], list(series.values())[-1]
    riding = runs.simulated([Setting(LARGEST_BYTES, echo_acknowledged=False)], request)[0]
    most, riding_most = (runs.backlog(each)["frames"].max() for each in (last, riding))
    ended_a, ended_b = _completed(last, "a", 0.0), _completed(last, "b", runs.OVERLAP_FROM_S)
    rows = [
        _row("least round-trip time, ms", "40", largest["rtt_ms"].min(), "A frame's transmission is more."),
        _row("largest round-trip time, ms", "about 2000", largest["rtt_ms"].max(), _PEAK_WHY),
        _row("largest queue, frames", "just over 400", most, _ECHO_WHY),
        _row("the same, acknowledgments on data", "just over 400", riding_most, _ECHO_WHY),
        _row("event A ends, s", "about 200", ended_a, "Alone, 20 MB in frames take 174 s."),
        _row("event B ends, s", "about 80", ended_b, "A's window is larger, so B gets less than half."),
    ]
    drawn = figures.draw_lines(series, "rtt_ms", "round-trip time (ms)")
    return _reproduced("fig3", _long(series, "window"), {"fig3": drawn}, rows, request)


_PEAK_WHY: Final = (
    "The document's 2 s are 429 full frames; the largest queue here holds more frames, a third of them "
    "acknowledgments of 47 bytes."
)


@reproduction(
    name="bloat-inet/fig4",
    title="event C's delay variation for the same windows, with its histogram and distribution",
    citation=CITATION,
)
def fig4(request: Request) -> Reproduced:
    """Delay variation, a point a packet."""
    return _variation("fig4", _by_window(request), _VARIATION_WHY, request)


@reproduction(
    name="bloat-inet/fig5",
    title="event C's delay variation for five buffers at router 1, window 2^18 bytes",
    citation=CITATION,
)
def fig5(request: Request) -> Reproduced:
    """Delay variation by buffer."""
    return _variation("fig5", _by_buffer(request), _BUFFER_WHY, request)


@reproduction(name="bloat-inet/fig6", title="the same, enlarged", citation=CITATION)
def fig6(request: Request) -> Reproduced:
    """Delay variation by buffer, within a tenth of a second."""
    return _variation("fig6", _by_buffer(request), _BUFFER_WHY, request, zoom_ms=ZOOM_MS)


@reproduction(
    name="bloat-inet/fig7",
    title="router 1's queue over time for five buffers, window 2^18 bytes",
    citation=CITATION,
)
def fig7(request: Request) -> Reproduced:
    """Queue length over time by buffer."""
    results = _by_buffer(request)
    series = {title: runs.backlog(result) for title, result in results.items()}
    rows = [
        {
            "buffer_frames": frames,
            "published": _FIG7_SAYS[frames >= BUFFERS[-1]],
            "most_frames": series[title]["frames"].max(),
            "mean_frames": _rounded(series[title]["frames"].mean()),
            "dropped": int(_up(result)["dropped_packets"].sum()),
            "event_a_s": _completed(result, "a", 0.0),
            "why": _FIG7_WHY,
        }
        for frames, (title, result) in zip(BUFFERS, results.items(), strict=True)
    ]
    drawn = figures.draw_lines(series, "frames", _QUEUE_AXIS)
    return _reproduced("fig7", _long(series, "buffer"), {"fig7": drawn}, rows, request)


_FIG7_SAYS: Final = {False: "drops, TCP's sawtooth", True: "no drops, the queue just grows"}
_FIG7_WHY: Final = (
    "Between 400 and 500 frames the need lies, 496: with fewer there are losses and sawtooths, with more "
    "there are none. Event A takes as long with 200 frames within one per cent: all that the rest of the "
    "buffer brings is waiting."
)
_VARIATION_WHY: Final = (
    "Datagrams come a second apart when the queue stands still; what varies is the queue within a second, "
    "most when event B begins (slow start) and ends."
)
_BUFFER_WHY: Final = (
    "Most of the frequent variation is with the larger buffers, as the text has it (nine of ten packets). "
    "The largest outliers are alike at both ends: a buffer of 100 frames runs empty when both TCPs wait "
    "for timeouts, one of 500 is filled by a whole slow start."
)


def _variation(
    name: str, results: Mapping[str, Result], why: str, request: Request, *, zoom_ms: float | None = None
) -> Reproduced:
    key = "window" if name == "fig4" else "buffer"
    series = {title: runs.variations(result) for title, result in results.items()}
    rows = [
        {
            key: title,
            "packets": frame.height,
            "sd_ms": _rounded(frame["variation_ms"].std(ddof=0), 1),
            "median_size_ms": _rounded(frame["variation_ms"].abs().quantile(0.5), 1),
            "p90_size_ms": _rounded(frame["variation_ms"].abs().quantile(0.9), 1),
            "p99_size_ms": _rounded(frame["variation_ms"].abs().quantile(0.99), 1),
            "most_ms": _rounded(frame["variation_ms"].abs().max(), 1),
            "why": why,
        }
        for title, frame in series.items()
    ]
    drawn = {
        name: figures.draw_variation(series, zoom_ms),
        f"{name}_distribution": figures.draw_distribution(series),
    }
    note = (
        "Delay variation: the time between two arrivals less its mean, as the document has it. Its "
        "figures' numbers are lost, so there is nothing published to compare with but the words."
    )
    return _reproduced(name, _long(series, key), drawn, rows, request, note)


def _reproduced(
    name: str,
    series: pl.DataFrame,
    drawn: Mapping[str, Figure],
    rows: Sequence[Mapping[str, Any]],
    request: Request,
    *notes: str,
) -> Reproduced:
    return Reproduced(
        name=f"bloat-inet/{name}",
        tables={"series": series},
        figures=dict(drawn),
        comparison=pl.DataFrame(rows, infer_schema_length=None),
        notes=(*_NOTES, *notes, *_quick(request)),
    )


def _by_window(request: Request) -> dict[str, Result]:
    results = runs.simulated([Setting(each) for each in WINDOWS_BYTES], request)
    return {f"{each} bytes": result for each, result in zip(WINDOWS_BYTES, results, strict=True)}


def _by_buffer(request: Request) -> dict[str, Result]:
    results = runs.simulated([Setting(LARGEST_BYTES, each) for each in BUFFERS], request)
    return {f"{each} frames": result for each, result in zip(BUFFERS, results, strict=True)}


def _up(result: Result) -> pl.DataFrame:
    return result.queues.filter(pl.col("link") == "up", pl.col("group") == "all")


def _completed(result: Result, group: str, start_s: float) -> float | None:
    lasted = result.flows.filter(pl.col("group") == group)["completion_s"][0]
    return None if lasted is None else round(start_s + lasted, 1)


def _long(series: Mapping[str, pl.DataFrame], key: str) -> pl.DataFrame:
    return pl.concat([frame.select(pl.lit(title).alias(key), pl.all()) for title, frame in series.items()])


def _row(what: str, published: str, ours: object, why: str) -> dict[str, Any]:
    return {"what": what, "published": published, "ours": _rounded(ours, 1), "why": why}


def _rounded(value: object, digits: int = 1) -> float | None:
    return round(float(value), digits) if isinstance(value, int | float) else None


def _quick(request: Request) -> Sequence[str]:
    return ["Quick: 90 s of the 200: event A does not end."] if request.quick else []
