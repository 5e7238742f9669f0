"""What stands behind an advice: its tables, figures, document and explanation."""

from __future__ import annotations

import dataclasses
import re
from itertools import pairwise
from typing import Any, cast

import pytest
from matplotlib.figure import Figure

from bufferlab.render.advise.buffers import spread
from bufferlab.render.advise.compared import comparison
from bufferlab.render.advise.evidence import evidence
from bufferlab.render.advise.felt import behind_text, fare_text
from bufferlab.render.advise.trade import room
from bufferlab.render.advise.typed import Typed
from bufferlab.render.advise.view import advice_view
from bufferlab.render.advise.words import sure_text
from bufferlab.render.view import View
from bufferlab.render.words import measured
from bufferlab.results.metrics.metric import BITS_PER_S, FRACTION, MILLISECONDS
from bufferlab.stats import Estimate
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.entry import Users
from bufferlab.studies.advise.sensitivity import Sensitivity
from bufferlab.studies.advise.today import Today
from bufferlab.studies.choosing.objectives import Aspect
from bufferlab.studies.least import Run
from bufferlab.studies.targets import Values

from ..advised import CALL, DOWNLOADS, FIFO, FQ_CODEL, advised, entry, fifo_today, runs, site
from .boxes import MET, box

ASPECT_OF_MANY = [Aspect("throughput", "group0: goodput a flow", "group0.goodput_bps", "more")]


def test_the_explanation_says_what_other_thresholds_would_take() -> None:
    better = {**FIFO, "wait_mean_ms": 15.0}  # users fare 2.8 % better, round trips are 8 % shorter
    advice = advised({"fifo": (14, runs(FIFO)), "fq_codel": (5000, runs(better))})
    text = advice_view(advice, typed=Typed(), explain=True).text(400)
    assert advice.choice.name.startswith("fifo")
    assert "half of each would take fq_codel, target 5 ms; twice as much fifo, 14 packets." in text
    said = " ".join(" ".join(box(advice)).split())
    assert (
        "why not fq_codel, 5 ms: better by 2.9 %, too little to notice (5 %); fifo is "
        "preferred: every device has it."
    ) in said
    close = "With thresholds a fifth lower (4 % instead of 5 %), fq_codel, target 5 ms would be taken."
    assert f"close {close}" in said and close in text
    untried = dataclasses.replace(advice, changes=6)  # other traffic decides, whatever the thresholds
    assert "close" not in " ".join(box(untried))


def test_the_price_is_shown_where_half_the_buffer_is_nearly_as_good() -> None:
    targets = ("loss <= 1 %",)
    lossy: dict[int, Values] = {1: {**FIFO, "loss": 0.045}, 150: {**FIFO, "loss": 0.011}}
    dear = advised({"fifo": (14, runs(FIFO))}, targets)
    assert "price" not in " ".join(box(dear))  # a link that is hardly used is no bargain
    cheap = entry("fifo", 14, runs(FIFO), dear.targets, other=lossy)
    text = " ".join(box(dataclasses.replace(dear, entries={cheap.name: cheap})))
    assert (
        "price     1 packet (1.5 KB, 0.6 ms) uses 99.4 % of the link, with loss 4.5 % (missed: 1 %) and a "
        "mean wait of 20 ms (1 run). The target takes 8.4 ms of buffer and a mean wait of 20 ms."
    ) in text
    free = {1: {**FIFO, "loss": 0.005}, 150: FIFO}
    met = entry("fifo", 14, runs(FIFO), dear.targets, other=free)
    assert "price" not in " ".join(
        box(dataclasses.replace(dear, entries={met.name: met}))
    )  # no target takes 14


