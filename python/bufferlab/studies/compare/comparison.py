"""Runs a scenario under each queue with common seeds, and gathers what to compare.

The document (`--json`, `Comparison.to_dict()`) has

- `format` ("bufferlab-comparison"), `format_version`, `version`, `name`, `duration_s`, `warmup_s`, `seeds`,
  `resolved` (the scenario under the first seed), `link`;
- `queues`: one object a queue with `queue`, `buffer`, the figures of `FIGURES` and `groups`, one object a
  flow group that crosses the link with `group`, `flows` (their number) and the figures of `GROUP_FIGURES`;
- `recommendation` with `queue`, `reason`, `rule`.

Figures are means over the seeds, `…_ci95` half the width of their 95 % confidence interval, `null` for what a
run does not have.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from bufferlab import _core, display
from bufferlab.experiment.experiment import Done, Experiment
from bufferlab.experiment.interruption import RunInterrupted
from bufferlab.experiment.runner import Runner
from bufferlab.experiment.simulation import ScenarioLike, prepare, seed_list
from bufferlab.results.links import choose_link
from bufferlab.results.summary import estimates
from bufferlab.scenario import Scenario
from bufferlab.studies.compare.advice import Advice, advise
from bufferlab.studies.compare.contenders import changes, parse_contenders
from bufferlab.studies.compare.measure import FIGURES, GROUP_FIGURES, Row, figures_of_run
from bufferlab.units import PS_PER_S

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bufferlab._scenario_types import ResolvedScenario

FORMAT: Final = "bufferlab-comparison"
FORMAT_VERSION: Final = 1
DEFAULT_SEEDS: Final = 5


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """What each queue does to the flows of a scenario.

    Attributes:
        name: Title of the scenario.
        link: Name of the link whose queue was replaced.
        resolved: The scenario under the first seed, with its own queue and buffer.
        duration_s: Length of the runs, s.
        warmup_s: Measured from here on, s.
        measured: What each run measured, by queue, as written, in order of the seeds: `seed`, `plan_hash`,
            the figures of `FIGURES`, and `groups` with those of `GROUP_FIGURES`.
        rows: One a queue, the objects of the document's `queues`.
        advice: The queue to run, and why.
    """

    name: str
    link: str
    resolved: ResolvedScenario
    duration_s: float
    warmup_s: float
    measured: Mapping[str, Sequence[Row]]
    rows: Sequence[Row]
    advice: Advice

    @property
    def seeds(self) -> list[int]:
        """The seeds, common to all queues."""
        return [each["seed"] for each in next(iter(self.measured.values()))]

    @property
    def queues(self) -> pl.DataFrame:
        """One row per queue."""
        rows = [{key: value for key, value in row.items() if key != "groups"} for row in self.rows]
        return pl.DataFrame(rows, infer_schema_length=None)

    @property
    def groups(self) -> pl.DataFrame:
        """One row per queue and flow group."""
        rows = [{"queue": row["queue"], **group} for row in self.rows for group in row["groups"]]
        return pl.DataFrame(rows, infer_schema_length=None)

    def to_dict(self) -> Row:
        """The document."""
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "version": _core.engine_version,
            "name": self.name,
            "duration_s": self.duration_s,
            "warmup_s": self.warmup_s,
            "seeds": self.seeds,
            "resolved": self.resolved,
            "link": self.link,
            "queues": list(self.rows),
            "recommendation": asdict(self.advice),
        }

    def figure(self) -> Figure:
        """Fairness against mean wait, one marker a queue, and the waits of each flow group."""
        return display.figure(self)

    def __repr__(self) -> str:
        return f"<Comparison {self.name!r}, {', '.join(self.measured)}>"

    def __str__(self) -> str:
        return display.text(self)

    def _repr_html_(self) -> str:
        return display.html(self)


def compare(
    scenario: ScenarioLike,
    queues: str | Sequence[str] | None = None,
    *,
    seeds: int | Sequence[int] = DEFAULT_SEEDS,
    link: str | None = None,
    threads: int | None = None,
    progress: bool | None = None,
    overrides: Mapping[str, Any] | None = None,
    runner: Runner | None = None,
) -> Comparison:
    """Run a scenario with its bottleneck's queue replaced by each of several, all with the same seeds.

    Args:
        scenario: A scenario, the path of its file, or its content as nested mappings.
        queues: Words of `queue`, each with a buffer after a colon if wanted: "fifo:bdp,splitbuff", or a list.
            "scenario" is the scenario's own; default all there are.
        seeds: How many seeds, counted up from the scenario's own, or a list of seeds.
        link: Whose queue; default the slowest that data crosses.
        threads: Simulations at a time; default one for each processor.
        progress: Show a progress bar; default if standard error is a terminal.
        overrides: Values that replace those of the scenario, by path.
        runner: Runs the simulations; default a plain one with `threads` and `progress`.

    Raises:
        InputError: If the scenario or an argument cannot be used.
        RunInterrupted: At Ctrl-C, with the comparison over the seeds that all queues had finished.
    """
    contenders = parse_contenders(queues)
    base = prepare(scenario, overrides)
    wanted = seed_list(seeds, base.run["seed"])
    index = 0 if link is None and len(base.links) == 1 else choose_link(base.resolved, link)
    cases = {each.name: prepare(base, changes(each, base, index)) for each in contenders}
    for case in (base, *cases.values()):
        case.seeded(wanted[0])  # errors come before any work is wasted
    experiment = Experiment(
        base.title,
        cases,
        partial(figures_of_run, base.links[index]["name"]),
        seeds=wanted,
        seed_by_seed=True,
        parameters=lambda queue: {"queue": queue},
    )
    buffers = {queue: case.links[index]["buffer"]["text"] for queue, case in cases.items()}
    try:
        runs = (runner or Runner(threads=threads, progress=progress)).all(experiment)
    except RunInterrupted as interrupted:
        seeds_done = common_seeds(interrupted.finished, len(cases))
        comparison = None
        if seeds_done:
            runs = [done for done in interrupted.finished if done.seed in seeds_done]
            comparison = conclude(base, base.links[index]["name"], buffers, runs)
        raise RunInterrupted(
            comparison,
            len(seeds_done),
            len(wanted),
            what="seeds finished under every queue",
            store=interrupted.store,
        ) from interrupted
    return conclude(base, base.links[index]["name"], buffers, runs)


def common_seeds(runs: Sequence[Done[str]], queues: int) -> list[int | None]:
    """The seeds that all queues have finished."""
    counts = Counter(done.seed for done in runs)
    return [seed for seed, count in counts.items() if count == queues]


def conclude(
    scenario: Scenario, link: str, buffers: Mapping[str, str], runs: Sequence[Done[str]]
) -> Comparison:
    """Compare what was measured under each queue.

    Args:
        scenario: What ran.
        link: Name of the link whose queue was replaced.
        buffers: The buffer of each queue, as written.
        runs: The runs of `figures_of_run`, by queue and seed, as many for each queue.
    """
    measured: dict[str, list[Row]] = {queue: [] for queue in buffers}
    for done in runs:
        measured[done.key].append({"seed": done.seed, "plan_hash": done.name} | done.value)
    rows = [
        {"queue": queue, "buffer": buffers[queue], **_compared(values)} for queue, values in measured.items()
    ]
    waits_ms = {queue: [each["wait_mean_ms"] for each in values] for queue, values in measured.items()}
    return Comparison(
        name=scenario.title,
        link=link,
        resolved=scenario.seeded(next(iter(measured.values()))[0]["seed"]).resolved,
        duration_s=scenario.run["duration_ps"] / PS_PER_S,
        warmup_s=scenario.run["warmup_ps"] / PS_PER_S,
        measured=measured,
        rows=rows,
        advice=advise(rows, waits_ms),
    )


def _compared(of_seeds: Sequence[Row]) -> Row:
    names = [group["group"] for group in of_seeds[0]["groups"]]
    by_group = {
        name: [next(row for row in values["groups"] if row["group"] == name) for values in of_seeds]
        for name in names
    }
    return {
        **estimates(FIGURES, of_seeds),
        "groups": [
            {"group": name, "flows": rows[0]["flows"], **estimates(GROUP_FIGURES, rows)}
            for name, rows in by_group.items()
        ],
    }
