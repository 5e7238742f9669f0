"""Flows that return what others bring."""

from __future__ import annotations

from typing import Any

import pytest

from bufferlab import InputError, Scenario, run
from bufferlab.plan import lower


def there_and_back(**changes: object) -> Scenario:
    """144,800 bytes over a link of 12 Mbps, a segment a millisecond, and back over one of 120 Mbps."""
    table: dict[str, Any] = {
        "run": {"duration": "10 s", "warmup": "0 s"},
        "links": [
            {"name": "there", "rate": "12 Mbps", "buffer": "200 packets"},
            {"name": "back", "rate": "120 Mbps", "buffer": "200 packets"},
        ],
        "flows": [
            {
                "name": "out", "rtt": "100 ms", "path": ["there"], "start": "1 s",
                "application": {"kind": "transfer", "bytes": "144800 B"},
            },
            {"name": "home", "rtt": "100 ms", "path": ["back"], "application": {"kind": "echo", "of": "out"}},
        ],
    }  # fmt: skip
    return Scenario.from_dict(table).with_overrides(dict(changes))


def test_what_comes_is_returned_as_it_comes() -> None:
    out, home = run(there_and_back())[0].flows.iter_rows(named=True)
    assert (out["whole_delivered_bytes"], home["whole_delivered_bytes"]) == (144_800, 144_800)
    assert home["start_s"] == 1.0
    # the last segment comes back a trip later, or as much later as the window back opens more slowly
    after_s = home["completion_s"] - out["completion_s"]
    assert 0.05 <= after_s < 0.15


def test_an_endless_echo_goes_at_the_pace_of_what_it_returns() -> None:
    out, home = run(there_and_back(**{"flows.out.application": "bulk"}))[0].flows.iter_rows(named=True)
    assert home["whole_delivered_bytes"] == pytest.approx(out["whole_delivered_bytes"], rel=0.05)
    assert home["whole_delivered_bytes"] <= out["whole_delivered_bytes"]


def test_without_data_nothing_is_returned() -> None:
    home = run(there_and_back(**{"flows.out.start": "9.99 s"}))[0].flows.row(1, named=True)
    assert (home["whole_sent_packets"], home["completion_s"]) == (0, None)


def test_the_plan_says_whose_data() -> None:
    flows = lower(there_and_back(**{"flows.out.count": 2, "flows.home.count": 2}))["flows"]
    assert flows["echo_of"] == [2**32 - 1, 2**32 - 1, 0, 1]
    assert flows["start_ps"] == [10**12] * 4


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (
            "flows.home.application.of",
            "home",
            "--set: flows.home.application.of: 'home' names no group to return",
        ),
        (
            "flows.home.application.of",
            "nobody",
            "--set: flows.home.application.of: 'nobody' names no group to return",
        ),
        ("flows.out.count", 2, "flows[1].count: 1 does not fit; accepted: as many flows as 'out' has, 2"),
        ("flows.out.segment", "1000 B", "flows[1].segment: '1.448 KB' does not fit; accepted: that of 'out'"),
        ("flows.home.start", "1 s", "--set: flows.home.start: '1 s' means nothing to an echo"),
        ("flows.home.application", {"kind": "echo"}, "--set: flows.home.application.of: is required"),
    ],
)
def test_refused(path: str, value: object, message: str) -> None:
    with pytest.raises(InputError) as caught:
        there_and_back(**{path: value})
    assert message in str(caught.value)
