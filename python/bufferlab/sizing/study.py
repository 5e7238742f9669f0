"""Every rule's buffer for a link, one recommendation, and its check by simulation."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from bufferlab.errors import InputError, OutputError
from bufferlab.plan import lower
from bufferlab.scenario import Scenario
from bufferlab.sizing.demand import Demand
from bufferlab.sizing.recommend import Recommendation, recommend
from bufferlab.sizing.rules import all_rules
from bufferlab.sizing.traffic import choose_link, demand_of
from bufferlab.sizing.verify import candidates, simulate_buffers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEFAULT_TARGET_UTILIZATION = 0.99
DEFAULT_SEEDS = 5
DEFAULT_CURVE_POINTS = 6


@dataclass(frozen=True)
class Sizing:
    """What the rules say about a link's buffer.

    Attributes:
        link: Name of the link.
        demand: What the rules were told.
        frame: One row a rule: `rule`, `title`, `buffer_packets`, `buffer_bytes`, `buffer_ms`,
            `citation`, `assumptions`.
        recommendation: The buffer to take, and why.
        target_utilization: Utilization to keep.
        verification: One row a simulated buffer (`rule` is empty for points of the curve): mean and 95 %
            half width over seeds of utilization, loss_fraction, sojourn_mean_ms, sojourn_p99_ms. `None` if
            nothing was simulated.
        seeds: Runs a buffer.
    """

    link: str
    demand: Demand
    frame: pl.DataFrame
    recommendation: Recommendation
    target_utilization: float
    verification: pl.DataFrame | None = None
    seeds: int = 0

    def figure(self) -> Figure:
        """Utilization, loss and delay against the buffer.

        Raises:
            ValueError: Nothing was simulated.
        """
        if self.verification is None:
            raise ValueError("there is nothing to draw: size with verify=True")
        from bufferlab.sizing.plot import draw  # noqa: PLC0415 - matplotlib takes long to start

        ms_per_packet = self.demand.packet_bytes * 8e3 / self.demand.rate_bps
        return draw(self.frame, self.verification, ms_per_packet, self.target_utilization)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON; what is not a number becomes `None`."""
        verification = [] if self.verification is None else self.verification.to_dicts()
        return {
            "format": "bufferlab-sizing",
            "format_version": 1,
            "link": self.link,
            "rate_bps": self.demand.rate_bps,
            "rtt_ms": self.demand.rtt_s * 1e3,
            "flows": int(self.demand.flow_count),
            "packet_bytes": self.demand.packet_bytes,
            "desynchronized": self.demand.desynchronized,
            "target_utilization": self.target_utilization,
            "seeds": self.seeds,
            "rules": self.frame.to_dicts(),
            "recommendation": asdict(self.recommendation),
            "verification": [{key: _json_value(value) for key, value in row.items()} for row in verification],
        }

    def save_tables(self, directory: Path, name: str) -> list[Path]:
        """Write the rules and, if there is one, the verification as CSV and Parquet; return the files.

        Raises:
            OutputError: The folder cannot be written.
        """
        frames = {f"{name}-rules": self.frame}
        if self.verification is not None:
            frames[f"{name}-verification"] = self.verification
        files: list[Path] = []
        try:
            directory.mkdir(parents=True, exist_ok=True)
            for stem, frame in frames.items():
                files += [directory / f"{stem}.csv", directory / f"{stem}.parquet"]
                frame.write_csv(files[-2])
                frame.write_parquet(files[-1])
        except OSError as error:
            raise OutputError(f"{directory}: cannot be written ({error.strerror or error})") from error
        return files

    def _repr_html_(self) -> str:
        chosen = self.recommendation
        text = f"{chosen.rule}: {chosen.buffer_packets} packets ({chosen.buffer_ms:.3g} ms). {chosen.reason}"
        return f"<p><b>{html.escape(self.link)}</b>: {html.escape(text)}</p>{self.frame._repr_html_()}"


