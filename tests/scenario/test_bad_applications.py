"""Applications that cannot work: one line each, before anything runs."""

from __future__ import annotations

from typing import Any

import pytest

from bufferlab.errors import InputError
from bufferlab.scenario import Scenario


def with_application(application: dict[str, Any], **flow: Any) -> Scenario:
    return Scenario.from_dict(
        {
            "run": {"duration": "5 s"},
            "bottleneck": {"rate": "10 Mbps", "buffer": "40 packets"},
            "flows": [{"name": "f", "rtt": "20 ms", "application": application, **flow}],
        }
    )


@pytest.mark.parametrize(
    ("application", "key", "says"),
    [
        ({"kind": "transfer", "bytes": "0 B"}, "bytes", "'0 B' is too small"),
        ({"kind": "web", "size": "0 B", "every": "1 s"}, "size", "'0 B' is too small"),
        ({"kind": "web", "size": "1 KB", "every": "0 s"}, "every", "'0 s' is too small"),
        ({"kind": "on-off", "size": "0 B", "off": "1 s"}, "size", "'0 B' is too small"),
        ({"kind": "on-off", "on": "0 s", "off": "1 s"}, "on", "'0 s' is too small"),
        ({"kind": "on-off", "size": "1 KB", "off": "0 s"}, "off", "'0 s' is too small"),
        ({"kind": "short-flows", "size": "0 B", "interval": "1 s"}, "size", "'0 B' is too small"),
        ({"kind": "short-flows", "size": "1 KB", "interval": "0 s"}, "interval", "'0 s' is too small"),
        ({"kind": "ping", "interval": "0 s"}, "interval", "'0 s' is too small"),
        ({"kind": "ping", "interval": "1 s", "packet": "0 B"}, "packet", "'0 B' is too small"),
        ({"kind": "udp", "packet": "0 B", "interval": "1 s"}, "packet", "'0 B' is too small"),
        ({"kind": "udp", "packet": "1 KB", "interval": "0 s"}, "interval", "'0 s' is too small"),
        ({"kind": "udp", "packet": "1 KB", "rate": "0 bps"}, "rate", "'0 bps' is too small"),
    ],
)
def test_nothing_is_no_amount(application: dict[str, Any], key: str, says: str) -> None:
    with pytest.raises(InputError) as caught:
        with_application(application)
    assert str(caught.value).startswith(f"flows[0].application.{key}: {says}; accepted: a ")


@pytest.mark.parametrize(
    "application",
    [
        {"kind": "ping", "interval": "1 ns"},
        {"kind": "udp", "packet": "1 KB", "interval": "1 ns", "record": True},
    ],
)
def test_more_rows_than_memory_holds_are_refused(application: dict[str, Any]) -> None:
    with pytest.raises(InputError) as caught:
        with_application(application)
    assert str(caught.value) == (
        "flows[0].application: '1 ns' makes 5000000000 rows of exchanges; "
        "accepted: intervals that make at most 50000000 in all groups together"
    )


def test_an_echo_of_nobody() -> None:
    with pytest.raises(
        InputError, match="accepted: a bulk or transfer group that no other returns, of which"
    ):
        with_application({"kind": "echo", "of": "f"})


@pytest.mark.parametrize(("window", "segment"), [("100 B", "1448 B"), ("1447 B", "1448 B"), ("8 KB", "9 KB")])
def test_a_window_below_a_segment(window: str, segment: str) -> None:
    with pytest.raises(InputError, match="is less than a segment, so nothing could be sent"):
        with_application({"kind": "transfer", "bytes": "1 MB"}, window=window, segment=segment)


def test_a_window_of_a_segment_is_enough() -> None:
    with_application({"kind": "transfer", "bytes": "1 MB"}, window="1448 B", segment="1448 B")
