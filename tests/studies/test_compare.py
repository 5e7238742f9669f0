"""One scenario under several queues."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import bufferlab
from bufferlab import InputError
from bufferlab.display import save_figure
from bufferlab.experiment.simulation import prepare
from bufferlab.plan import lower
from bufferlab.scenario import QUEUE_WORDS, Scenario
from bufferlab.studies.compare import Comparison, advise
from bufferlab.studies.compare.contenders import DEFAULT_QUEUES, changes, parse_contenders
from bufferlab.studies.compare.measure import FIGURES, GROUP_FIGURES

SCENARIO: dict[str, Any] = {
    "run": {"duration": "12 s", "warmup": "4 s"},
    "bottleneck": {"rate": "10 Mbps", "delay": "2 ms", "buffer": "40 packets"},
    "flows": [
        {"name": "near", "count": 2, "rtt": "10 ms", "jitter": "uniform(0 s, 1 ms)"},
        {"name": "far", "rtt": "100 ms"},
        {
            "name": "ticks",
            "rtt": "20 ms",
            "application": {"kind": "udp", "packet": "100 B", "interval": "1 s"},
        },
    ],
}


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return bufferlab.compare(SCENARIO, "scenario, fifo:bdp ,codel,splitbuff", seeds=2, progress=False)


def change(word: str, **link: object) -> dict[str, Any]:
    """What a queue changes at a link, without the path before each key."""
    scenario = Scenario.from_dict(SCENARIO | {"bottleneck": SCENARIO["bottleneck"] | link})
    found = changes(parse_contenders(word)[0], scenario, 0)
    return {path.removeprefix("links[0]."): value for path, value in found.items()}


def test_every_queue_has_every_figure(comparison: Comparison) -> None:
    assert [row["queue"] for row in comparison.rows] == ["scenario", "fifo:bdp", "codel", "splitbuff"]
    assert [row["buffer"] for row in comparison.rows] == ["40 packets", "bdp", "40 packets", "2 bdp"]
    for row in comparison.rows:
        assert all(row[key] is not None and row[f"{key}_ci95"] is not None for key in FIGURES)
        assert [(group["group"], group["flows"]) for group in row["groups"]] == [
            ("near", 2),
            ("far", 1),
            ("ticks", 1),
        ]
        assert all(f"{key}_ci95" in group for key in GROUP_FIGURES for group in row["groups"])


def test_frames_have_a_row_a_queue_and_a_row_a_group(comparison: Comparison) -> None:
    assert comparison.queues["queue"].to_list() == list(comparison.measured)
    assert comparison.groups.height == 3 * len(comparison.measured)
    assert comparison.seeds == [1, 2]


def test_the_scenario_s_own_queue_is_a_plain_run(comparison: Comparison) -> None:
    runs = bufferlab.run(SCENARIO, seeds=2, progress=False)
    assert [run["plan_hash"] for run in comparison.measured["scenario"]] == [run.plan_hash for run in runs]
    row, queue = comparison.rows[0], runs.queue_means.row(0, named=True)
    assert row["utilization"] == queue["utilization"]
    assert row["wait_mean_ms_ci95"] == queue["wait_mean_ms_ci95"]


def test_flows_are_the_same_under_every_queue() -> None:
    scenario = Scenario.from_dict(SCENARIO)
    words = parse_contenders("scenario,codel,splitbuff")
    plans = [lower(prepare(scenario, changes(word, scenario, 0)), 2) for word in words]
    assert all(plan["flows"] == plans[0]["flows"] for plan in plans)
    assert len({plan["links"][0]["discipline"]["kind"] for plan in plans}) == 3


def test_fairness_is_that_of_flows_without_end(comparison: Comparison) -> None:
    runs = bufferlab.run(SCENARIO, overrides={"bottleneck.queue": "codel"}, seeds=2, progress=False)
    expected = 0.0
    for run in runs:
        endless = run.flows["goodput_bps"].to_list()[:3]
        expected += sum(endless) ** 2 / (3 * sum(rate**2 for rate in endless)) / 2
    assert comparison.rows[2]["jain_index"] == pytest.approx(expected)


def test_text_ends_with_the_answer(comparison: Comparison) -> None:
    lines = str(comparison).splitlines()
    assert "means of 2 seeds ± 95 % confidence" in lines[0]
    assert any(line.startswith("Which queue should I run for these flows? ") for line in lines)
    assert "utilization, %" in str(comparison) and "near (2)" in str(comparison)
    assert str(comparison.advice.queue) in comparison.measured


def test_the_figure_is_drawn_and_named(comparison: Comparison, tmp_path: Path) -> None:
    figure = comparison.figure()
    labels = [axes.get_ylabel() for axes in figure.axes]
    assert labels == ["Jain's fairness index of the flows", "wait of a group's packets (ms)"]
    assert [file.name for file in save_figure(figure, tmp_path / "queues.png")] == [
        "queues.png",
        "queues.svg",
    ]


def test_a_slow_link_on_the_way_is_the_one_compared() -> None:
    table = {
        "run": {"duration": "2 s"},
        "links": [
            {"name": "wide", "rate": "20 Mbps", "buffer": "1 bdp"},
            {"name": "narrow", "rate": "5 Mbps", "buffer": "1 bdp"},
        ],
        "flows": [
            {"name": "both", "rtt": "20 ms", "path": ["wide", "narrow"]},
            {"name": "first", "rtt": "20 ms", "path": ["wide"]},
        ],
    }
    narrow = bufferlab.compare(table, ["codel"], seeds=1, progress=False)
    assert (narrow.link, [group["group"] for group in narrow.rows[0]["groups"]]) == ("narrow", ["both"])
    wide = bufferlab.compare(table, ["codel"], seeds=1, link="wide", progress=False)
    assert [group["group"] for group in wide.rows[0]["groups"]] == ["both", "first"]
    with pytest.raises(InputError, match="link: 'nowhere' is not a link"):
        bufferlab.compare(table, ["codel"], link="nowhere")


def test_the_default_is_all_there_are() -> None:
    words = {contender.word for contender in parse_contenders(None)}
    assert words == set(QUEUE_WORDS)
    assert DEFAULT_QUEUES[:2] == ("fifo:bdp", "fifo:stanford")


@pytest.mark.parametrize("word", QUEUE_WORDS)
def test_every_queue_of_scenarios_can_be_compared(word: str) -> None:
    assert change(word)["queue"] == QUEUE_WORDS[word]
    row = bufferlab.compare(SCENARIO, [word], seeds=1, progress=False).rows[0]
    assert row["utilization"] > 0.5


def test_buffers_of_queues() -> None:
    assert change("codel") == {"queue": {"discipline": "codel"}}
    assert change("codel:1 MB")["buffer"] == "1 MB"
    assert change("splitbuff")["buffer"] == "2 bdp"
    assert change("splitbuff:300 packets")["buffer"] == "300 packets"
    assert change("scenario") == {}
    assert change("scenario:1 bdp") == {"buffer": "1 bdp"}


def test_a_scenario_without_a_buffer_lends_one() -> None:
    assert change("fifo", queue="splitbuff", buffer=None)["buffer"] == "1 bdp"


def test_marks_and_changes_that_do_not_fit_go() -> None:
    link = {"mark_above": "20 packets", "changes": [{"at": "5 s", "buffer": "10 packets"}]}
    assert change("codel", **link) == {"queue": {"discipline": "codel"}, "mark_above": None}
    assert change("fifo:bdp", **link) == {"queue": {"discipline": "fifo"}, "buffer": "bdp", "changes": []}
    scenario = SCENARIO | {"bottleneck": SCENARIO["bottleneck"] | link}
    assert bufferlab.compare(scenario, ["codel", "splitbuff"], seeds=1, progress=False).rows


@pytest.mark.parametrize(
    ("queues", "message"),
    [
        (
            "fifo,cdel",
            r"queues: 'cdel' is not a known queue \(did you mean 'codel'\?\); accepted: fifo, codel,",
        ),
        ("fifo:bdpp", "queues: 'bdpp' is not a number with a unit"),
        ("fifo:", "queues: '' is not a number with a unit"),
        ("fifo,fifo", "queues: 'fifo' is named twice"),
        ("", "queues: '' is not a known queue"),
        ([], "queues: names no queue"),
    ],
)
def test_bad_queues(queues: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        bufferlab.compare(SCENARIO, queues)


def row(queue: str, utilization: float, jain: float | None, wait_ms: float | None) -> dict[str, Any]:
    return {"queue": queue, "utilization": utilization, "jain_index": jain, "wait_mean_ms": wait_ms}


def told(*rows: dict[str, Any], spread_ms: float = 0.1) -> tuple[str | None, str]:
    """The advice for seeds whose waits differ by the spread from queue to queue."""
    waits: dict[str, list[float | None]] = {}
    for at, each in enumerate(rows):
        wait_ms = each["wait_mean_ms"]
        offsets = [at * seed * spread_ms for seed in (-1, 0, 1)]
        waits[each["queue"]] = [None if wait_ms is None else wait_ms + offset for offset in offsets]
    advice = advise(rows, waits)
    return advice.queue, advice.reason


def test_the_lowest_wait_of_the_busy_and_fair_wins() -> None:
    queue, reason = told(
        row("idle", 0.9, 1.0, 1.0),
        row("unfair", 1.0, 0.6, 2.0),
        row("slow", 1.0, 0.99, 40.0),
        row("good", 0.985, 0.96, 5.0),
    )
    assert queue == "good"
    assert reason == (
        "of 2 busy and fair queues, the one with the lowest mean wait, 5 ms (utilization 98.5 %, Jain index "
        "0.96); next is slow, 35 ± 0.25 ms longer; idle waits 1 ms but is not busy (utilization 90 %); "
        "unfair waits 2 ms but is not fair (Jain index 0.6)"
    )


def test_if_none_is_fair_the_fairest_count() -> None:
    queue, reason = told(row("a", 1.0, 0.8, 9.0), row("b", 1.0, 0.785, 5.0), row("c", 1.0, 0.7, 1.0))
    assert queue == "b"
    assert "(Jain index of at least 0.78, as none reaches 0.95)" in reason


def test_the_only_fair_one_is_set_beside_the_next() -> None:
    queue, reason = told(row("a", 1.0, 0.99, 9.0), row("b", 1.0, 0.5, 20.0), row("c", 1.0, 0.6, 10.0))
    assert queue == "a"
    assert reason == (
        "the only busy and fair queue, with a mean wait of 9 ms (utilization 100 %, Jain index 0.99); "
        "next in fairness is c (Jain index 0.6, mean wait 10 ms)"
    )


def test_what_cannot_be_told_apart_is_said() -> None:
    close = told(row("a", 1, 1, 5.0), row("b", 1, 1, 5.1), spread_ms=1)[1]
    assert "b is not significantly different" in close
    assert "b is equal" in told(row("a", 1, 1, 5.0), row("b", 1, 1, 5.0), spread_ms=0)[1]
    one = advise([row("a", 1, 1, 5.0), row("b", 1, 1, 6.0)], {"a": [5.0], "b": [6.0]})
    assert "next is b, 1 ms longer (one seed, so no confidence)" in one.reason


def test_links_without_packets_or_flows_to_compare() -> None:
    assert told(row("a", 0.0, None, None)) == (None, "no packet was measured")
    assert told(row("a", 0.2, None, 1.0))[0] == "a"
    alone = told(row("a", 0.2, 0.3, 1.0))[1]
    assert alone.startswith("the only busy and fair queue (Jain index of at least 0.28")
