"""What `configure` refuses, and what it says is accepted."""

from __future__ import annotations

import re
from typing import Any

import pytest

from bufferlab.configure import configuration
from bufferlab.errors import InputError


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"buffer": "300 ms", "platform": "junos"}, "buffer: '300000 us' is more than"),
        ({"buffer": "10 GB", "platform": "ios-xr"}, "accepted: at most 1000000000 bytes"),
        ({"buffer": "5000 s", "platform": "ios-xe"}, "accepted: at most 512000 us"),
        ({"buffer": "5 GB"}, "accepted: at most 4294967295 bytes"),
        ({"buffer": "5 ms", "platform": "nx-os", "shape": True}, "shape: has no shaper that is known here"),
        ({"rate": "1 kbps", "buffer": "9 packets", "platform": "ios-xe", "shape": True}, "accepted: 8000 to"),
        ({"rate": "900 bps", "buffer": "9 packets", "platform": "openwrt"}, "rate: '900 bps' is too low"),
        ({"buffer": "1 bdp"}, "buffer: '1 bdp' is not a size by itself; accepted: '1000 packets'"),
        ({"buffer": "unlimited"}, "buffer: 'unlimited' is not a size by itself"),
        ({"buffer": "1000"}, "buffer: '1000' has no unit; accepted: '1000 packets', '1.5 MB' or '20 ms'"),
        ({"rate": "100Mbsp", "buffer": "5 ms"}, "rate: '100Mbsp' has a wrong unit (did you mean 'Mbps'?)"),
        (
            {"queue": "fq-codel", "buffer": "5 ms"},
            "queue: 'fq-codel' is not accepted here (did you mean 'fq_codel'?)",
        ),
        ({"queue": {"discipline": "codel", "target": 5}, "buffer": "5 ms"}, "queue.target: 5"),
        ({"buffer": "5 ms", "packet": "big"}, "packet: 'big'"),
        ({"buffer": "5 ms", "overhead": "1 MB"}, "overhead: '1 MB' is too large"),
        (
            {"buffer": "5 ms", "device": "eth0; reboot"},
            "device: 'eth0; reboot' is not the name of an interface",
        ),
        (
            {"buffer": "5 ms", "cake": True},
            "queue: 'fifo' has no CAKE that could stand in; accepted: fq_codel",
        ),
        (
            {"buffer": "5 ms", "platform": "lunix"},
            "platform: 'lunix' is not a known platform (did you mean 'linux'?)",
        ),
        ({"buffer": "5 ms", "platform": "eos"}, "platform: 'eos' is not known well enough: Arista EOS"),
        (
            {"queue": {"discipline": "pie", "beta": 3}, "buffer": "5 ms"},
            "queue.beta: 3.0 is more than Linux's PIE takes; accepted: at most 2",
        ),
        (
            {"queue": {"discipline": "red", "max_threshold": "100 packets"}, "buffer": "50 packets"},
            "queue.max_threshold: '151400 bytes' is larger than the buffer",
        ),
        (
            {
                "queue": {
                    "discipline": "red",
                    "min_threshold": "1 MB",
                    "max_threshold": "9 MB",
                    "weight": 0.0001,
                },
                "buffer": "50 MB",
            },
            "queue.weight: 0.0001 is too small a weight for such thresholds",
        ),
    ],
)
def test_bad_input_names_what_is_accepted(wanted: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        configuration(**({"rate": "100 Mbps", "queue": "fifo"} | wanted))
    assert message in str(caught.value)
    assert caught.value.accepted


@pytest.mark.parametrize("platform", ["linux", "openwrt"])
def test_names_of_interfaces_that_linux_would_cut_are_refused(platform: str) -> None:
    assert configuration("20 Mbps", "fifo", "5 ms", platform=platform, device="x" * 15).lines
    for name in ("x" * 16, ""):
        with pytest.raises(InputError, match="at most 15 characters"):
            configuration("20 Mbps", "fifo", "5 ms", platform=platform, device=name)
    assert configuration("20 Mbps", "fifo", "5 ms", platform="junos", device="x" * 16).lines


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("mikrotik", "'routeros'"),
        ("Juniper", "'junos'"),
        ("cisco", "'ios-xe' or 'ios-xr' or 'nx-os'"),
        ("nexus", "'nx-os'"),
        ("opnwrt", "'openwrt'"),
    ],
)
def test_a_maker_s_name_says_which_platforms_may_be_meant(name: str, meant: str) -> None:
    with pytest.raises(InputError, match=re.escape(f"(did you mean {meant}?)")):
        configuration("1 Gbps", "fifo", "100 packets", platform=name)


def test_a_maker_of_an_unknown_platform_says_what_is_missing() -> None:
    with pytest.raises(InputError, match="is not known well enough: Arista EOS"):
        configuration("1 Gbps", "fifo", "100 packets", platform="arista")
