"""The box holds an answer with everything that there is to say, on a terminal of 24 lines."""

from __future__ import annotations

import dataclasses
from typing import Final

import pytest

from bufferlab.render.advise.box import Against, box_of
from bufferlab.render.advise.links import summary_box
from bufferlab.render.advise.typed import Typed
from bufferlab.render.advise.view import advice_view
from bufferlab.render.advise.what_if import fragile
from bufferlab.render.framed import BelowBox, Box, Line
from bufferlab.render.view import Terms, View
from bufferlab.stats import Estimate
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.elsewhere import Spoiled
from bufferlab.studies.advise.entry import Users
from bufferlab.studies.advise.joint import LinksAdvice, Shaped
from bufferlab.studies.advise.rough import Rough
from bufferlab.studies.advise.sensitivity import Broken, Sensitivity, Shaken
from bufferlab.studies.settling import ShortRuns
from bufferlab.studies.targets import Target, Values

from ..advised import ASPECTS, CALL, DOWNLOADS, FIFO, FQ_CODEL, advised, entry, runs, site

TARGETS: Final = ("utilization >= 97 %", "loss <= 6 %", "call.r > 50", "wait_p99 < 120 ms")
WHY: Final = ShortRuns(("only 3 s are measured, but a flow takes up to 60 s from loss to loss",), 40, 160)
GROUPS: Final = (
    *(DOWNLOADS, CALL, Users("bbr", "bulk", 1, "bbr"), Users("backup", "bulk", 20, "cubic")),
    *(Users("pages", "web", 1, "cubic"), Users("ping", "ping", 1, None)),
)
FELT: Final[Values] = {
    "loss": 0.041,
    "bbr.goodput_bps": 14.2e6,
    "backup.goodput_bps": 0.4e6,
    "backup.jain_index": 0.91,
    "pages.exchange_p50_s": 0.709,
    "pages.exchange_p95_s": 1.337,
    "ping.loaded_rtt_p50_ms": 41.0,
    "ping.loaded_rtt_p95_ms": 78.0,
    "call.wait_p99_ms": 0.9,
    "downloads.wait_p99_ms": 61.0,
}
CHANGES: Final = ("2 flows", "8 flows", "half the RTT", "twice the RTT", "cubic-linux alone", "bbr")


def what_ifs(*missed: tuple[Target, ...], sizes: tuple[int | None, ...]) -> list[Sensitivity]:
    """Changes of the traffic, each with what is missed then, and about which buffer would do."""
    found = [
        Sensitivity(name, name, {"utilization": 0.95, "loss": 0.07}, targets, Rough(size, (14, 400)))
        for name, targets, size in zip(CHANGES, missed, sizes, strict=True)
    ]
    alone = CHANGES.index("cubic-linux alone")
    explains: Values = {"utilization": 0.95, "loss": 0.012}  # where the loss comes from
    found[alone] = dataclasses.replace(found[alone], values=explains, is_of_control=True)
    return found


def everything(word: str, *, larger: bool, platform_ends: bool = False, is_open: bool = True) -> Advice:
    """An answer about which all that can be said together is said.

    Args:
        word: The queue that is taken.
        larger: Whether FIFO's buffer is larger than the least that meets the targets.
        platform_ends: Whether nothing meets the targets.
        is_open: Whether other queues may yet turn out to be better.
    """
    fifo, other = {**FIFO, **FELT}, {**FQ_CODEL, **FELT}
    best, worse = (fifo, {**other, "call.call_r": 40.0}) if word == "fifo" else (other, fifo)
    given = {
        "fifo": (14, runs(fifo if word == "fifo" else worse)),
        "codel": (5000, runs({**best, "loss": 0.055})),
    }
    given["fq_codel"] = (5000, runs(worse if word == "fifo" else best))
    targets: tuple[str, ...] = ("utilization >= 99.9 %", *TARGETS[1:]) if platform_ends else TARGETS
    if word == "fifo" and not larger:
        targets = TARGETS[:3]  # a price is shown where no wait is bounded
    aspects = ASPECTS[1:]
    advice = advised(
        given,
        targets,
        where=site(*GROUPS),
        aspects=aspects,
        weights={"calls": 10.0, "throughput": 2.0},
        origin="scenario",
    )
    asked = advice.targets
    missed = ((asked[0],), (asked[0], asked[1]), (), (asked[1],), (asked[2],), (asked[-1],))
    entries = dict(advice.entries)
    for name, each in entries.items():
        if name.startswith("fifo"):
            near: dict[int, Values] = {
                1: {**fifo, "loss": 0.065} if larger else {**fifo, "loss": 0.045, "call.call_r": 40.0},
                150: {**fifo, "loss": 0.011},
            }
            made = entry("fifo", 14, each.values, asked, other=near)
            assert made.least is not None
            least = dataclasses.replace(made.least, size=6)
            entries[name] = (
                dataclasses.replace(made, least=least, least_behind=Estimate(0.062, 0.011))
                if larger
                else made
            )
    rivals = tuple(dataclasses.replace(each, is_open=is_open) for each in advice.choice.rivals)
    return dataclasses.replace(
        advice,
        entries=entries,
        choice=dataclasses.replace(advice.choice, rivals=rivals, edge=("codel, target 5 ms", 0.8)),
        sensitivity=tuple(what_ifs(*missed, sizes=(320, 640, 100, None, 28, 14))),
        short_runs=WHY,
        elsewhere=(Spoiled("call", "far", "wait", 38.0, 41.0), Spoiled("pages", "far", "loss", 0.043, 0.044)),
        stage="tuned",
        finished=False,
    )


