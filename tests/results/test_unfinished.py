"""What never finishes is reported, and not left out of what is said of the rest."""

from __future__ import annotations

from typing import Any

import pytest

import bufferlab
from bufferlab.render.summary import summary_view


def summary(application: dict[str, Any], loss: float = 0.0, **flow: Any) -> dict[str, Any]:
    scenario = {
        "run": {"duration": "5 s", "warmup": "1 s"},
        "bottleneck": {"rate": "10 Mbps", "delay": "2 ms", "buffer": "40 packets", "loss": loss},
        "flows": [{"name": "f", "rtt": "20 ms", "application": application, **flow}],
    }
    return bufferlab.run(scenario)[0].summary()


def line(document: dict[str, Any], label: str) -> str:
    return next(
        line for line in summary_view(document).text().splitlines() if line.strip().startswith(label)
    ).strip()


def test_a_mean_of_times_to_finish_says_of_how_many() -> None:
    document = summary({"kind": "transfer", "bytes": "1 MB"}, count=6)
    row = document["flows"][0]
    assert (row["finished_flows"], row["unfinished_flows"]) == (5, 1)
    assert line(document, "transfers finished").split(maxsplit=2)[2] == "5 of 6"
    assert "completion: mean (finished)" in summary_view(document).text()
    # five took the mean of the done, the sixth has been going on for the run's 5 s
    least_s = (5 * row["completion_s"] + 5.0) / 6
    assert row["completion_least_s"] == pytest.approx(least_s)
    assert line(document, "completion: mean, at least, s").endswith(f"{least_s:.4g}")


def test_a_transfer_that_never_finishes() -> None:
    document = summary({"kind": "transfer", "bytes": "1 MB"}, loss=1)
    assert line(document, "transfers finished").endswith("0 of 1")
    assert document["flows"][0]["completion_s"] is None
    assert "completion: mean (finished)" not in summary_view(document).text()
    assert line(document, "completion: mean, at least, s").endswith("5")


def test_a_transfer_that_is_stopped_is_not_finished() -> None:
    document = summary({"kind": "transfer", "bytes": "10 MB"}, start="1 s", stop="1.5 s")
    assert line(document, "transfers finished").endswith("0 of 1")


def test_a_fetch_that_hangs_from_the_warmup_on_is_counted() -> None:
    document = summary({"kind": "web", "size": "10 KB", "every": "1 s"}, loss=1)
    assert (document["flows"][0]["exchanges"], document["flows"][0]["exchanges_not_done"]) == (0, 1)
    assert line(document, "exchanges finished").endswith("0 of 1")


def test_pings_lost_in_the_warmup_are_not_counted_as_under_way() -> None:
    document = summary({"kind": "ping", "interval": "100 ms"}, loss=1)
    assert document["flows"][0]["exchanges_not_done"] == 40
    assert document["latency"] == []


def test_what_is_all_done() -> None:
    assert "at least" not in summary_view(summary({"kind": "transfer", "bytes": "100 KB"})).text()
    document = summary({"kind": "web", "size": "10 KB", "every": "1 s"})
    assert line(document, "exchanges finished").endswith("4 of 4")
    assert document["flows"][0]["exchange_s"] == pytest.approx(0.06, abs=0.02)
