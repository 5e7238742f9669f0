"""Answers for several links in words: all at a glance, what to type once, a box for each."""

from __future__ import annotations

import dataclasses
import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bufferlab.cli.advising import delivery
from bufferlab.render.advise.box import box_of
from bufferlab.render.advise.links import links_headline, links_view, shaped_text, summary_box
from bufferlab.render.advise.typed import Typed
from bufferlab.render.view import View
from bufferlab.scenario import Scenario, Table
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.elsewhere import Spoiled
from bufferlab.studies.advise.entry import Entry, Users
from bufferlab.studies.advise.joint import LinksAdvice, Shaped
from bufferlab.studies.advise.unshaped import Unshaped
from bufferlab.studies.choosing.objectives import Aspect, weights_for
from bufferlab.studies.least import check
from bufferlab.studies.least.memory import Memory, Run
from bufferlab.studies.targets import Values
from bufferlab.studies.words import OWN

from ..advised import FIFO, FQ_CODEL, advised, runs, site
from ..small import LINE

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedScenario

HEARD = Users("heard", "udp", 1, None)
SAID = Users("said", "udp", 1, None)
RESOLVED = Scenario.from_toml(LINE).resolved


def answer(link: str, rate_bps: int, users: Users, word: str = "fq_codel") -> Advice:
    values = {"fq_codel": (5000, runs(FQ_CODEL)), "fifo": (14, runs(FIFO))}
    place = dataclasses.replace(site(users), link=link, rate_bps=rate_bps)
    return (
        advised({word: values[word], **values}, where=place)
        if word == "fq_codel"
        else advised({word: values[word]}, where=place)
    )


def beside(advice: Advice, values: Values) -> Entry:
    """What an answer measures with the others in place."""
    entry, given = advice.answer, runs(values)
    memory = Memory([each.target for each in entry.checks])
    memory.add({Run(entry.setting, seed): each for seed, each in enumerate(given)})
    checks = tuple(
        check(memory, entry.setting, each.target, list(range(len(given)))) for each in entry.checks
    )
    return dataclasses.replace(
        entry, runs=tuple(given), checks=checks, confidence=min(each.confidence for each in checks)
    )


def line(*, up: str = "fq_codel", upload: Values = FQ_CODEL, share: float = 0.9) -> LinksAdvice:
    links = (answer("download", 45_000_000, HEARD), answer("upload", 9_000_000, SAID, up))
    felt = {"heard.call_r": 93.0, "heard.call_mos": 4.4, "said.call_r": 71.0, "said.call_mos": 3.6}
    return LinksAdvice(
        title="Home line 50/10 Mbps",
        links=links,
        wanted=("download", "upload"),
        resolved=RESOLVED,
        joint=(beside(links[0], {**FQ_CODEL, **felt}), beside(links[1], {**upload, **felt})),
        shaped=Shaped(share, {"download": 50_000_000, "upload": 10_000_000}),
        runs=42,
        finished=True,
    )


def shown(advice: LinksAdvice, typed: Typed | None = None) -> str:
    return links_view(advice, typed=typed or Typed()).text(80)


def words(text: str) -> str:
    return " ".join(text.replace("│", " ").split())


def summary(text: str) -> list[str]:
    lines = text.splitlines()
    return lines[: next(at for at, each in enumerate(lines) if each.startswith("╰")) + 1]


def test_all_is_said_at_a_glance_and_fits_a_terminal() -> None:
    top = summary(shown(line()))
    assert len(top) <= 24 and max(map(len, top)) == 80
    said = words("\n".join(top))
    assert "Home line 50/10 Mbps: download and upload" in said
    assert "Shape download to 45 Mbps and upload to 9 Mbps, and run fq_codel at both links." in said
    assert "Run together, both links meet their targets: 96 % sure for this traffic (5 runs)." in said
    assert "download 45 Mbps: target 5 ms, limit 200 packets" in said
    assert "heard rating R 93 (very satisfied)" in said and "said rating R 71 (some dissatisfied)" in said
    assert "shaped at 45 Mbps of 50 Mbps and 9 Mbps of 10 Mbps, 90 % (--share)" in said


def without(call: float, page: float, *, is_assumed: bool = True) -> LinksAdvice:
    """The line, and what it does without a shaper."""
    advice = line()
    download, upload = advice.links
    felt = (
        Aspect("pages", "heard: pages", "heard.exchange_p50_s", "less"),
        Aspect("calls", "heard: rating R", "heard.call_r", "more"),
        Aspect("throughput", "said: goodput", "said.goodput_bps", "more"),
    )
    weights = weights_for(None, felt)
    download, upload = (
        dataclasses.replace(each, aspects=felt, weights=weights) for each in (download, upload)
    )
    joint = tuple(
        dataclasses.replace(each, values=tuple(runs({**FQ_CODEL, "heard.call_r": 93.0, **FETCHED})))
        for each in advice.joint
    )
    values: Values = {**FETCHED, "wait_mean_ms": 180.0, "heard.call_r": call, "heard.exchange_p50_s": page}
    measured = {name: tuple(runs(values)) for name in ("download", "upload")}
    unshaped = Unshaped("fifo", "250 ms", is_assumed, measured)
    return dataclasses.replace(advice, links=(download, upload), joint=joint, unshaped=unshaped)


