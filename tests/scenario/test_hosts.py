"""What hosts do beside TCP: what the plan says, what is refused."""

from __future__ import annotations

import pytest

from bufferlab.errors import InputError
from bufferlab.plan import lower

from .conftest import Make


def test_ideal_hosts_are_the_default_and_nothing_to_the_engine(make: Make) -> None:
    for changes in ({}, {"run.host": "ideal"}, {"run.host": "linux-1g", "flows.short.host": "ideal"}):
        group = lower(make(changes))["groups"][0]
        assert group["host"] is None
        assert group["source"].get("offload") is None


@pytest.mark.parametrize(
    ("host", "gbps", "interrupt_us"), [("linux-1g", 1, 50), ("linux-10g", 10, 12), ("linux-100g", 100, 8)]
)
def test_a_linux_host_has_a_card_and_packets_of_several_segments(
    make: Make, host: str, gbps: int, interrupt_us: int
) -> None:
    group = lower(make({"run.host": host}))["groups"][0]
    card = {"rate_bps": gbps * 10**9, "most_bytes": 1 << 20, "interrupt_ps": interrupt_us * 10**6}
    assert group["host"] == {"card": card, "quick_acks": 16, "noise": None}
    assert group["source"]["offload"] == "auto"


def test_no_card_cuts_what_a_host_of_mininet_sends(make: Make) -> None:
    group = lower(make({"flows.short.host": "mininet"}))["groups"][0]
    assert group["host"]["card"] is None
    assert group["host"]["noise"] == {"kind": "pareto", "mean": 8 * 10**6, "shape": 1.5}
    assert group["source"]["offload"] == "auto"


def test_the_table_changes_every_host_that_is_not_ideal(make: Make) -> None:
    changes = {
        "host.line_rate": "40 Gbps",
        "host.queue_limit": "4 MiB",
        "host.interrupt_delay": "0 s",
        "host.quick_acks": 0,
        "flows.short.host": "linux-10g",
    }
    short, long = lower(make(changes))["groups"]
    assert short["host"]["card"] == {"rate_bps": 40 * 10**9, "most_bytes": 4 << 20, "interrupt_ps": 0}
    assert short["host"]["quick_acks"] == 0
    assert long["host"] is None


def test_a_group_says_its_own(make: Make) -> None:
    changes = {"run.host": "linux-10g", "run.stack": "linux"}
    group = lower(make(changes))["groups"][0]
    assert group["jitter"] == {"kind": "none"}, "interrupts come in its place"
    own = {
        "flows.short.offload": "none",
        "flows.short.jitter": "uniform(0 s, 5 us)",
        "flows.short.access_rate": "25 Gbps",
    }
    group = lower(make(changes | own))["groups"][0]
    assert group["source"].get("offload") is None
    assert group["jitter"]["high_ps"] == 5 * 10**6
    assert group["host"]["card"]["rate_bps"] == 25 * 10**9
    assert group["access_bps"] is None


@pytest.mark.parametrize(
    ("noise", "lowered"),
    [
        ("none", None),
        ("0 s", None),
        ("exponential(mean=5 us)", {"kind": "exponential", "mean": 5 * 10**6}),
        ("pareto(mean=8 us, shape=1.5)", {"kind": "pareto", "mean": 8 * 10**6, "shape": 1.5}),
    ],
)
def test_noise_is_a_law_of_both_hosts(make: Make, noise: str, lowered: object) -> None:
    group = lower(make({"run.host": "linux-10g", "host.noise": noise}))["groups"][0]
    assert group["host"]["noise"] == lowered


def test_fq_paces_all_but_those_with_a_pace_of_their_own(make: Make) -> None:
    def paced(**changes: object) -> list[bool]:
        groups = lower(make({"run.host": "linux-10g", "run.stack": "linux"} | changes))["groups"]
        return [group["source"]["paced"] for group in groups]

    assert paced() == [False, False]
    fair = {"host.queue": "fq"}
    assert paced(**fair) == [True, True]
    assert paced(**fair, **{"flows.short.paced": False}) == [False, True]
    assert paced(**fair, **{"flows.short.congestion": "bbr"}) == [False, True]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"run.host": "linux-10"},
            "run.host: 'linux-10' is not a known word (did you mean 'linux-10g'?); accepted: ideal,",
        ),
        (
            {"host.line_rate": "40 Gbps"},
            "host: means nothing where all hosts are ideal; accepted: it with run.host, or a group's host,",
        ),
        (
            {"run.host": "linux-10g", "host.interrupt_delay": "-1 us"},
            "host.interrupt_delay: '-1 us' is negative",
        ),
        (
            {"run.host": "linux-10g", "host.noise": "uniform(0 s, 5 us)"},
            "host.noise: 'uniform(0 s, 5 us)' is not a usable noise; accepted: 'pareto(mean=8 us,",
        ),
        (
            {"run.host": "linux-10g", "host.queue": "codel"},
            "host.queue: 'codel' is not a known word; accepted: fifo, fq",
        ),
    ],
)
def test_refused(make: Make, changes: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        make(changes)
    assert message in str(caught.value)


def test_datagrams_have_none(make: Make) -> None:
    udp = {"kind": "udp", "packet": "100 B", "interval": "1 s"}
    changes = {"run.host": "linux-10g", "flows.short.application": udp}
    assert lower(make(changes))["groups"][0]["host"] is None
    with pytest.raises(InputError, match=r"flows\[0\]\.host: means nothing to a udp application"):
        make(changes | {"flows.short.host": "linux-10g"})
