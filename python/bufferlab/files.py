"""Files and folders that users name."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from bufferlab.errors import InputError, OutputError

MAX_FILE_BYTES: Final = 32 * 2**20
"""Largest text file that is read, 32 MiB."""


def read_text(path: Path, *, what: str) -> str:
    """Read a UTF-8 file (with or without a byte-order mark).

    Args:
        path: The file.
        what: What the file should be, for the message.

    Raises:
        InputError: If it is missing, a directory, unreadable, too large, or not UTF-8.
    """
    try:
        with path.open("rb") as stream:
            content = stream.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        raise InputError("no such file", file=path, accepted=f"the path of {what}") from None
    except IsADirectoryError:
        raise InputError("is a directory", file=path, accepted=f"the path of {what}") from None
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"cannot be read ({reason})", file=path, accepted=f"the path of {what}") from None
    if len(content) > MAX_FILE_BYTES:
        raise InputError("is too large", file=path, accepted=f"at most {MAX_FILE_BYTES // 2**20} MiB")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"is not UTF-8 (at byte {error.start})", file=path, accepted="UTF-8 text") from None


def make_folder(directory: Path) -> None:
    """Make a folder and its parents, if they are missing.

    Raises:
        OutputError: It cannot be made.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{directory}: cannot be made ({error.strerror or error})") from error
