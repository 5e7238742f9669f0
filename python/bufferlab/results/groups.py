"""What a flow group reached together, as metrics see it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from bufferlab.results.exchanges import begun_of
from bufferlab.results.frames_seen import FramesSeen
from bufferlab.results.measurement import Measurement
from bufferlab.results.tables import ALL
from bufferlab.results.transfers import counted_transfers
from bufferlab.results.videos import Viewing
from bufferlab.stats import Survival
from bufferlab.units import PS_PER_S

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedScenario


@dataclass(frozen=True)
class FlowGroup:
    """The flows of a group, or of all groups together, in one run.

    Attributes:
        name: The group, or "all".
        flows: Its rows of the frame `flows`.
        transfers: Those of them that are transfers which count.
        exchanges: Its exchanges that count; none for all groups together, as pings and pages differ.
        viewing: What viewers of its videos see; `None` without any.
        frames: What those in its video calls see; `None` without any.
        reached_s: The run's end, s.
        alike: Those of its flows whose goodputs compare: all of a kind, or the endless ones of TCP.
    """

    name: str
    flows: pl.DataFrame
    transfers: pl.DataFrame
    exchanges: pl.DataFrame
    viewing: Viewing | None
    frames: FramesSeen | None
    reached_s: float
    alike: pl.DataFrame

    @cached_property
    def goodput_bps(self) -> pl.Series:
        """Goodput of each flow."""
        return _known(self.flows["goodput_bps"])

    @cached_property
    def alike_goodput_bps(self) -> pl.Series:
        """Goodput of each of the flows that compare."""
        return _known(self.alike["goodput_bps"])

    @cached_property
    def transfers_lasted_s(self) -> pl.Series:
        """How long each transfer was seen."""
        return self._lasted_s(self.transfers, "completion_s")

    @cached_property
    def completion(self) -> Survival:
        """How long transfers take."""
        return _survival(self.transfers_lasted_s, self.transfers["completion_s"])

    @cached_property
    def exchange(self) -> Survival:
        """How long exchanges take."""
        return _survival(self._lasted_s(self.exchanges, "duration_s"), self.exchanges["duration_s"])

    def sum(self, column: str) -> int:
        """Sum of a column over the flows."""
        return int(self.flows[column].sum())

    def known_sum(self, column: str) -> int | None:
        """The same; `None` if nobody counted it, as for what a kernel does not tell."""
        values = self.flows[column]
        return None if values.null_count() else int(values.sum())

    def ratio(self, part: str, whole: str) -> float | None:
        """One sum over another; `None` of nothing."""
        total = self.sum(whole)
        return self.sum(part) / total if total else None

    def rtt_ms(self) -> float | None:
        """Mean of the senders' round-trip samples."""
        samples = self.sum("rtt_samples")
        return float((self.flows["rtt_ms"] * self.flows["rtt_samples"]).sum()) / samples if samples else None

    def jitter_ms(self) -> float | None:
        """Mean over the flows of the last estimate of jitter."""
        done = self.exchanges.filter(pl.col("duration_s").is_not_null())
        last = done.sort("end_s").group_by("flow").agg(pl.col("jitter_ms").last())
        return number(last["jitter_ms"].mean())

    def _lasted_s(self, rows: pl.DataFrame, column: str) -> pl.Series:
        """How long each took, or was seen if it did not end."""
        took_s = rows[column]
        return took_s.fill_null(self.reached_s - rows["start_s"]) if took_s.null_count() else took_s


def flow_groups(run: Measurement) -> Iterator[FlowGroup]:
    """The groups of a run that have flows, and "all" if there are several."""
    reached_s = run.reached_ps / PS_PER_S
    transfers = counted_transfers(run.flows, run.resolved, warmup_s=run.warmup_s, reached_s=reached_s)
    counted = by_group(transfers)
    tcp = {flow["name"] for flow in run.resolved["flows"] if flow["tcp"] is not None}

    applications = {flow["name"]: flow["application"] for flow in run.resolved["flows"]}

    def group(name: str, rows: pl.DataFrame) -> FlowGroup:
        exchanges = begun_of(run.exchanges, name, run.warmup_s, under_way=name in tcp)
        viewing = frames = None
        application = applications.get(name)
        if application is not None and application["kind"] == "video":
            viewing = Viewing(run.exchanges.filter(pl.col("group") == name), run.warmup_s, reached_s)
        if application is not None and application["kind"] == "video-call":
            packets = run.exchanges.filter(pl.col("group") == name)
            low, headers = application["low_rate_bps"], application["header_bytes"]
            frames = FramesSeen(packets, headers, low, run.warmup_s, reached_s)
        own = transfers if name == ALL else counted.get(name, transfers.clear())
        return FlowGroup(name, rows, own, exchanges, viewing, frames, reached_s, alike=rows)

    parts, flows = by_group(run.flows), run.flows
    yield from (group(name, part) for name, part in parts.items())
    if len(parts) > 1:
        alike = _alike(run.resolved)
        same = parts.keys() <= set(alike)
        yield replace(group(ALL, flows), alike=flows if same else flows.filter(pl.col("group").is_in(alike)))


def by_group(flows: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The rows of each group that has flows, in order of their first flows."""
    found: dict[str, pl.DataFrame] = {}
    begin = 0
    for name, rows in itertools.groupby(flows["group"].to_list()):
        length = len(list(rows))
        if name in found:  # groups take turns
            parts = flows.partition_by("group", as_dict=True, maintain_order=True)
            return {str(key): part for (key,), part in parts.items()}
        found[name] = flows.slice(begin, length)  # which copies nothing
        begin += length
    return found


def _alike(resolved: ResolvedScenario) -> list[str]:
    """The groups whose flows' goodputs compare: all if they are of one kind, otherwise endless TCP."""
    groups = resolved["flows"]
    if len({flow["application"]["kind"] for flow in groups}) == 1:
        return [flow["name"] for flow in groups]
    return [flow["name"] for flow in groups if flow["application"]["kind"] == "bulk"]


def _known(values: pl.Series) -> pl.Series:
    return values.drop_nulls() if values.null_count() else values


def _survival(lasted_s: pl.Series, took_s: pl.Series) -> Survival:
    return Survival(lasted_s.to_numpy(), ~np.isnan(took_s.to_numpy()))


def number(statistic: object) -> float | None:
    """A statistic of polars as a number; `None` if there is none."""
    return float(statistic) if isinstance(statistic, int | float) else None
