"""Checks the installed package's bill of materials: every Rust crate, with its version and license."""

from __future__ import annotations

import json
import sys
from importlib.metadata import files


def main() -> int:
    """Read the CycloneDX document that maturin put beside the package; say what it lacks."""
    boms = [path for path in files("bufferlab") or [] if path.match("*.dist-info/sboms/*.cyclonedx.json")]
    if len(boms) != 1:
        sys.stderr.write(f"sbom: {len(boms)} documents beside the package; there must be one\n")
        return 1
    components = json.loads(boms[0].read_text("utf-8"))["components"]
    lacking = [each["name"] for each in components if not (each.get("version") and each.get("licenses"))]
    if lacking or len(components) < 50:
        sys.stderr.write(f"sbom: {len(components)} components; without version or license: {lacking}\n")
        return 1
    sys.stdout.write(f"{boms[0].name}: {len(components)} components, each with version and license\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
