"""The source distribution has all that its lock file names; else `pip install` of it fails: it is locked."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
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
    for name in ("README.md", "LICENSE", "pyproject.toml", "python/bufferlab/__main__.py", "scripts/web.sh"):
        assert (unpacked / name).is_file()
    assert not list(unpacked.rglob("*.so"))


RECIPE: Final = "packaging/conda/recipe.yaml"
CONDA: Final = {"matplotlib": "matplotlib-base"}
"""What conda-forge calls what PyPI calls otherwise: that is matplotlib without a window."""


def listed(recipe: str, section: str) -> dict[str, str]:
    """The packages of a section of the recipe's requirements, with the versions that each accepts."""
    found = re.search(
        rf"^  {section}:\n((?:    .*\n)+)", recipe[recipe.index("requirements:") :], re.MULTILINE
    )
    assert found, section
    names = [line.strip().removeprefix("- ") for line in found[1].splitlines() if "#" not in line]
    return {name: version for name, _, version in (each.partition(" ") for each in names)}


def test_the_conda_recipe_is_of_the_same_package(unpacked: Path) -> None:
    recipe = (unpacked / RECIPE).read_text()
    project = tomllib.loads((unpacked / "pyproject.toml").read_text())["project"]
    version = tomllib.loads((unpacked / "Cargo.toml").read_text())["workspace"]["package"]["version"]
    said = dict(re.findall(r'^ +(\w+): "?([^"\n$]+)"?$', recipe, re.MULTILINE))
    assert (said["name"], said["version"]) == (project["name"], version)
    assert unpacked.name == f"{said['name']}-{said['version']}"
    assert said["summary"] == project["description"]
    assert said["license"] == project["license"]
    assert project["requires-python"] == f">={said['python_min']}"
    pinned = (unpacked / RECIPE).with_name("conda_build_config.yaml").read_text()
    assert re.findall(r'^  - "(.+)"$', pinned, re.MULTILINE) == [said["python_min"]]


def test_the_conda_recipe_needs_what_the_package_needs(unpacked: Path) -> None:
    recipe = (unpacked / RECIPE).read_text()
    asked = tomllib.loads((unpacked / "pyproject.toml").read_text())
    needs = {
        CONDA.get(found[1], found[1]): found[2]
        for each in asked["project"]["dependencies"]
        if (found := re.fullmatch(r"([\w-]+)(.*)", each))
    }
    assert listed(recipe, "run") == needs | {"python": ""}
    host = listed(recipe, "host")
    assert [f"maturin{host.pop('maturin')}"] == asked["build-system"]["requires"]
    for ours in ("python", "python-abi3", "pip"):
        assert host.pop(ours) == ""
    assert host.items() <= needs.items()
    for script in re.findall(r"scripts/[\w.]+", recipe):
        assert (unpacked / script).is_file(), script


def test_the_licenses_of_all_parts_come_along(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "scripts" / "licenses.py", tmp_path], check=True)
    text = (tmp_path / "share/doc/bufferlab/third-party-licenses.txt").read_text()
    listing = text.partition("=" * 100)[0].splitlines()[2:]
    crates = [line.split()[0] for line in listing if line and "(npm)" not in line]
    assert {"pyo3", "serde", "arrow-array", "toml"} < set(crates)
    assert not {"proptest", "bufferlab-python"} & set(crates)
    assert text.count("Copyright (c) 2023-present PyO3 Project") == 1
    if (ROOT / "web" / "node_modules").is_dir():
        packages = {line.split()[0] for line in listing if "(npm)" in line}
        assert {"svelte", "uplot", "comlink", "@decimalturn/toml-patch"} <= packages
        assert not {"vite", "typescript"} & packages


def test_the_image_is_built_from_what_it_copies_only() -> None:
    copied = re.findall(r"^COPY (.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE)
    kept = re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
    assert " ".join(copied).split() == [each for each in kept if each != "dist"]
