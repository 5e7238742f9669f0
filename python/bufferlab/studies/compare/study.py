"""Runs a scenario under each queue with common seeds, and gathers what to compare.

The document (`--json`, `Comparison.to_dict()`) has

- `format` ("bufferlab-comparison"), `format_version`, `version`, `name`, `duration_s`, `warmup_s`, `seeds`,
  `link`;
- `queues`: one object a queue with `queue`, `buffer`, the figures of `FIGURES` and `groups`, one object a
  flow group that crosses the link with `group`, `flows` (their number) and the figures of `GROUP_FIGURES`;
- `recommendation` with `queue`, `reason`, `rule`.

Figures are means over the seeds, `…_ci95` half the width of their 95 % confidence interval, `null` for what a
run does not have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from bufferlab import _core, display
from bufferlab.experiment.batch import BatchInterrupted, run_batch
from bufferlab.experiment.simulation import ScenarioLike, prepare, seed_list, simulate
from bufferlab.plan import lower
from bufferlab.results.links import choose_link
from bufferlab.results.result import Result, RunSet
from bufferlab.results.summary import estimates, flow_values, queue_values
from bufferlab.results.tables import ALL
from bufferlab.scenario import Scenario
from bufferlab.stats import jain_index
from bufferlab.studies.compare.advice import Advice, advise
from bufferlab.studies.compare.contenders import changes, parse_contenders

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMAT: Final = "bufferlab-comparison"
FORMAT_VERSION: Final = 1
DEFAULT_SEEDS: Final = 5

FIGURES: Final = (
    "utilization",
    "jain_index",
    "wait_mean_ms",
    "wait_p95_ms",
    "loss",
    "timeouts",
)
"""What is compared of the link; `jain_index` is that of the flows without end, of all if there are none."""

GROUP_FIGURES: Final = ("goodput_bps", "wait_mean_ms", "wait_p95_ms", "loss", "timeouts")
"""What is compared of each flow group."""

Row = dict[str, Any]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """What each queue does to the flows of a scenario.

    Attributes:
        link: Name of the link whose queue was replaced.
        runs: The runs by queue, as written.
        rows: One a queue, the objects of the document's `queues`.
        advice: The queue to run, and why.
    """

    link: str
    runs: Mapping[str, RunSet]
    rows: Sequence[Row]
    advice: Advice

    @property
    def name(self) -> str:
        """Title of the scenario."""
        return self._first.name

    @property
    def seeds(self) -> list[int]:
        """The seeds, common to all queues."""
        return next(iter(self.runs.values())).seeds

    @property
    def queues(self) -> pl.DataFrame:
        """One row a queue."""
        rows = [{key: value for key, value in row.items() if key != "groups"} for row in self.rows]
        return pl.DataFrame(rows, infer_schema_length=None)

    @property
    def groups(self) -> pl.DataFrame:
        """One row a queue and flow group."""
        rows = [{"queue": row["queue"], **group} for row in self.rows for group in row["groups"]]
        return pl.DataFrame(rows, infer_schema_length=None)

    def to_dict(self) -> Row:
        """The document."""
        first = self._first
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "version": first.version,
            "name": first.name,
            "duration_s": first.duration_s,
            "warmup_s": first.warmup_s,
            "seeds": self.seeds,
            "link": self.link,
            "queues": list(self.rows),
            "recommendation": asdict(self.advice),
        }

    def figure(self) -> Figure:
        """Fairness against mean wait, one marker a queue, and the waits of each flow group."""
        return display.figure(self)

    def __repr__(self) -> str:
        return f"<Comparison {self.name!r}, {', '.join(self.runs)}>"

    def __str__(self) -> str:
        return display.text(self)

    def _repr_html_(self) -> str:
        return display.html(self)

    @property
    def _first(self) -> Result:
        return next(iter(self.runs.values()))[0]


class CompareInterrupted(KeyboardInterrupt):
    """Ctrl-C ended a comparison early.

    Attributes:
        finished: The comparison over the seeds that all queues had finished; `None` if there are none.
    """

    def __init__(self, finished: Comparison | None, seeds: int) -> None:
        self.finished = finished
        done = len(finished.seeds) if finished else 0
        super().__init__(f"interrupted: {done} of {seeds} seeds finished under every queue")


def compare(
    scenario: ScenarioLike,
    queues: str | Sequence[str] | None = None,
    *,
    seeds: int | Sequence[int] = DEFAULT_SEEDS,
    link: str | None = None,
    threads: int | None = None,
    progress: bool | None = None,
    overrides: Mapping[str, Any] | None = None,
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

    Raises:
        InputError: If the scenario or an argument cannot be used.
        CompareInterrupted: At Ctrl-C, with the seeds that were finished.
    """
    contenders = parse_contenders(queues)
    base = prepare(scenario, overrides)
    wanted = seed_list(seeds, base.run.seed)
    index = 0 if link is None and len(base.links) == 1 else choose_link(lower(base), link)
    cases = {each.name: prepare(base, changes(each, base, index)) for each in contenders}
    for case in cases.values():
        lower(case, wanted[0])  # errors come before any work is done in vain
    results = _run_all(cases, wanted, base, threads=threads, progress=progress)
    done = [seed for seed in wanted if all((queue, seed) in results for queue in cases)]
    comparison = _concluded(cases, results, done, index) if done else None
    if comparison is None or len(done) < len(wanted):
        raise CompareInterrupted(comparison, len(wanted))
    return comparison


