"""How a signature becomes a command line."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import pytest

from bufferlab.cli.arguments import Argument, Option, call, parser_of
from bufferlab.cli.common import UsageError


class Kind(StrEnum):
    RED = "red"
    BLUE = "blue"


GIVEN: dict[str, Any] = {}


def verb(
    kind: Annotated[Kind, Argument(help="Which: 50 % are red.")] = Kind.RED,
    least_rate: Annotated[float, Option(help="A rate.")] = 0.5,
    count: Annotated[int | None, Option("--number", metavar="N", help="How many.")] = None,
    values: Annotated[list[str] | None, Option("--set", help="Repeatable.")] = None,
    out: Annotated[Path | None, Option(help="Where.", show_default=False)] = None,
    quiet: Annotated[bool, Option("--quiet", help="Say nothing.")] = False,
) -> None:
    """Do something.

    At
    length:
      as it is
    """
    GIVEN.update(kind=kind, least_rate=least_rate, count=count, values=values, out=out, quiet=quiet)


def strict(name: Annotated[str, Argument()], rate: Annotated[str, Option()]) -> None:
    """Need both."""
    GIVEN.update(name=name, rate=rate)


def given(*args: str) -> dict[str, Any]:
    GIVEN.clear()
    call(verb, "lab verb", args)
    return dict(GIVEN)


def test_what_is_not_given_keeps_its_default() -> None:
    expected = {
        "kind": Kind.RED,
        "least_rate": 0.5,
        "count": None,
        "values": None,
        "out": None,
        "quiet": False,
    }
    assert given() == expected


def test_values_have_their_types() -> None:
    found = given("--least-rate=2", "--number", "3", "--out", "a/b", "--quiet", "blue")
    assert found == {
        "kind": Kind.BLUE, "least_rate": 2.0, "count": 3, "values": None, "out": Path("a/b"), "quiet": True,
    }  # fmt: skip
    assert isinstance(found["kind"], Kind)


def test_options_stand_before_and_behind_arguments_and_lists_grow() -> None:
    assert given("--set", "a=1", "blue", "--set", "b=-2")["values"] == ["a=1", "b=-2"]
    assert given("blue", "--number", "-3")["count"] == -3
    assert given("--set", "-a", "--set=--quiet", "--set", "--quiet")["values"] == ["-a", "--quiet", "--quiet"]


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("green",), "argument kind: 'green' is none of red, blue"),
        (("--number", "x"), "argument --number: invalid int value: 'x'"),
        (("--least-rate", "x"), "argument --least-rate: invalid float value: 'x'"),
        (("--number",), "argument --number: expected one argument"),
        (("red", "--least", "1"), "unrecognized arguments: --least 1"),
        (("red", "blue"), "unrecognized arguments: blue"),
        (("--quiet=yes",), "argument --quiet: ignored explicit argument 'yes'"),
    ],
)
def test_bad_usage_names_the_argument_and_the_help(args: tuple[str, ...], says: str) -> None:
    with pytest.raises(UsageError) as told:
        given(*args)
    assert str(told.value) == f"{says} (see 'lab verb --help')"


def test_what_has_no_default_is_required() -> None:
    with pytest.raises(UsageError, match=r"^the following arguments are required: .*--rate"):
        call(strict, "lab strict", ["x"])
    with pytest.raises(UsageError, match=r"^the following arguments are required: .*name"):
        call(strict, "lab strict", ["--rate", "1"])
    call(strict, "lab strict", ["--rate", "1", "x"])
    assert (GIVEN["name"], GIVEN["rate"]) == ("x", "1")


def test_help_says_types_defaults_and_what_is_required() -> None:
    text = parser_of(verb, "lab verb").format_help()
    assert text.startswith("Usage: lab verb [OPTIONS] [kind]\n\nDo something.\n\n")
    assert "\nAt\nlength:\n  as it is\n" in text
    assert "  kind                  Which: 50 % are red. [default: red]\n" in text
    assert "  --least-rate <float>  A rate. [default: 0.5]\n" in text
    assert "  --number N            How many.\n" in text
    assert "  --quiet               Say nothing.\n" in text
    assert "  --rate <str>  [required]\n" in parser_of(strict, "lab strict").format_help().replace("   ", " ")
