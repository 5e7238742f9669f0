"""The quick part of the comparison with ns-2, for real."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import polars as pl
import pytest

from bufferlab.cli import main
from bufferlab.errors import InputError, OutputError
from bufferlab.evidence.ns2 import Validation, validate
from bufferlab.evidence.ns2.classes import class_of
from bufferlab.evidence.ns2.reference import load_references
from bufferlab.evidence.ns2.report import BEGIN, DETAIL, generated, markdown, save, update_docs
from bufferlab.evidence.ns2.validation import quick_selection, seeds_of
from bufferlab.evidence.pages import END


@pytest.fixture(scope="module")
def quick() -> Validation:
    return validate(quick=True, progress=False)


def test_only_other_tcps_differ(quick: Validation) -> None:
    classes = {outcome.row_class.name for outcome in quick.outcomes}
    assert classes >= {"exact", "single", "synchronized", "averaged", "kernel"}
    worst = [
        (outcome.setting.title, each.figure.name, each.ours, each.theirs)
        for outcome in quick.unexplained
        for each in outcome.unexplained
        if outcome.setting.stack == "sack1"
    ]
    assert not worst


def test_one_lone_sack_flow_equals_that_of_ns2(quick: Validation) -> None:
    lone = next(
        each
        for each in quick.outcomes
        if each.setting.scenario == "bufferbloat" and each.setting.stack == "sack1"
    )
    assert lone.agrees
    queue = next(each for each in lone.comparisons if each.figure.name == "mean_queue_packets")
    assert queue.ours == pytest.approx(queue.theirs, rel=1e-3)


def test_quick_takes_one_short_setting_of_a_kind() -> None:
    chosen = quick_selection(load_references())
    kinds = [(each.setting.scenario, each.setting.stack) for each in chosen]
    assert ("mininet", "sack1") in kinds
    assert ("fig1", "sack1") not in kinds  # five seeds of 500 s at 100 Mbps are not short


def test_seeds_begin_with_those_of_ns2() -> None:
    few = next(
        each for each in load_references() if class_of(each.setting).least_seeds == 10 and len(each.runs) == 1
    )
    assert seeds_of(few)[:3] == [1, 2, 3]
    assert len(seeds_of(few)) == 10
    assert len(seeds_of(few, quick=True)) == 3
    many = next(each for each in load_references() if len(each.runs) == 5)
    assert set(many.seeds) <= set(seeds_of(many, 7))
    assert len(seeds_of(many, 7)) == 7


def test_report_names_what_differs_and_what_was_skipped(quick: Validation, tmp_path: Path) -> None:
    files = save(quick, tmp_path / "out")
    assert [file.name for file in files] == ["validation.csv", "validation.md"]
    text = markdown(quick.frame, quick=True)
    assert text.startswith(
        f"**{sum(each.agrees for each in quick.outcomes)} of {len(quick.outcomes)} settings"
    )
    assert "fack" in text.partition("Not simulated")[2]
    for outcome in quick.outcomes:
        assert all(name in text for name in outcome.explained.values())
    rows = pl.read_csv(files[0])
    assert set(rows["setting"]) == {each.setting.title for each in quick.outcomes}


def test_docs_keep_what_is_not_generated(quick: Validation, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    update_docs(quick, page)
    text = page.read_text()
    assert (tmp_path / DETAIL).read_text().startswith("scenario,setting,class,metric,ns2,ours")
    written = text.partition(BEGIN)[2].partition(END)[0].strip().replace(" (a quick part)", "")
    assert written.splitlines()[0] == generated(page).splitlines()[0]
    assert text.startswith("before\n")
    assert text.endswith("\nafter\n")
    assert "old" not in text.split()
    page.write_text("nothing here\n")
    with pytest.raises(OutputError, match="has no lines"):
        update_docs(quick, page)


def test_a_choice_of_settings_leaves_the_rest_of_the_page(quick: Validation, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    update_docs(quick, page)
    before = pl.read_csv(tmp_path / DETAIL)
    first, second = quick.outcomes[:2]
    doubled = tuple(dataclasses.replace(each, ours=2 * each.ours) for each in second.comparisons)
    changed = dataclasses.replace(second, comparisons=doubled)
    update_docs(dataclasses.replace(quick, outcomes=(changed,), chosen=True), page)
    after = pl.read_csv(tmp_path / DETAIL)
    assert after.select("scenario", "setting", "metric").equals(
        before.select("scenario", "setting", "metric")
    )
    own = pl.col("setting") == second.setting.title
    assert after.filter(~own).equals(before.filter(~own))
    assert after.filter(own)["ours"].to_list() == pytest.approx(
        [2 * value for value in before.filter(own)["ours"]], rel=1e-3
    )
    assert first.setting.title in after["setting"].to_list()


def test_only_what_is_named_is_run(tmp_path: Path) -> None:
    result = validate(only=["bufferbloat: sack1"], quick=True, progress=False)
    assert {each.setting.scenario for each in result.outcomes} == {"bufferbloat"}
    assert result.chosen
    with pytest.raises(InputError, match="is in the name of no setting"):
        validate(only=["nothing like it"], progress=False)
    assert main(["validate", "controls", "--only", "x", "--out", str(tmp_path)]) == 2


def test_command(
    quick: Validation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    agreeing = dataclasses.replace(quick, outcomes=tuple(each for each in quick.outcomes if each.agrees))
    monkeypatch.setattr("bufferlab.cli.validating.validate_ns2", lambda **_: agreeing)
    assert main(["validate", "--quick", "--json", "--out", str(tmp_path)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["format"] == "bufferlab-validation"
    assert {row["scenario"] for row in document["comparisons"]} >= {"bufferbloat", "fig4"}
    assert (tmp_path / "validation.csv").exists()
    assert main(["validate", "--out", str(tmp_path)]) == 0
    assert "settings of ns-2" in capsys.readouterr().out


def test_command_fails_for_what_nobody_can_explain(
    quick: Validation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good = quick.outcomes[0]
    bad = dataclasses.replace(
        good,
        explained={},
        comparisons=tuple(
            dataclasses.replace(each, difference=1e9, half_width=0.0) for each in good.comparisons
        ),
    )
    changed = dataclasses.replace(quick, outcomes=(bad, *quick.outcomes[1:]))
    monkeypatch.setattr("bufferlab.cli.validating.validate_ns2", lambda **_: changed)
    assert main(["validate", "--out", str(tmp_path)]) == 1
    assert "NO" in capsys.readouterr().out.split()
