"""A run in the data format of Flent, the FLExible Network Tester, which then plots it beside its own tests.

Format: Flent's documentation, "The Data File Format" (version 4, Flent 2.1): gzipped JSON with `version`,
`metadata`, `x_values`, `results` (a series by name, `null` where there is no value) and `raw_values` (what
the tools gave, `t` in seconds since 1970). The names of the series are those of the data sets of a test:

- `tcp_nup` if TCP flows send one way, as senders' figures are Flent's host's: a stream for each sampled flow;
- `rrul_be_nflows` if some send the other way, over a link of the first group's way back: those download;
- `ping` if there are no TCP flows.

Pings are `Ping (ms) ICMP`, further groups of them extra hosts; the first call is the test's `VoIP`. The run's
clock is the time: it begins in 1970.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bufferlab.errors import InputError
from bufferlab.files import check_writable, written_whole
from bufferlab.results.latency.voice import codec_of
from bufferlab.results.metrics.exchanges import EXCHANGES
from bufferlab.results.metrics.keys import TIME
from bufferlab.results.metrics.metric import BITS_PER_S, Metric
from bufferlab.results.metrics.samples import FLOW_SAMPLES
from bufferlab.results.result import Result
from bufferlab.units import PS_PER_S

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedLink

SUFFIX: Final = ".flent.gz"
"""What Flent's files end with."""

STEP_PS: Final = PS_PER_S // 5
"""Distance of values unless something else is said, in Flent, too, ps."""

_FORMAT_VERSION: Final = 4
_EPOCH: Final = "1970-01-01T00:00:00.000000Z"

_UNITS: Final = {BITS_PER_S.shown: "Mbits/s"}
"""Units that Flent spells differently."""

_END: Final = EXCHANGES["end_s"]

Floats = NDArray[np.floating[Any]]
Series = list[float | None]


def check_path(path: Path) -> None:
    """Check that a file may be written as `path`.

    Raises:
        InputError: If Flent would not take it for a file of its own, or it is a folder.
        OutputError: If it cannot be written.
    """
    if not path.name.endswith(SUFFIX) or path.name == SUFFIX:
        raise InputError("is not a name of Flent's", file=path, accepted=f"a name that ends with {SUFFIX}")
    check_writable(path)


def save(result: Result, path: Path) -> None:
    """Write a run as a file of Flent's, whole or not at all.

    Raises:
        InputError: If the run has no samples of flows and no pings, or the name is none of Flent's.
        OutputError: If it cannot be written.
    """
    check_path(path)
    text = json.dumps(document(result), indent=1, sort_keys=True, allow_nan=False)
    with written_whole(path) as fresh:
        # no time of writing, so that the same run gives the same bytes
        fresh.write_bytes(gzip.compress(text.encode(), mtime=0))


def document(result: Result) -> dict[str, Any]:
    """A run as Flent's document.

    Raises:
        InputError: If it has nothing that one of Flent's tests has.
    """
    content = _Content(result)
    streams = content.add_streams()
    pings = content.add_pings()
    content.add_call()
    if not streams and not pings:
        raise InputError(
            "has neither samples of TCP flows nor pings", key=result.name, accepted="a scenario with some"
        )
    return content.document(_test_of(streams))


@dataclass(frozen=True)
class _Stream:
    """A sampled TCP flow: its number in the run, and which way it sends."""

    flow: int
    is_upload: bool


