"""The heterogeneous-TCP document's figures 9 to 12: the pieces, and the quick runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from bufferlab.evidence import Reproduced, Request, find_reproductions
from bufferlab.evidence.heterogeneous.evaluation import (
    MAX_LOSS,
    ROUND_TRIPS_MS,
    bounds,
    evaluate,
    rule_packets,
)
from bufferlab.evidence.heterogeneous.hosts import (
    IN_STEP,
    JITTER,
    LINUX_HOSTS,
    NS2_HOSTS,
    RTT_SPREAD,
    bdp_packets,
    scenario,
)
from bufferlab.evidence.heterogeneous.ns2 import ns2_runs
from bufferlab.evidence.heterogeneous.settings import AS_PUBLISHED, CORRECTED, MIX
from bufferlab.plan import lower
from bufferlab.scenario import Scenario

QUICK = Request(quick=True, progress=False)


def reproduce(figure: int) -> Reproduced:
    """What comes out; figures 9 and 10 share their runs, so do 11 and 12."""
    (found,) = find_reproductions(f"heterogeneous/fig{figure}")
    return found.function(QUICK)


def rows(figure: int, start: str, hosts: str | None = None) -> list[dict[str, Any]]:
    """The comparison's rows whose statement starts so."""
    found = reproduce(figure).comparison.filter(pl.col("what").str.starts_with(start))
    return (found if hosts is None else found.filter(pl.col("hosts") == hosts)).to_dicts()


def test_the_third_bdp_has_both_readings() -> None:
    assert ROUND_TRIPS_MS == (28.0, 67.0, 90.0, 231.5)
    assert bdp_packets(ROUND_TRIPS_MS[3]) * 1500 == pytest.approx(18e6, rel=1e-3)


def test_buffers_are_those_that_ns2_had() -> None:
    for run in ns2_runs():
        assert rule_packets(run.rule, AS_PUBLISHED, run.rtt_ms) == run.limit_packets
    # the quantile of 0.99 and BIC's own growth function ask for more
    assert rule_packets("utilization", CORRECTED, 90) > rule_packets("utilization", AS_PUBLISHED, 90)


def test_ns2_has_both_rules_at_all_bdps_with_three_seeds() -> None:
    found = [(run.rule, run.rtt_ms, run.spread) for run in ns2_runs()]
    assert len(found) == 48
    assert {found.count(setting) for setting in found} == {3}


@pytest.mark.parametrize("hosts", [*LINUX_HOSTS, *NS2_HOSTS], ids=lambda hosts: hosts.name)
def test_hosts_are_198_flows_of_the_documents_shares(hosts: Any) -> None:
    plan = lower(Scenario.from_dict(scenario(hosts.groups(90.0), 89, 10, 5, 0.05)), 1)
    assert len(plan["flows"]["group"]) == sum(MIX.values()) == 198
    assert plan["links"][0]["rate_bps"] == 622_000_000


def test_linux_hosts_delay_acknowledgments_and_repair_as_linux() -> None:
    for group in IN_STEP.groups(28.0):
        assert (group["delayed_ack"], group["recovery"], group["rto_margin"]) == (2, "linux", "200 ms")
    assert {group["jitter"] for group in JITTER.groups(28.0)} == {"uniform(0 s, 1 ms)"}
    assert {group["rtt_spread"] for group in RTT_SPREAD.groups(28.0)} == {0.2}


def test_ns2_hosts_have_twenty_round_trip_times_around_the_mean() -> None:
    law = NS2_HOSTS[1].groups(100.0)[0]["rtt"]
    times = [float(word.removesuffix(" ms")) for word in law.removeprefix("choice(").rstrip(")").split(", ")]
    assert len(times) == 20
    assert (times[0], times[-1]) == pytest.approx((81.0, 119.0))
    assert sum(times) / 20 == pytest.approx(100.0)


def test_bounds_by_hand() -> None:
    # mu = 1100, delta = 50, z = 2: (1) asks for 1100; (10) for (100 + 1100) · 0.99 - 1000
    found = bounds({"mean_windows": 1100.0, "deviation": 50.0}, 1000.0, 2.0)
    assert found["mean_over_bound"] == pytest.approx(1.0)
    assert found["bound_10_packets"] == pytest.approx(1200 * (1 - MAX_LOSS) - 1000)


