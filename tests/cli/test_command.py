"""How the command starts and ends, whatever the verb."""

from __future__ import annotations

from pathlib import Path

import pytest

import bufferlab as package
from bufferlab import cli
from bufferlab.cli import common

from .conftest import Command


def test_version(bufferlab: Command) -> None:
    ended = bufferlab("--version")
    assert (ended.status, ended.out, ended.err) == (0, f"bufferlab {package.__version__}\n", "")


@pytest.mark.parametrize("args", [(), ("--help",), ("-h",)])
def test_help_names_every_verb(bufferlab: Command, args: tuple[str, ...]) -> None:
    ended = bufferlab(*args)
    assert ended.status == 0
    assert ended.err == ""
    for verb in cli.VERBS:
        assert f"\n  {verb} " in ended.out


@pytest.mark.parametrize("verb", cli.VERBS)
def test_every_verb_has_help(bufferlab: Command, verb: str) -> None:
    ended = bufferlab(verb, "--help")
    assert ended.status == 0
    assert ended.out.startswith(f"Usage: bufferlab {verb} ")


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("frobnicate",), "frobnicate"),
        (("--frobnicate",), "--frobnicate"),
        (("run",), "scenario"),
        (("run", "small.toml", "--seeds", "many"), "'--seeds'"),
        (("run", "small.toml", "again"), "again"),
    ],
)
def test_bad_usage_is_one_line_and_status_2(bufferlab: Command, args: tuple[str, ...], says: str) -> None:
    ended = bufferlab(*args)
    assert ended.status == 2
    assert ended.out == ""
    assert ended.line().startswith("bufferlab: ")
    assert says in ended.line()
    assert "--help'" in ended.line()


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> int:
    def fail(_verb: str | None) -> None:
        raise error

    monkeypatch.setattr(cli, "build_app", fail)
    return cli.main(["run"])


def test_a_bug_is_one_line_that_asks_for_a_report(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert failing(monkeypatch, RuntimeError("the engine failed:\nat once")) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "RuntimeError: the engine failed: at once" in err
    assert "BUFFERLAB_DEBUG=1" in err


def test_debugging_shows_the_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(common.DEBUG_VARIABLE, "1")
    assert failing(monkeypatch, RuntimeError("broken")) == 1
    assert "Traceback (most recent call last)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "status", "says"),
    [
        (package.InputError("is wrong", key="rate"), 2, "bufferlab: rate: is wrong"),
        (package.OutputError("out: cannot be written"), 1, "bufferlab: out: cannot be written"),
        (OSError(28, "No space left on device", "out/x"), 1, "bufferlab: out/x: No space left on device"),
        (KeyboardInterrupt(), 130, "bufferlab: interrupted"),
        (common.Terminated("terminated"), 143, "bufferlab: terminated"),
        (MemoryError(), 1, "bufferlab: out of memory"),
    ],
)
def test_every_end_has_its_status(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    error: BaseException,
    status: int,
    says: str,
) -> None:
    assert failing(monkeypatch, error) == status
    assert capsys.readouterr().err.startswith(says)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_standard_output_is_told_once(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr("sys.stdout", full)
        assert cli.main(["--version"]) == 1
    assert capfd.readouterr().err == "bufferlab: No space left on device\n"
