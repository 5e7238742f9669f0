"""The pages that are made from claims."""

from __future__ import annotations

from pathlib import Path

import pytest

from bufferlab.evidence import report
from bufferlab.evidence.documents import bundled_documents

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", report.pages())
def test_pages_are_as_claims_make_them(page: str) -> None:
    assert (ROOT / page).read_text(encoding="utf-8") == report.pages()[page], "run `make docs`"


def test_every_document_with_measured_points_has_its_part() -> None:
    for document in bundled_documents():
        if (document.folder / "measured").is_dir():
            page = (ROOT / document.page).read_text(encoding="utf-8")
            assert page.count(report.marker(document)) == 1, document.name
