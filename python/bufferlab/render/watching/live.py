"""Run a scenario with a live view on the terminal."""

from __future__ import annotations

import sys
from typing import Final

from rich.console import Console
from rich.live import Live

from bufferlab.experiment.run import run
from bufferlab.render.watching.readings import Watch
from bufferlab.render.watching.view import WatchView
from bufferlab.results.result import RunSet
from bufferlab.scenario import Scenario

_FRAMES_PER_S: Final = 8


def run_watched(scenario: Scenario, speed: float | None = None, console: Console | None = None) -> RunSet:
    """Simulate a scenario's own seed with a live view, whose last frame stays.

    Args:
        scenario: The scenario.
        speed: Simulated seconds a second; as fast as it goes by default.
        console: The terminal; standard output by default.

    Raises:
        InputError: If the scenario cannot be used.
        RunInterrupted: At Ctrl-C.
    """
    watch = Watch(scenario.seeded(), speed)
    view = WatchView(watch, scenario.title)
    terminal = console or Console(file=sys.stdout, highlight=False)
    with Live(
        console=terminal,
        get_renderable=lambda: view,
        refresh_per_second=_FRAMES_PER_S,
        redirect_stdout=False,
        redirect_stderr=False,
    ):
        return run(scenario, progress=False, engine=watch.engine)
