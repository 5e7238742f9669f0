"""Common to the verbs that answer a question about a link: their options, and what becomes of the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, Protocol, TypeVar

import typer

from bufferlab.cli.delivery import Save, deliver, show_as
from bufferlab.cli.options import listing
from bufferlab.configure import PLATFORMS
from bufferlab.display import figure_files, save_figure
from bufferlab.errors import InputError
from bufferlab.files import check_writable, make_folder
from bufferlab.studies.choosing.objectives import KINDS

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import RenderableType

    from bufferlab.studies.advise.tried import Tried

Link = Annotated[
    str | None,
    typer.Option(help="Link in question; default the slowest.", show_default=False),
]
TargetTexts = Annotated[
    list[str] | None,
    typer.Option(
        "--target",
        help="What must be met: 'utilization >= 99 %', 'wait_p99 < 20 ms', 'call.r > 80'. Repeatable; "
        "default 'utilization >= 99 %', of a home's line and beside calls, pages, pings or videos 90 %.",
        show_default=False,
    ),
]
LeastUtilization = Annotated[
    str | None,
    typer.Option("--utilization", help="Target: least utilization, '99 %' or 0.99.", show_default=False),
]
MostLoss = Annotated[
    str | None,
    typer.Option(
        "--max-loss", help="Target: largest loss (drops over arrivals), '1 %' or 0.01.", show_default=False
    ),
]
LongestWait = Annotated[
    str | None,
    typer.Option(
        "--max-delay",
        help="Target: longest mean wait, '20 ms'; --target 'wait_p99 < 20 ms' bounds the 99th percentile.",
        show_default=False,
    ),
]
Bounds = Annotated[
    str | None,
    typer.Option(
        help="Where to search, two buffers; plain numbers are packets. [default: 1..2bdp, and up to 16bdp "
        "while all miss and larger ones come nearer]",
        show_default=False,
    ),
]
Emphasis = Annotated[
    str | None,
    typer.Option(
        "--for",
        help=f"What matters most: {', '.join(KINDS)}.",
        autocompletion=listing(KINDS),
        show_default=False,
    ),
]


def platform_option(what: str, then: str) -> Any:  # noqa: ANN401 - typer's own type is not public
    """The option `--platform`.

    Args:
        what: What stands before the platforms' names in its help.
        then: What it does.
    """
    return typer.Option(
        help=f"{what}: {', '.join(PLATFORMS)}. {then}",
        autocompletion=listing(PLATFORMS),
        show_default=False,
    )


Device = Annotated[
    str | None,
    typer.Option(
        "--device", "--interface", help="Interface in those lines; default a usual name.", show_default=False
    ),
]
Shape = Annotated[
    bool,
    typer.Option("--shape", help="Add a shaper at this rate, for an interface that is faster."),
]
ShapeOrNot = Annotated[
    bool | None,
    typer.Option(
        "--shape/--no-shape",
        help="Add a shaper at this rate, for an interface that is faster. Default if hardly an "
        "interface has that rate.",
        show_default=False,
    ),
]
Plot = Annotated[
    Path | None,
    typer.Option(help="Draw the figure here, as PNG and SVG.", show_default=False),
]
OutFolder = Annotated[
    Path | None,
    typer.Option("--out", help="Folder for the figure and all results.", show_default=False),
]


class Drawn(Protocol):
    """An answer that has a figure."""

    def figure(self) -> Figure:
        """Draw it."""


Answer = TypeVar("Answer", bound=Drawn)


@dataclass(frozen=True)
class Delivery(Generic[Answer]):
    """Hands over the answer of a verb; also what there is of it after Ctrl-C.

    Attributes:
        view: What is printed.
        document: What is printed with `--json`.
        as_json: Whether it is.
        plot: Where the figure goes, if anywhere.
        out: The folder for everything, if any.
        save: Writes everything into a folder.
        draw: Writes the figure, or several beside each other.
    """

    view: Callable[[Answer], RenderableType]
    document: Callable[[Answer], Mapping[str, Any]]
    as_json: bool
    plot: Path | None
    out: Path | None = None
    save: Callable[[Answer, Path], list[Path]] = lambda *_: []
    draw: Callable[[Answer, Path], list[Path]] = lambda answer, path: save_figure(answer.figure(), path)

    def __post_init__(self) -> None:
        """Make the folder, and look whether the figure can be written, before any work is done.

        Raises:
            InputError: It has no file's name, or that of another format.
            OutputError: It cannot be written.
        """
        if self.plot is not None:
            check_figure(self.plot)
        if self.out is not None:
            make_folder(self.out)

    def __call__(self, answer: Answer | Tried) -> None:
        """Save what is to be saved, and print; what is no answer yet is only printed.

        Raises:
            OutputError: Something could not be saved.
        """
        from bufferlab.render.advise.tried import tried_view  # noqa: PLC0415 - slow to import, and no help needs it
        from bufferlab.studies.advise.tried import Tried  # noqa: PLC0415 - slow to import, and no help needs it

        if isinstance(answer, Tried):
            show_as(answer.to_dict, lambda: tried_view(answer), as_json=self.as_json)
            return
        deliver(
            self._saves(answer),
            lambda: show_as(lambda: self.document(answer), lambda: self.view(answer), as_json=self.as_json),
        )

    def _saves(self, answer: Answer) -> Iterator[Save]:
        plot, out = self.plot, self.out
        if plot is not None:
            yield lambda: self.draw(answer, plot)
        if out is not None:
            yield lambda: self.save(answer, out)


def check_figure(path: Path) -> list[Path]:
    """Check before any work that a figure can be written; return its files.

    Args:
        path: As `--plot` has it.

    Raises:
        InputError: It has no file's name, or that of another format.
        OutputError: It cannot be written.
    """
    try:
        files = figure_files(path)
    except InputError as error:
        raise InputError(error.problem, key="--plot", value=str(path), accepted=error.accepted) from None
    for file in files:
        check_writable(file, makes_folder=True)
    return files
