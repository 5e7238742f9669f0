"""The pages made from claims and measured points: docs/reproduce.md, docs/evidence.md, the README and others.

`python -m bufferlab.evidence.report` writes them, in the folder of the sources; with `--check` it fails if
they are not what it would write.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from bufferlab.errors import InputError
from bufferlab.evidence import measured as measured_points
from bufferlab.evidence import overall
from bufferlab.evidence.document import Claim, Document, Figure
from bufferlab.evidence.documents import bundled_documents, compared
from bufferlab.evidence.expressions import Names, fill
from bufferlab.evidence.measured import Measured
from bufferlab.evidence.ns2 import report as ns2_report
from bufferlab.evidence.pages import END, markdown_table
from bufferlab.evidence.point_values import PointValues
from bufferlab.evidence.reading import PAGE
from bufferlab.evidence.referee import report as referee_report
from bufferlab.evidence.referee.peers import NS3
from bufferlab.evidence.reproduction import Reproduced, Request
from bufferlab.evidence.shown import grids
from bufferlab.evidence.verdicts import (
    VERDICTS,
    Compared,
    compare,
    counts,
    finding_texts,
    others_at,
    require_points,
)

_ROOT: Final = Path(__file__).parents[3]
_README: Final = "README.md"
_EVIDENCE: Final = "docs/evidence.md"
_NUMBER: Final = r"\d+(\.\d+)?"
_FEW: Final = 5
_VALIDATION: Final = "docs/validation.md"
_VALIDATION_NS3: Final = "docs/validation-ns3.md"
_COUNTS: Final = "<!-- verdicts by figure: python -m bufferlab.evidence.report -->"


def marker(document: Document) -> str:
    """The line after which a document's part of the page stands."""
    return f"<!-- claims of {document.name}: python -m bufferlab.evidence.report -->"


@dataclass(frozen=True)
class _Found:
    """A figure whose measured points are kept, and the verdicts on its claims."""

    document: Document
    figure: Figure
    measured: Measured
    compared: Compared
    comparison: pl.DataFrame

    @property
    def name(self) -> str:
        return f"{self.document.name}/{self.figure.name}"


def pages() -> dict[str, str]:
    """The pages as they should be, by path within the sources."""
    documents = bundled_documents()
    found = {document.name: _found(document) for document in documents}
    everything = [each for of_document in found.values() for each in of_document]
    texts = {
        name: (_ROOT / name).read_text(encoding="utf-8")
        for name in (
            *dict.fromkeys(document.page for document in documents),
            PAGE,
            _README,
            _EVIDENCE,
            _VALIDATION,
        )
    }
    texts[PAGE] = _replaced(texts[PAGE], _COUNTS, _counts(everything))
    for document in documents:
        if found[document.name]:
            text = _document_part(found[document.name])
            texts[document.page] = _replaced(texts[document.page], marker(document), text)
    texts[_VALIDATION] = _replaced(
        texts[_VALIDATION], overall.BEGIN, overall.verdict(_ROOT / _VALIDATION) + "\n"
    )
    validation = ns2_report.generated(_ROOT / _VALIDATION)
    texts[_VALIDATION] = _replaced(texts[_VALIDATION], ns2_report.BEGIN, validation)
    drawn = referee_report.generated(_ROOT / _VALIDATION)
    texts[_VALIDATION] = _replaced(texts[_VALIDATION], referee_report.BEGIN, drawn)
    of_ns3 = referee_report.generated(_ROOT / _VALIDATION_NS3, NS3)
    texts[_VALIDATION_NS3] = _replaced(texts[_VALIDATION_NS3], referee_report.BEGIN, of_ns3)
    of_ns2 = ns2_report.headlines(_ROOT / _VALIDATION)
    of_drawn = referee_report.headlines(_ROOT / _VALIDATION)
    for page, chosen in ((_EVIDENCE, False), (_README, True)):
        headlines = {
            f"bufferlab reproduce {each.name}": _headlines(each, chosen=chosen) for each in everything
        }
        headlines["bufferlab validate"] = of_ns2[:1] if chosen else of_ns2
        headlines["bufferlab validate referee"] = of_drawn
        drawn_ns3 = referee_report.headlines(_ROOT / _VALIDATION_NS3, NS3)
        headlines["bufferlab validate referee --against ns3"] = drawn_ns3
        texts[page] = _with_headlines(texts[page], headlines)
    return texts