def shown(box: Box) -> list[str]:
    lines = View([box]).text(80).splitlines()
    assert all(len(line) == 80 for line in lines)
    return lines


def words(text: str) -> str:
    return " ".join(text.replace("│", " ").split())


def test_where_there_is_no_room_the_table_stays_before_what_it_has_too() -> None:
    advice = everything("fifo", larger=False, platform_ends=False)
    boxes = [shown(box_of(advice, None, Against("so " * 25 * lines))) for lines in range(12)]
    kept = [{line[2:11].strip() for line in each[1:-1]} for each in boxes]
    assert all({"answer", "wait"} & each for each in kept)
    assert any("answer" in each and "wait" not in each for each in kept) and "answer" not in kept[-1]


def test_how_far_it_is_is_not_said_twice_where_that_takes_the_table_s_room() -> None:
    advice = dataclasses.replace(everything("fifo", larger=False, platform_ends=False), stage="begun")
    (line,) = [each for each in box_of(advice).lines if each.label == "so far"]
    assert line.shorter == [(3, "")] and box_of(advice).head[0].startswith("So far")


@pytest.mark.parametrize("platform", ["linux", "junos", "openwrt"])
@pytest.mark.parametrize(
    ("word", "larger", "ends"),
    [("fifo", False, False), ("fifo", True, False), ("fq_codel", True, False), ("fq_codel", True, True)],
)
def test_the_box_with_everything_fits_a_terminal_and_what_gave_way_is_below(
    word: str, platform: str, larger: bool, ends: bool
) -> None:
    advice = everything(word, larger=larger, platform_ends=ends)
    typed = Typed(platform)
    box = box_of(advice, typed)
    labels = {each.label for each in box.lines}
    always = {"elsewhere", "asked", "loss", "too short", "so far", "why not", "close", "judged", "type"}
    assert always <= labels
    assert ("price" in labels) == (word == "fifo" and not larger and not ends)
    assert ("least" in labels) == (word == "fifo" and larger)
    assert ("what if" in labels) != ends and ("helps" in labels) == ends
    lines = shown(box)
    assert len(lines) <= 24
    kept = {line[2:11].strip() for line in lines[1:-1]}
    assert {"gives", "wait" if ends else "answer", "type"} <= kept and ("target" in kept) == ends
    whole = words(advice_view(advice, typed=typed).text(80))
    for each in box.lines:
        if not each.is_elsewhere:
            assert words(each.text) in whole, each.label


@pytest.mark.parametrize("word", ["fifo", "fq_codel"])
@pytest.mark.parametrize(("is_sturdy", "is_alike"), [(False, True), (False, False), (True, True)])
def test_equal_queues_with_all_that_is_to_be_said_fit_a_terminal(
    word: str, *, is_sturdy: bool, is_alike: bool
) -> None:
    advice = everything(word, larger=True, is_open=False)
    rivals = tuple(
        dataclasses.replace(each, is_equal=True, is_alike=is_alike, missed=())
        for each in advice.choice.rivals
    )
    target = advice.targets[0]
    broken = tuple(Broken(name, target, 0.94) for name in CHANGES[:3])
    shaken = Shaken(tuple(what_ifs(*([(target,)] * 6), sizes=(None,) * 6)), broken)
    equal = dataclasses.replace(
        advice,
        choice=dataclasses.replace(advice.choice, rivals=rivals),
        changes=len(CHANGES),
        others={each.name: shaken for each in rivals},
        is_sturdy=is_sturdy,
    )
    lines = shown(box_of(equal, Typed()))
    assert len(lines) <= 24
    head = words("\n".join(lines[1:6]))
    assert ("As good for this traffic" in head) == (is_alike and not is_sturdy)
    assert ("runs of this traffic do not distinguish it from" in head) != (is_alike or is_sturdy)
    assert ("but not with other traffic:" in words(advice_view(equal).text(80))) == is_sturdy


