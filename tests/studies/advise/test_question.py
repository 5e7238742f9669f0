"""Where buffers are searched: what a link needs, within what the platform takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from bufferlab.errors import InputError
from bufferlab.experiment.simulation import prepare
from bufferlab.scenario import Scenario
from bufferlab.studies.advise.question import Question, prepared
from bufferlab.studies.size import rules


def base(rate: str = "1 Gbps", rtt: str = "100 ms") -> Scenario:
    link = {"rate": rate, "delay": "1 ms", "buffer": "20 packets"}
    return prepare({"run": {"duration": "60 s"}, "bottleneck": link, "flows": [{"name": "a", "rtt": rtt}]})


def mixed(rtts: dict[str, str], applications: dict[str, dict[str, str]]) -> Scenario:
    link = {"rate": "200 Mbps", "delay": "1 ms", "buffer": "1 bdp"}
    flows = [
        {"name": name, "rtt": rtt, "application": applications.get(name, {"kind": "bulk"})}
        for name, rtt in rtts.items()
    ]
    return prepare({"run": {"duration": "2 s"}, "bottleneck": link, "flows": flows})


CALL = {"kind": "udp", "packet": "200 B", "interval": "20 ms"}
FETCH = {"kind": "transfer", "bytes": "1 MB"}


@pytest.mark.parametrize(
    ("rtts", "applications", "mean_ms"),
    [
        ({"a": "20 ms", "b": "40 ms", "call": "90 ms"}, {"call": CALL}, 30.0),
        ({"a": "20 ms", "fetch": "90 ms", "call": "70 ms"}, {"fetch": FETCH, "call": CALL}, 20.0),
        ({"fetch": "90 ms", "call": "70 ms"}, {"fetch": FETCH, "call": CALL}, 90.0),
        ({"call": "70 ms"}, {"call": CALL}, 70.0),
    ],
)
def test_one_round_trip_time_is_of_the_flows_that_fill_the_link(
    rtts: dict[str, str], applications: dict[str, dict[str, str]], mean_ms: float
) -> None:
    scenario = mixed(rtts, applications)
    question = Question.of(scenario, 0, ())
    assert question.site.rtt_ms == pytest.approx(mean_ms)
    if len(rtts) > 1:
        demand = rules(scenario).demand
        assert demand.rtt_s * 1e3 == question.site.rtt_ms
        assert demand.bdp_packets == pytest.approx(question.site.bdp_packets)
        assert question.site.rules["bdp"] == round(question.site.bdp_packets)


def searched(
    scenario: Scenario, *, bounds: str | None = None, platform: str | None = None
) -> list[int | None]:
    found = Question.of(scenario, 0, (), bounds=bounds, platform=platform)
    assert found.site.largest == found.upper
    return [found.lower, found.upper, found.most]


def test_without_a_platform_it_is_two_bdps_and_up_to_16() -> None:
    assert searched(base()) == [1, 16667, 8 * 16667]
    assert searched(base(), bounds="5..70000 packets") == [5, 70000, None]
    assert Question.of(base(), 0, ()).site.allowed is None


def test_the_search_ends_where_the_platform_takes_no_more() -> None:
    assert searched(base(), platform="junos") == [1, 16666, 16666]
    assert searched(base(rtt="50 ms"), platform="junos") == [1, 8333, 16666]
    assert searched(base(), platform="ios-xr") == [6, 16667, 8 * 16667]
    assert searched(base(), platform="nx-os") == [1, 16667, 8 * 16667]
    allowed = Question.of(base(), 0, (), platform="junos").site.allowed
    assert allowed is not None and (allowed.platform, allowed.most) == ("junos", 16666)


def test_bounds_that_are_asked_for_end_there_too() -> None:
    assert searched(base(), bounds="5..70000 packets", platform="junos") == [5, 16666, None]
    with pytest.raises(InputError) as error:
        searched(base(), bounds="17000..70000 packets", platform="junos")
    assert str(error.value).startswith(
        "bounds: '17000..70000 packets' is not what Juniper Junos takes on this link; accepted: within "
        "1..16666 packets (Junos OS"
    )


def test_a_slow_link_is_searched_up_to_the_little_that_there_is() -> None:
    assert searched(base("1 Mbps"), platform="junos") == [1, 16, 16]


@pytest.mark.parametrize(("platform", "least"), [("linux", 1), ("ios-xe", 1), ("nx-os", 8), ("junos", 8)])
def test_a_full_packet_could_wait_where_bytes_count(platform: str, least: int) -> None:
    ping = {
        "name": "a",
        "rtt": "20 ms",
        "application": {"kind": "ping", "interval": "1 s", "packet": "200 B"},
    }
    link = {"rate": "2 Mbps", "delay": "1 ms", "buffer": "20 packets"}
    scenario = prepare({"run": {"duration": "2 s"}, "bottleneck": link, "flows": [ping]})
    question = Question.of(scenario, 0, (), platform=platform)
    assert question.lower == least
    assert question.site.counted_bytes == (200 if least > 1 else None)


def test_a_file_may_leave_open_the_buffer_that_is_asked_for(tmp_path: Path) -> None:
    flows = '[[flows]]\nname = "a"\nrtt = "20 ms"\n'
    link = 'rate = "2 Mbps"\ndelay = "1 ms"\n'
    path = tmp_path / "link.toml"
    path.write_text(f'[run]\nduration = "2 s"\n[bottleneck]\n{link}{flows}')
    assert Question.of(prepared(path, None), 0, ()).upper == 64
    with pytest.raises(InputError, match="rate"):
        prepared(path, {"bottleneck.rate": "fast"})
    several = "".join(f'[[links]]\nname = "{name}"\n{link}' for name in "xy")
    path.write_text(f'[run]\nduration = "2 s"\n{several}{flows}path = ["x", "y"]\n')
    with pytest.raises(InputError, match="buffer"):  # which of them is not asked about stays as it is
        prepared(path, None)


def test_where_no_flow_fills_the_link_bursts_bound_the_search_and_not_the_round_trip() -> None:
    """A page is a burst: what of it waits has nothing to do with a bandwidth-delay product of 17 packets."""
    link = {"rate": "5 Mbps", "delay": "1 ms", "buffer": "20 packets"}
    page = {"kind": "web", "size": "177669 B", "every": "2 s"}
    flows = [{"name": "page", "count": 3, "rtt": "40 ms", "application": page}]
    pages = prepare({"run": {"duration": "2 s"}, "bottleneck": link, "flows": flows})
    assert Question.of(pages, 0, ()).upper == 1000
    assert Question.of(base("5 Mbps", "40 ms"), 0, ()).upper == 64


SHORT = {"kind": "short-flows", "size": "pareto(mean=30 KB, shape=1.2)", "interval": "100 ms"}


@pytest.mark.parametrize(
    ("rtts", "applications", "range_ms"),
    [
        ({"a": "20 ms", "b": "40 ms", "call": "90 ms"}, {"call": CALL}, (20.0, 40.0)),
        ({"a": "uniform(20 ms, 40 ms)"}, {}, None),
        ({"a": "30 ms"}, {"a": SHORT}, (30.0, 30.0)),  # seeds draw other numbers of them
    ],
)
def test_between_which_round_trips_flows_are_is_known_where_seeds_draw_none(
    rtts: dict[str, str], applications: dict[str, dict[str, str]], range_ms: tuple[float, float] | None
) -> None:
    found = Question.of(mixed(rtts, applications), 0, ()).site.rtts_ms
    assert found == (None if range_ms is None else pytest.approx(range_ms))


def test_short_flows_count_for_one_in_the_mean_round_trip_as_in_the_words_of_scenarios() -> None:
    """Each that came counted, so that 300 of 10 ms beside four of 60 made a mean of 10.6."""
    link = {"rate": "20 Mbps", "delay": "1 ms", "buffer": "1 bdp"}
    flows = [{"count": 4, "rtt": "60 ms"}, {"rtt": "10 ms", "application": SHORT}]
    made = prepare({"run": {"duration": "30 s"}, "bottleneck": link, "flows": flows})
    site = Question.of(made, 0, ()).site
    assert site.rtt_ms == pytest.approx(50.0) and site.rtts_ms == pytest.approx((10.0, 60.0))
    assert site.bdp_packets == pytest.approx(20e6 * 0.05 / 8 / 1500, abs=1)
    assert site.rules["stanford"] == pytest.approx(site.rules["bdp"] / 5**0.5, abs=1)