def test_the_room_that_a_bound_on_waits_leaves_is_shown_where_the_least_buffer_is_taken() -> None:
    targets = ("utilization >= 99 %", "wait_mean <= 30 ms")
    plain = advised({"fifo": (14, runs(FIFO))}, targets)
    tried: dict[int, Values] = {
        25: {**FIFO, "wait_mean_ms": 24.0, "loss": 0.004},
        40: {**FIFO, "wait_mean_ms": 29.0, "loss": 0.003},
        60: {**FIFO, "wait_mean_ms": 41.0},
        80: {**FIFO, "wait_mean_ms": 29.0},  # behind a miss
    }
    roomy = entry("fifo", 14, runs(FIFO), plain.targets, other=tried)
    same = dataclasses.replace(plain, entries={roomy.name: roomy})
    text = " ".join(" ".join(box(same)).split())
    assert (
        "14 packets are about the least; up to 40 packets meet all targets, too: loss 0.3 % instead of 0.5, "
        "mean wait 29 ms instead of 20."
    ) in text
    assert "room Larger" not in text
    tried[40] = {**tried[40], "loss": 0.004}  # not clearly less
    roomy = entry("fifo", 14, runs(FIFO), plain.targets, other=tried)
    text = " ".join(" ".join(box(dataclasses.replace(plain, entries={roomy.name: roomy}))).split())
    assert (
        "room Larger buffers meet all targets, too, up to 40 packets (60 KB, 24 ms): loss 0.4 %, mean wait "
        "29 ms (1 run)."
    ) in text and "about the least" not in text
    close = entry("fifo", 14, runs(FIFO), plain.targets, other={16: FIFO, 60: tried[60]})
    assert room(dataclasses.replace(plain, entries={close.name: close})) is None  # 16 is no larger buffer
    unbound = advised({"fifo": (14, runs(FIFO))}, targets[:1])
    free = entry("fifo", 14, runs(FIFO), unbound.targets, other=tried)
    assert room(dataclasses.replace(unbound, entries={free.name: free})) is None


@pytest.mark.parametrize(
    ("behind", "said"),
    [
        (
            Estimate(0.11, 0.17),
            "users fare 11 ± 17 % worse than with X as a whole, which may be chance, but Y",
        ),
        (
            Estimate(-0.11, 0.17),
            "users fare 11 ± 17 % better than with X as a whole, which may be chance, but Y",
        ),
        (Estimate(-0.11, 0.02), "users fare 11 ± 2 % better than with X as a whole, but Y"),
        (Estimate(0.11, None), "users fare 11 % worse than with X, most: Z"),
        (Estimate(0.95, 0.01), "users fare more than 10 times worse than with X, most: Z"),
    ],
)
def test_how_much_worse_users_fare_has_its_interval_and_what_it_is_compared_with(
    behind: Estimate, said: str
) -> None:
    advice = advised(MET)
    (rival,) = advice.choice.rivals
    shown = dataclasses.replace(rival, behind=behind, is_equal=False)
    text = behind_text(shown, advice.entries[rival.name], advice.answer)
    contrast = "mean wait 20 ms instead of 4 ms"
    assert text == said.replace("X", "fq_codel").replace("Y", f"worse in {contrast}").replace("Z", contrast)


@pytest.mark.parametrize(
    ("is_standing", "why"),
    [(True, ": packets wait less than their path takes"), (False, ": it keeps flows apart")],
)
def test_of_an_equal_queue_that_looks_better_it_is_said_why_the_other_is_preferred(
    is_standing: bool, why: str
) -> None:
    advice = advised(MET)
    (rival,) = advice.choice.rivals
    shown = dataclasses.replace(
        rival, behind=Estimate(-0.02, 0.01), is_equal=True, is_open=False, is_standing=is_standing
    )
    text = behind_text(shown, advice.entries[rival.name], advice.answer)
    begin = "better by 2.0 ± 1.0 %, too little to notice (5 %)"
    assert text == f"{begin}; fq_codel is preferred{why}"


@pytest.mark.parametrize(
    ("behind", "end"),
    [
        (Estimate(0.019, 0.178), "worse by 1.9 ± 17.8 %: these runs cannot tell"),
        (Estimate(0.019, 0.02), "worse by 1.9 ± 2.0 %, too little to notice (5 %)"),
    ],
)
def test_what_an_interval_leaves_open_is_not_called_too_little_to_notice(behind: Estimate, end: str) -> None:
    advice = advised(MET)
    (rival,) = advice.choice.rivals
    shown = dataclasses.replace(rival, behind=behind, is_equal=True, is_open=False)
    assert behind_text(shown, advice.entries[rival.name], advice.answer) == end


@pytest.mark.parametrize(
    ("behind", "most"),
    [
        (Estimate(0.14, 0.09), "call: rating R 71 instead of 93"),
        (Estimate(-0.14, 0.09), "mean wait 20 ms instead of 4 ms"),
        (Estimate(0.14, 0.2), ""),
    ],
)
def test_each_queue_that_is_surely_worse_or_better_says_in_what_most(behind: Estimate, most: str) -> None:
    advice = advised(MET)
    (rival,) = advice.choice.rivals
    wait, _, rating = advice.aspects
    shown = dataclasses.replace(rival, behind=behind, worst=(rating, 0.2), gains=wait)
    choice = dataclasses.replace(advice.choice, rivals=(shown,))
    (grid,) = [
        each
        for each in evidence(dataclasses.replace(advice, choice=choice))
        if each.title.startswith("Queues")
    ]
    named = [row[-1] for row in grid.rows] if grid.heads[-1].head == "most in" else ["", ""]
    assert named == ["", most]
    assert max(map(len, View([grid]).text(80).splitlines())) <= 80


