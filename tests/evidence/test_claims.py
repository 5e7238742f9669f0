"""Claims files: how they are read, run and judged, and folders of users' own."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

import bufferlab
from bufferlab import _core
from bufferlab.cli import main
from bufferlab.errors import InputError
from bufferlab.evidence.documents import bundled_documents, stored_comparison
from bufferlab.evidence.measured import load
from bufferlab.evidence.reading import read_document
from bufferlab.evidence.reproduction import Request
from bufferlab.evidence.simulated import scenarios_of
from bufferlab.evidence.verdicts import COMPARISON, counts

from .conftest import HOOKS, rewrite


def test_a_folder_of_ones_own(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "results"
    assert main(["reproduce", str(folder), "--out", str(out)]) == 0
    made = out / "my-paper-fig2"
    comparison = pl.read_csv(made / "comparison.csv")
    assert comparison.columns == list(COMPARISON)
    assert comparison["claim"].to_list() == ["busy", "idle", "idle", "words"]
    assert comparison["verdict"].to_list() == ["agrees", "differs", "differs", "not comparable"]
    assert comparison["setting"][0] == "buffer_packets = 20"
    assert comparison["stated"].to_list() == ["> 0.9", "0.5", "0.5", "some"]
    assert comparison["others"][1] == "somebody: 0.25; she: 0.4"
    assert comparison["why"].to_list()[3] == "The document has no number."
    points = pl.read_csv(made / "points.csv")
    assert points["seeds"].to_list() == [1, 2]
    assert points["idle"].to_list() == [1 - value for value in points["utilization"]]
    assert (made / "notes.txt").read_text() == "1 or 2 runs of 5 s.\nMost runs have 20 packets.\n"
    assert (made / "more.csv").exists() and (made / "fig2.png").exists()
    assert json.loads((made / "made.json").read_text()) == {
        "command": "bufferlab reproduce my-paper/fig2",
        "version": _core.engine_version,
        "engine_fingerprint": _core.engine_fingerprint,
    }
    scenario = made / "scenarios" / "buffer_packets 5.toml"
    assert bufferlab.Scenario.load(scenario).links[0]["buffer"]["text"] == "5 packets"


def test_shown_tables_have_our_rows_and_those_of_others(folder: Path) -> None:
    by_buffer, in_one_row = bufferlab.reproduce(f"{folder}/fig2", progress=False).grids
    assert [column.head for column in by_buffer.heads] == ["buffer packets", "utilization, %"]
    assert [row[0] for row in by_buffer.rows] == ["5", "5, somebody", "20"]
    assert by_buffer.rows[1] == ["5, somebody", "75"]
    assert [column.head for column in in_one_row.heads] == ["", "buffer packets = 5", "buffer packets = 20"]
    assert in_one_row.rows == [["", "1", "2"]]


def test_points_can_be_left_out_and_computed_from(folder: Path) -> None:
    rewrite(
        folder,
        'set."bottleneck.buffer" = "{buffer_packets} packets"',
        '''where = "buffer_packets > 10"
let.half = "buffer_packets // 2"
set."bottleneck.buffer" = "{half} packets"''',
    )
    document = read_document(folder)
    scenarios = scenarios_of(document, document.runs["lone"], Request())
    assert [each.links[0]["buffer"]["text"] for each in scenarios.values()] == ["10 packets"]


def test_one_figure_of_a_folder(folder: Path) -> None:
    done = bufferlab.reproduce(f"{folder}/fig2", quick=True, progress=False)
    assert done.name == "my-paper/fig2"
    assert done.tables["points"]["seeds"].to_list() == [1, 1]
    assert "Quick" in done.notes[-1]
    with pytest.raises(InputError, match="my-paper/fig2"):
        bufferlab.reproduce(f"{folder}/fig3")
    with pytest.raises(InputError, match="is a document"):
        bufferlab.reproduce(str(folder))


def test_finished_runs_are_kept_and_not_simulated_again(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["reproduce", str(folder), "--quick", "--out", str(tmp_path / "results")]
    assert main(command) == 0

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("simulated")

    monkeypatch.setattr("bufferlab.experiment.job.simulate_plan", refuse)
    assert main(command) == 0
    rewrite(folder, "flows.bulk.flows / 1e6", "flows.bulk.flows / 1e3")  # measured anew
    assert main(command) == 1


def test_kept_points_give_verdicts_without_runs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", str(folder), "--record", "--quick"]) == 2
    command = ["reproduce", str(folder), "--record", "--out", str(folder / "results")]
    assert main(command) == 0
    document = read_document(folder)
    kept = load(document, document.figures["fig2"])
    assert kept is not None
    assert kept.points.columns[:3] == ["buffer_packets", "seeds", "utilization"]
    assert kept.command == "bufferlab reproduce my-paper/fig2"
    comparison = stored_comparison(document, document.figures["fig2"])
    assert comparison is not None
    assert counts(comparison) == [1, 1, 1]
    assert kept.engine_fingerprint == _core.engine_fingerprint
    assert "Claims: agrees 1, differs 1, not comparable 1" in capsys.readouterr().out


def test_points_that_were_kept_without_the_engine_s_fingerprint_are_read(folder: Path) -> None:
    assert main(["reproduce", str(folder), "--record", "--out", str(folder / "results")]) == 0
    file = folder / "measured" / "made.json"
    made = json.loads(file.read_text())
    del made["fig2"]["engine_fingerprint"]
    file.write_text(json.dumps(made))
    document = read_document(folder)
    kept = load(document, document.figures["fig2"])
    assert kept is not None
    assert (kept.version, kept.engine_fingerprint) == (_core.engine_version, None)
    assert kept.points.height == 2


@pytest.mark.parametrize(("bound", "verdict", "why"), [(">", "agrees", ""), ("<", "differs", "0.9 stated.")])
def test_reasons_are_for_differences(folder: Path, bound: str, verdict: str, why: str) -> None:
    rewrite(folder, 'bound = ">"', f'bound = "{bound}"\nwhy = "{{stated}} stated."')
    done = bufferlab.reproduce(f"{folder}/fig2", progress=False)
    assert done.comparison.select("verdict", "why").row(0) == (verdict, why)


def test_a_quick_run_says_which_claims_have_no_point(folder: Path) -> None:
    rewrite(folder, "quick = { seeds = 1,", "quick = { seeds = 1, vary = { buffer_packets = [5] },")
    rewrite(
        folder, 'quantity = "rate_mbps / at(rate_mbps, buffer_packets = first)"', 'quantity = "rate_mbps"'
    )
    done = bufferlab.reproduce(f"{folder}/fig2", quick=True, progress=False)
    assert done.comparison["claim"].to_list() == ["idle", "words"]
    assert done.notes[-1] == "1 of 3 claims have no point in the quick run: busy."


def test_an_explanation_without_its_condition_is_none(folder: Path) -> None:
    rewrite(folder, "ours < 0.1", "ours > 2")
    done = bufferlab.reproduce(f"{folder}/fig2", quick=True, progress=False)
    assert set(done.comparison.filter(claim="idle")["why"]) == {"Not explained."}


def test_derived_columns_look_at_other_points(folder: Path) -> None:
    """As a claim's quantity does: each value is the other point's, also of columns derived before."""
    looks = """derive.idle = "1 - utilization"
