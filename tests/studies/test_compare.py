"""One scenario under several queues."""

from __future__ import annotations

import dataclasses
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

import bufferlab
from bufferlab import InputError
from bufferlab.display import save_figure
from bufferlab.experiment.simulation import prepare
from bufferlab.plan import lower
from bufferlab.render.compare.answer import answer
from bufferlab.render.compare.view import comparison_view
from bufferlab.scenario import QUEUE_WORDS, Scenario
from bufferlab.studies.choosing.choice import choose
from bufferlab.studies.choosing.objectives import Aspect, Kind
from bufferlab.studies.compare import Comparison, Measured
from bufferlab.studies.compare.further import advise_command
from bufferlab.studies.contenders import changes, default_queues, parse_contenders

from ..small import dumbbell

SCENARIO: dict[str, Any] = {
    "run": {"duration": "12 s", "warmup": "4 s"},
    "bottleneck": {"rate": "10 Mbps", "delay": "2 ms", "buffer": "40 packets"},
    "flows": [
        {"name": "near", "count": 2, "rtt": "10 ms", "jitter": "uniform(0 s, 1 ms)"},
        {"name": "far", "rtt": "100 ms"},
        {
            "name": "ticks",
            "rtt": "20 ms",
            "application": {"kind": "udp", "packet": "100 B", "interval": "200 ms", "record": True},
        },
    ],
}


BULK = {"flows": [{"name": "bulk", "rtt": "40 ms", "count": 4}]}
BULK |= {key: SCENARIO[key] for key in ("run", "bottleneck")}

CALLS = {
    **BULK,
    "flows": [
        *BULK["flows"],
        {
            "name": "call",
            "rtt": "20 ms",
            "dscp": "EF",
            "application": {"kind": "udp", "packet": "200 B", "interval": "20 ms"},
        },
    ],
}

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return bufferlab.compare(SCENARIO, "scenario, fifo:bdp ,codel,splitbuff", seeds=2, progress=False)


def change(word: str, **link: object) -> dict[str, Any]:
    """What a queue changes at a link, without the path before each key."""
    scenario = Scenario.from_dict(SCENARIO | {"bottleneck": SCENARIO["bottleneck"] | link})
    found = changes(parse_contenders(word)[0], scenario, 0)
    return {path.removeprefix("links[0]."): value for path, value in found.items()}


def test_a_buffer_that_is_a_number_alone_is_packets() -> None:
    assert (
        change("fifo:448")
        == change("fifo:448 packets")
        == change("fifo 448 packets")
        == change(" fifo  448 ")
    )


def test_every_queue_has_every_value(comparison: Comparison) -> None:
    assert list(comparison.entries) == ["scenario", "fifo:bdp", "codel", "splitbuff"]
    buffers = [each.buffer for each in comparison.entries.values()]
    assert buffers == ["40 packets", "bdp", "40 packets", "2 bdp"]
    names = ("utilization", "loss", "wait_mean_ms", "near.goodput_bps", "near.jain_index", "ticks.loss")
    for entry in comparison.entries.values():
        for name in names:
            found = entry.mean(name)
            assert found.mean is not None and found.half_width is not None, name


def test_frames_have_a_row_a_queue_and_a_row_a_group(comparison: Comparison) -> None:
    assert comparison.queues["queue"].to_list() == list(comparison.entries)
    assert comparison.groups["group"].unique(maintain_order=True).to_list() == ["near", "far", "ticks"]
    assert comparison.groups.height == 3 * len(comparison.entries)
    assert comparison.seeds == [1, 2]


def test_the_scenario_s_own_queue_is_a_plain_run(comparison: Comparison) -> None:
    runs = bufferlab.run(SCENARIO, seeds=2, progress=False)
    queue = runs.queue_means.row(0, named=True)
    found = comparison.entries["scenario"].mean("wait_mean_ms")
    assert (found.mean, found.half_width) == (queue["wait_mean_ms"], queue["wait_mean_ms_ci95"])


def test_what_users_feel_is_that_of_their_traffic(comparison: Comparison) -> None:
    """Fairness is that of one group's flows without end; nobody feels an index over a mix of traffic."""
    metrics = [aspect.metric for aspect in comparison.aspects]
    assert metrics == [
        "near.goodput_bps",
        "near.jain_index",
        "far.goodput_bps",
        "ticks.call_r",
        "ticks.loss",
    ]
    _, _, table = str(comparison).partition("What users feel")
    assert table.count("Jain") == table.count("near: Jain")


