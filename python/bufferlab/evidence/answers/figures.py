"""The tables and the figure of docs/answers.md."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Final

import polars as pl
from matplotlib.figure import Figure

from bufferlab.errors import InputError
from bufferlab.evidence.answers.asking import SEEDS, Judge
from bufferlab.evidence.answers.questions import questions
from bufferlab.evidence.documents import Work
from bufferlab.evidence.reproduction import Request
from bufferlab.render.plots.style import Drawing
from bufferlab.studies.size import rules
from bufferlab.studies.size.published import in_theory

NEAR_PERCENT: Final = 10.0
"""What `size` promises of an answer by default: its resolution."""


def size_tables(work: Work) -> dict[str, pl.DataFrame]:
    """A row an answer of `size`."""
    return {"size": _asked(work.request)["size"]}


def advise_tables(work: Work) -> dict[str, pl.DataFrame]:
    """A row an answer of `advise`."""
    return {"advise": _asked(work.request)["advise"]}


def rules_tables(work: Work) -> dict[str, pl.DataFrame]:
    """A row a rule's buffer."""
    return {"rules": _asked(work.request)["rules"]}


def summary_tables(work: Work) -> dict[str, pl.DataFrame]:
    """A row for `size`, for `advise` and for each rule."""
    tables = _asked(work.request)
    rows = [_summary("`bufferlab size`", tables["size"]), _summary("`bufferlab advise`", tables["advise"])]
    if not tables["rules"].is_empty():
        rows += [_summary(str(rule), own) for (rule,), own in sorted(tables["rules"].group_by("rule"))]
    return {"summary": pl.DataFrame(rows, infer_schema_length=None)}


def draw(work: Work) -> Figure:
    """Each answer over the true buffer, beside the rules'."""
    tables = _asked(work.request)
    figure = Drawing(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    series = [("rules", tables["rules"], ".", "0.6"), ("size", tables["size"], "o", "C0")]
    series.append(("advise --queues fifo", tables["advise"], "x", "C1"))
    for label, rows, symbol, color in series:
        found = _answered(rows)
        if not found.is_empty():
            axes.plot(found["true_packets"], found["ratio"], symbol, color=color, label=label, markersize=4)
    axes.axhspan(1, 1 + NEAR_PERCENT / 100, color="C2", alpha=0.3, label="the truth, and 10 % more")
    axes.set(xscale="log", yscale="log", xlabel="true smallest buffer, packets", ylabel="answer / truth")
    axes.legend()
    return figure


@lru_cache(maxsize=1)
def _asked(request: Request) -> dict[str, pl.DataFrame]:
    """All questions, answered and judged; of a quick request a few, asked once."""
    rows: dict[str, list[dict[str, Any]]] = {"size": [], "advise": [], "rules": []}
    asked = questions(quick=request.quick)
    with request.runner() as runner, runner.bar("answers") as bar:
        for number, question in enumerate(asked):
            bar.update(number / len(asked), f"{question.scenario}: {'; '.join(question.targets)}")
            judge = Judge(question, runner)
            known = _known(judge)
            seeds = SEEDS[:1] if request.quick else SEEDS
            rows["size"] += [known | {"seed": seed} | judge.judged(judge.by_size(seed)) for seed in seeds]
            rows["advise"].append(known | {"seed": SEEDS[0]} | judge.judged(judge.by_advise(SEEDS[0])))
            rows["rules"] += [known | each for each in _by_rules(judge)]
    return {name: pl.DataFrame(own, infer_schema_length=None) for name, own in rows.items()}


def _known(judge: Judge) -> dict[str, Any]:
    """The question and the truth, as columns."""
    question, truth = judge.question, judge.truth
    return {
        "scenario": question.scenario,
        "targets": "; ".join(question.targets),
        "true_packets": truth.size,
        "true_low": truth.low,
        "true_high": truth.high,
        "true_runs": truth.runs,
        "islands": ", ".join(map(str, truth.islands)),
        "run_s": judge.cost_s(),
    }


def _by_rules(judge: Judge) -> list[dict[str, Any]]:
    """What the rules say, where a utilization alone is asked for, which is what all of them are about."""
    (target, *others) = judge.question.asked.targets
    if others or target.name != "utilization" or target.bound >= 1:
        return []
    try:
        found = rules(judge.question.file, link=judge.question.link, targets=in_theory([target]))
    except InputError:  # a control without a model
        return []
    return [
        {"rule": rule, "packets": packets, "off_percent": 100 * judge.off(packets)}
        for rule, packets in found.packets().items()
    ]


def _answered(rows: pl.DataFrame) -> pl.DataFrame:
    """The rows with an answer, and its ratio to the truth."""
    if rows.is_empty():
        return rows
    return rows.filter(pl.col("packets") > 0, pl.col("true_packets") > 0).with_columns(
        ratio=pl.col("packets") / pl.col("true_packets")
    )


def _summary(who: str, rows: pl.DataFrame) -> dict[str, Any]:
    """How good the answers are. A rule's buffer below the truth's interval is taken to miss."""
    found = _answered(rows)
    off = found["off_percent"]
    row: dict[str, Any] = {
        "who": who,
        "answers": rows.height,
        "near": int((off.abs() <= NEAR_PERCENT).sum()),
        "median_ratio": found["ratio"].median(),
        "least_ratio": found["ratio"].min(),
        "largest_ratio": found["ratio"].max(),
    }
    if "short_percent" not in rows.columns:
        return row | {"missed": int((off < 0).sum())}
    missed = found.filter(pl.col("short_percent") > 0)
    return row | {
        "missed": missed.height,
        "worst_percent": missed["short_percent"].max() or 0.0,
        "median_runs": rows["runs"].median(),
        "most_runs": rows["runs"].max(),
        "median_s": (rows["runs"] * rows["run_s"]).median(),
    }
