"""Manual pages and completions say what the command says, and nothing in them is markup by accident."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
import typer

from bufferlab.cli import VERBS, build_app

ROOT: Final = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def share(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("manual")
    subprocess.run([sys.executable, ROOT / "scripts" / "manual.py", folder], check=True)
    return folder / "share"


def test_every_command_and_option_is_in_a_page(share: Path) -> None:
    pages = share / "man" / "man1"
    assert {path.stem for path in pages.iterdir()} == {"bufferlab", *(f"bufferlab-{verb}" for verb in VERBS)}
    overview = (pages / "bufferlab.1").read_text()
    for verb in VERBS:
        assert f"bufferlab\\-{verb}" in overview
        text = (pages / f"bufferlab-{verb}.1").read_text().replace("\\-", "-")
        command = typer.main.get_command(build_app(verb)).commands[verb]  # type: ignore[attr-defined]
        options = [name for each in command.params for name in each.opts if name.startswith("--")]
        assert [name for name in options if name not in text] == [], verb


@pytest.mark.skipif(not shutil.which("groff"), reason="needs groff")
def test_groff_has_nothing_to_say_against_them(share: Path) -> None:
    pages = sorted((share / "man" / "man1").iterdir())
    command = ["groff", "-man", "-Tutf8", "-ww", *map(str, pages)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "bufferlab advise" in ended.stdout


def test_shells_find_their_completion(share: Path) -> None:
    bash = share / "bash-completion" / "completions" / "bufferlab"
    zsh = share / "zsh" / "site-functions" / "_bufferlab"
    fish = share / "fish" / "vendor_completions.d" / "bufferlab.fish"
    assert "complete -o default -F _bufferlab_completion bufferlab" in bash.read_text()
    assert zsh.read_text().startswith("#compdef bufferlab")
    assert "complete --command bufferlab" in fish.read_text()


def test_they_are_the_same_each_time(share: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "scripts" / "manual.py", tmp_path], check=True)
    made = {path.relative_to(share): path.read_bytes() for path in share.rglob("*") if path.is_file()}
    again = tmp_path / "share"
    assert made == {path.relative_to(again): path.read_bytes() for path in again.rglob("*") if path.is_file()}