def test_flows_are_the_same_under_every_queue() -> None:
    scenario = Scenario.from_dict(SCENARIO)
    words = parse_contenders("scenario,codel,splitbuff")
    plans = [lower(prepare(scenario, changes(word, scenario, 0)), 2) for word in words]
    assert all(plan["flows"] == plans[0]["flows"] for plan in plans)
    assert len({plan["links"][0]["discipline"]["kind"] for plan in plans}) == 3


def test_text_begins_with_the_answer(comparison: Comparison) -> None:
    lines = str(comparison).splitlines()
    assert lines[0].endswith("queue of bottleneck; 12 s, measured from 4 s on; 2 seeds")
    assert lines[1].startswith(("Keep ", "Run ", "Take ", "For now "))
    assert max(map(len, lines)) <= 100
    assert comparison.choice is not None and comparison.choice.name in comparison.entries


def test_the_figure_is_drawn_and_named(comparison: Comparison, tmp_path: Path) -> None:
    figure = comparison.figure()
    labels = [axes.get_xlabel() for axes in figure.axes]
    assert labels == ["users worse as a whole (%)\nhollow: no difference", "worse in an aspect (%)"]
    assert [file.name for file in save_figure(figure, tmp_path / "queues.png")] == [
        "queues.png",
        "queues.svg",
    ]


def test_a_queue_that_spoils_a_call_is_not_recommended() -> None:
    """By mean wait, utilization and Jain's index the weighted SplitBuff won, whose call loses a tenth."""
    queues = ["fq_codel", "splitbuff-weighted", "splitbuff", "fifo:bdp"]
    found = bufferlab.compare(
        EXAMPLES / "bufferbloat.toml", queues, seeds=1, overrides={"run.duration": "25 s"}, progress=False
    )
    assert found.choice is not None and found.choice.name == "fq_codel" and found.choice.is_clear
    rating = {name: entry.mean("call.call_r").mean or 0.0 for name, entry in found.entries.items()}
    assert rating["fq_codel"] > 90
    assert rating["splitbuff-weighted"] < 75
    assert found.entries["fq_codel"].mean("call.loss").mean == 0.0


def test_runs_without_chance_are_one_run() -> None:
    short = {"run.duration": "15 s", "flows.downloads.jitter": "0 s"}
    found = bufferlab.compare(
        EXAMPLES / "call.toml", ["fifo", "codel"], seeds=2, overrides=short, progress=False
    )
    assert found.identical
    text = str(found)
    assert "all 2 runs are identical, as nothing in the scenario is random" in text
    assert "±" not in text[: text.index("flows downloads")]
    assert all(row["values_ci95"]["utilization"] is None for row in found.to_dict()["queues"])


def test_queues_that_do_the_same_are_no_basis_for_a_choice() -> None:
    found = bufferlab.compare(SCENARIO, ["fifo:40 packets", "scenario"], seeds=2, progress=False)
    assert not found.is_founded
    assert found.to_dict()["recommendation"]["founded"] is False
    assert (
        str(found)
        .splitlines()[1]
        .startswith("Keep the scenario's fifo, 40 packets: users fare alike under all 2 queues")
    )


def worse(found: Comparison) -> float | None:
    """How much worse users fare with the file's own queue than with the chosen one."""
    rival = found.rival("scenario") or found.rival("fifo:40 packets")
    return None if rival is None else rival.behind.mean


def test_a_file_s_fifo_and_a_fifo_are_buffers_of_one_queue() -> None:
    """Whatever they are called and whatever stands beside them, equal shares are no reason for a buffer."""
    short = "fifo:4 packets"
    plain, own, beside, asked = (
        bufferlab.compare(BULK, queues, seeds=2, emphasis=emphasis, progress=False)
        for queues, emphasis in [
            (["fifo:40 packets", short], None),
            (["scenario", short], None),
            (["scenario", short, "drr:100"], None),
            (["scenario", short], {"fairness": 1.0}),
        ]
    )
    assert worse(plain) == pytest.approx(worse(own)) == pytest.approx(worse(beside))
    assert beside.buffers == ("scenario",) and asked.buffers == ()
    assert "judged scenario's fifo without Jain's index" in " ".join(str(beside).split())


def test_one_queue_is_nothing_to_choose_from() -> None:
    found = bufferlab.compare(SCENARIO, ["codel"], seeds=1, progress=False)
    assert str(found).splitlines()[1] == "Only codel was run: there is nothing to choose from."
    assert "one seed, so nothing is known about chance" in str(found)


