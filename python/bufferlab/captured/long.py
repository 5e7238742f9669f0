"""The long flows of a capture as groups of a scenario: each with its round-trip times and its control."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import polars as pl

from bufferlab.captured.laws import law
from bufferlab.studies.internet import controls_of, shared_out

MOST_MODES: Final = 4
"""Groups of round-trip times at most."""

APART: Final = 1.3
"""A round-trip time that is more than this many times the next shorter one begins another group. From one law
of both, all flows might draw a short one, and a buffer would be sized for that. Our choice."""

_SHORT_US: Final = 10_000
"""Shorter ones are named in microseconds."""


@dataclass(frozen=True)
class _Mode:
    """Flows with round-trip times near each other: how many there are at a time, and which were seen."""

    count: int
    flows: pl.DataFrame

    @property
    def title(self) -> str:
        """The round-trip time in the middle: "33ms"."""
        middle_us = 1e3 * float(np.median(self.flows["rtt_ms"].to_numpy()))
        return f"{middle_us / 1e3:.0f}ms" if middle_us >= _SHORT_US else f"{middle_us:.0f}us"


def long_groups(
    known: pl.DataFrame, count: int, mix: Sequence[tuple[str, float]] | None
) -> list[dict[str, Any]]:
    """The groups, by round-trip time and control.

    Args:
        known: A row a long flow with its `rtt_ms`, and for how many `seconds` it lasted.
        count: How many there are at a time.
        mix: Congestion controls with their shares; `None` for those of the Internet.
    """
    modes = _modes(known, count)
    controls = _spread_out(shared_out(count, mix) if mix else controls_of(count), count)
    groups = []
    begin = 0
    for mode in modes:
        own = controls[begin : begin + mode.count]
        begin += mode.count
        rtts = law(mode.flows["rtt_ms"], mode.flows["seconds"], "ms")
        groups += [(control, own.count(control), mode, rtts) for control in dict.fromkeys(own)]
    is_mixed, has_modes = len(set(controls)) > 1, len(modes) > 1
    return [
        {
            "name": "-".join(
                ["long", *([_word(control)] if is_mixed else []), *([mode.title] if has_modes else [])]
            ),
            "count": number,
            "rtt": rtts,
            "congestion": control,
        }
        for control, number, mode, rtts in groups
    ]


def _word(control: str) -> str:
    return control.partition("(")[0].partition("-")[0]


def _modes(known: pl.DataFrame, count: int) -> list[_Mode]:
    """The flows, cut where round-trip times are far apart; each cut leaves whole flows on both sides."""
    flows = known.sort("rtt_ms")
    rtts = flows["rtt_ms"].to_numpy()
    reached = flows["seconds"].cum_sum().to_numpy()
    below = np.rint(count * reached / reached[-1]).astype(int)  # flows at a time up to each row
    ratios = rtts[1:] / np.maximum(rtts[:-1], 1e-9)
    far = [int(row) for row in np.argsort(-ratios, kind="stable") if ratios[row] > APART]
    rows: list[int] = []
    for row in far:
        cut = sorted([*rows, row])
        counts = np.diff([0, *below[cut], count])
        if len(cut) < MOST_MODES and counts.min() >= 1:
            rows = cut
    edges = [0, *(row + 1 for row in rows), len(flows)]
    counts = np.diff([0, *below[rows], count])
    return [
        _Mode(int(own), flows[first:last])
        for own, first, last in zip(counts, edges[:-1], edges[1:], strict=True)
    ]


def _spread_out(controls: Sequence[tuple[str, int]], count: int) -> list[str]:
    """The controls of the flows by round-trip time, so that each has short and long ones."""
    given = dict.fromkeys((control for control, _ in controls), 0)
    wanted = dict(controls)
    found = []
    for place in range(1, count + 1):
        lacking = {
            name: wanted[name] * place / count - given[name] for name in wanted if given[name] < wanted[name]
        }
        control = max(lacking, key=lacking.__getitem__)
        given[control] += 1
        found.append(control)
    return found
