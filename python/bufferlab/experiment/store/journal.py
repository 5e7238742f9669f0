"""A writer's journal: what one process did, line by line; killing it at any moment loses nothing written.

Each line is the CRC-32 of its text in eight hexadecimal digits, a space, and a JSON object with one key:
`writer` (who writes, the first line), `claim` (the hash of a run about to be simulated) or `run` (a row). The
writer holds an exclusive `flock` on the file as long as it lives: the kernel drops it with the process,
however that ends (flock(2)), so claims of dead processes are known without clocks and
process numbers.

The file is extended with zeros before runs start, so that a disk that fills up is noticed then, and not when
a finished run wants its line. Readers stop at the zeros, and skip lines whose checksum is wrong.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import platform
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from bufferlab import _core
from bufferlab.errors import OutputError
from bufferlab.files import sync_directory

Entry = dict[str, Any]

_RESERVE_BYTES: Final = 256 * 1024
"""Least room kept for lines of runs that are under way."""

_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class StoreFullError(OutputError):
    """No room for another run; those that finished are kept."""


class Journal:
    """A journal being written; one thread at a time.

    Attributes:
        path: The file.
        rows: How many rows it holds.
    """

    def __init__(self, path: Path) -> None:
        """Make the file and lock it.

        Raises:
            StoreFullError: There is no room.
            OutputError: It cannot be made or locked.
        """
        self.path = path
        self.rows = 0
        self._end = 0
        self._reserved = 0
        self._longest = 0
        self._dirty = False
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
        except OSError as error:
            raise write_error(path.parent.parent, error) from error
        try:
            self._lock()
            self._keep_name()
            self.reserve(0)
            self.append(
                {"writer": {"host": platform.node(), "process": os.getpid(), "version": _core.engine_version}}
            )
        except BaseException:
            self.discard()
            raise

    def append(self, entry: Mapping[str, Any]) -> None:
        """Write a line; it survives the end of this process at once, and a power cut after `begin_sync`.

        Raises:
            StoreFullError: There is no room; the journal is as before.
            OutputError: It cannot be written.
        """
        line = encode(entry)
        try:
            written = 0
            while written < len(line):
                written += os.pwrite(self._file, line[written:], self._end + written)
        except OSError as error:
            raise write_error(self.path.parent.parent, error) from error
        self._end += len(line)
        self._reserved = max(self._reserved, self._end)
        self._dirty = True
        if "run" in entry:
            self.rows += 1
            self._longest = max(self._longest, len(line))

    def reserve(self, runs: int) -> None:
        """Reserve space for a number of runs, each as long as the longest so far.

        Raises:
            StoreFullError: There is no room.
            OutputError: The file cannot be written.
        """
        wanted = self._end + max(2 * runs * self._longest, _RESERVE_BYTES // 4)
        if wanted <= self._reserved:
            return
        target = max(wanted, self._end + _RESERVE_BYTES)
        try:
            while self._reserved < target:
                zeros = bytes(min(target - self._reserved, _RESERVE_BYTES))
                self._reserved += os.pwrite(self._file, zeros, self._reserved)
        except OSError as error:
            raise write_error(self.path.parent.parent, error) from error

    def begin_sync(self) -> Callable[[], None]:
        """What waits until all that is written by now survives a power cut; any thread may call it, once.

        It raises `OutputError` if the disk reports an error.
        """
        if not self._dirty:
            return lambda: None
        self._dirty = False
        file = os.dup(self._file)  # the journal may be closed meanwhile

        def wait() -> None:
            try:
                os.fsync(file)
            except OSError as error:
                raise write_error(self.path.parent.parent, error) from error
            finally:
                os.close(file)

        return wait

    @property
    def size_bytes(self) -> int:
        """Bytes of its lines."""
        return self._end

    def close(self) -> None:
        """Give back the room that was not needed, and the lock.

        Raises:
            OutputError: The disk reports an error; the lines are there.
        """
        try:
            os.ftruncate(self._file, self._end)
        except OSError as error:
            raise write_error(self.path.parent.parent, error) from error
        finally:
            os.close(self._file)

    def discard(self) -> None:
        """Remove the file."""
        os.close(self._file)
        self.path.unlink(missing_ok=True)

    def _keep_name(self) -> None:
        try:
            sync_directory(self.path.parent)
        except OSError as error:
            raise write_error(self.path.parent.parent, error) from error

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise OutputError(
                f"{self.path.parent.parent}: files cannot be locked there ({error.strerror}); use a folder "
                "on a local disk, or one whose file system has flock"
            ) from error


def encode(entry: Mapping[str, Any]) -> bytes:
    """An entry as a line."""
    text = json.dumps(entry, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def read(path: Path, offset: int = 0) -> tuple[list[Entry], int]:
    """Read a journal's complete lines from an offset on; return them and where the next line will start.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as stream:
        stream.seek(offset)
        content = stream.read()
    complete = content.rfind(b"\n") + 1
    entries = [entry for line in content[:complete].split(b"\n") if (entry := _decode(line)) is not None]
    return entries, offset + complete


def damaged_lines(path: Path) -> int:
    """How many lines of a journal are not what was written; one that a dead writer began counts.

    Raises:
        OSError: It cannot be read.
    """
    content = path.read_bytes()
    complete = content.rfind(b"\n") + 1
    broken = sum(_decode(line) is None for line in content[:complete].split(b"\n")[:-1])
    return broken + bool(content[complete:].strip(b"\0") and not is_live(path))


def is_live(path: Path) -> bool:
    """Whether a journal's writer still runs; call it with the store locked.

    Raises:
        OSError: The file cannot be opened.
    """
    file = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False


def write_error(directory: Path, error: OSError) -> OutputError:
    """What to tell about a failed write into a store."""
    kept, more = ("; all finished runs are kept", " to continue") if _has_runs(directory) else ("", "")
    if error.errno in _FULL:
        return StoreFullError(
            f"{directory}: no space is left ({error.strerror}){kept}. Free some space and run the same "
            f"command again{more}"
        )
    return OutputError(f"{directory}: cannot be written ({error.strerror or error}){kept}")


def _has_runs(directory: Path) -> bool:
    """Whether a store has finished runs, as far as can be seen."""
    try:
        journals = [path.read_bytes() for path in (directory / "journal").iterdir()]
        return any(b'"run"' in content for content in journals) or any((directory / "segments").iterdir())
    except OSError:
        return True


def _decode(line: bytes) -> Entry | None:
    """The entry of a line; `None` if it was written in part only."""
    try:
        if int(line[:8], 16) != zlib.crc32(line[9:]):
            return None
        entry = json.loads(line[9:])
    except ValueError:
        return None
    return entry if isinstance(entry, dict) else None
