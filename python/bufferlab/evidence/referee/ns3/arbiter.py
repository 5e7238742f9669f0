"""What a real Linux kernel makes of the settings that are drawn for ns-3: whom it is nearer to.

The kernel is given the setting without the hosts' noise, which it does not take, and with its own segments
and timers; so is our side of the comparison. A kernel's RED takes other parameters, and is left out.

`python -m bufferlab.evidence.referee.ns3.arbiter --rows FILE` runs what a file lacks; with `--ours` it runs
our side of what the file has again, after the simulator has changed. That takes no kernel.
"""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Final

import polars as pl

from bufferlab.evidence.ns2.judging import Verdict
from bufferlab.evidence.ns2.reference import Setting
from bufferlab.evidence.pages import markdown_table
from bufferlab.evidence.referee.ns3.draw import drawn
from bufferlab.evidence.referee.ns3.simulate import scenario_of
from bufferlab.evidence.referee.program import arguments
from bufferlab.stats import estimate

SEEDS: Final = 4

_COLUMNS: Final = ("setting", "figure", "kernel", "kernel_ci95", "ours", "ours_ci95")
_METRICS: Final = {"utilization": "utilization", "wait_mean_ms": "delay_packets", "loss": "loss"}
"""Figures of the referee by the metrics of a comparison with the kernel."""

_OURS: Final = "Bufferlab"
_LEFT_OUT: Final = frozenset({"red"})
_GIVEN: Final = ("name", "count", "rtt", "start", "congestion", "ecn")
_WIDTH: Final = {"utilization": ".3f", "delay_packets": ".3g", "loss": ".2%"}
_LABELS: Final = {"utilization": "utilization", "delay_packets": "mean wait, packet times", "loss": "loss"}


@dataclass(frozen=True)
class Ruling:
    """A figure of a setting as a kernel has it, and as our side has it without noise.

    Attributes:
        kernel: The kernel's mean.
        ours: Ours.
    """

    kernel: float
    ours: float


def for_kernel(setting: Setting) -> dict[str, Any]:
    """The scenario of a setting that a kernel takes: Linux hosts and Linux's FQ-CoDel, without noise."""
    scenario = scenario_of(setting)
    queue = scenario["links"][0]["queue"]
    if setting.option("queue") == "fq_codel":
        # the kernel looks at what waits in all queues, ns-3 at the flow's own
        queue["codel_backlog"] = "all"
    flows = [{key: group[key] for key in _GIVEN if key in group} for group in scenario["flows"]]
    return {
        "run": {**scenario["run"], "stack": "linux"},
        "links": scenario["links"][:1],
        "flows": [{**group, "jitter": "0 s"} for group in flows],
    }


def shipped() -> Path:
    """The file of the package with a kernel's figures."""
    return Path(str(resources.files("bufferlab.evidence.referee") / "data" / "kernel-ns3-draw-1.csv"))


def rulings(file: Path) -> dict[tuple[str, str], Ruling]:
    """The figures in a file by the setting's arguments and the figure's name; none if there is no file."""
    if not file.exists():
        return {}
    with file.open(encoding="utf-8", newline="") as stream:
        rows = csv.DictReader(line for line in stream if not line.startswith("#"))
        return {
            (row["setting"], row["figure"]): Ruling(float(row["kernel"]), float(row["ours"])) for row in rows
        }


def judged(frame: pl.DataFrame, known: Mapping[tuple[str, str], Ruling] | None = None) -> Iterator[str]:
    """Whom the kernel is nearer to where we and ns-3 differ largely, as a part of a page.

    Args:
        frame: One row a setting and figure.
        known: The kernel's figures; default those of the package.
    """
    rows = list(_ruled(frame, rulings(shipped()) if known is None else known))
    if not rows:
        return
    head = ("setting", "figure", "ns-3", "Linux", "Bufferlab, without noise", "the kernel is nearer to")
    yield f"**{_counted(rows)}.**\n"
    yield markdown_table(head, rows)


def summary(frame: pl.DataFrame) -> str:
    """The same in a clause."""
    return _counted(list(_ruled(frame, rulings(shipped()))))


def _counted(rows: Sequence[Sequence[str]]) -> str:
    ours = sum(row[-1] == _OURS for row in rows)
    return (
        f"In {ours} of {len(rows)} large differences that a Linux kernel was asked about, it is nearer to "
        f"{_OURS} than to ns-3"
    )


