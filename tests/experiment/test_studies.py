"""A store says which study asked for a run, and is read as ever without."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import bufferlab
from bufferlab import cli
from bufferlab.errors import InputError
from bufferlab.experiment.experiment import Experiment
from bufferlab.experiment.store import Store, open_store
from bufferlab.experiment.store.pruning import prune
from bufferlab.experiment.store.rows import timestamp
from bufferlab.experiment.store.studies import CHANGED_VARIABLE, FOLDER, Study, StudyFile, read_studies
from bufferlab.results.result import Result
from bufferlab.web.runs import Runs

LINK: dict[str, str] = {"rate": "10 Mbps", "delay": "2 ms", "buffer": "40 packets"}
SCENARIO = {
    "run": {"name": "small", "duration": "2 s", "warmup": "1 s"},
    "bottleneck": LINK,
    "flows": [{"name": "near", "rtt": "20 ms"}],
}
BUFFER = "bottleneck.buffer"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "runs", create=True)


def swept(store: Store, path: str, *values: str, **overrides: str) -> None:
    bufferlab.sweep(SCENARIO, {path: list(values)}, store=store, overrides=overrides or None)


def test_a_run_is_of_each_study_that_asked_for_it(store: Store) -> None:
    swept(store, "bottleneck.rate", "10 Mbps", "20 Mbps")
    swept(store, BUFFER, "10 packets", "40 packets")
    bufferlab.compare(SCENARIO, "fifo", seeds=1, runner=bufferlab.Runner(store=store))
    compared, second, first = read_studies(store.directory)
    assert [each.study.command for each in (compared, second, first)] == ["compare", "sweep", "sweep"]
    assert (second.study.scenario, second.study.varied) == ("small", [BUFFER])
    (common,) = {name for name, _ in first.runs} & {name for name, _ in second.runs}
    assert {name for name, _ in compared.runs} == {common}
    assert len({name for each in (first, second) for name, _ in each.runs}) == store.runs().height == 3


def test_each_study_s_rows_have_what_it_varied(store: Store) -> None:
    swept(store, "bottleneck.rate", "10 Mbps", "20 Mbps")
    swept(store, BUFFER, "10 packets", "40 packets")  # 40 packets at 10 Mbps is the first's run
    listed = Runs(store.directory).listed([], means=False)
    names = [column["name"] for column in listed["columns"]]
    second, first = (group["name"] for group in listed["groups"])
    said = {
        (row["group"], row["labels"][names.index("bottleneck.rate")], row["labels"][names.index(BUFFER)])
        for row in listed["rows"]
    }
    assert said == {
        (second, None, "10 packets"),
        (second, None, "40 packets"),
        (first, "10 Mbps", None),
        (first, "20 Mbps", None),
    }


def test_changed_settings_are_those_of_the_scenario_and_of_the_page(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(CHANGED_VARIABLE, json.dumps({"flows[0].rtt": "50000 us"}))
    swept(store, BUFFER, "10 packets", **{"bottleneck.rate": "5 Mbps"})
    (asked,) = read_studies(store.directory)
    assert asked.study.changed == {"flows[0].rtt": "50000 us", "bottleneck.rate": "5 Mbps"}
    for wrong in ("{", "[]"):
        monkeypatch.setenv(CHANGED_VARIABLE, wrong)
        assert Study.of("size", bufferlab.Scenario.from_dict(SCENARIO)).changed == {}


def test_stores_without_studies_are_read_as_ever(store: Store) -> None:
    swept(store, BUFFER, "10 packets", "40 packets")
    for path in (store.directory / FOLDER).iterdir():
        path.unlink()
    (store.directory / FOLDER).rmdir()
    listed = Runs(store.directory).listed([], means=False)
    assert sorted(row["labels"][1] for row in listed["rows"]) == ["10 packets", "40 packets"]
    (group,) = listed["groups"]
    assert {key: value for key, value in group.items() if key != "figures"} == {
        "name": "small: buffer", "title": "buffer", "scenario": "small",
        "began_at": None, "changed": "", "job": "", "figure": "wait_mean_ms"
    }  # fmt: skip
    assert "utilization" in group["figures"]


def test_scenarios_of_one_name_that_nothing_else_tells_apart_are_numbered(store: Store) -> None:
    for delay in ("2 ms", "4 ms"):
        bottleneck = {**LINK, "delay": delay}
        bufferlab.sweep({**SCENARIO, "bottleneck": bottleneck}, {BUFFER: ["40 packets"]}, store=store)
    for path in (store.directory / FOLDER).iterdir():
        path.unlink()
    listed = Runs(store.directory).listed([], means=False)
    assert listed["columns"][0]["title"] == "scenario"
    assert [row["labels"][:2] for row in listed["rows"]] == [[1, "40 packets"], [2, "40 packets"]]


def test_what_is_half_written_is_left_out(store: Store) -> None:
    file = StudyFile(Study("size", "small"))
    for name in ("a", "b", "a"):
        file.add(store.directory, name, {})
    file.close()
    (path,) = (store.directory / FOLDER).iterdir()
    whole = path.read_bytes()
    path.write_bytes(whole[:-5])
    assert [each.runs for each in read_studies(store.directory)] == [(("a", None),)]
    path.write_bytes(whole[:20])
    assert read_studies(store.directory) == []


def test_a_full_disk_ends_the_list_and_no_run(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "no space left")

    monkeypatch.setattr(StudyFile, "_made", full)
    swept(store, BUFFER, "10 packets")
    assert (store.runs().height, read_studies(store.directory)) == (1, [])


def test_old_studies_go_with_old_runs(store: Store) -> None:
    for days in (91, 89):
        file = StudyFile(Study("size", "small", began_at=timestamp(days_ago=days)))
        file.add(store.directory, str(days), {})
        file.close()
    prune(store, most_days=90, most_bytes=10**9)
    assert [each.runs for each in read_studies(store.directory)] == [(("89", None),)]


def _simulated(case: bufferlab.Scenario, *, runner: bufferlab.Runner, **_: object) -> None:
    """Stands for a command that a kernel would run for, which may not be here: one run, and then an end."""
    runner.values(Experiment("", {"run": case}, measure=_seconds))
    raise InputError("has no kernel")


def _seconds(result: Result) -> float:
    return result.duration_s


@pytest.mark.parametrize(
    ("command", "place"),
    [
        ("crosscheck", "bufferlab.studies.crosscheck.crosscheck"),
        ("emulate", "bufferlab.kernel.emulate.emulate"),
    ],
)
def test_what_kernels_are_asked_for_is_a_study(
    command: str, place: str, store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(place, _simulated)
    scenario = tmp_path / "small.toml"
    scenario.write_text(bufferlab.Scenario.from_dict(SCENARIO).to_toml())
    assert cli.main([command, str(scenario), "--store", str(store.directory), "--set", "run.seed=3"]) == 2
    (asked,) = read_studies(store.directory)
    assert (asked.study.command, asked.study.scenario, len(asked.runs)) == (command, "small", 1)
    assert dict(asked.study.changed) == {"run.seed": "3"}


def test_reproductions_and_validations_are_studies(store: Store, tmp_path: Path) -> None:
    where = ["--quick", "--store", str(store.directory), "--out", str(tmp_path / "out")]
    assert cli.main(["reproduce", "bloat-inet/fig7", *where]) == 0
    cli.main(["validate", "ns2", "--only", "mininet: sack1, 2 flows", *where])
    validated, reproduced = read_studies(store.directory)
    assert (reproduced.study.command, reproduced.study.scenario) == ("reproduce", "bloat-inet/fig7")
    assert (validated.study.command, validated.study.scenario) == ("validate", "ns2")
    groups = Runs(store.directory).listed([], means=False)["groups"]
    assert {(group["scenario"], group["title"]) for group in groups} == {
        ("bloat-inet/fig7", "reproduce"),
        ("ns2", "validate"),
    }