def size(
    scenario: Scenario | Mapping[str, Any] | str | PathLike[str],
    *,
    link: str | None = None,
    verify: bool = False,
    target_utilization: float = DEFAULT_TARGET_UTILIZATION,
    seeds: int = DEFAULT_SEEDS,
    curve_points: int = DEFAULT_CURVE_POINTS,
    threads: int | None = None,
    overrides: Mapping[str, Any] | None = None,
    progress: bool | None = None,
) -> Sizing:
    """Size the buffer of a link by every rule.

    Args:
        scenario: A scenario, or the path of its file, or its content as a dictionary.
        link: Which link; default the slowest one.
        verify: Simulate each rule's buffer, and a curve of others around them.
        target_utilization: The recommendation keeps this utilization, 0 … 1.
        seeds: Simulations a buffer.
        curve_points: Buffers simulated besides the rules', for the plot.
        threads: Simulations at a time; `None` for one a core.
        overrides: Changes of the scenario, by path.
        progress: Show a progress bar; default if standard error is a terminal.

    Raises:
        InputError: The scenario is not valid, has no such link, or no TCP flow crosses it.
    """
    if not 0 < target_utilization <= 1:
        raise InputError("is not a utilization", value=target_utilization, accepted="above 0, at most 1")
    if seeds < 1:
        raise InputError("is not a number of runs", key="seeds", value=seeds, accepted="1 or more")
    loaded = _loaded(scenario)
    if overrides:
        loaded = loaded.with_overrides(dict(overrides))
    plan = lower(loaded, loaded.run.seed)
    index = choose_link(plan, link)
    demand = demand_of(plan, index)
    frame = rules_frame(demand)
    verification = None
    if verify:
        packets = dict(zip(frame["rule"], frame["buffer_packets"], strict=True))
        tried = candidates(packets, curve_points)
        verification = simulate_buffers(loaded, index, tried, seeds=seeds, threads=threads, progress=progress)
    return Sizing(
        link=plan["links"][index]["name"],
        demand=demand,
        frame=frame,
        recommendation=recommend(demand, verification, target_utilization),
        target_utilization=target_utilization,
        verification=verification,
        seeds=seeds if verify else 0,
    )


def rules_frame(demand: Demand) -> pl.DataFrame:
    """One row a rule for a demand with one number of flows; see `Sizing`."""
    rows = [
        {
            "rule": rule.name,
            "title": rule.title,
            "buffer_packets": int(rule.buffer_packets(demand)),
            "buffer_bytes": float(rule.buffer_bytes(demand)),
            "buffer_ms": float(rule.buffer_ms(demand)),
            "citation": rule.citation,
            "assumptions": "; ".join(rule.assumptions),
        }
        for rule in all_rules()
    ]
    return pl.DataFrame(rows)


def quick_scenario(
    rate: str,
    rtt: str,
    groups: Sequence[tuple[str | None, int]],
    *,
    segment: str = "1460 B",
    spread: float = 0.2,
    stack: str = "rfc",
    duration: str | None = None,
) -> dict[str, Any]:
    """A dumbbell for those who have a few numbers and no scenario file.

    Args:
        rate: Rate of the bottleneck, with its unit.
        rtt: Mean two-way propagation delay, with its unit.
        groups: Congestion control (`None` for the stack's own) and number of flows of each group.
        segment: Payload of a full segment, with its unit.
        spread: The round-trip times are spaced evenly over rtt·(1 ± spread).
        stack: Preset of the TCP keys.
        duration: Simulated time; default long enough for several sawteeth of a flow, 60 s … 600 s.
    """
    flows = [
        {
            "name": f"{congestion or 'flows'}{index}" if len(groups) > 1 else (congestion or "flows"),
            "count": count,
            "rtt": rtt,
            "segment": segment,
            "start": "uniform(0 s, 5 s)",
            **({"rtt_spread": spread} if count > 1 else {}),
            **({"congestion": congestion} if congestion else {}),
        }
        for index, (congestion, count) in enumerate(groups)
    ]
    scenario = {
        "run": {"name": "quick sizing", "duration": duration or "60 s", "stack": stack},
        "bottleneck": {"rate": rate, "buffer": "1 bdp"},
        "flows": flows,
    }
    if duration is None:
        scenario["run"]["duration"] = f"{_long_enough_s(scenario):.0f} s"  # type: ignore[index]
    return scenario


def _long_enough_s(scenario: dict[str, Any]) -> float:
    """Ten sawteeth of a flow with its share W of the pipe and a buffer of a BDP: 3/8·(2W)²/(W/T) each."""
    loaded = Scenario.from_dict(scenario)
    plan = lower(loaded, loaded.run.seed)
    demand = demand_of(plan, choose_link(plan))
    share = demand.bdp_packets / float(demand.flow_count)
    return math.ceil(min(max(10 * 1.5 * share * demand.rtt_s, 60.0), 600.0))


def _loaded(scenario: Scenario | Mapping[str, Any] | str | PathLike[str]) -> Scenario:
    if isinstance(scenario, Scenario):
        return scenario
    if isinstance(scenario, Mapping):
        return Scenario.from_dict(dict(scenario))
    return Scenario.load(scenario)


def _json_value(value: object) -> object:
    return None if isinstance(value, float) and math.isnan(value) else value
