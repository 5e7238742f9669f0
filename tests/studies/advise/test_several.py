"""Answers for several links: each with the others' in place, and what they do together."""

from __future__ import annotations

import dataclasses

import pytest

from bufferlab.errors import InputError
from bufferlab.experiment.interruption import RunInterrupted
from bufferlab.scenario import Scenario
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.joint import LinksAdvice
from bufferlab.studies.advise.question import prepared
from bufferlab.studies.advise.settings import PILOTS
from bufferlab.studies.advise.several import advise_links, link_indices, with_answers

from ...small import LINE

SCENARIO = Scenario.from_toml(LINE)


def advised(links: str = "each", *targets: str, **options: object) -> LinksAdvice:
    asked = {"queues": "fifo,fq_codel", "quick": True, "threads": 1, "progress": False, **options}
    return advise_links(SCENARIO, links, targets, **asked)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def answers() -> LinksAdvice:
    targets = ("utilization >= 50 %", "heard.loss <= 50 %", "said.loss <= 50 %")
    return advised("each", *targets, bounds="2..3", today="fifo:40")


def test_each_link_has_its_answer_and_the_others_are_in_place(answers: LinksAdvice) -> None:
    assert [each.site.link for each in answers.links] == ["download", "upload"] == list(answers.wanted)
    assert answers.finished and answers.meets
    down, up = answers.links
    # the upload was answered with the download's answer in place
    (placed,) = (link for link in up.resolved["links"] if link["name"] == "download")
    assert placed["queue"]["discipline"] == down.answer.table["discipline"]
    assert placed["buffer"]["text"] == f"{down.answer.packets} packets"
    # the scenario as a whole keeps its own queues
    assert {link["queue"]["discipline"] for link in answers.resolved["links"]} == {"fifo"}


def test_what_runs_today_is_run_at_each_link_beside_its_answer(answers: LinksAdvice) -> None:
    for each in answers.links:
        assert each.today is not None and each.today.packets == 40
        assert len(each.today.values) == len(each.answer.values)


def test_what_runs_today_is_refused_before_any_run() -> None:
    with pytest.raises(InputError, match="has no buffer"):
        advised(today="fifo", watch=lambda _advice, note: pytest.fail(f"began: {note}"))


def test_targets_about_a_group_are_asked_where_its_data_goes(answers: LinksAdvice) -> None:
    asked = [[str(target) for target in each.targets] for each in answers.links]
    assert [any("heard" in each for each in those) for those in asked] == [True, False]
    assert [any("said" in each for each in those) for those in asked] == [False, True]
    assert all(any("utilization" in each for each in those) for those in asked)


def test_users_of_a_link_are_those_whose_data_crosses_it(answers: LinksAdvice) -> None:
    names = [{users.name for users in each.site.users} for each in answers.links]
    assert names == [{"fetches", "heard"}, {"backup", "said"}]


def test_all_answers_are_run_together(answers: LinksAdvice) -> None:
    base = prepared(SCENARIO, None)
    together = with_answers(base, {index: each.answer for index, each in enumerate(answers.links)})
    buffers = [link["buffer"]["text"] for link in together.links]
    assert buffers == [f"{each.answer.packets} packets" for each in answers.links]
    for entry in answers.joint:
        assert len(entry.runs) == PILOTS and all(check.met for check in entry.checks)
    document = answers.to_dict(platform="openwrt")
    assert document["format"] == "bufferlab-advice-links" and document["meets"]
    assert [each["link"] for each in document["together"]] == ["download", "upload"]
    assert [each["format"] for each in document["links"]] == ["bufferlab-advice"] * 2


def test_one_configuration_is_for_both_directions(answers: LinksAdvice) -> None:
    assert [each.answer.queue.name for each in answers.links] == ["fq_codel", "fq_codel"]
    linux = answers.configuration("linux", "wan")
    assert linux is not None and linux.refused is None
    assert sum("rate 4mbit" in line or "rate 1mbit" in line for line in linux.made.lines) == 2
    assert answers.configuration("junos") is None
    # a direction by itself has no lines where both have some: they would shape what leaves
    documents = {name: answers.to_dict(platform=name) for name in ("linux", "junos")}
    assert documents["linux"]["configuration"] is not None and documents["junos"]["configuration"] is None
    assert [each["configuration"] for each in documents["linux"]["links"]] == [None, None]
    assert None not in [each["configuration"] for each in documents["junos"]["links"]]


