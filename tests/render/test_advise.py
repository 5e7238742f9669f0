"""An advice in words: each sentence is true of the runs, and the box fits a terminal."""

from __future__ import annotations

import dataclasses
import re
import shlex
import subprocess

import pytest

from bufferlab.configure import Allowed
from bufferlab.configure.bounds import Bound
from bufferlab.render.advise.box import box_of
from bufferlab.render.advise.compared import Column, Compared, in_columns
from bufferlab.render.advise.felt import behind_text
from bufferlab.render.advise.typed import LINUX, WIDTH, Typed, amounts_to
from bufferlab.render.advise.unmet import without_one
from bufferlab.render.advise.view import advice_view
from bufferlab.render.advise.words import about_size, order_text, place_text, sure_text
from bufferlab.render.framed import BelowBox
from bufferlab.render.view import View
from bufferlab.results.metrics.metric import FRACTION
from bufferlab.stats import Estimate
from bufferlab.studies.advise.advice import Stage
from bufferlab.studies.advise.beyond import Beyond
from bufferlab.studies.advise.entry import Users
from bufferlab.studies.advise.rough import Rough
from bufferlab.studies.advise.sensitivity import Sensitivity
from bufferlab.studies.choosing.objectives import Aspect
from bufferlab.studies.least import Run
from bufferlab.studies.settling import ShortRuns
from bufferlab.studies.targets import Values, make_target

from ..advised import ASPECTS, FIFO, FQ_CODEL, advised, entry, runs, site
from .boxes import MET, box

SLOW = dataclasses.replace(site(), rate_bps=100_000)
"""A link that sends for 1.7 s what fits 14 packets."""


def test_the_order_of_equals_names_the_queues_that_were_tried() -> None:
    few = advised({"fq_codel": (5000, runs(FQ_CODEL)), "drr": (14, runs(FIFO)), "red": (14, runs(FIFO))})
    expected = (
        "Of equals the first in our order is taken: fq_codel, red, drr (docs/advise.md has its reasons)."
    )
    assert order_text(few) == expected


def test_the_answer_comes_first_then_what_users_feel_and_the_margin() -> None:
    lines = box(advised(MET))
    assert lines[0] == "By hand: west, 20 Mbps, mean RTT 40 ms"
    assert lines[1] == "Run fq_codel: target 5 ms, limit 200 packets (300 KB, 120 ms when full)."
    assert lines[2] == "It meets the target, utilization 99 %: 96 % sure (5 runs)."
    text = "\n".join(lines)
    assert "gives     utilization 99.6 ± 0.1 %, loss 0.5000 ± 0.0005 %" in text
    assert "wait      mean 4.000 ± 0.004 ms, 99th percentile 12.00 ± 0.01 ms" in text
    assert "downloads 4.700 ± 0.005 Mbps each, Jain's index 0.970 ± 0.001 (1 is equal)" in text
    assert "call      rating R 93 (very satisfied), MOS 4.4, loss 0 %" in text
    assert "target 99 %" not in text  # the first lines have it, and the first row its value
    assert "means of 5 runs   used %  lost %  wait ms  call R  downloads Mbps" in text
    assert "answer    fq_codel, 5 ms      99.6     0.5        4      93             4.7" in text
    assert "runner-up fifo, 14 packets    99.4     0.5       20      71             4.7" in text
    assert "why not   fifo, 14 packets: users fare 17.58 ± 0.01 % worse than with" in text
    assert "tc qdisc add dev eth0 root fq_codel limit 200 target 5ms" in text
    assert "Needs --shape if the interface itself is faster than 20 Mbps." in text
    assert "so far" not in text and "Loss is" not in text


FIFO_ALONE = {"fifo": (14, runs(FIFO))}


def test_the_page_has_each_target_beside_what_was_measured_then_waits_and_loss() -> None:
    figures = box_of(advised(MET)).figures
    assert figures is not None
    assert re.fullmatch(r"mean of \d+ runs of \d+ s, measured from \d+ s on", figures.title)
    assert figures.rows == [
        ["time in which the link is busy (utilization)", "99.6 ± 0.1 %", "at least 99 %", "met, 96 % sure"],
        ["mean wait in the buffer", "4.000 ± 0.004 ms", "", ""],
        ["99 of 100 packets wait at most", "12.00 ± 0.01 ms", "", ""],
        ["packets lost", "0.5000 ± 0.0005 %", "", ""],
    ]


def test_whether_a_shaper_is_needed_is_asked_last_at_the_rate_of_an_interface() -> None:
    fast = dataclasses.replace(site(), rate_bps=10**9)
    text = advice_view(advised(MET, where=fast), typed=Typed("linux")).text(80)
    boxed, below = text.split("╰", 1)
    assert "--shape" not in boxed
    said = " ".join(below.split())
    assert (
        "Right if eth0 itself sends at 1 Gbps; if it is faster, --shape." in said and "Needs --sh" not in said
    )
    other = advice_view(advised(FIFO_ALONE, where=fast), typed=Typed("junos")).text(80)
    assert "Needs --shape if the interface itself is faster than 1 Gbps." in " ".join(other.split())
    shaped = advice_view(advised(MET, where=fast), typed=Typed("linux", shape=True)).text(80)
    assert "--shape" not in shaped


