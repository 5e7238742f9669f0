"""Plants bugs in a sample of places and tells which of them no test notices: `make mutants`.

A mutant is a program with one wrong operator, condition or function body (see `mutation.rust`). All
mutants of the sample are compiled at once into a copy of the checkout, each behind a number, and then chosen
one by one: that takes one build for all, where cargo-mutants takes one for each. A mutant is caught if a test
of its own crate fails, or takes ten times as long as it should; else the tests of a crate that uses it are
asked.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from scripts.mutation.build import Copy
from scripts.mutation.rust import Mutant, mutants_of

ROOT: Final = Path(__file__).parents[1]
PAGE: Final = ROOT / "docs/robustness.md"
CRATES: Final = ("transport", "qdisc", "congestion", "estimator", "capture")
_USERS: Final = {"capture": "bufferlab-observe"}
"""Whose tests are asked last; the simulator's by default."""
_BYTES: Final = 4 * 2**30
_ROW: Final = re.compile(r"^\| (crates/\S+) \| `(.+)` \| .+ \|$")


def main() -> int:
    """Read the arguments, plant, test, tell."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--crate", action="append", choices=CRATES, help="crates to plant in (all)")
    options.add_argument("--count", type=int, default=40, help="mutants a crate (40)")
    options.add_argument("--seed", type=int, default=1, help="which ones are drawn (1)")
    options.add_argument("--least", type=float, default=0.95, help="share that must be caught (0.95)")
    options.add_argument("--own", action="store_true", help="ask the crate's own tests only")
    given = options.parse_args()
    drawn = [each for crate in given.crate or CRATES for each in draw(crate, given.count, given.seed)]
    users = sorted({_USERS.get(_crate(each), "bufferlab-simulator") for each in drawn})
    copy = Copy(ROOT, ROOT / "target/mutants", drawn)
    packages = sorted({f"bufferlab-{_crate(each)}" for each in drawn} | set([] if given.own else users))
    programs = copy.build(packages)
    patience = {path: _seconds(path) for paths in programs.values() for path in paths}
    is_good = True
    for crate in given.crate or CRATES:
        viable = {number: each for number, each in copy.viable.items() if _crate(each) == crate}
        asked = [programs[f"bufferlab-{crate}"]]
        asked += [] if given.own else [programs[_USERS.get(crate, "bufferlab-simulator")]]
        left = survivors(viable, asked, patience)
        known = equivalent()
        real = {number: each for number, each in left.items() if (each.path, each.what) not in known}
        count, caught = len(viable) - len(left) + len(real), len(viable) - len(left)
        is_good &= caught >= given.least * count
        alike = len(left) - len(real)
        sys.stdout.write(f"{crate}: {caught} of {count} caught, {alike} equivalent, seed {given.seed}\n")
        for each in real.values():
            sys.stdout.write(f"  {each.path}:{each.line} {each.what}\n")
        sys.stdout.flush()
    return 0 if is_good else 1


def draw(crate: str, count: int, seed: int) -> list[Mutant]:
    """A sample of a crate's mutants, the same for the same seed and source."""
    found = [
        each
        for path in sorted((ROOT / "crates" / crate / "src").rglob("*.rs"))
        if path.stem not in {"tests", "conformance"} and "tests" not in path.parts and not _is_test(path)
        for each in mutants_of(path, ROOT)
    ]
    # a larger sample has the smaller one in it
    random.Random(f"{crate} {seed}").shuffle(found)  # noqa: S311 - no secret
    return sorted(found[:count], key=lambda each: (each.path, each.start, each.what))


def survivors(
    mutants: dict[int, Mutant], asked: Sequence[Sequence[Path]], patience: dict[Path, float]
) -> dict[int, Mutant]:
    """Those under which all programs pass; the tests of the mutant's module are quick, and asked first."""
    left = dict(mutants)
    for programs in asked:
        for number, each in mutants.items():
            if number not in left:
                continue
            own = any(_fails(path, number, patience[path], _module(each)) for path in programs)
            if own or any(_fails(path, number, patience[path]) for path in programs):
                del left[number]
            sys.stderr.write(f"\r{len(left)} not caught")
    sys.stderr.write("\n")
    return left


def equivalent() -> set[tuple[str, str]]:
    """The changes that docs/robustness.md says change nothing."""
    lines = PAGE.read_text("utf-8").splitlines() if PAGE.exists() else []
    return {(match[1], match[2].replace("\\|", "|")) for line in lines if (match := _ROW.match(line))}


def _crate(each: Mutant) -> str:
    return Path(each.path).parts[1]


def _is_test(path: Path) -> bool:
    """Whether another file says that it is compiled for tests only."""
    parents = (path.parent / "mod.rs", path.parent / "lib.rs", path.parent.with_suffix(".rs"))
    declared = re.compile(rf"#\[cfg\(test\)\]\s*(pub(\(crate\))? )?mod {path.stem};")
    return any(each.exists() and declared.search(each.read_text("utf-8")) for each in parents)


def _seconds(path: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    if _fails(path, 0, 3600):
        raise SystemExit(f"{path.name} fails without a mutant")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 10 * (after.ru_utime - before.ru_utime) + 5


def _module(each: Mutant) -> str:
    """The module of its crate that a mutant is in, as names of tests begin: `bbr::`."""
    name = Path(each.path).parts[3].removesuffix(".rs")
    return "" if name == "lib" else f"{name}::"


def _fails(path: Path, number: int, most_s: float, tests: str = "") -> bool:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(most_s) + 1, int(most_s) + 2))
        resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))

    settings = os.environ | {"MUTANT": str(number), "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "1"}
    folder = ROOT / "target/mutants/crates" / _folder(path)
    ended = subprocess.run(  # noqa: S603 - our own tests
        [path, tests],
        cwd=folder,
        env=settings,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=limit,
        check=False,
    )
    return ended.returncode != 0


def _folder(path: Path) -> str:
    """The folder of a program's crate; `suite` is the simulator's."""
    name = path.name.rsplit("-", 1)[0].removeprefix("bufferlab_")
    return name if (ROOT / "crates" / name).is_dir() else "simulator"


if __name__ == "__main__":
    sys.exit(main())