def test_what_matters_most_may_change_the_choice() -> None:
    queues = ["fifo:400 packets", "fifo:3 packets"]
    large, small = (
        bufferlab.compare(BULK, queues, seeds=2, emphasis=kind, progress=False).choice
        for kind in ("throughput", "latency")
    )
    assert large is not None and small is not None
    assert (large.name, small.name) == ("fifo:400 packets", "fifo:3 packets")
    with pytest.raises(
        InputError, match="for: 'calls' is nothing that this scenario can tell: it has no calls"
    ):
        bufferlab.compare(BULK, queues, seeds=1, emphasis="calls", progress=False)


def test_a_link_without_packets_has_no_recommendation() -> None:
    late = SCENARIO | {"flows": [{"name": "late", "rtt": "10 ms", "start": "11.9999 s"}]}
    found = bufferlab.compare(late, ["codel", "fifo"], seeds=1, progress=False)
    assert found.choice is None or not found.is_founded
    assert "Run " not in str(found)


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
    assert (narrow.link, narrow.groups_on_link) == ("narrow", ["both"])
    wide = bufferlab.compare(table, ["codel"], seeds=1, link="wide", progress=False)
    assert wide.groups_on_link == ["both", "first"]
    with pytest.raises(InputError, match="link: 'nowhere' is not a link"):
        bufferlab.compare(table, ["codel"], link="nowhere")


def test_the_default_is_all_there_are() -> None:
    words = {contender.word for contender in parse_contenders(default_queues())}
    assert words == set(QUEUE_WORDS) - {"switch"}  # a FIFO in cells
    assert default_queues()[:3] == ["fifo", "fifo:bdp", "fifo:stanford"]
    assert default_queues(has_buffer=False)[:2] == ["fifo:bdp", "fifo:stanford"]


def test_the_default_begins_with_the_scenario_s_own_and_has_it_once() -> None:
    own = bufferlab.compare(SCENARIO, seeds=1, progress=False)
    names = list(own.entries)
    assert names[0] == "scenario" and "codel" in names
    same = {**SCENARIO, "bottleneck": {**SCENARIO["bottleneck"], "queue": "codel"}}
    assert "codel" not in bufferlab.compare(same, seeds=1, progress=False).entries


def test_a_fifo_with_the_scenario_s_own_buffer_is_among_the_default() -> None:
    """With a long buffer it is what users feel most."""
    link = {**SCENARIO["bottleneck"], "buffer": "500 ms"}
    contenders = parse_contenders(default_queues(["fifo"]))
    cases = {
        each.name: changes(each, Scenario.from_dict({**SCENARIO, "bottleneck": link}), 0)
        for each in contenders
    }
    assert [changed.get("links[0].buffer", "500 ms") for changed in cases.values()] == [
        "500 ms",
        "bdp",
        "stanford",
    ]
    own = {**link, "queue": "fq_codel"}
    assert "fifo" in bufferlab.compare({**SCENARIO, "bottleneck": own}, seeds=1, progress=False).entries
    assert "fifo" not in bufferlab.compare({**SCENARIO, "bottleneck": link}, seeds=1, progress=False).entries


@pytest.mark.parametrize(
    ("queue", "called", "said"),
    [
        ({"discipline": "fq_codel", "quantum": "300 B"}, "scenario's fq_codel", "fq_codel (quantum 300 B)"),
        ({"discipline": "pie", "target": "5 ms"}, "scenario's pie", "pie (target 5 ms)"),
        ("fq_codel", "scenario's fq_codel", None),
    ],
)
def test_the_scenario_s_own_queue_is_called_what_it_is(queue: object, called: str, said: str | None) -> None:
    link = {**SCENARIO["bottleneck"], "queue": queue}
    found = bufferlab.compare({**CALLS, "bottleneck": link}, ["scenario", "codel"], seeds=2, progress=False)
    text = str(found)
    assert text.count(f"\n {called} ") == 2  # a row of each table
    assert "\n scenario " not in text
    (own,) = re.findall(r"\nscenario's +(.*)", text) or [None]
    assert (own and own.strip()) == said
    assert [each["queue"] for each in found.to_dict()["queues"]] == ["scenario", "codel"]


def test_of_queues_that_keep_flows_apart_the_scenario_s_own_is_kept() -> None:
    own = {"discipline": "fq_codel", "quantum": "300 B"}
    scenario = {**CALLS, "bottleneck": {**SCENARIO["bottleneck"], "buffer": "500 ms", "queue": own}}
    found = bufferlab.compare(scenario, ["fq_codel", "scenario", "codel"], seeds=2, progress=False)
    assert found.choice is not None and "fq_codel" in found.choice.tied
    assert "eep the scenario's fq_codel, limit 500 ms" in answer(found)
    # one that does not keep them apart gives way
    own = {"discipline": "codel", "target": "6 ms"}
    scenario = {**CALLS, "bottleneck": {**SCENARIO["bottleneck"], "buffer": "80 packets", "queue": own}}
    other = bufferlab.compare(scenario, ["fq_codel", "scenario"], seeds=2, progress=False)
    assert other.choice is not None and other.choice.name == "fq_codel"


