"""What a platform takes, as buffers in packets."""

from __future__ import annotations

from fractions import Fraction

import pytest

from bufferlab.configure import PLATFORMS, configuration
from bufferlab.configure.bounds import Held
from bufferlab.errors import InputError


@pytest.mark.parametrize(
    ("platform", "rate_bps", "least", "most", "shown"),
    [
        ("junos", 10**9, 1, 16666, "200 ms"),
        ("junos", 10 * 10**9, 1, 166666, "200 ms"),
        ("ios-xr", 10**9, 6, 660501, "1 GB"),
        ("ios-xe", 10**9, 1, 8192000, "8192000 packets"),
        ("ios-xe", 100 * 10**9, 1, 3400 * 100 * 10**6 // 12000, "3.4 s"),
        ("linux", 10**6, 1, 2**32 - 1, "4294967295 packets"),
    ],
)
def test_the_buffers_that_a_platform_takes(
    platform: str, rate_bps: int, least: int, most: int, shown: str
) -> None:
    found = PLATFORMS[platform].allowed(rate_bps, 1500)
    assert found is not None
    assert (found.least, found.most, found.bound.shown) == (least, most, shown)
    assert found.bound.source and found.title == PLATFORMS[platform].title
    configuration(f"{rate_bps} bps", "fifo", f"{most} packets", platform=platform)
    with pytest.raises(InputError, match="is more than"):
        configuration(f"{rate_bps} bps", "fifo", f"{most + 1} packets", platform=platform)


def test_a_range_that_nobody_knows_is_none() -> None:
    assert PLATFORMS["nx-os"].allowed(10**9, 1500) is None


def test_a_link_too_slow_for_a_packet_is_an_error() -> None:
    with pytest.raises(InputError) as error:
        PLATFORMS["junos"].allowed(56_000, 1500)
    assert str(error.value) == (
        "platform: 'junos' takes a buffer of 200 ms at most, which is less than a packet at 56 kbps; "
        "accepted: a faster link"
    )


def test_what_an_amount_holds() -> None:
    held = Held(25 * 10**9, 1500, 14)
    assert held.packets(7, "packets") == 7
    assert held.packets(3028, "bytes") == 2
    assert held.packets(2, "us") == Fraction(50_000, 12_000)
    assert held.packets(2, "ms") == Fraction(50_000_000, 12_000)


def test_a_configuration_says_what_its_buffer_holds() -> None:
    junos = configuration("25 Gbps", "fifo", "3 packets", platform="junos")
    assert (junos.amount, junos.unit, junos.packets) == (2, "us", Fraction(25, 6))
    assert junos.to_dict()["packets"] == pytest.approx(25 / 6)
    assert configuration("25 Gbps", "splitbuff", "3 packets", platform="junos").to_dict()["packets"] is None
