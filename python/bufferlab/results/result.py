"""What runs measured: `Result` for one seed, `RunSet` for several seeds of a scenario."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import polars as pl

from bufferlab import display
from bufferlab.errors import InputError
from bufferlab.results import folder as folders
from bufferlab.results.measurement import Measurement
from bufferlab.results.summary import Document, summarize
from bufferlab.units import PS_PER_S

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedScenario


class Result(display.Displayed, Measurement):
    """What one run measured; it prints as tables.

    `Measurement` has its attributes.
    """

    def summary(self) -> Document:
        """The summary document, see `bufferlab.results.summary`."""
        return summarize([self])

    def show(self) -> Any:  # noqa: ANN401 - a class of an optional package
        """Show the run live in a notebook: simulated again in the browser, the same bytes.

        Needs `pip install 'bufferlab[notebook]'`; see `bufferlab.watch`.

        Raises:
            InputError: The widget is not there.
        """
        return display.widget(self)

    def save(self, directory: str | Path) -> None:
        """Write the result folder, all of it or nothing; an older result there is replaced.

        Raises:
            InputError: If `directory` is a file or holds something else.
            OutputError: If it cannot be written.
        """
        RunSet([self]).save(directory)

    @classmethod
    def load(cls, directory: str | Path) -> Result:
        """Read a result folder of one run.

        Raises:
            InputError: If it is none.
        """
        runs = RunSet.load(directory)
        if len(runs) != 1:
            raise InputError(
                f"holds {len(runs)} runs", file=directory, accepted="one run, or RunSet.load for all of them"
            )
        return runs[0]

    def __repr__(self) -> str:
        return f"<Result {self.name!r}, seed {self.seed}, {self.reached_ps / PS_PER_S:g} s>"


@dataclass(frozen=True, eq=False, repr=False)
class RunSet(display.Displayed, Sequence[Result]):
    """Runs of one scenario with several seeds, at least one, in order of the seeds asked for.

    `flows`, `queues`, `histograms`, `queue_samples`, `flow_samples`, `classes`, `class_samples` and
    `exchanges` are the runs' frames on top of each other, with a column `seed`.

    Attributes:
        results: The runs.
    """

    results: Sequence[Result]

    def __post_init__(self) -> None:
        if not self.results:
            raise ValueError("a set of runs holds at least one")

    @overload
    def __getitem__(self, index: int) -> Result: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Result]: ...

    def __getitem__(self, index: int | slice) -> Result | Sequence[Result]:
        return self.results[index]

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[Result]:
        return iter(self.results)

    @property
    def name(self) -> str:
        """Title of the scenario."""
        return self.results[0].name

    @property
    def resolved(self) -> ResolvedScenario:
        """What the scenario means under the first seed: defaults filled in, units resolved."""
        return self.results[0].resolved

    @property
    def seeds(self) -> list[int]:
        """The runs' seeds."""
        return [result.seed for result in self.results]

    @property
    def flows(self) -> pl.DataFrame:
        """One row per seed and flow."""
        return self._stacked(lambda result: result.flows)

    @property
    def queues(self) -> pl.DataFrame:
        """One row per seed, link and group."""
        return self._stacked(lambda result: result.queues)

    @property
    def histograms(self) -> pl.DataFrame:
        """Histograms of the waits in the queues."""
        return self._stacked(lambda result: result.histograms)

    @property
    def queue_samples(self) -> pl.DataFrame:
        """Time series of the sampled links."""
        return self._stacked(lambda result: result.queue_samples)

    @property
    def flow_samples(self) -> pl.DataFrame:
        """Time series of the sampled flows."""
        return self._stacked(lambda result: result.flow_samples)

    @property
    def classes(self) -> pl.DataFrame:
        """One row per seed, link and class of its discipline, if that has classes."""
        return self._stacked(lambda result: result.classes)

    @property
    def class_samples(self) -> pl.DataFrame:
        """Time series of what the sampled links' classes hold and estimate."""
        return self._stacked(lambda result: result.class_samples)

    @property
    def exchanges(self) -> pl.DataFrame:
        """One row per seed and burst, fetch, recorded datagram or ping."""
        return self._stacked(lambda result: result.exchanges)

    @property
    def flow_means(self) -> pl.DataFrame:
        """Means over the seeds, one row per flow group; `…_ci95` is half the 95 % confidence interval."""
        return pl.DataFrame(self.summary()["flows"], infer_schema_length=None)

    @property
    def queue_means(self) -> pl.DataFrame:
        """Means over the seeds, one row per link and group; `…_ci95` is half the 95 % confidence interval."""
        return pl.DataFrame(self.summary()["queues"], infer_schema_length=None)

    @property
    def latency_means(self) -> pl.DataFrame:
        """Means over the seeds of latency under load, one row per flow group with round trips or calls."""
        return pl.DataFrame(self.summary()["latency"], infer_schema_length=None)

    def summary(self) -> Document:
        """The summary document, see `bufferlab.results.summary`."""
        return summarize(self.results)

    def show(self) -> Any:  # noqa: ANN401 - a class of an optional package
        """Show the first four runs live in a notebook, side by side.

        Needs `pip install 'bufferlab[notebook]'`; see `bufferlab.watch`.

        Raises:
            InputError: The widget is not there.
        """
        return display.widget(self)

    def save(self, directory: str | Path) -> None:
        """Write a result folder, all of it or nothing; an older result there is replaced.

        Several runs get a folder `seed-…` each within it.

        Args:
            directory: The folder; missing parents are made.

        Raises:
            InputError: If `directory` is a file or holds something else.
            OutputError: If it cannot be written.
        """
        folders.save(self.results, self.summary(), Path(directory))

    @classmethod
    def load(cls, directory: str | Path) -> RunSet:
        """Read a result folder of one or several runs.

        Raises:
            InputError: If it is none.
        """
        return cls([Result(**parts) for parts in folders.load(Path(directory))])

    def __repr__(self) -> str:
        return f"<RunSet {self.name!r}, {len(self)} seed{'s' if len(self) > 1 else ''}>"

    def _stacked(self, frame: Callable[[Result], pl.DataFrame]) -> pl.DataFrame:
        return pl.concat([frame(result) for result in self.results])