FETCHED: Values = {"heard.exchange_p50_s": 0.71, "said.goodput_bps": 7e6}


@pytest.mark.parametrize(
    ("call", "page", "text"),
    [
        (61.0, 2.2, ": heard R 61 instead of 93; heard 2.2 s instead of 0.71 s."),
        (92.0, 0.9, ": heard 900 ms instead of 710 ms."),
        (92.0, 0.72, ", users would notice no difference in this traffic."),
    ],
)
def test_what_users_feel_without_the_shaper_comes_second(call: float, page: float, text: str) -> None:
    modem = "Without the shaper, in a modem's fifo of 250 ms"
    head = summary_box(without(call, page, is_assumed=False), Typed()).head
    assert head[0].startswith("Shape download") and head[1] == f"{modem}{text}"
    assumed = summary_box(without(call, page), Typed()).head[1]
    assert assumed == f"{modem} (assumed; --today says another){text}"


@pytest.mark.parametrize(
    ("call", "page", "is_worse"), [(93.0, 0.3, True), (93.0, 0.7, False), (61.0, 2.2, False)]
)
def test_what_is_worse_than_no_shaper_says_so_first_and_types_nothing(
    call: float, page: float, *, is_worse: bool
) -> None:
    advice = without(call, page)
    assert advice.is_worse_than_unshaped == is_worse == advice.to_dict()["is_worse_than_unshaped"]
    head = summary_box(advice, Typed()).head
    first = "Do not shape for these targets: what meets them is worse for users than no shaper. Without the "
    assert links_headline(advice).startswith(first) == is_worse
    typed = words(shown(advice, Typed("openwrt"))).partition("To type on openwrt ")[2]
    if is_worse:
        assert "heard 300 ms instead of 710 ms." in head[0]
        assert head[1].startswith("What meets the targets all the same: shape download to 45 Mbps")
        assert typed.startswith("Nothing, since users fare better without the shaper; --json has the lines")
    else:
        assert "names yours. config queue 'bufferlab'" in typed


def test_the_line_without_a_shaper_has_a_row_beside_the_answers() -> None:
    rows = {each.split()[1]: each.split() for each in summary(shown(without(61.0, 2.2))) if "fifo" in each}
    assert rows["unshaped"][1:] == ["unshaped", "fifo,", "250", "ms", "61", "2.2", "180", "180", "7", "│"]


def test_what_the_shaper_costs_in_rate_is_in_its_row() -> None:
    """By what each direction carries; a flow's goodput changes by how flows share, too."""
    made = without(61.0, 2.2)
    assert made.unshaped is not None
    values = {
        name: tuple({**run, "throughput_bps": 22e6} for run in given)
        for name, given in made.unshaped.values.items()
    }
    advice = dataclasses.replace(made, unshaped=dataclasses.replace(made.unshaped, values=values))
    price = "download carries 19.9 Mbps instead of 22; upload 19.9 instead of 22"
    assert f"shaped to 90 %: {price}" in words("\n".join(summary(shown(advice))))
    assert f"These rates were simulated. The price: {price}." in words(shown(advice))
    assert "carries" not in shown(line())


def test_a_folder_has_what_is_shown_for_the_platform_and_both_directions_together(tmp_path: Path) -> None:
    typed = Typed("openwrt", shape=True)
    deliver = delivery(typed, several=True, explain=False, as_json=False, plot=None, out=tmp_path)
    advice = without(61.0, 2.2)
    deliver.save(advice, tmp_path)
    document = json.loads((tmp_path / "advice.json").read_text("utf-8"))
    assert document["configuration"]["platform"] == "openwrt"
    assert "config queue 'bufferlab'" in (tmp_path / "advice.txt").read_text("utf-8")
    for link in ("download", "upload"):
        assert json.loads((tmp_path / link / "advice.json").read_text("utf-8"))["configuration"] is None
        text = (tmp_path / link / "advice.txt").read_text("utf-8")
        assert "tc qdisc" not in text and "What to type is beside the answers for all links" in text