@dataclass
class _Content:
    """Series of a run at equal distances, and what they were made of."""

    result: Result
    results: dict[str, Series] = field(default_factory=dict)
    raw: dict[str, list[dict[str, float]]] = field(default_factory=dict)
    units: dict[str, str] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)

    @property
    def step_s(self) -> float:
        """Distance of the samples, or Flent's own without any, s."""
        probes = self.result.resolved["probes"]
        return float((probes["interval_ps"] if probes else STEP_PS) / PS_PER_S)

    @property
    def x_values(self) -> Floats:
        """Ends of the intervals, s."""
        intervals = int(self.result.reached_ps / PS_PER_S / self.step_s + 1e-9)
        return np.arange(1, intervals + 1) * self.step_s

    def add_streams(self) -> list[_Stream]:
        """Add the sampled TCP flows, their sum and mean."""
        streams = _streams(self.result)
        names = _stream_names(streams)
        frames = self.result.flow_samples.partition_by("flow", as_dict=True) if streams else {}
        for stream, name in zip(streams, names, strict=True):
            samples = frames[stream.flow,].filter(pl.col("goodput_bps").is_not_null())
            rates = self._add(name, samples, TIME, FLOW_SAMPLES["goodput_bps"])
            self.raw[name] = [
                {"t": time, "val": rate, "dur": self.step_s, "tcp_cwnd": cwnd}
                | ({} if srtt is None else {"tcp_rtt": srtt})
                for time, rate, cwnd, srtt in zip(
                    samples["time_s"],
                    rates,
                    samples["cwnd_segments"],
                    samples["srtt_ms"],
                    strict=True,
                )
            ]
        for way, is_upload in (("upload", True), ("download", False)):
            self._add_totals(
                way, [n for s, n in zip(streams, names, strict=True) if s.is_upload == is_upload]
            )
        if _test_of(streams) == "rrul_be_nflows":
            self.results["TCP totals"] = _row_wise([self.results[name] for name in names], sum)
            self.units["TCP totals"] = self.units[names[0]]
        return streams

    def add_pings(self) -> list[str]:
        """Add the groups of pings: the first as Flent's own, others as extra hosts."""
        groups = [
            flow["name"] for flow in self.result.resolved["flows"] if flow["application"]["kind"] == "ping"
        ]
        if not self.result.exchanges.height:
            return []
        for index, group in enumerate(groups):
            name = "Ping (ms) ICMP" if index == 0 else f"Ping (ms) ICMP {group} (extra)"
            self._add_exchanges(name, group)
        if len(groups) > 1:
            self.parameters["ping_hosts"] = ",".join(groups[1:])
        return groups

    def add_call(self) -> None:
        """Add the first group of calls: one-way delay and jitter."""
        calls = [flow["name"] for flow in self.result.resolved["flows"] if codec_of(flow["application"])]
        if not calls or not self.result.exchanges.height:
            return
        came = self._add_exchanges("VoIP::delay", calls[0])
        self._add("VoIP::jitter", came, _END, EXCHANGES["jitter_ms"])
        self.parameters["voip_host"] = calls[0]

    def document(self, test: str) -> dict[str, Any]:
        """The whole document, as a run of one of Flent's tests."""
        return {
            "version": _FORMAT_VERSION,
            "x_values": [round(float(x), 9) for x in self.x_values],
            "results": self.results,
            "raw_values": self.raw,
            "metadata": {
                "NAME": test,
                "TITLE": self.result.name,
                "NOTE": f"simulated by Bufferlab {self.result.version}, seed {self.result.seed}, plan "
                f"{self.result.plan_hash}; streams and their sums are those of the sampled flows",
                "HOST": "bufferlab",
                "HOSTS": ["bufferlab"],
                "LOCAL_HOST": "bufferlab",
                "LENGTH": self.result.duration_s,
                "TOTAL_LENGTH": self.result.reached_ps / PS_PER_S,
                "STEP_SIZE": self.step_s,
                "TIME": _EPOCH,
                "T0": _EPOCH,
                "IP_VERSION": 4,
                "TEST_PARAMETERS": self.parameters,
                "EGRESS_INFO": {"qdisc": [_queue(link) for link in self.result.resolved["links"]]},
                "SERIES_META": {name: {"UNITS": unit} for name, unit in self.units.items()},
            },
        }

    def _add_totals(self, way: str, names: Sequence[str]) -> None:
        if not names:
            return
        self.parameters[f"{way}_streams"] = str(len(names))
        columns = [self.results[name] for name in names]
        self.results[f"TCP {way} sum"] = _row_wise(columns, sum)
        self.results[f"TCP {way} avg"] = _row_wise(columns, lambda values: sum(values) / len(values))
        self.units |= {f"TCP {way} {kind}": self.units[names[0]] for kind in ("sum", "avg")}

    def _add_exchanges(self, name: str, group: str) -> pl.DataFrame:
        """Add how long a group's exchanges took, by when they ended; return those that did."""
        came = self.result.exchanges.filter((pl.col("group") == group) & pl.col("end_s").is_not_null())
        took = self._add(name, came, _END, EXCHANGES["duration_s"])
        self.raw[name] = [
            {"t": time, "val": value, "seq": number}
            for time, value, number in zip(came[_END.name], took, came["number"], strict=True)
        ]
        return came

    def _add(self, name: str, rows: pl.DataFrame, when: Metric, metric: Metric) -> pl.Series:
        """Add a series: the mean of what falls into each interval; return the values, as Flent has them."""
        shown: pl.Series = metric.unit.scaled(rows[metric.name])
        times_s, values = rows[when.name].to_numpy(), shown.to_numpy()
        size = self.x_values.size
        # what ends an interval belongs to it; a sample's time has rounding in its last digits
        places = np.ceil(times_s / self.step_s - 1e-6).astype(np.int64) - 1
        kept = (places >= 0) & (places < size) & ~np.isnan(values)
        sums = np.bincount(places[kept], values[kept], minlength=size)
        counts = np.bincount(places[kept], minlength=size)
        self.results[name] = [
            float(total / count) if count else None for total, count in zip(sums, counts, strict=True)
        ]
        self.units[name] = _UNITS.get(metric.unit.shown, metric.unit.shown)
        return shown


def _streams(result: Result) -> list[_Stream]:
    """The sampled TCP flows; the first group's way is up."""
    samples = result.flow_samples
    if not samples.height:
        return []
    groups = {flow["name"]: flow for flow in result.resolved["flows"]}
    sampled = samples.select("flow", "group").unique(maintain_order=True).sort("flow")
    tcp = [(flow, groups[name]) for flow, name in sampled.iter_rows() if groups[name]["tcp"] is not None]
    back = set(tcp[0][1]["reverse_path"]) if tcp else set()
    return [_Stream(flow, not back & set(group["path"])) for flow, group in tcp]


def _test_of(streams: Sequence[_Stream]) -> str:
    if not streams:
        return "ping"
    return "tcp_nup" if all(stream.is_upload for stream in streams) else "rrul_be_nflows"


def _stream_names(streams: Sequence[_Stream]) -> list[str]:
    best_effort = " BE" if _test_of(streams) == "rrul_be_nflows" else ""
    counts = {True: 0, False: 0}
    names = []
    for stream in streams:
        counts[stream.is_upload] += 1
        way = "upload" if stream.is_upload else "download"
        names.append(f"TCP {way}{best_effort}::{counts[stream.is_upload]}")
    return names


def _row_wise(columns: Sequence[Series], combine: Any) -> Series:  # noqa: ANN401
    rows = ([value for value in row if value is not None] for row in zip(*columns, strict=True))
    return [combine(row) if row else None for row in rows]


def _queue(link: ResolvedLink) -> dict[str, Any]:
    """A link as Flent's metadata has interfaces."""
    return {"name": link["queue"]["discipline"], "id": link["name"], "params": {"rate_bps": link["rate_bps"]}}
