"""Segments: Parquet files of rows, written whole under another name, then renamed, and never changed."""

from __future__ import annotations

import io
import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl

from bufferlab.errors import InputError
from bufferlab.experiment.store.journal import write_error
from bufferlab.experiment.store.rows import FLOW_SCHEMA, QUEUE_SCHEMA, SCHEMA

SUFFIX: Final = ".parquet"

_NESTED: Final = {"flows": FLOW_SCHEMA, "queues": QUEUE_SCHEMA}


def write_segment(frame: pl.DataFrame, directory: Path) -> Path:
    """Write rows as a new segment; it is there whole and survives a power cut, or it is not there.

    Raises:
        StoreFullError: There is no room.
        OutputError: It cannot be written.
    """
    name = f"{secrets.token_hex(8)}{SUFFIX}"
    partial, path = directory / f".{name}.partial", directory / name
    content = io.BytesIO()  # first into memory: errors of the disk keep their number that way
    frame.write_parquet(content, compression="zstd", compression_level=3)
    try:
        with partial.open("wb") as stream:
            stream.write(content.getbuffer())
            stream.flush()
            os.fsync(stream.fileno())
        partial.rename(path)
        sync_directory(directory)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise write_error(directory.parent, error) from error
    return path


def scan_segments(paths: Sequence[Path]) -> pl.LazyFrame:
    """The rows of segments, with the columns of `SCHEMA`, whatever version of Bufferlab wrote them.

    A figure that a segment does not have is null; one that this version does not know is left out.
    """
    current: list[Path] = []
    frames: list[pl.LazyFrame] = []
    for path in paths:
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
            accepted = "a file as Bufferlab wrote it: delete this one, and its runs are simulated again"
            return InputError(f"is damaged ({_reason(cause)})", file=path, accepted=accepted)
    return InputError(
        f"cannot be read ({_reason(error)})", file=directory, accepted="a store that Bufferlab wrote"
    )


def _reason(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def sync_directory(directory: Path) -> None:
    """Wait until the names in a folder survive a power cut."""
    file = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


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
