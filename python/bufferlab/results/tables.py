"""Constants of the engine's tables, and names that frames have for them."""

from __future__ import annotations

from typing import Final

from bufferlab import _core

ALL: Final = "all"
"""Stands for all groups together in the column `group`."""

ALL_GROUPS: Final = _core.ALL_GROUPS
"""Stands for the same in the engine's tables."""

ALL_CLASSES: Final = _core.ALL_CLASSES
"""Stands for all classes together in the engine's table of class samples."""

NONE: Final = 2**64 - 1
"""Stands for "none" in the engine's tables."""

BITS_PER_BYTE: Final = 8
