"""`bufferlab search`: the least buffer that meets a target."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from bufferlab.cli.common import print_json, print_rich, say
from bufferlab.cli.options import (
    AsJson,
    Engine,
    Fresh,
    Overrides,
    RayAddress,
    ScenarioFile,
    StoreFolder,
    Threads,
    delivering,
    runner_of,
    say_kept,
)
from bufferlab.display import save_figure
from bufferlab.errors import InputError
from bufferlab.files import make_folder
from bufferlab.render.search import search_view
from bufferlab.scenario import Scenario, split_override
from bufferlab.studies.search.answer import MODES, Mode, Searched
from bufferlab.studies.search.goal import Goal
from bufferlab.studies.search.least import Effort
from bufferlab.studies.search.rounds import DEFAULT_BOUNDS
from bufferlab.studies.search.rounds import search as search_buffer
from bufferlab.units import PS_PER_S, parse_time

_EFFORT = Effort()


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("search")(search)


def search(  # noqa: PLR0917 - the order is that of the help; nobody calls it
    scenario: ScenarioFile,
    utilization: Annotated[
        float | None, typer.Option(help="Least share of the calibrated full rate: 0.99.", show_default=False)
    ] = None,
    max_loss: Annotated[
        float | None, typer.Option(help="Largest loss, drops over arrivals: 0.01.", show_default=False)
    ] = None,
    max_delay: Annotated[
        str | None,
        typer.Option(
            help="Longest mean wait: 20ms. Without other targets, finds the largest buffer.",
            show_default=False,
        ),
    ] = None,
    link: Annotated[
        str | None,
        typer.Option(help="Link whose buffer is searched; default the slowest.", show_default=False),
    ] = None,
    bounds: Annotated[
        str, typer.Option(help="Range to search, two buffers; plain numbers are packets.")
    ] = DEFAULT_BOUNDS,
    confidence: Annotated[
        float, typer.Option(help="Probability that the interval contains the answer.")
    ] = _EFFORT.confidence,
    resolution: Annotated[
        float, typer.Option(help="Relative width of the interval at which the search ends: 0.1 is 10 %.")
    ] = _EFFORT.resolution,
    seeds: Annotated[
        int, typer.Option(help="Largest number of rounds, each with its own seed; the first 5 calibrate.")
    ] = _EFFORT.rounds,
    mode: Annotated[
        str, typer.Option(help="restart: one run per measurement; live: one run whose buffer is changed.")
    ] = "restart",
    overrides: Overrides = None,
    threads: Threads = None,
    engine: Engine = "local",
    ray_address: RayAddress = None,
    store: StoreFolder = None,
    fresh: Fresh = False,
    plot: Annotated[
        Path | None, typer.Option(help="Draw the measurements here, PNG and SVG.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for figure and tables.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Search the smallest buffer that meets a target, by simulation, with a stated confidence."""
    goal = Goal(utilization, max_loss, _seconds(max_delay))
    if out is not None:
        make_folder(out)  # before any work is done
    runner = runner_of(threads=threads, engine=engine, ray_address=ray_address, store=store, fresh=fresh)
    with delivering(partial(_deliver, plot=plot, out=out, as_json=as_json)):
        searched = search_buffer(
            Scenario.load(scenario),
            goal,
            link=link,
            bounds=bounds,
            effort=Effort(confidence=confidence, resolution=resolution, rounds=seeds),
            mode=_mode(mode),
            overrides=dict(split_override(text) for text in overrides or []),
            runner=runner,
        )
    _deliver(searched, plot, out, as_json=as_json)
    say_kept(runner)
    problem = searched.problem()
    if problem is not None:
        raise InputError(problem, file=scenario)


def _mode(word: str) -> Mode:
    found = next((mode for mode in MODES if mode == word), None)
    if found is None:
        raise InputError("is not a mode", key="mode", value=word, accepted=", ".join(MODES))
    return found


def _seconds(text: str | None) -> float | None:
    try:
        return None if text is None else parse_time(text) / PS_PER_S
    except InputError as error:
        raise error.at(key="max_delay") from None


def _deliver(searched: Searched, plot: Path | None, out: Path | None, *, as_json: bool) -> None:
    saved: list[Path] = []
    if plot is not None:
        saved += save_figure(searched.figure(), plot)
    if out is not None:
        searched.save(out)
        saved.append(out)
    if as_json:
        print_json(searched.to_dict())
    else:
        print_rich(search_view(searched))
    for warning in searched.found.warnings:
        say(f"note: {warning}")
    if saved:
        say(f"saved {', '.join(str(path) for path in saved)}")
