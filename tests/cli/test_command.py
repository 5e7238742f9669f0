"""How the command starts and ends, whatever the verb."""

from __future__ import annotations

import json
import os
import subprocess
import sys
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
def test_help_names_every_verb_with_a_whole_line(
    bufferlab: Command, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ended = bufferlab(*args)
    assert "..." not in ended.out.partition("Commands:")[2]
    assert ended.status == 0
    assert ended.err == ""
    for verb in cli.VERBS:
        assert f"\n  {verb} " in ended.out


@pytest.mark.parametrize("verb", cli.VERBS)
def test_every_verb_has_help(bufferlab: Command, verb: str) -> None:
    ended = bufferlab(verb, "--help")
    assert ended.status == 0
    assert ended.out.startswith(f"Usage: bufferlab {verb} ")


@pytest.mark.parametrize("verb", ["advise", "run", "size", "compare", "sweep"])
def test_verbs_that_simulate_say_how_they_differ(
    bufferlab: Command, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = bufferlab(verb, "--help").out
    about = out.partition("Arguments:")[0]
    assert sum(other in about for other in {"advise", "run", "size", "compare", "sweep"} - {verb}) >= 3


@pytest.mark.parametrize("verb", cli.VERBS)
def test_every_verb_has_three_examples(bufferlab: Command, verb: str) -> None:
    out = bufferlab(verb, "--help").out
    examples = out.partition("Examples:\n")[2].splitlines()
    assert sum(line.startswith(f"    bufferlab {verb}") for line in examples) == 3


@pytest.mark.parametrize(
    ("line", "ways"),
    [
        ("bufferlab swe", {"sweep"}),
        ("bufferlab size --max", {"--max-loss", "--max-delay"}),
        ("bufferlab reproduce scaling/", {"scaling/twins", "scaling/shorter"}),
        ("bufferlab advise --platform ios", {"ios-xe", "ios-xr"}),
        ("bufferlab configure --platform ju", {"junos"}),
        ("bufferlab advise --for t", {"throughput", "transfers"}),
        ("bufferlab advise --queues fifo,fq", {"fifo,fq_codel", "fifo,fq_pie"}),
    ],
)
def test_a_shell_learns_how_a_line_may_go_on(line: str, ways: set[str]) -> None:
    asked = {"_BUFFERLAB_COMPLETE": "complete_bash", "COMP_WORDS": line}
    words = {"COMP_CWORD": str(len(line.split()) - 1)}
    ended = subprocess.run(
        [sys.executable, "-m", "bufferlab"],
        env=os.environ | asked | words,
        capture_output=True,
        text=True,
        check=True,
    )
    assert set(ended.stdout.split()) == ways


@pytest.mark.parametrize(
    ("args", "meant"),
    [
        (("reproduce", "splitbuf/fig1"), "(did you mean 'splitbuff/fig1'?)"),
        (("reproduce", "heterogenous"), "(did you mean 'heterogeneous'?)"),
        (("run", "small.toml", "--set", "botleneck.rate=1 Mbps"), "(did you mean 'bottleneck'?)"),
        (("run", "small.toml", "--set", "bottleneck.queue=fqcodel"), "(did you mean 'fq_codel'?)"),
        (("compare", "small.toml", "--queues", "fifo,cdel"), "(did you mean 'codel'?)"),
        (("run", "small.toml", "--set", "bottleneck.rate=10 mbps"), "(did you mean 'Mbps'?)"),
        (("run", "small.toml", "--set", "bottleneck.loss=1 %"), "(did you mean 0.01?)"),
        (("siz", "small.toml"), "Did you mean 'size'?"),
    ],
)
def test_a_mistake_says_what_was_meant(bufferlab: Command, args: tuple[str, ...], meant: str) -> None:
    ended = bufferlab(*args)
    assert ended.status == 2
    assert meant in ended.line()


@pytest.mark.parametrize("rate", ["10 Mbps", "10 Mbit/s", "10 Mbit", "10M", "0.01G"])
def test_rates_have_their_usual_spellings(bufferlab: Command, rate: str) -> None:
    ended = bufferlab("run", "small.toml", "--json", "--set", f"bottleneck.rate={rate}")
    assert json.loads(ended.out)["resolved"]["links"][0]["rate_bps"] == 10_000_000


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
def test_a_full_standard_output_is_reported_once(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with Path("/dev/full").open("w") as full:
        monkeypatch.setattr("sys.stdout", full)
        assert cli.main(["size", "--rate", "1 Mbps", "--rtt", "10 ms", "--flows", "2", "--theory"]) == 1
    assert capfd.readouterr().err == (
        "bufferlab: standard output: cannot be written (No space left on device)\n"
    )
