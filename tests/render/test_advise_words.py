"""What a box says of cliffs, of targets that exclude each other, and of what it has no number for."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import pytest

from bufferlab.render.advise.box import box_of
from bufferlab.render.advise.compared import Column, Compared, in_columns
from bufferlab.render.advise.evidence import evidence
from bufferlab.render.advise.felt import contrast
from bufferlab.render.advise.head import head, interim
from bufferlab.render.advise.users import users_lines
from bufferlab.render.view import View
from bufferlab.results.metrics.metric import SECONDS
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.entry import Users
from bufferlab.studies.advise.sensitivity import Sensitivity
from bufferlab.studies.choosing.objectives import Aspect
from bufferlab.studies.settling import ShortRuns
from bufferlab.studies.targets import Values

from ..advised import DOWNLOADS, FIFO, FQ_CODEL, advised, entry, runs, site
from .boxes import MET, box


def searched(targets: tuple[str, ...], other: Mapping[int, Values], answer: Values = FIFO) -> Advice:
    """A FIFO of 100 packets and what other buffers gave."""
    made = advised({"fifo": (100, runs(answer))}, targets)
    found = entry("fifo", 100, runs(answer), made.targets, other=other)
    return dataclasses.replace(made, entries={made.answer.name: found})


def said(advice: Advice) -> str:
    return " ".join(" ".join(box(advice)).split())


@pytest.mark.parametrize(
    ("other", "lost"),
    [
        ({50: 0.087, 60: 0.07, 10: 0.3}, "7 to 8.7"),
        ({50: 0.087}, "8.7"),
        ({50: 0.02}, None),
        ({10: 0.3}, None),  # nobody takes a tenth for the same
    ],
)
def test_a_buffer_below_which_losses_jump_is_not_to_be_rounded_down(
    other: Mapping[int, float], lost: str | None
) -> None:
    tried = {size: {**FIFO, "loss": loss, "utilization": 0.9} for size, loss in other.items()}
    text = said(searched(("utilization >= 99 %",), tried, {**FIFO, "loss": 0.012}))
    if lost is None:
        assert "round down" not in text
    else:
        assert f"Do not round down: below about 100 packets {lost} % of the packets are lost." in text


def test_targets_that_exclude_each_other_are_said_to_in_the_first_line_with_what_each_costs() -> None:
    targets = ("wait_p99 < 5 ms", "loss <= 0.5 %", "utilization >= 90 %")
    small = {**FIFO, "wait_p99_ms": 4.9, "loss": 0.1}
    large = {**FIFO, "wait_p99_ms": 553.0, "loss": 0.007}
    assert head(searched(targets, {4: small, 190: large}))[:4] == [
        "No setting that was tried meets all 3 targets; they contradict each other here.",
        "- 99th percentile wait at most 5 ms: fifo, 4 packets, with loss 10 %.",
        "- Loss at most 0.5 % and utilization at least 90 %: fifo, 100 packets, with 99th percentile wait "
        "41 ms.",
        "Closest: fifo with a buffer of 100 packets (150 KB, 60 ms).",
    ]
    early = dataclasses.replace(searched(targets, {4: small, 190: large}), stage="first")
    assert head(early)[0].endswith("; they seem to contradict each other here.")


def test_what_ifs_that_lose_much_are_marked_though_they_meet_the_targets() -> None:
    change = Sensitivity("10 long flows", "10 long flows", {**FIFO, "loss": 0.087}, (), None, 4)
    advice = advised(MET, sensitivity=[change])
    assert "met, loses 8.7 %" in View(list(evidence(advice))).text(200)
    assert "But with 10 long flows 8.7 % of the packets are lost." in said(advice)


def test_how_to_lengthen_runs_is_in_the_box_whatever_the_room() -> None:
    longer = "--set run.warmup='36 s' --set run.duration='84 s' (docs/sizing.md)"
    why = ShortRuns(("a long reason: use it, " * 30,), 36, 84)
    advice = dataclasses.replace(advised(MET), short_runs=why)
    assert f"too short Use {longer}." in said(advice)
    document = advice.to_dict()
    assert document["short_runs"] == {"reasons": why.reasons, "warmup_s": 36, "duration_s": 84, "under": ""}
    assert document["warnings"] == [f"{why.reasons[0]}: use {longer}"]


def test_targets_that_are_met_have_one_row_and_it_goes_before_the_table_and_what_is_missed() -> None:
    targets = ("utilization >= 90 %", "wait_p99 < 50 ms", "loss <= 1 %")
    met = [each for each in box_of(advised(MET, targets)).lines if each.label.startswith("target")]
    (line,) = met
    assert line.text == (
        "met: utilization 99.6 % (asked 90 %), 99th percentile wait 12 ms (asked 50 ms), "
        "loss 0.5 % (asked 1 %)"
    )
    table = [each for each in box_of(advised(MET, targets)).lines if each.ends and each.label != "half"]
    assert table and all(each.shorter[0][0] < line.shorter[0][0] for each in table)
    lines = box_of(advised(MET, (*targets, "wait_mean <= 3 ms"))).lines
    rows = [each for each in lines if each.label.startswith("target")]
    assert [each.label for each in rows] == ["target", "targets"]
    assert "target 3 ms: missed by" in rows[0].text and not rows[0].shorter


def test_a_time_that_is_unknown_since_few_finish_says_so() -> None:
    answer = advised({"fq_codel": (5000, runs({**FQ_CODEL, "web.exchange_p50_s": None}))}).answer
    column = Column("web", "s", "web.exchange_p50_s", SECONDS)
    lines = list(in_columns([Compared("answer", "fq_codel", answer)], [column], 5))
    assert lines[-1].text.split() == ["fq_codel", "few", "finish"]


@pytest.mark.parametrize(
    ("times", "text"),
    [
        ([None] * 5, "hardly any page was finished"),
        ([1.0, 1.1, None, None, None], "hardly any page was finished in 3 of 5 runs"),
        ([1.0] * 5, "fetched in 1 s, 95th percentile 1 s"),
    ],
)
def test_pages_that_hardly_finish_have_no_unknown_time(times: list[float | None], text: str) -> None:
    place = site(DOWNLOADS, Users("pages", "web", 4, "reno"))
    given = [
        {**run, "pages.exchange_p50_s": each, "pages.exchange_p95_s": each, "pages.exchanges_not_done": 9}
        for run, each in zip(runs(FIFO, identical=True), times, strict=True)
    ]
    made = advised({"fifo": (14, given)}, where=place)
    assert dict(users_lines(made, made.answer))["pages"] == text


@pytest.mark.parametrize(
    ("lost", "count", "said_of_runs"),
    [(0.005, 5, ""), (0.0046, 5, " (5 other runs)"), (0.0046, 4, " (4 runs)")],
)
def test_figures_of_other_runs_than_the_table_has_say_so(lost: float, count: int, said_of_runs: str) -> None:
    made = advised(MET)
    own = made.answer
    shown = dataclasses.replace(own, runs=tuple(runs({**FQ_CODEL, "loss": lost})[:count]))
    if not said_of_runs:
        shown = own
    text = said(dataclasses.replace(made, entries={**made.entries, own.name: shown}))
    assert f"%{said_of_runs} wait mean" in text


def test_what_only_the_table_s_runs_miss_stands_beside_the_figures_of_all() -> None:
    """The answer met both targets with 90.6 %, and its row had 89.68 %, without a mark."""
    made = advised(MET, ("utilization >= 99.5 %",))
    own = made.answer
    few = tuple(runs({**FQ_CODEL, "utilization": 0.993})[:4])
    text = said(
        dataclasses.replace(made, entries={**made.entries, own.name: dataclasses.replace(own, values=few)})
    )
    assert "(5 runs; in the table's 4, 99.31 %)" in text
    assert "in the table's" not in said(made)


def test_how_sure_an_answer_is_is_not_said_where_runs_may_be_too_short_for_it() -> None:
    """More than 99.9 % sure of a buffer in place of which longer runs took another one."""
    why = ShortRuns(("only 3 s are measured, but a flow takes up to 60 s from loss to loss",), 40, 160)
    made = advised(MET)
    short = dataclasses.replace(made, short_runs=why)
    text = said(short)
    assert (
        "by the mean of 5 runs, which may be too short to tell how surely." in text and "% sure" not in text
    )
    assert "% sure" not in interim(short)
    of_another = dataclasses.replace(made, short_runs=why._replace(under="pie"))
    assert "% sure (5 runs)" in said(of_another) and "% sure" in interim(of_another)


def test_where_runs_leave_many_buffers_open_the_range_is_said() -> None:
    """Of what the runs of the search say the table says the same."""
    other = {size: {**FIFO, "utilization": 0.949} for size in (5, 9, 14)} | {40: FIFO}
    made = searched(("utilization >= 95 %",), other)
    assert made.answer.least is not None
    least = dataclasses.replace(made.answer.least, beyond=3)
    advice = dataclasses.replace(
        made, entries={made.answer.name: dataclasses.replace(made.answer, least=least)}, stage="first"
    )
    assert (
        "least not sure: 40 packets may do, which few runs do not confirm, 5 to 14 packets miss in few runs, "
        "and 3 packets surely miss;"
    ) in said(advice)


@pytest.mark.parametrize(
    ("usual_s", "late_s", "text"),
    [
        (1.1, 7.0, "pages fetched in 1.1 s, but one in 20 takes more than 7 s"),
        (3.0, 7.0, "pages fetched in 3 s, 95th percentile 7 s"),
        (0.3, 1.9, "pages fetched in 300 ms, 95th percentile 1.9 s"),
    ],
)
def test_pages_that_mostly_come_soon_say_how_late_some_do(usual_s: float, late_s: float, text: str) -> None:
    times = {"pages.exchange_p50_s": usual_s, "pages.exchange_p95_s": late_s}
    place = site(Users("downloads", "bulk", 4, "reno"), Users("pages", "web", 5, "reno"))
    advice = advised({"fifo": (14, [{**FIFO, **times}] * 5)}, where=place)
    assert [*text.split(" ", 1)] in [list(each) for each in users_lines(advice, advice.answer)]


def test_a_time_that_few_finish_within_is_no_dash_in_a_sentence() -> None:
    pages = Aspect("pages", "pages: median fetch time", "pages.exchange_p50_s", "less")
    slow, fast = (advised({"fifo": (14, runs({**FIFO, pages.metric: each}))}).answer for each in (None, 1.1))
    assert contrast(pages, slow, fast) == "pages: median fetch time unknown (few finish) instead of 1.1 s"
