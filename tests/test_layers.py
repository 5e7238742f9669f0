"""Arrows between layers only point down, and there is no circle (ARCHITECTURE.md)."""

from __future__ import annotations

import ast
import functools
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path

import pytest

from bufferlab import display

ROOT = Path(__file__).parent.parent
CRATES = {
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
    "bench": {"capture", "congestion", "qdisc", "simulator", "transport", "units"},
}

PACKAGE = ROOT / "python" / "bufferlab"
BASE = {"_core", "errors", "files", "stats", "progress", "display"}
SCENARIO = {"_scenario_types", "plan", "resolved", "scenario", "units"}
LAYERS = (
    BASE, SCENARIO, {"configure"}, {"results"}, {"theory"}, {"experiment"}, {"studies"}, {"render"},
    {"evidence"}, {"bufferlab"}, {"cli", "__main__"},
)  # fmt: skip
"""From the bottom up; "bufferlab" is the package's own file, with its public names."""

OPTIONAL = {"pandas"}
"""What users have if they want its tables."""

PURE = {"theory": BASE, "configure": BASE | SCENARIO}
"""Layers that need only these of those below them."""

LOADERS = {"display", "bufferlab", "cli", "experiment.fingerprint", "evidence.hooks"}
"""Modules that import others by name at run time, so that nothing here sees it."""


def test_every_crate_depends_on_lower_layers_only() -> None:
    for manifest in sorted((ROOT / "crates").glob("*/Cargo.toml")):
        table = tomllib.loads(manifest.read_text())
        named = {name for name in table.get("dependencies", {}) if name.startswith("bufferlab-")}
        used = {name.removeprefix("bufferlab-") for name in named}
        assert used <= CRATES[manifest.parent.name], manifest


def test_every_crate_has_a_place() -> None:
    assert {path.parent.name for path in (ROOT / "crates").glob("*/Cargo.toml")} == set(CRATES)


def name_of(path: Path) -> str:
    """A module's name below the package: "results.summary"; "bufferlab" for the package itself."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts) or "bufferlab"


MODULES = {name_of(path): path for path in PACKAGE.rglob("*.py")}


def imported(tree: ast.AST) -> Iterator[str]:
    """What a module imports of the package, anywhere in it, also for type checkers only."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            package, _, rest = name.partition(".")
            if package == "bufferlab":
                known = rest in MODULES or rest == "_core"
                yield rest if known else rest.rpartition(".")[0] or "bufferlab"


@functools.cache
def arrows() -> Mapping[str, set[str]]:
    return {name: {*imported(ast.parse(path.read_text()))} - {name} for name, path in MODULES.items()}


def layer(module: str) -> int:
    top = module.partition(".")[0]
    return next(index for index, layer in enumerate(LAYERS) if top in layer)


def test_every_module_has_a_place() -> None:
    tops = {name.partition(".")[0] for name in MODULES}
    assert tops <= set().union(*LAYERS)


def test_no_arrow_points_up() -> None:
    upward = [
        f"{module} -> {other}"
        for module, others in arrows().items()
        for other in others
        if layer(other) > layer(module)
    ]
    assert upward == []


@pytest.mark.parametrize("name", PURE)
def test_pure_layers_need_little(name: str) -> None:
    for module, others in arrows().items():
        if module.partition(".")[0] == name:
            assert {other.partition(".")[0] for other in others} <= PURE[name] | {name}, module


def test_there_is_no_circle() -> None:
    graph = {module: {*others} for module, others in arrows().items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_packages_that_are_imported_are_dependencies() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    required = {*project["dependencies"], *project["optional-dependencies"]["ray"]}
    known = {"bufferlab", *OPTIONAL, *sys.stdlib_module_names}
    known |= {re.split(r"[^\w-]", each)[0] for each in required}
    others = {
        name: used - known
        for name, path in MODULES.items()
        if (used := set(packages(ast.parse(path.read_text())))) - known
    }
    assert others == {}


def packages(tree: ast.AST) -> Iterator[str]:
    """The packages that a module imports, anywhere in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def test_few_modules_import_by_name() -> None:
    users = {name for name, path in MODULES.items() if "import_module" in path.read_text()}
    assert users <= LOADERS


def test_views_are_above_what_they_show() -> None:
    for shown, view in {**display.VIEWS, **display.FIGURES}.items():
        import_module(view)
        assert layer(view.removeprefix("bufferlab.")) == layer("render")
        if shown.startswith("bufferlab."):
            import_module(shown)
            assert layer(shown.removeprefix("bufferlab.")) < layer("render")