@pytest.mark.parametrize(
    ("rate_bps", "device", "is_shaped"),
    [
        (20_000_000, None, True),
        (100_000_000, None, False),
        (622_000_000, None, False),
        (155_000_000, None, False),
        (150_000_000, None, True),  # nobody writes STM-1 so
        (45_000_000, None, False),
        (34_500_000, None, True),  # within 1 % of E3 by chance
        (34_610_000, None, True),
        (100_000_000, "xe-0", True),
    ],
)
def test_where_hardly_an_interface_has_the_rate_a_shaper_is_typed_by_default(
    rate_bps: int, device: str | None, *, is_shaped: bool
) -> None:
    typed = Typed("linux", device).shaped_by_default(rate_bps)
    assert typed.shape == typed.is_presumed == is_shaped
    where = dataclasses.replace(site(), rate_bps=rate_bps)
    text = " ".join(advice_view(advised(MET, where=where), typed=typed).text(80).replace("│", " ").split())
    assert ("--no-shape if the interface itself sends so." in text) == is_shaped, text
    assert ("htb" in text) == is_shaped
    assert not Typed("openwrt").shaped_by_default(20_000_000).is_presumed  # its lines always shape
    assert Typed("linux", device).shaped_by_default(rate_bps, is_estimated=True).is_presumed


@pytest.mark.parametrize(
    ("platform", "device", "rate_bps", "is_shaped"),
    [
        ("ios-xe", None, 45_000_000, True),  # its lines are for GigabitEthernet
        ("ios-xe", "Serial0/1/0", 45_000_000, False),
        ("ios-xe", None, 100_000_000, False),
        ("junos", None, 622_000_000, True),
        ("junos", "so-0/0/0", 622_000_000, False),
    ],
)
def test_lines_for_an_ethernet_interface_shape_to_the_rate_of_a_leased_line(
    platform: str, device: str | None, rate_bps: int, *, is_shaped: bool
) -> None:
    assert Typed(platform, device).shaped_by_default(rate_bps).is_presumed == is_shaped


def test_a_target_is_as_sure_as_all_settings_that_were_tried_leave_it() -> None:
    targets = ("utilization >= 99 %", "wait_p99 <= 41.02 ms")
    advice = advised({"fifo": (14, runs(FIFO))}, targets)
    answer = advice.answer
    alone = {check.target.name: check.confidence for check in answer.checks}
    doubled = 1.0 - 2.0 * (1.0 - answer.confidence)  # one candidate before it was refused
    later = dataclasses.replace(answer, confidence=doubled)
    text = " ".join(box(dataclasses.replace(advice, entries={answer.name: later})))
    least = min(alone.values())
    assert least < 0.95 and sure_text(least) not in text
    assert sure_text(doubled) in text


def test_no_setting_that_meets_is_said_first_with_what_helps() -> None:
    targets = ("utilization >= 99 %", "wait_p99 < 3 ms")
    advice = advised(MET, targets, sensitivity=[Sensitivity("half the RTT", "half the RTT", {}, (), None)])
    lines = box(advice)
    text = " ".join(lines)
    assert lines[1] == "No setting that was tried meets both targets."
    assert "- Utilization at least 99 %: fq_codel, target 5 ms, with 99th percentile wait 12 ms." in text
    assert "- 99th percentile wait at most 3 ms: nothing that was tried (nearest: 12 ms, fq_codel" in text
    assert "Closest: fq_codel: target 5 ms, limit 200 packets" in text
    assert "99th percentile wait 12.00 ± 0.01 ms, target 3 ms: missed by 9 ms" in text
    whole = " ".join(advice_view(advice).text(300).replace("│", "").split())
    assert "99th percentile wait at most 3 ms: by none (nearest: " in whole
    assert "All met with half the RTT." in whole
    assert "what if" not in text
    late = box(dataclasses.replace(advised(MET, targets), start_measured=True))
    assert late[1].startswith("Not known yet: BBR flows fill any buffer at their start")
    assert "It meets" not in text
    assert "type nothing, since this misses what was asked" in " ".join(text.split())


@pytest.mark.parametrize("platform", ["linux", "openwrt"])
def test_nothing_is_to_be_typed_that_misses_a_target(platform: str) -> None:
    advice = advised(MET, ("utilization >= 99 %", "wait_p99 < 3 ms"))
    assert not advice.choice.meets
    text = View([*advice_view(advice, typed=Typed(platform)).parts]).text(200)
    assert "tc qdisc" not in text and "To type on" not in text


def test_where_no_buffer_meets_it_tells_up_to_where_was_searched() -> None:
    text = " ".join(box(advised({"fifo": (14, runs(FIFO))}, ("loss <= 0.1 %",))))
    assert "searched fifo up to 200 packets." in " ".join(text.split())


def test_where_the_platform_ends_the_search_it_says_so_and_what_its_most_gives() -> None:
    bound = Bound("buffer-size temporal", "us", 120_000, "a source")
    where = dataclasses.replace(site(), allowed=Allowed("junos", "Juniper Junos", 1, 200, bound))
    lines = box(advised({"fifo": (14, runs(FIFO))}, ("loss <= 0.1 %",), where=where))
    said = " ".join(" ".join(lines).split())
    assert (
        "No buffer that Juniper Junos takes, up to 200 packets (120 ms), meets the target. Closest:" in said
    )
    assert (
        "searched fifo up to 200 packets (120 ms), the most that Juniper Junos takes. There loss 0.4995 % "
        "(not 0.1 %)."
    ) in said
    beyond = dataclasses.replace(where, allowed=Allowed("junos", "Juniper Junos", 1, 201, bound))
    said = " ".join(box(advised({"fifo": (14, runs(FIFO))}, ("loss <= 0.1 %",), where=beyond)))
    assert "No setting that was tried meets the target." in said


