"""What spoils an answer for users is said below the headline, whether targets are met or missed."""

from __future__ import annotations

import dataclasses
from typing import cast

import pytest

from bufferlab._scenario_types import ResolvedFlow
from bufferlab.render.advise.beware import bewares, grave
from bufferlab.render.advise.box import box_of
from bufferlab.render.advise.felt import better_but_missed, gained_but_lossy
from bufferlab.render.advise.head import head
from bufferlab.render.advise.mixes import controls_decide
from bufferlab.render.advise.tried import tried_view
from bufferlab.render.advise.typed import Typed
from bufferlab.render.advise.view import advice_view
from bufferlab.render.view import View
from bufferlab.scenario import Table
from bufferlab.stats import Estimate
from bufferlab.studies.advise.absent import Absent
from bufferlab.studies.advise.entry import Users
from bufferlab.studies.advise.needs import Needs
from bufferlab.studies.advise.rough import Rough
from bufferlab.studies.advise.sensitivity import Sensitivity
from bufferlab.studies.advise.tried import Attempt, Tried
from bufferlab.studies.choosing.objectives import Aspect
from bufferlab.studies.least import Run
from bufferlab.studies.targets import Values, make_target, parse_targets

from ..advised import CALL, DOWNLOADS, FIFO, FQ_CODEL, advised, entry, runs, site
from .boxes import box

NEAR = dataclasses.replace(site(), rtt_ms=30.0)


def said(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())


@pytest.mark.parametrize("target", ["utilization >= 99 %", "utilization >= 99.999 %"])
def test_a_wait_above_the_round_trip_is_said_of_what_meets_and_of_what_misses(target: str) -> None:
    slow = {**FIFO, "wait_mean_ms": 66.3, "utilization": 0.9995}
    advice = advised({"fifo": (14, runs(slow))}, (target,), where=NEAR)
    text = said(box(advice))
    assert "But packets wait 66.3 ms in the mean, longer than the RTT of 30 ms" in text


@pytest.mark.parametrize(
    ("wait_ms", "targets"),
    [
        (29.0, ("utilization >= 99 %",)),
        (66.3, ("utilization >= 99 %", "wait_p99 < 200 ms")),
    ],
    ids=["shorter", "bounded"],
)
def test_a_short_wait_or_one_that_a_target_bounds_is_not(wait_ms: float, targets: tuple[str, ...]) -> None:
    slow = {**FIFO, "wait_mean_ms": wait_ms}
    advice = advised({"fifo": (14, runs(slow))}, targets, where=NEAR)
    assert not any("packets wait" in text for text in bewares(advice))


def test_a_path_of_microseconds_makes_no_wait_long() -> None:
    where = dataclasses.replace(site(), rtt_ms=0.1)
    advice = advised({"fifo": (14, runs({**FIFO, "wait_mean_ms": 1.0}))}, where=where)
    assert not any("packets wait" in text for text in bewares(advice))


def test_a_call_that_many_users_are_dissatisfied_with_is_said_unless_a_target_bounds_it() -> None:
    poor = {**FIFO, "call.call_r": 56.0}
    given = {"fifo": (14, runs(poor))}
    text = said(box(advised(given)))
    assert "But call has rating R 56 (nearly all dissatisfied); --target 'call.r > 80' asks for more." in text
    assert "But call loses" not in text  # which its rating has
    assert not any("rating R" in each for each in bewares(advised(given, ("call.r > 50",))))
    fair = {"fifo": (14, runs({**poor, "call.call_r": 71.0}))}
    assert not any("rating R" in each for each in bewares(advised(fair)))


def test_what_misses_its_targets_and_loses_much_says_so_at_once() -> None:
    lossy = {**FIFO, "loss": 0.12, "utilization": 0.5}
    lines = box(advised({"fifo": (14, runs(lossy))}))
    assert lines[1] == "No setting that was tried meets the target."
    assert "Closest, but not worth running, as it loses 12 %: fifo with a buffer" in said(lines)
    assert "12 % of the packets are lost" not in said(lines)


def test_what_misses_nothing_but_a_default_says_that_it_is_one() -> None:
    given = {"fq_codel": (5000, runs({**FQ_CODEL, "utilization": 0.983}))}
    asked = advised(given)
    assert "is our default" not in said(box(asked))
    target = make_target("utilization", 0.99)
    assumed = dataclasses.replace(asked, needs=Needs((target,), None, "default", "default"))
    text = said(box(assumed))
    assert "What it misses is our default (utilization 98.3 % instead of 99 %)" in text


