"""What full runs measured, kept beside a claims file: pages, tests and lists of verdicts need no simulation.

`measured/FIGURE.csv` has the points with the columns that claims, findings and shown tables use, to
`DIGITS` digits; `measured/made.json` has the command, the version and the engine that made each.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import polars as pl

from bufferlab.errors import InputError
from bufferlab.evidence.document import Document, Figure
from bufferlab.evidence.expressions import names_in, names_in_template
from bufferlab.files import make_folder, read_text, write_whole

FOLDER: Final = "measured"
DIGITS: Final = 6
_MADE: Final = "made.json"
_ENDS: Final = ("", "_ci95", "_min", "_max")


@dataclass(frozen=True)
class Measured:
    """Stored points of a figure.

    Attributes:
        points: One row a point.
        keys: Columns that tell them apart.
        names: Numbers of the whole, for notes.
        command: The command that made them.
        version: The version that made them.
        engine_fingerprint: The fingerprint of that engine's sources; `None` where none was kept.
    """

    points: pl.DataFrame
    keys: tuple[str, ...]
    names: Mapping[str, Any]
    command: str
    version: str
    engine_fingerprint: str | None = None


def store(document: Document, figure: Figure, measured: Measured) -> None:
    """Keep the points of a figure in the document's folder.

    Raises:
        OutputError: The folder cannot be written.
    """
    folder = document.folder / FOLDER
    wanted = _columns(document, figure)
    columns = [
        name
        for name in measured.points.columns
        if name in measured.keys or any(name == column + end for column in wanted for end in _ENDS)
    ]
    made = _made(document) | {
        figure.name: {
            "command": measured.command,
            "version": measured.version,
            "engine_fingerprint": measured.engine_fingerprint,
            "keys": list(measured.keys),
            "names": dict(measured.names),
        }
    }
    make_folder(folder)
    frame = measured.points.select(columns).with_columns(pl.selectors.float().round_sig_figs(DIGITS))
    write_whole(folder / f"{figure.name}.csv", frame.write_csv)
    write_whole(folder / _MADE, json.dumps(dict(sorted(made.items())), indent=2, ensure_ascii=False) + "\n")


def load(document: Document, figure: Figure) -> Measured | None:
    """The stored points of a figure, if there are any.

    Raises:
        InputError: They cannot be read.
    """
    file = document.folder / FOLDER / f"{figure.name}.csv"
    made = _made(document).get(figure.name)
    if made is None or not file.is_file():
        return None
    try:
        points = pl.read_csv(file, infer_schema_length=None)
        return Measured(
            points,
            tuple(made["keys"]),
            made["names"],
            made["command"],
            made["version"],
            made.get("engine_fingerprint"),
        )
    except (pl.exceptions.PolarsError, KeyError, TypeError) as error:
        raise InputError(f"cannot be read ({error})", file=file) from None


def _made(document: Document) -> dict[str, Any]:
    file = document.folder / FOLDER / _MADE
    if not file.is_file():
        return {}
    try:
        return dict(json.loads(read_text(file, what="JSON")))
    except ValueError as error:
        raise InputError(f"is not JSON: {error}", file=file) from None


def _columns(document: Document, figure: Figure) -> set[str]:
    """The columns of points that claims, findings and shown tables of a figure use."""
    names: set[str] = set()
    for claim in document.claims_of(figure.name):
        names |= names_in(claim.quantity)
        if isinstance(claim.value, str):
            names |= names_in(claim.value)
        for reason in (*claim.why, *claim.incomparable):
            names |= names_in_template(reason.text) | names_in(reason.when or "none")
    for finding in figure.findings:
        for reason in finding.reasons:
            names |= names_in_template(reason.text) | names_in(reason.when or "none")
    for headline in figure.headlines:
        names |= names_in_template(headline.what + headline.reference + headline.ours)
    for shown in figure.shown:
        names |= names_in_template(" ".join(shown.cells.values()))
    return names
