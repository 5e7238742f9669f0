"""Linux's FQ-PIE, COBALT and CAKE: the record is of today's jobs, and ours do what the page says."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from bufferlab.evidence.kernels import queues
from bufferlab.studies.crosscheck import Verdict

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "kernel.md"
DATA = ROOT / "python" / "bufferlab" / "evidence" / "kernels" / "data"


def rows() -> dict[queues.Case, list[str]]:
    """The page's table: a case's cells."""
    part = PAGE.read_text(encoding="utf-8").partition(queues.BEGIN)[2].partition("<!-- end")[0]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in part.strip().splitlines()[2:]]
    return {(cells[0], cells[1]): cells for cells in lines}


def test_the_record_is_of_todays_jobs() -> None:
    with (DATA / queues.TABLE).open(encoding="utf-8", newline="") as stream:
        count = len(list(csv.DictReader(stream)))
    found = queues.recorded()
    assert len(found) == count, "the kernel would be given other jobs: record it anew"
    assert {*found} == {(case, seed) for case in queues.CASES for seed in queues.SEEDS}


def test_the_page_has_every_case() -> None:
    assert [*rows()] == [*queues.CASES]


@pytest.mark.parametrize(
    "case", [("fq_pie", "8 reno"), ("cobalt", "8 cubic"), ("cake", "1 reno"), ("cake, ATM", "8 reno")]
)
def test_a_case_comes_out_as_the_page_has_it(case: queues.Case) -> None:
    assert queues.row(case) == rows()[case]


def test_one_host_gets_half_whatever_the_others_flows_in_both() -> None:
    case = ("cake, dual-dsthost", "8 reno to one host, 1 to another")
    (share,) = (line for line in queues.lines(case) if line.compared.name == "largest_share")
    assert share.verdict is Verdict.AGREES
    assert 0.4 < share.kernels.mean < 0.55  # type: ignore[operator]


@pytest.mark.parametrize(("framing", "share"), [("cake, ATM", 33 * 53 / 1500), ("cake, PTM", 1546 / 1500)])
def test_the_line_has_what_framing_adds(framing: str, share: float) -> None:
    """1544 bytes are 33 cells (RFC 2684 in AAL5: 48 bytes of payload each); 1522 have 24 of PTM's bytes."""
    assert queues.line_share((framing, "8 reno")) == pytest.approx(share)
