"""Standard output and error as they are: closed, narrow, or such that cannot write every character."""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, TextIO

_HANDLER: Final = "bufferlab.plain"
_NAMES_HANDLER: Final = "backslashreplace"
"""For UTF-8, which lacks only the bytes of file names that are none: \\udcff is right in JSON, too."""

_LEAST_COLUMNS: Final = 40
"""A table of fewer loses characters."""

_PLAIN: Final[Mapping[str, str]] = {
    **dict(
        zip("±×≥≤√·µ…–—−◂", ("+-", "x", ">=", "<=", "sqrt", "*", "u", "...", "-", "-", "-", "<"), strict=True)
    ),
    **dict.fromkeys("─━═╌", "-"),
    **dict.fromkeys("│┃║", "|"),
    **dict.fromkeys("╭╮╰╯┌┐└┘├┤┬┴┼", "+"),
}
"""What stands for characters that a stream cannot write."""


def prepare_streams() -> bool:
    """Make standard output and error write plain characters in place of those that they cannot encode.

    Returns:
        Whether there is a standard output to write to; what standard error cannot take is lost.
    """
    codecs.register_error(_HANDLER, _plainly)
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for as long as we run
    elif isinstance(sys.stderr, io.TextIOWrapper):
        sys.stderr = _never_failing(sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        _make_plain(stream)
    return sys.stdout is not None


class _NeverFailing(io.FileIO):
    """A file of which a full disk, or a reader that has gone, takes nothing from what is done."""

    def write(self, content: Any, /) -> int:  # noqa: ANN401 - a buffer, which has no type before Python 3.12
        try:
            return super().write(content)
        except OSError:
            return len(memoryview(content))


def _never_failing(stream: io.TextIOWrapper) -> io.TextIOWrapper:
    raw = _NeverFailing(stream.fileno(), "w", closefd=False)
    return io.TextIOWrapper(io.BufferedWriter(raw), stream.encoding, line_buffering=True)


def prepare_width() -> None:
    """Take no width from COLUMNS where that is 0, and at least that which a table needs."""
    asked = os.environ.get("COLUMNS", "")
    if asked.isdecimal() and int(asked) < _LEAST_COLUMNS:
        os.environ.pop("COLUMNS")
        if int(asked):
            os.environ["COLUMNS"] = str(_LEAST_COLUMNS)


def _make_plain(stream: TextIO | None) -> None:
    if isinstance(stream, io.TextIOWrapper):
        is_utf8 = stream.encoding.lower().replace("-", "") == "utf8"
        stream.reconfigure(errors=_NAMES_HANDLER if is_utf8 else _HANDLER)


def _plainly(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    characters = error.object[error.start : error.end]
    return "".join(_PLAIN.get(character, "?") for character in characters), error.end
