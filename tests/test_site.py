"""The site has every document and every figure, and its links lead to what it has."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from bufferlab.cli import VERBS

ROOT: Final = Path(__file__).parents[1]
MKDOCS: Final = Path(sys.executable).with_name("mkdocs")
OFFSITE: Final = re.compile(r"""(?:src|href)=["']?(?:https?:)?//[^"'\s>]*\.(?:css|js|woff2?)""")


@pytest.fixture(scope="module")
def stage() -> Path:
    subprocess.run([sys.executable, ROOT / "scripts" / "site.py"], check=True, capture_output=True)
    return ROOT / "target" / "site"


def test_all_documents_are_in_its_contents(stage: Path) -> None:
    listed = set(re.findall(r": ([\w/.-]+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))
    assert listed == {path.relative_to(stage).as_posix() for path in stage.rglob("*.md")}


def test_the_gallery_has_the_documents_figures(stage: Path) -> None:
    shown = set(re.findall(r"\(images/([\w.-]+)\)", (stage / "docs" / "gallery.md").read_text()))
    used = "".join(path.read_text() for path in (ROOT / "docs").glob("*.md"))
    assert shown == {
        path.name
        for path in (ROOT / "docs" / "images").iterdir()
        if f"]({path.parent.name}/{path.name})" in used
    }
    assert len(shown) > 10


def test_every_command_is_in_its_reference(stage: Path) -> None:
    text = (stage / "docs" / "cli.md").read_text()
    assert re.findall(r"^## (\w+)$", text, re.MULTILINE) == list(VERBS)
    assert text.count("Usage: bufferlab") == len(VERBS)


def test_links_lead_to_files_that_come_along(stage: Path) -> None:
    for path in stage.rglob("*.md"):
        text = re.sub(r"```.*?```|`[^`]*`", "", path.read_text(), flags=re.DOTALL)
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
            if "://" not in target and target != "../lab/index.html":
                assert (path.parent / target).is_file(), (path.name, target)


@pytest.mark.skipif(not MKDOCS.exists(), reason="needs mkdocs, which `make site` installs")
def test_it_is_built_without_a_complaint_and_loads_nothing_of_others(stage: Path, tmp_path: Path) -> None:
    assert stage.is_dir()
    command = [str(MKDOCS), "build", "--strict", "--quiet", "--site-dir", str(tmp_path / "site")]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    pages = list((tmp_path / "site").rglob("*.html"))
    assert len(pages) > 30
    assert [path for path in pages if OFFSITE.search(path.read_text())] == []
    scripts = [path.read_text() for path in (tmp_path / "site" / "assets").rglob("*.js")]
    assert scripts and not [text for text in scripts if "unpkg.com" in text]
