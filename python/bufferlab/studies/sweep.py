"""Simulates many variants of a scenario, keeps them in a store, and says what came out."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from bufferlab import display
from bufferlab.errors import InputError
from bufferlab.experiment.axes import read_axes
from bufferlab.experiment.experiment import Experiment, Variants
from bufferlab.experiment.points import Point, check, check_sampled, given_points, grid, latin
from bufferlab.experiment.runner import Engine, Runner
from bufferlab.experiment.simulation import ScenarioLike, prepare, seed_list
from bufferlab.experiment.store import ENGINE, Store, open_store
from bufferlab.experiment.store.calls import with_users
from bufferlab.experiment.store.means import means_over_seeds
from bufferlab.experiment.store.parameters import expand, parameter_paths
from bufferlab.experiment.store.rows import DONE
from bufferlab.experiment.store.studies import Study
from bufferlab.files import written_whole
from bufferlab.scenario import SET, Scenario, beside

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped,unused-ignore]

    from bufferlab._scenario_types import ResolvedScenario

FORMAT: Final = "bufferlab-sweep"
FORMAT_VERSION: Final = 1


@dataclass(frozen=True, eq=False, repr=False)
class Sweep(display.Displayed):
    """A sweep that came to its end.

    Attributes:
        name: Title of the scenario.
        resolved: The scenario that the points change.
        store: Where its runs are.
        points: What was varied: values by path.
        seeds: Number of seeds of each point.
        hashes: Identity of each run, point by point, seed by seed.
        simulated: How many runs were simulated now.
        stored: How many were in the store before, or were simulated by others meanwhile.
        repeated: How many are the same as another of these runs, of points that differ in words only.
        failed: How many failed.
        wall_s: How long it took, s.
    """

    name: str
    resolved: ResolvedScenario
    store: Store
    points: Sequence[Point]
    seeds: int
    hashes: Sequence[str]
    simulated: int
    stored: int
    repeated: int
    failed: int
    wall_s: float

    @property
    def parameters(self) -> list[str]:
        """The paths that were varied."""
        return parameter_paths(self.points)

    @property
    def runs(self) -> pl.DataFrame:
        """One row per run: what was varied, then the columns of `experiment.store.rows`; also failures.

        Where calls were rated, the figures of the worst group's follow, then those of single groups.
        """
        texts = [json.dumps(point, ensure_ascii=False) for point in self.points for _ in range(self.seeds)]
        asked = pl.DataFrame({"plan_hash": self.hashes, "parameters": texts})
        found = self.store.runs(ENGINE).drop("parameters", "overrides")
        rows = asked.join(found, on="plan_hash", how="inner", maintain_order="left")
        return expand(with_users(rows, self.store.last_measured()), self.parameters)

    @property
    def means(self) -> pl.DataFrame:
        """Means over the seeds, one row per point; `…_ci95` is half the 95 % confidence interval."""
        return means_over_seeds(self.runs, self.parameters)

    @property
    def failures(self) -> pl.DataFrame:
        """The runs that failed, with the reason."""
        runs = self.runs
        return runs.filter(pl.col("status") != DONE).select(*self.parameters, "seed", "error")

    def to_pandas(self) -> pd.DataFrame:
        """`runs` as a pandas frame, if pandas and PyArrow are installed."""
        return self.runs.to_pandas()

    def to_dict(self) -> dict[str, Any]:
        """The document that `bufferlab sweep --json` prints."""
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "engine": ENGINE,
            "name": self.name,
            "resolved": self.resolved,
            "store": str(self.store.directory),
            "parameters": self.parameters,
            "points": len(self.points),
            "seeds": self.seeds,
            "runs": len(self.hashes),
            "simulated": self.simulated,
            "stored": self.stored,
            "repeated": self.repeated,
            "failed": self.failed,
            "wall_s": self.wall_s,
            "means": self.means.to_dicts(),
            "failures": self.failures.to_dicts(),
        }

    def __repr__(self) -> str:
        return f"<Sweep {self.name!r}, {len(self.points)} points, {len(self.hashes)} runs>"


def sweep(
    scenario: ScenarioLike,
    vary: Mapping[str, Any] | Sequence[str] | None = None,
    *,
    store: Store | str | PathLike[str],
    points: Sequence[Mapping[str, Any]] | None = None,
    samples: int | None = None,
    seeds: int | Sequence[int] = 1,
    engine: Engine = "local",
    threads: int | None = None,
    ray_address: str | None = None,
    overrides: Mapping[str, Any] | None = None,
    tables: bool = False,
    retry_failed: bool = False,
    fresh: bool = False,
    progress: bool | None = None,
    runner: Runner | None = None,
) -> Sweep:
    """Simulate many variants of a scenario; runs that are in the store are not simulated again.

    Any number of sweeps may share a store at once: they share the work. A sweep that was killed goes on where
    it was when it is called again.

    Args:
        scenario: A scenario, the path of its file, or its content as nested mappings.
        vary: What to vary: values by path, `{"links[0].buffer": ["50 packets", "100 packets"]}`, a text being
            read as on a command line, `{"bottleneck.rate": "log(1..100 Mbps, 5)"}`; or texts "path=values".
        store: The store of runs, or its folder.
        points: Points instead of all combinations: each a mapping from paths to values.
        samples: Number of points of a Latin hypercube over `vary`, instead of all combinations.
        seeds: How many seeds for each point, counted up from the scenario's own, or a list of them.
        engine: "local" for threads of this process, "ray" for a Ray cluster.
        threads: Runs at the same time; default one for each processor. With Ray, the most tasks at a time.
        ray_address: The cluster, for the engine "ray"; default the one that runs, else a new one on this
            machine.
        overrides: Values that replace those of the scenario for all points, by path.
        tables: Keep the full tables of the runs that are simulated, too (`Store.result`).
        retry_failed: Simulate runs again that failed before.
        fresh: Simulate all runs again, and store them anew.
        progress: Show a progress bar; default if standard error is a terminal.
        runner: Runs the simulations, with the same store; default a plain one with what is above.

    Returns:
        What came out, with the runs as a frame.

    Raises:
        InputError: The scenario or an argument cannot be used.
        OutputError: The store cannot be written; `StoreFullError` if there is no room. What finished is kept.
        RunInterrupted: At Ctrl-C; what finished is in the store.
    """
    base = prepare(scenario, overrides)
    chosen = _points(base, vary, points, samples)
    count = seeds if isinstance(seeds, int) else len(seeds)
    (check if samples is None else check_sampled)(chosen, lambda point: _try(base, point, seeds))
    runner = runner or Runner(
        threads=threads,
        engine=engine,
        ray_address=ray_address,
        store=store,
        fresh=fresh,
        progress=progress,
    )
    kept = store if isinstance(store, Store) else open_store(store, create=True)
    keep_scenario(kept, base)
    began_s = time.monotonic()
    experiment = Experiment(
        base.title,
        Variants(base, chosen),
        seeds=seeds,
        parameters=lambda index: chosen[index],
        brief=not tables,
    )
    with runner.study(Study.of("sweep", base, parameter_paths(chosen))):
        done = runner.fill(experiment, tables=tables, retry_failed=retry_failed)
    failed = sum(each.failed for each in done)
    repeated = len(done) - len({each.name for each in done})
    return Sweep(
        name=base.title,
        resolved=base.resolved,
        store=kept,
        points=chosen,
        seeds=count,
        hashes=[each.name for each in done],
        simulated=runner.simulated,
        stored=runner.stored - repeated,
        repeated=repeated,
        failed=failed,
        wall_s=time.monotonic() - began_s,
    )


def _points(
    base: Scenario,
    vary: Mapping[str, Any] | Sequence[str] | None,
    points: Sequence[Mapping[str, Any]] | None,
    samples: int | None,
) -> list[Point]:
    axes = read_axes(vary or {})
    if points is None:
        return grid(axes) if samples is None else latin(axes, samples, base.run["seed"])
    if samples is not None:
        raise InputError(
            "cannot be sampled", key="points", accepted="a list of points, or samples of what is varied"
        )
    listed = given_points(points)
    # every point of the list with every combination of the axes
    return [point | listed_point for listed_point in listed for point in grid(axes)]


def _try(base: Scenario, point: Point, seeds: int | Sequence[int]) -> None:
    """Prepare a point; errors are reported as those of a point, not of `--set`."""
    try:
        seed_list(seeds, prepare(base, point).run["seed"])
    except InputError as error:
        raise InputError.of([_of_point(each) for each in (error, *error.others)]) from None


def _of_point(error: InputError) -> InputError:
    if error.file != SET:
        return error
    return InputError(
        error.problem, file="a point", key=error.key, value=error.value, accepted=error.accepted
    )


def keep_scenario(store: Store, scenario: Scenario) -> None:
    """Keep the scenario that the points change, by the hash of its text and of what it reads from files."""
    text, files = scenario.to_toml(), scenario.files
    hashed = json.dumps([text, files], sort_keys=True) if files else text
    name = hashlib.sha256(hashed.encode()).hexdigest()[:16]
    path = store.directory / "scenarios" / f"{name}.toml"
    if path.exists():
        return
    text, files = beside(text, files, name)
    for file, content in files.items():
        (path.parent / file).parent.mkdir(exist_ok=True)
        with written_whole(path.parent / file) as fresh:
            fresh.write_text(content, encoding="utf-8", newline="")
    with written_whole(path) as fresh:
        fresh.write_text(text, encoding="utf-8", newline="")


def default_store(scenario: Path) -> Path:
    """Where the command keeps the runs of a scenario's file if none is given."""
    return Path(f"{scenario.stem}-runs")
