"""Errors name what was typed: options, with their dashes."""

from __future__ import annotations

import pytest

from .conftest import Command


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("advise", "small.toml", "--confidence", "2"), "bufferlab: --confidence: 2.0 is out of bounds"),
        (
            ("advise", "small.toml", "--target=loss < 2"),
            "bufferlab: --target: 'loss < 2' has no usable value",
        ),
        (("advise", "small.toml", "--today", "fofi"), "bufferlab: --today: 'fofi' is not a known queue"),
        (("run", "small.toml", "--threads=0"), "bufferlab: --threads: 0 is too small"),
        (("size", "small.toml", "--set", "flows=3"), "bufferlab: --set: flows: 3 is not a list"),
    ],
)
def test_an_error_names_the_option(bufferlab: Command, args: tuple[str, ...], says: str) -> None:
    ended = bufferlab(*args)
    assert ended.status == 2
    assert ended.line().startswith(says)


@pytest.mark.parametrize("words", [("run", ""), ("advise", ""), ("results", "")])
def test_an_empty_name_is_no_folder(bufferlab: Command, words: tuple[str, ...]) -> None:
    ended = bufferlab(*words)
    assert ended.status == 2
    assert ended.line().startswith("bufferlab: '' is no name; accepted: ")
    assert bufferlab(words[0], ".").line().startswith("bufferlab: .: is ")


def test_an_error_of_a_file_names_its_key(bufferlab: Command) -> None:
    ended = bufferlab("run", "small.toml", "--seeds", "2", "--set", "run.seed=-1")
    assert ended.status == 2
    assert "run.seed: -1" in ended.line() and "--seed" not in ended.line()
