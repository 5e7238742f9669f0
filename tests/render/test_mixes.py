"""Whether a mix of controls decides the answer, or whether to change what runs today, is said and shown."""

from __future__ import annotations

import dataclasses
import re

import pytest

from bufferlab.render.advise.box import Against, box_of
from bufferlab.render.advise.head import head, headline
from bufferlab.render.advise.mixes import controls_decide
from bufferlab.render.view import View
from bufferlab.stats import Estimate
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.entry import Users
from bufferlab.studies.advise.halved import Half
from bufferlab.studies.advise.rough import Rough
from bufferlab.studies.advise.sensitivity import Sensitivity
from bufferlab.studies.advise.today import Today
from bufferlab.studies.advise.unmixed import Unmixed
from bufferlab.studies.internet import BBR_DECIDES
from bufferlab.studies.targets import Values

from ..advised import FIFO, advised, fifo_today, runs, site
from .boxes import box

MIXED = site(Users("downloads", "bulk", 4, "reno"), Users("others", "bulk", 4, "bbr"))
FINE: Values = {**FIFO, "others.goodput_bps": 4.6e6}
LOSSY: Values = {**FINE, "loss": 0.12}


def mixed(now: Today, there: Today, *, least: int | None) -> Advice:
    """A mix whose answer is 14 packets, beside what runs today, with and without BBR."""
    change = Sensitivity("reno alone", "reno alone", {}, (), Rough(least or 14, (7, 14)), 4, is_alone=True)
    advice = advised({"fifo": (14, runs(FINE))}, where=MIXED, sensitivity=[change])
    other = None if least is None else Half(now.rival, (), tuple(runs(FINE)), least)
    found = Unmixed(
        "reno alone", frozenset({"others"}), (), tuple(runs({**FINE, "loss": 0.001})), other, there
    )
    return dataclasses.replace(advice, today=now, unmixed=found)


def test_the_document_has_what_the_newer_version_of_a_control_gives() -> None:
    found = mixed(fifo_today(FINE), fifo_today(FINE), least=5).unmixed
    assert found is not None
    assert (found.to_dict()["newer"], found.to_dict()["newer_least"]) == (None, None)
    newer = dataclasses.replace(found, newer=tuple(runs({**FINE, "loss": 0.02})))
    assert newer.to_dict()["newer"]["loss"] == pytest.approx(0.02) and newer.to_dict()["newer_least"] is None


FITS, DOES = "what runs today meets the target, too (loss 0.5 %)", "about 5 packets meet the target"
BESIDE = "packets wait 20 ms (today 90); loss is 0.5 % (today 0.4)"
LATE = fifo_today({**FINE, "wait_mean_ms": 90.0, "loss": 0.004})
WORSE, ALSO = fifo_today(LOSSY, 0.3), fifo_today({**LOSSY, "loss": 0.08}, 0.3)


TELLS = " Drop counters tell: today's queue loses 12 % with the mix, {} with reno alone."


@pytest.mark.parametrize(
    ("now", "there", "least", "text"),
    [
        (WORSE, fifo_today(FINE), None, FITS),
        (WORSE, fifo_today(FINE), 5, f"{DOES}, and {FITS}"),
        (WORSE, ALSO, 5, f"{DOES}, and what runs today is worse there, too: it loses 8 %"),
        (fifo_today(FINE), LATE, 5, f"{DOES}, and {BESIDE}"),  # whether it is kept in the mix or not
        (WORSE, LATE, 5, f"{DOES}, and {BESIDE}"),
        (fifo_today(FINE), WORSE, None, "what runs today is worse: it loses 12 %"),
        (fifo_today(FINE), fifo_today(FINE), None, None),
        (WORSE, ALSO, None, None),
        (WORSE, fifo_today({**LOSSY, "loss": 0.039}, 0.3), None, "what runs today is not as bad"),
        (WORSE, fifo_today({**LOSSY, "loss": 0.041}, 0.3), None, None),  # more than a third of 12 %
    ],
)
def test_what_one_control_alone_says_of_today_is_a_headline(
    now: Today, there: Today, least: int | None, text: str | None
) -> None:
    found = controls_decide(mixed(now, there, least=least))
    lost = there.mean("loss").mean or 0.0
    counted = TELLS.format(f"{lost * 100:.2g} %") if now is WORSE and lost < 0.04 else ""
    assert found == (text and f"The mix of congestion controls decides: with reno alone, {text}.{counted}")


@pytest.mark.parametrize(("loss", "is_said"), [(0.02, True), (0.06, False)])
def test_a_small_buffer_that_does_with_one_control_is_said_where_users_take_a_larger_one(
    loss: float, *, is_said: bool
) -> None:
    advice = mixed(fifo_today(FINE), fifo_today(FINE), least=5)
    answer = dataclasses.replace(advice.answer, least_behind=Estimate(0.2, 0.01))
    unmixed = advice.unmixed
    assert unmixed is not None and unmixed.least is not None
    light = dataclasses.replace(unmixed.least, values=tuple(runs({**FINE, "loss": loss})))
    found = dataclasses.replace(
        advice,
        entries={answer.name: answer},
        unmixed=dataclasses.replace(unmixed, least=light),
    )
    assert (DOES in (controls_decide(found) or "")) == is_said


