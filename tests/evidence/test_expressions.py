"""Expressions and templates of claims files."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bufferlab.errors import InputError
from bufferlab.evidence.expressions import Names, Value, check_expression, check_template, evaluate, fill
from bufferlab.evidence.point_values import Points, PointValues

NAMES = Names({"a": 2, "b": 3.0, "word": "two words", "missing": None, "flows.x-y.rate": 7.0})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a + b * 2", 8.0),
        ("(a + b) / 2", 2.5),
        ("floor(b / a)", 1),
        ("a ** 2 - 1", 3),
        ("-a", -2),
        ("max(a, b)", 3.0),
        ("1 if word == 'two words' else 0", 1),
        ("a < b and not b < a", True),
        ("1 < a < 3", True),
        ("missing", None),
        ("missing * 2", None),
        ("missing < 2", None),
        ("missing == none", True),
        ("a / 0", None),
        ("sqrt(-1)", None),
        ("10.0 ** 400", None),
        ('flows["x-y"].rate', 7.0),
    ],
)
def test_values(text: str, value: Value) -> None:
    assert evaluate(text, NAMES) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a +",
        "__import__('os')",
        "a.b()",
        "[1, 2]",
        "lambda: 1",
        "{}",
        "open('x')",
        "a if b",
        "x" * 3000,
        "f'{a}'",
    ],
)
def test_what_is_not_an_expression_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"is not an expression|is too long"):
        check_expression(text)


def test_unknown_names_are_listed() -> None:
    with pytest.raises(InputError, match="'c' is not a known name; accepted: a, b"):
        evaluate("a + c", NAMES)


def test_texts_do_not_add_up() -> None:
    with pytest.raises(InputError, match="takes numbers"):
        evaluate("word + 1", NAMES)
    with pytest.raises(InputError, match="cannot be compared"):
        evaluate("word < 1", NAMES)


def test_templates() -> None:
    assert fill("{a} of {b:.1f}: {a / b:.2g}, {missing:.2g}, {word}", NAMES) == "2 of 3.0: 0.67, –, two words"
    with pytest.raises(InputError, match="braces"):
        check_template("{a")
    with pytest.raises(InputError, match="is not a format"):
        fill("{a:zzz}", NAMES)


def point(queue: str, rtt: int) -> PointValues:
    rows = [
        {"queue": name, "rtt": trip, "rate": trip * factor}
        for name, factor in (("bdp", 1.0), ("codel", 10.0))
        for trip in (10, 100, 500)
    ]
    points = Points(rows, ("queue", "rtt"))
    return PointValues(points, points.select({"queue": queue, "rtt": rtt})[0], {"ours": 5.0})


def test_other_points() -> None:
    here = point("bdp", 100)
    assert evaluate("rate", here) == 100
    assert evaluate("at(rate, queue = 'codel')", here) == 1000
    assert evaluate("at(rate, queue = 'codel') / at(rate, rtt = first)", here) == 100
    assert evaluate("at(rate, rtt = last)", here) == 500
    assert evaluate("at(rate, rtt = 11)", here) is None
    assert evaluate("lowest(1 / rate, rtt)", here) == 1 / 500
    assert evaluate("highest(rate, rtt, queue)", here) == 5000


def test_other_points_have_their_own_columns_only() -> None:
    """What others measured here, or what a claim's value is, says nothing of another point."""
    with pytest.raises(InputError, match="'ours' is not a known name"):
        evaluate("at(ours, queue = 'codel')", point("bdp", 100))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (
            "at(rate, queu = 'codel')",
            r"'queu' is not a key of the points \(did you mean 'queue'\?\); accepted: queue, rtt",
        ),
        (
            "lowest(rate, rt)",
            r"'rt' is not a key of the points \(did you mean 'rtt'\?\); accepted: queue, rtt",
        ),
        (
            "at(rate, queue = 'code')",
            r"'code' is not a value of 'queue' \(did you mean 'codel'\?\); accepted: bdp, codel, fifo",
        ),
        ("at(rate, queue = first)", "'first' is not a value of 'queue'"),
    ],
)
def test_misspelled_points_are_refused(text: str, says: str) -> None:
    here = point("bdp", 100)
    known = replace(here.points, values={"queue": ["bdp", "codel", "fifo"]})
    with pytest.raises(InputError, match=says):
        evaluate(text, replace(here, points=known))


def test_points_that_a_quick_run_leaves_out_have_no_value() -> None:
    here = point("bdp", 100)
    known = replace(here.points, values={"queue": ["bdp", "codel", "fifo"], "rtt": [10, 100, 500]})
    assert evaluate("at(rate, queue = 'fifo')", replace(here, points=known)) is None
    assert evaluate("at(rate, rtt = rtt / 3)", replace(here, points=known)) is None


def test_a_point_alone_has_no_others() -> None:
    with pytest.raises(InputError, match="here are none; accepted: other points only in claims"):
        evaluate("at(a, b = 1)", NAMES)


def test_names_that_others_lack_are_missing_or_an_error() -> None:
    here = point("bdp", 10)
    assert evaluate("ours", here) == 5.0
    with pytest.raises(InputError, match="loss"):
        evaluate("loss", here)
    assert evaluate("loss", PointValues(here.points, here.row, {}, strict=False)) is None


def test_powers_take_no_time() -> None:
    assert evaluate("2 ** 10 ** 10 ** 10", Names({})) is None
    assert evaluate("9 ** 99999999", Names({})) is None
    assert evaluate("2 ** 10", Names({})) == 1024
    assert evaluate("4 ** 0.5", Names({})) == 2
    assert evaluate("2 ** -1", Names({})) == 0.5


def test_arithmetic_is_that_of_numbers() -> None:
    with pytest.raises(InputError, match="takes numbers"):
        evaluate("'a' * 10000000000", Names({}))
