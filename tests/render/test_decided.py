"""What decides between equal queues, in words: other traffic, our order, or nothing yet."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest

from bufferlab.render.advise.box import box_of
from bufferlab.render.advise.decided import edge_text
from bufferlab.render.advise.head import headline
from bufferlab.render.advise.view import advice_view
from bufferlab.render.view import View
from bufferlab.stats import Estimate
from bufferlab.studies.advise.advice import Advice, Stage
from bufferlab.studies.advise.rough import Rough
from bufferlab.studies.advise.sensitivity import Broken, Sensitivity, Shaken
from bufferlab.studies.targets import Target, make_target

from ..advised import FIFO, FQ_CODEL, advised, runs

CHANGES = 6
"""Of the traffic, that there are to try."""

FEW = make_target("utilization", 0.99)


def equal(*names: str, changes: int = CHANGES) -> Advice:
    """Queues that do the same."""
    given = {name: (14 if name == "fifo" else 5000, runs(FIFO)) for name in names}
    return dataclasses.replace(advised(given), changes=changes)


def lines(advice: Advice) -> list[str]:
    shown = View([box_of(advice, None)]).text(80).splitlines()
    assert len(shown) <= 24
    return [line.strip("│╭╮╰╯─ ") for line in shown]


def said(advice: Advice) -> str:
    return " ".join(" ".join(lines(advice)).split())


def change(brief: str, missed: Sequence[Target] = (), used: float = 0.996) -> Sensitivity:
    return Sensitivity(f"{brief} in all", brief, {"utilization": used}, tuple(missed), None, 4)


@pytest.mark.parametrize(
    ("stage", "finished", "tried", "remedy"),
    [
        ("first", True, 0, "Without --quick, other traffic may decide, and smaller buffers are searched."),
        ("final", True, 0, "Other traffic may decide, and is tried without --no-sensitivity."),
        ("tuned", False, 0, "Other traffic may decide, and was not tried yet."),
        ("tuned", False, 2, "Other traffic may decide, and was not all tried yet."),
    ],
)
def test_a_tie_that_other_traffic_has_not_decided_stands_below_the_answer(
    stage: Stage, finished: bool, tried: int, remedy: str
) -> None:
    changed = tuple(change(f"{number} flows") for number in range(tried))
    advice = dataclasses.replace(
        equal("fifo", "fq_codel", "codel"), stage=stage, finished=finished, sensitivity=changed
    )
    first, *others = lines(advice)[1:]
    assert first == headline(advice) == "Run fifo with a buffer of 14 packets (21 KB, 8.4 ms)."
    assert " ".join(others).startswith(
        f"As good for this traffic: fq_codel and codel; fifo is preferred: every device has it. {remedy}"
    )
    assert advice.to_dict()["tied"] == ["fq_codel, target 5 ms", "codel, target 5 ms"]


def test_what_ifs_end_a_tie_and_a_better_queue_has_none() -> None:
    tied = equal("fifo", "fq_codel")
    decided = dataclasses.replace(tied, sensitivity=(change("8 flows"),), stage="final")
    assert lines(decided)[1].startswith("Run fifo with a buffer of")
    assert decided.to_dict()["tied"] == []
    better = dataclasses.replace(
        advised({"fifo": (14, runs(FIFO)), "fq_codel": (5000, runs(FQ_CODEL))}),
        changes=CHANGES,
        stage="first",
    )
    assert lines(better)[1].startswith("Run fq_codel: target 5 ms") and better.tied == ()
    assert lines(better)[3] == "--quick: only usual delays, only this traffic; a full run may say otherwise."
    assert "Quick:" not in said(decided)
    assert lines(equal("fifo", "fq_codel", changes=0))[1].startswith("Run fifo")


def test_many_equal_queues_are_counted() -> None:
    names = ("fifo", "fq_codel", "codel", "pie", "red", "drr")
    assert "As good for this traffic: fq_codel, codel, pie and 2 more; fifo is preferred" in said(
        equal(*names)
    )


def outlasted() -> Advice:
    """FQ-CoDel, since FIFO and CoDel miss a target with other traffic."""
    advice = equal("fq_codel", "fifo", "codel", "pie")
    names = {entry.queue.name: name for name, entry in advice.entries.items()}
    rivals = {each.name: each for each in advice.choice.rivals}
    taken = dataclasses.replace(rivals[names["fq_codel"]], name=advice.choice.name)
    others = [each for each in advice.choice.rivals if each.name != names["fq_codel"]]
    choice = dataclasses.replace(advice.choice, name=names["fq_codel"], rivals=(*others, taken))
    idle, slow = Broken("2 flows", FEW, 0.981), Broken("bbr", FEW, 0.972)
    return dataclasses.replace(
        advice,
        choice=choice,
        is_sturdy=True,
        sensitivity=(change("2 flows"), change("bbr")),
        others={
            names["fifo"]: Shaken((change("2 flows", [FEW], 0.981), change("bbr")), (idle,)),
            names["codel"]: Shaken((change("2 flows"), change("bbr", [FEW], 0.972)), (slow,)),
        },
    )


def test_each_equal_queue_says_why_it_lost() -> None:
    advice = outlasted()
    text = said(advice)
    assert lines(advice)[1].startswith("Run fq_codel: target 5 ms")
    here = "as good for users here, but not with other traffic:"
    assert f"why not codel, 5 ms: {here} utilization 97.2 % with bbr (target 99 %)." in text
    assert "why not fifo misses utilization 98.1 % with 2 flows (target 99 %)" in text
    assert "pie: as good for users; fq_codel is preferred: it keeps flows apart." in text
    assert "close" not in text
    assert {name: len(each) for name, each in advice.outlasted.items()} == {
        "fifo, 14 packets": 1,
        "codel, target 5 ms": 1,
    }
    document = advice.to_dict()
    assert document["outlasted"]["codel, target 5 ms"] == [
        {"change": "bbr", "target": "utilization at least 99 %", "value": 0.972}
    ]
    tried = {each["queue"]: each["what_ifs"] for each in document["queues"]}
    assert tried["pie"] is None and [each["holds"] for each in tried["fifo"]] == [False, True]


def test_the_what_ifs_of_other_queues_are_a_table() -> None:
    text = advice_view(outlasted(), explain=True).text(120)
    table = text[text.index("What if: queues that are equal here, with other traffic; means of 4 runs") :]
    rows = [" ".join(line.split()) for line in table.splitlines()]
    fifo, codel = rows.index("fifo, 14 packets"), rows.index("codel, target 5 ms")
    assert rows[fifo + 1].startswith("2 flows in all 98.1") and rows[fifo + 1].endswith("missed: utilization")
    assert rows[codel + 2].startswith("bbr in all 97.2") and rows[codel + 2].endswith("missed: utilization")
    assert rows[fifo + 2].endswith("met") and rows[codel + 1].endswith("met")


def test_that_no_equal_queue_keeps_the_targets_either_is_said() -> None:
    advice = equal("fifo", "fq_codel")
    broken = (Broken("bbr", FEW, 0.9),)
    others = {advice.choice.rivals[0].name: Shaken((change("bbr", [FEW], 0.9),), broken, broken)}
    found = dataclasses.replace(advice, sensitivity=(change("bbr", [FEW], 0.9),), others=others)
    assert "no equal queue misses fewer: fq_codel misses utilization 90 % with bbr (target" in said(found)
    assert found.outlasted == {}


def test_a_target_that_nobody_asked_for_is_not_called_fragile() -> None:
    asked = dataclasses.replace(
        advised({"fifo": (14, runs(FIFO))}),
        sensitivity=(change("2 flows", [FEW], 0.981), change("8 flows")),
    )
    assert "Fragile: 1 of 2 what-ifs miss the target: with 2 flows (98.1 %)." in said(asked)
    needs = dataclasses.replace(asked.needs, floor=FEW, targets_from="default")
    text = said(dataclasses.replace(asked, needs=needs))
    assert "Fragile" not in text
    expected = "Missed in 1 of 2 what-ifs: with 2 flows (98.1 %)."
    assert expected in text
    beside = dataclasses.replace(asked.needs, floor=FEW, targets_from="asked")
    waits = make_target("wait_p99_ms", 20.0)
    both = dataclasses.replace(
        asked, needs=beside, sensitivity=(change("2 flows", [FEW]), change("bbr", [waits]))
    )
    assert "Fragile: 2 of 2 what-ifs miss" in said(both) and "utilization (our default) with 2 flows" in said(
        both
    )


def test_where_a_discipline_with_a_target_misses_it_says_which_target_delay_holds() -> None:
    def shown(size: int | None) -> str:
        rough = Rough(size, (5000, 10_000, 20_000))
        broken = dataclasses.replace(change("bbr", [FEW], 0.981), least=rough)
        advice = dataclasses.replace(advised({"fq_codel": (5000, runs(FQ_CODEL))}), sensitivity=(broken,))
        found = advice.to_dict()["sensitivity"][0]
        assert found["least_packets"] is None
        assert found["least_setting"] == (None if size is None else "target 10 ms")
        assert "least target, ms, about" in advice_view(advice).text(120)
        return said(advice)

    holds = shown(10_000)
    assert "the target: with bbr (98.1 %); a target delay of about 10 ms holds there." in holds
    assert "bbr missed: 98.1 %; about target 10 ms does" in holds
    nothing = shown(None)
    assert "; no target delay that was tried holds there." in nothing
    assert "bbr missed: 98.1 %; no target delay up to 20 ms does" in nothing


def test_equals_are_called_what_an_operator_calls_them() -> None:
    """It was "from fifo, llq-fair and fair_queue"."""
    text = said(equal("fifo", "fq_codel", "fair_queue"))
    assert "As good for this traffic: fair-queue" in text


def test_a_queue_that_is_far_behind_in_the_mean_is_not_said_to_be_as_good() -> None:
    advice = dataclasses.replace(equal("fq_codel", "fifo", "codel"), stage="first", finished=True)
    rivals = tuple(dataclasses.replace(each, is_equal=True, is_alike=False) for each in advice.choice.rivals)
    wide = dataclasses.replace(advice, choice=dataclasses.replace(advice.choice, rivals=rivals))
    assert "runs of this traffic do not distinguish it from" in said(wide) and "As a whole" not in said(wide)
    leader, *rest = rivals
    behind_in = dataclasses.replace(leader, worst=(wide.aspects[0], 0.2))
    one = dataclasses.replace(wide, choice=dataclasses.replace(wide.choice, rivals=(behind_in, *rest)))
    assert f"As a whole, that is: in the mean {wide.entries[leader.name].title} has " in said(one)
    scattered = tuple(
        dataclasses.replace(each, behind=Estimate(0.18, 0.43)) if each.name.startswith(first) else each
        for each in rivals
        for first in (rivals[0].name.partition(",")[0],)
    )
    far = dataclasses.replace(advice, choice=dataclasses.replace(advice.choice, rivals=scattered))
    others = [each.name.partition(",")[0] for each in rivals]
    text = said(far)
    assert (
        f"do not distinguish it from {others[1]}, nor prove that {others[0]} is worse; fifo is preferred"
        in text
    )
    alone = tuple(dataclasses.replace(each, behind=Estimate(0.18, 0.43)) for each in rivals)
    far = dataclasses.replace(advice, choice=dataclasses.replace(advice.choice, rivals=alone))
    assert "do not prove that" in said(far) and "are worse;" in said(far)
    assert "distinguish" not in said(far)


def test_what_other_thresholds_would_take_is_called_by_its_queue() -> None:
    """It was "scenario, target 5 ms would be taken"."""
    made = advised({"fifo": (14, runs(FIFO)), "fq_codel": (5000, runs(FQ_CODEL))})
    choice = dataclasses.replace(made.choice, edge=("scenario, target 5 ms", 0.8))
    said = edge_text(choice, {"scenario, target 5 ms": "codel, quantum 300 B, target 5 ms"}) or ""
    assert said.endswith("instead of 5 %), codel, quantum 300 B, target 5 ms would be taken.")
