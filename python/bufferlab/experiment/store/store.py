"""A store of runs, which any number of processes may read and write at the same time.

A folder with

- `store.json`: the format;
- `segments/`: Parquet files of rows (see `rows`), never changed, named by their checksums;
- `journal/`: one file for each process that is writing, or died writing (see `journal`);
- `scenarios/`: the scenarios that ran, by the hash of their text;
- `studies/`: what asked for which runs (see `studies`);
- `tables/`: full result folders of runs that were asked to keep them;
- `damaged/`: what was damaged and set aside (see `checking`);
- `lock`: held for moments by writers while they claim runs and tidy up.

Rows move from journals to segments. The process that moves them writes the segment first, so that a row may
exist twice for a moment, but is never missing. Readers look at journals first and then at segments, and take
equal runs once.
"""

from __future__ import annotations

import json
import secrets
from contextlib import suppress
from os import PathLike
from pathlib import Path
from typing import Final

from bufferlab import _core
from bufferlab.errors import InputError, OutputError
from bufferlab.experiment.store.reader import StoreReader
from bufferlab.experiment.store.writer import Writer
from bufferlab.files import check_utf8, sync_directory, write_durably

FORMAT: Final = "bufferlab-store"
FORMAT_VERSION: Final = 1

_IDENTITY: Final = "store.json"
_FOLDERS: Final = ("segments", "journal", "scenarios", "tables")


def open_store(directory: str | PathLike[str], *, create: bool = False) -> Store:
    """Open a store of runs.

    Args:
        directory: Its folder.
        create: Make it if there is none.

    Raises:
        InputError: There is none, the folder holds something else, or another version wrote it.
        OutputError: It cannot be made.
    """
    return Store(Path(directory), create=create)


class Store(StoreReader):
    """A store of runs.

    Attributes:
        directory: Its folder.
    """

    def __init__(self, directory: Path, *, create: bool = False) -> None:
        super().__init__(check_utf8(directory))  # Polars takes no other names
        try:
            if not _is_store(directory):
                if not create:
                    raise InputError(
                        "is no store of runs" if directory.exists() else "does not exist",
                        file=directory,
                        accepted="a folder that `bufferlab sweep` wrote",
                    )
                _make(directory)
            if create:
                missing = [name for name in _FOLDERS if not (directory / name).is_dir()]
                for name in missing:
                    (directory / name).mkdir(exist_ok=True)
                if missing:
                    sync_directory(directory)
        except (OSError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise OutputError(f"{directory}: {getattr(error, 'strerror', None) or error}") from error
        _check(directory / _IDENTITY)

    def __repr__(self) -> str:
        return f"<Store {str(self.directory)!r}>"

    def writer(self, *, retry_failed: bool = False, fresh: bool = False) -> Writer:
        """Begin to write; use it in a `with` block.

        Args:
            retry_failed: Runs that failed before may run again.
            fresh: So may all others that others finished before.

        Raises:
            OutputError: The folder cannot be written.
        """
        return Writer(self, retry_failed=retry_failed, fresh=fresh)


def _is_store(directory: Path) -> bool:
    return (directory / _IDENTITY).exists()


def _make(directory: Path) -> None:
    if directory.exists() and not directory.is_dir():
        raise InputError("is not a folder", file=directory, accepted="a new folder, or a store of runs")
    directory.mkdir(parents=True, exist_ok=True)
    # another process may be making the same store at this moment
    strange = [path.name for path in directory.iterdir() if not path.name.startswith((".store", _IDENTITY))]
    if strange and not _is_store(directory):
        raise InputError(
            "holds other files already", file=directory, accepted="a new folder, or a store of runs"
        )
    document = {"format": FORMAT, "format_version": FORMAT_VERSION, "version": _core.engine_version}
    fresh = directory / f".store-{secrets.token_hex(8)}"
    try:
        write_durably(fresh, (json.dumps(document, indent=1) + "\n").encode())
        fresh.rename(directory / _IDENTITY)
    except OSError:
        with suppress(OSError):
            fresh.unlink(missing_ok=True)
        raise
    for folder in (directory, directory.absolute().parent):
        sync_directory(folder)


def _check(path: Path) -> None:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
        found = (document.get("format"), document.get("format_version"))
        writer = document.get("version")
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", file=path, accepted="a file as Bufferlab wrote it"
        ) from error
    except (ValueError, AttributeError) as error:
        accepted = "that of another store, which may be copied here; the runs have files of their own"
        raise InputError("is damaged", file=path, accepted=accepted) from error
    if found != (FORMAT, FORMAT_VERSION):
        raise InputError(
            f"is of format {found[1]!r}, written by Bufferlab {writer}",
            file=path,
            accepted=f"format {FORMAT_VERSION}: use that version of Bufferlab, or another folder",
        )
