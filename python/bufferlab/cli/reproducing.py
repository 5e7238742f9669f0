"""What `bufferlab reproduce` does with its options: lists what there is, or makes it and compares."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from bufferlab.cli.common import print_json, print_rich, say
from bufferlab.cli.running import runner_of, say_kept
from bufferlab.evidence import Reproduction, Request, all_reproductions, find_reproductions
from bufferlab.evidence.verdicts import VERDICTS, counts
from bufferlab.evidence.views import listed, reproduced_view
from bufferlab.experiment.store.studies import Study
from bufferlab.files import make_folder
from bufferlab.kernel.cache import kernel

UML: Final = "uml"
"""The engine that is a real kernel, in virtual time."""


def reproduce_all(
    name: str | None,
    *,
    quick: bool,
    seeds: int | None,
    measured: Path | None,
    out: Path,
    record: bool,
    as_json: bool,
    threads: int | None,
    engine: str,
    ray_address: str | None,
    store: Path | None,
    fresh: bool,
) -> None:
    """Reproduce the figures of a name, or all, and compare.

    Raises:
        InputError: There are none, or an option cannot be used.
        OutputError: A folder cannot be written.
    """
    documents: list[dict[str, Any]] = []
    asked = all_reproductions() if name is None else find_reproductions(name)
    by = kernel() if engine == UML else None
    suffix = "" if by is None else f"-{UML}"
    wanted = [(each, out / f"{each.name.replace('/', '-')}{suffix}") for each in asked]
    for _, folder in wanted:
        make_folder(folder)  # before any work is done that could not be saved
    runner = runner_of(
        threads=threads,
        engine="local" if by else engine,
        ray_address=ray_address,
        store=store or out / "runs",
        fresh=fresh,
    )
    request = Request(
        quick=quick, seeds=seeds, measured=measured, shared=runner, kernel=None if by is None else by.name
    )
    for each, folder in wanted:
        with runner.study(Study("reproduce", each.name)):
            result = each.function(request)
        result.save(folder, request.command(each.name))
        if record:
            each.record(result, request.command(each.name))
        documents.append(
            {"name": each.name, "comparison": result.comparison.to_dicts(), "notes": result.notes}
        )
        if not as_json:
            print_rich(reproduced_view(result))
        say(f"saved in {folder}")
    if as_json:
        print_json({"format": "bufferlab-reproduction", "format_version": 1, "reproductions": documents})
    say_kept(runner)


def list_all(*, as_json: bool) -> None:
    """List what can be reproduced, with the verdicts of the last full run."""
    known = all_reproductions()
    if as_json:
        rows = [
            {"name": each.name, "title": each.title, "citation": each.citation}
            | dict(zip(("agrees", "differs", "not_comparable"), _counts(each), strict=True))
            for each in known
        ]
        print_json({"format": "bufferlab-reproductions", "format_version": 1, "reproductions": rows})
        return
    print_rich(listed((each, _counts(each)) for each in known))


def _counts(each: Reproduction) -> list[int] | list[None]:
    """How many claims have each verdict by what is kept of the last full run."""
    comparison = each.verdicts()
    if comparison is None:
        return [None] * len(VERDICTS)
    return counts(comparison)