@pytest.mark.parametrize(("size", "then"), [(9, "about 9"), (None, "none")])
def test_what_the_newer_version_of_a_control_takes_stands_beside_it(size: int | None, then: str) -> None:
    newer = Sensitivity(
        "bbr3 in place of bbr", "bbr3 for bbr", {}, (), Rough(size, (7, 14)), 4, is_newer=True
    )
    advice = mixed(fifo_today(FINE), fifo_today(FINE), least=5)
    found = controls_decide(dataclasses.replace(advice, sensitivity=(*advice.sensitivity, newer)))
    assert found is not None and f"{DOES} (with bbr3 for bbr {then})" in found


def test_one_control_alone_has_rows_of_its_own_beside_the_answer() -> None:
    lines = box(mixed(fifo_today(LOSSY, 0.3), fifo_today(FINE), least=5))
    at = next(at for at, line in enumerate(lines) if "with reno alone, 5 runs:" in line)
    rows = [line.split() for line in lines[at + 1 : at + 4]]
    assert [row[:4] for row in rows] == [
        ["answer", "fifo,", "14", "packets"],
        ["today", "fifo,", "64", "packets"],
        ["least", "fifo,", "5", "packets"],
    ]
    head = next(line.split() for line in lines if "used" in line and "lost" in line)
    assert "downloads" in head and "others" not in head  # no room for what has another control there
    assert rows[0][5] == "0.1" and rows[1][5] == "0.5"


@pytest.mark.parametrize("is_assumed", [True, False])
def test_where_the_mix_is_assumed_it_is_said_how_to_learn_it(*, is_assumed: bool) -> None:
    advice = mixed(fifo_today(FINE), WORSE, least=None)
    found = controls_decide(dataclasses.replace(advice, assumed=(BBR_DECIDES,) if is_assumed else ()))
    assert found is not None and found.startswith("The assumed mix") == is_assumed
    assert found.endswith(" 'bufferlab observe' tells yours from a capture.") == is_assumed


def assumed_mix(now: Today | None, there: Today | None, *, least: int | None) -> Advice:
    """The same of a mix that nobody has named, with the newer version of its BBR."""
    newer = Sensitivity("bbr3 in place of bbr", "bbr3 for bbr", {}, (), Rough(9, (7, 14)), 4, is_newer=True)
    made = mixed(now or WORSE, there or WORSE, least=least)
    assert made.unmixed is not None
    counted = tuple(runs({**LOSSY, "loss": 0.02, "wait_mean_ms": 70.0}))
    small = tuple(runs({**FINE, "loss": 0.03, "wait_mean_ms": 9.0}))
    return dataclasses.replace(
        made,
        assumed=(BBR_DECIDES,),
        sensitivity=(*made.sensitivity, newer),
        today=now,
        unmixed=dataclasses.replace(
            made.unmixed, today=there, newer=() if now is None else counted, newer_least=small
        ),
    )


def test_drop_counters_that_tell_an_assumed_mix_are_read_first_and_each_case_has_a_line() -> None:
    late = fifo_today({**FINE, "wait_mean_ms": 90.0, "loss": 0.01})
    advice = assumed_mix(WORSE, late, least=5)
    cases = [
        "First read today's drop counters, as the flows' congestion controls decide:",
        "- about 12 % dropped, the assumed mix: fifo with a buffer of 14 packets (21 KB, 8.4 ms); "
        "wait 20 ms, as today; loss 0.5 % (today 12).",
        "- about 2 % dropped, bbr3 in place of bbr: about 9 packets; wait 9 ms (today 70); "
        "loss 3 % (today 2).",
        "- about 1 % dropped, reno alone: about 5 packets; wait 20 ms (today 90); loss 0.5 % (today 1) "
        "(14: loss 0.1 %, wait 20 ms).",
    ]
    found = head(advice)
    assert found[:4] == cases
    assert not any("decides: with" in text or text.startswith("Today's") for text in found)
    assert headline(advice) == (
        "Run fifo with a buffer of 14 packets (21 KB, 8.4 ms) if about 12 % are dropped today; "
        "about 9 packets if about 2 % are dropped today; about 5 packets if about 1 % are dropped today."
    )


def test_what_is_typed_is_for_the_assumed_mix() -> None:
    lines = " ".join(" ".join(box(assumed_mix(WORSE, fifo_today(FINE), least=5))).split())
    assert "type With the assumed mix; else with the other case's buffer: tc qdisc" in lines
    assert "pfifo limit 14" in lines
    assert "what if Met with reno alone (about 5 suffice), bbr3 for bbr" in lines  # before rows of a table