def _run_all(
    cases: Mapping[str, Scenario],
    seeds: Sequence[int],
    base: Scenario,
    *,
    threads: int | None,
    progress: bool | None,
) -> dict[tuple[str, int], Result]:
    """Results by queue and seed; those that were finished at Ctrl-C, seed by seed."""
    tasks = [(queue, seed) for seed in seeds for queue in cases]

    def task(case: tuple[str, int], control: _core.Control) -> tuple[tuple[str, int], Result] | None:
        result = simulate(cases[case[0]], case[1], control)
        return None if result is None else (case, result)

    durations_ps = [base.run.duration_ps] * len(tasks)
    try:
        return dict(
            run_batch(
                task, tasks, title=base.title, threads=threads, progress=progress, durations_ps=durations_ps
            )
        )
    except BatchInterrupted as interrupted:
        return dict(interrupted.finished)


def _concluded(
    cases: Mapping[str, Scenario], results: Mapping[tuple[str, int], Result], seeds: Sequence[int], index: int
) -> Comparison:
    runs = {queue: RunSet([results[queue, seed] for seed in seeds]) for queue in cases}
    name = next(iter(cases.values())).links[index].name
    rows = [
        {"queue": queue, "buffer": cases[queue].links[index].buffer.text, **_compared(runs[queue], name)}
        for queue in cases
    ]
    waits_ms = {queue: [_figures(result, name)["wait_mean_ms"] for result in runs[queue]] for queue in cases}
    return Comparison(name, runs, rows, advise(rows, waits_ms))


def _compared(runs: RunSet, link: str) -> Row:
    of_seeds = [_figures(result, link) for result in runs]
    groups = [group["group"] for group in of_seeds[0]["groups"]]
    by_group = {
        name: [next(row for row in values["groups"] if row["group"] == name) for values in of_seeds]
        for name in groups
    }
    return {
        **estimates(FIGURES, of_seeds),
        "groups": [
            {"group": name, "flows": rows[0]["flows"], **estimates(GROUP_FIGURES, rows)}
            for name, rows in by_group.items()
        ],
    }


def _figures(result: Result, link: str) -> Row:
    """The figures of one run."""
    crossing = _crossing(result.plan, link)
    queue = {row["group"]: row for row in queue_values(result) if row["link"] == link}
    flows = {row["group"]: row for row in flow_values(result)}
    nothing = dict.fromkeys((*FIGURES, *GROUP_FIGURES))
    groups = [{**nothing, **queue.get(name, {}), **flows[name]} for name in crossing]
    return {
        **nothing,
        **queue.get(ALL, {}),
        "jain_index": _fairness(result, crossing),
        "timeouts": sum(group["timeouts"] for group in groups),
        "groups": groups,
    }


def _crossing(plan: Mapping[str, Any], link: str) -> dict[str, bool]:
    """The groups whose data crosses the link, and whether their flows never end."""
    index = [each["name"] for each in plan["links"]].index(link)
    return {
        group["name"]: group["source"]["kind"] == "tcp" and group["source"]["transfer_bytes"] is None
        for group in plan["groups"]
        if index in group["forward"]
    }


def _fairness(result: Result, crossing: Mapping[str, bool]) -> float | None:
    endless = [name for name, never_ends in crossing.items() if never_ends]
    flows = result.flows.filter(pl.col("group").is_in(endless or list(crossing)))
    return jain_index(flows["goodput_bps"].drop_nulls().to_list())
