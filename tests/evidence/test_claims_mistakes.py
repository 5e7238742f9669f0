"""Mistakes in claims files: each names the file, the key and what is accepted."""

from __future__ import annotations

from pathlib import Path

import pytest

import bufferlab
from bufferlab.cli import main
from bufferlab.errors import InputError
from bufferlab.evidence.reading import read_document

from .conftest import SCENARIO, rewrite


def test_a_claim_about_a_point_that_no_run_has_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rewrite(folder, "setting = { buffer_packets = 20 }", "setting = { buffer_packets = 19 }")
    message = (
        f"{folder.resolve()}/claims.toml: 'claims[0] (busy).setting': buffer_packets = 19 selects no point "
        "of 'fig2'; accepted: buffer_packets = 5; buffer_packets = 20"
    )
    with pytest.raises(InputError) as refused:
        bufferlab.reproduce(f"{folder}/fig2", progress=False)
    assert str(refused.value) == message
    rewrite(
        folder, 'tables = "own:more"\n', ""
    )  # without it the points are known before anything is simulated
    assert main(["reproduce", str(folder), "--quick", "--out", str(folder / "results")]) == 2
    assert message in capsys.readouterr().err
    assert not list((folder / "results").glob("*/comparison.csv"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "format_version = 1",
            "format_version = 2",
            r"claims.toml: format_version: 2 is not a known version; accepted: 1",
        ),
        ('title = "A title"', "title = 3", "document.title: 3 is not a text; accepted: a text"),
        (
            'title = "Utilization"',
            'titel = "x"',
            r"figures.fig2.titel: is not a known key \(did you mean 'title'\?\); accepted: title",
        ),
        ('seeds = "2 if buffer_packets == 20 else 1"', "seeeds = 5", r"runs.lone.seeeds: .*'seeds'"),
        ("value = 0.9", "value = nan", r"claims\[0\].value: nan is not finite"),
        ("value = 0.9", "value = -inf", r"claims\[0\].value: -inf is not finite"),
        ('value = 0.9\nbound = ">"', 'value = [0.1, inf]\nbound = "range"', "is not a range"),
        ('"lone.toml"', '"../outside.toml"', "runs.lone.scenario: '../outside.toml' is not in the folder"),
        (
            'what = "rate"',
            'what = "rate"\nunits = "x"',
            r"claims\[2\].units: is not a known key \(did you mean 'unit'\?\)",
        ),
        ('"lone.toml"', '"alone.toml"', "runs.lone.scenario: 'alone.toml' is not in the folder 'scenarios'"),
        ("1 - utilization", "1 -", "runs.lone.derive.idle: '1 -' is not an expression"),
        (
            'runs = "lone"',
            'runs = "loan"',
            "figures.fig2.runs: 'loan' are not among the runs; accepted: lone",
        ),
        (
            'bound = ">"',
            'bound = ">="',
            r"claims\[0\].bound: '>=' is not a bound; accepted: =, <, >, about, range",
        ),
        ('because = "a guess"\n', "", r"claims\[1\].because: is required"),
        ('"10 %"', '"some"', r"claims\[1\].tolerance: 'some' is not a tolerance"),
        ('id = "idle"', 'id = "busy"', r"claims\[1\].id: 'busy' is given twice"),
        (
            "setting = { buffer_packets = 20 }",
            "setting = { buffer = 20 }",
            r"claims\[0\].setting.buffer: is not a key",
        ),
        ('"own:draw"', '"own.draw"', "figures.fig2.draw: 'own.draw' is not a function"),
        ("[document]", "[document", "claims.toml: is not TOML"),
    ],
)
def test_mistakes_name_file_key_and_what_is_accepted(folder: Path, old: str, new: str, message: str) -> None:
    rewrite(folder, old, new)
    (folder / "outside.toml").write_text(SCENARIO)
    with pytest.raises(InputError, match=message):
        read_document(folder)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("queues.bottleneck.all.utilization", "queues.bottleneck.all.use", "runs.lone.measure.utilization"),
        ("1 - utilization", "1 - use", "runs.lone.derive.idle: 'use' is not a known name"),
        (
            "1 - utilization",
            "at(utilization, bufer_packets = 5)",
            r"claims.toml: runs.lone.derive.idle: 'bufer_packets' is not a key of the points "
            r"\(did you mean 'buffer_packets'\?\); accepted: buffer_packets",
        ),
        (
            "1 - utilization",
            "at(utilization, buffer_packets = 6)",
            r"claims.toml: runs.lone.derive.idle: 6 is not a value of 'buffer_packets'; accepted: 5, 20",
        ),
        (
            "{100 * utilization:.0f}",
            "{at(utilization, buffer_packets = 6)}",
            r"claims.toml: figures.fig2.show\[0\]: 6 is not a value of 'buffer_packets'",
        ),
        ('quantity = "idle"', 'quantity = "idel"', r"claims\[1\] \(idle\)"),
        ('"own:draw"', '"own:paint"', "'own:paint' cannot be found"),
        ('"own:draw"', '"own:fail"', "'own:fail' failed with ValueError: no picture"),
        (
            '"own:draw"',
            '"own:five"',
            r"claims.toml: figures.fig2.draw: 'own:five' returned a value of type int; accepted: a function",
        ),
        (
            "{duration_s:g} s",
            "{durations_s:g} s",
            r"claims.toml: figures.fig2.notes\[0\]: 'durations_s'",
        ),
        ('"own:more"', '"own:five"', "'own:five' returned a value of type .* returns frames by table name"),
        (
            "derive.idle",
            'measure_with = "own:five"\nderive.idle',
            "'own:five' returned a value of type int; accepted: a function that returns the columns",
        ),
        ("theirs {them.idle}", "theirs {them.idel}", r"claims\[1\] \(idle\).*idel"),
        ('not_comparable = "The', 'why = "{our}"\nnot_comparable = "The', r"claims\[2\] \(words\).*'our'"),
        ('"lone.toml"', "\"{'../outside'}.toml\"", r"'../outside.toml' is not in the folder 'scenarios'"),
        (
            '"bottleneck.buffer" =',
            '"bottleneck.bufer" =',
            r"^\S+claims.toml: runs.lone.set.bottleneck.bufer: is not a known key",
        ),
    ],
)
def test_mistakes_that_only_a_run_shows(folder: Path, old: str, new: str, message: str) -> None:
    rewrite(folder, old, new)
    (folder / "outside.toml").write_text(SCENARIO)
    with pytest.raises(InputError, match=message):
        bufferlab.reproduce(f"{folder}/fig2", quick=True, progress=False)


def test_a_document_of_ones_own_takes_no_name_of_ours(folder: Path) -> None:
    """Its results would be written over those of the other."""
    renamed = folder.rename(folder.parent / "splitbuff")
    with pytest.raises(InputError, match=r"document.name: 'splitbuff' is the name of a document that comes"):
        bufferlab.reproduce(f"{renamed}/fig2", quick=True, progress=False)
    rewrite(renamed, "[document]", '[document]\nname = "another"')
    assert bufferlab.reproduce(f"{renamed}/fig2", quick=True, progress=False).name == "another/fig2"