def test_what_breaks_the_answer_is_always_in_the_box_with_what_holds() -> None:
    advice = everything("fifo", larger=True)
    said = words("\n".join(shown(box_of(advice, Typed()))))
    assert (
        "Fragile: 5 of 6 what-ifs miss a target: utilization with 2 flows (about 320 packets do); "
        "utilization and loss with 8 flows (about 640 do); loss with twice the RTT (no buffer tried does); "
        "call: rating R with cubic-linux alone (about 28 do); 99th percentile wait with bbr (about 14 do)."
    ) in said


def test_a_box_of_several_links_fits_too() -> None:
    each = everything("fq_codel", larger=True)
    links = tuple(
        dataclasses.replace(each, site=dataclasses.replace(each.site, link=name))
        for name in ("download", "upload")
    )
    advice = LinksAdvice(
        title="Home line 50/10 Mbps",
        links=links,
        wanted=("download", "upload"),
        resolved=each.resolved,
        joint=tuple(link.answer for link in links),
        shaped=Shaped(0.9, {"download": 50_000_000, "upload": 10_000_000}),
        finished=True,
    )
    flows = [{"name": user.name, "path": ["download"]} for user in GROUPS]
    advice = dataclasses.replace(advice, resolved={**advice.resolved, "flows": flows})  # type: ignore[typeddict-item]
    box = summary_box(advice, Typed("routeros"))
    lines = shown(box)
    assert len(lines) <= 24 and any(line.startswith("│ upload ") for line in lines)
    below = words(View([box, BelowBox(box)]).text(80))
    assert all(words(line.text) in below for line in box.lines)


def broken(*missed: str, sizes: tuple[int | None, ...], targets: tuple[str, ...], lost: float = 0.0) -> str:
    """What is said where some changes miss targets, and all lose a share of the packets."""
    advice = advised({"fifo": (14, runs({**FIFO, "wait_p99_ms": 9.0}))}, targets)
    named = {each.name: each for each in advice.targets}
    of_each = tuple(() if name == "" else (named[name],) for name in missed)
    changes = [
        Sensitivity(name, name, {"loss": lost}, those, Rough(size, (14, 400)))
        for name, those, size in zip(CHANGES, of_each, sizes, strict=False)
    ]
    fragility = fragile(dataclasses.replace(advice, sensitivity=tuple(changes)))
    assert fragility is not None
    return fragility


USED: Final = "utilization >= 99 %"
LATE: Final = "wait_p99 < 20 ms"


def test_a_buffer_that_holds_for_all_is_named_where_more_or_less_is_safer() -> None:
    assert broken("utilization", "", sizes=(320, 14), targets=(USED,)) == (
        "Fragile: 1 of 2 what-ifs miss the target: with 2 flows; about 320 packets hold there."
    )
    assert broken("utilization", "utilization", sizes=(320, 28), targets=(USED,)) == (
        "Fragile: 2 of 2 what-ifs miss the target: with 2 flows or 8 flows; about 320 packets hold for all."
    )
    harmless = broken("utilization", "", sizes=(320, 640), targets=(USED,))
    assert harmless.endswith("with 2 flows; about 320 packets hold there.")
    harmful = broken("utilization", "", sizes=(320, 640), targets=(USED,), lost=0.14)
    assert harmful.endswith("with 2 flows; about 640 packets hold for all.")
    assert broken("utilization", "utilization", sizes=(320, None), targets=(USED,)).endswith(
        "; about 320 packets hold for all but 8 flows."
    )
    assert broken("utilization", sizes=(None,), targets=(USED,)).endswith(
        ": with 2 flows; no buffer that was tried holds there."
    )
    assert broken("wait_p99_ms", "wait_p99_ms", sizes=(7, 1), targets=(LATE,)).endswith(
        "; about 1 packet holds for all."
    )


