"""SplitBuff's table I, three sub-buffers and heavy tail: the pieces, and the quick runs."""

from __future__ import annotations

import polars as pl
import pytest

from bufferlab.evidence import Reproduced, reproduce
from bufferlab.evidence.splitbuff.bimodal import COLUMNS, TABLE_I, THREE, bimodal_scenario, compare
from bufferlab.evidence.splitbuff.heavytail import QUEUES, heavytail_scenario
from bufferlab.scenario import Scenario


def value(frame: pl.DataFrame, column: str, **keys: object) -> float:
    """The one value of a column in the row with these keys."""
    found = frame.filter(*(pl.col(name) == wanted for name, wanted in keys.items()))
    assert found.height == 1
    return float(found[column][0])


def test_published_numbers_stand_for_the_mean_of_both_delays() -> None:
    numbers = {number.what: number.value for number in TABLE_I}
    delays = [numbers[f"SplitBuff-2: delay, sub-buffer {each}"] for each in (1, 2)]
    assert sum(delays) / 2 == pytest.approx(numbers["SplitBuff-2: mean delay"], abs=0.1)
    # 100 flows fill the link with payload: 1000 bytes of 1040
    for queue in ("BDP rule", "SplitBuff-2"):
        shares = [numbers[f"{queue}: throughput of type {each}"] for each in (1, 2)]
        assert sum(shares) / 2 * 100 == pytest.approx(1000 / 1040, rel=0.005)


def test_the_comparison_has_each_number_and_setting() -> None:
    row = dict.fromkeys(COLUMNS, 0.012) | {f"{name}_ci95": 0.0 for name in COLUMNS}
    points = pl.DataFrame(
        [{"queue": "bdp", "modes_ms": "60/180", "sigma": sigma} | row for sigma in (0.2, 0.5)]
    )
    table = compare(points, TABLE_I)
    assert table.height == 2 * 3  # three numbers of the BDP rule
    assert table["difference_percent"].to_list()[:2] == pytest.approx([0, 0])
    assert table["difference_percent"].to_list()[2] == pytest.approx((0.012 / 0.0072 - 1) * 100)
    assert compare(points, THREE).is_empty()


def test_scenarios_draw_from_both_modes() -> None:
    loaded = Scenario.from_dict(bimodal_scenario("splitbuff-3", (60, 180), 0.2))
    assert [group.count for group in loaded.flows] == [50, 50]
    assert loaded.links[0].queue.sub_buffers == 3  # type: ignore[union-attr]
    assert loaded.run.duration_ps == 500 * 10**12
    assert Scenario.from_dict(bimodal_scenario("bdp", (60, 180), 0.2)).links[0].queue.discipline == "fifo"


@pytest.mark.parametrize("title", QUEUES)
def test_heavy_tailed_scenarios_have_one_group(title: str) -> None:
    loaded = Scenario.from_dict(heavytail_scenario(title))
    assert [group.count for group in loaded.flows] == [100]


@pytest.fixture(scope="module")
def table1() -> Reproduced:
    return reproduce("splitbuff/table1", quick=True, progress=False)


def test_narrow_modes_of_60_and_180_ms_are_the_published_table(table1: Reproduced) -> None:
    point = {"modes_ms": "60/180", "sigma": 0.2}
    for number in TABLE_I:
        ours = value(table1.comparison, "ours", what=number.what, **point)
        assert ours == pytest.approx(number.value, rel=0.2), number.what


def test_a_mode_of_130_ms_is_not(table1: Reproduced) -> None:
    delay = value(table1.comparison, "ours", what="BDP rule: mean delay", modes_ms="60/130", sigma=0.2)
    assert delay < 95  # ms of buffer; published are 108.7


def test_sub_buffers_narrow_the_gap_and_the_short_flows_wait(table1: Reproduced) -> None:
    points = table1.tables["points"].filter(pl.col("modes_ms") == "60/180", pl.col("sigma") == 0.2)
    assert value(points, "long_over_short", queue="bdp") < 0.75
    assert value(points, "long_over_short", queue="splitbuff-2") == pytest.approx(1, abs=0.1)
    assert value(points, "delay_short_ms", queue="splitbuff-2") < 0.7 * value(
        points, "delay_short_ms", queue="bdp"
    )


def test_three_sub_buffers_favor_the_mode_that_has_two() -> None:
    result = reproduce("splitbuff/three_buffers", quick=True, progress=False)
    points = result.tables["points"].filter(pl.col("modes_ms") == "60/180", pl.col("sigma") == 0.2)
    assert value(points, "long_over_short", queue="splitbuff-3") > 1.3
    assert set(result.comparison["what"]) == {number.what for number in THREE}


def test_the_heavy_tail_has_all_queues() -> None:
    result = reproduce("splitbuff/heavytail", quick=True, progress=False)
    points = result.tables["points"]
    assert points["queue"].to_list() == list(QUEUES)
    assert value(points, "delay_ms", queue="Stanford model") < 0.2 * value(
        points, "delay_ms", queue="BDP rule"
    )
    assert result.tables["flows"].height == 100 * len(QUEUES)
    propagation = result.tables["flows"]["propagation_ms"]
    assert 10 <= propagation.min() <= propagation.max() <= 1001  # type: ignore[operator]
    assert result.comparison["published"].null_count() == result.comparison.height
