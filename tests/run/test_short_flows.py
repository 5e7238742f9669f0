"""Short flows in the engine and in what comes out."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from bufferlab import Scenario, run
from bufferlab.results.result import Result


def pages(**changes: object) -> Scenario:
    """Pages of 10 segments at equal distances over an empty link; the last one comes 20 ms before the end."""
    table: dict[str, Any] = {
        "run": {"duration": "10 s", "warmup": "2 s"},
        "bottleneck": {"rate": "12 Mbps", "buffer": "100 packets"},
        "flows": [
            {
                "name": "pages",
                "rtt": "100 ms",
                "start": "480 ms",
                "application": {
                    "kind": "short-flows", "size": "14480 B", "interval": "500 ms", "arrivals": "constant",
                },
            }
        ],
    }  # fmt: skip
    return Scenario.from_dict(table).with_overrides(dict(changes))


@pytest.fixture(scope="module")
def result() -> Result:
    return run(pages())[0]


def test_a_page_takes_a_handshake_a_trip_and_its_transmission(result: Result) -> None:
    done = result.flows.filter(pl.col("completion_s").is_not_null())
    # 52 bytes of SYN and ten packets of 1500 bytes at 12 Mbps
    transmission_s = 8 * (52 + 10 * 1500) / 12e6
    assert done["completion_s"].to_list() == pytest.approx([0.15 + transmission_s] * done.height, abs=1e-9)
    acked_s = done["finished_s"] - done["start_s"]
    assert acked_s.to_list() == pytest.approx([0.2 + transmission_s] * done.height, abs=1e-9)
    assert done["whole_delivered_bytes"].to_list() == [14_480] * done.height


def test_the_summary_counts_those_of_the_measured_window(result: Result) -> None:
    row = result.summary()["flows"][0]
    # 20 in all, 4 of them before the 2nd second, the last begins 20 ms before the end
    assert (row["flows"], row["finished_flows"], row["unfinished_flows"]) == (20, 15, 1)
    for key in ("completion_s", "completion_p50_s"):
        assert row[key] == pytest.approx(0.16, abs=0.001)
    assert "15 of 16" in str(result)


def test_seeds_with_other_numbers_of_flows_are_one_group() -> None:
    runs = run(pages(**{"flows.pages.application.arrivals": "poisson"}), seeds=3)
    numbers = [result.flows.height for result in runs]
    assert len(set(numbers)) > 1
    (row,) = runs.summary()["flows"]
    assert row["flows"] == pytest.approx(sum(numbers) / 3)
    assert row["completion_s_ci95"] > 0


def test_those_not_done_make_the_quantiles_longer() -> None:
    """A link too slow for what comes: whoever is left over waits longer than those that are done."""
    slow = run(pages(**{"bottleneck.rate": "100 kbps", "flows.pages.start": "2 s"}))[0]
    row = slow.summary()["flows"][0]
    assert row["unfinished_flows"] > row["finished_flows"] > 0
    assert row["completion_p99_s"] is None
    done = slow.flows["completion_s"].drop_nulls()
    assert row["completion_s"] == pytest.approx(done.mean())


def test_a_stopped_transfer_is_not_finished() -> None:
    keys = {
        "flows.pages.application": {"kind": "transfer", "bytes": "100 MB"},
        "flows.pages.stop": "3 s",
    }
    row = run(pages(**keys))[0].summary()["flows"][0]
    assert (row["finished_flows"], row["unfinished_flows"], row["completion_s"]) == (0, 1, None)
