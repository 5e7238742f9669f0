"""What a kernel reported, as the tables that the engine writes; what a kernel does not tell is null."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

import polars as pl

from bufferlab import _core
from bufferlab.errors import InputError
from bufferlab.experiment.recording import Request
from bufferlab.experiment.simulation import simulate
from bufferlab.kernel.boot import Report
from bufferlab.kernel.captures import Finished
from bufferlab.kernel.guest.tcp_info import FIELDS
from bufferlab.kernel.job import round_trips_ps
from bufferlab.plan import Plan
from bufferlab.results.result import Result
from bufferlab.results.tables import ALL_GROUPS, NONE
from bufferlab.scenario import Scenario
from bufferlab.units import PS_PER_NS, PS_PER_S, PS_PER_US

if TYPE_CHECKING:
    from bufferlab._core import Control, Outcome

Row = Mapping[str, Any]

_BITS: Final = 8
_NS_PER_US: Final = 1000
_NO_THRESHOLD: Final = 0x7FFFFFFF
"""TCP_INFINITE_SSTHRESH (include/net/tcp.h, Linux 6.12)."""

_COUNTED: Final[Mapping[str, str]] = {"delivered_bytes": "received_bytes"} | {
    name: name for name in ("sent_packets", "retransmissions", "timeouts", "spurious_retransmissions")
}
"""Columns, and the fields of a report that they are made of."""


class KernelOutcome:
    """A kernel's report with the methods of the engine's `Outcome`."""

    canceled = False

    def __init__(self, plan: Plan, rows: Sequence[Row], recordings: Sequence[Finished] = ()) -> None:
        self.recordings = recordings
        self._program = next((json.loads(row["tables"]) for row in rows if row["kind"] == "program"), None)
        self._link = next((json.loads(row["tables"]) for row in rows if row["kind"] == "link"), None)
        said = next((row["tables"] for row in rows if row["kind"] == "applications"), "{}")
        applied: Mapping[str, list[list[int]]] = json.loads(said)
        self._finished = {flow: times for flow, *times in applied.get("finished", [])}
        self._exchanges = applied.get("exchanges", [])
        self._plan, self._rows = plan, [row for row in rows if "tables" not in row]
        ends = {row["kind"]: row for row in rows if row["kind"] in {"warmup", "end"}}
        if len(ends) < 2:
            raise InputError("ended before the run did", key="kernel", accepted="a run that is finished")
        self._warmup, self._end = ends["warmup"], ends["end"]
        self._measured = [row for row in self._rows if self._warmup["at_ns"] <= row["at_ns"]]

    @property
    def reached_ps(self) -> int:
        """The run's end, which comes before the plan's if a program ended it."""
        end_ps = int(self._plan["duration_ps"])
        return end_ps if self._program is None else min(end_ps, self._end["at_ns"] * PS_PER_NS)

    @property
    def events(self) -> int:
        """A kernel's events are not counted."""
        return 0

    @property
    def packets(self) -> int:
        """Packets that left the link."""
        return int(self._end["queue"][1])

    def flows(self) -> pl.DataFrame:
        """A row per flow."""
        plan, warmup, end = self._plan, _flows(self._warmup), _flows(self._end)
        rtts = self._round_trips()
        rows = []
        for flow, (start_ps, rtt_ps) in enumerate(
            zip(plan["flows"]["start_ps"], round_trips_ps(plan), strict=True)
        ):
            before, after = warmup.get(flow), end.get(flow)
            row = {
                "flow": flow,
                "group": plan["flows"]["group"][flow],
                "start_ps": start_ps,
                "rtt_ps": rtt_ps,
            }
            for name, field in _COUNTED.items():
                whole = None if after is None or after[field] < 0 else after[field]
                row[f"whole_{name}"] = whole
                row[name] = None if whole is None else whole - (0 if before is None else before[field])
            row |= {"rtt_sum_ps": sum(rtts[flow]) * PS_PER_US, "rtt_samples": len(rtts[flow])}
            finished, received = (self._moment(ns) for ns in self._finished.get(flow, (-1, -1)))
            rows.append(row | {"finished_ps": finished, "received_ps": received})
        return _table("flows", rows)

    def exchanges(self) -> pl.DataFrame:
        """Bursts, pages, datagrams and pings, in order of flows."""
        numbers: Counter[int] = Counter()
        rows = []
        for flow, start_ns, end_ns, size in self._exchanges:
            row = {"flow": flow, "number": numbers[flow], "start_ps": start_ns * PS_PER_NS, "bytes": size}
            numbers[flow] += 1
            if row["start_ps"] < self.reached_ps:
                rows.append(row | {"end_ps": self._moment(end_ns)})
        return _table("exchanges", rows)

    def _moment(self, ns: int) -> int:
        """A moment of the run; none before its begin or after its end."""
        return ns * PS_PER_NS if 0 <= ns * PS_PER_NS < self.reached_ps else NONE

    def queues(self) -> pl.DataFrame:
        """The link's row, of all groups together: a kernel's discipline does not tell groups apart."""
        if self._link is not None:
            return self._of_link("queues")
        plan = self._plan
        before, after = self._warmup["queue"], self._end["queue"]
        sent_bytes, packets, _, _, drops, marks = (b - a for a, b in zip(before, after, strict=True))
        window_s = (self._end["at_ns"] - self._warmup["at_ns"]) / 1e9
        backlog = pl.Series([row["queue"][2] for row in self._measured], dtype=pl.UInt64)
        backlog_bytes = pl.Series([row["queue"][3] for row in self._measured], dtype=pl.UInt64)
        mean = _mean(backlog)
        quantiles = {
            f"backlog_p{percent}_packets": int(backlog.quantile(percent / 100, "nearest") or 0)
            for percent in (1, 50, 95, 99)
        }
        row: dict[str, Any] = {
            "link": 0,
            "group": ALL_GROUPS,
            "arrived_packets": packets + drops + after[2] - before[2],
            "dropped_packets": drops,
            "lost_packets": 0,
            "marked_packets": marks,
            "departed_packets": packets,
            "departed_bytes": sent_bytes,
            "served_packets": packets,
            # Little's law: what waits on average, over what leaves
            "wait_mean_ps": mean * window_s / packets * PS_PER_S if packets else None,
            "backlog_mean_packets": mean,
            "backlog_mean_bytes": _mean(backlog_bytes),
            **quantiles,
            "backlog_max_packets": backlog.max(),
            "backlog_max_bytes": backlog_bytes.max(),
            "empty_fraction": _mean(backlog == 0),
            "whole_arrived_packets": after[1] + after[4] + after[2],
            "whole_dropped_packets": after[4],
            "whole_lost_packets": 0,
            "whole_departed_packets": after[1],
            "left_packets": after[2],
            "busy_fraction": sent_bytes * _BITS / window_s / plan["links"][0]["rate_bps"],
            "offered_bps": 0.0,
        }
        return _table("queues", [row])

    def queue_samples(self) -> pl.DataFrame:
        """The link at the probes' moments."""
        if self._link is not None:
            return self._of_link("queue_samples")
        rows = [
            {
                "time_ps": row["at_ns"] * PS_PER_NS,
                "link": 0,
                "backlog_packets": row["queue"][2],
                "backlog_bytes": row["queue"][3],
                "arrived_packets": row["queue"][1] + row["queue"][4] + row["queue"][2],
                "dropped_packets": row["queue"][4],
                "departed_bytes": row["queue"][0],
            }
            for row in self._samples()
            if self._plan["links"][0]["sample"]
        ]
        return _table("queue_samples", rows)

    def sender_samples(self) -> pl.DataFrame:
        """Senders at the probes' moments."""
        rows = []
        for at_ns, flow, values in self._flow_samples():
            threshold = values["ssthresh_segments"]
            rows.append(
                {
                    "time_ps": at_ns * PS_PER_NS,
                    "flow": flow,
                    "cwnd_segments": float(values["cwnd_segments"]),
                    "ssthresh_segments": float("inf") if threshold >= _NO_THRESHOLD else float(threshold),
                    "srtt_ps": values["rtt_us"] * PS_PER_US,
                    "inflight_segments": values["unacked_segments"],
                    "retransmissions": values["retransmissions"],
                }
            )
        return _table("sender_samples", rows)

    def receiver_samples(self) -> pl.DataFrame:
        """Receivers at the probes' moments."""
        rows = [
            {"time_ps": at_ns * PS_PER_NS, "flow": flow, "delivered_bytes": values["received_bytes"]}
            for at_ns, flow, values in self._flow_samples()
        ]
        return _table("receiver_samples", rows)

    def _of_link(self, name: str) -> pl.DataFrame:
        """A table of a link of Bufferlab's."""
        columns = pl.DataFrame(getattr(_core.Outcome(), name)())
        return pl.DataFrame(cast("dict[str, Any]", self._link)[name], schema=columns.schema)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - tables of what a kernel does not have
        if self._link is not None and name in self._link:
            return lambda: self._of_link(name)
        return getattr(_core.Outcome(), name)

    def _samples(self) -> list[Row]:
        interval_ps = self._plan["sample_interval_ps"]
        step_ns = interval_ps // PS_PER_NS if interval_ps else 0
        whole = (row for row in self._rows if "flows" in row)
        return [row for row in whole if step_ns and row["due_ns"] and row["due_ns"] % step_ns == 0]

    def _flow_samples(self) -> list[tuple[int, int, dict[str, int]]]:
        sampled = self._plan["flows"]["sample"]
        return [
            (row["at_ns"], flow, values)
            for row in self._samples()
            for flow, values in _flows(row).items()
            if sampled[flow]
        ]

    def _round_trips(self) -> list[list[int]]:
        """Smoothed round trips of each flow at the readings of the measured window, us."""
        found: list[list[int]] = [[] for _ in self._plan["flows"]["group"]]
        for row in self._measured:
            if "flows" in row:
                for flow, values in _flows(row).items():
                    if values["rtt_us"]:
                        found[flow].append(values["rtt_us"])
        for flow, start_ns, end_ns, _ in self._exchanges:
            source = self._plan["groups"][self._plan["flows"]["group"][flow]]["source"]
            if source.get("echo") and self._warmup["at_ns"] <= end_ns < self._end["at_ns"]:
                found[flow].append((end_ns - start_ns) // _NS_PER_US)
        return found


def result_of(
    scenario: Scenario,
    seed: int,
    report: Report,
    *,
    title: str,
    written: tuple[Request, Finished] | None = None,
) -> Result:
    """The result of a report.

    Args:
        scenario: What was run.
        seed: With which seed.
        report: What the kernel reported.
        title: The kernel's.
        written: The capture that was asked for, and what became of it.
    """

    def engine(text: str, _control: Control | None, _recording: str | None) -> Outcome:
        recordings = [] if written is None else [written[1]]
        # it has what is asked of one here
        return cast("Outcome", KernelOutcome(json.loads(text), report.rows, recordings))

    result = simulate(scenario, seed, asked=None if written is None else written[0], engine=engine)
    if result is None:
        raise AssertionError("nobody cancels a report")
    return replace(result, version=title, cpu_s=report.cpu_s)


def _table(name: str, rows: Sequence[Row]) -> pl.DataFrame:
    """The rows in the columns of the engine's table; those that they lack are null."""
    columns = pl.DataFrame(getattr(_core.Outcome(), name)())
    return pl.DataFrame(rows, schema=columns.schema)


def _flows(row: Row) -> dict[int, dict[str, int]]:
    names = ("received_bytes", *FIELDS)
    return {flow: dict(zip(names, values, strict=True)) for flow, *values in row["flows"]}


def _mean(values: pl.Series) -> float:
    mean = values.mean()
    return float(mean) if isinstance(mean, int | float) else 0.0
