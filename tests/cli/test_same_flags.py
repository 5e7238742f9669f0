"""The flags that stand for a scenario file: whoever reads them simulates the same."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .conftest import Command

RUN = ("--set", "run.duration=30 s", "--set", "run.warmup=10 s")
LINK = ("--rate", "10 Mbps", "--rtt", "20 ms", *RUN)
HOW = {"size": ("--no-rules",), "advise": ("--quick", "--queues", "fifo")}


@pytest.mark.parametrize(
    "flows",
    [
        ("--flows", "12", "--utilization", "80 %", "--max-loss", "50 %"),
        (
            "--flows",
            "12",
            "--stack",
            "rfc",
            "--segment",
            "1000 B",
            "--utilization",
            "80 %",
            "--max-loss",
            "50 %",
        ),
        ("--flows", "12", "--mix", "reno:50%,cubic:50%", "--spread", "0.3", "--max-loss", "2 %"),
        ("--flows", "12", "--calls", "3", "--target", "call.r > 50", "--utilization", "80 %"),
    ],
)
def test_size_and_advise_simulate_the_same_and_agree(bufferlab: Command, flows: tuple[str, ...]) -> None:
    found: dict[str, dict[str, Any]] = {}
    for verb, options in HOW.items():
        ended = bufferlab(verb, *LINK, *flows, *options, "--json")
        assert ended.status == 0, ended.err
        found[verb] = json.loads(ended.out)
    size, advice = found["size"], found["advise"]
    for part in ("run", "flows"):
        assert size["resolved"][part] == advice["resolved"][part]
    assert size["resolved"]["links"][0]["rate_bps"] == advice["resolved"]["links"][0]["rate_bps"]
    for key in ("name", "link", "rate_bps", "rtt_ms", "packet_bytes", "targets", "assumed"):
        assert size[key] == advice[key], key
    (fifo,) = advice["queues"]
    assert size["asked"]["bounds"] == [fifo["searched"][end] for end in ("lower", "upper")]
    # what it runs may be larger, if users fare better with that
    assert size["buffer"]["packets"] == pytest.approx(fifo["searched"]["found"], rel=0.12)
    assert fifo["buffer"]["packets"] >= fifo["searched"]["found"]


@pytest.mark.parametrize("more", [("--quick",), ("--no-sensitivity",)])
def test_what_loses_much_is_passed_over_and_named(bufferlab: Command, more: tuple[str, ...]) -> None:
    """Where a bound on the loss is given, however wide, the smallest buffer is searched, as `size` does."""
    flows = ("--flows", "12", "--utilization", "80 %")
    least = json.loads(bufferlab("size", *LINK, *flows, *HOW["size"], "--json").out)["buffer"]["packets"]
    asked = ("advise", *LINK, *flows, "--queues", "fifo", *more)
    ended = bufferlab(*asked)
    larger = json.loads(bufferlab(*asked, "--json").out)["buffer"]["packets"]
    assert ended.status == 0, ended.err
    assert larger > 2 * least and "may meet the target, too, but lose" in " ".join(ended.out.split())