def test_what_differs_between_two_queues_has_a_column() -> None:
    """The best one stands between the two, so that neither differs from it by what users notice."""
    compared = bufferlab.compare(SCENARIO, ["fifo", "codel"], seeds=1, progress=False)
    wait = Aspect("latency", "round trip", "wait_mean_ms", "less")

    def alike(**pages_s: float) -> str:
        found = fetched(compared, **pages_s)
        entries = {
            name: Measured(name, "bdp", tuple({**run, "wait_mean_ms": 10.0 * waits} for run in each.values))
            for waits, (name, each) in enumerate(found.entries.items(), 1)
        }
        found = dataclasses.replace(found, entries=entries, aspects=(FETCHED, wait))
        lines = comparison_view(found).text().splitlines()
        return next((line for line in lines if line.startswith("alike ")), "")

    assert "fetch time" in alike(fifo=0.98, codel=0.93, pie=1.01)
    assert not alike(fifo=0.98, codel=0.92, pie=1.03)


def test_what_loses_more_than_anybody_accepts_is_not_the_best() -> None:
    crowd = {
        "run": {"duration": "20 s", "warmup": "5 s"},
        "bottleneck": {"rate": "8 Mbps", "delay": "2 ms", "buffer": "10 packets"},
        "flows": [{"name": "long", "count": 12, "rtt": "60 ms", "rtt_spread": 0.5}],
    }
    found = bufferlab.compare(crowd, ["fifo:8 packets", "fifo:30 packets"], seeds=3, progress=False)
    lost = {name: entry.mean("loss").mean or 0.0 for name, entry in found.entries.items()}
    assert lost["fifo:8 packets"] > 0.05 > lost["fifo:30 packets"]
    assert found.choice is not None and found.choice.name == "fifo:30 packets"
    text = " ".join(str(found).split())
    assert "Run fifo, 30 packets: every other queue loses 5 % or more." in text
    assert "which hardly anybody would accept" in text


@pytest.mark.parametrize("word", QUEUE_WORDS)
def test_every_queue_of_scenarios_can_be_compared(word: str) -> None:
    assert change(word)["queue"] == QUEUE_WORDS[word]
    found = bufferlab.compare(SCENARIO, [word], seeds=1, progress=False).entries[word]
    assert (found.mean("utilization").mean or 0) > 0.5


def test_buffers_of_queues() -> None:
    assert change("codel") == {"queue": {"discipline": "codel"}}
    assert change("codel:1 MB")["buffer"] == "1 MB"
    assert change("splitbuff")["buffer"] == "2 bdp"
    assert change("splitbuff:300 packets")["buffer"] == "300 packets"
    assert change("scenario") == {}
    assert change("scenario:1 bdp") == {"buffer": "1 bdp"}


def test_a_scenario_without_a_buffer_lends_one() -> None:
    assert change("fifo", queue="splitbuff", buffer=None)["buffer"] == "1 bdp"


def test_a_file_may_leave_the_buffer_open_that_no_compared_queue_needs(tmp_path: Path) -> None:
    file = tmp_path / "open.toml"
    file.write_text("".join(line for line in dumbbell().splitlines(keepends=True) if "buffer" not in line))
    short = {"run.duration": "4 s"}
    found = bufferlab.compare(file, ["fifo:40 packets", "codel"], seeds=1, overrides=short, progress=False)
    assert [each.buffer for each in found.entries.values()] == ["40 packets", "1 bdp"]
    assert found.advise.endswith("--set 'run.duration=4 s'")
    every = bufferlab.compare(file, seeds=1, overrides=short, progress=False)
    assert "scenario" not in every.entries and "fq_codel" in every.entries
    with pytest.raises(InputError, match=r"bottleneck\.buffer: is required"):
        bufferlab.compare(file, ["codel", "scenario"], seeds=1)


def test_marks_and_changes_that_do_not_fit_go() -> None:
    link = {"mark_above": "20 packets", "changes": [{"at": "5 s", "buffer": "10 packets"}]}
    assert change("codel", **link) == {"queue": {"discipline": "codel"}, "mark_above": None}
    assert change("fifo:bdp", **link) == {"queue": {"discipline": "fifo"}, "buffer": "bdp", "changes": []}
    scenario = SCENARIO | {"bottleneck": SCENARIO["bottleneck"] | link}
    assert bufferlab.compare(scenario, ["codel", "splitbuff"], seeds=1, progress=False).entries