def test_runs_that_may_be_too_short_are_said_to_be_so_in_the_box() -> None:
    why = ShortRuns(("only 3 s are measured, but a flow takes up to 60 s from loss to loss",), 40, 160)
    advice = dataclasses.replace(advised(MET), short_runs=why)
    assert f"too short {why}" in " ".join(" ".join(box(advice)).split())
    many = [Sensitivity("", f"change {index} of the scenario", {}, (), None) for index in range(24)]
    full = dataclasses.replace(advised(MET, sensitivity=many), short_runs=why)
    said = " ".join(" ".join(box(full)).split())
    assert f"too short {why}" in said and "beware" not in said
    assert advice_view(full).text(200).count(f"Note: {why}.") == 1


def test_what_is_typed_says_what_it_holds_if_that_is_not_what_was_checked() -> None:
    fast = dataclasses.replace(site(), rate_bps=25_000_000_000)
    advice = advised({"fifo": (15, runs(FIFO))}, where=fast)
    assert "8 us hold 16 packets; 15 were checked." in " ".join(box(advice, Typed("junos")))
    assert "were checked" not in " ".join(box(advice))
    slow = dataclasses.replace(site(), rate_bps=1_250_000_000)
    exact = advised({"fifo": (8192, runs(FIFO))}, where=slow)  # 78644 us take a tenth of a packet more
    assert "were checked" not in " ".join(box(exact, Typed("junos")))
    held = amounts_to(exact.configuration("junos"), 8000)
    assert held == "78.6 ms hold 8192 packets; 8000 were checked."
    even = dataclasses.replace(site(), rate_bps=12_000_000)
    assert "were checked" not in " ".join(
        box(advised({"fifo": (15, runs(FIFO))}, where=even), Typed("junos"))
    )


def test_a_conflict_tells_which_buffers_meet_which_target() -> None:
    given = {"fifo": (14, runs(FIFO))}
    text = " ".join(box(advised(given, ("utilization >= 99 %", "wait_mean < 15 ms"))))
    assert (
        "meets both targets; they contradict each other here. - Utilization at least 99 %: fifo, 14 packets, "
        "with mean wait 20 ms. - Mean wait at most 15 ms: fifo, 1 packet, with utilization 90 %." in text
    )


def test_a_conflict_tells_where_a_target_is_met_beyond_the_buffers_that_were_searched_for_all() -> None:
    targets = ("loss <= 0.1 %", "wait_mean < 15 ms")
    advice = advised({"fifo": (14, runs(FIFO))}, targets)
    near = "nothing that was tried (nearest: 0.5 %, fifo, 1 packet, with a mean wait of 1 ms)."
    text = " ".join(box(advice))
    assert f"- Loss at most 0.1 %: {near}" in text and "contradict" not in text
    large = {**FIFO, "loss": 0.0009, "wait_mean_ms": 300.0}
    found = {"fifo": (Beyond(advice.targets[0], 800, is_met=True, runs=2, values=(large,)),)}
    known = entry("fifo", 14, runs(FIFO), advice.targets, other={800: large})
    text = " ".join(box(dataclasses.replace(advice, beyond=found, entries={known.name: known})))
    assert "- Loss at most 0.1 %: fifo, 800 packets, with mean wait 300 ms." in text
    whole = advice_view(dataclasses.replace(advice, beyond=found)).text(300)
    assert "searched fifo up to 200 packets for all targets together." in " ".join(whole.split())
    less = {**FIFO, "loss": 0.002}
    none = {"fifo": (Beyond(advice.targets[0], 3200, is_met=False, runs=2, values=(less,)),)}
    tried = entry("fifo", 14, runs(FIFO), advice.targets, other={3200: less})
    assert tried.least is not None
    shown = dataclasses.replace(advice, beyond=none, entries={tried.name: tried})
    text = " ".join(advice_view(shown).text(300).split())
    assert "Loss at most 0.1 %: by none (nearest: 0.2 %, fifo, 3200 packets, with a mean wait" in text
    assert "- Loss at most 0.1 %: nothing that was tried (nearest: 0.2 %, fifo, 3200 packets" in " ".join(
        box(shown)
    )
    # one of two further runs meets it: nobody knows
    tried.least.memory.add({Run(3200, 1): {**FIFO, "loss": 0.0009}, Run(3200, 2): {**FIFO, "loss": 0.0009}})
    text = " ".join(box(shown))
    assert "- Loss at most 0.1 %: perhaps fifo, 3200 packets (0.13 %), with mean wait 20 ms." in text
    assert "meets loss at most" not in text and "contradict" not in text