def test_what_python_saves_of_a_link_is_what_the_command_saves(tmp_path: Path) -> None:
    advice = without(61.0, 2.2)
    advice.save(tmp_path)
    assert "tc qdisc" in (tmp_path / "advice.txt").read_text("utf-8")
    for link in ("download", "upload"):
        text = (tmp_path / link / "advice.txt").read_text("utf-8")
        assert "tc qdisc" not in text and "What to type is beside the answers for all links" in text


def test_what_misses_only_beside_the_others_is_said_first() -> None:
    advice = line(upload={**FQ_CODEL, "utilization": 0.5})
    assert not advice.meets and [each.site.link for each, _ in advice.disturbed] == ["upload"]
    said = words(shown(advice))
    assert "Together, upload misses: utilization 50" in said and "target 99 %: missed by 49 points." in said
    assert "Run together" not in said


def test_what_is_unfinished_says_so() -> None:
    whole = line()
    advice = dataclasses.replace(whole, links=whole.links[:1], joint=(), finished=False)
    said = words(shown(advice))
    assert "There is no answer yet for upload. They were not run together yet." in said
    assert not advice.meets and links_headline(advice).endswith("and run fq_codel at download.")


@pytest.mark.parametrize("platform", ["openwrt", "linux", "ios-xe"])
def test_a_line_has_no_lines_before_both_directions_have_an_answer(platform: str) -> None:
    whole = line()
    advice = dataclasses.replace(whole, links=whole.links[:1], joint=(), finished=False)
    text = shown(advice, Typed(platform, "eth1"))
    said = words(text).partition(f"To type on {platform} ")[2]
    assert said.startswith("Nothing yet, as there is no answer for upload: the lines are for both directions")
    assert "The same command continues from here." in said
    assert not any(each in text for each in ("option upload", "tc qdisc", "policy-map", "ask for 90 %"))
    assert f"type no lines for {platform}: why is below this box" in words("\n".join(summary(text)))


def test_answers_that_one_section_cannot_have_are_not_typed() -> None:
    text = shown(line(up="fifo"), Typed("openwrt", "eth1"))
    assert (
        "To type on openwrt Nothing yet, as OpenWrt (sqm-scripts) has one queue for both directions, and the "
        "answers so far have two. The same command continues from here."
    ) in words(text)
    assert "option" not in text and "ifb4eth1" in shown(line(up="fifo"), Typed("linux", "eth1"))


def test_that_a_home_s_interface_is_to_be_named_comes_before_the_lines() -> None:
    named = "stands for the interface to the line: --device names yours."
    assert f"To type on openwrt eth1 {named}" in words(shown(line(), Typed("openwrt")))
    assert named not in words(shown(line(), Typed("openwrt", "eth1")))


def test_what_loses_much_is_not_typed_of_a_line() -> None:
    whole = line()
    lossy = advised(
        {"fifo": (14, runs({**FIFO, "loss": 0.08}))},
        where=dataclasses.replace(site(SAID), link="upload", rate_bps=9_000_000),
    )
    text = shown(dataclasses.replace(whole, links=(whole.links[0], lossy)))
    typed = words(text).partition("To type on linux ")[2]
    assert typed.startswith("upload: nothing, since it loses what hardly anybody would accept.")
    assert "tc qdisc" not in typed.partition("Home line")[0]


def doubtful(advice: Advice, confidence: float = 0.57) -> Advice:
    """The advice with an answer that is less sure than was asked for."""
    entries = {
        **advice.entries,
        advice.answer.name: dataclasses.replace(advice.answer, confidence=confidence),
    }
    return dataclasses.replace(advice, entries=entries)


def test_what_is_not_proven_is_said_at_a_glance() -> None:
    whole = line()
    down = doubtful(whole.links[0])
    alone = summary_box(dataclasses.replace(whole, links=(down,), joint=(), finished=False), Typed()).head
    assert "download: not proven, 57 % sure by 5 runs (95 % is asked for)." in alone
    few = dataclasses.replace(whole.joint[0], confidence=0.57)
    head = summary_box(dataclasses.replace(whole, joint=(few, whole.joint[1])), Typed()).head
    assert head[-1] == (
        "Run together, both links meet their targets in the mean of 5 runs, which is not proven: 57 % sure, "
        "95 % is asked for. A link's box has runs of that link."
    )


def test_nothing_is_typed_of_a_link_for_which_one_queue_of_several_was_tried() -> None:
    whole = line()
    early = dataclasses.replace(whole.links[1], stage="begun", finished=False)
    advice = dataclasses.replace(whole, links=(whole.links[0], early), joint=(), finished=False)
    said = words(shown(advice))
    assert "To type on linux upload: nothing yet, as no other queue was tried." in said
    assert "tc qdisc" not in said.partition("To type on linux")[2].partition("Home line")[0]
    box = words(View([box_of(early)]).text(80))
    assert "type nothing yet, as no other queue was tried." in box


