"""Advertised windows: what the plan says, what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from bufferlab.errors import InputError
from bufferlab.plan import lower

from .conftest import Make


def source(make: Make, **flow: object) -> dict[str, Any]:
    found: dict[str, Any] = lower(make({f"flows.short.{key}": value for key, value in flow.items()}))[
        "groups"
    ][0]
    return dict(found["source"])


@pytest.mark.parametrize(
    ("window", "scaling", "window_bytes", "tuned"),
    [
        ("64 KiB", True, 65_536, False),
        ("64 KiB", False, 65_535, False),
        ("100 segments", True, 144_800, False),
        ("auto", True, 3 << 20, True),
        ("auto(16 MiB)", True, 8 << 20, True),
        ("auto", False, 65_535, True),
    ],
)
def test_windows_and_scaling(make: Make, window: str, scaling: bool, window_bytes: int, tuned: bool) -> None:
    lowered = source(make, window=window, window_scaling=scaling)
    assert lowered["receive_window_bytes"] == window_bytes
    assert lowered.get("tuned_window", False) is tuned


@pytest.mark.parametrize(
    ("flow", "message"),
    [
        (
            {"window": "1000 B"},
            "[0].window: '1000 B' is less than a segment, so nothing could be sent; accepted: at least '1448",
        ),
        (
            {"window": "auto(2 KB)"},
            "'auto(2000 B)' is less than a segment, so nothing could be sent; accepted: at least 'auto(2896",
        ),
        (
            {"window": "600 B", "segment": "1000 B"},
            "'600 B' is less than a segment, so nothing could be sent; accepted: at least '1000 B'",
        ),
        (
            {"window": "auto(16)"},
            "flows[0].window: 'auto(16)' has no unit; accepted: a size such as '64 KiB'",
        ),
        ({"window": "auto(4 GiB)"}, "flows[0].window: 'auto(4 GiB)' is too large"),
        ({"window": "automatic"}, "'automatic' is not a number with a unit"),
        ({"window": "2 GB"}, "flows[0].window: '2 GB' is too large; accepted: a size such as '64 KiB'"),
    ],
)
def test_refused(make: Make, flow: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        source(make, **flow)
    assert message in str(caught.value)
