"""LLQ: FIFO with calls before it, where the platform has that and calls come with a codepoint for it."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from bufferlab.cli.advising import answer_in_file
from bufferlab.errors import InputError
from bufferlab.experiment.simulation import prepare
from bufferlab.render.advise.box import box_of
from bufferlab.render.advise.head import head, headline
from bufferlab.render.advise.today import today_name
from bufferlab.render.advise.typed import Typed
from bufferlab.render.advise.words import order_text
from bufferlab.scenario import Scenario, Table
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.advising import advise
from bufferlab.studies.advise.entry import superseded
from bufferlab.studies.advise.llq import FAIR, about_llq, llq_tables, of_classes
from bufferlab.studies.advise.queues import Queue, queues_for
from bufferlab.studies.choosing.choice import choose
from bufferlab.studies.choosing.objectives import Aspect
from bufferlab.studies.choosing.order import keeps_apart, place, reason_of
from bufferlab.studies.targets import Target, make_target
from bufferlab.studies.words import LLQ, LLQ_FAIR

from ...advised import FIFO, entry, runs

CLASSES = "EF: priority {} %; rest: weight 1"


def link_with(calls: int, dscp: str = "EF", rate: str = "10 Mbps", queue: Any = "fifo") -> Scenario:
    call = {"kind": "udp", "packet": "200 B", "interval": "20 ms"}
    flows = [
        {"name": "bulk", "count": 2, "rtt": "20 ms"},
        {"name": "call", "count": calls, "rtt": "20 ms", "dscp": dscp, "application": call},
    ]
    bottleneck = {"rate": rate, "buffer": "20 packets", "queue": queue}
    return prepare({"run": {"duration": "2 s"}, "bottleneck": bottleneck, "flows": flows})


def offered(base: Scenario, names: str | None = None, platform: str | None = "ios-xe") -> dict[str, Queue]:
    found = queues_for(names, base, 0, upper=64, packet_us=1200.0, rtt_us=20e3, platform=platform)
    return {queue.name: queue for queue in found}


@pytest.mark.parametrize(
    ("calls", "rate", "percent"),
    [(4, "100 Mbps", 5), (4, "10 Mbps", 5), (10, "10 Mbps", 12), (30, "10 Mbps", 33), (42, "10 Mbps", None)],
)
def test_calls_have_half_more_than_their_share_up_to_a_third(
    calls: int, rate: str, percent: int | None
) -> None:
    tables = llq_tables(link_with(calls, rate=rate), 0)
    classes = CLASSES.format(percent)
    assert tables == ({} if percent is None else {LLQ: of(classes), LLQ_FAIR: of(f"{classes} fair_queue")})


def of(classes: str) -> Table:
    return {"discipline": "diffserv", "classes": classes}


def test_llq_is_tried_beside_fifo_where_the_platform_has_it_and_calls_are_ef() -> None:
    every = {"fifo", "llq", "llq-fair", "fair_queue"}
    assert set(offered(link_with(4))) == set(offered(link_with(4), "all")) == every
    assert tuple(offered(link_with(4), "fifo")) == ("fifo",)
    assert tuple(offered(link_with(4, "CS0"))) == tuple(offered(link_with(50))) == ("fifo", "fair_queue")
    for platform in ("linux", None):
        assert not {"llq", "llq-fair", "fair_queue"} & set(offered(link_with(4), platform=platform))


def test_its_setting_is_class_default_s_part_of_the_scenario_s_buffer() -> None:
    queue = offered(link_with(4), "llq")["llq"]
    assert (queue.title, queue.label, queue.knob, queue.limit(7), queue.whole_limit(7)) == (
        "LLQ",
        "LLQ",
        "limit",
        7,
        14,
    )
    link = queue.scenario(link_with(4), 0, 7).links[0]
    assert link["buffer"]["text"] == "14 packets"
    assert link["queue"]["classes"] == CLASSES.format(5)


def test_a_scenario_that_has_it_in_place_has_it_tried_once() -> None:
    own = {"discipline": "diffserv", "classes": CLASSES.format(5)}
    assert tuple(offered(link_with(4, queue=own))) == ("fifo", "llq", "llq-fair", "fair_queue")
    fair = {"discipline": "diffserv", "classes": f"{CLASSES.format(5)} fair_queue"}
    assert tuple(offered(link_with(4, queue=fair))) == ("fifo", "llq", "llq-fair", "fair_queue")
    assert tuple(offered(link_with(4, queue=own), "scenario")) == ("scenario",)


def test_classes_of_the_scenario_s_own_have_parts_on_that_platform_alone() -> None:
    own = {"discipline": "diffserv", "classes": "EF: priority 9 %; AF31: weight 2; rest: weight 1"}
    base = link_with(4, queue=own)
    assert offered(base)["scenario"].parts == 3
    assert tuple(offered(base)) == ("scenario", "fifo", "llq", "llq-fair", "fair_queue")
    assert offered(base, platform="linux")["scenario"].parts == 1
    fair = link_with(4, queue={"discipline": "diffserv", "classes": "EF: priority 9 %; rest: weight 1 codel"})
    assert "scenario" not in offered(fair)


@pytest.mark.parametrize(
    ("names", "base", "platform", "message"),
    [
        ("llq", link_with(4), None, "'llq' needs a platform that has it; accepted: platform ios-xe"),
        ("llq", link_with(4), "linux", "'llq' needs a platform that has it"),
        (
            "llq",
            link_with(4, "CS0"),
            "ios-xe",
            "'llq' has no calls to go first; accepted: .*dscp = 'EF'.*33 %",
        ),
        ("diffserv", link_with(4), "ios-xe", "'fq_codel' has a queue in a class .*accepted: fifo"),
        ("codel", link_with(4), "ios-xe", "'codel' has no equivalent .*accepted: fifo, llq, fair_queue"),
        ("llq-fair", link_with(4), "junos", "'llq-fair' needs a platform that has it"),
    ],
)
def test_what_cannot_be_had_is_refused(
    names: str, base: Scenario, platform: str | None, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        offered(base, names, platform)


def test_why_it_is_tried_or_not_is_among_what_is_assumed() -> None:
    def shown(base: Scenario, platform: str | None = "ios-xe") -> str:
        return " ".join(about_llq(base, 0, platform, iter(llq_tables(base, 0).values())))

    assert "up to 5 % of the link: 1.5 times the 3.2 % that they take" in shown(link_with(4))
    assert "calls marked EF take 40 % of the link: no LLQ is tried" in shown(link_with(50))
    assert "datagrams come unmarked: no LLQ is tried" in shown(link_with(4, "CS0"))
    assert shown(link_with(4), "linux") == shown(link_with(4), None) == ""


def test_a_buffer_of_several_classes_is_said_to_be_that_of_all() -> None:
    table = llq_tables(link_with(4), 0)[LLQ]
    shown = of_classes(table, 262) or ""
    assert shown.startswith("this buffer is that of all 2 classes") and shown.endswith("is 131 packets")
    assert of_classes({"discipline": "fifo"}, 262) is None and of_classes(table, None) is None


def test_of_equals_it_is_taken_before_fifo_where_calls_share_the_link() -> None:
    assert place("fifo") < place("llq") < place("fq_codel") and keeps_apart("llq, 7 packets")
    assert reason_of("llq, 7 packets", "LLQ", ["fifo, 7 packets"]) == "it keeps calls apart from the rest"
    assert reason_of("llq-fair, 7 packets", "LLQ", ["codel"]) == "it keeps calls and flows apart"


def small_answer(queues: str, **more: Any) -> Advice:
    """An answer for two calls at 2 Mbps, of few runs."""
    base, targets = link_with(2, rate="2 Mbps"), ["wait_mean < 400 ms"]
    given: dict[str, Any] = {"bounds": "8..9", "confidence": 0.6, "progress": False, "threads": 1}
    return advise(base, targets, queues=queues, platform="ios-xe", **given, **more)


def test_an_answer_says_what_it_rests_on_and_types_class_default_s_limit() -> None:
    found = small_answer("llq", quick=True, today="fifo:9")
    assert found.choice.name.startswith("llq, ")
    packets, document = found.answer.packets, found.to_dict(platform="ios-xe")
    assert document["queue"] == "llq" and document["buffer"]["packets"] == packets
    assert document["configuration"]["amount"] == packets
    assert f"  queue-limit {packets} packets" in document["configuration"]["lines"]
    assert f"LLQ: queue-limit {packets} packets" in headline(found)
    assert headline(found).endswith("in class-default.") and "keeps calls apart" in order_text(found)
    (rests,) = (each for each in document["warnings"] if "calls marked EF" in each)
    assert rests.endswith("; up to 12 % of the link (2 calls) goes first.") and rests in list(head(found))
    assert f"--buffer '{2 * packets} packets'" in Typed("ios-xe").command(found, found.answer)
    assert answer_in_file(found).endswith("The buffer below is that of all 2 classes.")
    assert found.plain is None  # no FIFO was to choose from
    memory = found.answer.buffers
    assert memory is not None and (packets == 9 or 9 in memory.sizes)  # what need not change is tried


def test_a_fifo_as_large_shows_what_the_class_of_calls_brings() -> None:
    found = small_answer("fifo,llq", sensitivity=False)
    assert found.choice.name.startswith("llq, ") and found.plain is not None
    assert found.plain.size == found.answer.packets and len(found.plain.values) == len(found.answer.values)
    table = {line.label: line.text for line in box_of(found).lines}
    assert table["plain"].startswith(f"fifo, {found.plain.size} packets") and "runner-up" not in table
    assert table["why not"].startswith(f"fifo, {found.plain.size} packets: users fare ")
    assert found.to_dict(platform="ios-xe")["plain"]["packets"] == found.plain.size


def test_llq_is_searched_before_fifo() -> None:
    """Whoever interrupts an early search of a link with calls is left with what serves them."""
    notes: list[str] = []
    small_answer("fifo,llq", quick=True, sensitivity=False, watch=lambda _, note: notes.append(note))
    searched = [note for note in notes if note.startswith("searching the buffers: ") and ";" not in note]
    names = [note.split(": ")[1].split(" ")[0] for note in searched]
    assert names[0] == "llq" and names == sorted(names, reverse=True) and "fifo" in names


def test_each_llq_does_all_that_its_class_default_does_alone() -> None:
    tables = {"fifo": "fifo", FAIR: "fair_queue", "red": "red", LLQ: "diffserv", LLQ_FAIR: "diffserv"}
    targets = (make_target("utilization", 0.9),)
    entries = {}
    for name, kind in tables.items():
        made = entry("fifo", 14, runs(FIFO), targets)
        entries[name] = dataclasses.replace(
            made, queue=dataclasses.replace(made.queue, name=name, table={"discipline": kind})
        )
    llq, fair = entries[LLQ].name, entries[LLQ_FAIR].name
    assert superseded(entries.values()) == {
        entries["fifo"].name: [llq, fair],
        entries[FAIR].name: [fair],
    }
    assert superseded(entries[name] for name in ("fifo", FAIR, LLQ)) == {entries["fifo"].name: [llq]}


def test_a_fifo_is_not_taken_where_llq_does_all_that_it_does() -> None:
    """Users fare better with the larger FIFO, and calls would lose their priority."""
    goodput = Aspect("throughput", "data: goodput", "data.goodput_bps", "more")
    contest = {
        "fifo, 256 packets": [{"data.goodput_bps": 2e6}] * 4,
        "llq, 133 packets": [{"data.goodput_bps": 1e6}] * 4,
    }
    missed: dict[str, tuple[Target, ...]] = dict.fromkeys(contest, ())
    given = {"fifo, 256 packets": ["llq, 133 packets"]}

    def taken(**more: Any) -> str:
        return choose(contest, [goodput], {"throughput": 1.0}, **{"missed": missed, **more}).name

    assert taken() == "fifo, 256 packets"
    assert taken(superseded=given) == "llq, 133 packets"
    busy = make_target("utilization", 0.99)
    misses = {**missed, "llq, 133 packets": (busy,)}
    assert taken(superseded=given, missed=misses) == "fifo, 256 packets"
    assert taken(superseded=given, losses={"llq, 133 packets": 0.08}) == "fifo, 256 packets"


def test_with_fair_queue_the_rest_is_kept_apart_and_that_is_typed() -> None:
    queue = offered(link_with(4), "llq-fair")["llq-fair"]
    assert (queue.title, queue.label, queue.parts) == ("LLQ with fair-queue", "LLQ, fair", 2)
    found = small_answer("llq-fair", quick=True, today="fifo:9")
    packets = found.answer.packets
    assert f"LLQ with fair-queue: queue-limit {packets} packets" in headline(found)
    assert found.sharing is None  # calls have a class of their own
    lines = found.to_dict(platform="ios-xe")["configuration"]["lines"]
    at = lines.index(" class class-default")
    assert lines[at + 1 : at + 3] == ["  fair-queue", f"  queue-limit {packets} packets"]
    assert any(
        "fair-queue is simulated with 16 queues" in each for each in found.configuration("ios-xe").notes
    )


def test_it_may_be_what_runs_today_and_is_called_so() -> None:
    found = small_answer("fifo", quick=True, today="llq:9")
    assert found.today is not None and found.today.queue == "diffserv"
    assert today_name(found.today) == "LLQ, 9 packets" and not Typed("ios-xe").restoring(found)
    with pytest.raises(InputError, match="today: 'llq' has no buffer"):
        small_answer("fifo", quick=True, today="llq")