def part_of(document: Document, done: Sequence[Reproduced]) -> str:
    """What a page says of figures that were just made."""
    found = []
    for each in done:
        figure = document.figures[each.name.rpartition("/")[2]]
        measured = Measured(each.tables[each.points], each.keys, each.names, "", "")
        both = compared(document, figure, measured)
        found.append(_Found(document, figure, measured, both, each.comparison))
    return _document_part(found)


def _found(document: Document) -> list[_Found]:
    found = []
    for figure in document.figures.values():
        measured = measured_points.load(document, figure)
        if measured is not None:
            both = compared(document, figure, measured)
            require_points(document, figure, both.points)
            found.append(_Found(document, figure, measured, both, compare(document, figure, both)))
    return found


def _replaced(page: str, begin: str, text: str) -> str:
    """The page with what stands between a marker and `END` replaced; without the marker, as it is."""
    before, found, rest = page.partition(begin)
    return f"{before}{begin}\n\n{text}\n{END}{rest.partition(END)[2]}" if found else page


def _counts(found: Sequence[_Found]) -> str:
    rows = []
    for each in found:
        numbers = map(str, counts(each.comparison))
        page = "" if each.document.page == PAGE else Path(each.document.page).name
        rows.append([f"[{each.name}]({page}#{_anchor(each.name)})", each.figure.title, *numbers])
    return markdown_table(("figure", "what it shows", *VERDICTS), rows)


def _anchor(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum() or character in "-_")


def _document_part(found: Sequence[_Found]) -> str:
    return "\n".join(line for each in found for line in _figure_part(each))


def _figure_part(found: _Found) -> Iterator[str]:
    figure = found.figure
    yield f"### {found.name}\n"
    yield f"{figure.title}.\n"
    names = Names(found.measured.names)
    notes = [*(fill(note, names) for note in figure.notes), *_effort(found)]
    yield from (f"- {note}" for note in notes)
    if notes:
        yield ""
    if not found.comparison.is_empty():
        yield _claims_table(found)
        yield from _reasons(found)
    for grid in grids(figure, found.compared):
        yield f"{grid.title}:\n"
        yield f"{grid.markdown()}\n"
    findings = finding_texts(figure, found.compared)
    if findings:
        yield "What else the runs show:\n"
        yield from (f"- {text}" for text in findings)
        yield ""


def _effort(found: _Found) -> Iterator[str]:
    """How the points were recorded, if not with the figure's own effort."""
    command = found.measured.command
    if command and command != Request().command(found.name):
        yield f"Recorded by `{command}`, with another number of runs than the figure's own."


def _claims_table(found: _Found) -> str:
    """A row a claim and verdict; settings that cannot be compared are left out where others can."""
    rows = []
    for claim in found.document.claims_of(found.figure.name):
        own = found.comparison.filter(pl.col("claim") == claim.id)
        comparable = own.filter(pl.col("verdict") != VERDICTS[2])
        own = own if comparable.is_empty() else comparable
        rows += [_claim_row(claim, own, verdict) for verdict in VERDICTS if verdict in own["verdict"]]
    return markdown_table(("claim", "stated", "others", "ours", "verdict"), rows)


def _claim_row(claim: Claim, own: pl.DataFrame, verdict: str) -> list[str]:
    """The settings of a claim with one verdict."""
    rows = own.filter(pl.col("verdict") == verdict)
    first = rows.row(0, named=True)
    settings = f" in {rows.height} of {own.height} settings" if own.height > 1 else ""
    unit = f" {claim.unit}" if claim.unit else ""
    return [
        claim.what,
        f"{_stated(rows)}{'' if claim.says else unit}",
        first["others"] if rows["others"].n_unique() == 1 else "",
        f"{_range(rows)}{unit}",
        f"**{verdict}**{settings}" if verdict == VERDICTS[1] else f"{verdict}{settings}",
    ]