def test_less_and_more_buffer_has_about_a_row_a_doubling_and_what_each_group_gets() -> None:
    two = site(DOWNLOADS, Users("others", "bulk", 4, "bbr"), CALL)
    of = {1: 1e6, 6: 2e6, 7: 3e6, 15: 4e6, 150: 5e6}
    other: dict[int, Values] = {size: {**FIFO, "others.goodput_bps": bps} for size, bps in of.items()}
    advice = advised({"fifo": (14, runs(FIFO))}, where=two)
    given = entry("fifo", 14, runs(FIFO), advice.targets, other=other)
    advice = dataclasses.replace(advice, entries={given.name: given})
    found = spread(advice)
    assert found is not None and found.title.endswith("; of each group the goodput of a flow")
    rows = {row[0]: row for row in found.rows}
    assert [*rows] == ["1", "7", "14 ◂", "150"]  # 6 and 15 are nearer to 7 and 14 than to a doubling
    assert rows["7"][1:] == ["4.2", "1", "99.4", "0.5", "20", "4.7", "3", "71", "2", "met"]
    assert rows["150"][-4] == "5" and rows["14 ◂"][2] == "5"
    assert found.columns[-3:-1] == ["call, R", "call, lost %"] and rows["7"][-3] == "71"


def test_where_a_call_s_rating_rises_and_falls_with_the_buffer_it_is_said_why() -> None:
    def titled(of: dict[int, tuple[float, float]]) -> str:
        other: dict[int, Values] = {
            size: {**FIFO, "call.call_r": rated, "call.loss": lost} for size, (rated, lost) in of.items()
        }
        advice = advised({"fifo": (14, runs(FIFO))}, where=site(DOWNLOADS, CALL))
        given = entry("fifo", 14, runs({**FIFO, "call.call_r": 88.0}), advice.targets, other=other)
        found = spread(dataclasses.replace(advice, entries={given.name: given}))
        assert found is not None
        return found.title

    rising = {3: (85.4, 0.0194), 128: (91.4, 0.0)}
    assert titled(rising).endswith("; call: best with 128, smaller ones lose its packets")
    both = rising | {220: (70.0, 0.0)}
    assert titled(both).endswith(
        "; call: best with 128, smaller ones lose its packets, larger ones delay them"
    )
    assert "best with" not in titled({3: (88.0, 0.0), 128: (88.2, 0.0)})


def test_a_row_beside_the_answer_says_that_it_misses_and_has_a_column_of_what_is_asked() -> None:
    """The targets' metrics, and what users feel; of several groups not how evenly they share."""
    advice = advised(MET, ("utilization >= 99.5 %", "wait_p99 < 20 ms"))
    text = "\n".join(box(advice))
    assert "5 runs; * misses   used  lost  wait  p99  call  downloads" in text
    assert "%     %    ms   ms     R       Mbps" in text
    assert "runner-up fifo, 14 packets*  99.4   0.5    20   41    71        4.7" in text
    alone = advised({"fifo": (14, runs(FIFO))})
    assert list(comparison(alone)) == []


def today_with(p99: float) -> Today:
    values = {**FIFO, "wait_mean_ms": 30.0, "wait_p99_ms": p99}
    return fifo_today(values, behind=0.3)


def test_few_packets_that_wait_longer_than_today_are_beside_todays() -> None:
    """A mean of 15 ms in place of 30 hid a 99th percentile of 119 ms in place of 41."""
    named = [Aspect("throughput", "a", f"a-long-name-{at}.goodput_bps", "more") for at in range(4)]
    advice = advised({"fifo": (14, runs({**FIFO, **{each.metric: 5e6 for each in named}}))})
    heads = []
    for p99 in (30.0, 50.0):
        beside = dataclasses.replace(advice, aspects=tuple(named), today=today_with(p99))
        head, *_ = comparison(beside)
        heads.append(head.text)
    assert " p99 " in heads[0] and " p99 " not in heads[1]