def test_where_one_queue_is_for_both_it_is_one_that_both_have_tried(answers: LinksAdvice) -> None:
    down, up = answers.links
    plain = next(name for name, entry in up.entries.items() if entry.queue.name == "fifo")
    others = tuple(dataclasses.replace(each, name=up.choice.name) for each in up.choice.rivals[:1])
    up = dataclasses.replace(up, choice=dataclasses.replace(up.choice, name=plain, rivals=others))
    both = dataclasses.replace(answers, links=(down, up)).configuration("openwrt", "wan")
    assert both is not None and "one queue for both" in str(both.refused)
    assert both.down is down.answer and both.up.queue.name == "fq_codel"
    lines = [line.strip() for line in both.made.lines]
    assert {"option download '4000'", "option upload '1000'", "option qdisc 'fq_codel'"} <= set(lines)


def test_where_the_platform_has_one_queue_for_both_that_is_answered_and_typed() -> None:
    targets = ("utilization >= 90 %", "heard.wait_mean <= 10 ms")
    free, one = (advised("each", *targets, bounds="2..40", platform=name) for name in ("linux", "openwrt"))
    assert [each.answer.queue.kind for each in free.links] == ["fifo", "fq_codel"]
    (kind,) = {each.answer.queue.kind for each in one.links}
    both = one.configuration("openwrt", "wan")
    assert one.meets and both is not None and both.refused is None
    assert [both.down, both.up] == [each.answer for each in one.links]
    about = f"the queue is {kind} in both directions, since OpenWrt (sqm-scripts) has one for both"
    assert sum(about in each.assumed for each in one.links) == 1


def test_the_first_answers_come_before_any_search() -> None:
    watched: list[tuple[str, str]] = []

    def watch(advice: Advice | None, note: str) -> None:
        watched.append(("" if advice is None else advice.site.link, note))
        if note.startswith("searching the buffers: fifo "):
            raise KeyboardInterrupt

    with pytest.raises(RunInterrupted):
        advised("download,upload", "utilization >= 60 %", watch=watch)
    assert [link for link, note in watched if link and not note] == [
        "download",
        "download",
        "upload",
        "upload",
    ]
    assert watched[-1][0] == "download" and "(download)" in watched[-1][1]


def test_ctrl_c_leaves_the_answers_that_are_known() -> None:
    def watch(advice: Advice | None, note: str) -> None:
        if advice is not None and note.startswith("searching the buffers: fifo "):
            raise KeyboardInterrupt

    with pytest.raises(RunInterrupted) as interrupted:
        advised("each", "utilization >= 60 %", watch=watch)
    left = interrupted.value.finished
    assert isinstance(left, LinksAdvice) and not left.finished
    assert [entry.name for entry in left.joint] == [each.answer.name for each in left.links]
    assert [each.site.link for each in left.links] == ["download", "upload"]
    assert not any(each.finished for each in left.links)  # the usual settings alone were tried


def test_an_answer_of_one_queue_does_not_replace_one_of_all() -> None:
    """The search of a FIFO's buffers comes first, and knows nothing of the queues that were taken before."""
    notes: list[str] = []

    def watch(_advice: Advice | None, note: str) -> None:
        notes.append(note)
        if "running all answers together" in notes and not note:
            raise KeyboardInterrupt

    with pytest.raises(RunInterrupted) as interrupted:
        advised("each", "utilization >= 60 %", watch=watch)
    left = interrupted.value.finished
    assert isinstance(left, LinksAdvice)
    assert any(note.startswith("searching the buffers: fifo ") for note in notes)
    assert [each.stage for each in left.links] == ["first", "first"]
    assert [entry.name for entry in left.joint] == [each.answer.name for each in left.links]


@pytest.mark.parametrize(
    ("links", "targets", "message"),
    [
        ("download,uplaod", (), "link: 'uplaod' is not a link of the scenario (did you mean 'upload'?)"),
        ("download,", (), "link: '' is not a link of the scenario; accepted: download, upload, with commas"),
        ("download", ("said.r > 60",), "is about a group whose data crosses no link that is asked about"),
        ("each", ("noone.r > 60",), "noone"),
    ],
)
def test_what_cannot_be_asked(links: str, targets: tuple[str, ...], message: str) -> None:
    with pytest.raises(InputError) as refused:
        advised(links, *targets)
    assert message in str(refused.value)


def test_links_are_taken_once_in_the_order_of_the_asking() -> None:
    base = prepared(SCENARIO, None)
    assert link_indices(base, "upload, download,upload") == [1, 0]
    assert link_indices(base, "each") == [0, 1]
    assert link_indices(base, ["upload"]) == [1]
