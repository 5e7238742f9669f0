"""A scenario that a kernel can run, and a kernel if one was built."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import pytest

from bufferlab.errors import InputError
from bufferlab.kernel.cache import Kernel, kernel
from bufferlab.scenario import Scenario

WITHOUT_KERNEL: Final = (
    "there is no kernel ('bufferlab kernel build' makes one): 'emulate' is NOT tested here"
)


def link(**overrides: object) -> Scenario:
    """One flow over one link; overrides as `flows__bulk__count`."""
    scenario = Scenario.from_dict(
        {
            "run": {"duration": "20 s", "warmup": "5 s", "stack": "linux"},
            "bottleneck": {"rate": "10 Mbps", "buffer": "100 packets"},
            "flows": [{"name": "bulk", "rtt": "40 ms", "congestion": "reno"}],
        }
    )
    named: Mapping[str, object] = {key.replace("__", "."): value for key, value in overrides.items()}
    return scenario.with_overrides(named) if named else scenario


@pytest.fixture(scope="session")
def built() -> Kernel:
    """The newest kernel of this machine."""
    try:
        return kernel()
    except InputError:
        pytest.skip(WITHOUT_KERNEL)
