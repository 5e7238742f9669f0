"""SplitBuff's table I, three sub-buffers and heavy tail: the pieces, and the quick runs."""

from __future__ import annotations

import polars as pl
import pytest

from bufferlab.evidence import Reproduced, Request, reproduce
from bufferlab.evidence.documents import Work, bundled_documents
from bufferlab.evidence.measured import load
from bufferlab.evidence.simulated import scenarios_of
from bufferlab.evidence.splitbuff.modes import nearest_laws

DOCUMENT = next(each for each in bundled_documents() if each.name == "splitbuff")
NUMBERS = {claim.id: claim.number or 0.0 for claim in DOCUMENT.claims}
QUEUES = list(DOCUMENT.runs["heavytail"].full.vary["queue"])


def value(frame: pl.DataFrame, column: str, **keys: object) -> float:
    """The one value of a column in the row with these keys."""
    found = frame.filter(*(pl.col(name) == wanted for name, wanted in keys.items()))
    assert found.height == 1
    return float(found[column][0])


def test_published_numbers_stand_for_the_mean_of_both_delays() -> None:
    delays = [NUMBERS["table1-delay-first"], NUMBERS["table1-delay-last"]]
    assert sum(delays) / 2 == pytest.approx(NUMBERS["table1-delay-mean"], abs=0.1)
    # 100 flows fill the link with payload: 1000 bytes of 1040
    for queue in ("bdp", "split"):
        shares = [NUMBERS[f"table1-{queue}-{kind}"] for kind in ("short", "long")]
        assert sum(shares) / 2 * 100 == pytest.approx(1000 / 1040, rel=0.005)


def test_scenarios_draw_from_both_modes() -> None:
    scenarios = scenarios_of(DOCUMENT, DOCUMENT.runs["modes"], Request())
    loaded = scenarios["splitbuff-3", "60/180", 0.2]
    assert [group["count"] for group in loaded.flows] == [50, 50]
    assert loaded.links[0]["queue"]["sub_buffers"] == 3
    assert loaded.run["duration_ps"] == 500 * 10**12
    assert scenarios["bdp", "60/180", 0.2].links[0]["queue"]["discipline"] == "fifo"


def test_heavy_tailed_scenarios_have_one_group() -> None:
    for loaded in scenarios_of(DOCUMENT, DOCUMENT.runs["heavytail"], Request()).values():
        assert [group["count"] for group in loaded.flows] == [100]


@pytest.fixture(scope="module")
def table1() -> Reproduced:
    return reproduce("splitbuff/table1", quick=True, progress=False)


def test_narrow_modes_of_60_and_180_ms_are_the_published_table(table1: Reproduced) -> None:
    comparable = table1.comparison.filter(pl.col("verdict") != "not comparable")
    assert set(comparable["setting"].str.slice(-30)) == {"modes_ms = 60/180, sigma = 0.2"}
    assert comparable.height == len(DOCUMENT.claims_of("table1"))
    for row in comparable.iter_rows(named=True):
        assert row["ours"] == pytest.approx(NUMBERS[row["claim"]], rel=0.2), row["claim"]


def test_a_mode_of_130_ms_is_not(table1: Reproduced) -> None:
    points = table1.tables["points"]
    wait = value(points, "wait_ms", queue="bdp", modes_ms="60/130", sigma=0.2)
    assert wait < 95  # ms of buffer; published are 108.7


def test_sub_buffers_narrow_the_gap_and_the_short_flows_wait(table1: Reproduced) -> None:
    points = table1.tables["points"].filter(pl.col("modes_ms") == "60/180", pl.col("sigma") == 0.2)
    assert value(points, "long_over_short", queue="bdp") < 0.75
    assert value(points, "long_over_short", queue="splitbuff-2") == pytest.approx(1, abs=0.1)
    assert value(points, "wait_short_ms", queue="splitbuff-2") < 0.7 * value(
        points, "wait_short_ms", queue="bdp"
    )


def test_three_sub_buffers_favor_the_mode_that_has_two() -> None:
    result = reproduce("splitbuff/three_buffers", quick=True, progress=False)
    points = result.tables["points"].filter(pl.col("modes_ms") == "60/180", pl.col("sigma") == 0.2)
    assert value(points, "long_over_short", queue="splitbuff-3") > 1.3
    assert set(result.comparison["claim"]) == {"three-short", "three-long", "three-delay"}


def test_the_heavy_tail_has_all_queues() -> None:
    result = reproduce("splitbuff/heavytail", quick=True, progress=False)
    points = result.tables["points"]
    assert points["queue"].to_list() == QUEUES
    assert value(points, "wait_ms", queue="Stanford model") < 0.2 * value(points, "wait_ms", queue="BDP rule")
    assert result.tables["flows"].height == 100 * len(QUEUES)
    propagation = result.tables["flows"]["propagation_ms"]
    assert 10 <= propagation.min() <= propagation.max() <= 1001  # type: ignore[operator]
    assert result.comparison.is_empty()  # nothing is published
    assert [row[0] for row in result.grids[0].rows] == QUEUES


def test_the_nearest_law_is_the_one_that_gives_the_published_throughputs() -> None:
    keys = DOCUMENT.figures["table1_laws"].keys
    laws = {(60, 180, 0.6, 0.2): 1.0, (60, 180, 0.2, 0.2): 1.1}
    rows = [
        dict(zip(keys, law, strict=True))
        | {
            "queue": queue,
            "throughput_short": factor * NUMBERS[f"table1-{name}-short"],
            "throughput_long": NUMBERS[f"table1-{name}-long"],
        }
        for law, factor in reversed(laws.items())
        for queue, name in (("bdp", "bdp"), ("splitbuff-2", "split"))
    ]
    work = Work(DOCUMENT, DOCUMENT.figures["table1_laws"], Request(), {"points": pl.DataFrame(rows)})
    nearest = nearest_laws(work)["laws"]
    assert nearest.select(keys).rows() == list(laws)
    assert nearest["distance_percent"].to_list() == pytest.approx([0.0, 10.0 * (2 / 4) ** 0.5])


def test_the_fitted_law_is_the_nearest_of_the_recorded_grid() -> None:
    recorded = load(DOCUMENT, DOCUMENT.figures["table1_laws"])
    assert recorded is not None
    law = recorded.points.row(0, named=True)
    fitted = DOCUMENT.runs["fitted"].full.changes
    for kind in ("short", "long"):
        words = f"lognormal(mean={law[f'mean_{kind}_ms']:g} ms, sigma={law[f'sigma_{kind}']:g}, min=5 ms)"
        assert fitted[f"flows.type{1 if kind == 'short' else 2}.rtt"] == words