def _ruled(frame: pl.DataFrame, known: Mapping[tuple[str, str], Ruling]) -> Iterator[list[str]]:
    large = frame.filter(pl.col("verdict") == str(Verdict.LARGE))
    for row in large.sort("number").iter_rows(named=True):
        ruling = known.get((row["setting"], row["figure"]))
        if ruling is not None:
            is_ours = abs(ruling.ours - ruling.kernel) < abs(row["theirs"] - ruling.kernel)
            shown = _WIDTH[row["figure"]]
            values = [format(each, shown) for each in (row["theirs"], ruling.kernel, ruling.ours)]
            name = f"{row['number']}: {row['agent']}"
            yield [name, _LABELS[row["figure"]], *values, _OURS if is_ours else "ns-3"]


def add(setting: Setting, file: Path) -> None:
    """Run one setting here and in the kernel, and append its figures."""
    from bufferlab.studies.crosscheck import crosscheck  # noqa: PLC0415 - slow to import

    append(setting, crosscheck(for_kernel(setting), seeds=SEEDS).document()["rows"], file)


def append(setting: Setting, compared: list[dict[str, Any]], file: Path) -> None:
    """Append the figures of a comparison with the kernel."""
    lines = []
    for each in compared:
        figure = _METRICS.get(each["metric"])
        if figure is None:
            continue
        unit = _packet_ms(setting) if figure == "delay_packets" else 1.0
        names = ("kernel", "kernel_ci95", "simulator", "simulator_ci95")
        lines.append(",".join([arguments(setting), figure, *(f"{each[name] / unit:.6g}" for name in names)]))
    with file.open("a", encoding="utf-8") as stream:
        if stream.tell() == 0:
            stream.write(",".join(_COLUMNS) + "\n")
        stream.write("".join(f"{line}\n" for line in lines))
        stream.flush()
        os.fsync(stream.fileno())


def renew(numbers: Mapping[str, Setting], file: Path, word: str = "") -> None:
    """Measure our side of a file's settings again; the kernel's figures stay.

    Args:
        numbers: The settings by their arguments.
        file: The file, which is replaced.
        word: Only settings whose arguments have this word.
    """
    from bufferlab.experiment.run import run  # noqa: PLC0415 - slow to import
    from bufferlab.studies.crosscheck import COMPARED  # noqa: PLC0415

    chosen = dict.fromkeys(name for name, _ in rulings(file) if word in name and name in numbers)
    fresh: dict[tuple[str, str], list[str]] = {}
    for name in chosen:
        setting = numbers[name]
        results = list(run(for_kernel(setting), seeds=SEEDS))
        for each in COMPARED:
            figure = _METRICS.get(each.name)
            if figure is None:
                continue
            known = estimate([each.of(result) for result in results])
            unit = _packet_ms(setting) if figure == "delay_packets" else 1.0
            fresh[name, figure] = [f"{(value or 0.0) / unit:.6g}" for value in (known.mean, known.half_width)]
    lines = file.read_text(encoding="utf-8").splitlines()
    for index, line in enumerate(lines):
        cells = line.split(",")
        cells[4:] = fresh.get((cells[0], cells[1] if len(cells) > 1 else ""), cells[4:])
        lines[index] = ",".join(cells)
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _packet_ms(setting: Setting) -> float:
    return setting.wire_bytes * 8 / setting.rate_bps * 1e3


def main() -> None:
    """Run what is missing."""
    parser = argparse.ArgumentParser(description="Run the settings drawn for ns-3 in a Linux kernel.")
    parser.add_argument("--rows", type=Path, required=True, help="CSV file that the figures are appended to")
    parser.add_argument("--draw", type=int, default=1, help="seed of the draw (default: %(default)s)")
    parser.add_argument("--count", type=int, default=30, help="settings (default: %(default)s)")
    parser.add_argument(
        "--ours", action="store_true", help="measure our side of the file again, not the kernel's"
    )
    parser.add_argument("--only", default="", help="with --ours: settings whose arguments have this word")
    given = parser.parse_args()
    if given.ours:
        every = [drawn(given.draw, number) for number in range(1, given.count + 1)]
        renew({arguments(setting): setting for setting in every}, given.rows, given.only)
        return
    known = {setting for setting, _ in rulings(given.rows)}
    for number in range(1, given.count + 1):
        setting = drawn(given.draw, number)
        if arguments(setting) not in known and setting.option("queue") not in _LEFT_OUT:
            add(setting, given.rows)


if __name__ == "__main__":
    main()