def test_a_table_says_where_a_difference_may_be_chance() -> None:
    advice = advised(MET)
    assert "better (+) or worse (-) than with the first\n" in advice_view(advice).text(200)
    (rival,) = advice.choice.rivals
    unsure = dataclasses.replace(rival, behind=Estimate(0.11, 0.17))
    choice = dataclasses.replace(advice.choice, rivals=(unsure,))
    text = advice_view(dataclasses.replace(advice, choice=choice)).text(200)
    assert "than with the first; where ± reaches 0, that may be chance\n" in text


@pytest.mark.parametrize(
    ("behind", "half_width", "said"),
    [
        (-0.135, 0.002, "+13.5 ± 0.2 %"),
        (0.027, 0.001, "-2.7 ± 0.1 %"),
        (0.00001, 0.01, "0 ± 1 %"),
        (-31920.5, None, "more than 10 times better"),
        (0.999, 0.0, "more than 10 times worse"),
        (0.99, 6.01, "–"),
        (None, None, "–"),
    ],
)
def test_how_users_fare_has_a_figure_only_where_it_says_something(
    behind: float | None, half_width: float | None, said: str
) -> None:
    assert fare_text(Estimate(behind, half_width)) == said


def test_a_group_of_which_nothing_was_measured_has_no_dash() -> None:
    silent = {**FQ_CODEL, "call.loss": None}
    text = "\n".join(box(advised({"fq_codel": (5000, runs(silent))})))
    assert "call      rating R 93 (very satisfied), MOS 4.4" in text and "–" not in text


def test_a_call_that_is_bad_in_some_runs_stands_beside_its_good_mean() -> None:
    good, bad = runs(FQ_CODEL), runs({**FQ_CODEL, "call.call_r": 57.0})
    text = " ".join(" ".join(box(advised({"fq_codel": (5000, [*good[:-1], bad[0]])}))).split())
    assert f"below 70 in 1 of {len(good)} runs (least 57)" in text
    assert "below 70" not in " ".join(box(advised({"fq_codel": (5000, good)})))


def test_evidence_has_a_row_a_queue_and_a_buffer_and_everything_is_html_too() -> None:
    view = advice_view(advised(MET), explain=True)
    text = view.text(200)
    assert "Queues, with 5 common seeds" in text
    assert "All that was measured of the queues, with 5 common seeds" in text
    assert "Buffers of fifo" in text
    assert "How it was found" in text and "R. L. Berger" in text
    for part in ("fq_codel", "<table>", "tc qdisc"):
        assert part in view.html()


def test_the_figure_has_settings_and_queues() -> None:
    figure = advised(MET).figure()
    answer = "Run fq_codel: target 5 ms, limit 200 packets (300 KB, 120 ms when full)."
    assert figure.get_suptitle() == f"By hand\n{answer}"
    assert isinstance(figure, Figure)
    labels = [axes.get_xlabel() for axes in figure.axes]
    assert labels == ["", "buffer (packets)", "mean wait (ms)"]
    used, late, queues = figure.axes
    assert [used.get_title(), queues.get_title()] == ["fifo: what the buffer does", "what each queue gives"]
    left, right = ([text.get_text() for text in part.legends[0].get_texts()] for part in figure.subfigs)
    assert left[0] == "fifo, not the answer" and "bdp: 67" in left
    assert right == ["fifo, 14 packets", "fq_codel, target 5 ms (answer)"]
    assert used.lines[0].get_color() == late.lines[0].get_color() == queues.lines[0].get_markerfacecolor()
    assert queues.get_ylabel() == "goodput of the flows over the link (Mbps)"
    assert queues.lines[0].get_ydata() == pytest.approx([4 * 4.7], rel=1e-3)


def test_the_figure_has_what_weighs_most_and_only_flows_of_the_link() -> None:
    advice = advised(MET)
    calls = dataclasses.replace(advice, weights={**advice.weights, "calls": 10.0})
    assert calls.figure().axes[2].get_ylabel() == "call: rating R"
    flows = [{"name": "downloads", "path": ["west"]}, {"name": "others", "path": ["east"]}]
    where = site(DOWNLOADS, Users("others", "bulk", 9, "reno"))
    resolved = cast("Any", {**advice.resolved, "flows": flows})
    elsewhere = dataclasses.replace(advice, site=where, resolved=resolved)
    assert elsewhere.figure().axes[2].lines[0].get_ydata() == pytest.approx([4 * 4.7], rel=1e-3)


