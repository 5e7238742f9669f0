"""The `tc` lines on a real kernel, in a network namespace that ends with the process that made it."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from functools import cache
from typing import Any

import pytest

from bufferlab.configure import Configuration, configuration

CODEL_TICK_US = 1.024
"""The kernel keeps CoDel's times in units of 1024 ns (include/net/codel.h, CODEL_SHIFT), rounded down."""

TICKS_US = 10_000
"""And PIE's tupdate in jiffies, of 10 ms at most (HZ = 100)."""

DEVICE = "ip link add eth0 type veth peer name peer0 && ip link set eth0 up"


@cache
def why_not() -> str | None:
    """Why no namespace with a device can be made here; nothing if it can."""
    missing = [tool for tool in ("unshare", "ip", "tc") if shutil.which(tool) is None]
    if missing:
        return f"needs {', '.join(missing)} (packages iproute2 and util-linux)"
    ended = in_namespace("true")
    return f"no network namespace with a veth device: {ended.stderr.strip()}" if ended.returncode else None


def in_namespace(script: str) -> subprocess.CompletedProcess[str]:
    command = ["unshare", "--net", "sh", "-ec", f"{DEVICE}\n{script}"]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def applied(made: Configuration) -> tuple[list[dict[str, Any]], str]:
    """What the kernel has once the lines have run, twice: queues as JSON, classes as text."""
    if reason := why_not():
        pytest.skip(reason)
    lines = "\n".join(made.lines)
    ended = in_namespace(f"{lines}\n{lines}\ntc -j qdisc show dev eth0\ntc -d class show dev eth0")
    if "qdisc kind is unknown" in ended.stderr:
        pytest.skip(f"this kernel lacks a queue discipline: {made.lines[-1]}")
    assert ended.returncode == 0, ended.stderr
    queues, _, classes = ended.stdout.partition("\n")
    return json.loads(queues), classes


def options_of(made: Configuration, kind: str) -> dict[str, Any]:
    queues, _ = applied(made)
    found = [queue["options"] for queue in queues if queue["kind"] == kind]
    assert len(found) == 1, queues
    options: dict[str, Any] = found[0]
    return options


@pytest.mark.parametrize(
    ("buffer", "kind", "limit"),
    [("1000 packets", "pfifo", 1000), ("1 MB", "bfifo", 1_009_334), ("20 ms", "pfifo", 167)],
)
@pytest.mark.parametrize("shape", [False, True])
def test_fifo(buffer: str, kind: str, limit: int, shape: bool) -> None:
    made = configuration("100 Mbps", "fifo", buffer, shape=shape)
    assert options_of(made, kind) == {"limit": limit} == {"limit": made.amount}


@pytest.mark.parametrize(
    ("rate", "shown"), [("100 Mbps", "100Mbit"), ("1234567 bps", "1234Kbit"), ("40 Gbps", "40Gbit")]
)
def test_htb(rate: str, shown: str) -> None:
    queues, classes = applied(configuration(rate, "fifo", "100 packets", shape=True))
    assert [queue["kind"] for queue in queues] == ["htb", "pfifo"]
    assert queues[0]["options"]["default"] == "0x10"
    assert queues[1]["parent"] == "1:10"
    found = re.search(r"quantum (\d+)b? rate (\w+) ceil (\w+) .*burst (\w+)", classes)
    assert found, classes
    assert found[1] == "1514"
    assert (found[2], found[3]) == (shown, shown)


def test_codel() -> None:
    queue = {
        "discipline": "codel",
        "target": "1500 us",
        "interval": "30 ms",
        "ecn": True,
        "ce_threshold": "1 ms",
    }
    options = options_of(configuration("100 Mbps", queue, "700 packets"), "codel")
    assert (options["limit"], options["ecn"]) == (700, True)
    for name, asked_us in (("target", 1500), ("interval", 30_000), ("ce_threshold", 1000)):
        assert asked_us - 1 - CODEL_TICK_US < options[name] <= asked_us


def test_fq_codel() -> None:
    queue = {
        "discipline": "fq_codel",
        "flows": 64,
        "quantum": "300 B",
        "drop_batch": 8,
        "target": "10 ms",
        "ecn": False,
    }
    options = options_of(configuration("1 Gbps", queue, "8000 packets", shape=True), "fq_codel")
    assert (options["limit"], options["flows"], options["quantum"], options["drop_batch"]) == (
        8000,
        64,
        300,
        8,
    )
    assert options["memory_limit"] == 8000 * 1514 * 4
    assert not options.get("ecn")
    for name, asked_us in (("target", 10_000), ("interval", 100_000)):
        assert asked_us - 1 - CODEL_TICK_US < options[name] <= asked_us


def test_pie() -> None:
    queue = {"discipline": "pie", "target": "20 ms", "update": "30 ms", "ecn": True}
    options = options_of(configuration("100 Mbps", queue, "500 packets"), "pie")
    assert (options["limit"], options["target"], options["alpha"], options["beta"]) == (500, 20_000, 2, 20)
    assert options["ecn"] is True
    assert 30_000 <= options["tupdate"] < 30_000 + TICKS_US


def test_red() -> None:
    queue = {
        "discipline": "red",
        "min_threshold": "20 packets",
        "max_threshold": "60 packets",
        "weight": 0.002,
        "adaptive": False,
        "ecn": True,
    }
    made = configuration("100 Mbps", queue, "400 packets")
    options = options_of(made, "red")
    assert (options["limit"], options["min"], options["max"]) == (400 * 1514, 20 * 1514, 60 * 1514)
    assert (options["ecn"], options["adaptive"]) == (True, False)
    shown = in_namespace("\n".join([*made.lines, "tc -d qdisc show dev eth0"])).stdout
    assert "ewma 9 probability 0.1 " in shown  # 2^-9 is the power of two next to 0.002


def test_red_by_its_own_thresholds_at_any_rate() -> None:
    for rate in ("10 Mbps", "1 Gbps", "100 Gbps"):
        options = options_of(configuration(rate, "red", "20 ms"), "red")
        assert options["adaptive"] is True
        assert options["min"] < options["max"] <= options["limit"]


@pytest.mark.parametrize(("shape", "rate"), [(True, 12_500_000), (False, "unlimited")])
def test_cake(shape: bool, rate: object) -> None:
    options = options_of(configuration("100 Mbps", "fq_codel", "20 ms", shape=shape, cake=True), "cake")
    assert options["bandwidth"] == rate
    assert (options["diffserv"], options["flowmode"], options["rtt"]) == ("besteffort", "flows", 100_000)
