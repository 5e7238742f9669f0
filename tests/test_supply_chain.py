"""The Rust dependencies have licenses and sources that deny.toml accepts; what it skips is still needed."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).parents[1]
RULES: Final = tomllib.loads((ROOT / "deny.toml").read_text(encoding="utf-8"))

pytestmark = pytest.mark.skipif(not shutil.which("cargo"), reason="needs cargo")


@pytest.fixture(scope="module")
def packages() -> list[dict[str, Any]]:
    asked = ["cargo", "metadata", "--format-version", "1", "--locked", "--offline"]
    ended = subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=False)
    if ended.returncode:
        pytest.skip(f"cargo has not all packages here: {ended.stderr[:200]}")
    found: list[dict[str, Any]] = json.loads(ended.stdout)["packages"]
    return found


def accepted(expression: str, allowed: frozenset[str]) -> bool:
    """Whether an SPDX expression of AND, OR and brackets can be met; '/' is an old OR."""
    choices = expression.replace("/", " OR ")
    if "(" in choices:
        inner = re.sub(r"\(([^()]*)\)", lambda found: "yes" if accepted(found[1], allowed) else "no", choices)
        return accepted(inner, allowed | {"yes"})
    return any(all(part.strip() in allowed for part in each.split(" AND ")) for each in choices.split(" OR "))


@pytest.mark.parametrize(
    ("expression", "good"),
    [
        ("MIT", True),
        ("GPL-3.0", False),
        ("GPL-3.0 OR MIT", True),
        ("MIT AND GPL-3.0", False),
        ("(MIT OR Apache-2.0) AND Unicode-3.0", True),
        ("(MIT OR Apache-2.0) AND GPL-3.0", False),
        ("MIT/Apache-2.0", True),
    ],
)
def test_expressions_are_read(expression: str, *, good: bool) -> None:
    assert accepted(expression, frozenset({"MIT", "Apache-2.0", "Unicode-3.0"})) == good


def test_every_license_is_accepted(packages: list[dict[str, Any]]) -> None:
    allowed = frozenset(RULES["licenses"]["allow"])
    assert len(packages) > 50
    refused = {
        each["name"]: each["license"] for each in packages if not accepted(each["license"] or "", allowed)
    }
    assert not refused


def test_every_crate_is_ours_or_the_registry_s(packages: list[dict[str, Any]]) -> None:
    others = [
        each["name"] for each in packages if each["source"] and not each["source"].startswith("registry+")
    ]
    assert not others


def test_crates_with_two_versions_are_those_that_are_named(packages: list[dict[str, Any]]) -> None:
    twice = {name for name, count in Counter(each["name"] for each in packages).items() if count > 1}
    assert twice == {each["name"] for each in RULES["bans"]["skip"]}


def test_the_installed_package_says_what_it_is_made_of(packages: list[dict[str, Any]]) -> None:
    asked = [sys.executable, str(ROOT / "scripts" / "sbom.py")]
    ended = subprocess.run(asked, capture_output=True, text=True, check=False)
    found = re.fullmatch(r"\S+: (\d+) components, each with version and license\n", ended.stdout)
    assert found, ended.stderr
    assert int(found[1]) <= len(packages)


def test_the_page_says_what_it_is_made_of(tmp_path: Path) -> None:
    def written(name: str) -> bytes:
        subprocess.run(
            [sys.executable, ROOT / "scripts" / "licenses.py", tmp_path, tmp_path / name], check=True
        )
        return (tmp_path / name).read_bytes()

    bom = written("page.cyclonedx.json")
    assert bom == written("again.cyclonedx.json")
    document = json.loads(bom)
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.5")
    parts = {each["name"]: each for each in document["components"]}
    assert {"@decimalturn/toml-patch", "comlink", "svelte", "uplot"} <= set(parts)
    locked = json.loads((ROOT / "web" / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    allowed = frozenset(RULES["licenses"]["allow"])
    for name, each in parts.items():
        assert each["version"] == locked[f"node_modules/{name}"]["version"]
        assert each["purl"] == f"pkg:npm/{name.replace('@', '%40')}@{each['version']}"
        assert accepted(each["licenses"][0]["expression"], allowed)
        assert [(hashed["alg"], len(hashed["content"])) for hashed in each["hashes"]] == [("SHA-512", 128)]


def test_the_fuzzers_lock_has_what_the_crates_ask_for() -> None:
    """It is a workspace of its own, so nothing but `make fuzz` would say that its lock is old."""
    locked = tomllib.loads((ROOT / "fuzz" / "Cargo.lock").read_text(encoding="utf-8"))["package"]
    own = {
        each["name"]: each
        for each in locked
        if "source" not in each and each["name"] != "bufferlab-fuzz-targets"
    }
    assert "bufferlab-fuzz" in own
    for name, package in own.items():
        manifest = ROOT / "crates" / name.removeprefix("bufferlab-") / "Cargo.toml"
        asked = tomllib.loads(manifest.read_text(encoding="utf-8")).get("dependencies", {})
        held = {each.split()[0] for each in package.get("dependencies", ())}
        assert held == set(asked), name
