"""Writes metrics.md, python.md, observe-tables.md and a table of kernel.md, in docs/, from what they are of.

With `--check` it only compares.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Final, is_typeddict

import bufferlab
from bufferlab import types
from bufferlab.kernel import keys
from bufferlab.render.grid import Grid
from bufferlab.results.metrics.metric import Dimension, Metric
from bufferlab.results.metrics.registry import DIMENSIONS

DOCS: Final = Path(__file__).parents[1] / "docs"

METRICS_HEAD: Final = """\
# Metrics

Made from the registry, `python/bufferlab/results/metrics`, by `make docs`.

A metric has one name everywhere: in summaries (`--json`, `summary.json`), in the frames of results and their
Parquet files, in stores and `--where`, and in Python. The name ends with the unit of the data; tables and
figures show the unit that is easiest to read. Without the prefix `whole_`, a metric belongs to the measured
window, from the end of the warm-up to the end of the run.

Over several seeds, a summary has the mean of each number. The same name with `_ci95` is half the width of its
95 % confidence interval by Student's t distribution. Where some seeds have no value, the mean is that of the
others, tables say "(1 of 2 runs)", and the same name with `_runs` is how many have one. Of metrics with †
such a mean would leave out the worst, as a run has no value if too few finished in it: then the mean is null,
"unknown" in tables.
"""

CAPTURED_HEAD: Final = """\
# Tables of a capture

Made from `crates/observe/src/observation.rs` by `make docs`.

`bufferlab observe CAPTURE --out FOLDER` writes these tables as Parquet, one file each; in Python they are
attributes of `bufferlab.observe("link.pcap").observation`, as Polars frames.
[docs/observe.md](observe.md) says how the numbers are found. A name ends with its unit, and what is not
known is NaN. Round trips are measured from the place of the capture to one end of the connection and back;
the path's is the sum of both.
"""

CAPTURED: Final = Path(__file__).parents[1] / "crates" / "observe" / "src" / "observation.rs"

PYTHON_HEAD: Final = """\
# Python

Made from the docstrings by `make docs`. Public is what `dir(bufferlab)` and `dir(bufferlab.types)` list, the
same as here, and of that the attributes and methods without an underscore before their name; every other
module, also one that a page here names, may change without notice. `help(bufferlab.run)` says more about a
name.
"""

TYPES_HEAD: Final = """\
## Types that functions take and return

For annotations: `from bufferlab.types import Entry`. Attributes end with their unit where they have one, and
`help(bufferlab.types.Entry)` says what each is.
"""

SCENARIOS_HEAD: Final = """\
## Scenarios as dictionaries

`Scenario.from_dict` takes a `ScenarioDict`, whose keys docs/scenario.md lists. `Scenario.resolved` is a
`ResolvedScenario`, with defaults filled in and numbers in the units that end the keys (`_ps`, `_bps`,
`_bytes`). `Seeded.draws` is what was drawn for the flows of each group. These and their parts are in
`bufferlab.types`, too:
"""


def metrics_page() -> str:
    """docs/metrics.md."""
    return "\n".join([METRICS_HEAD, *map(_dimension, DIMENSIONS)])


def python_page() -> str:
    """docs/python.md."""
    own = _table(bufferlab, [name for name in bufferlab.__all__ if name != "__version__"])
    dictionaries = [name for name in types.__all__ if is_typeddict(getattr(types, name))]
    others = _table(types, [name for name in types.__all__ if name not in dictionaries])
    names = textwrap.fill(", ".join(f"`{name}`" for name in dictionaries), 110)
    return f"{PYTHON_HEAD}\n{own}\n{TYPES_HEAD}\n{others}\n{SCENARIOS_HEAD}{names}.\n"


def kernel_page() -> str:
    """docs/kernel.md with the table of keys."""
    text = (DOCS / "kernel.md").read_text(encoding="utf-8")
    part = re.compile(r"(?<=<!-- generated: keys -->\n).*?(?=<!-- end of generated -->)", re.DOTALL)
    return part.sub(lambda _: f"{keys.table()}\n", text)


def captured_page() -> str:
    """docs/observe-tables.md."""
    parts, said = [CAPTURED_HEAD], ""
    for line in map(str.strip, CAPTURED.read_text(encoding="utf-8").partition("counters!")[0].splitlines()):
        if line.startswith("///"):
            said = f"{said} {line.removeprefix('///').strip()}".strip()
        elif found := re.fullmatch(r"(\w+) of \w+ \{", line):
            parts.append(f"\n## {found[1].lower()}\n\n{said}\n\n| column | meaning |\n| --- | --- |\n")
            said = ""
        elif found := re.fullmatch(r"(\w+): \w+,", line):
            parts.append(f"| `{found[1]}` | {said} |\n")
            said = ""
    return "".join(parts)


PAGES: Final = {
    "metrics.md": metrics_page,
    "python.md": python_page,
    "kernel.md": kernel_page,
    "observe-tables.md": captured_page,
}


def main(check: bool) -> int:
    """Write the pages, or compare them; the exit status."""
    stale = [name for name, page in PAGES.items() if _read(DOCS / name) != page()]
    for name in stale:
        if check:
            sys.stderr.write(f"docs/{name} is not up to date: run make docs\n")
        else:
            (DOCS / name).write_text(PAGES[name](), encoding="utf-8")
    return int(check and bool(stale))


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


def _dimension(dimension: Dimension) -> str:
    heads = ("unit", "shown as", "better", "definition")
    grid = Grid(["name"], heads, [_metric(metric) for metric in dimension.columns])
    return f"## {dimension.name.capitalize()}\n\n{dimension.about}\n\n{grid.markdown()}\n"


def _metric(metric: Metric) -> list[str]:
    shown = metric.label if metric.title else ""
    dagger = " †" if metric.censored_by else ""
    return [f"`{metric.name}`{dagger}", metric.unit.name, shown, metric.better.value, metric.definition]


def _table(module: ModuleType, names: Sequence[str]) -> str:
    rows = [_public(name, getattr(module, name)) for name in names]
    return f"{Grid(['name'], ['what it is'], rows).markdown()}\n"


def _public(name: str, thing: object) -> list[str]:
    line = (inspect.getdoc(thing) or "").partition("\n")[0]
    return [f"`{name}()`" if inspect.isfunction(thing) else f"`{name}`", line]


if __name__ == "__main__":
    sys.exit(main(check="--check" in sys.argv[1:]))
