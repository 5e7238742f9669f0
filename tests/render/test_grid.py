"""One grid, many outputs: nothing is cut, whatever the width."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from bufferlab.render.grid import Column, Grid
from bufferlab.render.view import Heading, View

QUEUES = Grid(
    ["queue", Column("buffer")],
    ["utilization, %", "wait: 95th percentile, ms", Column("remark", "left", wraps=True)],
    [
        ["fifo", "20", "99.42 ± 0.3", "22.59", "the discipline that drops what exceeds the limit"],
        ["far flows only"],
        ["codel", "1000", "97.02", "18.25", "drops at the head"],
    ],
    "Two queues",
)
WORDS = [
    word
    for texts in (["queue", "buffer", "utilization, %", "remark"], *QUEUES.rows)
    for text in texts
    for word in text.split()
]


def shown(content: Grid | View, width: int) -> list[str]:
    out = io.StringIO()
    Console(file=out, width=width).print(content)
    return out.getvalue().splitlines()


@pytest.mark.parametrize("width", [40, 52, 60, 80, 200])
def test_no_word_is_cut_and_no_line_too_long(width: int) -> None:
    lines = shown(QUEUES, width)
    assert max(map(len, lines)) <= width
    assert set(WORDS) <= {word for line in lines for word in line.split()}


def test_one_table_where_there_is_room_and_several_with_the_same_labels_where_not() -> None:
    assert [len(grid.columns) for grid in QUEUES.parts(200)] == [3]
    parts = list(QUEUES.parts(40))
    assert [len(grid.columns) for grid in parts] == [1, 1, 1]
    assert [[row[0] for row in grid.rows] for grid in parts] == [["fifo", "far flows only", "codel"]] * 3
    assert [grid.rows[0] for grid in parts][1] == ["fifo", "20", "22.59"]


def test_a_table_that_goes_on_below_has_no_rows_in_which_nothing_stands() -> None:
    grid = Grid(
        ["name"], ["one", "two"], [["a", "1" * 20, "–"], ["part"], ["b", "–", "2" * 20], ["c", "–", ""]]
    )
    first, second = grid.parts(30)
    assert [row[0] for row in first.rows] == ["a", "part", "b", "c"]
    assert [row[0] for row in second.rows] == ["part", "b"]


def test_heads_take_several_lines_before_columns_move_below() -> None:
    assert len(list(QUEUES.parts(70))) == 1
    lines = shown(QUEUES, 70)
    assert not any("95th percentile" in line for line in lines)
    assert any("fifo" in line and "99.42 ± 0.3" in line and "22.59" in line for line in lines)


def test_what_is_wider_than_the_screen_is_broken_not_cut() -> None:
    lines = shown(Grid(["name"], ["value"], [["x" * 50, "y" * 50]]), 40)
    assert max(map(len, lines)) <= 40
    text = "".join(lines)
    assert (text.count("x"), text.count("y")) == (50, 50)


def test_a_grid_without_other_columns_and_one_without_rows() -> None:
    assert any("only" in line for line in shown(Grid(["name"], [], [["only"]]), 20))
    assert any("name" in line for line in shown(Grid(["name"], ["value"], []), 20))


def test_markdown_has_all_labels_and_escapes_bars() -> None:
    lines = Grid(["a", "b"], ["c"], [["1", "2", "x|y"]]).markdown().splitlines()
    assert lines[0].replace(" ", "") == "|a|b|c|"
    assert r"x\|y" in lines[-1]


def test_a_notebook_has_title_heads_and_escaped_cells() -> None:
    text = Grid(["<name>"], ["value"], [["a & b", "1"]], "Of <two>").html()
    assert "<caption>Of &lt;two&gt;</caption>" in text
    assert "&lt;name&gt;" in text and "a &amp; b" in text
    assert text.count("<th ") == 3 and text.count("<td ") == 1


def test_a_view_is_the_same_as_text_and_in_a_notebook() -> None:
    view = View([Heading("[bold]two[/bold] & more"), QUEUES, "a line"])
    text, page = view.text(200), view.html()
    assert text.startswith("[bold]two[/bold] & more\n") and text.endswith("a line")
    assert page.startswith("<p><b>[bold]two[/bold] &amp; more</b></p>") and page.endswith("<p>a line</p>")
    for row in QUEUES.rows:
        assert all(cell in text and cell in page for cell in row)
