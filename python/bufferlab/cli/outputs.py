"""What `bufferlab run` leaves behind: the summary, and the files that were asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from bufferlab.cli.common import print_json, print_rich, say
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
        figures: The folder of the figures if there is no result folder; `None` for no figures.
        flent: The file for Flent, if any.
        as_json: Print the summary as JSON.
    """

    out: Path | None
    figures: Path | None
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
        elif self.figures is not None:
            check_folder(self.figures)
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
        if self.figures is not None:
            return {"probes.interval": f"{max(duration_ps // _SAMPLES, 10**6)} ps"}
        return {}

    def deliver(self, runs: RunSet) -> None:
        """Save first, lest a closed pipe keeps us from it; print all the same if that fails.

        Raises:
            OutputError: If something could not be saved; what could is there.
        """
        saved: list[Path] = []
        try:
            self._save_all(runs, saved)
        finally:
            self._print(runs)
            if saved:
                say(f"saved in {', '.join(map(str, saved))}")

    def _save_all(self, runs: RunSet, saved: list[Path]) -> None:
        """Save each on its own, so that one that fails does not keep the others from being there."""
        failed: Exception | None = None
        for path, save in self._saves(runs):
            try:
                save()
            except Exception as error:  # noqa: BLE001 - reported when the others are saved
                failed = failed or error
            else:
                saved.append(path)
        if failed is not None:
            raise failed

    def _saves(self, runs: RunSet) -> Iterator[tuple[Path, Callable[[], None]]]:
        if self.out is not None:
            out = self.out
            yield out, lambda: _save_folder(runs, out, figures=self.figures is not None)
        elif self.figures is not None:
            figures = self.figures
            yield figures, lambda: _save_figures(runs, figures)
        if self.flent is not None:
            file = self.flent
            yield file, lambda: flent.save(runs[0], file)

    def _print(self, runs: RunSet) -> None:
        summary = runs.summary()
        if self.as_json:
            print_json(summary)
        else:
            print_rich(summary_view(summary))


def _save_folder(runs: RunSet, out: Path, *, figures: bool) -> None:
    extra: Callable[[Path], None] | None = None
    if figures:

        def extra(folder: Path) -> None:
            _save_figures(runs, folder / "figures")

    runs.save(out, extra=extra)


def _save_figures(runs: RunSet, folder: Path) -> None:
    from bufferlab.render.plots import save_plots  # noqa: PLC0415 - Matplotlib is slow to import

    save_plots(runs, folder)
