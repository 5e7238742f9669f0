"""A file that a run wrote while it went on: a capture or a trace."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Recording:
    """A file that a run has written.

    Attributes:
        path: The file.
        unit: What it holds: "packets" or "lines".
        records: How many of them.
        left_out: How many more there would have been without the limit.
        size_bytes: Size of the file.
        problem: What ended it early, such as a full disk: it then holds whole records up to there. `None` if
            nothing did.
    """

    path: Path
    unit: str
    records: int
    left_out: int
    size_bytes: int
    problem: str | None

    def __str__(self) -> str:
        text = f"{self.path}: {self.records} {self.unit}, {self.size_bytes} bytes"
        if self.problem:
            return f"{text}, cut off there: {self.problem}"
        if self.left_out:
            return f"{text}; {self.left_out} more are left out, as the limit says"
        return text
