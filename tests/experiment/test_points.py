"""Grids, lists and Latin hypercubes."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bufferlab import _core
from bufferlab.errors import InputError
from bufferlab.experiment.axes import read_axes
from bufferlab.experiment.points import grid, hypercube, latin, read_list, read_sample

KINDS = {
    "ms": "time",
    "us": "time",
    "Mbps": "rate",
    "KB": "size",
    "KiB": "size",
    "MB": "size",
}


def test_a_grid_has_every_combination_the_last_axis_fastest() -> None:
    axes = read_axes(["a=1,2", "b=x,y"])
    assert grid(axes) == [{"a": 1, "b": "x"}, {"a": 1, "b": "y"}, {"a": 2, "b": "x"}, {"a": 2, "b": "y"}]
    assert grid([]) == [{}]


def test_a_grid_has_an_end() -> None:
    axes = read_axes([f"a{index}=linear(0.0..1.0, 100)" for index in range(4)])
    with pytest.raises(InputError, match="are too many points"):
        grid(axes)


@given(st.integers(1, 6), st.integers(1, 200), st.integers(0, 2**64 - 1))
def test_each_stratum_of_each_dimension_has_one_point(dimensions: int, count: int, seed: int) -> None:
    shares = hypercube(dimensions, count, seed)
    assert shares.shape == (count, dimensions)
    assert (shares >= 0).all() and (shares < 1).all()
    for column in shares.T:
        assert sorted(np.floor(column * count).astype(int).clip(0, count - 1)) == list(range(count))
    assert (shares == hypercube(dimensions, count, seed)).all()


def test_dimensions_and_seeds_are_independent() -> None:
    shares = hypercube(2, 1000, 1)
    # 3.3 standard errors of the correlation of 1000 independent pairs, 1/sqrt(1000)
    assert abs(float(np.asarray(np.corrcoef(shares.T))[0, 1])) < 0.104
    assert not (shares == hypercube(2, 1000, 2)).any()


@given(
    low=st.integers(1, 1000),
    more=st.integers(1, 100_000),
    unit=st.sampled_from(["ms", "us", "Mbps", "KB", "KiB", "MB", "packets", ""]),
    scale=st.sampled_from(["linear", "log"]),
    count=st.integers(1, 20),
)
def test_samples_are_values_within_their_range(
    low: int, more: int, unit: str, scale: str, count: int
) -> None:
    high = low + more
    points = latin(read_axes([f"a={scale}({low}..{high} {unit})"]), count, 1)
    for point in points:
        value = point["a"]
        if unit in KINDS:
            ends = [_core.parse_quantity(KINDS[unit], f"{end} {unit}", 1) for end in (low, high)]
            assert ends[0] * (1 - 1e-5) <= _core.parse_quantity(KINDS[unit], value, 1) <= ends[1] * (1 + 1e-5)
        elif unit:
            assert isinstance(value, str) and low <= int(value.removesuffix(" packets")) <= high
        else:
            assert isinstance(value, int) and low <= value <= high


def test_log_samples_are_even_in_the_logarithm() -> None:
    points = latin(read_axes(["a=log(1.0..10000.0)"]), 400, 3)
    decades = np.bincount([int(math.log10(point["a"])) for point in points])  # type: ignore[arg-type]
    assert decades.tolist() == [100, 100, 100, 100]


def test_a_list_is_a_csv_file(tmp_path: Path) -> None:
    path = tmp_path / "points.csv"
    path.write_text('bottleneck.buffer, flows.near.count, bottleneck.queue\n50 packets,3,\n"1 KB",,codel\n\n')
    assert read_list(path) == [
        {"bottleneck.buffer": "50 packets", "flows.near.count": 3},
        {"bottleneck.buffer": "1 KB", "bottleneck.queue": "codel"},
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "has no points"),
        ("a.b\n", "has no points"),
        ("a.b,a.b\n1,2\n", "needs different paths"),
        ("a.b,\n1,2\n", "needs different paths"),
        ("a.b,c\n1\n", "has 1 cells in row 2; accepted: 2"),
        ('a.b\n"1\n', "is not CSV"),
    ],
)
def test_what_is_no_list(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "points.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=says):
        read_list(path)


def test_how_to_sample() -> None:
    assert read_sample("latin:100") == 100
    for text in ("latin", "latin:x", "sobol:3", "latin:-1"):
        with pytest.raises(InputError, match="is no way to sample"):
            read_sample(text)
    with pytest.raises(InputError, match="is not a usable number of points"):
        latin(read_axes(["a=1..2"]), 0, 1)
    with pytest.raises(InputError, match="has nothing to sample"):
        latin([], 3, 1)
