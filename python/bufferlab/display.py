"""How results are shown, without an import upwards: what is to be shown knows these functions only.

The functions dispatch on the type of what is shown. Their implementations live in `bufferlab.render`, which
is above; `VIEWS` and `FIGURES` say where, and a module named there is loaded when something of its kind is
shown for the first time.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from functools import singledispatch
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from bufferlab.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VIEWS: Final[Mapping[str, str]] = {
    "bufferlab.captured.findings": "bufferlab.render.observe.view",
    "bufferlab.results.result": "bufferlab.render.summary",
    "bufferlab.studies.advise.advice": "bufferlab.render.advise.view",
    "bufferlab.studies.advise.joint": "bufferlab.render.advise.links",
    "bufferlab.studies.advise.tried": "bufferlab.render.advise.tried",
    "bufferlab.studies.compare.comparison": "bufferlab.render.compare.view",
    "bufferlab.studies.crosscheck.comparison": "bufferlab.render.crosscheck",
    "bufferlab.studies.size.published": "bufferlab.render.size.rules",
    "bufferlab.studies.size.sizing": "bufferlab.render.size.view",
    "bufferlab.studies.sweep": "bufferlab.render.stored_runs",
}
"""The module with the `view` of another module's classes."""

FIGURES: Final[Mapping[str, str]] = {
    "bufferlab.captured.findings": "bufferlab.render.observe.plot",
    "bufferlab.studies.advise.advice": "bufferlab.render.advise.plot",
    "bufferlab.studies.compare.comparison": "bufferlab.render.compare.plot",
    "bufferlab.studies.size.sizing": "bufferlab.render.size.plot",
    "matplotlib.figure": "bufferlab.render.plots.style",
}
"""The module with the `figure` of another module's classes, and that which saves figures."""


FORMATS: Final = (".png", ".svg", ".pdf")
"""Endings of the files that figures are written as."""

OTHER_FORMATS: Final = frozenset(
    {
        ".bmp",
        ".csv",
        ".eps",
        ".gif",
        ".heic",
        ".html",
        ".ico",
        ".jpeg",
        ".jpg",
        ".json",
        ".pgf",
        ".ps",
        ".raw",
        ".rgba",
        ".svgz",
        ".tex",
        ".tif",
        ".tiff",
        ".toml",
        ".txt",
        ".webp",
    }
)
"""Endings by which somebody asks for what they are not written as; all else may be part of a name."""


WIDGETS: Final[Mapping[str, str]] = {"bufferlab.results.result": "bufferlab.web.widget"}
"""The module with the `widget` of another module's classes."""


VIEW_VARIABLE: Final = "BUFFERLAB_VIEW"
"""Environment variable with a file that also gets what a command shows, part by part as JSON.

`bufferlab serve` sets it for what its page asks for."""

_TINY: Final = 1e-9
"""Below this a number is written with an exponent: nobody counts ten zeros."""


class View(Protocol):
    """What people are shown."""

    def text(self) -> str:
        """What `print` shows."""

    def html(self) -> str:
        """What a notebook shows."""


class Displayed:
    """A result or a study: it prints as a text, and a notebook shows it as tables."""

    def __str__(self) -> str:
        return text(self)

    def _repr_html_(self) -> str:
        return html(self)


def view(shown: object) -> View:
    """What people are shown of a result or a study."""
    _load(VIEWS, shown)
    return as_view(shown)


def parts(shown: object) -> Mapping[str, View]:
    """What people are shown of each part of a study, by its name."""
    _load(VIEWS, shown)
    return as_parts(shown)


def text(shown: object) -> str:
    """What `print` shows."""
    return view(shown).text()


def html(shown: object) -> str:
    """What a notebook shows."""
    return view(shown).html()


def figure(shown: object) -> Figure:
    """The figure of a study."""
    _load(FIGURES, shown)
    return as_figure(shown)


def widget(shown: object) -> Any:  # noqa: ANN401 - a class of an optional package
    """The widget that shows something live in a notebook."""
    _load(WIDGETS, shown)
    return as_widget(shown)


def save_figure(drawn: Figure, path: str | Path) -> list[Path]:
    """Write a figure as PNG and SVG, or as PDF; the same figure gives the same bytes.

    Args:
        drawn: The figure.
        path: Where, without a suffix (`.png` or `.svg` at its end is taken off), or a `.pdf`, which is then
            the only file; missing folders are made.

    Returns:
        The files.

    Raises:
        InputError: The path has another format's ending, or no name.
        OutputError: If they cannot be written.
    """
    _load(FIGURES, drawn)
    return as_files(drawn, Path(path))


def figure_files(path: Path) -> list[Path]:
    """The files that a figure becomes.

    Args:
        path: As `save_figure` takes it.

    Raises:
        InputError: It has another format's ending, or no name.
    """
    ending, accepted = path.suffix.lower(), "NAME.png and NAME.svg, which are both written, or NAME.pdf"
    if path.name in {"", ".."}:
        raise InputError("has no file's name", file=str(path), accepted=accepted)
    if ending in OTHER_FORMATS:
        raise InputError(
            f"asks for {ending}, which figures are not written as", file=str(path), accepted=accepted
        )
    if ending == ".pdf":
        return [path]
    stem = path.name.removesuffix(path.suffix) if ending in FORMATS else path.name
    return [path.with_name(f"{stem}.{kind}") for kind in ("png", "svg")]


@singledispatch
def as_view(shown: object) -> View:
    """`view` for one type."""
    raise TypeError(f"{type(shown).__name__} has no view")


@singledispatch
def as_parts(shown: object) -> Mapping[str, View]:
    """`parts` for one type."""
    raise TypeError(f"{type(shown).__name__} has no parts")


@singledispatch
def as_figure(shown: object) -> Figure:
    """`figure` for one type."""
    raise TypeError(f"{type(shown).__name__} has no figure")


@singledispatch
def as_widget(shown: object) -> Any:  # noqa: ANN401 - as above
    """`widget` for one type."""
    raise TypeError(f"{type(shown).__name__} has no widget")


@singledispatch
def as_files(drawn: Any, path: Path) -> list[Path]:  # noqa: ANN401 - figures of any library
    """`save_figure` for one type."""
    raise TypeError(f"{type(drawn).__name__} cannot be saved as {path}")


def significant(value: float, digits: int = 4) -> str:
    """A number rounded to significant digits, those before the point all kept; tiny ones have an exponent.

    >>> significant(123456.7), significant(0.0012345), significant(0.0), significant(1.5e-12)
    ('123457', '0.001235', '0', '1.5e-12')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    if abs(value) < _TINY:
        return f"{value:.{digits}g}"
    decimals = max(digits - 1 - math.floor(math.log10(abs(value))), 0)
    shown = f"{value:.{decimals}f}"
    return shown.rstrip("0").rstrip(".") if "." in shown else shown


def _load(modules: Mapping[str, str], shown: object) -> None:
    for kind in type(shown).__mro__:
        if kind.__module__ in modules:
            importlib.import_module(modules[kind.__module__])
