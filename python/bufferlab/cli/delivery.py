"""How the verbs hand over what they found: files first, then the text or the JSON document."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bufferlab.cli.common import print_json, print_rich, say

if TYPE_CHECKING:
    from rich.console import RenderableType

Save = Callable[[], Iterable[Path]]
"""Writes something and returns what it has written."""


def deliver(saves: Iterable[Save], show: Callable[[], None]) -> None:
    """Save first, lest a closed pipe keeps us from it; show all the same if that fails.

    Raises:
        OutputError: Something could not be saved; what could is there.
    """
    saved: list[Path] = []
    try:
        _save_all(saves, saved)
    finally:
        show()
        if saved:
            say(f"saved {', '.join(map(str, saved))}")


def show_as(
    document: Callable[[], Mapping[str, Any]], view: Callable[[], RenderableType], *, as_json: bool
) -> None:
    """Print the document with `--json`, the view without."""
    if as_json:
        print_json(document())
    else:
        print_rich(view())


def _save_all(saves: Iterable[Save], saved: list[Path]) -> None:
    """Save each on its own, so that one that fails does not keep the others from being there."""
    failed: Exception | None = None
    for save in saves:
        try:
            saved += save()
        except Exception as error:  # noqa: BLE001 - reported when the others are saved
            failed = failed or error
    if failed is not None:
        raise failed
