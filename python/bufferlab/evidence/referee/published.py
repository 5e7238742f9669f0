"""More runs of ns-2 of published settings, or with ties drawn, as rows of the files of evidence/ns2/data.

`python -m bufferlab.evidence.referee.published --help` says how to make them.
"""

from __future__ import annotations

import argparse
import csv
import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Final

from bufferlab.evidence.ns2.equivalent import STANDARD_START_BOUND_S, start_bound_s
from bufferlab.evidence.ns2.reference import MIX, Setting, load_references, ties_drawn
from bufferlab.evidence.referee import program

_MEASURED: Final = tuple(
    f"{name}{kind}{unit}"
    for name, unit in (("goodput", "_mbps"), ("goodput", "_sd_mbps"), ("loss", ""), ("wait", "_ms"))
    for kind in (1, 2)
)
_COUNTED: Final = tuple(
    f"{name}{kind}" for name in ("arrivals", "drops", "timeouts", "window_cuts") for kind in (1, 2)
)
_COLUMNS: Final = (
    "scenario", "cc", "rate_mbps", "pkt_bytes", "n", "rtt1_ms", "rtt2_ms", "buffer_packets", "buffer_rule",
    "seed", "duration_s", "warmup_s", "options", *_MEASURED, "mean_queue_packets", "utilization", *_COUNTED,
)  # fmt: skip
_DIGITS: Final = 6
_OPTIONS: Final = frozenset(
    ("access", "back", "botdelay", "hosts", "spread", "overhead",
     "delack", "window", "singledup", "minrto", "tick", "hdr", "mix")
)  # fmt: skip
_LOCK: Final = threading.Lock()


def settings(
    words: Sequence[str], *, as_they_are: bool = False, options: Mapping[str, str] | None = None
) -> list[Setting]:
    """Published settings whose group or title, and a space, has one of the words; without words all.

    Those that the script cannot run are left out: fack. So are those that have ties drawn already (`shift`).

    Args:
        words: Words.
        as_they_are: Without ties drawn; else with, and only those with the standard start times.
        options: Those of an experiment, in place of the setting's.
    """
    found = []
    for each in load_references():
        setting = each.setting
        if setting.stack == "fack" or not _OPTIONS.issuperset(dict(setting.options)):
            continue
        if not as_they_are and start_bound_s(setting) != STANDARD_START_BOUND_S:
            continue
        chosen = setting if as_they_are else ties_drawn(setting)
        if not words or any(word in f"{chosen.scenario}: {chosen.title} " for word in words):
            given = dict(chosen.options) | dict(options or {})
            found.append(replace(chosen, options=tuple(given.items())))
    return found


def missing(
    chosen: Sequence[Setting], seeds: int, file: Path, first: int = 1
) -> Iterator[tuple[Setting, int]]:
    """Runs that a file lacks: first seeds first."""
    known = set()
    if file.exists():
        with file.open(encoding="utf-8", newline="") as stream:
            rows = csv.DictReader(line for line in stream if not line.startswith("#"))
            known = {(*(row[name] for name in _COLUMNS[:9]), row["options"], row["seed"]) for row in rows}
    for seed in range(first, first + seeds):
        for setting in chosen:
            row = _of_setting(setting, seed)
            if (*(row[name] for name in _COLUMNS[:9]), row["options"], row["seed"]) not in known:
                yield setting, seed


def add(setting: Setting, seed: int, file: Path) -> None:
    """Run ns-2 once and append the row; nothing if a signal ended it."""
    measured = program.run(setting, seed, f"startmax={start_bound_s(setting):g}")
    if measured is None:
        return
    for kind in (1, 2):
        measured[f"loss{kind}"] = measured[f"drops{kind}"] / max(measured[f"arrivals{kind}"], 1.0)
    columns = columns_of(setting)
    row = _of_setting(setting, seed)
    row |= {name: f"{measured[name]:.{_DIGITS}g}" for name in columns if name in measured}
    row |= {name: f"{measured[name]:.0f}" for name in _COUNTED}
    with _LOCK, file.open("a", encoding="utf-8") as stream:
        if stream.tell() == 0:
            stream.write(",".join(columns) + "\n")
        csv.writer(stream, lineterminator="\n").writerow(row[name] for name in columns)
        stream.flush()
        os.fsync(stream.fileno())


def columns_of(setting: Setting) -> tuple[str, ...]:
    """The columns of a setting's row; a mix has the goodput of each of its controls besides."""
    controls = sorted(set(setting.control_of)) if setting.stack == MIX else ()
    return (*_COLUMNS, *(f"goodput_{name}_mbps" for name in controls))


def _of_setting(setting: Setting, seed: int) -> dict[str, str]:
    return {
        "scenario": setting.scenario,
        "cc": setting.stack,
        "rate_mbps": f"{setting.rate_bps / 1e6:.10g}",
        "pkt_bytes": f"{setting.wire_bytes}",
        "n": f"{setting.flows}",
        "rtt1_ms": f"{setting.rtt_ms[0]:.10g}",
        "rtt2_ms": f"{setting.rtt_ms[1]:.10g}",
        "buffer_packets": f"{setting.buffer_packets}",
        "buffer_rule": setting.buffer_rule,
        "seed": f"{seed}",
        "duration_s": f"{setting.duration_s:g}",
        "warmup_s": f"{setting.warmup_s:g}",
        "options": " ".join(f"{name}={value}" for name, value in setting.options),
    }


def main() -> None:
    """Run what is missing."""
    parser = argparse.ArgumentParser(
        description="Run ns-2 again or with drawn ties; a file that has runs gets only others."
    )
    parser.add_argument("words", nargs="*", help="only settings whose group or title has one of these")
    parser.add_argument("--rows", type=Path, required=True, help="CSV file that the runs are appended to")
    parser.add_argument("--again", action="store_true", help="the settings as they are, without drawn ties")
    parser.add_argument(
        "--set", action="append", default=[], help="an option of an experiment: overhead=1e-9"
    )
    parser.add_argument("--first", type=int, default=1, help="first seed (default: %(default)s)")
    parser.add_argument("--seeds", type=int, default=20, help="runs of each setting (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=1, help="runs at a time (default: %(default)s)")
    given = parser.parse_args()
    options = dict(word.split("=", 1) for word in given.set)
    chosen = settings(given.words, as_they_are=given.again, options=options)
    if len({columns_of(setting) for setting in chosen}) > 1:
        parser.error("mixes have columns of their own: the words must choose mixes only, or none")
    work = list(missing(chosen, given.seeds, given.rows, given.first))
    with ThreadPoolExecutor(given.jobs) as pool:
        for done in [pool.submit(add, setting, seed, given.rows) for setting, seed in work]:
            done.result()


if __name__ == "__main__":
    main()
