"""What platforms run if nobody configured a queue."""

from __future__ import annotations

from pathlib import Path

import pytest

from bufferlab import Scenario, run
from bufferlab.configure import PLATFORMS, Default
from bufferlab.configure.answer import read_answer

DOCS = Path(__file__).parents[2] / "docs" / "configure.md"
DEFAULTS = [(platform, default) for platform in PLATFORMS.values() for default in platform.defaults]
RATES_BPS = (10**6, 10**8, 10**11)


@pytest.mark.parametrize("name", PLATFORMS)
def test_a_platform_has_a_default_or_says_why_not(name: str) -> None:
    platform = PLATFORMS[name]
    assert (platform.default is None) == bool(platform.no_default)
    if platform.default is not None:
        assert platform.default is platform.defaults[0]


def test_all_but_one_have_a_default() -> None:
    assert [name for name, platform in PLATFORMS.items() if platform.default is None] == ["nx-os"]


@pytest.mark.parametrize("default", [default for _, default in DEFAULTS])
def test_each_default_names_its_sources(default: Default) -> None:
    assert default.sources and default.note.endswith(".")
    assert all(each.title and each.place and each.confirms for each in default.sources)


@pytest.mark.parametrize("default", [default for _, default in DEFAULTS])
def test_each_default_can_be_simulated(default: Default) -> None:
    scenario = Scenario.from_dict(
        {
            "run": {"name": "default", "duration": "2 s", "warmup": "1 s"},
            "bottleneck": {
                "rate": "10 Mbps",
                "delay": "1 ms",
                "buffer": default.buffer_at(10**7),
                "queue": dict(default.queue),
            },
            "flows": [{"name": "one", "rtt": "10 ms", "congestion": "reno"}],
        }
    )
    assert run(scenario)[0].queues["utilization"][0] > 0.5


@pytest.mark.parametrize(
    ("name", "rate_bps", "packets"),
    [
        ("linux", 10**6, 1000),
        ("linux", 10**11, 1000),
        ("openwrt", 10**8, 2797),
        ("routeros", 10**9, 100),
        ("junos", 10**9, 7917),
        ("junos", 10**8, 3959),
        ("ios-xe", 10**6, 64),
        ("ios-xe", 15_360_000, 64),
        ("ios-xe", 10**8, 417),
        ("ios-xr", 10**10, 83_334),
    ],
)
def test_how_much_waits_by_default(name: str, rate_bps: int, packets: int) -> None:
    """Worked by hand: 50 ms of 100 Mbps are 625,000 bytes, which is 417 packets of 1500 bytes."""
    default = PLATFORMS[name].default
    assert default is not None
    answer = read_answer(f"{rate_bps} bps", default.queue, default.buffer_at(rate_bps), "1500 B", "0 B")
    assert answer.packets == packets


def test_linux_by_systemd_is_the_other_default() -> None:
    kernel, systemd = PLATFORMS["linux"].defaults
    assert kernel.queue == {"discipline": "fifo"}
    assert systemd.queue == {"discipline": "fq_codel", "control_law": "linux", "codel_backlog": "all"}
    assert systemd.buffer_at(10**9) == "10240 packets"


def test_the_document_has_every_default() -> None:
    text = DOCS.read_text()
    for platform, default in DEFAULTS:
        least = f", at least {default.least_packets} packets" if default.least_packets else ""
        if default.faster is not None:
            least += f", {default.faster[1]} from {default.faster[0] / 1e9:g} Gbps on"
        sources = "; ".join(f"{each}" for each in default.sources)
        words = (
            f"| `{platform.name}` | {default.of} | {default.queue['discipline']} | {default.buffer}{least} |"
        )
        assert f"{words} {default.note} | {sources} |" in text
    for platform in PLATFORMS.values():
        if platform.no_default:
            assert f"`{platform.name}`: {platform.no_default}." in text
