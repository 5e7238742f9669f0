"""The list of what can be reproduced, and the command that does it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bufferlab
from bufferlab.cli import main
from bufferlab.errors import InputError
from bufferlab.evidence import all_reproductions, find_reproductions


def test_a_document_names_all_its_figures() -> None:
    assert [each.name for each in find_reproductions("splitbuff/fig1")] == ["splitbuff/fig1"]
    assert all(each.name.startswith("splitbuff/") for each in find_reproductions("splitbuff"))


def test_an_unknown_name_lists_the_known() -> None:
    with pytest.raises(InputError, match="splitbuff/fig1"):
        find_reproductions("splitbuff/fig99")


def test_an_unknown_document_lists_the_documents_only() -> None:
    with pytest.raises(InputError) as refused:
        find_reproductions("splitbuf/fig1")
    problem, _, accepted = str(refused.value).partition("; accepted: ")
    assert problem.endswith("(did you mean 'splitbuff/fig1'?)")
    documents = dict.fromkeys(each.name.partition("/")[0] for each in all_reproductions())
    assert accepted == ", ".join(documents) + ", or a folder with a claims.toml"


def test_the_command_alone_lists(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce"]) == 0
    listed = capsys.readouterr().out
    for each in all_reproductions():
        assert each.name in listed


def test_the_command_lists_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "--json"]) == 0
    names = [each["name"] for each in json.loads(capsys.readouterr().out)["reproductions"]]
    assert names == [each.name for each in all_reproductions()]


def test_bad_names_are_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "nonsense"]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "splitbuff, " in error and "splitbuff/fig1" not in error


def test_a_document_is_no_figure() -> None:
    with pytest.raises(InputError, match="splitbuff/fig1"):
        bufferlab.reproduce("splitbuff")


def test_the_function_returns_frames_and_saves(tmp_path: Path) -> None:
    result = bufferlab.reproduce("splitbuff/fig1", quick=True, seeds=1, progress=False, out=tmp_path)
    assert result.tables["points"].height == 3
    assert (tmp_path / "comparison.csv").exists()


def test_an_unwritable_folder_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert (
        main(["reproduce", "splitbuff/fig1", "--quick", "--seeds", "1", "--out", str(tmp_path / "file")]) == 1
    )
    assert capsys.readouterr().err.count("\n") == 1