@pytest.mark.parametrize("figure", [9, 10, 11, 12])
def test_each_writes_figure_tables_comparison_and_notes(figure: int, tmp_path: Path) -> None:
    result = reproduce(figure)
    result.save(tmp_path, "bufferlab")
    written = {path.name for path in tmp_path.iterdir()}
    tables = {
        f"{name}.{kind}" for name in ("runs", "points", "windows", "ns2") for kind in ("csv", "parquet")
    }
    wanted = {f"fig{figure}.png", f"fig{figure}.svg", "comparison.csv", "notes.txt"} | tables
    assert wanted <= written
    assert all(result.comparison["why"])
    assert result.notes[-1].startswith("Quick")


def test_two_figures_share_their_runs() -> None:
    assert reproduce(9).tables["runs"] is reproduce(10).tables["runs"]
    assert reproduce(11).tables["runs"] is evaluate("both", QUICK).runs


def test_utilization_is_high_and_between_its_extremes() -> None:
    points = reproduce(9).tables["points"]
    assert ((points["utilization_low"] <= points["utilization"]) & (points["utilization"] <= 1)).all()
    assert (points["utilization"] <= points["utilization_high"]).all()
    in_step = points.filter(pl.col("hosts") == IN_STEP.name)
    assert in_step["utilization"].min() > 0.9  # type: ignore[operator]


def test_ours_is_near_ns2_with_its_settings() -> None:
    """At 28 ms six seconds are two hundred round trips: enough."""
    for figure in (9, 11):
        for hosts in NS2_HOSTS:
            (row,) = rows(figure, "BDP1 (28 ms): mean utilization", hosts.name)
            assert row["as_published"] == pytest.approx(row["ns2"], rel=0.03)
            assert row["difference_percent"] == pytest.approx((row["as_published"] / row["ns2"] - 1) * 100)
    for hosts in NS2_HOSTS:
        (row,) = rows(11, "BDP1 (28 ms): loss rate", hosts.name)
        assert row["as_published"] == pytest.approx(row["ns2"], rel=0.35)


def test_a_published_number_is_compared_with_the_lowest_of_three_bdps() -> None:
    result = reproduce(11)
    points = result.tables["points"].filter(
        pl.col("hosts") == JITTER.name, pl.col("variant") == AS_PUBLISHED.name
    )
    for name, left_out in (("BDP3 of 90 ms", 231.5), ("BDP3 of 18 MB", 90.0)):
        three = points.filter(pl.col("rtt_ms") != left_out)
        (row,) = rows(11, f"lowest mean utilization, {name}", JITTER.name)
        assert row["published"] == "0.9739"
        assert row["as_published"] == three["utilization"].min()
        (row,) = rows(11, f"lowest loss rate, {name}", JITTER.name)
        assert (row["published"], row["as_published"]) == ("0.005", three["loss"].min())


def test_the_larger_buffer_is_45_percent_more_and_helps() -> None:
    (row,) = rows(11, "buffer of (14)")
    assert row["as_published"] == pytest.approx(float(row["published"]), abs=0.5)
    small, large = (
        reproduce(figure)
        .tables["points"]
        .filter(pl.col("hosts") == RTT_SPREAD.name, pl.col("variant") == AS_PUBLISHED.name)
        for figure in (9, 11)
    )
    assert (large["utilization"] > small["utilization"]).all()


def test_windows_are_neither_independent_nor_as_regular_as_table_iii() -> None:
    deviations = rows(10, "BDP2 (67 ms): delta/mu of W, against (6)")
    assert [float(row["published"]) for row in deviations] == pytest.approx([0.0091] * 3, abs=5e-5)
    assert len(deviations) == 3
    assert all(row["as_published"] > 2 * float(row["published"]) for row in deviations)
    for row in rows(10, "BIC: a of one flow"):
        assert row["published"] == "0.0241"
        assert row["as_published"] > 10 * 0.0241


def test_the_loss_bound_fails_where_seven_packets_are_a_window() -> None:
    at_bdp1 = rows(11, "BDP1 (28 ms): loss rate")
    assert all(row["as_published"] > MAX_LOSS for row in at_bdp1)


def test_the_margin_of_figure_12_is_buffer_minus_bound() -> None:
    result = reproduce(12)
    point = result.tables["points"].row(0, named=True)
    row = result.comparison.row(0, named=True)
    margin = (point["buffer_packets"] - point["bound_10_packets"]) / bdp_packets(28) * 100
    assert row["what"].startswith("BDP1 (28 ms)")
    assert row["published"] == ">0"
    assert row["as_published"] == pytest.approx(margin)
    assert row["difference_percent"] is None