def test_what_an_interrupted_search_has_seen_meet_the_target_is_named() -> None:
    target = make_target("utilization", 0.99)
    attempts = [
        Attempt("fq_codel", "target 5 ms", 1000, (target,), ({"utilization": 0.998},)),
        Attempt("fifo", "1 packet", 1, (target,), ({"utilization": 0.95},)),
        Attempt("fifo", "30 packets", 30, (target,), ({"utilization": 0.993},)),
        Attempt("fifo", "60 packets", 60, (target,), ({"utilization": 0.995},)),
    ]
    text = View(tried_view(Tried(site(), (target,), tuple(attempts))).parts).text(200)
    assert "so far this is met by fq_codel (target 5 ms) and fifo (30 packets): the best guess" in text
    none = View(tried_view(Tried(site(), (target,), tuple(attempts[1:2]))).parts).text(200)
    assert "is met by" not in none


def test_an_interrupted_search_names_no_guess_that_loses_much() -> None:
    target = make_target("utilization", 0.99)
    lossy = [
        Attempt("fifo", f"{size} packets", size, (target,), ({"utilization": 0.995, "loss": loss},))
        for size, loss in ((3, 0.25), (60, 0.22))
    ]
    light = Attempt("fifo", "900 packets", 900, (target,), ({"utilization": 0.999, "loss": 0.01},))
    text = View(tried_view(Tried(site(), (target,), tuple(lossy))).parts).text(200)
    assert "best guess" not in text
    assert "loses much, 22 % of the packets or more, so it is no guess worth trying." in text
    both = View(tried_view(Tried(site(), (target,), (*lossy, light))).parts).text(200)
    assert "this is met by fifo (900 packets): the best guess" in both


@pytest.mark.parametrize(
    ("loss", "targets", "is_said"),
    [(0.04, (), True), (0.04, ("loss <= 5 %",), False), (0.015, (), False), (0.019, (), False)],
    ids=["much", "bounded", "little", "hardly less"],
)
def test_what_a_larger_buffer_loses_less_is_said_at_once(
    loss: float, targets: tuple[str, ...], *, is_said: bool
) -> None:
    given = runs({**FIFO, "loss": loss})
    advice = advised({"fifo": (84, given)}, ("utilization >= 99 %", *targets))
    larger: dict[int, Values] = {400: {**FIFO, "loss": 0.031}, 910: {**FIFO, "loss": 0.013}}
    found = entry("fifo", 84, given, advice.targets, other=larger)
    known = dataclasses.replace(advice, entries={found.name: found})
    assert "910 packets" not in " ".join(head(known))  # by one run
    assert found.buffers is not None
    found.buffers.add({Run(size, seed): each for size, each in larger.items() for seed in range(4)})
    text = said(box(known))
    words = "It loses 4 %; 910 packets (1.36 MB, 546 ms) lose 1.3 %, with a mean wait of 20 ms."
    assert (words in text) == is_said


@pytest.mark.parametrize(("index", "is_said"), [(0.27, True), (0.6, False)])
def test_flows_that_share_unequally_are_said_unless_a_target_bounds_it(
    index: float, *, is_said: bool
) -> None:
    given = {"fifo": (14, runs({**FIFO, "downloads.jain_index": index}))}
    text = f"But the flows of downloads share unequally: Jain's index {index} (1 is equal)."
    assert (text in said(box(advised(given)))) == is_said
    assert not any("unequally" in each for each in bewares(advised(given, ("downloads.jain_index > 0.2",))))


@pytest.mark.parametrize(
    ("size", "title", "is_said"),
    [(7, "reno alone", True), (8, "reno alone", False), (7, "bbr in place of reno", False)],
)
def test_that_one_control_of_a_mix_needs_far_less_is_a_headline(
    size: int, title: str, *, is_said: bool
) -> None:
    change = Sensitivity(
        title, "other", {}, (), Rough(size, (7, 14)), 4, is_of_control=True, is_alone=title.endswith("alone")
    )
    mixed = site(Users("downloads", "bulk", 4, "reno"), Users("others", "bulk", 4, "bbr"))
    given = {"fifo": (14, runs(FIFO))}
    advice = advised(given, where=mixed, sensitivity=[change])
    assert (controls_decide(advice) is not None) == is_said
    text = "The mix of congestion controls decides: with reno alone, about 7 packets meet the target."
    assert (text in said(box(advice))) == is_said
    assert controls_decide(advised(given, sensitivity=[change])) is None


