"""What a quick answer leaves out once its time is over."""

from __future__ import annotations

import time

import pytest

from bufferlab.render.advise.head import head
from bufferlab.scenario import Scenario
from bufferlab.studies.advise import answering
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.advising import advise
from bufferlab.studies.advise.budget import Budget

from ...small import dumbbell


def test_what_is_begun_after_the_end_is_left_out_and_known(monkeypatch: pytest.MonkeyPatch) -> None:
    now_s = 100.0
    monkeypatch.setattr(time, "monotonic", lambda: now_s)
    quick, whole = Budget(60.0), Budget(None)
    now_s = 159.0
    assert quick.allows("half of the buffer")
    now_s = 160.0
    assert not quick.allows("other delays") and not quick.allows("other delays")
    assert quick.left_out == ("other delays",) and whole.allows("other delays")


def asked(monkeypatch: pytest.MonkeyPatch, seconds: float) -> tuple[Advice, list[str]]:
    notes: list[str] = []
    monkeypatch.setattr(answering, "QUICK_S", seconds)
    advice = advise(
        Scenario.from_toml(dumbbell()),
        ["utilization >= 80 %"],
        queues="fifo",
        bounds="1..40",
        quick=True,
        threads=1,
        progress=False,
        watch=lambda _advice, note: notes.append(note),
    )
    return advice, notes


def test_a_quick_answer_ends_without_what_only_refines_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """It took 211 s on a fast link with 500 flows."""
    advice, _ = asked(monkeypatch, 0.0)
    assert advice.met and advice.finished and advice.half is None
    assert {"buffers below the first that does", "half of the buffer"} <= set(advice.left_out)
    assert advice.to_dict()["left_out"] == list(advice.left_out)
    assert any("only this traffic; left out after 60 s: buffers below" in each for each in head(advice))
    soon, _ = asked(monkeypatch, 600.0)
    assert soon.left_out == () and soon.half is not None and soon.answer.packets <= advice.answer.packets


def test_a_search_says_how_many_runs_it_made_and_may_make(monkeypatch: pytest.MonkeyPatch) -> None:
    _, notes = asked(monkeypatch, 600.0)
    searches = [note.partition(";")[0] for note in notes if note.startswith("searching")]
    assert searches[0].endswith("(0 runs of about 60 at most)")
    assert any("(14 runs of about 60 at most)" in note or "(12 runs of" in note for note in searches)
