"""SplitBuff's figures 4 to 6: the pieces, and the quick runs."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from bufferlab.evidence import Reproduced, Request, reproduce
from bufferlab.evidence.documents import bundled_documents
from bufferlab.evidence.simulated import scenarios_of
from bufferlab.evidence.splitbuff.evaluation import ns2_evaluation
from bufferlab.evidence.verdicts import Compared, compare
from bufferlab.scenario import Scenario

DOCUMENT = next(each for each in bundled_documents() if each.name == "splitbuff")
RUNS = DOCUMENT.runs["evaluation"]
KEYS = tuple(RUNS.full.vary)
FIGURES = ("fig4", "fig5", "fig6")


def scenario(queue: str, senders: str, flows: int, long_rtt_ms: int) -> Scenario:
    """The scenario of a point of the full sweep."""
    return scenarios_of(DOCUMENT, RUNS, Request())[queue, senders, flows, long_rtt_ms]


def points(**changes: float) -> pl.DataFrame:
    """All queues at 10 and 500 ms for 100 flows; figures that hold everything stated, save for `changes`.

    A change is named like `splitbuff_500_throughput_long`.
    """
    rows = []
    for queue in ("bdp", "stanford", "splitbuff", "blind"):
        for trip in (10, 500):
            starved = (
                {"bdp": 0.2, "stanford": 0.05, "splitbuff": 1.0, "blind": 0.2}[queue] if trip == 500 else 1.0
            )
            row: dict[str, object] = {
                "queue": queue,
                "senders": "synchronized",
                "flows": 100,
                "long_rtt_ms": trip,
            }
            row |= dict.fromkeys(RUNS.measure, 1.0)
            row |= {"throughput_long": 0.0096 * starved, "long_over_short": starved}
            row["wait_ms"] = {"bdp": 2.0, "stanford": 0.5, "splitbuff": 1.5, "blind": 2.0}[queue]
            row["wait_short_ms"] = {"bdp": 2.0, "stanford": 0.5, "splitbuff": 0.5, "blind": 2.0}[queue]
            row["wait_long_ms"] = {"bdp": 2.0, "stanford": 0.5, "splitbuff": 2.5, "blind": 2.0}[queue]
            row["utilization"] = 0.99 if queue == "bdp" else 1.0
            row |= {
                name.removeprefix(f"{queue}_{trip}_"): value
                for name, value in changes.items()
                if name.startswith(f"{queue}_{trip}_")
            }
            rows.append(row)
    frame = pl.DataFrame(rows)
    jitter = frame.with_columns(pl.lit("jitter").alias("senders"))
    return pl.concat([frame, jitter])


def verdicts(figure: str, ours: pl.DataFrame) -> dict[str, str]:
    """Verdicts by claim with synchronized senders, without ns-2's points."""
    both = Compared(ours, {"ns2": ns2_evaluation().clear()}, KEYS)
    comparison = compare(DOCUMENT, DOCUMENT.figures[figure], both)
    lengths = comparison.filter(pl.col("verdict") != "agrees")["why"].str.len_chars()
    assert (lengths > 10).all()
    synchronized = comparison.filter(pl.col("setting").str.contains("synchronized"))
    return dict(synchronized.select("claim", "verdict").iter_rows())


def test_buffers_follow_their_rules() -> None:
    # 105 ms of 100 Mbit/s in packets of 1040 bytes; ns-2's limit counts the packet in transmission
    assert scenario("bdp", "synchronized", 100, 200).links[0]["buffer"]["text"] == "1261 packets"
    assert scenario("stanford", "synchronized", 100, 200).links[0]["buffer"]["text"] == "125 packets"
    assert scenario("splitbuff", "synchronized", 100, 200).links[0]["buffer"]["text"] == "2524 packets"
    assert scenario("blind", "jitter", 100, 200).links[0]["buffer"]["text"] == "1262 packets"


def test_ns2_confirms_a_throughput_of_payload() -> None:
    row = ns2_evaluation().row(
        by_predicate=(pl.col("queue") == "bdp") & (pl.col("flows") == 2) & (pl.col("long_rtt_ms") == 10),
        named=True,
    )
    assert row["throughput_short"] == pytest.approx(0.5 / 1.04, rel=1e-3)
    assert row["wait_ms"] == pytest.approx(5.5469, rel=1e-4)  # as ns-2 printed it


@pytest.mark.parametrize("queue", ["bdp", "stanford", "splitbuff", "blind"])
def test_scenarios_choose_queue_and_senders(queue: str) -> None:
    loaded = scenario(queue, "jitter", 10, 500)
    assert loaded.run["duration_ps"] == 500 * 10**12
    discipline = {"splitbuff": "splitbuff", "blind": "splitbuff-blind"}.get(queue, "fifo")
    assert loaded.links[0]["queue"]["discipline"] == discipline
    assert [group["count"] for group in loaded.flows] == [5, 5]
    assert loaded.to_toml().count('jitter = "uniform(0 s, 1 ms)"') == 2


