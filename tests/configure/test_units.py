"""The buffer that is configured is not less than the answer, and less than one unit more."""

from __future__ import annotations

from fractions import Fraction
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bufferlab.configure import PLATFORMS, Configuration, configuration
from bufferlab.errors import InputError

RATES = st.integers(10**5, 4 * 10**11)
PACKETS = st.integers(64, 9000)
OVERHEADS = st.integers(0, 64)
BUFFERS = st.one_of(
    st.tuples(st.just("packets"), st.integers(1, 10**6)),
    st.tuples(st.just("B"), st.integers(1, 10**8)),
    st.tuples(st.just("us"), st.integers(1, 10**6)),
)
XR_LEAST_BYTES = 9216
JUNOS_ENDS = {50_000, 80_000, 100_000}
"""Where ranges of Junos end, us: a time that is hardly longer is the end, which older cards take, too."""
JUNOS_MORE = Fraction(1002, 1000)


def asked_bits(kind: str, amount: int, rate_bps: int, packet: int) -> Fraction:
    """The answer in bits of packets, worked out here and not by the code."""
    if kind == "packets":
        return Fraction(amount * packet * 8)
    return Fraction(amount * 8) if kind == "B" else Fraction(amount * rate_bps, 10**6)


def unit_bits(unit: str, rate_bps: int, packet: int, overhead: int) -> Fraction:
    """Bits of packets, without the link header, in one unit of a platform."""
    match unit:
        case "packets":
            return Fraction(packet * 8)
        case "bytes":
            return Fraction(8 * packet, packet + overhead)
        case "us":
            return Fraction(rate_bps, 10**6)
        case _:
            assert unit == "ms"
            return Fraction(rate_bps, 10**3)


def made_or_refused(
    rate: str, queue: str, buffer: str, platform: str, **sizes: str
) -> tuple[Configuration | None, str]:
    """A configuration, or why there is none."""
    try:
        return configuration(rate, queue, buffer, platform=platform, **sizes), ""  # type: ignore[arg-type]
    except InputError as error:
        return None, error.problem


@pytest.mark.parametrize("platform", PLATFORMS)
@given(rate=RATES, buffer=BUFFERS, packet=PACKETS, overhead=OVERHEADS)
def test_the_buffer_is_rounded_up_by_less_than_a_unit(
    platform: str, rate: int, buffer: tuple[str, int], packet: int, overhead: int
) -> None:
    kind, amount = buffer
    bits = asked_bits(kind, amount, rate, packet)
    made, refused = made_or_refused(
        f"{rate} bps", "fifo", f"{amount} {kind}", platform, packet=f"{packet} B", overhead=f"{overhead} B"
    )
    if made is None:
        # more than the platform can, see test_platforms; or less than a packet
        assert "takes" in refused or ("less than a full packet" in refused and bits < packet * 8)
        return
    assert made.amount is not None
    unit = unit_bits(made.unit, rate, packet, overhead)
    if platform == "junos" and made.amount in JUNOS_ENDS:
        assert bits <= made.amount * unit * JUNOS_MORE
        return
    assert made.amount * unit >= bits
    if platform == "ios-xr" and made.amount == XR_LEAST_BYTES:
        return
    assert (made.amount - 1) * unit < bits
    assert str(made.amount) in "\n".join(made.lines)


@pytest.mark.parametrize("queue", ["codel", "fq_codel", "pie"])
@given(rate=RATES, buffer=BUFFERS, packet=PACKETS)
def test_disciplines_that_count_packets_round_up_to_packets(
    queue: str, rate: int, buffer: tuple[str, int], packet: int
) -> None:
    kind, amount = buffer
    made, refused = made_or_refused(f"{rate} bps", queue, f"{amount} {kind}", "linux", packet=f"{packet} B")
    if made is None:
        assert "fq_codel's memory limit takes" in refused
        return
    assert (made.amount, made.unit) == (
        ceil(asked_bits(kind, amount, rate, packet) / (8 * packet)),
        "packets",
    )
    assert f"{queue} limit {made.amount} " in made.lines[-1]


@given(rate=st.integers(8000, 10**11))
def test_a_shaper_is_not_faster_than_the_link(rate: int) -> None:
    """tc keeps bytes a second, sqm-scripts and IOS XR kbit/s; RouterOS, IOS XE and Junos take any bit/s."""

    def shaped(platform: str) -> str:
        made = configuration(
            f"{rate} bps", "fifo", "10 packets", platform=platform, shape=True, overhead="0 B"
        )
        return "\n".join(made.lines)

    kbps = rate // 1000
    assert f"shape average {rate}\n" in shaped("ios-xe")
    assert f"option upload '{kbps}'" in shaped("openwrt")
    if kbps * 1000 == rate:
        assert f"max-limit={kbps // 1000}M" in shaped("routeros") or f"max-limit={kbps}k" in shaped(
            "routeros"
        )
    else:
        assert f"max-limit={rate} " in shaped("routeros")
