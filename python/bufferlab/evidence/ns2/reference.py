"""The runs of ns-2 that Bufferlab is compared with."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib import resources
from typing import Final

from bufferlab.evidence.ns2.criteria import criteria

LINUX_CONTROLS: Final = {
    "reno": "reno-2.6",
    "bic": "bic",
    "cubic": "cubic-0.8",
    "compound": "compound-2.6",
    "scalable": "scalable-2.6",
    "vegas": "vegas-2.6",
    "westwood": "westwood-2.6",
    "htcp": "htcp-2.6",
}
"""Agent/TCP/Linux's congestion controls (of Linux 2.6.22) and ours."""

MIX: Final = "linux-mix"
"""The stack of flows of several of Agent/TCP/Linux's controls."""

SUPPORTED_STACKS: Final = (
    "sack1",
    "newreno",
    "reno",
    *(f"linux-{name}" for name in LINUX_CONTROLS),
    MIX,
)
"""ns-2 agents that have an equivalent here."""

SHIFT: Final = "shift"
"""Option: the round-trip time of each pair of hosts is longer by up to this, s, drawn by the run's seed."""

_DATA: Final[Sequence[str]] = [each["file"] for each in criteria()["data"]]
_EXPERIMENTS: Final = "ns2_experiments.csv"


@dataclass(frozen=True)
class Setting:
    """What ns-2 simulated, without the seed. Two types of flows share one bottleneck.

    Attributes:
        scenario: Name of the group of runs (`fig1`, `mininet` …).
        stack: ns-2's agent; `linux-mix` for flows of several of Agent/TCP/Linux's controls (`control_of`).
        rate_bps: Rate of the bottleneck, bit/s.
        wire_bytes: A full data packet in the bottleneck, bytes.
        flows: Number of flows; the first half (rounded up) is of type 1.
        rtt_ms: Two-way propagation delay of each type, ms.
        buffer_packets: ns-2's queue limit L: L − 1 packets wait and one is in transmission.
        buffer_rule: Where that number came from.
        duration_s: Length of the run, s.
        warmup_s: Measured from here on, s.
        options: What differs from the program's defaults.
    """

    scenario: str
    stack: str
    rate_bps: float
    wire_bytes: int
    flows: int
    rtt_ms: tuple[float, float]
    buffer_packets: int
    buffer_rule: str
    duration_s: float
    warmup_s: float
    options: tuple[tuple[str, str], ...] = ()

    def option(self, name: str, default: str = "") -> str:
        """Value of an option, or `default`."""
        return dict(self.options).get(name, default)

    @property
    def flow_counts(self) -> tuple[int, int]:
        """Flows of type 1 and type 2."""
        first = int(self.flows * 0.5 + 0.5)
        return first, self.flows - first

    @property
    def control_of(self) -> list[str]:
        """For each flow the control of Agent/TCP/Linux, as ns-2 spread them; empty for other agents.

        The option `mix` names them with their numbers; each next flow has the control that lags most behind
        its share.
        """
        if not self.stack.startswith("linux-"):
            return []
        if self.stack != MIX:
            return [self.stack.removeprefix("linux-")] * self.flows
        wanted = {
            name: int(count)
            for name, _, count in (word.partition(":") for word in self.option("mix").split(","))
        }
        given = dict.fromkeys(wanted, 0)
        chosen = []
        for index in range(self.flows):
            lag = {
                name: (index + 1.0) * count / self.flows - given[name]
                for name, count in wanted.items()
                if given[name] < count
            }
            name = max(lag, key=lambda each: lag[each])
            given[name] += 1
            chosen.append(name)
        return chosen

    @property
    def title(self) -> str:
        """One line that tells this setting from the others of its scenario."""
        rtt = "/".join(f"{value:g}" for value in dict.fromkeys(self.rtt_ms))
        words = [
            f"{self.stack}, {self.flows} flows, {rtt} ms, {self.buffer_packets} packets ({self.buffer_rule})"
        ]
        words += [f"{key}={value}" for key, value in self.options]
        return " ".join(words)


@dataclass(frozen=True)
class Reference:
    """A setting with ns-2's measurements of it, one dictionary a seed (column → value)."""

    setting: Setting
    runs: dict[int, dict[str, float]] = field(hash=False)

    @property
    def seeds(self) -> tuple[int, ...]:
        """ns-2's seeds."""
        return tuple(sorted(self.runs))


def load_references() -> list[Reference]:
    """All settings with their runs, in the order of the data files."""
    return _load(_DATA)


def ties_drawn(setting: Setting) -> Setting:
    """The setting with the round-trip times of its pairs of hosts longer by up to a packet's transmission."""
    packet_us = setting.wire_bytes * 8 / setting.rate_bps * 1e6
    return replace(setting, options=(*setting.options, (SHIFT, f"{packet_us:.0f}e-6")))


def load_experiments() -> dict[Setting, Reference]:
    """ns-2's runs of settings in the experiments of explanations."""
    return {each.setting: each for each in _load((_EXPERIMENTS,))}


def _load(names: Sequence[str]) -> list[Reference]:
    grouped: dict[Setting, dict[int, dict[str, float]]] = {}
    for name in names:
        path = resources.files("bufferlab.evidence.ns2") / "data" / name
        with path.open(encoding="utf-8") as file:
            rows = csv.DictReader(line for line in file if not line.startswith("#"))
            for row in rows:
                grouped.setdefault(_setting(row), {})[int(row["seed"])] = _measurements(row)
    return [Reference(setting, runs) for setting, runs in grouped.items()]


def unsupported(setting: Setting) -> str | None:
    """Why a setting cannot be simulated here; `None` if it can."""
    if setting.stack not in SUPPORTED_STACKS:
        return f"no equivalent of ns-2's {setting.stack}"
    if setting.option("maxburst"):
        return "no limit on bursts (maxburst_); ns-2 shows no effect of it here"
    return None


def _setting(row: dict[str, str]) -> Setting:
    options = tuple(_option(word) for word in row["options"].split())
    given = dict(options)
    wire = int(given.get("bytes", row["pkt_bytes"])) + (40 if given.get("hdr") == "1" else 0)
    return Setting(
        scenario=row["scenario"],
        stack=row["cc"],
        rate_bps=float(row["rate_mbps"]) * 1e6,
        wire_bytes=wire,
        flows=int(row["n"]),
        rtt_ms=(float(given.get("rtt1", row["rtt1_ms"])), float(given.get("rtt2", row["rtt2_ms"]))),
        buffer_packets=int(row["buffer_packets"]),
        buffer_rule=row["buffer_rule"],
        duration_s=float(row["duration_s"]),
        warmup_s=float(row["warmup_s"]),
        options=options,
    )


def _option(word: str) -> tuple[str, str]:
    name, _, value = word.partition("=")
    return name, value


_MEASURED_FROM = "goodput1_mbps"


def _measurements(row: dict[str, str]) -> dict[str, float]:
    columns = list(row)
    measured = columns[columns.index(_MEASURED_FROM) :]
    return {column: float(row[column]) for column in measured if row[column] != ""}
