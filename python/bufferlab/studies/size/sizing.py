"""Every rule's buffer for a link, one recommendation, and its check by simulation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from bufferlab import display
from bufferlab.errors import InputError
from bufferlab.experiment.interruption import RunInterrupted
from bufferlab.experiment.runner import Runner
from bufferlab.files import not_written
from bufferlab.results.links import choose_link
from bufferlab.scenario import Scenario
from bufferlab.studies.size.recommend import Recommendation, recommend
from bufferlab.studies.size.verify import Candidate, buffers_experiment, candidates, conclude
from bufferlab.studies.traffic import demand_of
from bufferlab.theory.constraints import Feasibility, feasibility
from bufferlab.theory.demand import Demand
from bufferlab.theory.rules import all_rules, get_rule
from bufferlab.theory.targets import DEFAULT_UTILIZATION, Targets

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bufferlab._scenario_types import ResolvedScenario

DEFAULT_TARGET_UTILIZATION = DEFAULT_UTILIZATION
DEFAULT_SEEDS = 5
DEFAULT_CURVE_POINTS = 6

_OPTIONS = ("characteristics", "measured")
"""Keys of errors about what is not the scenario's."""


@dataclass(frozen=True)
class Sizing:
    """What the rules say about a link's buffer.

    Attributes:
        link: Name of the link.
        resolved: The scenario, with its own buffer.
        demand: The input of the rules.
        frame: One row per rule: `rule`, `title`, `buffer_packets`, `buffer_bytes`, `buffer_ms`,
            `bound` (whether it asks for at least or allows at most so much), `meets_utilization`,
            `meets_loss`, `meets_delay` (by the theory of heterogeneous TCP; null without that constraint),
            `citation`, `assumptions`. Rules by which no buffer is enough have no row.
        recommendation: The buffer to take, and why.
        feasibility: Which buffers meet all constraints by theory.
        verification: One row per simulated buffer (`rule` is empty for points of the curve): mean and 95 %
            half width over seeds of utilization, loss, wait_mean_ms, wait_p99_ms. `None` if
            nothing was simulated.
        seeds: Runs a buffer.
    """

    link: str
    resolved: ResolvedScenario
    demand: Demand
    frame: pl.DataFrame
    recommendation: Recommendation
    feasibility: Feasibility
    verification: pl.DataFrame | None = None
    seeds: int = 0

    @property
    def target_utilization(self) -> float:
        """Utilization to keep."""
        return self.demand.targets.utilization

    def figure(self) -> Figure:
        """Utilization, loss and delay against the buffer.

        Raises:
            ValueError: Nothing was simulated.
        """
        return display.figure(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON; what is not a number becomes `None`."""
        verification = [] if self.verification is None else self.verification.to_dicts()
        return {
            "format": "bufferlab-sizing",
            "format_version": 1,
            "link": self.link,
            "resolved": self.resolved,
            "rate_bps": self.demand.rate_bps,
            "rtt_ms": self.demand.rtt_s * 1e3,
            "flows": int(self.demand.flow_count),
            "packet_bytes": self.demand.packet_bytes,
            "desynchronized": self.demand.desynchronized,
            "mix": [{"protocol": name, "flows": count} for name, count in self.demand.mix],
            "characteristic": float(self.demand.characteristic),
            "target_utilization": self.target_utilization,
            "targets": asdict(self.demand.targets),
            "feasibility": self._feasibility(),
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
            raise not_written(directory, error) from error
        return files

    def _feasibility(self) -> dict[str, Any]:
        found = self.feasibility
        values = {key: _json_value(value) for key, value in asdict(found).items()}
        return {"feasible": found.feasible, "least_bytes": _json_value(found.least_bytes)} | values

    def __str__(self) -> str:
        return display.text(self)

    def _repr_html_(self) -> str:
        return display.html(self)


def size(
    scenario: Scenario | Mapping[str, Any] | str | PathLike[str],
    *,
    link: str | None = None,
    verify: bool = False,
    target_utilization: float = DEFAULT_TARGET_UTILIZATION,
    targets: Targets | None = None,
    measured: Mapping[str, float] | None = None,
    seeds: int = DEFAULT_SEEDS,
    curve_points: int = DEFAULT_CURVE_POINTS,
    threads: int | None = None,
    overrides: Mapping[str, Any] | None = None,
    progress: bool | None = None,
    runner: Runner | None = None,
) -> Sizing:
    """Size the buffer of a link by every rule.

    Args:
        scenario: A scenario, or the path of its file, or its content as a dictionary.
        link: Which link; default the slowest one.
        verify: Simulate each rule's buffer, and a curve of others around them.
        target_utilization: The recommendation keeps this utilization; above 0 and below 1.
        targets: All constraints; `target_utilization` then says nothing.
        measured: Characteristic value by congestion control, where a measured one shall stand for the
            model's; see `bufferlab.theory.measured`.
        seeds: Simulations a buffer.
        curve_points: Buffers simulated besides the rules', for the plot.
        threads: Simulations at a time; `None` for one a core.
        overrides: Changes of the scenario, by path.
        progress: Show a progress bar; default if standard error is a terminal.
        runner: Runs the simulations; default a plain one with `threads` and `progress`.

    Raises:
        InputError: The scenario is not valid, has no such link, or no TCP flow crosses it; a target is out of
            bounds; or a congestion control has neither a model nor a measured value.
        RunInterrupted: At Ctrl-C, with what theory says.
    """
    wanted = targets or Targets(utilization=target_utilization)
    if seeds < 1:
        raise InputError("is not a number of runs", key="seeds", value=seeds, accepted="1 or more")
    loaded = _loaded(scenario)
    if overrides:
        loaded = loaded.with_overrides(dict(overrides))
    seeded = loaded.seeded()
    index = choose_link(seeded.resolved, link)
    try:
        demand = demand_of(seeded, index, targets=wanted, measured=measured)
        found = feasibility(demand)
    except InputError as error:
        option = (error.key or "").partition(".")[0] in _OPTIONS
        raise error.at(file=None if option else loaded.file) from error
    frame = rules_frame(demand, found)
    theory = Sizing(
        link=loaded.links[index]["name"],
        resolved=seeded.resolved,
        demand=demand,
        frame=frame,
        recommendation=recommend(demand, None, found),
        feasibility=found,
    )
    if not verify:
        return theory
    tried = _tried(frame, demand, curve_points)
    experiment = buffers_experiment(loaded, index, tried, seeds)
    try:
        runs = (runner or Runner(threads=threads, progress=progress)).all(experiment)
    except RunInterrupted as interrupted:
        raise interrupted.concluded(theory) from interrupted
    verification = conclude(tried, runs)
    recommendation = recommend(demand, verification, found)
    return replace(theory, recommendation=recommendation, verification=verification, seeds=seeds)


def _tried(frame: pl.DataFrame, demand: Demand, curve_points: int) -> list[Candidate]:
    """The buffers to simulate: the rules' that hold a packet, and a curve."""
    shown = frame.filter((pl.col("buffer_bytes") >= demand.packet_bytes) | (pl.col("bound") == "most"))
    packets = dict(zip(shown["rule"], shown["buffer_packets"], strict=True))
    around = [int(get_rule(name).buffer_packets(demand)) for name in ("stanford", "bdp")]
    return candidates(packets, curve_points, around)


def rules_frame(demand: Demand, found: Feasibility) -> pl.DataFrame:
    """One row per rule for a demand with one number of flows, and what its buffer meets; see `Sizing`."""
    rows = [
        {
            "rule": rule.name,
            "title": rule.title,
            "buffer_packets": int(rule.buffer_packets(demand)),
            "buffer_bytes": float(rule.buffer_bytes(demand)),
            "buffer_ms": float(rule.buffer_ms(demand)),
            "bound": rule.bound,
            **_meets(found, float(rule.buffer_bytes(demand))),
            "citation": rule.citation,
            "assumptions": "; ".join(rule.assumptions),
        }
        for rule in all_rules()
        if rule.applies(demand) and math.isfinite(float(rule.buffer_bytes(demand)))
    ]
    meets = {f"meets_{name}": pl.Boolean for name in ("utilization", "loss", "delay")}
    return pl.DataFrame(rows, schema_overrides=meets)


def _meets(found: Feasibility, buffer_bytes: float) -> dict[str, bool | None]:
    return {f"meets_{name}": value for name, value in found.meets(buffer_bytes).items()}


def _loaded(scenario: Scenario | Mapping[str, Any] | str | PathLike[str]) -> Scenario:
    if isinstance(scenario, Scenario):
        return scenario
    if isinstance(scenario, Mapping):
        return Scenario.from_dict(dict(scenario))
    return Scenario.load(scenario)


def _json_value(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return list(value) if isinstance(value, tuple) else value
