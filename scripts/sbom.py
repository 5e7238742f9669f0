"""Checks the installed package's bills of materials: Rust crates, and the npm packages of its page.

Each part has its version and license.
"""

from __future__ import annotations

import json
import sys
from importlib.metadata import files
from pathlib import Path
from typing import Any, Final

LOCK: Final = Path(__file__).parents[1] / "web" / "package-lock.json"


def main() -> int:
    """Read the CycloneDX documents beside the package; say what they lack."""
    paths = files("bufferlab") or []
    boms = [path for path in paths if path.match("*.dist-info/sboms/*.cyclonedx.json")]
    found = {path.name: json.loads(path.read_text("utf-8"))["components"] for path in boms}
    has_page = any(path.match("bufferlab/web/page/index.html") for path in paths)
    problem = _problem(dict(found), has_page=has_page)
    if problem:
        sys.stderr.write(f"sbom: {problem}\n")
        return 1
    for name, parts in sorted(found.items()):
        sys.stdout.write(f"{name}: {len(parts)} components, each with version and license\n")
    return 0


def _problem(found: dict[str, list[dict[str, Any]]], *, has_page: bool) -> str:
    lacking = [
        each["name"]
        for parts in found.values()
        for each in parts
        if not (each.get("version") and each.get("licenses"))
    ]
    if lacking:
        return f"without version or license: {lacking}"
    page = {each["name"]: each["version"] for each in found.pop("page.cyclonedx.json", [])}
    locked = json.loads(LOCK.read_text("utf-8"))["packages"] if has_page else {}
    asked = {place.removeprefix("node_modules/") for place, each in locked.items() if not each.get("dev")}
    lacking = sorted(asked - {""} - set(page))
    others = [name for name, version in page.items() if locked[f"node_modules/{name}"]["version"] != version]
    if lacking or others:
        return f"of the page, without a line: {lacking}; of another version than in the lock file: {others}"
    (crates,) = found.values() if len(found) == 1 else [[]]
    return "" if len(crates) >= 50 else f"there must be one of crates beside the page's: {sorted(found)}"


if __name__ == "__main__":
    sys.exit(main())
