"""The looks of every figure, and how figures become files.

Colors are those of M. Okabe and K. Ito, "Color Universal Design", 2008 (https://jfly.uni-koeln.de/color/),
which people with color vision deficiencies tell apart; line styles do it in black and white.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from bufferlab.display import as_files, figure_files
from bufferlab.files import not_written, written_whole

COLORS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Okabe and Ito's colors without their yellow, which vanishes as a line on white."""

LINE_STYLES: Final = ("solid", "dashed", "dashdot", "dotted", (0, (6, 1, 1, 1, 1, 1)))
"""As many as have no common factor with the colors, so that 35 lines differ."""

MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "h")

BAND_ALPHA: Final = 0.25

_WIDTH_IN: Final = 6.4
_PANEL_IN: Final = 4.8
_HEIGHT_IN: Final = 3.4
_DPI: Final = 150


class Drawing(Figure):
    """A figure that notebooks show as an image, without pyplot or a magic command."""

    def _repr_png_(self) -> bytes:
        image = BytesIO()
        with _our_style():
            self.savefig(image, format="png")
        return image.getvalue()


def line_style(index: int) -> dict[str, Any]:
    """Color, style and width of the line with this number, for `Axes.plot`."""
    return {
        "color": COLORS[index % len(COLORS)],
        "linestyle": LINE_STYLES[index % len(LINE_STYLES)],
        "linewidth": 1.2,
    }


def new_figure(rows: int = 1) -> tuple[Figure, list[Axes]]:
    """A figure in our style with `rows` axes below each other.

    It belongs to no window and is not kept by pyplot, so it needs no closing.
    """
    with _our_style():
        figure = Drawing(figsize=(_WIDTH_IN, _HEIGHT_IN * rows), dpi=_DPI, layout="constrained")
        FigureCanvasAgg(figure)
        return figure, [figure.add_subplot(rows, 1, row + 1) for row in range(rows)]


def new_figure_row(columns: int) -> tuple[Figure, list[Axes]]:
    """A figure in our style with `columns` axes beside each other."""
    with _our_style():
        figure = Drawing(figsize=(_PANEL_IN * columns, _HEIGHT_IN), dpi=_DPI, layout="constrained")
        FigureCanvasAgg(figure)
        return figure, [figure.add_subplot(1, columns, column + 1) for column in range(columns)]


@as_files.register
def _save(figure: Figure, path: Path) -> list[Path]:
    files = figure_files(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        for file in files:
            _write(figure, file)
    except (OSError, ValueError) as error:
        raise not_written(path, error) from error
    return files


def _our_style() -> AbstractContextManager[None]:
    return mpl.rc_context(
        {
            "font.size": 9,
            "axes.grid": True,
            "axes.spines.top": False,
            "axes.spines.right": False,
            "grid.alpha": 0.3,
            "svg.fonttype": "none",  # text stays text: it can be searched, and edited for a paper
            "svg.hashsalt": "bufferlab",  # else the ids within a file are random
        }
    )


def _write(figure: Figure, file: Path) -> None:
    kind = file.suffix[1:].lower()
    dated = {"svg": "Date", "pdf": "CreationDate"}.get(kind)
    metadata: dict[str, Any] = {dated: None} if dated else {}
    with _our_style(), written_whole(file) as fresh:
        figure.savefig(fresh, format=kind, metadata=metadata)
