"""The long flows of a capture as groups of a scenario: each with its round-trip times and its control."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import polars as pl

from bufferlab.captured.laws import law
from bufferlab.captured.observation import NS_PER_MS
from bufferlab.studies.internet import controls_of, shared_out

MOST_MODES: Final = 4
"""Groups of round-trip times, and of bursts, at most."""

BURSTS_APART: Final = 3.0
"""A mean burst that is more than as many times the next smaller one is of another kind of flow. The mean of
some bursts of one law varies, too, but hardly by that. Our choice."""

APART: Final = 1.3
"""A round-trip time that is more than this many times the next shorter one begins another group. From one law
of both, all flows might draw a short one, and a buffer would be sized for that. Our choice."""

_SHORT_US: Final = 10_000
"""Shorter ones are named in microseconds."""


_OWN_ECN: Final = {"dctcp", "prague"}
"""Controls with their own response to marks, which always use ECN."""

_EVEN: Final = 0.7
"""Silences and bursts are all alike if they deviate by less than that part of their mean, else exponential,
which deviates by all of it. Our choice."""


@dataclass(frozen=True)
class _Mode:
    """Flows with round-trip times near each other: how many there are at a time, and which were seen."""

    count: int
    flows: pl.DataFrame
    kind: str = "long"
    """What its groups are called after."""
    is_capable: bool = False
    """Whether its flows use ECN."""

    @property
    def pauses(self) -> bool:
        """Whether its flows have nothing to send by turns."""
        return self.kind != "long"

    @property
    def application(self) -> dict[str, Any]:
        """What the flows have to send; those that always do need none."""
        if not self.pauses:
            return {}
        silent_ns = of_each(self.flows, "silence_mean_ns", "silence_deviation_ns")
        size = of_each(self.flows, "burst_mean_bytes", "burst_deviation_bytes")
        turns = {
            "kind": "on-off",
            "size": _turns(size, f"{float(f'{max(size[0], 1.0):.4g}'):.0f} B"),
            "off": _turns(silent_ns, f"{silent_ns[0] / NS_PER_MS:.4g} ms"),
        }
        return {"application": turns}

    def ecn(self, control: str) -> dict[str, str]:
        """Whether and how flows with a control use ECN; those that always do need no word for it."""
        word = control.partition("(")[0]
        is_l4s = self.is_capable and bool(2 * int(self.flows["is_l4s"].sum()) > len(self.flows))
        if word == "dctcp" and is_l4s:
            return {"ecn": "l4s"}
        is_classic = self.is_capable and not is_l4s and word not in _OWN_ECN
        return {"ecn": "classic"} if is_classic else {}

    @property
    def title(self) -> str:
        """The round-trip time in the middle: "33ms"."""
        middle_us = 1e3 * float(np.median(self.flows["rtt_ms"].to_numpy()))
        return f"{middle_us / 1e3:.0f}ms" if middle_us >= _SHORT_US else f"{middle_us:.0f}us"


@dataclass(frozen=True)
class Placed:
    """A group of a scenario, and what it stands for.

    Attributes:
        group: The group, as in a scenario.
        mode: Groups of one number stand for the same flows, by controls.
        flows: Those that were seen.
        pauses: Whether they have nothing to send by turns.
    """

    group: dict[str, Any]
    mode: int
    flows: pl.DataFrame
    pauses: bool


def of_each(flows: pl.DataFrame, mean: str, deviation: str) -> tuple[float, float]:
    """Mean and standard deviation over all silences, or the bursts between them, of some flows that pause.

    Args:
        flows: Some such flows.
        mean: The column of each flow's mean.
        deviation: That of its standard deviation.
    """
    numbers, means, deviations = (flows[name].to_numpy() for name in ("silences", mean, deviation))
    whole = float(np.average(means, weights=numbers))
    square = float(np.average(deviations**2 + means**2, weights=numbers))
    return whole, max(square - whole**2, 0.0) ** 0.5


def _turns(of: tuple[float, float], text: str) -> str:
    """The law of something with a mean, which the text has, and a standard deviation."""
    mean, deviation = of
    return text if deviation < _EVEN * mean else f"exponential(mean={text})"


def long_groups(
    steady: pl.DataFrame,
    count: int,
    mix: Sequence[tuple[str, float]] | None,
    pausing: tuple[pl.DataFrame, int] | None = None,
) -> list[Placed]:
    """The groups, by round-trip time and control.

    Args:
        steady: A row a long flow that always sends, with its `rtt_ms`, for how many `seconds` it lasted, and
            whether it `uses_ecn` and `is_l4s`.
        count: How many there are at a time.
        mix: Congestion controls with their shares; `None` for those of the Internet.
        pausing: The same of flows that pause, with their silences and bursts.
    """
    modes = _modes(steady, count)
    if pausing is not None:
        by_size = by_bursts(*pausing)
        for number, flows in by_size:
            size, _ = of_each(flows, "burst_mean_bytes", "burst_deviation_bytes")
            kind = f"pausing-{float(f'{size / 1e3:.2g}'):.0f}KB" if len(by_size) > 1 else "pausing"
            modes += [replace(mode, kind=kind) for mode in _modes(flows, number)]
        count += pausing[1]
    controls = _spread_out(shared_out(count, mix) if mix else controls_of(count), count)
    groups = []
    begin = 0
    for number, mode in enumerate(modes):
        own = controls[begin : begin + mode.count]
        begin += mode.count
        rtts = law(mode.flows["rtt_ms"], mode.flows["seconds"], "ms")
        groups += [(control, own.count(control), number, mode, rtts) for control in dict.fromkeys(own)]
    kinds = [(mode.kind, mode.is_capable) for mode in modes]
    is_alike = all(mode.is_capable for mode in modes)
    is_mixed = len(set(controls)) > 1
    return [
        Placed(
            {
                "name": "-".join(
                    [
                        mode.kind,
                        *([_word(control)] if is_mixed else []),
                        *(["ecn"] if mode.is_capable and not is_alike else []),
                        *([mode.title] if kinds.count((mode.kind, mode.is_capable)) > 1 else []),
                    ]
                ),
                "count": count_of,
                "rtt": rtts,
                "congestion": control,
                **mode.ecn(control),
                **mode.application,
            },
            number,
            mode.flows,
            mode.pauses,
        )
        for control, count_of, number, mode, rtts in groups
    ]


def _word(control: str) -> str:
    return control.partition("(")[0].partition("-")[0]


def _modes(known: pl.DataFrame, count: int) -> list[_Mode]:
    """The flows, those with ECN apart from the others, and cut where round-trip times are far apart."""
    return [
        _Mode(own, flows, is_capable=2 * int(alike["uses_ecn"].sum()) > len(alike))
        for number, alike in _parts(known, count, "uses_ecn", APART)
        for own, flows in _parts(alike, number, "rtt_ms", APART)
    ]


def by_bursts(pausing: pl.DataFrame, count: int) -> list[tuple[int, pl.DataFrame]]:
    """Flows that pause, cut where their mean bursts are far apart, with how many there are of each at a time.

    Args:
        pausing: A row a flow, with its bursts, and for how many `seconds` it lasted.
        count: How many there are at a time.
    """
    return _parts(pausing, count, "burst_mean_bytes", BURSTS_APART)


def _parts(known: pl.DataFrame, count: int, by: str, apart: float) -> list[tuple[int, pl.DataFrame]]:
    """The flows, cut where a column's values are far apart; each cut leaves whole flows on both sides."""
    if not count or known.is_empty():
        return []
    flows = known.sort(by)
    values = flows[by].to_numpy()
    reached = flows["seconds"].cum_sum().to_numpy()
    below = np.rint(count * reached / reached[-1]).astype(int)  # flows at a time up to each row
    ratios = values[1:] / np.maximum(values[:-1], 1e-9)
    far = [int(row) for row in np.argsort(-ratios, kind="stable") if ratios[row] > apart]
    rows: list[int] = []
    for row in far:
        cut = sorted([*rows, row])
        counts = np.diff([0, *below[cut], count])
        if len(cut) < MOST_MODES and counts.min() >= 1:
            rows = cut
    edges = [0, *(row + 1 for row in rows), len(flows)]
    counts = np.diff([0, *below[rows], count])
    return [
        (int(own), flows[first:last]) for own, first, last in zip(counts, edges[:-1], edges[1:], strict=True)
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