def _stated(rows: pl.DataFrame) -> str:
    """What is stated for some settings: a few numbers or the words, or the ends of many numbers."""
    stated = list(dict.fromkeys(rows["stated"]))
    if len(stated) <= _FEW:
        return ", ".join(stated)
    values = sorted(float(text.split()[-1]) for text in stated)
    sign = stated[0].rpartition(" ")[0]
    return f"{sign} {_digits(values[0])} … {_digits(values[-1])}".strip()


def _range(rows: pl.DataFrame) -> str:
    values = rows["ours"].drop_nulls().to_list()
    if not values:
        return "–"
    if rows.height > 1:
        low, high = _digits(min(values)), _digits(max(values))
        return low if low == high else f"{low} … {high}"
    row = rows.row(0, named=True)
    alone = row["ours_min"] is None or row["ours_min"] == row["ours_max"]
    spread = "" if alone else f" ({_digits(row['ours_min'])} … {_digits(row['ours_max'])})"
    return f"{_digits(row['ours'])}{spread}"


def _digits(value: float) -> str:
    """Whole numbers as they are, others with four significant digits; no exponent up to a million."""
    return f"{value:.0f}" if value.is_integer() else f"{float(f'{value:.4g}'):g}"


def _reasons(found: _Found) -> Iterator[str]:
    """Why claims differ or are not comparable: each reason once, with the claims and settings it is for.

    A reason that differs between settings in its numbers only stands once, with those of the first.
    """
    rows = found.comparison.filter(pl.col("verdict") != VERDICTS[0], pl.col("why") != "")
    if rows.is_empty():
        return
    yield "Why:\n"
    sentence = pl.col("why").str.replace_all(_NUMBER, "#")
    for _, own in rows.group_by(sentence, maintain_order=True):
        named = list(dict.fromkeys(own["what"]))
        whats = "; ".join(named[:2]) + (f"; and {len(named) - 2} more" if len(named) > 2 else "")
        verdicts = " or ".join(dict.fromkeys(own["verdict"]))
        numbers = "; numbers of the first" if own["why"].n_unique() > 1 else ""
        yield f"- *{whats}* ({verdicts}{_settings(own, found)}{numbers}): {own['why'][0]}"
    yield ""


def _settings(own: pl.DataFrame, found: _Found) -> str:
    """The settings of a reason, if there are others of the same claims."""
    of_claims = found.comparison.filter(pl.col("claim").is_in(own["claim"].unique().implode()))
    if own.height == of_claims.height:
        return ""
    settings = list(dict.fromkeys(own["setting"]))
    shown = "; ".join(settings[:3]) + (f" and {len(settings) - 3} more" if len(settings) > 3 else "")
    return f"; {shown}"


def _with_headlines(page: str, headlines: Mapping[str, Sequence[Sequence[str]]]) -> str:
    """The page with its rows of each command, which stands in the last cell, replaced by the headlines."""
    rows = {
        f" | `{command}` |": [f"| {' | '.join(cells)} | `{command}` |" for cells in own]
        for command, own in headlines.items()
    }
    lines: list[str] = []
    for line in page.splitlines():
        end = next((end for end in rows if line.endswith(end)), None)
        lines += [line] if end is None else [row for row in rows[end] if row not in lines]
    return "\n".join(lines) + "\n"


def _headlines(found: _Found, *, chosen: bool) -> list[list[str]]:
    """Rows of a figure: what, reference, ours; only those that are chosen for the README, or all."""
    points = found.compared.points
    stated = {f"claims.{claim.id}": claim.number for claim in found.document.claims}
    rows = []
    for headline in found.figure.headlines:
        if chosen and not headline.readme:
            continue
        for row in points.select(headline.setting)[:1]:
            names = PointValues(points, row, others_at(found.figure, found.compared, row) | stated)
            rows.append([fill(text, names) for text in (headline.what, headline.reference, headline.ours)])
    return rows


def main() -> int:
    """Write the pages, or check them."""
    try:
        return _written()
    except InputError as error:
        print(error, file=sys.stderr)  # noqa: T201
        return 2


def _written() -> int:
    wrong = [name for name, text in pages().items() if (_ROOT / name).read_text(encoding="utf-8") != text]
    if "--check" in sys.argv[1:]:
        print("\n".join(f"{name}: is not as `make docs` writes it" for name in wrong), file=sys.stderr)  # noqa: T201
        return 1 if wrong else 0
    for name, text in pages().items():
        (_ROOT / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