def test_numbers_have_the_digits_that_their_intervals_allow() -> None:
    assert measured(Estimate(0.99214, 0.0006), FRACTION) == "99.21 ± 0.06 %"
    assert measured(Estimate(2.97549e6, 900.0), BITS_PER_S) == "2.975 ± 0.001 Mbps"
    assert measured(Estimate(2.97549e6, 9.0), BITS_PER_S) == "2.975 Mbps"
    assert measured(Estimate(12.345, None), MILLISECONDS) == "12.3 ms"
    assert measured(Estimate(0.0, 0.0), FRACTION) == "0 %"
    assert measured(Estimate(None, None), FRACTION) == "–"
    assert sure_text(0.97499) == "97 % sure"
    assert (sure_text(0.95), sure_text(0.9959)) == ("95 % sure", "99.5 % sure")
    assert sure_text(0.9999) == "more than 99.9 % sure"
    assert DOWNLOADS.flows == 4


def test_the_document_has_what_the_page_says() -> None:
    document = advised(MET).to_dict()
    assert document["format"] == "bufferlab-advice"
    assert document["queue"] == "fq_codel" and document["meets"] is True
    assert document["buffer"] == {"packets": 200, "bytes": 300_000, "ms": 120.0}
    assert [each["queue"] for each in document["queues"]] == ["fifo", "fq_codel"]
    assert document["queues"][0]["behind"] == pytest.approx(0.18, abs=0.02)
    assert document["queues"][0]["worst"]["metric"] == "wait_mean_ms"
    assert [each["setting"] for each in document["queues"][0]["searched"]["settings"]] == [1, 14, 200]
    assert document["configuration"]["lines"][-1].startswith("tc qdisc add dev eth0 root fq_codel")


def test_runs_of_the_search_confirm_no_better_size() -> None:
    advice = advised({"fifo": (14, runs(FIFO))}, ("utilization >= 95 %",))
    targets = advice.targets
    other = {**FIFO, "utilization": 0.97}
    given = entry("fifo", 14, runs(FIFO), targets, other={1: {**FIFO, "utilization": 0.9}})
    assert given.least is not None
    given.least.memory.add(
        {
            Run(size, seed): {**other, "utilization": 0.97 + seed / 1000}
            for size in (9, 30)
            for seed in range(4)
        }
    )
    text = advice_view(dataclasses.replace(advice, entries={given.name: given}), explain=True).text(200)
    rows = {line.split()[0]: line for line in text[text.index("Buffers of") :].splitlines() if line.strip()}
    assert "met, not confirmed" in rows["9"] and "confirmed" not in rows["30"]
    assert "met ◂" in rows["14"]


@pytest.mark.parametrize(
    ("call_ms", "downloads_ms", "expected"),
    [(0.14, 106.0, "(of downloads 106, call 0.14 ms)"), (40.0, 41.0, ""), (0.1, 0.9, ""), (None, 106.0, "")],
)
def test_waits_of_groups_are_shown_where_they_differ(
    call_ms: float | None, downloads_ms: float, expected: str
) -> None:
    waits = {"call.wait_p99_ms": call_ms, "downloads.wait_p99_ms": downloads_ms}
    said = " ".join(" ".join(box(advised({"fifo": (14, runs({**FIFO, **waits}))}))).split())
    wait = said[said.index("wait mean") : said.index(" downloads 4.7")]
    assert expected in wait and ("(" in wait) == bool(expected)


def test_every_table_has_the_metric_of_each_target() -> None:
    targets = ("utilization >= 99 %", "call.mos > 3")
    changed = Sensitivity("half the RTT", "half the RTT", {"call.call_mos": 3.21}, (), None, 12)
    text = advice_view(advised(MET, targets, sensitivity=[changed]), explain=True).text(300)
    assert "mean opinion score" in text[text.index("Less and more") : text.index("Queues, with")]
    titles = ("What if:", "All that was measured", "Buffers of", "How it was found")
    for begin, end in pairwise(text.index(title) for title in titles):
        assert "mean opinion score" in text[begin:end]
    assert "3.21" in text
    assert "42 runs, 12 of them with 1 changes of the traffic." in text


def test_explain_says_that_bbr_shares_unevenly_by_itself() -> None:
    for control, count, expected in (
        ("bbr", 76, True),
        ("bbr", 1, False),
        ("bbr3", 76, False),
        ("cubic", 76, False),
    ):
        flows = dataclasses.replace(DOWNLOADS, name="many", control=control, flows=count)
        text = advice_view(advised(MET, where=site(flows)), explain=True).text(400)
        assert ("A low Jain's index of many is BBR's own" in text) == expected