def test_a_buffer_that_users_take_is_not_what_a_control_decides() -> None:
    change = Sensitivity("reno alone", "reno alone", {}, (), Rough(5, (5, 14)), 4, is_alone=True)
    mixed = site(Users("downloads", "bulk", 4, "reno"), Users("others", "bulk", 4, "bbr"))
    advice = advised({"fifo": (14, runs(FIFO))}, where=mixed, sensitivity=[change])
    assert controls_decide(advice) is not None
    larger = dataclasses.replace(advice.answer, least_behind=Estimate(0.16, 0.02, 8))  # 1 packet would do
    assert controls_decide(dataclasses.replace(advice, entries={larger.name: larger})) is None


def test_under_llq_the_rest_s_long_wait_is_the_gravest_caution_and_no_condition() -> None:
    """Calls do not wait there, so the queue is worth running all the same."""
    slow = advised({"fifo": (14, runs({**FIFO, "wait_mean_ms": 66.3}))}, where=NEAR)
    assert "Only if its wait is accepted" in said(box(slow))
    name, plain = slow.choice.name, slow.answer
    classes: Table = {"discipline": "diffserv", "classes": "EF: priority 5 %; rest: weight 1"}
    llq = dataclasses.replace(plain, queue=dataclasses.replace(plain.queue, name="llq", table=classes))
    advice = dataclasses.replace(slow, entries={**slow.entries, name: llq})
    first = head(advice)
    assert first[0].startswith("Run ") and first[1].startswith("It needs calls marked EF")
    wait = "But all but calls wait 66.3 ms in the mean, longer than the RTT of 30 ms"
    assert next(each for each in first if each.startswith("But")).startswith(wait)
    assert said(box(advice)).count("in the mean, longer than") == 1


@pytest.mark.parametrize(("alone", "is_said"), [(0.004, True), (0.06, False)])
def test_where_a_mix_loses_much_it_is_said_what_one_of_its_controls_loses(
    alone: float, *, is_said: bool
) -> None:
    values: Values = {"loss": alone, "utilization": 0.995}
    change = Sensitivity("cubic alone", "cubic alone", values, (), None, 4, is_alone=True)
    lossy = {"fifo": (14, runs({**FIFO, "loss": 0.1}))}
    mixed = site(Users("a", "bulk", 2, "cubic"), Users("b", "bulk", 2, "bbr"))
    advice = advised(lossy, where=mixed, sensitivity=[change])
    text = "The mix of congestion controls decides: with cubic alone, 0.4 % of the packets are lost."
    assert controls_decide(advice) == (text if is_said else None)
    assert (text in head(advice)) == is_said


def test_a_queue_that_was_not_to_choose_from_has_a_row_beside_the_answer() -> None:
    made = advised({"fifo": (14, runs(FIFO)), "fq_codel": (5000, runs(FQ_CODEL))})
    (rival,) = made.choice.rivals
    moved = dataclasses.replace(rival, behind=Estimate(-0.3, 0.01), loses=None, gains=None)
    other = next(each for each in made.entries.values() if each is not made.answer)
    absent = Absent(moved, (), other.values, "Juniper Junos", other.queue)
    advice = dataclasses.replace(made, absent=absent)
    assert f"lacking {other.queue.kind}, " in said(box(advice))
    text = " ".join(advice_view(advice).text(80).split())
    assert f"lacking: {other.queue.kind}, " in text and "+30 ± 1 %" in text
    left_out = dataclasses.replace(made, absent=dataclasses.replace(absent, platform=None))
    assert f"unasked {other.queue.kind}, " in said(box(left_out))
    assert f"unasked: {other.queue.kind}, " in " ".join(advice_view(left_out).text(80).split())


