"""`bufferlab run`: simulate a scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

import typer

from bufferlab.cli.common import print_json, print_rich, say, status_of
from bufferlab.results import RunSet
from bufferlab.scaling import scale
from bufferlab.scenario import Scenario, split_override
from bufferlab.simulation import RunInterrupted, prepare
from bufferlab.simulation import run as simulate
from bufferlab.store import check_replaceable
from bufferlab.tables import SummaryView

_SAMPLES: Final = 1000
"""Samples of a run for `--plot` if the scenario has no probes."""


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("run")(run)


def run(  # noqa: PLR0917 - the order is that of the help; nobody calls it
    scenario: Annotated[Path, typer.Argument(help="Scenario file, TOML or JSON.", show_default=False)],
    overrides: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="PATH=VALUE",
            help="Override a value: links.bottleneck.rate='50 Mbps', flows.short.count=10. Repeatable.",
        ),
    ] = None,
    seeds: Annotated[int, typer.Option(help="Run so many seeds, counted up from the scenario's.")] = 1,
    factor: Annotated[
        int,
        typer.Option("--scale", help="Run the twin with 1/SCALE of the rates and flows."),
    ] = 1,
    threads: Annotated[
        int | None,
        typer.Option(help="Seeds at the same time; default one for each processor.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the result folder here; an older result is replaced.", show_default=False),
    ] = None,
    plot: Annotated[
        bool,
        typer.Option(
            "--plot", help="Draw figures (PNG and SVG) into OUT/figures, or NAME-figures without --out."
        ),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Simulate a scenario and summarize flows and queues."""
    if out is not None:
        check_replaceable(out)  # before any work is done in vain
    case = _prepared(scenario, overrides or [], factor, plot=plot)
    figures = Path(f"{scenario.stem}-figures") if plot else None
    try:
        runs = simulate(case, seeds=seeds, threads=threads)
    except RunInterrupted as interrupted:
        if interrupted.finished is not None:
            _deliver(interrupted.finished, out, figures, as_json=as_json)
        raise typer.Exit(status_of(interrupted)) from None
    _deliver(runs, out, figures, as_json=as_json)


def _prepared(path: Path, overrides: list[str], factor: int, *, plot: bool) -> Scenario:
    scenario = scale(prepare(path, dict(split_override(text) for text in overrides)), factor)
    if plot and scenario.probes is None:
        interval_ps = max(scenario.run.duration_ps // _SAMPLES, 10**6)
        scenario = scenario.with_overrides({"probes.interval": f"{interval_ps} ps"})
    return scenario


def _deliver(runs: RunSet, out: Path | None, figures: Path | None, *, as_json: bool) -> None:
    """Save first, lest a closed pipe keeps us from it; print all the same if that fails."""
    try:
        _save(runs, out, figures)
    finally:
        summary = runs.summary()
        if as_json:
            print_json(summary)
        else:
            print_rich(SummaryView(summary))
    saved = out or figures
    if saved is not None:
        say(f"saved in {saved}")


def _save(runs: RunSet, out: Path | None, figures: Path | None) -> None:
    if figures is None:
        if out is not None:
            runs.save(out)
        return
    from bufferlab.plots import save_plots  # noqa: PLC0415 - matplotlib takes long to start

    if out is None:
        save_plots(runs, figures)
    else:
        runs.save(out, extra=lambda folder: save_plots(runs, folder / "figures"))
