"""Constants of the engine's tables, and names that frames have for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

Plan = Mapping[str, Any]
"""A plan as in plan.json; its keys are those of `crates/simulator/src/plan.rs`."""

ALL: Final = "all"
"""Stands for all groups together in the column `group`."""

ALL_GROUPS: Final = 2**32 - 1
"""Stands for the same in the engine's tables."""

ALL_CLASSES: Final = 2**32 - 1
"""Stands for all classes together in the engine's table of class samples."""

NONE: Final = 2**64 - 1
"""Stands for "none" in the engine's tables."""

PS_PER_MS: Final = 10**9
BITS_PER_BYTE: Final = 8