def test_what_loses_much_is_not_named_first_where_a_target_is_given_up() -> None:
    made = advised({"fifo": (14, runs(FIFO))}, ("loss <= 0.1 %", "wait_mean < 15 ms"))
    fast = {**FIFO, "wait_mean_ms": 5.0}
    other: dict[int, Values] = {4: {**fast, "loss": 0.11}, 9: fast}
    for sizes, said in (
        ((4, 9), "without loss at most 0.1 %, fifo, 9 packets may meet the other (not proven; loss 0.5 %)"),
        ((4,), "without loss at most 0.1 %, fifo, 4 packets may meet the other, but lose 11 %"),
    ):
        tried = entry("fifo", 14, runs(FIFO), made.targets, other={size: other[size] for size in sizes})
        text = str(without_one(dataclasses.replace(made, entries={tried.name: tried})))
        assert f"{said[0].upper()}{said[1:]}" in text


def test_an_assumed_target_is_not_counted_among_those_that_were_asked_for() -> None:
    advice = advised(
        {"fifo": (14, runs(FIFO))}, ("loss <= 0.1 %", "wait_mean < 15 ms", "utilization >= 99 %")
    )
    assert "No setting that was tried meets all 3 targets." in box(advice)
    needs = dataclasses.replace(advice.needs, floor=advice.targets[2])
    text = " ".join(box(dataclasses.replace(advice, needs=needs)))
    assert "No setting that was tried meets both targets and our default, utilization 99 %." in text


def test_what_few_runs_say_of_the_other_targets_is_not_called_proven() -> None:
    targets = ("utilization >= 99 %", "loss <= 0.1 %", "wait_mean < 15 ms")
    fine: dict[int, Values] = {30: {**FIFO, "loss": 0.0}}
    made = advised({"fifo": (14, runs(FIFO))}, targets)
    found = entry("fifo", 14, runs(FIFO), made.targets, other=fine)
    view = advice_view(dataclasses.replace(made, entries={found.name: found}))
    text = " ".join(view.text(300).replace("│", "").split())
    may = "fifo, 30 packets may meet the others (not proven; mean wait 20 ms)"
    assert f"Without mean wait at most 15 ms, {may}" in text


def test_what_ifs_in_which_nothing_helps_are_a_sentence_and_no_table() -> None:
    targets = ("utilization >= 99 %", "wait_p99 < 3 ms")
    missed = advised(MET, targets).targets[1:]
    changes = [Sensitivity(f"{name} in all", name, {}, missed, None) for name in ("10 flows", "40 flows")]
    advice = advised(MET, targets, sensitivity=changes)
    text = " ".join(advice_view(advice).text(300).replace("│", "").split())
    assert "Other traffic does not help: 10 flows, 40 flows." in text and "What if:" not in text
    eased = dataclasses.replace(advice, sensitivity=(changes[0], dataclasses.replace(changes[1], missed=())))
    text = " ".join(advice_view(eased).text(300).split())
    assert "All met with 40 flows." in text and "What if:" in text


def test_what_is_met_in_the_mean_only_is_not_confirmed() -> None:
    spread: list[Values] = [{**FIFO, "utilization": share} for share in (0.97, 1.0, 0.985, 1.0, 0.999)]
    advice = advised({"fifo": (14, spread)})
    assert advice.choice.meets and not advice.met
    lines = box(advice)
    assert lines[1] == "Perhaps run fifo with a buffer of 14 packets (21 KB, 8.4 ms)."
    said = " ".join(lines[2:4])
    assert said.startswith("Not proven: the mean of 5 runs meets the target, but that is ")
    assert "% sure; 95 % is asked for." in said
    assert "target 99 %: not proven, " in " ".join(lines)
    refused = dataclasses.replace(advice, choice=dataclasses.replace(advice.choice, meets=False))
    assert box(refused)[1] == "No setting is proven to meet the target: 95 % sure is asked for."


def test_identical_runs_have_no_interval_and_no_confidence() -> None:
    given = {"fifo": (14, runs(FIFO, identical=True))}
    text = "\n".join(box(advised(given)))
    assert "nothing is random here." in " ".join(text.split())
    assert "±" not in text and "% sure" not in text


def test_what_would_change_it_says_what_suffices_and_what_is_missed() -> None:
    target = advised(MET).targets[0]
    sensitivity = [
        Sensitivity("half the flows (2)", "2 flows", {"utilization": 0.981}, (target,), None),
        Sensitivity("twice the RTT", "twice the RTT", {"utilization": 0.997}, (), Rough(216, (200, 216))),
    ]
    text = " ".join(box(advised(MET, sensitivity=sensitivity)))
    assert "what if   2 flows        missed: 98.1 %" in text
    assert "twice the RTT  met" in text
    assert "Fragile: 1 of 2 what-ifs miss the target: with 2 flows (98.1 %)." in text


@pytest.mark.parametrize(
    ("targets", "lost", "said"),
    [
        (("utilization >= 99 %",), 0.031, "met; about 8 suffice, but lose 3.1 %"),
        (("utilization >= 99 %",), 0.019, "met; about 8 suffice"),
        (("utilization >= 99 %", "loss <= 4 %"), 0.031, "met; about 8 suffice"),
    ],
)
def test_less_that_suffices_says_what_it_loses(targets: tuple[str, ...], lost: float, said: str) -> None:
    """About 8 packets sufficed with CUBIC alone, and lost what is worth a word."""
    made = advised({"fifo": (14, runs(FIFO))}, targets)
    alone = Sensitivity("cubic alone", "cubic alone", FIFO, (), Rough(8, (8, 14)), least_loss=lost)
    missed = Sensitivity("2 flows", "2 flows", {"utilization": 0.9}, made.targets[:1], Rough(40, (14, 40)))
    missed = dataclasses.replace(missed, least_loss=lost)
    text = " ".join(" ".join(box(dataclasses.replace(made, sensitivity=(alone, missed)))).split())
    assert f"cubic alone {said} " in text and (", but lose" in text) == (", but" in said)
    more = "; about 40 do" + (", but lose 3.1 %" if ", but" in said else "")
    assert more in text


