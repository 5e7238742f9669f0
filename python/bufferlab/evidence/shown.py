"""Tables of points that a claims file asks to show, on the terminal and on pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bufferlab.errors import InputError
from bufferlab.evidence.document import Figure, Shown
from bufferlab.evidence.expressions import fill
from bufferlab.evidence.point_values import Points, PointValues
from bufferlab.evidence.verdicts import Compared
from bufferlab.render.grid import Grid


def grids(figure: Figure, compared: Compared) -> tuple[Grid, ...]:
    """The tables that a figure shows of its points.

    Raises:
        InputError: An expression cannot be computed.
    """
    made = []
    for index, shown in enumerate(figure.shown):
        try:
            made.append(_grid(figure, compared, shown))
        except InputError as error:
            raise error.at(key=f"figures.{figure.name}.show[{index}]") from None
    return tuple(made)


def _grid(figure: Figure, compared: Compared, shown: Shown) -> Grid:
    ours = compared.points
    selected = ours.select(shown.setting)
    columns = [] if shown.column is None else list(dict.fromkeys(row[shown.column] for row in selected))
    sources = {"": ours} | {
        other.who: Points.of(compared.others[other.name], compared.keys)
        for other in figure.others
        if other.name in shown.others
    }
    rows = []
    for place in dict.fromkeys(tuple(row[key] for key in shown.rows) for row in selected):
        own = {**shown.setting, **dict(zip(shown.rows, place, strict=True))}
        for who, points in sources.items():
            if shown.column is None:
                cells = [_cell(points, own, text) for text in shown.cells.values()]
            else:
                text = shown.cells[shown.column]
                cells = [_cell(points, {**own, shown.column: value}, text) for value in columns]
            if any(cells):
                head = [str(value) for value in place] or [""]
                head[-1] = ", ".join(text for text in (head[-1], who) if text)
                rows.append([*head, *cells])
    names = [name.replace("_", " ") for name in shown.rows] or [""]
    headings = [f"{shown.column} = {value}".replace("_", " ") for value in columns] or list(shown.cells)
    return Grid(names, headings, rows, shown.title)


def _cell(points: Points, place: Mapping[str, Any], text: str) -> str:
    found = points.select(place)
    return fill(text, PointValues(points, found[0], {}, strict=False)) if found else ""
