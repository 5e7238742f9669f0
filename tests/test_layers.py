"""Arrows between layers only point down, and there is no circle (ARCHITECTURE.md)."""

from __future__ import annotations

import ast
import functools
import re
import sys
import tomllib
from collections import defaultdict
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
    "forwarder": {"qdisc", "simulator", "units"},
    "observe": {"capture", "estimator", "units"},
    "scenario": {"congestion", "parameters", "qdisc", "simulator", "transport", "units"},
    "python": {"capture", "forwarder", "observe", "scenario", "simulator", "units"},
    "web": {"capture", "congestion", "qdisc", "scenario", "simulator", "transport", "units"},
    "dev": {"scenario"},
    "fuzz": {"capture", "congestion", "observe", "scenario", "simulator"},
    "bench": {"capture", "congestion", "observe", "parameters", "qdisc", "simulator", "transport", "units"},
}

PACKAGE = ROOT / "python" / "bufferlab"
BASE = {"_core", "errors", "files", "swapping", "stats", "log", "progress", "display"}
SCENARIO = {"_scenario_types", "plan", "resolved", "scenario", "units"}
LAYERS = (
    BASE, SCENARIO, {"configure"}, {"results"}, {"theory"}, {"experiment"}, {"kernel"}, {"studies"},
    {"captured"}, {"render"}, {"evidence"}, {"web"}, {"bufferlab", "types"}, {"cli", "__main__"},
)  # fmt: skip
"""From the bottom up; "bufferlab" is the package's own file, with its public names."""

OPTIONAL = {"pandas", "traitlets"}
"""What users have if they want its tables; what anywidget brings."""

PURE = {"theory": BASE, "configure": BASE | SCENARIO}
"""Layers that need only these of those below them."""

LOADERS = {"display", "bufferlab", "types", "cli", "experiment.fingerprint", "evidence.hooks"}
"""Modules that import others by name at run time, so that nothing here sees it."""


def test_every_crate_depends_on_lower_layers_only() -> None:
    for manifest in sorted((ROOT / "crates").glob("*/Cargo.toml")):
        table = tomllib.loads(manifest.read_text())
        named = {name for name in table.get("dependencies", {}) if name.startswith("bufferlab-")}
        used = {name.removeprefix("bufferlab-") for name in named}
        assert used <= CRATES[manifest.parent.name], manifest


def test_every_crate_has_a_place() -> None:
    assert {path.parent.name for path in (ROOT / "crates").glob("*/Cargo.toml")} == set(CRATES)


Name = tuple[str, ...]
"""A Rust module's path in its crate: ("quantity", "law"); () for the crate's root."""

USE = re.compile(r"(pub(?:\([^)]*\))?\s+)?\buse\s+([^;$]+);")
PATH = re.compile(r"\b(?:crate|super|self)(?:::\w+)+")
# clippy sees to it that nothing follows a test module
TESTS_HERE = re.compile(r"#\[cfg\(test\)\]\s*(?:pub\(crate\) )?mod \w+ \{.*", re.DOTALL)
TESTS_ELSEWHERE = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*(?:pub\(crate\) )?mod (\w+);")


class RustModules:
    """The modules of a crate, without tests, and what they import of each other."""

    def __init__(self, source: Path) -> None:
        texts = {}
        for path in source.rglob("*.rs"):
            parts = path.relative_to(source).with_suffix("").parts
            own = parts[-1] in ("mod", "lib", "main")
            texts[parts[:-1] if own else parts] = re.sub(r"//[^\n]*", "", path.read_text())
        tests = [(*name, test) for name, text in texts.items() for test in TESTS_ELSEWHERE.findall(text)]
        kept = {name for name in texts if not any(name[: len(test)] == test for test in tests)}
        self.texts = {name: TESTS_HERE.sub("", texts[name]) for name in kept}
        self.exports = {
            name: {path[-1]: path for public, path in uses(text) if public}
            for name, text in self.texts.items()
        }

    def imported(self, name: Name) -> set[Name]:
        """Modules that one takes items of; where an item is re-exported, the module that has it."""
        paths = [path for _, path in uses(self.texts[name])]
        paths += [tuple(path.split("::")) for path in PATH.findall(self.texts[name])]
        return {module for path in paths if (module := self.absolute(name, path)) is not None}

    def absolute(self, name: Name, path: Name) -> Name | None:
        """Where a path leads from a module; nothing for another crate's."""
        if path[0] == "crate":
            return self.below((), path[1:])
        if path[0] == "super":
            return self.absolute(name[:-1], ("self", *path[1:]))
        if path[0] == "self":
            inner = path[1:]
            return self.absolute(name, inner) if inner[:1] == ("super",) else self.below(name, inner)
        return self.below(name, path) if (*name, path[0]) in self.texts else None

    def below(self, name: Name, path: Name) -> Name | None:
        for index, part in enumerate(path):
            if (*name, part) in self.texts:
                name = (*name, part)
            else:
                exported = self.exports[name].get(part, ())
                found = self.absolute(name, exported + path[index + 1 :]) if exported else None
                return name if found is None else found
        return name

    def siblings(self) -> Siblings:
        return siblings({name: self.imported(name) for name in self.texts})


