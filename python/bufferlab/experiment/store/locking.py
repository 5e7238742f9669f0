"""The lock of a store, which writers hold for moments."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bufferlab.errors import OutputError
from bufferlab.experiment.store.journal import write_error


@contextmanager
def exclusively(lock: int, directory: Path) -> Iterator[None]:
    """Hold a store's lock, an open file; the kernel gives it back if we die.

    Raises:
        OutputError: The file system has no locks, or what is done meanwhile fails.
    """
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError as error:
        raise OutputError(
            f"{directory}: files cannot be locked there ({error.strerror}); use a folder on a "
            "local disk, or one whose file system has flock"
        ) from error
    try:
        yield
    except OSError as error:
        raise write_error(directory, error) from error
    finally:
        fcntl.flock(lock, fcntl.LOCK_UN)
