"""How studies leave their results: tables and a page in a folder, and generated parts of pages of docs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import polars as pl
from matplotlib.figure import Figure

from bufferlab.display import save_figure
from bufferlab.errors import OutputError
from bufferlab.files import make_folder, not_written, write_whole, written_whole
from bufferlab.render.grid import Grid

END = "<!-- end of the generated part -->"

_DPI = 80
"""Of figures in docs, which are to be small."""


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table for a page, with an empty line after it."""
    return Grid(header[:1], header[1:], list(rows)).markdown() + "\n"


def save_tables(page: Path, text: str, tables: Mapping[str, pl.DataFrame]) -> list[Path]:
    """Write tables as CSV by file name without suffix, and a page beside them; return the files.

    Raises:
        OutputError: The folder cannot be written.
    """
    make_folder(page.parent)
    files = [write_whole(page.with_name(f"{name}.csv"), table.write_csv) for name, table in tables.items()]
    return [*files, write_whole(page, text)]


def save_study(page: Path, text: str, tables: Mapping[str, pl.DataFrame], figure: Figure) -> list[Path]:
    """Write tables and a page as `save_tables` does, and a figure of the page's name.

    Raises:
        OutputError: The folder cannot be written.
    """
    return save_tables(page, text, tables) + save_figure(figure, page.with_suffix(".png"))


def replace_generated(page: Path, text: str, begin_line: str) -> None:
    """Replace what stands between `begin_line` and `END` in a page.

    Raises:
        OutputError: The page cannot be read or written, or has no such part.
    """
    try:
        before, begin, rest = page.read_text(encoding="utf-8").partition(begin_line)
        _, end, after = rest.partition(END)
        if not begin or not end:
            raise OutputError(f"{page}: has no lines '{begin_line}' and '{END}'")
    except OSError as error:
        raise not_written(page, error) from error
    write_whole(page, f"{before}{begin_line}\n\n{text}\n{END}{after}")


def replace_study(page: Path, text: str, begin_line: str, figure: Figure, image: str) -> None:
    """The same, and the figure as `image` in the folder `images` beside it.

    Raises:
        OutputError: The page or the figure cannot be written, or the page has no such part.
    """
    replace_generated(page, text, begin_line)
    file = page.parent / "images" / image
    with written_whole(file) as fresh:
        figure.savefig(fresh, format="png", dpi=_DPI, metadata={"Software": None})
