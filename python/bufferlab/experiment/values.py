"""What measures return, as text: plain values and data frames, exact to the bit.

Every value takes this way, whether a store keeps it or not, so that a stored value equals a fresh one.
"""

from __future__ import annotations

import base64
import io
import json
from typing import Any, Final

import numpy as np
import polars as pl

_FRAME: Final = "$frame"


def encode(value: object) -> str:
    """A value as JSON, in which NaN and infinities may occur; tuples and arrays become lists.

    Raises:
        TypeError: It is neither plain nor a data frame.
    """
    return _ENCODER.encode(value)


def decode(text: str) -> Any:  # noqa: ANN401 - whatever was encoded
    """The value of a text that `encode` made."""
    return _DECODER.decode(text)


def _special(value: object) -> object:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, pl.DataFrame):
        content = io.BytesIO()
        value.write_ipc(content, compression="zstd")
        return {_FRAME: base64.b64encode(content.getvalue()).decode("ascii")}
    raise TypeError(f"a measure returned {type(value).__name__}: plain values and data frames can be kept")


def _revived(content: dict[str, Any]) -> object:
    if content.keys() == {_FRAME}:
        return pl.read_ipc(io.BytesIO(base64.b64decode(content[_FRAME])))
    return content


_ENCODER: Final = json.JSONEncoder(default=_special, ensure_ascii=False, separators=(",", ":"))
_DECODER: Final = json.JSONDecoder(object_hook=_revived)