def test_what_would_change_it_is_said_in_fewer_words_where_it_would_be_cut() -> None:
    alone = {"fifo": (14, runs(FIFO))}
    target = advised(alone).targets[0]
    of_size = [
        Sensitivity("", f"{name} the flows", {"utilization": 0.981}, (target,), Rough(size, (14, 28, 400)))
        for name, size in (("half", 300), ("twice", 310), ("thrice", 320), ("a quarter of", None))
    ]
    text = " ".join(box(advised(alone, sensitivity=of_size[:2])))
    assert "half the flows   missed: 98.1 %; about 300 do" in text
    assert "twice the flows  missed: 98.1 %; about 310 do" in text
    text = " ".join(box(advised(alone, sensitivity=of_size[-1:])))
    assert "a quarter of the flows  missed: 98.1 %; none up to 400 does" in text
    text = " ".join(box(advised(alone, sensitivity=[*of_size, *of_size, of_size[0]])))
    assert "what if   Utilization missed with half the flows (98.1 %; about 300 do), twice" in text
    assert "Fragile: 9 of 9 what-ifs miss the target; about 320 packets hold for all but a" in text
    many = [Sensitivity("", f"change {index} of the scenario", {}, (), None) for index in range(24)]
    text = " ".join(box(advised(alone, sensitivity=[*many, *of_size])))
    assert "what if   Met in 24 of 28 what-ifs." in text


def test_a_difference_that_more_runs_may_show_to_matter_leaves_the_queue_undecided() -> None:
    spread = [{**FIFO, "call.call_r": rating} for rating in (75.0, 70.0, 72.0, 71.0, 20.0)]
    advice = advised({"fifo": (14, runs(FIFO)), "fq_codel": (5000, spread)})
    (rival,) = advice.choice.rivals
    assert advice.choice.name.startswith("fifo") and rival.is_equal
    assert rival.behind.mean is not None and rival.behind.mean > 0.05
    said = " ".join(" ".join(box(advice)).split())
    assert "worse by 7 ± 24 %: not decided by 5 runs." in said
    assert (
        "The queue is not decided: 5 runs do not tell whether users would notice the difference to fq_codel"
        in said
    )
    assert advice.to_dict()["undecided"] == [rival.name]


def test_what_the_scenario_asks_for_is_said_to_be_its_own() -> None:
    weights = {"calls": 10.0, "latency": 2.0}
    text = " ".join(box(advised(MET, weights=weights, origin="scenario")))
    assert "by [advise] of the scenario: the target; weights: latency 2, calls 10, others 1" in text
    assert "[advise]" not in " ".join(box(advised(MET, weights=weights)))


def test_many_groups_share_a_line_and_the_box_still_fits() -> None:
    users = [Users(f"group{index}", "bulk", 10, "reno") for index in range(9)]
    values = {**FIFO}
    for index in range(9):
        values |= {f"group{index}.goodput_bps": 1e6 * (index + 1), f"group{index}.jain_index": 0.9}
    aspects = ASPECT_OF_MANY
    text = " ".join(box(advised({"fifo": (14, runs(values))}, where=site(*users), aspects=aspects)))
    assert "9 groups 1 (group0) to 9 Mbps (group8); Jain's index ≥ 0.9 (fairness; 1 is equal)" in text


ASPECT_OF_MANY = [Aspect("throughput", "group0: goodput a flow", "group0.goodput_bps", "more")]


@pytest.mark.parametrize(("width", "framed"), [(60, True), (40, False)])
def test_targets_are_whole_on_a_narrow_terminal(width: int, *, framed: bool) -> None:
    targets = ("utilization >= 99 %", "wait_p99 < 20 ms", "call.r > 80")
    view = View([box_of(advised(MET, targets), None)])
    lines = view.text(width).splitlines()
    assert max(map(len, lines)) <= width and ("│" in view.text(width)) == framed
    text = " ".join(" ".join(line.strip("│ ") for line in lines[1:]).split())
    assert "met: utilization 99.6 % (asked 99 %), 99th percentile wait 12 ms (asked 20 ms)" in text
    assert "call: rating R 93 (asked 80)" in text
    assert "…" not in text


@pytest.mark.parametrize("width", [1, 10, 59])
def test_lines_to_type_are_whole_where_no_frame_fits(width: int) -> None:
    box = box_of(advised(MET), Typed("linux"))
    lines = View([box, BelowBox(box)]).text(width).splitlines()
    assert "tc qdisc del dev eth0 root 2>/dev/null || true" in [line.rstrip() for line in lines]


