"""What a figure of a summary is called, in the document and to people."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """A figure of the summary.

    Attributes:
        key: Its key in the document, with its unit.
        label: What people read, with the unit shown.
        scale: What the document's value is multiplied by to be in the unit shown.
    """

    key: str
    label: str
    scale: float = 1.0
