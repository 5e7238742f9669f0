"""The heterogeneous-TCP document's figure 1: the pieces, and the quick run."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import special

from bufferlab.evidence import Reproduced, Request, find_reproductions
from bufferlab.evidence.heterogeneous.histograms import normality, prediction, shares
from bufferlab.evidence.heterogeneous.settings import MIX


@cache
def quick() -> Reproduced:
    """The quick run."""
    (found,) = find_reproductions("heterogeneous/fig1")
    return found.function(Request(quick=True, progress=False))


@pytest.mark.parametrize("flows", [10, 50, 100, 198, 200])
def test_shares_keep_the_number_and_the_mix(flows: int) -> None:
    counts = shares(MIX, flows)
    assert sum(counts.values()) == flows
    for name, count in counts.items():
        assert abs(count - MIX[name] * flows / 198) < 1


def test_shares_of_the_mixes_own_number_are_the_mix() -> None:
    assert shares(MIX, 198) == MIX


def test_normal_samples_are_normal() -> None:
    samples = 5 + 3 * special.ndtri((np.arange(10_000) + 0.5) / 10_000)
    found = normality(samples)
    assert found["distance"] < 0.001
    assert (found["skewness"], found["excess_kurtosis"]) == pytest.approx((0, 0), abs=0.02)


def test_a_sawtooth_is_not_normal() -> None:
    found = normality(np.linspace(0.5, 1.0, 10_000))
    assert found["distance"] == pytest.approx(0.0570, abs=0.001)
    assert found["excess_kurtosis"] == pytest.approx(-1.2, abs=0.001)


def test_skewness_has_its_sign() -> None:
    assert normality(np.array([0.0, 1.0, 1.0, 1.0]))["skewness"] < -1


def test_the_mix_has_the_scenarios_flows_at_its_own_number() -> None:
    counts = prediction({"protocols": "mix", "flows": 198})
    assert [counts[name] for name in ("reno", "bic", "cubic_0_8", "cubic_0_7", "ctcp")] == list(MIX.values())


def test_it_writes_figure_tables_comparison_and_notes(tmp_path: Path) -> None:
    quick().save(tmp_path, "bufferlab")
    written = {path.name for path in tmp_path.iterdir()}
    assert {
        "fig1.png", "fig1.svg", "runs.csv", "points.parquet", "histograms.csv", "comparison.csv", "notes.txt",
    } <= written  # fmt: skip


def test_densities_integrate_to_one() -> None:
    bins = quick().tables["histograms"]
    width = pl.col("w_over_bdp_to") - pl.col("w_over_bdp_from")
    areas = bins.group_by("hosts", "flows").agg((pl.col("density") * width).sum().alias("area"))
    assert areas["area"].to_list() == pytest.approx([1.0] * 6)


def test_synchronized_reno_is_a_sawtooth_far_wider_than_predicted() -> None:
    points = quick().tables["points"].filter(pl.col("hosts") == "synchronized", pl.col("flows") == 200)
    point = points.row(0, named=True)
    assert point["excess_kurtosis"] < -0.8
    assert point["spread"] > 5 * point["predicted_spread"]


def test_spread_narrows_the_sum_as_flows_become_more() -> None:
    points = quick().tables["points"].filter(pl.col("hosts") == "spread").sort("flows")
    assert points["spread"][1] < 0.7 * points["spread"][0]