Siblings = dict[Name, dict[str, set[str]]]


def siblings(imports: Mapping[Name, set[Name]]) -> Siblings:
    """For each module, which of those in it imports which, each with all that is in it."""
    levels: Siblings = defaultdict(lambda: defaultdict(set))
    for name, others in imports.items():
        for other in others:
            same = next((i for i, (a, b) in enumerate(zip(name, other, strict=False)) if a != b), None)
            if same is not None:
                levels[name[:same]][name[same]].add(other[same])
    return levels


def uses(text: str) -> Iterator[tuple[bool, Name]]:
    """Each path that is imported, and whether it is re-exported."""
    for public, tree in USE.findall(text):
        for path in leaves(tree):
            yield bool(public), path


def leaves(tree: str) -> Iterator[Name]:
    """The paths of `a::{b, c::{d, self}}`."""
    head, brace, inner = tree.strip().partition("{")
    start = tuple(part.split(" as ")[0].strip() for part in head.split("::") if part.strip())
    if not brace:
        yield start
        return
    depth, item = 0, ""
    for letter in inner.rstrip().removesuffix("}") + ",":
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            yield from (start + rest for rest in leaves(item) if rest)
            item = ""
        else:
            item += letter


def circle(graph: Mapping[str, set[str]]) -> str:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return " -> ".join(error.args[1])
    return ""


@pytest.mark.parametrize("crate", CRATES)
def test_there_is_no_circle_of_rust_modules(crate: str) -> None:
    """Among modules of one parent, each with all in it; a parent and its modules may use each other."""
    for parent, graph in RustModules(ROOT / "crates" / crate / "src").siblings().items():
        assert not circle(graph), f"in {'::'.join(('crate', *parent))}"


def test_a_circle_of_rust_modules_is_found(tmp_path: Path) -> None:
    files = {
        "lib.rs": "mod a; mod b; mod c;\npub use c::{deep::Thing, m};",
        "a.rs": "use crate::{Thing, b::Other};",
        "b.rs": "#[cfg(test)]\nmod tests { use crate::a::X; }",
        "c/mod.rs": "pub mod deep; mod macros; pub use macros::m;",
        "c/deep.rs": "use crate::{m, b}; fn f() { super::super::b::g() }",
        "c/macros.rs": "macro_rules! m { () => {} } pub(crate) use m;",
    }
    (tmp_path / "c").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert RustModules(tmp_path).siblings() == {
        (): {"a": {"b", "c"}, "c": {"b"}},
        ("c",): {"deep": {"macros"}},
    }
    (tmp_path / "b.rs").write_text("use super::a;")
    assert circle(RustModules(tmp_path).siblings()[()])


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


@pytest.mark.parametrize("folder", [PACKAGE, PACKAGE / "studies"], ids=lambda path: path.name)
def test_the_list_of_layers_is_whole(folder: Path) -> None:
    listed = (ROOT / "ARCHITECTURE.md").read_text().partition("## Layers")[2].partition("## Laws")[0]
    modules = {path.name for path in folder.glob("*.py") if not path.name.startswith("_")}
    packages = {f"{path.parent.name}/" for path in folder.glob("*/__init__.py")}
    assert {name for name in modules | packages if name not in listed} == set()


def test_the_architecture_is_one_page() -> None:
    """Reasons belong in docs/decisions.md, steps in CONTRIBUTING.md."""
    assert len((ROOT / "ARCHITECTURE.md").read_text().splitlines()) <= 90


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
    assert not circle(arrows())


def path_of(module: str) -> Name:
    """ "results.summary" as a path; () for the package itself."""
    return () if module == "bufferlab" else tuple(module.split("."))


def python_siblings(imports: Mapping[str, set[str]]) -> Siblings:
    return siblings({path_of(name): {*map(path_of, others)} for name, others in imports.items()})


def test_there_is_no_circle_of_packages() -> None:
    """Among modules and packages of one parent, each with all in it, as of Rust's modules."""
    for parent, graph in python_siblings(arrows()).items():
        assert not circle(graph), f"in {'.'.join(('bufferlab', *parent))}"


def test_a_circle_of_packages_is_found() -> None:
    imports = {"a.one": {"a.b.two"}, "a.b.two": set[str](), "a.b.three": {"a.c"}, "bufferlab": {"a"}}
    assert python_siblings(imports) == {("a",): {"one": {"b"}, "b": {"c"}}}
    assert not circle(imports)
    imports["a.c"] = {"a.b.two"}
    assert not circle(imports)
    assert circle(python_siblings(imports)["a",])


def test_packages_that_are_imported_are_dependencies() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    required = {
        *project["dependencies"],
        *project["optional-dependencies"]["ray"],
        *project["optional-dependencies"]["notebook"],
    }
    known = {"bufferlab", *OPTIONAL, *sys.stdlib_module_names}
    names = {re.split(r"[^\w-]", each)[0] for each in required}
    known |= {name.removesuffix("-py").replace("-", "_") for name in names}
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
    for module in display.WIDGETS.values():
        import_module(module)
        assert layer(module.removeprefix("bufferlab.")) == layer("web")
