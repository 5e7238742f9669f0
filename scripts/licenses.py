"""Writes the licenses of all that a wheel is made of: Rust crates, and the packages that the page holds.

    python scripts/licenses.py FOLDER [FILE]

FOLDER then has `share/doc/bufferlab/third-party-licenses.txt`: what is under which terms, and each text once.
FILE is then the page's bill of materials: the npm packages of which it has parts, as CycloneDX.
"""

from __future__ import annotations

import json
import subprocess
import sys
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

ROOT: Final = Path(__file__).parents[1]
PLACE: Final = Path("share", "doc", "bufferlab", "third-party-licenses.txt")
CRATES: Final = frozenset({"bufferlab-python", "bufferlab-web"})
"""What is compiled into a wheel: the extension, and the page's engine."""
COMPILED_IN: Final = frozenset({"svelte", "esm-env", "clsx"})
"""Packages that npm has for building only, of which Svelte's compiler puts parts into the page."""
TEXTS: Final = ("license", "licence", "copying", "unlicense", "notice")


@dataclass(frozen=True)
class Part:
    """Something of others.

    Attributes:
        name: Its name and version.
        license: The SPDX expression that it states.
        texts: The texts that come with it.
    """

    name: str
    license: str
    texts: tuple[str, ...]


def main(folder: Path) -> None:
    """Write the file."""
    path = folder / PLACE
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document([*crates(), *packages()]), encoding="utf-8")


def document(parts: list[Part]) -> str:
    """A list of all parts, then the texts, each once with those whose it is."""
    whose: dict[str, list[str]] = {}
    lines = ["Bufferlab is under the Apache License 2.0. A wheel also has parts of these:", ""]
    for part in parts:
        lines.append(f"{part.name}: {part.license}{'' if part.texts else ' (no text comes with it)'}")
        for text in part.texts:
            whose.setdefault(text, []).append(part.name)
    for text, names in whose.items():
        lines += ["", "=" * 100, ", ".join(names), "-" * 100, text]
    return "\n".join(lines) + "\n"


def crates() -> Iterator[Part]:
    """The crates that are compiled into a wheel; what only tests and builds need is not."""
    asked = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", _platform()]
    report = json.loads(subprocess.run(asked, cwd=ROOT, capture_output=True, text=True, check=True).stdout)  # noqa: S603
    about = {each["id"]: each for each in report["packages"]}
    needs = {each["id"]: list(_needed(each)) for each in report["resolve"]["nodes"]}
    found: set[str] = set()
    left = [each["id"] for each in report["packages"] if each["name"] in CRATES]
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left += needs[one]
    for each in sorted((about[one] for one in found), key=lambda crate: (crate["name"], crate["version"])):
        if each["source"]:
            folder = Path(each["manifest_path"]).parent
            yield Part(f"{each['name']} {each['version']}", each["license"], _texts(folder))


def packages() -> Iterator[Part]:
    """The packages of which the page has parts; none without a page."""
    for name, each in of_the_page().items():
        folder = ROOT / "web" / "node_modules" / name
        if folder.is_dir():
            yield Part(f"{name} {each['version']} (npm)", each["license"], _texts(folder))


def of_the_page() -> dict[str, dict[str, Any]]:
    """The packages of which the page has parts, by name, as the lock file has them."""
    lock = json.loads((ROOT / "web" / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    named = ((place.removeprefix("node_modules/"), each) for place, each in lock.items() if place)
    return {name: each for name, each in named if not each.get("dev") or name in COMPILED_IN}


def bill() -> dict[str, Any]:
    """The page's bill of materials: all of it is from the lock file, so the same sources give the same."""
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {"component": {"type": "application", "name": "bufferlab-web"}},
        "components": [_component(name, each) for name, each in sorted(of_the_page().items())],
    }


def _component(name: str, package: dict[str, Any]) -> dict[str, Any]:
    algorithm, _, digest = package["integrity"].partition("-")
    address = f"pkg:npm/{quote(name, safe='/')}@{package['version']}"
    return {
        "type": "library",
        "bom-ref": address,
        "name": name,
        "version": package["version"],
        "hashes": [{"alg": algorithm.upper().replace("SHA", "SHA-"), "content": b64decode(digest).hex()}],
        "licenses": [{"expression": package["license"]}],
        "purl": address,
    }


def _needed(node: dict[str, Any]) -> Iterator[str]:
    for each in node["deps"]:
        if any(kind["kind"] is None for kind in each["dep_kinds"]):
            yield each["pkg"]


def _platform() -> str:
    report = subprocess.run(["rustc", "-vV"], capture_output=True, text=True, check=True).stdout  # noqa: S607
    return next(line.partition(": ")[2] for line in report.splitlines() if line.startswith("host: "))


def _texts(folder: Path) -> tuple[str, ...]:
    files = sorted(
        each for each in folder.iterdir() if each.name.lower().startswith(TEXTS) and each.is_file()
    )
    return tuple(each.read_text(encoding="utf-8").replace("\r\n", "\n").strip("\n") for each in files)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
    for name in sys.argv[2:]:
        Path(name).write_text(json.dumps(bill(), indent=2) + "\n", encoding="utf-8")