def test_what_misses_for_sure_is_distinguished_from_what_is_not_proven() -> None:
    spread = [{**FIFO, "utilization": share} for share in (0.97, 1.0, 0.985, 1.0, 0.99)]
    given: dict[str, tuple[int, list[Values]]] = {
        "fifo": (14, [*spread]),
        "codel": (5000, [*runs({**FIFO, "utilization": 0.9})]),
        "fq_codel": (5000, [*runs(FQ_CODEL)]),
    }
    advice = advised(given)
    text = advice_view(advice).text(300)
    assert "target 99 %: not proven, the mean misses it" in " ".join(box(advice))
    for row, verdict in (
        ("fq_codel", "met"),
        ("fifo", "not proven: utilization"),
        ("codel", "missed: utilization"),
    ):
        assert re.search(rf"^ {row}, .*  {verdict}  ", text, re.MULTILINE), row
    known = {each["queue"]: each["checks"][0]["verdict"] for each in advice.to_dict()["queues"]}
    assert known == {"fq_codel": "met", "fifo": "not proven", "codel": "missed"}


def test_a_platform_without_the_queue_gets_the_best_that_it_has() -> None:
    text = "\n".join(box(advised(MET), Typed("junos")))
    assert "junos has no fq_codel; for fifo, 14 packets:" in text
    short = box(advised(MET, ("utilization >= 99 %", "wait_p99 < 20 ms")), Typed("junos"))
    assert "junos has no fq_codel; for fifo, 14 packets, which misses a target:" in " ".join(short)
    long = View([*advice_view(advised(MET), typed=Typed("openwrt")).parts]).text(80)
    assert "the lines for openwrt are below this box" in long
    whole = "    option eqdisc_opts 'interval 100ms flows 1024 quantum 1514 drop_batch 64'"
    assert whole in View([*advice_view(advised(MET), typed=Typed("openwrt")).parts]).text(60).splitlines()
    assert "config queue 'bufferlab'" in long


def test_notes_are_directly_below_the_lines_that_the_box_has_no_room_for() -> None:
    given = advised({"fifo": (14, runs(FIFO))})
    known = given.configuration("routeros").notes
    lines = View([*advice_view(given, typed=Typed("routeros")).parts]).text(300).splitlines()
    notes = [line.removeprefix("note").strip() for line in lines if line.startswith("note  ")]
    assert known and notes[: len(known)] == [*known]
    long = View([*advice_view(given, typed=Typed("junos")).parts]).text(200)  # lines that the box would break
    assert "the lines for junos are below this box" in long
    assert "buffer-size temporal 8400\n" in "\n".join(line.rstrip() for line in long.splitlines())
    lines = View([*advice_view(advised(MET), typed=Typed("openwrt")).parts]).text(200).splitlines()
    begin = lines.index("To type on openwrt")
    notes = [line.removeprefix("note").strip() for line in lines[begin:] if line.startswith("note  ")]
    written = advised(MET).configuration("openwrt").notes
    own = [each for each in written if not each.startswith("Linux's CoDel differs")]  # with --explain
    assert len(own) == len(written) - 1
    assert notes[: len(own)] == own
    of_runs = ("was not searched", "The simulated flows have none")
    assert [each for each in notes[len(own) :] if not any(part in each for part in of_runs)] == []
    assert not any(line.startswith("note  ") for line in lines[:begin])


@pytest.mark.parametrize("platform", ["linux", "junos", "openwrt"])
def test_how_to_verify_and_to_undo_stands_below_the_notes(platform: str) -> None:
    given = advised({"fifo": (14, runs(FIFO))})
    made = given.configuration(platform)
    lines = View([*advice_view(given, typed=Typed(platform)).parts]).text(300).splitlines()
    at = [number for number, line in enumerate(lines) if line.startswith("note  ")][-1]
    verify, undo = (line.split(maxsplit=1) for line in lines[at + 1 : at + 3])
    assert (verify[0], undo[0]) == ("verify", "undo")
    assert all(f"'{command}'" in verify[1] for command in made.verify) and made.reads in verify[1]
    assert all(f"'{command}'" in undo[1] for command in made.undo)
    assert not any(command in line for line in box(given, Typed(platform)) for command in made.verify)


def test_values_that_a_platform_cannot_take_are_said() -> None:
    text = " ".join(box(advised({"fifo": (14, runs(FIFO))}, where=SLOW), Typed("junos")))
    assert "junos cannot take it (" in text and "at most 200000 us (Junos OS" in text
    assert "buffer-size)), nor is there another" in text


def test_less_that_nobody_asked_for_is_named_with_its_reason_and_the_document_agrees() -> None:
    asked = advised(MET, ("utilization >= 90 %",))
    floor = make_target("utilization", 0.99)
    needs = dataclasses.replace(asked.needs, targets=(floor,), floor=floor, targets_from="default")
    eased = dataclasses.replace(asked, targets=(floor,), needs=needs)
    said = " ".join(" ".join(box(eased)).split())
    assert "target 90 %: met; our default at a usual delay, else 99 %" in said
    document = eased.to_dict()
    assert document["targets"] == [each["target"] for each in document["checks"]]
    assert (
        document["targets"] == ["utilization at least 90 %"] and document["floor"] == document["targets"][0]
    )
    assert "gives up" not in " ".join(box(asked))
    assert "(90 % of a queue at its specification's delay)" in needs.assumed(eases=True)[0]
    assert "95 %" not in needs.assumed()[0]


