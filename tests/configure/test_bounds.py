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


@pytest.mark.parametrize("platform", ["nx-os", "routeros"])
def test_a_range_that_nobody_knows_is_none(platform: str) -> None:
    assert PLATFORMS[platform].allowed(10**9, 1500) is None


OF: dict[str, tuple[str, ...]] = {
    "linux": ("iproute2 6.1.0, tc-pfifo(8)",),
    "openwrt": ("sqm-scripts, src/functions.sh, get_limit, as it is to tc: iproute2 6.1.0, tc-pfifo(8)",),
    "junos": ("Junos OS Class of Service, Release 10.3, buffer-size",),
    "ios-xe": ("Cisco-IOS-XE-policy.yang, 17.3.1, queue-limit",),
    "ios-xr": ("IOS XR Modular QoS Command Reference for the CRS Router, Release 4.0, queue-limit",),
}
"""Where each platform's bounds were read."""


@pytest.mark.parametrize("platform", PLATFORMS)
def test_bounds_name_a_source_of_their_own_platform(platform: str) -> None:
    assert tuple({each.source for each in PLATFORMS[platform].bounds}) == OF.get(platform, ())
    found = PLATFORMS[platform].allowed(10**9, 1500)
    assert (found is None) == (platform not in OF)


def test_routeros_has_the_kernels_bound_and_says_that_it_is_that() -> None:
    with pytest.raises(InputError) as error:
        configuration("100 Gbps", "fifo", f"{2**32} packets", platform="routeros")
    assert "pkt_sched.h" in str(error.value) and "iproute2" not in str(error.value)


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


TOO_LITTLE = (
    "buffer: '{}' is less than a full packet of 1514 bytes on {}, so that none could wait; accepted: {}"
)


@pytest.mark.parametrize("platform", [name for name in PLATFORMS if name not in {"junos", "ios-xr"}])
@pytest.mark.parametrize("buffer", ["1 B", "1499 B"])
def test_a_buffer_that_no_full_packet_fits_is_an_error(platform: str, buffer: str) -> None:
    with pytest.raises(InputError) as error:
        configuration("100 Mbps", "fifo", buffer, platform=platform)
    assert str(error.value) == TOO_LITTLE.format(buffer, PLATFORMS[platform].title, "at least 1500 B")
    assert configuration("100 Mbps", "fifo", "1500 B", platform=platform).packets == 1


def test_where_the_unit_is_coarser_a_packet_must_fit_what_is_written() -> None:
    with pytest.raises(InputError) as error:
        configuration("100 Mbps", "fifo", "1 us", platform="junos")
    assert str(error.value) == TOO_LITTLE.format("1 us", "Juniper Junos", "at least 120 us")
    assert configuration("100 Mbps", "fifo", "1499 B", platform="junos").amount == 120
    assert configuration("100 Mbps", "fifo", "1 us", platform="linux").lines[-1].endswith("pfifo limit 1")
    least = configuration("100 Mbps", "fifo", "1 B", platform="ios-xr")
    assert least.amount == 9216 and "The least is 9216 bytes" in " ".join(least.notes)


@pytest.mark.parametrize(
    ("platform", "bound"),
    [
        ("linux", "4294967295 packets (iproute2 6.1.0, tc-pfifo(8))"),
        ("routeros", ""),
        ("nx-os", ""),
    ],
)
def test_an_absurd_buffer_is_said_to_be_one(platform: str, bound: str) -> None:
    note = configuration("100 Mbps", "fifo", "1000000000 packets", platform=platform).notes[0]
    assert "1500 GB, which 100 Mbps take 120000 s to send: hardly what you want." in note
    assert ("takes the number" in note) == bool(bound) and bound in note
    long, short = (configuration("100 Mbps", "fifo", size, platform=platform) for size in ("11 s", "10 s"))
    assert "hardly" in long.notes[0] and "hardly" not in " ".join(short.notes)


@pytest.mark.parametrize("platform", ["junos", "ios-xe", "ios-xr"])
def test_more_than_a_platform_takes_is_an_error_with_its_source(platform: str) -> None:
    (bound, *_) = PLATFORMS[platform].bounds
    with pytest.raises(InputError) as error:
        configuration("100 Mbps", "fifo", "1000000000 packets", platform=platform)
    assert f"accepted: at most {bound.most} {bound.unit} ({bound.source})" in str(error.value)


def test_a_configuration_says_what_its_buffer_holds() -> None:
    junos = configuration("25 Gbps", "fifo", "3 packets", platform="junos")
    assert (junos.amount, junos.unit, junos.packets) == (2, "us", Fraction(25, 6))
    assert junos.to_dict()["packets"] == pytest.approx(25 / 6)
    assert configuration("25 Gbps", "splitbuff", "3 packets", platform="junos").to_dict()["packets"] is None