def test_lines_for_linux_can_be_pasted_from_a_narrow_terminal() -> None:
    text = shown(line(), Typed("linux", "wan0"))
    block = text[text.index("# upload: what leaves wan0") : text.index("note    wan0 is the interface")]
    assert all(len(each) <= 64 for each in block.splitlines())
    pasted = block.replace("\\\n", " ")
    commands = [shlex.split(each, comments=True) for each in pasted.splitlines()]
    firsts = {each[0] for each in commands if each}
    assert firsts == {"tc", "ip"}
    assert ["ip", "link", "set", "dev", "ifb4wan0", "up"] in commands


def test_openwrt_has_one_section_and_says_if_it_cannot_be_the_answers() -> None:
    said = shown(line(), Typed("openwrt"))
    assert said.count("config queue 'bufferlab'") == 1
    assert "option download '45000'" in said and "option upload '9000'" in said


def test_routeros_has_a_tree_for_each_direction_with_names_of_their_own() -> None:
    said = shown(line(), Typed("routeros"))
    assert "/queue/tree add name=bufferlab-download parent=bridge" in said and "max-limit=45M" in said
    assert "'/queue/tree remove [find where name=bufferlab-upload]'" in words(said)
    assert "/queue/tree add name=bufferlab-upload parent=ether1" in said and "max-limit=9M" in said
    assert "ask for 90 %" not in said and "--linklayer" not in said


def test_other_platforms_have_both_configurations_with_names_of_their_own() -> None:
    said = shown(line(), Typed("ios-xe", "Gi0/0/1"))
    assert "! download: on the interface to the home, whose name is to replace Gi0/0/1" in words(said)
    assert "policy-map bufferlab-download" in said
    assert "! upload: on the interface to the line" in said and "policy-map bufferlab-upload" in said
    assert "shape average 45000000" in said and "shape average 9000000" in said


def test_links_that_are_no_line_are_on_routers_of_their_own() -> None:
    whole = line()
    links = [
        dataclasses.replace(each, site=dataclasses.replace(each.site, link=name))
        for each, name in zip(whole.links, ("west", "east"), strict=True)
    ]
    advice = dataclasses.replace(
        whole, links=tuple(links), wanted=("west", "east"), shaped=None, resolved=row()
    )
    said = shown(advice)
    assert advice.directions is None and advice.configuration() is None
    assert "# west: on the interface that sends into it" in said and "ifb" not in said


def row() -> ResolvedScenario:
    return Scenario.from_toml(LINE.replace('"download"', '"west"').replace('"upload"', '"east"')).resolved


def test_a_shaper_at_the_line_s_own_rate_is_warned_of() -> None:
    assert shaped_text(line(share=1.0)).startswith("at the line's own rate: right only if it is this router")


def test_the_figure_of_one_link_of_several_names_it() -> None:
    advice = dataclasses.replace(line().links[1], resolved=RESOLVED)
    assert advice.figure().get_suptitle().startswith("By hand: upload\nRun fq_codel")


def test_a_wait_at_another_link_is_in_the_box() -> None:
    elsewhere: Sequence[Spoiled] = (
        Spoiled("call", "far", "wait", 38.0, 41.0),
        Spoiled("pages", "far", "loss", 0.0431, 0.0431),
    )
    advice = dataclasses.replace(advised({"fifo": (14, runs(FIFO))}), elsewhere=tuple(elsewhere))
    said = words(View([box_of(advice, None)]).text(80))
    assert (
        "elsewhere at far call waits 38 of its 41 ms, pages loses all its 4.3 %: no queue at west mends that."
        in said
    )
    assert "tc qdisc" not in said


def test_what_a_shaper_does_not_cost_is_no_price() -> None:
    made = without(61.0, 2.2)
    assert made.unshaped is not None
    values = {
        name: tuple({**run, "throughput_bps": 22e6 if name == "download" else 15e6} for run in given)
        for name, given in made.unshaped.values.items()
    }
    advice = dataclasses.replace(made, unshaped=dataclasses.replace(made.unshaped, values=values))
    said = words(shown(advice))
    price = "download carries 19.9 Mbps instead of 22; upload gains: 19.9 instead of 15"
    assert f"The price: {price}." in said


def test_a_queue_with_more_than_a_name_has_that_in_brackets() -> None:
    advice = line()
    own = advice.links[0]
    table: Table = {"discipline": "fq_codel", "quantum": "300 B"}
    queue = dataclasses.replace(own.answer.queue, name=OWN, table=table)
    entry = dataclasses.replace(own.answer, queue=queue)
    first = dataclasses.replace(own, entries={**own.entries, own.answer.name: entry})
    both = dataclasses.replace(advice, links=(first, advice.links[1]))
    assert "fq_codel (quantum 300 B) at download and fq_codel at upload." in links_headline(both)
