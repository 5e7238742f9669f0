"""Where a scenario came from: what is needed to store it again."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from bufferlab.scenario.plain import Table


@dataclass(frozen=True)
class Source:
    """A scenario before validation.

    Attributes:
        table: As given, overrides applied.
        text: The TOML text that `table` was read from; None if there is none or it was changed.
        file: The file it was read from.
        overrides: Values applied since, by path.
    """

    table: Table = field(default_factory=dict)
    text: str | None = None
    file: str | None = None
    overrides: Table = field(default_factory=dict)

    @property
    def directory(self) -> Path | None:
        """Folder from which relative paths within the scenario start."""
        return Path(self.file).parent if self.file else None
