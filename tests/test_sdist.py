"""The source distribution has all that its lock file names; else `pip install` of it fails: it is locked."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]
MATURIN: Final = Path(sys.executable).with_name("maturin")

pytestmark = pytest.mark.skipif(
    not (MATURIN.exists() and shutil.which("cargo") and (ROOT / ".git").exists()),
    reason="needs maturin, cargo and the repository",
)


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    subprocess.run([MATURIN, "sdist", "--out", folder], cwd=ROOT, check=True, capture_output=True)
    (made,) = folder.glob("*.tar.gz")
    with tarfile.open(made) as archive:
        archive.extractall(folder, filter="data")
    return made.with_name(made.name.removesuffix(".tar.gz"))


def test_every_crate_of_the_workspace_comes_along(unpacked: Path) -> None:
    crates = {path.relative_to(ROOT) for path in ROOT.glob("crates/*/Cargo.toml")}
    assert crates == {path.relative_to(unpacked) for path in unpacked.glob("crates/*/Cargo.toml")}


def test_the_lock_file_needs_no_change(unpacked: Path) -> None:
    asked = ["cargo", "tree", "--locked", "--offline", "--package", "bufferlab-python", "--depth", "0"]
    ended = subprocess.run(asked, cwd=unpacked, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_a_user_needs_no_more_than_what_comes_along(unpacked: Path) -> None:
    for name in ("README.md", "LICENSE", "pyproject.toml", "python/bufferlab/__main__.py"):
        assert (unpacked / name).is_file()
    assert not list(unpacked.rglob("*.so"))
