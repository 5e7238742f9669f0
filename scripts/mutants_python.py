"""Plants bugs in a sample of places in Python and tells which no test notices: `make mutants-python`.

One operator, condition or number is changed in a copy of the package; the tests of its part are run on it.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
PARTS: Final = {
    "sizing": ("theory", "tests/theory"),
    "searching": ("studies/least", "tests/studies/least"),
    "results": ("results", "tests/results"),
    "store": ("experiment/store", "tests/experiment"),
}
"""Folders of the package, and of its tests."""

_MOST_S: Final = 600.0

COMPARED: Final = {
    ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "==",
    ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
COMPUTED: Final = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*", ast.FloorDiv: "*", ast.Mod: "+"}


@dataclass(frozen=True)
class Change:
    """One change: of a file, at a line, from bytes to bytes."""

    path: Path
    line: int
    start: int
    end: int
    old: str
    new: str


def main() -> int:
    """Read the arguments, plant, test, tell."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--part", action="append", choices=PARTS, help="parts to plant in (all)")
    options.add_argument("--count", type=int, default=20, help="mutants a part (20)")
    options.add_argument("--seed", type=int, default=1, help="which ones are drawn (1)")
    options.add_argument("--least", type=float, default=0.95, help="share that must be caught (0.95)")
    given = options.parse_args()
    is_good = True
    for part in given.part or PARTS:
        folder, tests = PARTS[part]
        found = [
            each
            for path in sorted((ROOT / "python/bufferlab" / folder).rglob("*.py"))
            for each in changes(path)
        ]
        random.Random(f"{part} {given.seed}").shuffle(found)  # noqa: S311 - no secret
        chosen = found[: given.count]
        with tempfile.TemporaryDirectory() as place:
            package = Path(place) / "python"
            shutil.copytree(ROOT / "python", package)
            if _fails(package, tests):
                sys.stderr.write(f"{tests} fails without a mutant\n")
                return 2
            left = [each for each in chosen if not _caught(each, package, tests)]
        caught = len(chosen) - len(left)
        is_good &= caught >= given.least * len(chosen)
        sys.stdout.write(f"{part}: {caught} of {len(chosen)} caught, seed {given.seed}\n")
        for each in left:
            sys.stdout.write(f"  {each.path.relative_to(ROOT)}:{each.line} {each.old} -> {each.new}\n")
        sys.stdout.flush()
    return 0 if is_good else 1


def changes(path: Path) -> list[Change]:
    """All changes of a file: annotations and texts stay."""
    text = path.read_bytes()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    made = []
    for node, new in _nodes(ast.parse(text)):
        start = starts[node.lineno - 1] + node.col_offset
        end = starts[(node.end_lineno or node.lineno) - 1] + (node.end_col_offset or 0)
        made.append(Change(path, node.lineno, start, end, text[start:end].decode(), new))
    return made


def _nodes(tree: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    # places within f-strings are not known before Python 3.12
    inner = {
        id(each) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for each in ast.walk(node)
    }
    for node in (each for each in ast.walk(tree) if id(each) not in inner):
        if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARED and len(node.ops) == 1:
            left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
            yield node, f"(({left}) {COMPARED[type(node.ops[0])]} ({right}))"
        elif isinstance(node, ast.BoolOp):
            word = "or" if isinstance(node.op, ast.And) else "and"
            yield node, f"({f' {word} '.join(f'({ast.unparse(each)})' for each in node.values)})"
        elif isinstance(node, ast.BinOp) and type(node.op) in COMPUTED:
            left, right = ast.unparse(node.left), ast.unparse(node.right)
            yield node, f"(({left}) {COMPUTED[type(node.op)]} ({right}))"
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            yield node, f"(bool({ast.unparse(node.operand)}))"
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, int | float)
            and not isinstance(node.value, bool)
        ):
            yield node, repr(node.value + 1)


def _caught(each: Change, package: Path, tests: str) -> bool:
    path = package / each.path.relative_to(ROOT / "python")
    whole = path.read_bytes()
    path.write_bytes(whole[: each.start] + each.new.encode() + whole[each.end :])
    try:
        return _fails(package, tests)
    finally:
        path.write_bytes(whole)


def _fails(package: Path, tests: str) -> bool:
    settings = os.environ | {"PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"}
    asked = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", tests]
    try:
        ended = subprocess.run(  # noqa: S603 - our own tests
            asked, cwd=ROOT, env=settings, capture_output=True, timeout=_MOST_S, check=False
        )
    except subprocess.TimeoutExpired:
        return True
    return ended.returncode != 0


if __name__ == "__main__":
    sys.exit(main())
