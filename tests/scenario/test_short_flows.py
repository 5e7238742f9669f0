"""Short flows: what is drawn, what is refused, what the plan says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bufferlab.errors import InputError
from bufferlab.plan import NEVER_PS, lower
from bufferlab.scenario import Scenario

from .conftest import Make

MS = 10**9
S = 10**12
PAGES = {"kind": "short-flows", "size": "30 KB", "interval": "10 ms"}


def short(make: Make, application: dict[str, object] | None = None, **flow: object) -> Scenario:
    """The dumbbell with its group "short" made one of short flows."""
    given = {f"flows.short.{key}": value for key, value in flow.items()}
    return make({"flows.short.application": PAGES | (application or {}), **given})


def test_each_arrival_is_a_flow_with_a_size_of_its_own(make: Make) -> None:
    flows = lower(short(make, {"size": "pareto(mean=30 KB, shape=1.5)"}))["flows"]
    of_pages = np.array(flows["group"]) == 0
    starts, sizes = np.array(flows["start_ps"])[of_pages], np.array(flows["transfer_bytes"])[of_pages]
    # 100 s at 100 a second: the standard deviation of a Poisson count is 100
    assert of_pages.sum() == pytest.approx(10_000, abs=400)
    assert (np.diff(starts) >= 0).all()
    assert starts.min() >= 0
    assert starts.max() < 100 * S
    gaps = np.diff(starts) / (10 * MS)
    assert gaps.std() == pytest.approx(1, abs=0.05)
    assert sizes.min() == pytest.approx(10_000, rel=0.01)
    # P(X > x) = (10 KB / x)^1.5: an eighth exceeds four times the least
    assert (sizes > 40_000).mean() == pytest.approx(1 / 8, abs=0.015)
    assert flows["transfer_bytes"][-3:] == [NEVER_PS] * 3
    lengths = {len(column) for name, column in flows.items() if name != "echo_of"}
    assert lengths == {of_pages.sum() + 3}


def test_constant_arrivals_begin_at_the_start_and_end_at_the_stop(make: Make) -> None:
    flows = lower(short(make, {"arrivals": "constant"}, start="1 s", stop="1.05 s"))["flows"]
    assert flows["start_ps"][:-3] == [1 * S + k * 10 * MS for k in range(5)]
    assert flows["stop_ps"] == [NEVER_PS] * 8


def test_a_load_is_an_interval(make: Make) -> None:
    by_load = {"kind": "short-flows", "size": "choice(10 KB, 50 KB)", "load": "24 Mbps"}
    scenario = make({"flows.short.application": by_load})
    application = scenario.flows[0]["application"]
    assert application["kind"] == "short-flows"
    assert application["interval_ps"] == 10 * MS


def test_other_groups_draw_what_they_drew(make: Make) -> None:
    keys: dict[str, object] = {"flows.long.rtt": "uniform(10 ms, 1 s)"}
    alone = lower(make(keys))["flows"]["return_delay_ps"][-3:]
    beside = lower(make({**keys, "flows.short.application": PAGES}))["flows"]["return_delay_ps"][-3:]
    assert alone == beside


def test_more_load_does_not_change_the_sizes(make: Make) -> None:
    law: dict[str, object] = {"size": "lognormal(median=20 KB, sigma=1)"}
    few = lower(short(make, {**law, "interval": "20 ms"}))["flows"]["transfer_bytes"]
    many = lower(short(make, law))["flows"]["transfer_bytes"]
    assert few[:100] == many[:100]


def test_sizes_may_come_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "sizes.csv").write_text("size_KB,weight\n1,3\n1000,1\n")
    table = {
        "run": {"duration": "10 s"},
        "bottleneck": {"rate": "10 Mbps", "buffer": "1 bdp"},
        "flows": [{"rtt": "10 ms", "application": PAGES | {"size": "empirical(sizes.csv)"}}],
    }
    plan = lower(Scenario.from_dict(table, file=str(tmp_path / "pages.toml")))
    assert set(plan["flows"]["transfer_bytes"]) == {1000, 10**6}


def test_buffers_count_short_flows_once(make: Make) -> None:
    keys = {"links.west.buffer": "stanford", "flows.short.rtt": "10 ms", "flows.long.rtt": "10 ms"}
    plain = lower(make(keys))["links"][0]["discipline"]["limit"]
    assert lower(make({**keys, "flows.short.application": PAGES}))["links"][0]["discipline"]["limit"] == plain


def test_time_series_leave_short_flows_out_unless_named(make: Make) -> None:
    keys = {"probes.interval": "1 s", "flows.short.application": PAGES}
    assert sum(lower(make(keys))["flows"]["sample"]) == 3
    named = {**keys, "probes.flows": ["short"], "probes.per_group": 7}
    assert sum(lower(make(named))["flows"]["sample"]) == 7


@pytest.mark.parametrize(
    ("application", "flow", "message"),
    [
        ({"size": "0 B"}, {}, "flows[0].application.size: '0 B' is too small"),
        ({"size": "10 ms"}, {}, "flows[0].application.size: '10 ms' has a wrong unit"),
        ({"size": "big"}, {}, "flows[0].application.size: 'big' is not a size or a distribution"),
        ({"size": "pareto(mean=1 KB, shape=1)"}, {}, "has a shape out of bounds; accepted: a shape above 1"),
        ({"size": "pareto(mean=1 KB, shape=nan)"}, {}, "has a shape out of bounds"),
        ({"interval": "0 s"}, {}, "flows[0].application.interval: '0 s' is too small"),
        ({"interval": None}, {}, "flows[0].application: needs either interval or load"),
        ({"load": "1 Mbps"}, {}, "flows[0].application: needs either interval or load"),
        (
            {"interval": None, "load": "1 Mbps", "size": "exponential(mean=1 KB, max=9 KB)"},
            {},
            "flows[0].application.load: '1 Mbps' needs the mean of the sizes",
        ),
        (
            {"interval": "1 us"},
            {},
            "flows[0].application: 'about 100000000 short flows' makes too many flows",
        ),
        ({"arrivals": "bursts"}, {}, "flows[0].application.arrivals: 'bursts' is not a known word"),
        ({"sizes": "1 KB"}, {}, "flows[0].application.sizes: is not a known key (did you mean 'size'?)"),
        ({}, {"count": 2}, "flows[0].count: 2 means nothing to short-flows"),
        ({}, {"rtt_spread": 0.1}, "flows[0].rtt_spread: 0.1 means nothing to short-flows"),
        ({"interval": "20 h"}, {}, "flows[0].application: '72000 s' brings no flow before the run's end"),
        ({}, {"start": "100 s"}, "flows[0].start: '100 s' starts no flow before the run's end"),
        ({}, {"rtt": "uniform(0 s, 1 ms)"}, "flows[0].rtt: 'uniform(0 s, 1 ms), drawn as"),
    ],
)
def test_refused(make: Make, application: dict[str, object], flow: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        lower(short(make, application, **flow))
    assert message in str(caught.value)
    assert caught.value.accepted