derive.lead = "at(utilization, buffer_packets = 20) - utilization"
derive.idle_at_5 = "at(idle, buffer_packets = first)"
derive.least = "lowest(utilization, buffer_packets)\""""
    rewrite(folder, 'derive.idle = "1 - utilization"', looks)
    points = bufferlab.reproduce(f"{folder}/fig2", quick=True, progress=False).tables["points"]
    small, large = points["utilization"]
    assert small < large
    assert points["lead"].to_list() == [large - small, 0.0]
    assert points["idle_at_5"].to_list() == [1 - small] * 2
    assert points["least"].to_list() == [small] * 2


def test_the_example_of_the_page_runs_as_it_stands(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "claims.md").read_text()
    scenario, claims = (block.partition("```")[0] for block in page.split("```toml\n")[1:3])
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "lone.toml").write_text(scenario)
    (tmp_path / "claims.toml").write_text(claims)
    done = bufferlab.reproduce(f"{tmp_path}/fig2", seeds=1, progress=False)
    assert done.comparison.select("setting", "verdict").rows() == [("buffer_packets = 100", "agrees")]
    assert bufferlab.reproduce(f"{tmp_path}/fig2", quick=True, progress=False).comparison.is_empty()


def test_every_claim_of_our_documents_is_explained_and_placed() -> None:
    for document in bundled_documents():
        for claim in document.claims:
            assert claim.place and claim.what, claim.id
            assert claim.why or claim.incomparable, claim.id


def test_points_are_left_out_named_and_labeled(folder: Path) -> None:
    rewrite(
        folder,
        'set."bottleneck.buffer" = "{buffer_packets} packets"',
        """where = "buffer_packets != 20"
let.twice = "2 * buffer_packets"
let_with = "own:names"
columns = ["twice", "rtt_ms"]
set = { "bottleneck.buffer" = "{twice} packets", "flows.*.rtt" = "{rtt_ms} ms" }""",
    )
    (folder / "own.py").write_text(HOOKS + 'def names(keys):\n    return {"rtt_ms": keys["twice"] + 1}\n')
    done = bufferlab.reproduce(f"{folder}/fig2", quick=True, progress=False)
    assert done.tables["points"].columns[:4] == ["buffer_packets", "twice", "rtt_ms", "seeds"]
    assert done.tables["points"].row(0)[:4] == (5, 10, 11, 1)
    scenario = done.scenarios["buffer_packets 5"]
    assert '"10 packets"' in scenario and '"11 ms"' in scenario


def test_runs_like_others_take_what_they_leave_out(folder: Path) -> None:
    rewrite(
        folder, "[figures.fig2]", '[runs.other]\nlike = "lone"\nvary.buffer_packets = [7]\n[figures.fig2]'
    )
    rewrite(folder, 'runs = "lone"', 'runs = "other"')
    document = read_document(folder)
    assert document.runs["other"].measure == document.runs["lone"].measure
    assert list(document.runs["other"].full.vary["buffer_packets"]) == [7]
    rewrite(folder, 'like = "lone"', 'like = "missing"')
    with pytest.raises(InputError, match=r"other\.like"):
        read_document(folder)


def test_another_table_decides_and_settings_may_list_values(folder: Path) -> None:
    rewrite(folder, 'tables = "own:more"', 'tables = "own:more"\npoints = "more"')
    (folder / "own.py").write_text(HOOKS.replace("work.points", 'work.tables["points"]'))
    rewrite(folder, "setting = { buffer_packets = 20 }", "setting = { buffer_packets = [5.0, 20] }")
    done = bufferlab.reproduce(f"{folder}/fig2", progress=False)
    assert done.comparison["setting"][0] == "buffer_packets = 5"
    assert done.comparison["claim"].to_list().count("busy") == 1
