"""What `bufferlab run` leaves behind: the summary, and the files that were asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from bufferlab.cli.delivery import Save, deliver, show_as
from bufferlab.display import FORMATS, OTHER_FORMATS
from bufferlab.errors import InputError
from bufferlab.files import check_folder
from bufferlab.render import flent
from bufferlab.render.summary import summary_view
from bufferlab.results.folder import check_replaceable
from bufferlab.results.result import RunSet

_SAMPLES: Final = 1000
"""Samples of a run for `--plot` if the scenario has no probes."""

_MOST_STREAMS: Final = 1000
"""Flows of a group that are sampled for `--flent` if the scenario has no probes."""


@dataclass(frozen=True)
class Outputs:
    """Where the results of a run go.

    Attributes:
        out: The result folder, if any.
        plot: The folder of the figures, if any.
        flent: The file for Flent, if any.
        as_json: Print the summary as JSON.
    """

    out: Path | None
    plot: Path | None
    flent: Path | None
    as_json: bool

    def check(self, seeds: int) -> None:
        """Check before the run that everything can be written after it.

        Raises:
            InputError: If a name stands for something else, or a file for one run is asked of several.
            OutputError: If something cannot be written.
        """
        if self.out is not None:
            check_replaceable(self.out)
        if self.plot is not None:
            _check_figures(self.plot)
        if self.flent is not None:
            if seeds > 1:
                raise InputError(
                    "is more than a file of Flent's holds", key="seeds", value=seeds, accepted="1"
                )
            flent.check_path(self.flent)

    def probes(self, duration_ps: int) -> dict[str, object]:
        """The samples that the outputs need of a scenario without any, as overrides."""
        if self.flent is not None:
            interval_ps = min(flent.STEP_PS, duration_ps)
            return {"probes.interval": f"{interval_ps} ps", "probes.per_group": _MOST_STREAMS}
        if self.plot is not None:
            return {"probes.interval": f"{max(duration_ps // _SAMPLES, 10**6)} ps"}
        return {}

    def deliver(self, runs: RunSet) -> None:
        """Save first, lest a closed pipe keeps us from it; print all the same if that fails.

        Raises:
            OutputError: If something could not be saved; what could is there.
        """
        deliver(self._saves(runs), partial(self._show, runs))

    def _saves(self, runs: RunSet) -> Iterator[Save]:
        if self.out is not None:
            yield partial(_save_folder, runs, self.out)
        if self.plot is not None:
            yield partial(_save_figures, runs, self.plot)
        if self.flent is not None:
            yield partial(_save_flent, runs, self.flent)

    def _show(self, runs: RunSet) -> None:
        summary = runs.summary()
        show_as(lambda: summary, partial(summary_view, summary), as_json=self.as_json)


def _check_figures(folder: Path) -> None:
    if folder.suffix.lower() in {*FORMATS, *OTHER_FORMATS}:
        raise InputError(
            "is one file, and a run has several figures",
            key="--plot",
            value=str(folder),
            accepted=f"a folder, such as {folder.with_suffix('')}",
        )
    check_folder(folder)


def _save_folder(runs: RunSet, out: Path) -> list[Path]:
    runs.save(out)
    return [out]


def _save_figures(runs: RunSet, folder: Path) -> list[Path]:
    from bufferlab.render.plots import save_plots  # noqa: PLC0415 - Matplotlib is slow to import

    save_plots(runs, folder)
    return [folder]


def _save_flent(runs: RunSet, file: Path) -> list[Path]:
    flent.save(runs[0], file)
    return [file]