def test_a_buffer_in_which_packets_wait_long_says_that_shorter_ones_lose_much() -> None:
    late = {**FIFO, "wait_mean_ms": 70.0}
    made = advised({"fifo": (14, runs(late))}, ("utilization >= 90 %",))
    assert "longer than the RTT of 40 ms; --max-delay bounds it." in said(box(made))
    lossy = entry(
        "fifo", 14, runs(late), made.targets, other={7: {**FIFO, "wait_mean_ms": 9.0, "loss": 0.09}}
    )
    found = dataclasses.replace(made, entries={lossy.name: lossy})
    assert "longer than the RTT of 40 ms; where they wait less, 5 % or more are lost." in said(box(found))


def test_of_what_misses_a_target_the_usual_delay_is_named_where_users_hardly_notice() -> None:
    made = advised({"fifo": (14, runs(FIFO)), "fq_codel": (5000, runs(FQ_CODEL))})
    (rival,) = made.choice.rivals
    name = next(each for each in made.entries if each.startswith("fq_codel"))
    other = dataclasses.replace(made.entries[name], setting=200)
    far = dataclasses.replace(rival, missed=made.targets, behind=Estimate(-0.30, 0.01))
    near = dataclasses.replace(far, name=other.name, behind=Estimate(-0.32, 0.01))
    for better, expected in ((near, far), (dataclasses.replace(near, behind=Estimate(-0.5, 0.01)), None)):
        choice = dataclasses.replace(made.choice, rivals=(better, dataclasses.replace(far, name=name)))
        found = better_but_missed(
            dataclasses.replace(made, choice=choice, entries={**made.entries, other.name: other})
        )
        assert found is not None and found.name == (name if expected is not None else other.name)


ALL_WAITS = ("utilization >= 90 %", "wait_p99 <= 10 ms")
OWN_WAIT = {**FQ_CODEL, "wait_p99_ms": 39.8, "call.wait_p99_ms": 1.6}
"""A queue that keeps flows apart: only a flow of BBR waits."""


def test_a_bound_on_all_waits_that_a_calls_packets_keep_is_said_to_be_one_to_ask_of_them() -> None:
    advice = advised({"fq_codel": (5000, runs(OWN_WAIT))}, ALL_WAITS)
    text = said(box(advice))
    kept = "Packets of call keep 10 ms: their 99th percentile wait is 1.6 ms."
    hint = "--target 'call.wait_p99 <= 10 ms' asks for that alone."
    assert not advice.choice.meets and f"meets both targets. {kept} {hint}" in text
    other = advised({"fq_codel": (5000, runs({**OWN_WAIT, "call.wait_p99_ms": 11.0}))}, ALL_WAITS)
    assert "Packets of" not in said(box(other))


def test_a_call_s_own_wait_is_that_of_the_row_and_of_most_runs_where_few_make_its_mean() -> None:
    seldom = [OWN_WAIT] * 9 + [{**OWN_WAIT, "call.wait_p99_ms": 35.0}]
    where = site(DOWNLOADS, dataclasses.replace(CALL, flows=10))
    made = advised({"fq_codel": (5000, runs(OWN_WAIT))}, ALL_WAITS, where=where)
    answer = dataclasses.replace(made.answer, runs=tuple(seldom))  # the common seeds have no such run
    text = said(box(dataclasses.replace(made, entries={answer.name: answer})))
    own = "1.6 ms in most of 10 runs, 4.9 ms in their mean, as one may share a long flow's queue by chance."
    assert f"their 99th percentile wait is {own}" in text


def test_where_nothing_is_worth_running_what_would_be_comes_first() -> None:
    lossy = {**FIFO, "wait_p99_ms": 4.0, "loss": 0.15, "call.loss": 0.19, "call.call_r": 40.0}
    given = {"fq_codel": (5000, runs(OWN_WAIT)), "pie": (900, runs(lossy))}
    advice = advised(given, ALL_WAITS)
    head = list(box_of(advice).head)
    assert advice.choice.meets and len(head) == 2
    assert head[0].startswith("Nothing is worth running as asked: pie, target 900 us, meets both targets")
    assert head[0].endswith("and loses 15 %.")
    assert head[1].startswith(
        "Best is fq_codel, target 5 ms, if it may miss a target: 99th percentile wait 39.8 ms"
    )
    assert "--target 'call.wait_p99 <= 10 ms' asks for that alone" in head[1]
    assert "best fq_codel, 5 ms*" in said(box(advice))


