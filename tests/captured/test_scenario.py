"""Scenarios of captures: they run, and the link in them does what the captured one did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import bufferlab
from bufferlab import InputError
from bufferlab.captured.scenario import law

from .conftest import Captured, link_of

CUBIC = [("cubic-linux(hystart)", 100.0)]


def test_a_run_of_it_does_what_the_captured_link_did(captured: Captured) -> None:
    made = bufferlab.observe(captured.at_senders).scenario(mix=CUBIC)
    again = link_of(bufferlab.run(made, overrides={"run.warmup": "5 s"}, progress=False)[0])
    truth = captured.link
    assert again["utilization"] == pytest.approx(truth["utilization"], abs=0.01)
    assert again["wait_mean_ms"] == pytest.approx(truth["wait_mean_ms"], rel=0.15)
    assert again["loss"] == pytest.approx(truth["loss"], rel=0.4)


def test_what_it_holds(captured: Captured) -> None:
    table: dict[str, Any] = bufferlab.observe(captured.at_senders).scenario(mix=CUBIC).to_dict()
    long, short, datagrams = table["flows"]
    assert table["bottleneck"]["rate"] == "19.99 Mbps"
    assert int(table["bottleneck"]["buffer"].removesuffix(" packets")) == pytest.approx(67, abs=3)
    assert (long["count"], long["segment"]) == (5, "1448 B")
    assert long["rtt"].startswith("choice(20.0") and long["rtt"].count("80.0") == 2
    assert short["application"]["size"] == "20000 B"
    assert short["application"]["interval"] == "280.4 ms"
    assert datagrams["application"]["packet"] == "300 B"


def test_the_mix_is_the_internets_where_none_is_given(captured: Captured) -> None:
    flows: Any = bufferlab.observe(captured.at_senders).scenario().to_dict()["flows"]
    assert [(each["count"], each["congestion"]) for each in flows if each["name"].startswith("long")] == [
        (3, "cubic-linux(hystart)"),
        (2, "bbr"),
    ]


def test_an_idle_link_needs_its_rate(tmp_path: Path) -> None:
    idle = {
        "run": {"duration": "5 s"},
        "bottleneck": {"rate": "100 Mbps", "delay": "1 ms", "buffer": "1 bdp"},
        "flows": [{"rtt": "20 ms", "window": "14480 B", "handshake": True}],
    }
    path = tmp_path / "idle.pcapng"
    bufferlab.run(idle, progress=False, pcap=path)
    found = bufferlab.observe(path)
    assert found.rate_bps is None and "rate not known" in str(found)
    with pytest.raises(InputError, match="does not show the link's rate"):
        found.scenario()
    table: dict[str, Any] = found.scenario(rate="100 Mbps").to_dict()
    assert table["bottleneck"]["rate"] == "100 Mbps"


def test_a_law_has_the_distributions_quantiles() -> None:
    few = law(pl.Series([10.0, 20.0, 20.0]), pl.Series([1.0, 1.0, 1.0]), "ms")
    assert few == "choice(10 ms, 20 ms: 2)"
    assert law(pl.Series([7.0] * 40), pl.Series([1.0] * 40), "ms") == "7 ms"
    many = law(pl.Series([float(value) for value in range(1, 1601)]), pl.Series([1.0] * 1600), "B")
    values = [int(part.split()[0]) for part in many.removeprefix("choice(").rstrip(")").split(", ")]
    assert values == [50 + 100 * index for index in range(16)] or values == [51 + 100 * i for i in range(16)]
    # who lasts longer counts for more
    heavy = law(pl.Series([1.0, *[9.0] * 20]), pl.Series([60.0, *[1.0] * 20]), "ms")
    assert heavy == "choice(1 ms: 3, 9 ms)"
