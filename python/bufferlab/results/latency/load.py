"""A flow group's latency under load, as metrics see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bufferlab.resolved import full_packet_bytes
from bufferlab.results.exchanges import begun_of
from bufferlab.results.groups import by_group
from bufferlab.results.latency import voice
from bufferlab.results.latency.responsiveness import Responsiveness, responsiveness
from bufferlab.results.measurement import Measurement
from bufferlab.results.tables import BITS_PER_BYTE
from bufferlab.units import PS_PER_S

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedFlow

_ROUND_TRIPS: Final = frozenset({"TCP", "page", "ping"})
"""Kinds of groups that have round trips; the others are calls, or nothing."""


@dataclass(frozen=True)
class GroupLatency:
    """A group of a run.

    Attributes:
        run: The run.
        name: The group's name.
        groups: Each group that has flows.
        flows: The rows of the frame `flows` of each of these groups.
    """

    run: Measurement
    name: str
    groups: Mapping[str, ResolvedFlow]
    flows: Mapping[str, pl.DataFrame]

    @property
    def group(self) -> ResolvedFlow:
        """The group in the scenario."""
        return self.groups[self.name]

    @cached_property
    def kind(self) -> str | None:
        """What its flows are: TCP, a probe (a page of one segment at most, or a ping), or a codec's."""
        application, tcp = self.group["application"], self.group["tcp"]
        if tcp is None:
            codec = voice.codec_of(application)
            name = codec.name if codec else None
            return "ping" if application["kind"] == "ping" else name
        if application["kind"] != "web" or not tcp["handshake"]:
            return "TCP"
        size = application["size"]
        return "page" if size["kind"] == "constant" and size["value"] <= tcp["segment_bytes"] else "TCP"

    def idle_ms(self) -> float | None:
        """The round trip in empty queues."""
        return self._idle_ms

    @cached_property
    def _idle_ms(self) -> float | None:
        if self.kind not in _ROUND_TRIPS:
            return None
        # each flow counts as often as it was sampled, so that the loaded mean differs by what load adds
        own = self.flows[self.name]
        propagation_ms = _mean_by_samples(own, "propagation_ms")
        if propagation_ms is None:
            propagation_ms = float(own["propagation_ms"].to_numpy().mean())
        return propagation_ms + self._transmission_ms()

    def loaded_ms(self) -> float | None:
        """Mean round trip."""
        return self._loaded_ms

    @cached_property
    def _loaded_ms(self) -> float | None:
        if self.kind == "ping":
            return float(self._answered_ms.mean()) if self._answered_ms.size else None
        return _mean_by_samples(self.flows[self.name], "rtt_ms") if self.kind in _ROUND_TRIPS else None

    def loaded_quantile_ms(self, percent: int) -> float | None:
        """A quantile of the round trips; TCP's are the idle one and the wait in the path's only queue."""
        if self.kind == "ping":
            return float(np.quantile(self._answered_ms, percent / 100)) if self._answered_ms.size else None
        idle_ms = self.idle_ms()
        if idle_ms is None or self._waits is None:
            return None
        wait_ms = self._waits[f"wait_p{percent}_ms"]
        return None if wait_ms is None else idle_ms + float(wait_ms)

    def increase_ms(self) -> float | None:
        """What load adds to the mean round trip."""
        loaded_ms, idle_ms = self.loaded_ms(), self.idle_ms()
        return None if loaded_ms is None or idle_ms is None else loaded_ms - idle_ms

    @cached_property
    def responsiveness(self) -> Responsiveness:
        """RPM of a group of probes, with the load of all flows without end that share a link with them."""
        if self.kind not in {"page", "ping"} or not self._exchanges.height:
            return Responsiveness(None, None)
        # a page of one segment takes two round trips: its handshake, and request and response
        trips = 2 if self.kind == "page" else 1
        foreign_ms = (self._exchanges["duration_s"].drop_nulls() / trips * 1e3).to_list()
        loaded_ms = [
            rtt_ms
            for name, other in self.groups.items()
            if _makes_load(other, self.flows[name]) and _links(other) & _links(self.group)
            for rtt_ms in self.flows[name]["rtt_ms"].drop_nulls().to_list()
        ]
        return responsiveness(foreign_ms, loaded_ms)

    def call(self, attribute: str) -> float | None:
        """The mean of an attribute of `voice.Call` over the group's calls."""
        return voice.mean_of(self._calls, attribute)

    @cached_property
    def _exchanges(self) -> pl.DataFrame:
        return begun_of(self.run.exchanges, self.name, self.run.warmup_s)

    @cached_property
    def _answered_ms(self) -> NDArray[np.float64]:
        if not self._exchanges.height:
            return np.array([])
        return self._exchanges["duration_s"].drop_nulls().to_numpy() * 1e3

    @cached_property
    def _waits(self) -> Mapping[str, float | None] | None:
        """The waits in the only queue on the way; `None` if there are several, or none."""
        path = self.group["path"]
        if len(path) != 1 or self.group["reverse_path"]:
            return None
        queues = self.run.queues
        owners = list(zip(queues["link"].to_list(), queues["group"].to_list(), strict=True))
        owner = (path[0], self.name)
        return queues.row(owners.index(owner), named=True) if owner in owners else None

    @cached_property
    def _calls(self) -> Sequence[voice.Call]:
        application = self.group["application"]
        codec = voice.codec_of(application)
        if application["kind"] != "udp" or codec is None or not self._exchanges.height:
            return []
        found = [
            voice.assess(
                flow["start_s"].to_numpy(),
                flow["end_s"].cast(pl.Float64).fill_null(float("nan")).to_numpy(),
                application["interval_ps"],
                codec,
                self.run.reached_ps / PS_PER_S,
            )
            for flow in self._exchanges.sort("flow", "number").partition_by("flow", maintain_order=True)
        ]
        return [call for call in found if call is not None]

    def _transmission_ms(self) -> float:
        """A full packet's own transmission, and its answer's if the way back has links."""
        group, tcp = self.group, self.group["tcp"]
        rates = {link["name"]: link["rate_bps"] for link in self.run.resolved["links"]}
        there = full_packet_bytes(group)
        back = there if tcp is None else tcp["ack_bytes"]
        seconds = sum(there * BITS_PER_BYTE / rates[link] for link in group["path"])
        seconds += sum(back * BITS_PER_BYTE / rates[link] for link in group["reverse_path"])
        if group["access_rate_bps"]:
            seconds += there * BITS_PER_BYTE / group["access_rate_bps"]
        return float(seconds * 1e3)


def groups_with_latency(run: Measurement) -> Iterator[GroupLatency]:
    """The groups of a run that have flows."""
    flows = by_group(run.flows)
    groups = {group["name"]: group for group in run.resolved["flows"] if group["name"] in flows}
    return (GroupLatency(run, name, groups, flows) for name in groups)


def _mean_by_samples(flows: pl.DataFrame, column: str) -> float | None:
    """Mean of a column over the flows' round-trip samples; `None` without any."""
    samples = flows["rtt_samples"].to_numpy()
    sampled = samples > 0
    if not sampled.any():
        return None
    weights = samples[sampled].astype(np.float64)
    return float((flows[column].to_numpy()[sampled] * weights).sum() / weights.sum())


def _makes_load(group: ResolvedFlow, flows: pl.DataFrame) -> bool:
    """Whether a group's flows send without end."""
    endless = not flows["transfer_bytes"].is_not_null().any()
    pauses = group["application"]["kind"] in {"on-off", "web", "video"}
    return group["tcp"] is not None and endless and not pauses


def _links(group: ResolvedFlow) -> set[str]:
    return {*group["path"], *group["reverse_path"]}
