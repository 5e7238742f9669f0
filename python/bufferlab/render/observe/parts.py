"""What each long flow of a capture got, or each group of them, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from bufferlab.captured.parts import Part
from bufferlab.display import significant
from bufferlab.render.grid import Grid

_FEWEST: Final = 2


def parts_grid(parts: Sequence[Part]) -> Iterator[Grid]:
    """A row a part, with the median wait and the mean goodput of a flow; nothing of one part alone.

    Args:
        parts: The parts.
    """
    if len(parts) < _FEWEST:
        return
    heads = ["flows", "round trip, ms", "median wait, ms", "goodput, Mbps", "lost, %"]
    yield Grid(["long flows"], heads, [_row(part) for part in parts])


def _row(part: Part) -> list[str]:
    return [
        part.name,
        f"{part.flows:,}",
        significant(part.rtt_ms, 3),
        _shown(part.wait_ms),
        significant(part.goodput_bps / 1e6, 3),
        _shown(None if part.loss is None else 100 * part.loss),
    ]


def _shown(value: float | None) -> str:
    return "–" if value is None else significant(value, 3)
