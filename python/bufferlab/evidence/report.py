"""The pages that are made from claims and what is measured: docs/reproduce.md and the README's table.

`python -m bufferlab.evidence.report` writes them, in the folder of the sources; with `--check` it fails if
they are not what it would write.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from bufferlab.evidence import measured as measured_points
from bufferlab.evidence.document import Claim, Document, Figure
from bufferlab.evidence.documents import bundled_documents, compared
from bufferlab.evidence.expressions import Names, fill
from bufferlab.evidence.measured import Measured
from bufferlab.evidence.pages import END, markdown_table
from bufferlab.evidence.shown import grids
from bufferlab.evidence.verdicts import VERDICTS, Compared, compare, counts, finding_texts

_ROOT: Final = Path(__file__).parents[3]
_PAGE: Final = "docs/reproduce.md"
_README: Final = "README.md"
_COUNTS: Final = "<!-- verdicts by figure: python -m bufferlab.evidence.report -->"
_HEADLINES: Final = "<!-- headlines of claims: python -m bufferlab.evidence.report -->"


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
    reproduce = (_ROOT / _PAGE).read_text(encoding="utf-8")
    reproduce = _replaced(reproduce, _COUNTS, _counts(everything))
    for document in documents:
        reproduce = _replaced(reproduce, marker(document), _document_part(found[document.name]))
    readme = (_ROOT / _README).read_text(encoding="utf-8")
    return {_PAGE: reproduce, _README: _replaced(readme, _HEADLINES, _headlines(everything))}


def _found(document: Document) -> list[_Found]:
    found = []
    for figure in document.figures.values():
        measured = measured_points.load(document, figure)
        if measured is not None:
            both = compared(document, figure, measured)
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
        rows.append([f"[{each.name}](#{_anchor(each.name)})", each.figure.title, *numbers])
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
    yield from (f"- {fill(note, names)}" for note in figure.notes)
    if figure.notes:
        yield ""
    if not found.comparison.is_empty():
        yield _claims_table(found)
        yield from _reasons(found)
    for grid in grids(figure, found.compared):
        yield f"{grid.title}:\n"
        yield markdown_table(grid.header, grid.rows)
    findings = finding_texts(figure, found.compared)
    if findings:
        yield "What else the runs show:\n"
        yield from (f"- {text}" for text in findings)
        yield ""


def _claims_table(found: _Found) -> str:
    rows = []
    for claim in found.document.claims_of(found.figure.name):
        own = found.comparison.filter(pl.col("claim") == claim.id)
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
        f"{first['stated']}{'' if claim.says else unit}",
        first["others"] if rows.height == 1 else "",
        f"{_range(rows)}{unit}",
        f"**{verdict}**{settings}" if verdict == VERDICTS[1] else f"{verdict}{settings}",
    ]


def _range(rows: pl.DataFrame) -> str:
    values = rows["ours"].drop_nulls().to_list()
    if not values:
        return "–"
    if rows.height > 1:
        low, high = f"{min(values):.3g}", f"{max(values):.3g}"
        return low if low == high else f"{low} … {high}"
    row = rows.row(0, named=True)
    spread = "" if row["ours_min"] is None else f" ({row['ours_min']:.3g} … {row['ours_max']:.3g})"
    return f"{row['ours']:.3g}{spread}"


def _reasons(found: _Found) -> Iterator[str]:
    """Why claims differ or are not comparable: each reason once, with the claims and settings it is for."""
    rows = found.comparison.filter(pl.col("verdict") != VERDICTS[0], pl.col("why") != "")
    if rows.is_empty():
        return
    yield "Why:\n"
    for (why,), own in rows.group_by("why", maintain_order=True):
        whats = "; ".join(dict.fromkeys(own["what"]))
        verdicts = " or ".join(dict.fromkeys(own["verdict"]))
        yield f"- *{whats}* ({verdicts}{_settings(own, found)}): {why}"
    yield ""


def _settings(own: pl.DataFrame, found: _Found) -> str:
    """The settings of a reason, if there are others of the same claims."""
    of_claims = found.comparison.filter(pl.col("claim").is_in(own["claim"].unique().implode()))
    if own.height == of_claims.height:
        return ""
    settings = list(dict.fromkeys(own["setting"]))
    shown = "; ".join(settings[:3]) + (f" and {len(settings) - 3} more" if len(settings) > 3 else "")
    return f"; {shown}"


def _headlines(found: Iterable[_Found]) -> str:
    rows = []
    for each in found:
        for claim in each.document.claims_of(each.figure.name):
            if claim.headline:
                own = each.comparison.filter(pl.col("claim") == claim.id)
                rows += [
                    [f"{each.document.name}: {row[0]}", *row[1:], f"`bufferlab reproduce {each.name}`"]
                    for verdict in VERDICTS[:2]
                    if verdict in own["verdict"]
                    for row in [_claim_row(claim, own, verdict)]
                ]
    return markdown_table(("what", "published", "others", "ours", "verdict", "repeat"), rows)


def main() -> int:
    """Write the pages, or check them."""
    wrong = [name for name, text in pages().items() if (_ROOT / name).read_text(encoding="utf-8") != text]
    if "--check" in sys.argv[1:]:
        print("\n".join(f"{name}: is not as `make docs` writes it" for name in wrong), file=sys.stderr)  # noqa: T201
        return 1 if wrong else 0
    for name, text in pages().items():
        (_ROOT / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