def test_what_a_target_costs_users_is_said_at_the_queue_that_misses_it() -> None:
    """A bound on the wait that the other queue misses narrowly, whose call is far better."""
    late = {**FQ_CODEL, "wait_p99_ms": 45.0}
    given = {"fifo": (14, runs(FIFO)), "fq_codel": (5000, runs(late))}
    said = " ".join(" ".join(box(advised(given, ("wait_p99 < 43 ms",)))).split())
    assert re.search(
        r"target 43 ms: missed by 2 ms; users fare 21\.33 ± 0\.01 % better than with fifo\.", said
    )
    first = said.partition(" link ")[0]
    assert "But users fare 21.33 ± 0.01 % better with fq_codel, target " in first
    assert "which misses: 99th percentile wait 45 ms (asked 43 ms)." in first
    near = {**FIFO, "wait_p99_ms": 45.0, "call.call_r": 80.0}
    given["fq_codel"] = (5000, runs(near))
    assert "users fare" not in " ".join(box(advised(given, ("wait_p99 < 43 ms",)))).partition(" link ")[0]
    worse = {**FIFO, "wait_p99_ms": 45.0}
    given["fq_codel"] = (5000, runs(worse))
    assert "better" not in " ".join(box(advised(given, ("wait_p99 < 43 ms",))))


def test_a_larger_buffer_than_the_least_is_shown_with_what_the_least_costs() -> None:
    advice = advised({"fifo": (14, runs(FIFO))}, ("utilization >= 95 %",))
    (given,) = advice.entries.values()
    assert given.least is not None
    least = dataclasses.replace(given.least, size=6)
    larger = dataclasses.replace(given, least=least, least_behind=Estimate(0.06, 0.012))
    shown = dataclasses.replace(advice, entries={given.name: larger})
    said = " ".join(" ".join(box(shown)).split())
    assert (
        "least The least that meets the targets: 6 packets; users fare 6 ± 1 % worse with it than with 14."
        in said
    )
    assert "price" not in said
    assert shown.to_dict()["queues"][0]["least_behind"] == 0.06
    assert "The least" not in " ".join(box(advice))


@pytest.mark.parametrize(
    ("stage", "beyond", "expected"),
    [
        ("first", None, "not sure: 1 packet misses in few runs"),
        ("first", 3, "not known: no smaller one was tried, and 3 packets surely miss"),
        ("first", 9, "between 10 and 14 packets"),
        ("first", 13, None),
        ("final", None, None),
    ],
)
def test_a_first_answer_says_where_the_least_buffer_may_be(
    stage: Stage, beyond: int | None, expected: str | None
) -> None:
    """Its search ends with the first buffer that is confirmed, and goes on to smaller ones only later.

    An interval whose ends are more than twice apart says nothing: what was tried does.
    """
    advice = advised({"fifo": (14, runs(FIFO))}, ("utilization >= 95 %",), stage=stage)
    found = advice.answer.least
    assert found is not None
    answer = dataclasses.replace(advice.answer, least=dataclasses.replace(found, beyond=beyond))
    text = " ".join(" ".join(box(dataclasses.replace(advice, entries={answer.name: answer}))).split())
    line = f"least {expected}; this is the first that was confirmed."
    assert (line in text) == (expected is not None)
    assert ("least not " in text or "least between" in text) == (expected is not None)


@pytest.mark.parametrize(
    ("size", "near"), [(1, None), (2, "a packet smaller"), (3, "a packet or two smaller"), (40, None)]
)
def test_below_one_packet_there_is_no_smaller_buffer(size: int, near: str | None) -> None:
    advice = advised({"fifo": (size, runs(FIFO))}, ("utilization >= 95 %",), stage="first")
    found = advice.answer.least
    assert found is not None
    least = dataclasses.replace(found, beyond=size - 1 or None)
    answer = dataclasses.replace(advice.answer, least=least)
    text = " ".join(" ".join(box(dataclasses.replace(advice, entries={answer.name: answer}))).split())
    assert ("a packet" in text) == (near is not None)
    assert near is None or f"least a buffer that is {near} may do, too" in text


def test_an_aspect_that_is_twice_as_bad_comes_before_users_as_a_whole() -> None:
    advice = advised(MET)
    (rival,) = advice.choice.rivals
    aspect = Aspect("throughput", "cubic: goodput a flow", "cubic.goodput_bps", "more")
    behind = Estimate(0.36, 0.01)
    starving = dataclasses.replace(rival, behind=behind, is_equal=False, worst=(aspect, 0.96))
    fifo = entry("fifo", 14, runs({**FIFO, "cubic.goodput_bps": 0.9e6}), advice.targets)
    chosen = entry("fq_codel", 5000, runs({**FQ_CODEL, "cubic.goodput_bps": 25e6}), advice.targets)
    text = behind_text(starving, fifo, chosen)
    assert text.startswith(
        "cubic: goodput a flow 0.9 Mbps instead of 25 Mbps; users fare 36 ± 1 % worse than with"
    )
    less = dataclasses.replace(starving, worst=(aspect, 0.4))
    assert behind_text(less, fifo, chosen).startswith("users fare 36 ± 1 % worse than with")