@pytest.mark.parametrize(
    ("queues", "message"),
    [
        (
            "fifo,cdel",
            r"queues: 'cdel' is not a known queue \(did you mean 'codel'\?\); accepted: fifo, .*codel,",
        ),
        ("fifo:bdpp", "queues: 'bdpp' is not a number with a unit"),
        ("fifo:", "queues: '' is not a number with a unit"),
        ("fifo,fifo", "queues: 'fifo' is named twice"),
        (
            "llq-fair:50",
            r"queues: 'llq-fair' has no marked calls to go first; accepted: fifo",
        ),
        ("", "queues: '' is not a known queue"),
        ([], "queues: names no queue"),
    ],
)
def test_bad_queues(queues: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        bufferlab.compare(SCENARIO, queues)


FETCHED = Aspect("pages", "web: median fetch time", "web.exchange_p50_s", "less")


def fetched(comparison: Comparison, **pages_s: float) -> Comparison:
    """A comparison of made-up queues, whose pages took so long."""
    values = {
        name: tuple({FETCHED.metric: page_s * (1 + seed / 1000)} for seed in range(4))
        for name, page_s in pages_s.items()
    }
    missed: dict[str, Any] = dict.fromkeys(values, ())
    return dataclasses.replace(
        comparison,
        entries={name: Measured(name, "bdp", runs) for name, runs in values.items()},
        aspects=(FETCHED,),
        weights={"pages": 1.0},
        missed=missed,
        choice=choose(values, (FETCHED,), {"pages": 1.0}, missed=missed),
    )


@pytest.mark.parametrize(
    ("late", "why"),
    [
        (("fifo", "llq"), "packets wait less than their path takes"),
        (("fifo",), "it keeps calls and flows apart"),
    ],
)
def test_why_one_of_equals_is_preferred_holds_against_all_that_are_more_usual(
    comparison: Comparison, late: tuple[str, ...], why: str
) -> None:
    """Packets waited less than their path takes with LLQ, too."""
    found = fetched(comparison, fifo=0.3, llq=0.3, **{"llq-fair": 0.3})
    assert found.choice is not None
    rivals = [
        dataclasses.replace(each, name=name, is_standing=name in late)
        for name, each in zip(("fifo", "llq"), found.choice.rivals, strict=True)
    ]
    chosen = dataclasses.replace(found.choice, name="llq-fair", rivals=tuple(rivals))
    assert answer(dataclasses.replace(found, choice=chosen)).endswith(f", and {why}.")


def test_only_of_the_best_score_it_is_said_that_users_fare_best(comparison: Comparison) -> None:
    found = fetched(comparison, fifo=0.307, fq_codel=0.3, pie=0.4)
    notice = "to within the 5 % that users notice"
    assert answer(found) == (
        "Run fifo, bdp: no other of 3 queues is clearly better for these users (2 runs), and every device "
        "has it."
    )
    text = " ".join(str(found).split())
    assert f"equal fq_codel, {notice}" in text
    assert "tries other traffic (what-ifs), which decides between equal queues, and searches" in text
    assert (
        "not fq_codel better by 2.3 %, too little to notice (5 %); fifo is preferred: every device has it"
    ) in text
    best = fetched(comparison, fifo=0.3, fq_codel=0.307, pie=0.4)
    assert answer(best) == answer(found)
    alone = fetched(comparison, fifo=0.3, fq_codel=0.33, pie=0.4)
    assert answer(alone) == "Run fifo, bdp: users fare better than under every other queue."
    assert "not fq_codel worse by 2.3 %, too little to notice (5 %)" in " ".join(str(best).split())
    alike = fetched(comparison, fifo=0.3, fq_codel=0.3)
    assert answer(alike) == (
        f"Take fifo, bdp: users fare alike under all 2 queues, {notice}, and every device has it."
    )
    own = fetched(comparison, scenario=0.307, fq_codel=0.3, pie=0.4)
    assert answer(own) == (
        "Keep the scenario's fifo, bdp: no other of 3 queues is clearly better for these users (2 runs)."
    )
    near = " ".join(str(fetched(comparison, fifo=0.314, fq_codel=0.3, pie=0.4)).split())
    assert "close With thresholds a fifth lower (4 % instead of 5 %), fq_codel would be taken." in near


def test_a_sure_difference_that_users_do_not_notice_is_said_to_be_one(comparison: Comparison) -> None:
    slightly = "2.3 %, less than the 5 % that users notice, and every device has it."
    found = fetched(comparison, fifo=0.307, fq_codel=0.3, pie=0.305)
    assert not found.is_founded
    assert answer(found) == f"Take fifo, bdp: fq_codel is better by {slightly}"
    found = fetched(comparison, fifo=0.3, fq_codel=0.307, pie=0.3)
    assert answer(found) == f"Take fifo, bdp: fq_codel is worse by {slightly}"
    assert found.choice is not None
    chance = [
        dataclasses.replace(rival, behind=rival.behind._replace(half_width=0.03))
        for rival in found.choice.rivals
    ]
    unsure = dataclasses.replace(found, choice=dataclasses.replace(found.choice, rivals=tuple(chance)))
    assert answer(unsure).startswith("Take fifo, bdp: users fare alike under all 3 queues")


CALLED = Aspect("calls", "call: rating R", "call.call_r", "more")
GOT = Aspect("throughput", "bulk: goodput a flow", "bulk.goodput_bps", "more")


def felt(comparison: Comparison, **queues: tuple[float, float, float]) -> Comparison:
    """A comparison of made-up queues: rating of a call, goodput in Mbps, and by how much runs differ."""
    aspects = (CALLED, GOT)
    weights: dict[Kind, float] = {"calls": 1.0, "throughput": 1.0}
    values = {
        name: tuple(
            {CALLED.metric: rating * (1 + scatter * sign), GOT.metric: mbps * 1e6}
            for sign in (-1, 1, 0, 1, -1)
        )
        for name, (rating, mbps, scatter) in queues.items()
    }
    missed: dict[str, Any] = dict.fromkeys(values, ())
    return dataclasses.replace(
        comparison,
        seeds=range(5),
        entries={name: Measured(name, "64 packets", runs) for name, runs in values.items()},
        aspects=aspects,
        weights=weights,
        missed=missed,
        choice=choose(values, aspects, weights, missed=missed),
    )


def test_what_another_queue_would_trade_is_in_the_answer(comparison: Comparison) -> None:
    found = felt(comparison, scenario=(87.5, 11.4, 0), drr=(93.2, 7.2, 0), red=(80, 7, 0))
    assert answer(found) == (
        "Keep the scenario's fifo, 64 packets: users fare better than under every other queue. "
        "Users would notice: drr has call: rating R 93.2 instead of 87.5, but bulk: goodput a flow 7.2 Mbps "
        "instead of 11.4 Mbps."
    )


def test_what_is_undecided_is_said_with_how_it_stands_so_far(comparison: Comparison) -> None:
    text = answer(felt(comparison, scenario=(87.5, 11.4, 0), drr=(86, 11.4, 0.1), red=(60, 7, 0)))
    assert text.startswith("Keep the scenario's fifo, 64 packets: no other of 3 queues is clearly better")
    several = {f"red:{at}": (86.0, 11.4 - at / 4, 0.1) for at in range(4)}
    many = answer(felt(comparison, scenario=(87.5, 11.4, 0), pie=(60, 7, 0), **several))
    assert many.startswith("For now keep the scenario's fifo, 64 packets: ")
    assert "Undecided: red:0 (worse by 1 ± " in many and " and 1 more; more --seeds may tell." in many
    assert "(5 runs). Undecided: drr (worse by 1 ± " in text and text.endswith("; more --seeds may tell.")


def test_a_time_that_no_packet_need_wait_is_a_limit(comparison: Comparison) -> None:
    def said(queue: str, buffer: str, packets: int | None = None, time_ms: float | None = None) -> str:
        found = felt(comparison, **{queue: (93, 11.4, 0), "red": (60, 7, 0)})
        entries = {
            name: Measured(name, buffer, each.values, packets, time_ms)
            for name, each in found.entries.items()
        }
        return answer(dataclasses.replace(found, entries=entries)).partition(":")[0]

    held = round(comparison.site.rate_bps / 8 / comparison.site.packet_bytes)
    assert said("fq_codel", "1 s", time_ms=1000.0) == f"Run fq_codel, limit 1 s ({held} packets)"
    assert said("fq_codel", "1 bdp") == "Run fq_codel, limit 1 bdp"
    assert said("fq_codel", "64 packets", packets=64) == "Run fq_codel, 64 packets"
    assert said("fifo", "1 s", time_ms=1000.0) == "Run fifo, 1 s"


def test_undecided_queues_that_stand_alike_are_named_together(comparison: Comparison) -> None:
    alike = {f"red:{at}": (86.0, 11.4, 0.1) for at in range(4)}
    text = answer(felt(comparison, scenario=(87.5, 11.4, 0), pie=(60, 7, 0), **alike))
    assert "Undecided: red:0, red:1, red:2 and red:3 (worse by 1 ± " in text


def test_what_an_undecided_queue_is_worse_in_is_no_contrast(comparison: Comparison) -> None:
    text = answer(felt(comparison, scenario=(87.5, 11.4, 0), drr=(87.5, 9.4, 0.3)))
    assert "Undecided: drr (worse by " in text and ", most in bulk: goodput a flow " in text
    scattered = answer(felt(comparison, scenario=(87.5, 11.4, 0.9), drr=(87.5, 9.4, -0.9)))
    assert " % in the mean of runs that differ by more" in scattered


def test_what_weighs_little_is_not_called_alike(comparison: Comparison) -> None:
    found = felt(comparison, scenario=(87.5, 11.4, 0), drr=(60, 7.2, 0))
    found = dataclasses.replace(found, weights={"calls": 10.0, "throughput": 1.0})
    assert "goodput a" in str(found).partition("What users feel")[2]


def test_what_the_best_misses_of_targets_that_nothing_meets_is_said() -> None:
    asked = {"targets": ["wait_p99 < 0.01 ms", "utilization > 10 %"]}
    found = bufferlab.compare({**BULK, "advise": asked}, ["codel", "fifo"], seeds=1, progress=False)
    text = answer(found)
    assert text.startswith("No queue meets all targets: ")
    assert "misses the fewest: 99th percentile wait " in text and " ms (asked 0.01 ms)" in text


def test_of_one_run_equal_queues_are_as_good_so_far() -> None:
    found = bufferlab.compare(SCENARIO, ["fifo:40 packets", "scenario"], seeds=1, progress=False)
    assert "Undecided: fifo:40 packets (as good so far); more --seeds may tell." in answer(found)


def test_why_what_runs_was_not_taken_is_always_said(comparison: Comparison) -> None:
    others = {name: (93.0 - at, 11.4, 0.0) for at, name in enumerate(["red", "pie", "codel", "drr", "adt"])}
    text = " ".join(str(felt(comparison, fq_codel=(93.2, 11.4, 0), scenario=(70, 11.4, 0), **others)).split())
    worse = "users fare 13 % worse than with fq_codel, most: call: rating R 70 instead of 93.2"
    assert f"not scenario's fifo {worse}" in text


def test_a_group_that_starves_is_in_the_answer(comparison: Comparison) -> None:
    found = felt(comparison, scenario=(93, 11.4, 0), drr=(80, 11.4, 0))
    entries = {
        name: dataclasses.replace(
            each,
            values=tuple(
                {**run, "near.goodput_bps": 2e5, "far.goodput_bps": 9e6, "wait_mean_ms": 300.0}
                for run in each.values
            ),
        )
        for name, each in found.entries.items()
    }
    text = answer(dataclasses.replace(found, entries=entries))
    assert "But near starves: 0.2 Mbps a flow, where far has 9 Mbps." in text
    assert "But packets wait 300 ms in the mean, longer than the RTT of " in text


def test_few_of_many_equal_queues_are_left_to_advise() -> None:
    same = [
        "scenario",
        *(f"fifo:{packets}" for packets in (40, 41)),
        "codel:40",
        "pie:40",
        "fq_pie:40",
        "red:40",
    ]
    choice = choose(
        {name: ({GOT.metric: 1e6},) * 4 for name in same},
        (GOT,),
        {"throughput": 1.0},
        missed=dict.fromkeys(same, ()),
    )
    words = shlex.split(advise_command("a.toml", {}, choice))
    assert words[-1] == "scenario,fifo,codel,pie,fq_pie"


def test_tables_show_what_decides_and_all_if_asked(comparison: Comparison) -> None:
    found = felt(comparison, scenario=(87.5, 11.4, 0.001), drr=(87.4, 7.2, 0.001))
    short, long = (comparison_view(found, explain=explain).text(columns=80) for explain in (False, True))
    _, _, table = short.partition("What users feel")
    assert "goodput a" in table and "rating R" not in table
    assert "alike call: rating R 87.4 to 87.5" in " ".join(short.split())
    assert "rating R" in long.partition("What users feel")[2] and "--explain" not in long


def test_the_document_names_equal_queues_and_the_command_that_decides_between_them(tmp_path: Path) -> None:
    (tmp_path / "some file.toml").write_text(dumbbell())
    same = ["fifo:40 packets", "fifo:41 packets", "scenario:40 packets"]
    scenario = Scenario.load(tmp_path / "some file.toml", {"run.duration": "4 s"})
    found = bufferlab.compare(
        scenario, same[::2], seeds=2, link="bottleneck", emphasis="throughput", progress=False
    )
    document = found.to_dict()
    assert document["recommendation"]["tied"] == ["fifo:40 packets"]
    assert [(each["buffer_packets"], each["buffer_ms"]) for each in document["queues"]] == [(40, None)] * 2
    words = shlex.split(document["advise"])
    assert words[:3] == ["bufferlab", "advise", str(tmp_path / "some file.toml")]
    assert words[3:] == [
        *("--queues", "scenario,fifo", "--link", "bottleneck", "--for", "throughput"),
        *("--set", "run.duration=4 s"),
    ]
    assert f"next {document['advise']}: tries other traffic (what-ifs)" in " ".join(str(found).split())


def test_where_one_queue_is_better_nothing_is_tied(comparison: Comparison) -> None:
    clear = fetched(comparison, fifo=0.3, fq_codel=0.4)
    assert clear.tied == () and clear.to_dict()["recommendation"]["tied"] == []
    assert "Other traffic" not in answer(clear)
    assert "next bufferlab advise FILE: tries other traffic (what-ifs), and searches buffers" in " ".join(
        str(dataclasses.replace(clear, advise="bufferlab advise FILE")).split()
    )


def test_heavy_loss_under_the_recommended_queue_is_said_with_it(comparison: Comparison) -> None:
    found = fetched(comparison, fifo=0.3, fq_codel=0.4)

    def losing(share: float) -> Comparison:
        entries = {
            name: dataclasses.replace(each, values=tuple({**run, "loss": share} for run in each.values))
            for name, each in found.entries.items()
        }
        return dataclasses.replace(found, entries=entries)

    best = answer(found).replace("Run fifo", "The best of these is fifo")
    assert answer(losing(0.15)) == f"{best} But 15 % of the packets are lost with it."
    assert answer(losing(0.03)) == answer(found)


def test_a_buffer_that_a_queue_with_a_target_fills_is_reported() -> None:
    def warned(buffer: str, queues: str) -> list[str]:
        asked = SCENARIO | {"bottleneck": SCENARIO["bottleneck"] | {"buffer": buffer}}
        found = bufferlab.compare(asked, queues, seeds=1, progress=False).warnings
        return [each for each in found if "target of delay" in each]

    (text,) = warned("12 packets", "fifo,codel,fq_codel:12")
    assert "buffer of 12 packets" in text and ": codel; " in text and "codel:1000 does here" in text
    assert warned("200 packets", "codel") == [] and warned("12 packets", "fifo,codel:1000") == []


def test_a_platform_has_its_own_queues_beside_the_file_s() -> None:
    found = bufferlab.compare(CALLS, platform="ios-xe", seeds=1, progress=False)
    assert set(found.entries) >= {"llq", "llq-fair", "fifo:bdp"} and "fq_codel" not in found.entries
    assert found.entries["llq"].mean("call.loss").mean == 0 < (found.entries["llq"].mean("loss").mean or 0)
    assert found.advise.endswith("--platform ios-xe")
    anywhere = bufferlab.compare(CALLS, seeds=1, progress=False).entries
    assert {"llq", "llq-fair", "fq_codel"} <= set(anywhere)  # calls are marked, wherever that is
    plain = bufferlab.compare(BULK, platform="junos", seeds=1, progress=False)
    assert {name.partition(":")[0] for name in plain.entries} <= {"scenario", "fifo"}


def test_llq_s_buffer_is_that_of_class_default() -> None:
    found = bufferlab.compare(CALLS, ["llq:20", "fifo:40"], seeds=1, progress=False)
    half, plain = found.entries.values()
    assert half.buffer == "40 packets"  # of both classes
    text = str(found)
    assert plain.buffer == "40 packets" and "2 × 20 packets" in text and text.count("40 packets") == 1
    packets = {"bottleneck.buffer": "24 packets"}
    own = bufferlab.compare(CALLS, ["scenario", "llq"], seeds=1, progress=False, overrides=packets)
    assert own.entries["scenario"].buffer == "24 packets"
    assert own.entries["llq"].buffer == "48 packets"  # 24 for what is no call, as without it
    with pytest.raises(InputError, match="'llq:50 ms' takes class-default's queue-limit; accepted: llq:64"):
        bufferlab.compare(CALLS, ["llq:50 ms"])


def test_a_queue_that_the_platform_lacks_is_refused() -> None:
    with pytest.raises(InputError, match="queues: 'codel' has no equivalent on Juniper Junos"):
        bufferlab.compare(CALLS, ["codel"], platform="junos")
    with pytest.raises(InputError, match="'llq' has no marked calls to go first"):
        bufferlab.compare(BULK, ["llq"])
