"""What `bufferlab validate` does with its options: comparisons, their tables and pages."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path

import polars as pl
import typer
from rich.markdown import Markdown

from bufferlab.cli.common import FAILED, print_json, print_rich, say
from bufferlab.cli.refereeing import Wanted, deliver_referee
from bufferlab.cli.running import runner_of, say_kept
from bufferlab.errors import InputError
from bufferlab.evidence import Request
from bufferlab.evidence.documents import bundled_documents, reproductions_of
from bufferlab.evidence.kernels import report as kernel_report
from bufferlab.evidence.kernels.study import compare as compare_with_kernel
from bufferlab.evidence.ns2 import SettingOutcome, Validation
from bufferlab.evidence.ns2 import validate as validate_ns2
from bufferlab.evidence.ns2.report import save, summary, update_docs
from bufferlab.evidence.pages import replace_study, save_study
from bufferlab.evidence.report import marker, part_of
from bufferlab.experiment.runner import Runner
from bufferlab.experiment.store.studies import Study
from bufferlab.files import make_folder
from bufferlab.render.grid import Column, Grid


def validate_all(
    what: str,
    *,
    quick: bool,
    only: list[str],
    out: Path,
    docs: Path | None,
    as_json: bool,
    draw: int | None,
    count: int | None,
    against: str,
    threads: int | None,
    engine: str,
    ray_address: str | None,
    store: Path | None,
    fresh: bool,
) -> None:
    """Compare with ns-2, or make the figures of a document of our own.

    Raises:
        InputError: An option cannot be used.
        OutputError: A folder cannot be written.
        typer.Exit: Settings differ for reasons that no experiment shows.
    """
    if only and what != "ns2":
        raise InputError("goes with ns2", key="--only", value=only[0], accepted="validate ns2 --only TEXT")
    make_folder(out)  # before any work is wasted
    runner = runner_of(
        threads=threads, engine=engine, ray_address=ray_address, store=store or out / "runs", fresh=fresh
    )
    with runner.study(Study("validate", what)):
        if what == "referee":
            wanted = Wanted(draw, count, against, quick=quick)
            deliver_referee(wanted, runner, out, docs, as_json=as_json)
            say(f"saved in {out}")
        elif what == "kernel":
            _kernel(runner, out, docs, as_json=as_json)
        elif what != "ns2":
            _document(what, Request(quick=quick, shared=runner), out, docs, as_json=as_json)
        else:
            result = validate_ns2(quick=quick, only=only, runner=runner)
    if what != "ns2":
        say_kept(runner)
        return
    save(result, out)
    if docs is not None:
        update_docs(result, docs)
    if as_json:
        print_json(
            {
                "format": "bufferlab-validation",
                "format_version": 1,
                "summary": summary(result.frame, quick=result.quick),
                "comparisons": result.frame.to_dicts(),
                "skipped": [
                    {"scenario": setting.scenario, "setting": setting.title, "reason": reason}
                    for setting, reason in result.skipped
                ],
            }
        )
    else:
        _print(result)
    say(f"saved in {out}")
    say_kept(runner)
    if result.unexplained:
        raise typer.Exit(FAILED)


def _kernel(runner: Runner, out: Path, docs: Path | None, *, as_json: bool) -> None:
    """Simulate the settings that a kernel's runs are recorded of, save and show how many agree."""
    frame = compare_with_kernel(runner)
    kernel_report.save(frame, out)
    if docs is not None:
        kernel_report.update_docs(frame, docs)
    text = kernel_report.markdown(frame)
    _deliver("bufferlab-kernel-grid", {"comparisons": frame}, text, out, as_json=as_json)


def _document(name: str, request: Request, out: Path, docs: Path | None, *, as_json: bool) -> None:
    """Make the figures of a document of our own, save them, and show their claims and tables."""
    (document,) = (each for each in bundled_documents() if each.name == name)
    done = [each.function(request) for each in reproductions_of(document)]
    text = part_of(document, done)
    tables = {each.points: each.tables[each.points] for each in done}
    (figure,) = (figure for each in done for figure in each.figures.values())
    save_study(out / f"{name}.md", text, tables, figure)
    if docs is not None:
        replace_study(docs, text, marker(document), figure, f"{docs.stem}.png")
    claims = pl.concat([each.comparison for each in done])
    _deliver(f"bufferlab-{name}", {**tables, "claims": claims}, text, out, as_json=as_json)


def _deliver(kind: str, frames: Mapping[str, pl.DataFrame], text: str, out: Path, *, as_json: bool) -> None:
    if as_json:
        tables = {
            name: [{key: _finite(value) for key, value in row.items()} for row in frame.iter_rows(named=True)]
            for name, frame in frames.items()
        }
        print_json({"format": kind, "format_version": 1, **tables})
    else:
        print_rich(Markdown(text))
    say(f"saved in {out}")


def _finite(value: object) -> object:
    """JSON has neither NaN nor infinity."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _print(result: Validation) -> None:
    rows = []
    for outcome in result.outcomes:
        worst = max(outcome.comparisons, key=lambda each: abs(each.difference) / each.margin)
        row = [outcome.setting.scenario, outcome.setting.title, outcome.row_class.name, _verdict(outcome)]
        rows.append([*row, worst.figure.label, f"{worst.ours:.5g}", f"{worst.theirs:.5g}"])
    texts = [Column(head, "left", wraps=True) for head in ("setting", "class", "agrees", "worst metric")]
    print_rich(Grid(["scenario", *texts[:1]], [*texts[1:], "ours", "ns-2"], rows))
    print_rich(summary(result.frame, quick=result.quick))


def _verdict(outcome: SettingOutcome) -> str:
    if outcome.agrees:
        return "yes"
    if outcome.unexplained:
        return "NO"
    return "no, explained" if outcome.explained else "undecided"
