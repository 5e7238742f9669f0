"""A scenario that takes milliseconds."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..small import dumbbell


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(dumbbell())
    return path