def test_a_queue_that_all_cases_have_comes_before_the_counters() -> None:
    now = dataclasses.replace(WORSE, queue="pie")
    found = head(assumed_mix(now, fifo_today(FINE), least=5))
    assert found[0].startswith("Run fifo. For its buffer first read today's drop counters, as the flows'")
    assert head(assumed_mix(now, fifo_today(FINE), least=None))[0].startswith("First read")  # pie may stay


def test_where_one_control_alone_lets_today_s_queue_stay_its_case_says_so() -> None:
    found = head(assumed_mix(WORSE, fifo_today(FINE), least=None))
    assert "- about 0.5 % dropped, reno alone: keep today's fifo, 64 packets; wait 20 ms." in found


def test_without_what_runs_today_the_answer_comes_before_the_other_mixes() -> None:
    found = head(assumed_mix(None, None, least=5))
    assert found[:4] == [
        "Run fifo with a buffer of 14 packets (21 KB, 8.4 ms) if the flows are reno and bbr, as assumed; "
        "wait 20 ms; loss 0.5 %.",
        "- if they are reno alone: about 5 packets; wait 20 ms; loss 0.5 % (14: loss 0.1 %, wait 20 ms).",
        "- if they are bbr3 in place of bbr: about 9 packets; wait 9 ms; loss 3 %.",
        "Which they are, 'bufferlab observe' tells from a capture.",
    ]


def test_a_long_wait_is_no_condition_of_the_other_cases() -> None:
    advice = assumed_mix(WORSE, fifo_today(FINE), least=5)
    slow = dataclasses.replace(advice.answer, runs=tuple(runs({**FINE, "wait_mean_ms": 66.0})))
    found = head(dataclasses.replace(advice, entries={slow.name: slow}))
    assert found[0].startswith("First read")
    assert any(text.startswith("With the assumed mix packets wait 66 ms") for text in found)


@pytest.mark.parametrize("is_assumed", [True, False])
def test_who_has_named_the_mix_has_no_case_to_decide(*, is_assumed: bool) -> None:
    made = assumed_mix(WORSE, fifo_today(FINE), least=5)
    found = head(made if is_assumed else dataclasses.replace(made, assumed=()))
    assert found[0].startswith("First read") == is_assumed
    assert any("decides: with reno alone" in text for text in found) != is_assumed


def test_where_today_s_queue_may_stay_with_the_mix_too_there_is_no_case_to_decide() -> None:
    """As where it is the answer, or the platform's default does as well as that."""
    made = assumed_mix(WORSE, fifo_today(FINE), least=None)
    same = dataclasses.replace(fifo_today(FINE), packets=14, buffer="14 packets")
    assert head(made)[0].startswith("First read")
    assert head(dataclasses.replace(made, today=same))[0].startswith("Keep what runs today: fifo with a")
    default = dataclasses.replace(fifo_today(FINE), default_of="Cisco")
    assert not any(text.startswith("- ") for text in head(dataclasses.replace(made, today=default)))


def test_a_captured_loss_stands_beside_that_of_the_simulation_and_is_no_counter_to_be_read() -> None:
    advice = mixed(fifo_today(LOSSY), fifo_today({**FINE, "loss": 0.01}), least=14)
    assert "Drop counters tell" in (controls_decide(advice) or "")
    shown = " ".join(View([box_of(advice, against=Against(lost=0.077))]).text(80).replace("│", " ").split())
    assert "it loses 12 % in the simulation (measured: 7.7 %)" in shown, shown
    assert "counters" not in shown and "counters" in " ".join(box(advice))


def test_of_a_scenario_in_doubt_an_answer_is_sure_in_the_simulation_alone() -> None:
    advice = mixed(fifo_today(LOSSY), fifo_today({**FINE, "loss": 0.01}), least=14)
    first = "57 % of the link was used; the answer assumes that these flows use 94 %."
    texts = [View([box_of(advice, against=each)]).text(80) for each in (Against(), Against(first=first))]
    usual, doubted = (" ".join(text.replace("│", " ").split()) for text in texts)
    assert re.search(r"meets [^:]*: [^:]*% sure \(", usual) and "in the simulation" not in usual
    assert first in doubted and re.search(r": in the simulation [^:]*% sure \(", doubted)


@pytest.mark.parametrize(
    ("alone", "tells"),
    [
        (0.0093, "first read today's drop counters: 12 % dropped mean BBR, 0.93 % none; "),
        (0.05, ""),
        (None, ""),
    ],
)
def test_before_other_traffic_was_tried_drop_counters_tell_the_mix(alone: float | None, tells: str) -> None:
    known = () if alone is None else tuple(runs({**FINE, "loss": alone}))
    now = dataclasses.replace(fifo_today(LOSSY, 0.3), alone=known)
    made = advised({"fifo": (14, runs(FINE))}, where=MIXED, stage="first", finished=False)
    advice = dataclasses.replace(made, today=now, assumed=(f"a mix: {BBR_DECIDES}",))
    said = f"BBR is assumed in the mix, and may decide this buffer: {tells}--flows cubic:8 asks without."
    assert said in head(advice)
