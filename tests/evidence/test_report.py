"""The pages that are made from claims."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bufferlab.evidence import measured, report
from bufferlab.evidence.documents import bundled_documents

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    """What the bundled claims make: a second or more of work, which tests that change no claim share."""
    return report.pages()


def test_pages_are_as_claims_make_them(pages: dict[str, str]) -> None:
    assert {"README.md", "docs/evidence.md"} < pages.keys()
    for page, text in pages.items():
        assert (ROOT / page).read_text(encoding="utf-8") == text, f"{page}: run `make docs`"


def test_every_document_with_measured_points_has_its_part() -> None:
    for document in bundled_documents():
        if (document.folder / "measured").is_dir():
            page = (ROOT / document.page).read_text(encoding="utf-8")
            assert page.count(report.marker(document)) == 1, document.name


def test_every_headline_is_on_its_page_and_the_chosen_ones_in_the_readme_too() -> None:
    headlines = {
        f"`bufferlab reproduce {document.name}/{figure.name}`": figure.headlines
        for document in bundled_documents()
        for figure in document.figures.values()
        if figure.headlines and measured.load(document, figure) is not None
    }
    for page, of_page in (("docs/evidence.md", False), ("README.md", True)):
        text = (ROOT / page).read_text(encoding="utf-8")
        for command, own in headlines.items():
            expected = sum(each.readme or not of_page for each in own)
            assert text.count(f" | {command} |") == expected, (page, command)


def test_the_readme_has_six_to_eleven_rows_of_which_some_differ(pages: dict[str, str]) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    rows = (
        text.partition("<!-- results: begin -->\n")[2].partition("<!-- results: end -->")[0].splitlines()[2:]
    )
    assert 6 <= len(rows) <= 11
    assert all(row in pages["docs/evidence.md"].splitlines() for row in rows)


def test_a_row_that_is_not_chosen_any_more_leaves_the_readme(monkeypatch: pytest.MonkeyPatch) -> None:
    documents = tuple(
        replace(
            document,
            figures={
                name: replace(
                    figure, headlines=tuple(replace(each, readme=False) for each in figure.headlines)
                )
                for name, figure in document.figures.items()
            },
        )
        for document in bundled_documents()
    )
    monkeypatch.setattr(report, "bundled_documents", lambda: documents)
    changed = report.pages()
    command = "`bufferlab reproduce controls/single` |"
    assert command not in changed["README.md"] and command in changed["docs/evidence.md"]


def test_a_page_says_which_points_are_of_another_effort(
    pages: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    load, sentence = measured.load, "Recorded by `bufferlab reproduce ns3/dctcp-10ms --seeds 2`"
    assert sentence not in pages["docs/validation-ns3.md"]

    def with_two_seeds(*arguments: object) -> measured.Measured | None:
        found = load(*arguments)  # type: ignore[arg-type]
        return None if found is None else replace(found, command=f"{found.command} --seeds 2")

    monkeypatch.setattr(measured, "load", with_two_seeds)
    assert sentence in report.pages()["docs/validation-ns3.md"]


@pytest.mark.parametrize(
    ("part", "key"), [("findings", "findings"), ("shown", "show"), ("headlines", "headlines")]
)
def test_what_selects_no_point_is_an_error_and_does_not_vanish(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], part: str, key: str
) -> None:
    document, figure, kept = next(
        (document, figure, kept)
        for document in bundled_documents()
        for figure in document.figures.values()
        if getattr(figure, part) and (kept := measured.load(document, figure)) is not None and kept.keys
    )
    first, *others = getattr(figure, part)
    settings: dict[str, Any] = {part: (replace(first, setting={kept.keys[0]: "nobody's"}), *others)}
    wrong = replace(figure, **settings)
    changed = replace(document, figures={**document.figures, figure.name: wrong})
    monkeypatch.setattr(report, "bundled_documents", lambda: (changed,))
    assert report.main() == 2
    place = f"{document.folder}/claims.toml: figures.{figure.name}.{key}[0].setting"
    problem = f"{kept.keys[0]} = nobody's selects no point of '{figure.name}'"
    assert capsys.readouterr().err.startswith(f"{place}: {problem}; accepted: {kept.keys[0]} = ")