def test_what_users_lose_most_stands_beside_how_they_fare() -> None:
    """A queue may serve users better as a whole and halve what a group gets."""
    apart = {**FQ_CODEL, "utilization": 0.9, "downloads.goodput_bps": 2.8e6}
    advice = advised({"fifo": (14, runs(FIFO)), "fq_codel": (5000, runs(apart))})
    text = advice_view(advice, explain=True).text(300)
    assert re.search(r"\+\S+ .*  downloads: goodput a flow, by 40 %  ", text)
    assert "worse in" in text and "goodput a flow, by" not in advice_view(advised(MET), explain=True).text(
        300
    )


@pytest.mark.parametrize(("ecn", "said"), [("off", True), ("classic", False)])
def test_ecn_that_was_not_simulated_is_noted(ecn: str, said: bool) -> None:
    """The lines of FQ-CoDel have ECN on, as Linux does."""
    advice = advised({"fq_codel": (5000, runs(FQ_CODEL)), "fifo": (14, runs(FIFO))})
    flows = [{**flow, "tcp": {**(flow["tcp"] or {}), "ecn": ecn}} for flow in advice.resolved["flows"]]
    advice = dataclasses.replace(advice, resolved=cast(Any, {**advice.resolved, "flows": flows}))
    text = " ".join(advice_view(advice, typed=Typed()).text(80).split())
    assert ("The simulated flows have none" in text) == said
    on_openwrt = " ".join(advice_view(advice, typed=Typed("openwrt")).text(80).split())
    assert ("The simulated flows have none" in on_openwrt) == said
    assert "packets is ample and was not searched" in text
    fifo = advised({"fifo": (14, runs(FIFO))})
    assert "not searched" not in advice_view(fifo, typed=Typed()).text(80)


@pytest.mark.parametrize(
    ("device", "asked"),
    [
        (None, False),
        ("GigabitEthernet0/0/1", True),
        ("FastEthernet0/1", False),
        ("TenGigE0/0/0/0", True),
        ("eth0", False),
    ],
)
def test_an_interface_that_is_faster_by_its_name_needs_a_shaper(device: str | None, asked: bool) -> None:
    text = Typed("ios-xe", device).shaper_asked(100 * 10**6)
    assert (text is not None) == asked
    assert (Typed("ios-xe", device).shaper_note(100 * 10**6) is None) == asked
    assert Typed("ios-xe", device, shape=True).shaper_asked(100 * 10**6) is None
    assert "no shaper is known here" in (Typed("nx-os").shaper_asked(550 * 10**6) or "")
    assert Typed("nx-os").shaper_asked(10**10) is None


def test_the_table_of_queues_says_how_much_use_each_was_held_to() -> None:
    asked = advised({"fifo": (14, runs(FIFO)), "codel": (5000, runs(FQ_CODEL))}, origin="default")
    floor = asked.targets[0]
    assumed = dataclasses.replace(asked, needs=dataclasses.replace(asked.needs, floor=floor))
    assert "%)" not in _ranked(assumed)  # all are held to the same
    name, entry = next((name, each) for name, each in asked.entries.items() if each.queue.kind == "codel")
    (check,) = entry.checks
    eased = dataclasses.replace(check, target=dataclasses.replace(floor, bound=0.9))
    entries = {**asked.entries, name: dataclasses.replace(entry, checks=(eased,))}
    text = _ranked(dataclasses.replace(assumed, entries=entries))
    assert "(99 % used)" in text and "(90 % used)" in text


def test_a_verdict_of_other_runs_than_those_of_its_row_says_how_many_they_are() -> None:
    made = advised({"fifo": (14, runs(FIFO)), "codel": (5000, runs(FQ_CODEL))})
    assert "runs)" not in _ranked(made)
    fewer = tuple(runs({**FIFO, "utilization": 0.987}))  # the common seeds, by chance
    found = {
        name: dataclasses.replace(each, values=fewer) if each.queue.kind == "fifo" else each
        for name, each in made.entries.items()
    }
    text = _ranked(dataclasses.replace(made, entries=found))
    assert "met (by 5 runs)" in " ".join(text.split())


def _ranked(advice: Advice) -> str:
    return advice_view(advice).text(160).partition("Queues, with")[2].partition("\n\n\n")[0]
