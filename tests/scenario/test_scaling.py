"""Scaled-down twins: rates, flows and buffers divided, the rest as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bufferlab.errors import InputError
from bufferlab.plan import lower
from bufferlab.scenario import Scenario

EXAMPLE = Path(__file__).parents[2] / "examples" / "internet-exchange.toml"
GROUP = {"name": "a", "count": 20, "rtt": "40 ms", "start": "uniform(0 s, 1 s)", "access_rate": "50 Mbps"}


def scenario(link: dict[str, Any] | None = None, **group: Any) -> Scenario:
    given = {"rate": "100 Mbps", "delay": "1 ms", "buffer": "105 packets", **(link or {})}
    return Scenario.from_dict({"run": {"duration": "10 s"}, "bottleneck": given, "flows": [GROUP | group]})


def limit(of: Scenario) -> object:
    return lower(of)["links"][0]["discipline"]["limit"]


def test_rates_and_flows_are_divided_and_the_rest_stays() -> None:
    full, twin = scenario(), scenario().twin(10)
    assert [link["rate_bps"] for link in twin.links] == [10**7]
    assert [flow["count"] for flow in twin.flows] == [2]
    changed = {"rate": "10000000 bps", "buffer": "10 packets"}
    (link, flows), given = (twin.to_dict()[key] for key in ("bottleneck", "flows")), full.to_dict()
    assert link == given["bottleneck"] | changed  # type: ignore[operator]
    assert flows == [GROUP | {"count": 2}]
    assert twin.to_dict()["run"] == given["run"]
    assert full.twin(1) is full


@pytest.mark.parametrize(
    ("buffer", "full", "tenth"),
    [
        ("105 packets", {"packets": 105}, {"packets": 10}),
        ("3 packets", {"packets": 3}, {"packets": 1}),
        ("150 KB", {"bytes": 150_000}, {"bytes": 15_000}),
        ("24 ms", {"packets": 200}, {"packets": 20}),
        ("0.6 bdp", {"packets": 200}, {"packets": 20}),
        ("3 stanford", {"packets": 224}, {"packets": 71}),
        ("unlimited", "unlimited", "unlimited"),
    ],
)
def test_a_twin_has_its_share_of_the_buffer(buffer: str, full: object, tenth: object) -> None:
    given = scenario({"buffer": buffer}, segment="1460 B", header="40 B")
    assert limit(given) == full
    assert limit(given.twin(10)) == tenth


def test_other_sizes_in_the_link_are_divided_too() -> None:
    given = {"mark_above": "20 packets", "changes": [{"at": "5 s", "buffer": "50 packets"}]}
    twin = scenario(given).twin(10)
    assert twin.to_dict()["bottleneck"] == {
        "rate": "10000000 bps",
        "delay": "1 ms",
        "buffer": "10 packets",
        "mark_above": "2 packets",
        "changes": [{"at": "5 s", "buffer": "5 packets"}],
    }
    red = {"discipline": "red", "min_threshold": "30 packets", "max_threshold": "90 KB"}
    queue = scenario({"queue": red}).twin(10).to_dict()["bottleneck"]
    assert isinstance(queue, dict)
    assert queue["queue"] == red | {"min_threshold": "3 packets", "max_threshold": "9000 B"}


@pytest.mark.parametrize(
    ("given", "scaled"),
    [({"load": "20 Mbps"}, {"load": "2000000 bps"}), ({"interval": "5 ms"}, {"interval": "50000000000 ps"})],
)
def test_short_flows_come_more_rarely(given: dict[str, str], scaled: dict[str, str]) -> None:
    application = {"kind": "short-flows", "size": "30 KB"}
    twin = scenario(count=1, application=application | given).twin(10)
    assert twin.flows[0]["count"] == 1
    assert twin.to_dict()["flows"] == [GROUP | {"count": 1, "application": application | scaled}]


@pytest.mark.parametrize(
    ("link", "factor", "message"),
    [
        ({}, 0, "scale: 0 is too small"),
        ({}, 3, r"flows\[0\].count: 20 is not divided by 3"),
        ({"queue": "codel"}, 10, r"links\[0\].queue: 'codel' does not scale"),
    ],
)
def test_what_has_no_twin_is_refused(link: dict[str, str], factor: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        scenario(link).twin(factor)


def test_the_example_has_twins() -> None:
    full = Scenario.load(EXAMPLE)
    assert limit(full) == {"packets": 587}
    for factor in (10, 100):
        twin = lower(full.twin(factor))
        assert twin["links"][0]["rate_bps"] == 10**10 // factor
        assert len(twin["flows"]["group"]) == 10_000 // factor
