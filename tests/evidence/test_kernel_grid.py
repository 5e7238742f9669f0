"""The record of a kernel's runs: of today's jobs, with its origin; and docs/kernel.md's table of it."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from bufferlab.cli import main
from bufferlab.evidence.kernels import record, study
from bufferlab.evidence.kernels.grid import Setting, job_hash, runs, scenario, settings
from bufferlab.evidence.kernels.report import BEGIN, detail, markdown
from bufferlab.evidence.pages import END
from bufferlab.experiment.runner import Runner
from bufferlab.kernel.cache import Kernel
from bufferlab.results.result import RunSet

PAGE = Path(__file__).parents[2] / "docs" / "kernel.md"
SETTINGS = (Setting("reno", "fifo 1 bdp", 8, 80), Setting("reno", "fq_codel", 8, 80))


@pytest.fixture(name="of_two")
def only_two(monkeypatch: pytest.MonkeyPatch) -> None:
    """The record of two settings."""
    whole = record.recorded()
    some = {run: row for run, row in whole.items() if run[0] in SETTINGS}
    monkeypatch.setattr(study, "recorded", lambda: some)


def test_the_record_is_of_todays_jobs_and_has_its_origin() -> None:
    data = Path(str(record.__file__)).parent / "data"
    with (data / record.TABLE).open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    found = record.recorded()
    assert len(found) == len(rows), "the kernel would be given other jobs: record it anew"
    assert {setting for setting, _ in found} == set(settings())
    made = record.about()
    assert made["command"] == record.COMMAND
    assert made["kernel"].startswith(made["release"])
    assert len(made["configuration"]) == 16


@pytest.mark.usefixtures("of_two")
def test_two_settings_come_out_as_the_page_has_them() -> None:
    frame = study.compare(Runner(progress=False))
    known = {
        tuple(row[name] for name in (*Setting._fields, "as_linux", "figure")): row
        for row in detail(PAGE).iter_rows(named=True)
    }
    assert frame.height == 3 * 4  # FQ-CoDel in two ways
    for row in frame.iter_rows(named=True):
        there = known[tuple(row[name] for name in (*Setting._fields, "as_linux", "figure"))]
        assert row["simulator"] == pytest.approx(there["simulator"], rel=1e-4)
        assert row["kernel"] == pytest.approx(there["kernel"], rel=1e-4)
        assert row["agrees"] == there["agrees"]
    waits = {row["as_linux"]: row["agrees"] for row in frame.iter_rows(named=True)
             if (row["queue"], row["figure"]) == ("fq_codel", "loss")}  # fmt: skip
    assert waits == {False: False, True: True}


def test_the_pages_table_is_that_of_its_detail() -> None:
    part = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    assert part.strip() == markdown(detail(PAGE)).strip()


@pytest.mark.usefixtures("of_two")
def test_the_command_saves_its_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["validate", "kernel", "--out", str(tmp_path), "--json"]) == 0
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert document["format"] == "bufferlab-kernel-grid"
    assert len(document["comparisons"]) == 12
    assert (tmp_path / "kernel.csv").exists() and (tmp_path / "kernel.md").exists()


def test_an_interrupted_recording_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[str, int]] = []
    stand_in = Kernel("stand-in", tmp_path, {"release": "6.12", "hz": 1000, "configuration": "0" * 16})

    def emulate(of: Any, *, seeds: list[int], **_others: object) -> RunSet:
        if len(made) == 2:
            raise KeyboardInterrupt
        made.append((of.flows[0]["tcp"]["congestion"], seeds[0]))
        return list(_simulated())  # type: ignore[return-value]

    monkeypatch.setattr(record, "emulate", emulate)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            record.record(tmp_path / "data", stand_in)
        assert len(record.recorded(tmp_path / "data")) == 2
    assert made == [("reno", 1), ("cubic-linux(hystart)", 1)]
    first = next(runs())
    assert record.recorded(tmp_path / "data")[first]["job"] == job_hash(scenario(first[0]), first[1])


def _simulated() -> RunSet:
    from bufferlab.experiment.run import run  # noqa: PLC0415 - one short run stands for all

    short = scenario(SETTINGS[0]).with_overrides({"run.duration": "5 s", "run.warmup": "2 s"})
    return run(short, progress=False)
