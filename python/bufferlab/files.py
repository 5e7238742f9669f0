"""Files and folders that users name."""

from __future__ import annotations

import io
import os
import secrets
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path
from queue import Empty, Queue
from typing import IO, Final

from bufferlab.errors import InputError, OutputError
from bufferlab.log import Log

MAX_FILE_BYTES: Final = 32 * 2**20
"""Largest text file that is read, 32 MiB."""

_MAX_NAME_BYTES: Final = 255
"""Longest name of a file, on almost all file systems."""

_WAKES_S: Final = 0.2
"""How often a wait looks whether a signal came, s."""


def read_text(path: Path, *, what: str) -> str:
    """Read a UTF-8 file (with or without a byte-order mark).

    Args:
        path: The file.
        what: What the file should be, for the message.

    Raises:
        InputError: If it is missing, a directory, unreadable, too large, or not UTF-8.
    """
    try:
        content = _piped(path) if path.is_fifo() else _start_of(path)
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


def _start_of(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(MAX_FILE_BYTES + 1)


def _piped(path: Path) -> bytes:
    """What a pipe brings; that it is waited for is said, and a signal ends the wait."""
    read: Queue[bytes | OSError] = Queue()

    def wait() -> None:
        try:
            read.put(_start_of(path))
        except OSError as error:
            read.put(error)

    with Log(patience=0.2) as log:
        log.tell("pipe", f"waiting for what the pipe {path} brings")
        threading.Thread(target=wait, name="pipe", daemon=True).start()
        while True:  # some systems do not wake us at a signal
            with suppress(Empty):
                content = read.get(timeout=_WAKES_S)
                break
    if isinstance(content, OSError):
        raise content
    return content


def cache_folder() -> Path:
    """The folder for what is made once and can be made again, which need not be there.

    Raises:
        InputError: There is no home to have a cache in.
    """
    base = os.environ.get("XDG_CACHE_HOME")
    try:
        return (Path(base) if base else Path.home() / ".cache") / "bufferlab"
    except RuntimeError:
        raise InputError("is not set", key="HOME", accepted="a folder, or XDG_CACHE_HOME") from None


def check_utf8(path: Path) -> Path:
    """Return a path whose name other programs take as UTF-8.

    Raises:
        InputError: It is not.
    """
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise InputError("is not UTF-8", file=path, accepted="a name in UTF-8") from None
    return path


def check_writable(path: Path, *, makes_folder: bool = False) -> None:
    """Check that a file may be written as `path`, before work is done that would be lost.

    Args:
        path: The file.
        makes_folder: Whether its folder is made if it is not there.

    Raises:
        OutputError: It cannot be.
    """
    try:
        if path.is_dir():
            raise OutputError(f"{path}: cannot be written (is a directory)")
        if not makes_folder and not path.parent.exists():
            raise OutputError(f"{path}: cannot be written (no such folder)")
        probe(path.parent)
    except (OSError, ValueError) as error:  # ValueError: a null byte in the name
        raise not_written(path, error) from error


def check_folder(directory: Path) -> None:
    """Check that a folder may be made and written to, before work is done that would be lost.

    Raises:
        OutputError: It cannot be.
    """
    try:
        probe(directory)
    except (OSError, ValueError) as error:
        raise not_written(directory, error) from error


def probe(directory: Path) -> None:
    """Write something into a folder, or where it would be made, and take it away.

    Rights alone do not tell: disks may be full or read-only.

    Raises:
        OSError: It cannot be written to.
    """
    existing = next(path for path in (directory, *directory.absolute().parents) if path.exists())
    with tempfile.TemporaryFile(dir=existing) as stream:
        stream.write(b"bufferlab")


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A path to write to, which becomes `path` when the block ends; if it fails nothing is left of it.

    What a link points to is replaced, not the link. A device or a pipe is written to as it is.

    Raises:
        OutputError: It cannot be written.
    """
    try:
        real = path.resolve()
        if real.exists() and not real.is_file():
            yield real
            return
        fresh = hidden_beside(real, "partial")
        try:
            yield fresh
            fresh.replace(real)
        finally:
            with suppress(OSError):
                fresh.unlink(missing_ok=True)
    except OSError as error:
        raise not_written(path, error) from error


def write_whole(path: Path, content: str | Callable[[IO[bytes]], object]) -> Path:
    """Write a file, all of it or nothing; return its path.

    Args:
        path: The file; its folder must be there.
        content: Its text, or what writes it into a stream.

    Raises:
        OutputError: It cannot be written.
    """
    with written_whole(path) as fresh:
        if isinstance(content, str):
            fresh.write_text(content, encoding="utf-8", newline="")
        else:  # first into memory: errors of the disk keep their number that way
            stream = io.BytesIO()
            content(stream)
            fresh.write_bytes(stream.getbuffer())
    return path


def hidden_beside(path: Path, suffix: str) -> Path:
    """A new hidden name for what becomes `path`; it is not too long where that is not."""
    added = f".{secrets.token_hex(4)}.{suffix}"
    return path.with_name(
        f".{os.fsdecode(os.fsencode(path.name)[: _MAX_NAME_BYTES - 1 - len(added)])}{added}"
    )


def write_durably(path: Path, content: bytes | memoryview) -> None:
    """Write a new file; its content then survives a power cut, and its name after `sync_directory`.

    Raises:
        OSError: It cannot be written; what was made of it is still there.
    """
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        written = 0
        while written < len(content):
            written += os.write(file, content[written:])
        os.fsync(file)
    finally:
        os.close(file)


def sync_directory(directory: Path) -> None:
    """Wait until the names in a folder survive a power cut.

    Raises:
        OSError: The disk reports an error.
    """
    file = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def not_written(path: str | PathLike[str], error: Exception) -> OutputError:
    """What to tell when `path` could not be written."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return OutputError(f"{path}: cannot be written ({reason})")


def make_folder(directory: Path) -> None:
    """Make a folder and its parents, if they are missing.

    Raises:
        OutputError: It cannot be made.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{directory}: cannot be made ({error.strerror or error})") from error
