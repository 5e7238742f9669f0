"""Segments: Parquet files of rows, written whole under another name, then renamed, and never changed.

A segment's name is the SHA-256 of its bytes, which are compared with it before they are read. Segments of
earlier versions have 16 random hexadecimal digits for a name, and are read as they are.
"""

from __future__ import annotations

import hashlib
import io
import os
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import polars as pl

from bufferlab.errors import InputError
from bufferlab.experiment.store.journal import write_error
from bufferlab.experiment.store.rows import FLOW_SCHEMA, QUEUE_SCHEMA, SCHEMA
from bufferlab.files import sync_directory, write_durably

SUFFIX: Final = ".parquet"

_CHECKED_DIGITS: Final = 64
"""Digits of a name that is a checksum."""

_WHOLE: Final[set[tuple[str, int, int, int]]] = set()
"""Segments whose bytes this process compared already: name, inode, length, time of the last change."""

_NESTED: Final = {"flows": FLOW_SCHEMA, "queues": QUEUE_SCHEMA}


def write_segment(frame: pl.DataFrame, directory: Path) -> Path:
    """Write rows as a new segment; it is there whole and survives a power cut, or it is not there.

    Raises:
        StoreFullError: There is no room.
        OutputError: It cannot be written.
    """
    content = io.BytesIO()  # first into memory: errors of the disk keep their number that way
    frame.write_parquet(content, compression="zstd", compression_level=3)
    name = f"{hashlib.sha256(content.getbuffer()).hexdigest()}{SUFFIX}"
    partial, path = directory / f".{name}.{secrets.token_hex(4)}.partial", directory / name
    try:
        write_durably(partial, content.getbuffer())
        partial.rename(path)
        sync_directory(directory)
    except OSError as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        raise write_error(directory.parent, error) from error
    return path


class DamagedError(InputError):
    """A segment is not what was written."""


def check_segment(path: Path, *, again: bool = False) -> None:
    """Compare a segment's bytes with its name, once in this process or `again`.

    Raises:
        DamagedError: They differ.
        OSError: It cannot be read.
    """
    if len(path.stem) != _CHECKED_DIGITS:
        return
    with path.open("rb") as stream:
        status = os.fstat(stream.fileno())
        seen = (path.name, status.st_ino, status.st_size, status.st_mtime_ns)
        if seen in _WHOLE and not again:
            return
        if hashlib.file_digest(stream, "sha256").hexdigest() != path.stem:
            raise _damage("its checksum is wrong", path)
    _WHOLE.add(seen)


def scan_segments(paths: Sequence[Path]) -> pl.LazyFrame:
    """The rows of segments, with the columns of `SCHEMA`, whatever version of Bufferlab wrote them.

    A figure that a segment does not have is null; one that this version does not know is left out.

    Raises:
        DamagedError: One is not what was written.
        OSError: One cannot be read.
    """
    current: list[Path] = []
    frames: list[pl.LazyFrame] = []
    for path in paths:
        check_segment(path)
        schema = pl.read_parquet_schema(path)
        if schema == dict(SCHEMA):
            current.append(path)
        else:
            frames.append(pl.scan_parquet(path).select(_column(name, schema) for name in SCHEMA))
    if current:
        frames.append(pl.scan_parquet(current))
    return pl.concat(frames) if frames else pl.LazyFrame(schema=dict(SCHEMA))


def damaged(directory: Path, paths: Sequence[Path], error: Exception) -> InputError:
    """What to say of a store that cannot be read: which segment is the cause, and what to do about it."""
    for path in paths:
        try:
            pl.read_parquet(path)
        except FileNotFoundError:  # merged with others meanwhile
            continue
        except (OSError, pl.exceptions.PolarsError) as cause:
            return _damage(_reason(cause), path)
    return InputError(
        f"cannot be read ({_reason(error)})", file=directory, accepted="a store that Bufferlab wrote"
    )


def _damage(reason: str, path: Path) -> DamagedError:
    repair = f"'bufferlab results {path.parent.parent} --repair' sets it aside"
    accepted = f"a file as Bufferlab wrote it: {repair}, and its runs are simulated again"
    return DamagedError(f"is damaged ({reason})", file=path, accepted=accepted)


def _reason(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def _column(name: str, schema: Mapping[str, Any]) -> pl.Expr:
    wanted = SCHEMA[name]
    if name not in schema:
        return pl.lit(None, dtype=wanted).alias(name)
    if name in _NESTED and schema[name] != wanted:
        known = {field.name for field in schema[name].inner.fields}
        fields = [
            (pl.element().struct.field(key) if key in known else pl.lit(None)).cast(dtype).alias(key)
            for key, dtype in _NESTED[name].items()
        ]
        return pl.col(name).list.eval(pl.struct(fields)).cast(wanted)
    return pl.col(name).cast(wanted)
