"""The progress bar: on a terminal only, whatever the scenario is called."""

from __future__ import annotations

import pytest

from bufferlab.progress import progress_bar


def test_no_bar_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with progress_bar("work") as bar:
        bar.update(0.5, "1/2")
    assert capsys.readouterr() == ("", "")


def test_a_title_is_not_markup(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar("[red]a[/blue]", visible=True) as bar:
        bar.update(1.0, "[/2/2]")
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "[red]a[/blue]" in shown.err
    assert "[/2/2]" in shown.err
    assert "100%" in shown.err


def test_what_the_time_left_is_of_can_be_said(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    with progress_bar("work", visible=True, left="all: at most about") as bar:
        bar.update(1.0, "done")
    assert "all: at most about" in capsys.readouterr().err