def test_beside_what_loses_much_a_little_better_is_named_if_it_loses_little() -> None:
    lossy = {**FIFO, "wait_p99_ms": 4.0, "loss": 0.15}
    for lost, is_named in ((0.03, True), (0.08, False)):
        given = {"fq_codel": (5000, runs({**OWN_WAIT, "loss": lost})), "pie": (900, runs(lossy))}
        advice = advised(given, ALL_WAITS)
        (rival,) = advice.choice.rivals
        near = dataclasses.replace(rival, behind=Estimate(-0.105, 0.008))  # not by half
        choice = dataclasses.replace(advice.choice, rivals=(near,))
        head = list(box_of(dataclasses.replace(advice, choice=choice)).head)
        assert any(text.startswith("Best is fq_codel, target 5 ms") for text in head) == is_named


def test_delays_are_not_taken_for_buffers_where_a_queue_with_a_target_loses_much() -> None:
    lossy = {**FIFO, "wait_p99_ms": 4.0, "loss": 0.15, "call.loss": 0.19}
    tried = {900 * times: {**lossy, "loss": 0.14} for times in (2, 4, 8, 16, 32)}
    made = entry("pie", 900, runs(lossy), parse_targets(["utilization >= 90 %"], []), other=tried)
    assert made.least is not None and made.buffers is None
    advice = dataclasses.replace(
        advised({"pie": (900, runs(lossy))}, ALL_WAITS[:1]), entries={made.name: made}
    )
    text = said(box(advice))
    assert "Nothing is worth running" in text and "buffers tried" not in text and "28800" not in text


def test_no_target_on_its_rating_is_proposed_for_a_call_that_datagrams_alone_leave_no_room() -> None:
    made = advised({"fifo": (14, runs({**FIFO, "call.call_r": 48.0}))})
    flow = make_flow(400, made.site.link)
    crowded = dataclasses.replace(made, resolved={**made.resolved, "flows": [flow]})
    text = said(box(crowded))
    assert (
        "But call has rating R 48 (nearly all dissatisfied): datagrams alone offer 160 % of the rate." in text
    )
    assert "call.r > 80" not in text
    few = dataclasses.replace(made, resolved={**made.resolved, "flows": [make_flow(10, made.site.link)]})
    assert "--target 'call.r > 80' asks for more." in said(box(few))


def make_flow(count: int, link: str) -> ResolvedFlow:
    """Calls that send 80 kbit/s each through a link."""
    application = {"kind": "udp", "packet_bytes": 200, "interval_ps": 20 * 10**9, "rate_bps": None}
    flow = {"name": "call", "count": count, "path": [link], "tcp": None, "application": application}
    return cast("ResolvedFlow", flow)


def test_where_nothing_is_worth_running_the_command_is_that_of_what_would_be() -> None:
    lossy = {**FIFO, "wait_p99_ms": 4.0, "loss": 0.15, "call.loss": 0.19, "call.call_r": 40.0}
    advice = advised({"fq_codel": (5000, runs(OWN_WAIT)), "pie": (900, runs(lossy))}, ALL_WAITS)
    text = said(advice_view(advice).text(80).replace("│", " ").splitlines())
    assert "Below is what writes those of fq_codel, target 5 ms." in text and '"fq_codel"' in text
    alone = advice_view(advised({"pie": (900, runs(lossy))}, ALL_WAITS)).text(80).replace("│", " ")
    alone = said(alone.splitlines())
    assert "Below is what writes the lines all the same." in alone and '"pie"' in alone


LONG = "as packets wait long in this one; --for throughput tries them"


def test_why_no_larger_buffer_was_tried_is_said_with_what_would_try_it() -> None:
    lossy = {**FIFO, "loss": 0.03}
    long = {**lossy, "wait_mean_ms": 66.3}
    for values, reason in (
        (lossy, "No larger buffer of fifo was tried; --bounds sets up to where."),
        (long, f"No larger buffer of fifo was tried, {LONG}."),
    ):
        plain = advised({"fifo": (14, runs(values))}, where=NEAR)
        largest = entry("fifo", 14, runs(values), plain.targets, other={7: values})
        assert reason in list(grave(dataclasses.replace(plain, entries={largest.name: largest})))


