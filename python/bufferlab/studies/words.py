"""Words that stand for queues and links."""

from __future__ import annotations

from typing import Final

OWN: Final = "scenario"
"""The discipline that the scenario has, with its parameters."""

ALL: Final = "all"
"""Every discipline that there is."""

EACH: Final = "each"
"""All links that data crosses."""
