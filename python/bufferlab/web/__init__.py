"""The laboratory in a browser: the built page, as files or served."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from bufferlab.errors import InputError, OutputError

PAGE: Final = Path(__file__).with_name("page")
"""Where `scripts/web.sh` puts the built page."""


def built_page() -> Path:
    """The folder of the page.

    Raises:
        InputError: It was not built.
    """
    if not (PAGE / "index.html").is_file():
        raise InputError(
            "the page for browsers is not part of this installation",
            accepted="a wheel that has it, or a source tree after scripts/web.sh, which says what it needs",
        )
    return PAGE


def export_page(folder: Path) -> None:
    """Copy the page into a new folder; any web host can show it from there. Nothing is left if that fails.

    Raises:
        InputError: It was not built, or the folder holds something.
        OutputError: The folder cannot be written.
    """
    page = built_page()
    try:
        if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise InputError("is not empty", file=folder, accepted="a new folder")
        try:
            _copy(page, folder)
        except OSError:
            shutil.rmtree(folder, ignore_errors=True)
            raise
    except OSError as error:
        raise OutputError(f"{folder}: cannot be written ({error.strerror or error})") from None


def _copy(tree: Path, into: Path) -> None:
    """Copy a tree; unlike `copytree` it ends with the first error, which has its number."""
    into.mkdir(parents=True, exist_ok=True)
    for path in sorted(tree.rglob("*")):  # folders before what they hold
        copy = into / path.relative_to(tree)
        if path.is_dir():
            copy.mkdir()
        else:
            shutil.copyfile(path, copy)