def test_a_command_for_a_queue_with_classes_says_that_its_buffer_is_that_of_all() -> None:
    made = advised({"fifo": (14, runs(FIFO))}, ("wait_p99 <= 10 ms", "loss <= 0.1 %"))
    classes: Table = {"discipline": "diffserv", "classes": "EF: priority 33 %; rest: weight 1"}
    answer = made.answer
    llq = dataclasses.replace(answer, queue=dataclasses.replace(answer.queue, table=classes, parts=2))
    view = advice_view(dataclasses.replace(made, entries={answer.name: llq}), typed=Typed("ios-xe"))
    text = " ".join(view.text(80).replace("│", " ").split())
    assert "Its buffer is for all classes: 2 × 14 packets." in text and "--buffer '28 packets'" in text
    assert "for all classes" not in advice_view(made, typed=Typed("ios-xe")).text(80)


def test_of_queues_that_lose_much_for_a_gain_the_mildest_is_named() -> None:
    given = {
        "fifo": (14, runs(FIFO)),
        "codel": (5000, runs({**FQ_CODEL, "loss": 0.2})),
        "pie": (900, runs(FQ_CODEL)),
    }
    made = advised(given)
    names = {each.partition(",")[0]: each for each in made.entries}
    losses = {"codel": (0.2, -0.5), "pie": (0.07, -0.3)}
    (rival, *_) = made.choice.rivals
    rivals = tuple(
        dataclasses.replace(rival, name=names[word], is_lossy=True, missed=(), behind=Estimate(behind, 0.01))
        for word, (_, behind) in losses.items()
    )
    entries = {
        **made.entries,
        **{
            names[word]: dataclasses.replace(
                made.entries[names[word]], values=tuple(runs({**FIFO, "loss": lost}))
            )
            for word, (lost, _) in losses.items()
        },
    }
    choice = dataclasses.replace(made.choice, name=names["fifo"], rivals=rivals)
    found = gained_but_lossy(dataclasses.replace(made, choice=choice, entries=entries))
    assert found is not None and "30 ± 1 % better with pie" in found and "which loses 7 %" in found


@pytest.mark.parametrize(("wait_ms", "is_said"), [(147.0, True), (60.0, False)])
def test_a_wait_that_is_several_times_as_long_is_said_though_users_fare_alike(
    wait_ms: float, *, is_said: bool
) -> None:
    felt = [Aspect("calls", "call: rating R", "call.call_r", "more")]
    late = {**FQ_CODEL, "wait_mean_ms": wait_ms, "call.call_r": 92.0}
    given = {"fq_codel": (5000, runs({**FQ_CODEL, "wait_mean_ms": 17.0})), "pie": (900, runs(late))}
    text = said(box(advised(given, ("wait_mean < 200 ms",), where=site(CALL), aspects=felt)))
    assert (
        f"packets wait {wait_ms:g} ms instead of 17, which these flows' users hardly feel" in text
    ) == is_said


def test_what_all_miss_so_far_is_said_before_what_was_tried() -> None:
    loss, wait = parse_targets(["loss <= 2 %", "wait_p99 < 30 ms"], [])
    measured = {557: (0.105, 10.0), 1080: (0.07, 20.0), 2708: (0.048, 50.0)}
    attempts = tuple(
        Attempt("fifo", f"{size} packets", size, (loss, wait), ({"loss": lost, "wait_p99_ms": waited},) * 2)
        for size, (lost, waited) in measured.items()
    )
    text = View(tried_view(Tried(site(), (loss, wait), attempts)).parts).text(200)
    said = "All 3 settings tried so far miss loss at most 2 %: nearest 4.8 % (fifo, 2708 packets)."
    assert said in text and text.index(said) < text.index("2708 packets  ")
    assert text.count("settings tried so far miss") == 1


def test_before_the_first_run_has_ended_rules_are_named_and_a_smaller_link() -> None:
    crowd = dataclasses.replace(
        site(), rules={"stanford": 40, "bdp": 4000}, users=(Users("long", "bulk", 10_000, "cubic"),)
    )
    text = View(tried_view(Tried(crowd, (), ())).parts).text(200)
    assert "No answer yet: interrupted before the first simulation had ended." in text
    assert "Published rules, which no run has checked here: BDP/√n is 40 packets (60 KB, " in text
    assert "and a BDP is 4000 packets" in text
    assert "Ask about 1/100 of the rate and of each group's flows" in text
    assert "Ask about" not in View(tried_view(Tried(site(), (), ())).parts).text(200)
