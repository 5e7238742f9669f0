"""One folder takes the place of another: at no moment there is none, and what a kill leaves goes later."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from bufferlab.files import hidden_beside

_AT_FDCWD: Final = -100
_RENAME_EXCHANGE: Final = 2
"""renameat2(2) of Linux 3.15."""

_NOT_THERE: Final = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)


def exchange(one: Path, other: Path) -> bool:
    """Give two folders each other's name at once; `False` if this system or this disk cannot.

    Raises:
        OSError: It failed otherwise.
    """
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    if rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NOT_THERE:
        return False
    raise OSError(number, os.strerror(number), str(other))


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Show to `remove_left` of other processes that a folder is being written."""
    file = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # a file system without locks: nobody removes anything there
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(file)


def remove_left(directory: Path) -> None:
    """Remove what killed processes left beside a folder; if they left it under another name, put it back."""
    beside = directory.parent
    if not beside.is_dir():
        return
    old, half = (_left(directory, suffix) for suffix in ("old", "partial"))
    if old and not directory.exists():
        old.pop().rename(directory)
    for path in old:
        shutil.rmtree(path, ignore_errors=True)
    for path in half:
        if not _is_held(path):
            shutil.rmtree(path, ignore_errors=True)


def _left(directory: Path, suffix: str) -> list[Path]:
    name = re.escape(hidden_beside(directory, suffix).name.rsplit(".", 2)[0])
    pattern = re.compile(rf"{name}\.[0-9a-f]{{8}}\.{suffix}")
    return [path for path in directory.parent.iterdir() if pattern.fullmatch(path.name)]


def _is_held(path: Path) -> bool:
    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(file)
    return False
