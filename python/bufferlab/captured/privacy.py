"""Tables of a capture that can be given away: addresses that nobody is found by."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Final

import polars as pl

from bufferlab import _core
from bufferlab.errors import InputError
from bufferlab.files import read_text

_KEY_BYTES: Final = 32
_ENDS: Final = ("initiator", "responder")


def read_key(path: str | PathLike[str]) -> bytes:
    """A key of 32 bytes from a file with its 64 hexadecimal digits; spaces and new lines do not matter.

    Raises:
        InputError: The file cannot be read, or has no such key.
    """
    accepted = "64 hexadecimal digits: openssl rand -hex 32 makes such a key"
    text = "".join(read_text(Path(path), what="a key's file").split())
    try:
        key = bytes.fromhex(text)
    except ValueError:
        raise InputError("has other than hexadecimal digits", file=str(path), accepted=accepted) from None
    if len(key) != _KEY_BYTES:
        raise InputError(f"has {len(text)} digits", file=str(path), accepted=accepted)
    return key


def without_names(connections: pl.DataFrame, key: bytes) -> pl.DataFrame:
    """The table of connections with addresses by Crypto-PAn; ports stay.

    Two addresses share as many first bits as before: networks and hosts stay distinct, but nobody finds them.
    """
    known = pl.concat([connections[end] for end in _ENDS]).unique().sort().to_list()
    others = dict(zip(known, _core.anonymize(known, key), strict=True))
    return connections.with_columns(pl.col(end).replace_strict(others) for end in _ENDS)
