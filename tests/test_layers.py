"""Arrows between layers only point down (ARCHITECTURE.md)."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
ALLOWED = {
    "units": set(),
    "parameters": {"units"},
    "estimator": {"units"},
    "qdisc": {"estimator", "parameters", "units"},
    "congestion": {"parameters", "units"},
    "transport": {"congestion", "parameters", "units"},
    "simulator": {"congestion", "estimator", "parameters", "qdisc", "transport", "units"},
    "capture": {"qdisc", "simulator", "transport", "units"},
    "scenario": {"congestion", "parameters", "qdisc", "simulator", "transport", "units"},
    "python": {"capture", "scenario", "simulator", "units"},
    "dev": {"scenario"},
    "bench": {"capture", "congestion", "qdisc", "simulator", "units"},
}


def test_every_crate_depends_on_lower_layers_only() -> None:
    for manifest in sorted((ROOT / "crates").glob("*/Cargo.toml")):
        table = tomllib.loads(manifest.read_text())
        named = {name for name in table.get("dependencies", {}) if name.startswith("bufferlab-")}
        used = {name.removeprefix("bufferlab-") for name in named}
        assert used <= ALLOWED[manifest.parent.name], manifest


def test_every_crate_has_a_place() -> None:
    assert {path.parent.name for path in (ROOT / "crates").glob("*/Cargo.toml")} == set(ALLOWED)
