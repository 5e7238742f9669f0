"""Links that vary: what they are in a plan, what is refused, and what is sized by their mean rate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import bufferlab
from bufferlab.errors import InputError
from bufferlab.scenario import Scenario
from bufferlab.studies.traffic import demand_of
from bufferlab.theory.rules import get_rule

S = 10**12
MS = 10**9


def scenario(link: dict[str, Any], **flow: Any) -> Scenario:
    bottleneck = {"rate": "10 Mbps", "delay": "10 ms", "buffer": "100 ms"} | link
    return Scenario.from_dict(
        {"run": {"duration": "60 s"}, "bottleneck": bottleneck, "flows": [{"rtt": "100 ms"} | flow]}
    )


def plan(link: dict[str, Any], seed: int = 1) -> dict[str, Any]:
    planned: dict[str, Any] = json.loads(scenario(link).seeded(seed).plan_json())["links"][0]
    return planned


def test_a_constant_link_has_nothing_of_it() -> None:
    assert not {"capacity", "varying_delay", "loss_bursts"} & plan({}).keys()


def test_a_trace_beside_the_scenario_is_read_and_travels_with_it(tmp_path: Path) -> None:
    (tmp_path / "lte.down").write_text("1\n2\n2\n10\n", encoding="utf-8")
    link = {"rate": "100 Mbps", "buffer": "100 ms"}
    text = scenario(link).to_toml().replace("100 Mbps", "mahimahi(lte.down)")
    (tmp_path / "lte.toml").write_text(text, encoding="utf-8")
    loaded = Scenario.load(tmp_path / "lte.toml")
    assert loaded.files == {"lte.down": "1\n2\n2\n10\n"}
    planned = json.loads(loaded.seeded(1).plan_json())["links"][0]
    capacity = {"kind": "opportunities", "at_ms": [1, 2, 2, 10], "bytes": 1504, "repeat_ms": 10}
    assert planned["capacity"] == capacity
    # four opportunities of 1504 bytes each 10 ms, but for the one at the run's end
    assert planned["rate_bps"] == round((4 * 6000 - 1) * 1504 * 8 / 60)


def test_mistakes_in_a_trace_name_its_line(tmp_path: Path) -> None:
    (tmp_path / "lte.down").write_text("1\nx\n", encoding="utf-8")
    (tmp_path / "lte.toml").write_text('bottleneck = { rate = "mahimahi(lte.down)", buffer = "1 MB" }\n')
    expected = r"lte\.down: 'bottleneck\.rate\.line 2': 'x' is not a whole number of milliseconds"
    with pytest.raises(InputError, match=expected):
        Scenario.load(tmp_path / "lte.toml")


def test_changes_of_rate_and_delay() -> None:
    changes = [
        {"at": "20 s", "rate": "0 bps"},
        {"at": "30 s", "rate": "40 Mbps", "delay": "4 ms", "buffer": "50 packets"},
    ]
    planned = plan({"changes": changes})
    assert planned["capacity"] == {
        "kind": "rates",
        "pieces": [
            {"at_ps": 0, "rate_bps": 10_000_000},
            {"at_ps": 20 * S, "rate_bps": 0},
            {"at_ps": 30 * S, "rate_bps": 40_000_000},
        ],
        "repeat_ps": 0,
    }
    # a third of the time 10 Mbps, half of it 40 Mbps
    assert planned["rate_bps"] == 23_333_333
    assert planned["delay_ps"] == 4 * MS
    assert planned["varying_delay"]["delays"] == [
        {"at_ps": 0, "more_ps": 6 * MS},
        {"at_ps": 30 * S, "more_ps": 0},
    ]
    assert [change["at_ps"] for change in planned["changes"]] == [30 * S]


def test_a_starlink_draws_a_delay_every_15_s() -> None:
    planned = plan({"handover": "starlink"})
    delays = planned["varying_delay"]["delays"]
    assert [each["at_ps"] // S for each in delays] == [0, 12, 27, 42, 57]
    assert min(each["more_ps"] for each in delays) == 0
    assert max(each["more_ps"] for each in delays) <= 15 * MS
    assert 10 * MS <= planned["delay_ps"] <= 25 * MS
    outages = [each["at_ps"] / S for each in planned["capacity"]["pieces"] if each["rate_bps"] == 0]
    assert outages == [12, 27, 42, 57]
    assert planned["rate_bps"] == round(10e6 * (1 - 4 * 0.14 / 60))
    assert plan({"handover": "starlink"}, seed=2)["varying_delay"] != planned["varying_delay"]
    assert plan({"handover": "starlink"}) == planned


def test_losses_in_bursts_are_those_of_tc() -> None:
    found = plan({"loss_bursts": "gemodel(0.01, 0.25)"})["loss_bursts"]
    assert found == {"begin_ppb": 10**7, "end_ppb": 25 * 10**7, "bad_ppb": 10**9, "good_ppb": 0}


@pytest.mark.parametrize(
    ("link", "message"),
    [
        ({"rate": "mahimahi(a.down)"}, r"a\.down"),
        (
            {"rate": "markov(1 Mbps for 1 s, 2 Mbps for 1 s)", "changes": [{"at": "1 s", "rate": "1 Mbps"}]},
            r"bottleneck\.changes: changes a rate that comes of a trace or at random",
        ),
        (
            {"rate": "markov(1 Mbps for 1 s, 2 Mbps for 1 s)", "handover": "starlink"},
            r"bottleneck\.handover: changes a rate that comes of a trace or at random",
        ),
        ({"changes": [{"at": "1 s"}]}, r"bottleneck\.changes\[0\]: changes nothing"),
        (
            {"handover": "starlink", "changes": [{"at": "1 s", "delay": "1 ms"}]},
            r"bottleneck\.handover: 'starlink' has delays beside those",
        ),
        ({"rate": "0 bps"}, r"bottleneck\.rate: '0 bps' is too small"),
        ({"jitter": "normal(mean=1 ms, sd=1 ms)"}, r"bottleneck\.jitter"),
    ],
)
def test_what_does_not_go_together(link: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        scenario(link)


def test_a_buffer_in_time_is_one_of_the_mean_rate() -> None:
    steps = {"rate": "steps(5 Mbps for 10 s, 35 Mbps for 10 s)"}
    for buffer in ("100 ms", "0.5 bdp", "stanford"):
        varying, constant = plan(steps | {"buffer": buffer}), plan({"rate": "20 Mbps", "buffer": buffer})
        assert varying["rate_bps"] == 20_000_000
        assert varying["discipline"] == constant["discipline"]


def test_a_twin_of_a_link_that_varies_is_refused() -> None:
    with pytest.raises(InputError, match=r"links\[0\]\.rate: .* does not scale; accepted: a constant rate"):
        scenario({"rate": "steps(5 Mbps for 10 s, 35 Mbps for 10 s)"}, count=10).twin(2)


def test_utilization_is_a_share_of_what_was_offered() -> None:
    link = {"rate": "steps(10 Mbps for 2 s, 0 bps for 2 s)", "buffer": "100 packets"}
    run = bufferlab.run(scenario(link, count=4))
    row = next(each for each in run.queues.iter_rows(named=True) if each["group"] == "all")
    assert row["offered_bps"] == pytest.approx(5e6, rel=1e-9)
    assert row["throughput_bps"] == pytest.approx(row["utilization"] * row["offered_bps"])
    assert 0.6 < row["utilization"] <= 1


def test_the_published_rules_take_the_mean_rate() -> None:
    steps = scenario({"rate": "steps(5 Mbps for 10 s, 35 Mbps for 10 s)"}, count=16)
    demand = demand_of(steps.seeded(), 0)
    assert demand.rate_bps == 20e6
    assert get_rule("bdp").buffer_bytes(demand)[()] == pytest.approx(20e6 / 8 * 0.1)