def test_a_queue_of_which_less_use_is_asked_says_so_where_it_uses_less() -> None:
    idler = runs({**FQ_CODEL, "utilization": 0.95})
    asked = advised({"fifo": (14, runs(FIFO)), "fq_codel": (5000, idler)}, origin="default")
    floor = asked.targets[0]
    name, entry_of = next((name, each) for name, each in asked.entries.items() if each.queue.knob == "target")
    eased = dataclasses.replace(entry_of.checks[0], target=dataclasses.replace(floor, bound=0.9))
    entries = {**asked.entries, name: dataclasses.replace(entry_of, checks=(eased,))}
    needs = dataclasses.replace(asked.needs, floor=floor)
    rivals = tuple(dataclasses.replace(each, missed=()) for each in asked.choice.rivals)
    choice = dataclasses.replace(asked.choice, rivals=rivals)
    usual = dataclasses.replace(asked, entries=entries, needs=needs, choice=choice)
    assert "why not   fq_codel, 5 ms (90 % asked): " in "\n".join(box(usual))
    assert "(90 % asked)" not in "\n".join(box(asked))


def test_the_title_has_between_which_round_trips_flows_are_where_there_is_room() -> None:
    spread_out = dataclasses.replace(site(), rtts_ms=(4.0, 76.0))
    assert place_text(spread_out) == "By hand: west, 20 Mbps, mean RTT 40 ms (4 to 76)"
    alike = dataclasses.replace(site(), rtts_ms=(40.0, 40.0))
    assert place_text(alike).endswith(" Mbps, RTT 40 ms") and place_text(site()).endswith(" mean RTT 40 ms")
    long = dataclasses.replace(spread_out, name="A name that nearly fills a title, as some have")
    assert place_text(long).endswith("mean RTT 40 ms")
    assert place_text(spread_out, "calls").endswith("mean RTT 40 ms (4 to 76), for calls")
    assert place_text(spread_out, {"calls": 10.0}) == place_text(spread_out)


def test_what_is_known_about_has_two_digits() -> None:
    assert [about_size(size) for size in (1, 17, 99, 358, 1435, 20734)] == [1, 17, 99, 360, 1400, 21000]


def test_late_waits_have_a_column_where_there_is_room_for_all() -> None:
    talking = [each for each in ASPECTS if each.metric.startswith("call.")]
    text = "\n".join(box(advised(MET, aspects=talking)))
    assert "means of 5 runs   used %  lost %  wait ms  p99 ms  call R" in text
    assert "answer    fq_codel, 5 ms      99.6     0.5        4      12      93" in text
    assert "p99" not in "\n".join(box(advised(MET)))


def test_what_stands_above_rows_of_the_table_is_one_cell() -> None:
    """It was torn over the columns on the page: "with cubic alone", ", 4 run", "s:"."""
    answer = advised(MET).answer
    rows = [Compared("", "with cubic alone, 4 runs, and more", None), Compared("answer", "fifo", answer)]
    column = Column("used", "%", "utilization", FRACTION)
    _, above, below = in_columns(rows, [column], 5)
    assert above.cells() == ["with cubic alone, 4 runs, and more"] and len(below.cells()) == 2


@pytest.mark.parametrize(
    "queue",
    [
        '{discipline = "fq_codel", target = "5000 us"}',
        '{discipline = "diffserv", classes = "EF: priority 2 %; AF31: weight 3; rest: weight 1 fair_queue"}',
    ],
)
def test_the_command_for_other_lines_can_be_pasted(queue: str) -> None:
    words = ["--rate", "150 Mbps", "--queue", queue, "--buffer", "1000 packets", "--platform", "linux"]
    folded = LINUX.folded([shlex.join(["printf", "%s|", *words])])
    assert len(folded) > 1 and all(len(line) <= WIDTH for line in folded)
    pasted = subprocess.run(["sh", "-c", "\n".join(folded)], capture_output=True, text=True, check=True)
    assert pasted.stdout.split("|")[:-1] == words


def test_no_target_is_named_that_may_be_given_up_where_none_helps() -> None:
    targets = ("utilization >= 99.99 %", "loss <= 0.1 %", "wait_mean < 15 ms")
    made = advised({"fifo": (14, runs(FIFO))}, targets)
    few = entry("fifo", 14, runs(FIFO), made.targets, other={1: {**FIFO, "wait_mean_ms": 1.0}, 9: FIFO})
    text = advice_view(dataclasses.replace(made, entries={few.name: few})).text(300)
    assert "Whichever is given up, nothing that was tried meets the others." in text
    both = " ".join(box(made))  # a target that nothing meets, and two that exclude each other
    assert "No setting that was tried meets all 3 targets. - Utilization at least 99.99 %: fifo, 200" in both
    assert "- Loss at most 0.1 %: nothing that was tried (nearest: 0.5 %, fifo, 1 packet" in both


def test_a_limit_that_is_sent_before_the_target_is_reached_is_not_called_ample() -> None:
    """Of 200 packets at 2 Gbps; the box had both that it is ample and a loss that it makes."""
    given = {"fq_codel": (5000, runs(FQ_CODEL))}
    fast = advised(given, where=dataclasses.replace(site(), rate_bps=2_000_000_000))
    notes = " ".join(Typed().lines(fast).notes)
    assert "packets is sent in 1.2 ms, so hardly a packet waits as long as the target 5 ms" in notes
    assert "ample" not in notes
    assert "ample" in " ".join(Typed().lines(advised(given)).notes)


def test_a_limit_that_bounds_memory_alone_is_not_called_too_much() -> None:
    given = {"fq_codel": (5000, runs(FQ_CODEL))}
    slow = advised(given, where=dataclasses.replace(site(), rate_bps=100_000))
    assert "200 packets (300 KB, 24 s when full)" in " ".join(box(slow))
    assert "hardly what you want" not in " ".join(Typed().lines(slow).notes)
