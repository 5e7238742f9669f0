from __future__ import annotations

import pickle

import pytest

from bufferlab.errors import InputError


def test_message_names_place_value_and_what_is_accepted() -> None:
    error = InputError("is negative", file="a.toml", key="links[0].rate", value="-1 Mbps", accepted="a rate")
    assert str(error) == "a.toml: links[0].rate: '-1 Mbps' is negative; accepted: a rate"


def test_places_that_are_known_stay() -> None:
    error = InputError("is required", key="run").at(file="a.toml", key="links")
    assert (error.file, error.key) == ("a.toml", "run")


class Unspeakable:
    def __repr__(self) -> str:
        raise RuntimeError


ODD = {
    "unprintable": "a\nb\r\x00\u2028\ud800",
    "long": "x" * 10_000,
    "large": 10**5000,
    "deep": [[[[["deep"]]]]],
    "unspeakable": Unspeakable(),
    "none": None,
}


@pytest.mark.parametrize("value", ODD.values(), ids=ODD.keys())
def test_message_is_one_short_line_whatever_the_value(value: object) -> None:
    message = str(InputError("is bad", file="a\nb", key="x\ny" * 500, value=value, accepted="good"))
    assert len(message.splitlines()) == 1
    assert len(message) < 400
    assert message.encode()


def copied(error: InputError) -> object:
    return pickle.loads(pickle.dumps(error))


def test_errors_travel_between_processes() -> None:
    error = InputError("is bad", file="f", key="k", value=3, accepted="4")
    assert str(copied(error)) == str(error)
    assert str(copied(InputError("is bad"))) == "is bad"
