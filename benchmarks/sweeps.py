"""Measures sweeps: parallel efficiency, what Ray costs, how long a large store takes to list.

    .venv/bin/python benchmarks/sweeps.py [efficiency] [threads] [ray] [list] [--runs N] [--turns N]

Ratios of wall times of the same work, turn by turn in one go, their medians; other load on the machine counts
against what is measured. Nothing here is a test.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import bufferlab
from bufferlab.experiment.local import processors
from bufferlab.experiment.store import done_row, open_store
from bufferlab.scenario import Scenario
from bufferlab.studies.sweep import sweep

SCENARIO = Path(__file__).parents[1] / "examples" / "published-link.toml"
STORED_RUNS = 100_000


def main() -> None:
    """Measure what the command line names, or everything."""
    parts: dict[str, Callable[[int, int], None]] = {
        "efficiency": efficiency,
        "threads": threads,
        "ray": ray,
        "list": listing,
    }
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", default=[], metavar="|".join(parts))
    parser.add_argument("--runs", type=int, default=100, help="runs of a sweep")
    parser.add_argument("--turns", type=int, default=7)
    given = parser.parse_args()
    for name in given.parts or parts:
        parts[name](given.runs, given.turns)


def efficiency(runs: int, turns: int) -> None:
    """One thread with the work of one processor, and one thread a processor with that of all."""
    count = processors()
    ratios: list[float] = []
    for _ in range(turns):
        alone = wall_s(runs, threads=1)
        ratios.append(alone / wall_s(count * runs, threads=count))
        say(f"  one thread {alone / runs:.3f} s a run; efficiency on {count} processors {ratios[-1]:.3f}")
    say(f"parallel efficiency on {count} processors: {median(ratios):.3f} (bar 0.9)")


def threads(runs: int, turns: int) -> None:
    """Threads of one process against a process for each processor: the same work, as many that want to run.

    What others do on the machine counts for both alike, so this tells what threads cost on a busy one, too.
    """
    count = processors()
    ratios: list[float] = []
    for _ in range(turns):
        apart = processes_s(runs, count)
        ratios.append(apart / wall_s(count * runs, threads=count))
        say(f"  {count} processes {apart:.2f} s; threads are {ratios[-1]:.3f} as fast")
    say(f"threads of one process are {median(ratios):.3f} as fast as {count} processes (bar 0.9)")


def ray(runs: int, turns: int) -> None:
    """The same work by threads and by a local Ray cluster that is up and has done some work before."""
    from bufferlab.experiment.cluster import connect, import_ray  # noqa: PLC0415

    began_s = time.monotonic()
    started = import_ray(local=True)
    connect(started, None)
    say(f"  Ray was up after {time.monotonic() - began_s:.1f} s")
    wall_s(2 * processors(), ray=True)
    walls: list[float] = []
    work: list[float] = []
    for _ in range(turns):
        marks = [family_cpu_s()]
        here = wall_s(2 * runs)
        marks.append(family_cpu_s())
        walls.append(wall_s(2 * runs, ray=True) / here - 1)
        marks.append(family_cpu_s())
        work.append((marks[2] - marks[1]) / (marks[1] - marks[0]) - 1)
        say(f"  threads {here:.2f} s; Ray's overhead {walls[-1]:+.1%}, in processor time {work[-1]:+.1%}")
    started.shutdown()
    say(f"Ray's overhead over threads: {median(walls):+.1%} (bar 10 %), processor time {median(work):+.1%}")


def listing(_runs: int, turns: int) -> None:
    """The command that lists a store of 100,000 runs, from its start to its end."""
    with tempfile.TemporaryDirectory() as folder:
        fill(Path(folder) / "store")
        command = [sys.executable, "-m", "bufferlab", "results", str(Path(folder) / "store")]
        times = [
            took_s([*command, *more]) for more in ([], ["--means"], ["--where", "utilization > 0.99"]) * turns
        ]
    for name, part in (("list", times[::3]), ("--means", times[1::3]), ("--where", times[2::3])):
        say(f"{STORED_RUNS:,} runs, {name}: {median(part):.2f} s (bar 2 s)")


def wall_s(runs: int, *, threads: int | None = None, ray: bool = False) -> float:
    """How long a sweep over that many seeds takes, into a store of its own."""
    with tempfile.TemporaryDirectory() as folder:
        swept = sweep(
            SCENARIO,
            store=folder,
            seeds=runs,
            threads=threads,
            engine="ray" if ray else "local",
            progress=False,
        )
    return swept.wall_s


def processes_s(runs: int, count: int) -> float:
    """How long that many processes take, each with a sweep of one thread, from when all of them are ready."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import sweeps\n"
        "sweeps.wall_s(1, threads=1); print('ready', flush=True); sys.stdin.read(1)\n"
        "sweeps.wall_s(int(sys.argv[2]), threads=1)\n"
    )
    command = [sys.executable, "-c", program, str(Path(__file__).parent), str(runs)]
    started = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # noqa: S603
        for _ in range(count)
    ]
    for process in started:
        if process.stdout is not None:
            process.stdout.readline()
    began_s = time.monotonic()
    for process in started:
        if process.stdin is not None:
            process.stdin.close()
    for process in started:
        process.wait()
    return time.monotonic() - began_s


def fill(directory: Path) -> None:
    """A store of rows of the scenario, each with figures of its own."""
    scenario = Scenario.load(SCENARIO)
    result = bufferlab.run(scenario)[0]
    row = done_row(result)
    chance = random.Random(1)  # noqa: S311
    figures = [name for name, value in row.items() if isinstance(value, float)]
    with open_store(directory, create=True).writer() as writer:
        for number in range(STORED_RUNS):
            changed = {name: row[name] * (1 + chance.random()) for name in figures}
            changed["plan_hash"] = hashlib.sha256(str(number).encode()).hexdigest()
            changed["seed"] = number % 10
            changed["parameters"] = json.dumps({"bottleneck.buffer": f"{number // 10} packets"})
            writer.put(row | changed)


def family_cpu_s() -> float:
    """Processor time of this process and of all that descend from it, as far as they still run (Linux)."""
    parents: dict[int, int] = {}
    ticks: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rpartition(") ")[2].split()
            parents[int(path.parent.name)] = int(fields[1])
            ticks[int(path.parent.name)] = int(fields[11]) + int(fields[12])
    family, more = set[int](), {os.getpid()}
    while more:
        family |= more
        more = {process for process, parent in parents.items() if parent in more} - family
    return sum(ticks[process] for process in family) / os.sysconf("SC_CLK_TCK")


def took_s(command: list[str]) -> float:
    """Wall time of a command."""
    began_s = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603
    return time.monotonic() - began_s


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
