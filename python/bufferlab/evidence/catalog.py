"""The reproductions that there are, and how to do one."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from bufferlab.errors import InputError, did_you_mean
from bufferlab.evidence.document import Document
from bufferlab.evidence.documents import bundled_documents, reproductions_of
from bufferlab.evidence.reading import CLAIMS_FILE, read_document
from bufferlab.evidence.reproduction import Reproduced, Reproduction, Request
from bufferlab.files import make_folder


def all_reproductions() -> tuple[Reproduction, ...]:
    """Every reproduction that comes with Bufferlab, by document."""
    return tuple(each for document in bundled_documents() for each in reproductions_of(document))


def find_reproductions(name: str) -> Sequence[Reproduction]:
    """Those called `name`: one `document/figure`, or all of a `document`, or those of a folder of claims.

    Raises:
        InputError: There is none, or the folder's claims file cannot be used.
    """
    known = all_reproductions()
    found = [each for each in known if name in (each.name, each.name.split("/")[0])]
    return found or _of_folder(name) or _refuse(name, known)


def _of_folder(name: str) -> list[Reproduction]:
    """The reproductions of a folder with a claims file, or the one of `folder/figure`."""
    path = Path(name)
    if (path / CLAIMS_FILE).is_file():
        return reproductions_of(_own(path))
    if not (path.parent / CLAIMS_FILE).is_file():
        return []
    every = reproductions_of(_own(path.parent))
    one = [each for each in every if each.name.endswith(f"/{path.name}")]
    return one or _refuse(name, every)


def _own(folder: Path) -> Document:
    """A user's document, whose results must not take the place of those of one that comes with Bufferlab."""
    document = read_document(folder.resolve())
    bundled = {each.name: each for each in bundled_documents()}
    if document.name in bundled and bundled[document.name].folder.resolve() != folder.resolve():
        raise InputError(
            "is the name of a document that comes with Bufferlab",
            file=folder / CLAIMS_FILE,
            key="document.name",
            value=document.name,
            accepted="another name, of the folder or as name in [document]",
        )
    return document


def _refuse(name: str, known: Sequence[Reproduction]) -> list[Reproduction]:
    names = [each.name for each in known]
    documents = list(dict.fromkeys(each.partition("/")[0] for each in names))
    hint = did_you_mean(name, [*names, *documents])
    of_document = [each for each in names if each.startswith(f"{name.partition('/')[0]}/")]
    if len(documents) == 1:
        of_document = names  # those of a folder
    raise InputError(
        f"is not a figure or table that can be reproduced{hint}",
        value=name,
        accepted=f"{', '.join(of_document or documents)}, or a folder with a {CLAIMS_FILE}",
    )


def reproduce(
    name: str,
    *,
    quick: bool = False,
    seeds: int | None = None,
    threads: int | None = None,
    progress: bool | None = None,
    out: str | PathLike[str] | None = None,
    measured: str | PathLike[str] | None = None,
    store: str | PathLike[str] | None = None,
) -> Reproduced:
    """Reproduce one published figure or table.

    Args:
        name: `document/figure`; `all_reproductions` lists them. `folder/figure` for a folder of claims of
            your own.
        quick: Few points and short runs.
        seeds: Runs a point; default the reproduction's own number.
        threads: Simulations at a time; default one for each processor.
        progress: Show a progress bar; default if standard error is a terminal.
        out: Save tables, figures, notes and scenarios in this folder.
        measured: Folder with the authors' own result files, for reproductions that show them.
        store: Folder of a store that keeps each run as soon as it is finished, and spares it later.

    Raises:
        InputError: There is no such reproduction, or it is a whole document.
        OutputError: A folder cannot be written.
        RunInterrupted: At Ctrl-C; the store has what finished.
    """
    found = find_reproductions(name)
    figure = name.rstrip("/").rpartition("/")[2]
    if len(found) != 1 or not found[0].name.endswith(f"/{figure}"):
        accepted = ", ".join(each.name for each in found)
        raise InputError("is a document, not a figure or table of it", value=name, accepted=accepted)
    if out is not None:
        make_folder(Path(out))
    request = Request(
        quick=quick,
        seeds=seeds,
        threads=threads,
        progress=progress,
        measured=None if measured is None else Path(measured),
        store=None if store is None else Path(store),
    )
    result = found[0].function(request)
    if out is not None:
        result.save(Path(out), request.command(name))
    return result