def test_all_statements_can_hold() -> None:
    for figure in FIGURES:
        assert set(verdicts(figure, points()).values()) == {"agrees"}


@pytest.mark.parametrize(
    ("figure", "change", "failing"),
    [
        ("fig4", {"bdp_500_throughput_long": 0.009}, "fig4-bdp-falls"),
        ("fig4", {"stanford_500_throughput_long": 0.005}, "fig4-stanford-falls-more"),
        ("fig4", {"splitbuff_500_long_over_short": 0.5}, "fig4-splitbuff-equal"),
        ("fig4", {"splitbuff_500_long_over_short": 2.0}, "fig4-splitbuff-equal"),
        ("fig5", {"stanford_500_wait_ms": 3.0}, "fig5-stanford-delay"),
        ("fig5", {"splitbuff_500_wait_short_ms": 1.5}, "fig5-short-delay"),
        ("fig5", {"splitbuff_500_wait_long_ms": 3.0}, "fig5-long-delay"),
        ("fig5", {"splitbuff_500_wait_ms": 2.1}, "fig5-mean-delay"),
        ("fig5", {"splitbuff_500_loss_short_percent": 9.0}, "fig5-short-loss"),
        ("fig6", {"blind_500_long_over_short": 0.5}, "fig6-throughput"),
        ("fig6", {"blind_500_utilization": 0.99}, "fig6-utilization"),
        ("fig6", {"blind_500_wait_ms": 3.0}, "fig6-delay"),
    ],
)
def test_each_statement_can_fail(figure: str, change: dict[str, float], failing: str) -> None:
    found = verdicts(figure, points(**change))
    assert [claim for claim, verdict in found.items() if verdict != "agrees"] == [failing]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keeps the runs of the evaluation, which the three figures are made from."""
    return tmp_path_factory.mktemp("evaluation") / "store"


@pytest.fixture(scope="module")
def fig4(store: Path) -> Reproduced:
    return reproduce("splitbuff/fig4", quick=True, progress=False, store=store)


def test_the_quick_run_shows_starved_long_flows_and_the_remedy(fig4: Reproduced) -> None:
    found = fig4.tables["points"].filter(pl.col("flows") == 100, pl.col("senders") == "synchronized")
    left = {
        (queue, trip): share
        for queue, trip, share in found.select("queue", "long_rtt_ms", "long_over_short").iter_rows()
    }
    assert left["bdp", 100] < 0.4
    assert left["stanford", 100] < 0.1
    assert left["splitbuff", 100] > 0.9


def test_the_quick_run_shows_the_feedback(fig4: Reproduced) -> None:
    two = fig4.tables["points"].filter(
        pl.col("flows") == 2, pl.col("queue") == "splitbuff", pl.col("long_rtt_ms") == 500
    )
    assert two["utilization"].max() < 0.9  # type: ignore[operator]
    assert two["wait_long_ms"].max() < 50  # type: ignore[operator]


def test_ns2_stands_beside_our_points(fig4: Reproduced) -> None:
    beside = fig4.tables["beside_ns2"]
    assert set(beside["senders"]) == {"synchronized", "jitter"}
    row = beside.row(
        by_predicate=(pl.col("queue") == "stanford")
        & (pl.col("flows") == 100)
        & (pl.col("long_rtt_ms") == 100)
        & (pl.col("senders") == "synchronized"),
        named=True,
    )
    assert row["wait_ms"] == pytest.approx(row["wait_ms_ns2"], rel=0.2)
    assert row["loss_short_percent"] == pytest.approx(row["loss_short_percent_ns2"], rel=0.2)


def test_quick_runs_of_figures_5_and_6_save(tmp_path: Path, store: Path) -> None:
    for name, figures in (("fig5", {"fig5", "fig5-loss"}), ("fig6", {"fig6a", "fig6b"})):
        result = reproduce(f"splitbuff/{name}", quick=True, progress=False, out=tmp_path / name, store=store)
        assert set(result.figures) == figures
        written = {path.name for path in (tmp_path / name).iterdir()}
        assert {"points.csv", "comparison.csv", "ns2.csv", "notes.txt"} <= written
        assert not result.tables["points"].select(KEYS).is_duplicated().any()
        assert "Quick" in result.notes[-1]


def test_the_full_sweep_is_as_published() -> None:
    vary = RUNS.full.vary
    assert list(vary["flows"]) == [2, 10, 100, 250, 500]
    assert (min(vary["long_rtt_ms"]), max(vary["long_rtt_ms"])) == (10, 500)
