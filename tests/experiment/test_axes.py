"""What is varied, as people write it."""

from __future__ import annotations

import pytest

from bufferlab.errors import InputError
from bufferlab.experiment.axes import Axis, Range, read_axes, split_values


def values(text: str) -> list[object]:
    (axis,) = read_axes([f"a.b={text}"])
    return list(axis.grid())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("50 packets,100 packets", ["50 packets", "100 packets"]),
        ("1, 10", [1, 10]),
        ("0.5,true,'x,y'", [0.5, True, "x,y"]),
        ("uniform(0 s, 5 s),1 s", ["uniform(0 s, 5 s)", "1 s"]),
        ('{discipline = "red", ecn = true}', [{"discipline": "red", "ecn": True}]),
        ("linear(10..100 packets, 4)", ["10 packets", "40 packets", "70 packets", "100 packets"]),
        ("log(1..100 Mbps, 3)", ["1 Mbps", "10 Mbps", "100 Mbps"]),
        ("log(1 Mbps..100 Mbps, 3)", ["1 Mbps", "10 Mbps", "100 Mbps"]),
        ("linear(0..0.5, 3)", [0.0, 0.25, 0.5]),
        ("linear(1..3, 3)", [1, 2, 3]),
        ("linear(1..2, 5)", [1, 2]),
        ("5 ms,linear(10..20 ms, 2)", ["5 ms", "10 ms", "20 ms"]),
        ("log(1..2 KB, 3)", ["1 KB", "1.414 KB", "2 KB"]),
        ("log(0.001..1000 ms, 2)", ["0.001 ms", "1000 ms"]),
        ("stanford,bdp", ["stanford", "bdp"]),
        ("linear(0.5..2 bdp, 4)", ["0.5 bdp", "1 bdp", "1.5 bdp", "2 bdp"]),
    ],
)
def test_values_in_a_grid(text: str, expected: list[object]) -> None:
    assert values(text) == expected


def test_equals_signs_belong_to_the_value_after_the_first() -> None:
    (axis,) = read_axes(["flows[0].rtt=lognormal(mean=30 ms, sigma=0.1)"])
    assert axis == Axis("flows[0].rtt", ["lognormal(mean=30 ms, sigma=0.1)"])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("no-equals", "says nothing to vary"),
        ("=1", "says nothing to vary"),
        ("a.b=", "lacks a value"),
        ("a.b=1,,2", "lacks a value"),
        ("a.b=log(1..2 ms)", "does not say how many values"),
        ("a.b=1..2 ms", "does not say how many values"),
        ("a.b=log(0..2 ms, 3)", "starts at or below zero"),
        ("a.b=linear(2..1 ms, 3)", "does not rise"),
        ("a.b=linear(1 ms..2 s, 3)", "has two units"),
        ("a.b=linear(1..2 ms, 1)", "has no usable number of values"),
        ("a.b=linear(1..2 ms, many)", "has no usable number of values"),
        ("a.b=linear(1.5..9 packets, 3)", "has ends that are not whole"),
        ("a.b=log(1 ms)", "is not a range"),
    ],
)
def test_what_is_no_axis(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        [axis.grid() for axis in read_axes([text])]


def test_a_path_is_varied_once() -> None:
    with pytest.raises(InputError, match="is varied twice"):
        read_axes(["a.b=1", "a.b=2"])


def test_python_gives_lists_or_texts() -> None:
    assert read_axes({"a": [1, "2 ms"], "b": "log(1..4, 3)"}) == [
        Axis("a", [1, "2 ms"]),
        Axis("b", Range(1.0, 4.0, "", "log", whole=True, count=3)),
    ]
    with pytest.raises(InputError, match="is not a list of values"):
        read_axes({"a": 3})


@pytest.mark.parametrize("share", [0.0, 0.3, 0.999999])
def test_whole_ranges_give_every_number_its_share(share: float) -> None:
    (axis,) = read_axes(["a=1..4"])
    assert axis.sample(share) == 1 + int(share * 4)
    (listed,) = read_axes(["a=x,y"])
    assert listed.sample(share) == ("x" if share < 0.5 else "y")


def test_splitting_respects_brackets_and_quotes() -> None:
    assert split_values("a(b, c), [d, {e, f}], 'g, h', \"i, j\"") == [
        "a(b, c)",
        "[d, {e, f}]",
        "'g, h'",
        '"i, j"',
    ]