def test_where_neither_is_safer_each_change_has_its_buffer() -> None:
    both = (USED, LATE)
    assert broken("utilization", "wait_p99_ms", "utilization", sizes=(320, 7, None), targets=both) == (
        "Fragile: 3 of 3 what-ifs miss a target: utilization with 2 flows (about 320 packets do) and half "
        "the RTT (no buffer tried does); 99th percentile wait with 8 flows (about 7 do)."
    )
    late = ("wait_p99_ms",) * 3
    assert broken(*late, sizes=(7, None, 3), targets=both).endswith(
        "; there it takes about 3 to 7 packets, which for which is in the what-if table, none that was "
        "tried with 8 flows."
    )


def test_what_goes_on_with_a_line_keeps_its_label_below_the_box() -> None:
    many = [Line("kept", "a") for _ in range(18)]
    box = Box(
        "Title", ["One sentence."], [*many, Line("type", "b"), Line("", "more " * 30, shorter=[(1, "")])]
    )
    assert "\ntype  more more" in View([BelowBox(box)]).text(80)


def test_lines_that_yield_most_give_way_first_and_only_as_far_as_is_needed() -> None:
    long = "word " * 40
    lines = [
        *(Line("kept", "a") for _ in range(15)),
        Line("less", long, shorter=[(2, "shorter"), (1, "")]),
        Line("first", long, shorter=[(9, "")]),
    ]
    box = Box("Title", ["One sentence."], lines)
    text = "\n".join(shown(box))
    assert len(text.splitlines()) == 22 and "first" not in text and long.split(maxsplit=1)[0] in text
    below = View([BelowBox(box)]).text(80)
    assert below.startswith("More about the answer\nfirst  word word") and "less" not in below
    assert View([BelowBox(Box("Title", ["One."], lines[:3]))]).text(80) == ""
    tight = Box("Title", ["One sentence."], [*lines, *(Line("kept", "a") for _ in range(3))])
    assert "less  shorter" in "\n".join(shown(tight))
    assert len(View([tight]).text(60).splitlines()) > 24  # a narrow terminal gets all of it


def test_what_gave_way_before_a_long_line_comes_back_where_that_leaves_room() -> None:
    rows = [
        Line(str(at), f"cell {at}", ends=[6], shorter=[(place, "")]) for at, place in enumerate((2, 2, 9))
    ]
    long = Line("long", "word " * 40, shorter=[(3, "")])
    kept = [Line("kept", "a") for _ in range(16)]  # a terminal has room for 19 lines beside one sentence
    shown = Box("Title", ["One sentence."], [*rows, long, *kept]).fitted(80)
    assert [each.text for each in shown[:4]] == ["cell 0", "cell 1", "cell 2", ""]  # 9 gave way before 3
    # a row stays away where its table's head does
    full = [Line("kept", "a") for _ in range(18)]
    shown = Box("Title", ["One sentence."], [*rows, *full]).fitted(80)
    assert [each.text for each in shown[:3]] == ["", "", ""]
    # so do two that the room would be enough for
    table = [
        Line(str(at), f"cell {at}", ends=[6], shorter=[(place, "")])
        for at, place in enumerate((2, 2, 2, 9, 9))
    ]
    shown = Box("Title", ["One sentence."], [*table, *full[1:]]).fitted(80)
    assert [each.text for each in shown[:5]] == [""] * 5


def test_the_page_has_a_row_s_texts_one_by_one_and_all_that_a_terminal_has_no_room_for() -> None:
    rows = [
        Line("", "8 runs  used %  lost %", ends=(6, 14, 22)),
        Line(" answer", "fifo      99.7       1", ends=(6, 14, 22)),
    ]
    typed = Line("type", "tc qdisc add \\\n  dev eth0", verbatim=True, shorter=[(1, "")])
    view = View(
        [
            Box("a link", ["Run it.", "It meets."], [*rows, typed]),
            BelowBox(Box("", [""], [])),
            "Note: <b>.",
            Terms([("a", "b")]),
        ]
    )
    box, note, terms = view.document()
    assert (box["kind"], box["title"], box["head"]) == ("box", "a link", ["Run it.", "It meets."])
    assert [each["cells"] for each in box["lines"]] == [
        ["8 runs", "used %", "lost %"],
        ["fifo", "99.7", "1"],
        [],
    ]
    assert box["lines"][1]["label"] == "answer"
    assert box["lines"][2]["text"] == typed.text
    assert (note, terms) == ({"kind": "text", "text": "Note: <b>."}, {"kind": "terms", "lines": [["a", "b"]]})
