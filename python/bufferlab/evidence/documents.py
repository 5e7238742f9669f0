"""Documents in folders of claims: those that come with Bufferlab, and users' own."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, TypeVar

import polars as pl
from matplotlib.figure import Figure as Drawing

from bufferlab import _core
from bufferlab.errors import InputError
from bufferlab.evidence import measured as measured_points
from bufferlab.evidence.document import Document, Figure, Key, Runs
from bufferlab.evidence.emulated import NOTE, beside
from bufferlab.evidence.expressions import Names, fill
from bufferlab.evidence.hooks import call, returned
from bufferlab.evidence.measured import Measured
from bufferlab.evidence.point_values import Points
from bufferlab.evidence.reading import CLAIMS_FILE, read_document
from bufferlab.evidence.reproduction import Reproduced, Reproduction, Request
from bufferlab.evidence.shown import grids
from bufferlab.evidence.simulated import (
    Simulated,
    derived,
    points_of_full_run,
    simulate_runs,
    values_of,
)
from bufferlab.evidence.verdicts import Compared, compare, finding_texts, require_points, without_points
from bufferlab.kernel.cache import kernel

T = TypeVar("T")

_HERE: Final = Path(__file__).parent

QUICK_NOTE: Final = (
    "Quick: few points and short runs. It shows that everything works, not what the document found."
)


@dataclass(frozen=True)
class Work:
    """What hooks that make tables and figures are given.

    Attributes:
        document: The document.
        figure: The figure.
        request: Effort, threads and progress.
        tables: Tables so far by name.
    """

    document: Document
    figure: Figure
    request: Request
    tables: Mapping[str, pl.DataFrame]

    @property
    def points(self) -> pl.DataFrame:
        """One row a point."""
        return self.tables[self.figure.points]


@cache
def bundled_documents() -> tuple[Document, ...]:
    """The documents that come with Bufferlab."""
    return tuple(
        read_document(file.parent, f"{__package__}.{file.parent.name}")
        for file in sorted(_HERE.glob(f"*/{CLAIMS_FILE}"))
    )


def reproductions_of(document: Document) -> list[Reproduction]:
    """One reproduction a figure."""
    return [
        Reproduction(
            name=f"{document.name}/{figure.name}",
            title=figure.title,
            citation=document.citation,
            function=partial(reproduce_figure, document, figure),
            record=partial(record, document, figure),
            verdicts=partial(stored_comparison, document, figure),
        )
        for figure in document.figures.values()
    ]


def reproduce_figure(document: Document, figure: Figure, request: Request) -> Reproduced:
    """Simulate, draw and compare one figure.

    Raises:
        InputError: The claims file, a scenario or a hook's result cannot be used.
    """
    simulated: Simulated | None = None
    tables: dict[str, pl.DataFrame] = {}
    keys = tuple(figure.keys)
    if figure.runs is not None:
        _check_settings(document, figure, document.runs[figure.runs])
        simulated = simulate_runs(document, document.runs[figure.runs], figure.only, request)
        tables = {"runs": simulated.runs, "points": simulated.points, **simulated.frames}
        keys = keys or simulated.keys
    others = _others(document, figure, keys)
    if request.kernel is not None:
        if simulated is None:
            raise InputError(
                "has no runs for a kernel", key=f"{document.name}/{figure.name}", accepted="no --engine uml"
            )
        figure, kept = beside(document, figure)
        others |= kept
    tables |= others
    if figure.tables is not None:
        made = _call(document, figure.tables, Work(document, figure, request, tables))
        tables |= returned(document.folder, figure.tables, made, dict, "frames by table name, as a dict")
        others = {name: tables[name] for name in others}
    if figure.points not in tables:
        problem = f"makes no table '{figure.points}'"
        raise InputError(problem, file=document.folder / CLAIMS_FILE, value=figure.tables)
    work = Work(document, figure, request, tables)
    both = Compared(tables[figure.points], others, keys, _values(document, figure))
    missing = _without_points(document, figure, both, request)
    findings = _in_file(document, finding_texts, figure, both)
    return Reproduced(
        name=f"{document.name}/{figure.name}",
        tables=tables,
        points=figure.points,
        figures=_drawn(work),
        comparison=compare(document, figure, both),
        notes=(*_notes(document, figure, simulated, request), *missing, *findings),
        scenarios=_scenarios(document, figure, simulated, request),
        keys=keys,
        names={} if simulated is None else simulated.names,
        grids=_in_file(document, grids, figure, both),
    )


def record(document: Document, figure: Figure, done: Reproduced, command: str) -> None:
    """Keep the points of a figure beside the claims.

    Raises:
        OutputError: The document's folder cannot be written.
    """
    engine = (_core.engine_version, _core.engine_fingerprint)
    measured = Measured(done.tables[done.points], done.keys, done.names, command, *engine)
    measured_points.store(document, figure, measured)


def stored_comparison(document: Document, figure: Figure) -> pl.DataFrame | None:
    """The verdicts on the claims of a figure by the points that are kept.

    Raises:
        InputError: They cannot be read.
    """
    measured = measured_points.load(document, figure)
    return None if measured is None else compare(document, figure, compared(document, figure, measured))


def compared(document: Document, figure: Figure, measured: Measured) -> Compared:
    """The points of a figure that are kept, and those of others."""
    others = _others(document, figure, measured.keys)
    return Compared(measured.points, others, measured.keys, _values(document, figure))


def _values(document: Document, figure: Figure) -> dict[str, list[Key]]:
    """The values of the keys of a figure that is made of runs."""
    return {} if figure.runs is None else values_of(document.runs[figure.runs], figure.only)


def _in_file(document: Document, read: Callable[..., T], *arguments: object) -> T:
    """Call a function; its errors name the claims file."""
    try:
        return read(*arguments)
    except InputError as error:
        raise error.at(file=document.folder / CLAIMS_FILE) from None


def _call(document: Document, name: str, *arguments: object) -> Any:  # noqa: ANN401 - the hook's
    return call(document.folder, document.package, name, *arguments)


def _others(document: Document, figure: Figure, keys: tuple[str, ...]) -> dict[str, pl.DataFrame]:
    """Points of others, with what is derived from them as from ours."""
    frames = {other.name: _call(document, other.points) for other in figure.others}
    if figure.runs is None:
        return frames
    runs = document.runs[figure.runs]
    return {name: derived(document, runs, frame, keys, strict=False) for name, frame in frames.items()}


def _check_settings(document: Document, figure: Figure, runs: Runs) -> None:
    """Refuse claims about points that no run has before any is simulated; hooks may make others."""
    if figure.tables is None:
        points = points_of_full_run(document, runs, figure.only)
        keys = figure.keys or tuple(runs.full.vary)
        require_points(document, figure, Points(points.rows, [key for key in keys if key in points.keys]))


def _without_points(document: Document, figure: Figure, both: Compared, request: Request) -> tuple[str, ...]:
    """Which claims a quick run leaves undecided; a full run must decide all."""
    points = both.points
    if not request.quick and request.kernel is None:
        require_points(document, figure, points)
        return ()
    missing, every = without_points(document, figure, points), document.claims_of(figure.name)
    run = "quick run" if request.kernel is None else "kernel's runs"
    text = f"{len(missing)} of {len(every)} claims have no point in the {run}: {', '.join(missing)}."
    return (text,) if missing else ()


def _scenarios(
    document: Document, figure: Figure, simulated: Simulated | None, request: Request
) -> Mapping[str, str]:
    """What was simulated, as TOML by file name."""
    if simulated is not None:
        return simulated.scenarios
    return {} if figure.scenarios is None else _call(document, figure.scenarios, request)


def _drawn(work: Work) -> dict[str, Drawing]:
    if work.figure.draw is None:
        return {}
    drawn: Any = _call(work.document, work.figure.draw, work)
    if isinstance(drawn, Drawing):
        return {work.figure.name: drawn}
    if isinstance(drawn, Mapping) and all(isinstance(each, Drawing) for each in drawn.values()):
        return {str(name): each for name, each in drawn.items()}
    returned = type(drawn).__name__
    raise InputError(
        f"returned a value of type {returned}",
        file=work.document.folder / CLAIMS_FILE,
        key=f"figures.{work.figure.name}.draw",
        value=work.figure.draw,
        accepted="a function that returns a Matplotlib figure, or several by file name",
    )


def _filled(document: Document, key: str, text: str, names: Names) -> str:
    try:
        return fill(text, names)
    except InputError as error:
        raise error.at(file=document.folder / CLAIMS_FILE, key=key) from None


def _notes(
    document: Document, figure: Figure, simulated: Simulated | None, request: Request
) -> tuple[str, ...]:
    names = Names({} if simulated is None else simulated.names)
    place = f"figures.{figure.name}.notes"
    notes = tuple(
        _filled(document, f"{place}[{index}]", note, names) for index, note in enumerate(figure.notes)
    )
    if request.kernel is not None and figure.runs is not None:
        notes = (*notes, NOTE.format(title=kernel(request.kernel).title, runs=figure.runs))
    return (*notes, QUICK_NOTE) if request.quick else notes
