from __future__ import annotations

import pytest

from bufferlab.buffers import Limit, LinkTraffic, limit, parse_buffer
from bufferlab.errors import InputError

MS = 10**9

# SplitBuff's figure 1: 100 Mbps, 1000 bytes, 10 and 990 ms.
FIG1 = LinkTraffic(rate_bps=10**8, flows=2, mean_rtt_ps=500 * MS, packet_bytes=1000)
# The OC-12: 622 Mbps, 200 flows of 100 ms, 1500 bytes.
OC12 = LinkTraffic(rate_bps=622 * 10**6, flows=200, mean_rtt_ps=100 * MS, packet_bytes=1500)


@pytest.mark.parametrize(
    ("text", "traffic", "expected"),
    [
        ("6250 packets", None, {"packets": 6250}),
        ("1 packet", None, {"packets": 1}),
        ("1 MB", None, {"bytes": 1_000_000}),
        ("64 KiB", None, {"bytes": 65_536}),
        ("unlimited", None, "unlimited"),
        ("1 bdp", FIG1, {"packets": 6250}),
        ("bdp", FIG1, {"packets": 6250}),
        ("0.5 bdp", FIG1, {"packets": 3125}),
        ("300 ms", FIG1, {"packets": 3750}),
        ("25 ms", FIG1, {"packets": 312}),
        ("0.00001 bdp", FIG1, {"packets": 1}),
        ("1 bdp", OC12, {"packets": 5183}),
        ("stanford", OC12, {"packets": 367}),
        ("2 stanford", OC12, {"packets": 733}),
    ],
)
def test_limits(text: str, traffic: LinkTraffic | None, expected: Limit) -> None:
    assert limit(parse_buffer(text), traffic) == expected


# The buffers of the reference runs at 62.5 Mbps, 87 ms and 1500 bytes.
@pytest.mark.parametrize(
    ("share", "packets"), [(0.02, 9), (0.05, 23), (0.1, 45), (0.2, 91), (0.4, 181), (0.7, 317), (1, 453)]
)
def test_rounding_is_that_of_the_reference(share: float, packets: int) -> None:
    traffic = LinkTraffic(rate_bps=62_500_000, flows=10, mean_rtt_ps=87 * MS, packet_bytes=1500)
    assert limit(parse_buffer(f"{share} bdp"), traffic) == {"packets": packets}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("0 packets", "leaves no room"),
        ("0 B", "leaves no room"),
        ("0 bdp", "leaves no room"),
        ("-1 packets", "leaves no room"),
        ("1.5 packets", "is not a whole number"),
        ("100", "has no unit"),
        (100, "is not a text"),
        ("100 Mbps", "has a wrong unit"),
        ("1 bpd", "did you mean 'bdp'"),
        ("1e13 packets", "is too large"),
        ("1e16 B", "is too large"),
        ("1001 bdp", "is too large"),
        ("", "is not a number with a unit"),
    ],
)
def test_refused_buffers(value: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_buffer(value)
    assert message in str(caught.value)


def test_words_need_flows() -> None:
    with pytest.raises(InputError, match="no flow crosses"):
        limit(parse_buffer("1 bdp"), None)


def test_results_too_large_are_refused() -> None:
    traffic = LinkTraffic(rate_bps=10**14, flows=1, mean_rtt_ps=10**18, packet_bytes=1)
    with pytest.raises(InputError, match="too many packets"):
        limit(parse_buffer("1000 bdp"), traffic)
