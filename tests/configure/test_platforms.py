"""Each platform's lines, its bounds, and what it cannot do."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import bufferlab
from bufferlab.configure import NOT_KNOWN, PLATFORMS, configuration
from bufferlab.configure.answer import read_answer
from bufferlab.errors import InputError
from bufferlab.scenario import QUEUE_WORDS

DOCS = Path(__file__).parents[2] / "docs" / "configure.md"
FRESH = "tc qdisc del dev eth0 root 2>/dev/null || true"

LINES = [
    (
        {"queue": "fq_codel", "buffer": "1000 packets"},
        [
            FRESH,
            "tc qdisc add dev eth0 root fq_codel limit 1000 target 5ms interval 100ms flows 1024 "
            "quantum 1514 drop_batch 64 ecn",
        ],
    ),
    (
        {"queue": "fifo", "buffer": "1 MB", "shape": True, "device": "ppp0"},
        [
            "tc qdisc del dev ppp0 root 2>/dev/null || true",
            "tc qdisc add dev ppp0 root handle 1: htb default 10",
            "tc class add dev ppp0 parent 1: classid 1:10 htb rate 100mbit ceil 100mbit "
            "burst 12500 cburst 12500 quantum 1514",
            "tc qdisc add dev ppp0 parent 1:10 handle 110: bfifo limit 1009334",
        ],
    ),
    (
        {"queue": "cake", "buffer": "1 MB"},
        [
            FRESH,
            "tc qdisc add dev eth0 root cake bandwidth 100mbit diffserv3 triple-isolate rtt 100ms overhead 0 "
            "mpu 0 noatm memlimit 4037336",
        ],
    ),
    (
        {
            "queue": {
                "discipline": "cake",
                "tins": "besteffort",
                "isolation": "dual-dsthost",
                "unlimited": True,
                "overhead": "44 B",
                "mpu": "96 B",
                "framing": "atm",
            },
            "buffer": "1 MB",
        },
        [
            FRESH,
            "tc qdisc add dev eth0 root cake unlimited besteffort dual-dsthost rtt 100ms overhead 44 mpu 96 "
            "atm memlimit 4037336",
        ],
    ),
    (
        {"queue": "fq_codel", "buffer": "20 ms", "shape": True, "cake": True},
        [FRESH, "tc qdisc add dev eth0 root cake bandwidth 100mbit besteffort flows rtt 100ms"],
    ),
    (
        {
            "queue": {"discipline": "codel", "target": "1500 us", "ecn": True, "ce_threshold": "1 ms"},
            "buffer": "20 ms",
        },
        [
            FRESH,
            "tc qdisc add dev eth0 root codel limit 167 target 1500us interval 100ms ecn ce_threshold 1ms",
        ],
    ),
    (
        {
            "queue": {
                "discipline": "red",
                "min_threshold": "20 packets",
                "max_threshold": "60 packets",
                "weight": 0.002,
            },
            "buffer": "400 packets",
        },
        [
            FRESH,
            "tc qdisc add dev eth0 root red limit 605600 min 30280 max 90840 avpkt 1514 burst 106 "
            "bandwidth 100mbit probability 0.1 adaptive",
        ],
    ),
    (
        {"queue": "fq_pie", "buffer": "8000 packets"},
        [
            FRESH,
            "tc qdisc add dev eth0 root fq_pie limit 8000 target 15ms tupdate 15ms alpha 2 beta 20 noecn "
            "flows 1024 quantum 1514 memory_limit 48448000",
        ],
    ),
    (
        {"queue": "cobalt", "buffer": "500 packets"},
        [
            FRESH,
            "tc qdisc add dev eth0 root cake unlimited besteffort flowblind rtt 100ms memlimit 3028000",
        ],
    ),
    (
        {"queue": "step", "buffer": "500 packets"},
        [
            FRESH,
            "tc qdisc add dev eth0 root codel limit 500 target 1000s interval 1000s noecn ce_threshold 1ms",
        ],
    ),
    (
        {"queue": {"discipline": "step", "threshold": "20 packets"}, "buffer": "500 packets"},
        [
            FRESH,
            "tc qdisc add dev eth0 root codel limit 500 target 1000s interval 1000s noecn "
            "ce_threshold 2400us",
        ],
    ),
    (
        {"queue": "dualpi2", "buffer": "9000 packets"},
        [
            FRESH,
            "tc qdisc add dev eth0 root dualpi2 limit 9000 target 15ms tupdate 16ms alpha 0.1602 beta 3.1993 "
            "coupling_factor 2 step_thresh 1ms classic_protection 10% drop_on_overload",
        ],
    ),
    (
        {"queue": "pie", "buffer": "500 packets", "platform": "openwrt"},
        [
            "config queue 'bufferlab'",
            "\toption enabled '1'",
            "\toption interface 'eth1'",
            "\toption download '0'",
            "\toption upload '100000'",
            "\toption qdisc 'pie'",
            "\toption script 'simplest.qos'",
            "\toption elimit '500'",
            "\toption egress_ecn 'NOECN'",
            "\toption etarget '15ms'",
            "\toption eqdisc_opts 'tupdate 15ms alpha 2 beta 20'",
            "\toption qdisc_advanced '1'",
            "\toption qdisc_really_really_advanced '1'",
            "\toption linklayer 'none'",
        ],
    ),
    (
        {"queue": "cake", "buffer": "2 MB", "platform": "openwrt"},
        [
            "config queue 'bufferlab'",
            "\toption enabled '1'",
            "\toption interface 'eth1'",
            "\toption download '0'",
            "\toption upload '100000'",
            "\toption qdisc 'cake'",
            "\toption script 'piece_of_cake.qos'",
            "\toption eqdisc_opts 'diffserv3 triple-isolate rtt 100ms overhead 0 mpu 0 noatm "
            "memlimit 8074668'",
            "\toption qdisc_advanced '1'",
            "\toption qdisc_really_really_advanced '1'",
            "\toption linklayer 'none'",
        ],
    ),
    (
        {"queue": "fq_codel", "buffer": "8000 packets", "platform": "routeros", "shape": True},
        [
            "/queue/type add name=bufferlab kind=fq-codel fq-codel-limit=8000 fq-codel-target=5ms "
            "fq-codel-interval=100ms fq-codel-ecn=yes fq-codel-flows=1024 fq-codel-quantum=1514 "
            "fq-codel-memlimit=47313.0KiB",
            "/queue/tree add name=bufferlab parent=ether1 packet-mark=no-mark max-limit=100M queue=bufferlab",
        ],
    ),
    (
        {"queue": "fifo", "buffer": "100 packets", "platform": "routeros"},
        [
            "/queue/type add name=bufferlab kind=pfifo pfifo-limit=100",
            "/queue/interface set ether1 queue=bufferlab",
        ],
    ),
    (
        {"queue": "fifo", "buffer": "1000 packets", "platform": "junos", "shape": True},
        [
            "set class-of-service schedulers bufferlab transmit-rate remainder",
            "set class-of-service schedulers bufferlab buffer-size temporal 120000",
            "set class-of-service schedulers bufferlab-nc transmit-rate percent 5",
            "set class-of-service schedulers bufferlab-nc buffer-size percent 5",
            "set class-of-service scheduler-maps bufferlab forwarding-class best-effort scheduler bufferlab",
            "set class-of-service scheduler-maps bufferlab forwarding-class network-control scheduler "
            "bufferlab-nc",
            "set class-of-service interfaces ge-0/0/0 scheduler-map bufferlab",
            "set class-of-service interfaces ge-0/0/0 shaping-rate 100000000",
        ],
    ),
    (
        {"queue": "fifo", "buffer": "1000 packets", "platform": "ios-xe", "shape": True},
        [
            "policy-map bufferlab",
            " class class-default",
            "  shape average 100000000",
            "  queue-limit 1000 packets",
            "  exit",
            " exit",
            "interface GigabitEthernet0/0/0",
            " service-policy output bufferlab",
        ],
    ),
    (
        {"queue": "fifo", "buffer": "1000 packets", "platform": "ios-xr"},
        [
            "policy-map bufferlab",
            " class class-default",
            "  queue-limit 1514000 bytes",
            "  exit",
            " exit",
            "interface GigabitEthernet0/0/0/0",
            " service-policy output bufferlab",
        ],
    ),
    (
        {"queue": "fifo", "buffer": "500 us", "platform": "nx-os"},
        [
            "policy-map type queuing bufferlab",
            "  class type queuing c-out-8q-q-default",
            "    queue-limit 500 us",
            "interface ethernet1/1",
            "  service-policy type queuing output bufferlab",
        ],
    ),
]


@pytest.mark.parametrize(("wanted", "lines"), LINES)
def test_the_lines_of_an_answer(wanted: dict[str, Any], lines: list[str]) -> None:
    made = configuration("100 Mbps", **wanted)
    assert list(made.lines) == lines
    assert made.sources and made.nearest is None


@pytest.mark.parametrize(
    ("wanted", "note"),
    [
        ({"queue": "pie", "buffer": "9 packets"}, "The kernel rounds tupdate to its ticks"),
        (
            {"queue": {"discipline": "pie", "burst": "100 ms"}, "buffer": "9 packets"},
            "Linux's PIE always lets a burst of 150 ms pass, not 100 ms.",
        ),
        (
            {"queue": {"discipline": "pie", "alpha": 0.1}, "buffer": "9 packets"},
            "alpha in sixteenths: 2/16, not 0.1",
        ),
        (
            {"queue": "codel", "buffer": "9 packets"},
            "Linux's CoDel differs in details, which control_law = 'linux' in the queue's table simulates.",
        ),
        ({"queue": "cobalt", "buffer": "9 packets"}, "COBALT alone is CAKE with one class and one queue."),
        (
            {"queue": {"discipline": "cobalt", "interval": "50 ms"}, "buffer": "9 packets"},
            "tc sets the target to a twentieth of the interval: 2.5 ms.",
        ),
        ({"queue": "step", "buffer": "9 packets"}, "CoDel with a target of 1000s never drops"),
        (
            {"queue": {"discipline": "step", "threshold": "30 KB"}, "buffer": "9 packets"},
            "threshold = 30000 bytes is 2.4 ms at the link's rate.",
        ),
        ({"queue": "dualpi2", "buffer": "9 packets"}, "dualpi2 needs Linux 6.17"),
        (
            {"queue": {"discipline": "dualpi2", "alpha": 0.05}, "buffer": "9 packets"},
            "Linux counts alpha in 256ths: 13/256, not 0.05.",
        ),
        ({"queue": "red", "buffer": "1 MB"}, "Linux's RED is not gentle"),
        ({"queue": "fq_codel", "buffer": "8000 packets"}, "memory_limit is raised"),
        ({"queue": "fifo", "buffer": "9 packets"}, "byte queue limits (BQL)"),
        ({"queue": "fifo", "buffer": "9 packets", "shape": True}, "HTB counts 14 bytes of link header"),
        (
            {"queue": "fifo", "buffer": "1 MB", "platform": "junos"},
            "80000 us are more than these cards take: IQ PICs",
        ),
        ({"queue": "fifo", "buffer": "1 packets", "platform": "ios-xr"}, "The least is 9216 bytes"),
        ({"queue": "fifo", "buffer": "9 packets", "platform": "ios-xe"}, "but not BGP's: a class of its own"),
        (
            {"queue": "fifo", "buffer": "9 packets", "platform": "ios-xe"},
            "Calls marked EF can go before the rest (LLQ)",
        ),
        (
            {"queue": "fifo", "buffer": "9 packets", "platform": "junos"},
            "network-control (IS-IS, BFD, LACP) keeps its 5 % of rate and buffer",
        ),
    ],
)
def test_what_differs_is_said(wanted: dict[str, Any], note: str) -> None:
    assert note in " ".join(configuration("100 Mbps", **wanted).notes)


OTHERS: dict[str, Any] = {
    "codel": {
        "target": "7 ms", "interval": "70 ms", "ecn": True, "ce_threshold": "2 ms", "control_law": "linux",
    },
    "fq_codel": {
        "flows": 64, "quantum": "300 B", "drop_batch": 8, "target": "7 ms", "interval": "70 ms", "ecn": False,
        "ce_threshold": "2 ms", "control_law": "linux", "codel_backlog": "all",
    },
    "pie": {"target": "7 ms", "update": "20 ms", "alpha": 0.25, "beta": 1.5, "burst": "90 ms", "ecn": True},
    "red": {
        "min_threshold": "9 packets", "max_threshold": "60 packets", "max_p": 0.2, "weight": 0.25,
        "ecn": True, "gentle": False, "adaptive": False, "mean_packet": "900 B", "target_delay": "9 ms",
        "min_threshold_medium": "6 packets", "min_threshold_high": "3 packets",
    },
    "fq_pie": {
        "flows": 64, "quantum": "300 B", "target": "7 ms", "update": "20 ms", "alpha": 0.25, "beta": 1.5,
        "burst": "90 ms", "ecn": True,
    },
    "cobalt": {
        "target": "7 ms", "interval": "70 ms", "increment": 0.01, "decrement": 0.001, "ecn": False,
    },
    "cake": {
        "tins": "diffserv4", "isolation": "flows", "unlimited": True, "overhead": "40 B", "mpu": "64 B",
        "framing": "atm", "target": "7 ms", "interval": "70 ms", "increment": 0.01, "decrement": 0.001,
        "ecn": False,
    },
    "step": {"target": "2 ms", "threshold": "9 packets"},
    "dualpi2": {
        "target": "20 ms", "update": "20 ms", "alpha": 0.05, "beta": 1.5, "coupling_factor": 3,
        "step_threshold": "2 ms", "classic_protection": 5, "drop_on_overload": False,
    },
    "fair_queue": {"flows": 64, "share": 50, "quantum": "3 KB"},
    "diffserv": {
        "classes": "EF: priority 5 %; rest: weight 2", "quantum": "300 B", "burst": "90 ms",
    },
}  # fmt: skip
"""Of each discipline that some platform has, every parameter with another value than its default."""

LEAST: dict[tuple[str, str], dict[str, Any]] = {
    ("ios-xe", "diffserv"): {"classes": "EF: priority 33 %; rest: weight 1"}
}
"""What a platform refuses otherwise: IOS XE the default classes, whose rest has a queue for each flow."""


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("cake", [False, True])
def test_no_parameter_is_left_out_without_a_word(platform: str, *, cake: bool) -> None:
    """Each changes a line, or is named in a note."""
    offered = PLATFORMS[platform].disciplines
    assert set(offered) <= {"fifo", *OTHERS}
    for discipline in set(offered) - {"fifo"}:
        if cake and (discipline != "fq_codel" or not PLATFORMS[platform].cake):
            continue

        def made(table: dict[str, Any]) -> bufferlab.Configuration:
            return configuration("10 Mbps", table, "100 packets", platform=platform, cake=cake)

        base = {"discipline": discipline, **LEAST.get((platform, discipline), {})}
        usual = made(base)
        parameters = read_answer("10 Mbps", discipline, "100 packets", "1500 B", "14 B").parameters
        assert len(OTHERS[discipline]) == len(parameters), "a new parameter needs a value here"
        for key, value in OTHERS[discipline].items():
            other = made({**base, key: value})
            names = " ".join(set(other.notes) - set(usual.notes))
            less = set(usual.notes) - set(other.notes)
            assert other.lines != usual.lines or key in names or key in " ".join(less), (discipline, key)


def test_what_cake_does_not_take_is_named() -> None:
    made = configuration("10 Mbps", {"discipline": "fq_codel", "target": "7 ms"}, "9 packets", cake=True)
    assert "target = 7 ms is not set: no line for it is known on Linux (tc of iproute2 6.1)." in made.notes


@pytest.mark.parametrize("value", [{"alpha": 0.001}, {"target": "0 ms"}, {"step_threshold": "0 ms"}])
def test_what_tc_would_leave_out_of_dualpi2_is_refused(value: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="is less than Linux's DualPI2 takes") as caught:
        configuration("100 Mbps", {"discipline": "dualpi2", **value}, "9 packets")
    assert caught.value.key == f"queue.{next(iter(value))}"


@pytest.mark.parametrize("steps", [1, 13, 40, 41, 819, 2560])
def test_dualpi2_s_gains_survive_that_tc_cuts_them(steps: int) -> None:
    queue = {"discipline": "dualpi2", "alpha": steps / 256}
    line = configuration("100 Mbps", queue, "9 packets").lines[-1]
    written = float(line.partition(" alpha ")[2].split()[0])
    assert int(written * 256) == steps


def test_a_target_that_red_turns_into_thresholds_is_said_to_be_in_them() -> None:
    made = configuration("10 Mbps", {"discipline": "red", "target_delay": "20 ms"}, "100 packets")
    assert "tc's RED takes no target_delay; 20 ms are in min and max." in made.notes
    assert not any("is not set" in note for note in made.notes)
    given = {"discipline": "red", "min_threshold": "9 packets", "max_threshold": "60 packets"}
    assert not any("target_delay" in note for note in configuration("10 Mbps", given, "100 packets").notes)


def test_control_law_of_linux_needs_no_note() -> None:
    made = configuration("100 Mbps", {"discipline": "codel", "control_law": "linux"}, "9 packets")
    assert not any("control law" in note for note in made.notes)


def test_default_memory_is_left_where_it_suffices() -> None:
    made = configuration("100 Mbps", "fq_codel", "1000 packets")
    assert "memory_limit" not in made.lines[-1]


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("queue", QUEUE_WORDS)
def test_every_queue_is_written_or_said_to_have_no_equivalent(platform: str, queue: str) -> None:
    table = {**QUEUE_WORDS[queue], **LEAST.get((platform, queue), {})}
    made = configuration(
        "100 Mbps", table if (platform, queue) in LEAST else queue, "100 packets", platform=platform
    )
    supported = QUEUE_WORDS[queue]["discipline"] in PLATFORMS[platform].disciplines
    assert bool(made.lines) == supported
    if supported:
        assert made.amount is not None and made.nearest is None
        return
    assert made.nearest in PLATFORMS[platform].disciplines
    assert made.notes[0].startswith(f"No equivalent of {queue} on {PLATFORMS[platform].title} is known here")
    assert (made.amount, made.unit) == (None, "")


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("shape", [False, True])
def test_lines_say_which_direction_they_queue(platform: str, shape: bool) -> None:
    if shape and not PLATFORMS[platform].shapes:
        pytest.skip("no shaper is known there")
    made = configuration("100 Mbps", "fifo", "100 packets", platform=platform, device="abc0", shape=shape)
    found = made.notes[0]
    has_no_receivers = platform in {"junos", "ios-xr", "nx-os"}  # they pass on the traffic of others
    assert found.startswith(f"It queues what leaves abc0{'.' if has_no_receivers else '; for downloads, '}")
    assert len(found) <= 110


def test_the_unit_of_a_limit_is_to_be_checked_where_models_differ() -> None:
    made = configuration("100 Mbps", "fifo", "100 packets", platform="ios-xe")
    assert "The limit is in packets. 'queue-limit ?' lists the units that this model takes." in made.notes


@pytest.mark.parametrize("platform", [name for name, platform in PLATFORMS.items() if not platform.cake])
def test_cake_is_not_everywhere(platform: str) -> None:
    made = configuration("100 Mbps", "fq_codel", "100 packets", platform=platform, cake=True)
    assert made.lines == () and made.notes[0].startswith("No equivalent of CAKE")


def test_it_is_public_and_prints_what_can_be_pasted() -> None:
    made = bufferlab.configuration("100 Mbps", "fifo", "1 MB", platform="ios-xe")
    text = str(made)
    assert isinstance(made, bufferlab.Configuration)
    assert text.startswith("\n".join(made.lines) + "\n! ")
    assert all(line.startswith("! ") for line in text.splitlines()[len(made.lines) :])
    assert json.loads(json.dumps(made.to_dict()))["amount"] == made.amount


def test_the_document_names_every_platform_and_source() -> None:
    text = DOCS.read_text()
    for platform in PLATFORMS.values():
        assert f"## {platform.title}\n" in text
        for source in platform.sources:
            assert f"| {platform.name} | {source.title} | {source.place} | {source.confirms} |" in text
    for name, reason in NOT_KNOWN.items():
        assert f"`{name}`: {reason}" in text


def test_the_document_s_examples_are_what_comes_out(capsys: pytest.CaptureFixture[str]) -> None:
    from bufferlab.cli import main  # noqa: PLC0415 - the document shows commands

    examples = re.findall(r"```\n\$ bufferlab (.*?)\n(.*?)```", DOCS.read_text(), re.DOTALL)
    assert len(examples) >= len(PLATFORMS)
    for command, shown in examples:
        words = [word.strip("'") for word in re.findall(r"'[^']*'|\S+", command)]
        assert main(words) == 0
        printed = capsys.readouterr().out
        assert shown == printed, command
        assert main([*words, "--sources"]) == 0
        cited = capsys.readouterr().out
        assert re.match(r"[#!] Sources: ", cited.removeprefix(printed)) and cited.startswith(printed)


@pytest.mark.parametrize(
    ("platform", "rate", "device"),
    [
        ("ios-xr", "1 Gbps", "GigabitEthernet0/0/0/0"),
        ("ios-xr", "10 Gbps", "TenGigE0/0/0/0"),
        ("ios-xe", "25 Gbps", "HundredGigE0/0/0"),
        ("junos", "10 Gbps", "xe-0/0/0"),
        ("junos", "100 Gbps", "et-0/0/0"),
        ("linux", "100 Gbps", "eth0"),
    ],
)
def test_interfaces_are_called_by_their_speed(platform: str, rate: str, device: str) -> None:
    lines = configuration(rate, "fifo", "5 ms", platform=platform).lines
    assert any(device in line.split() for line in lines)


@pytest.mark.parametrize(("shift", "warns"), [(9, False), (10, True)])
def test_red_says_when_tc_will_warn(shift: int, *, warns: bool) -> None:
    """tc warns of a burst whose weight is 2^-10 or less (iproute2, tc/q_red.c)."""
    queue = {"discipline": "red", "weight": 2.0**-shift}
    made = configuration("100 Mbps", queue, "200 packets")
    assert any("RED: WARNING. Burst" in note for note in made.notes) == warns


def test_red_s_own_weight_is_as_small_as_the_kernel_takes() -> None:
    """At 1 Gbps it would be 1.2e-5; a megabyte's thresholds leave the kernel's fixed point no room for it."""
    made = configuration("1 Gbps", "red", "1000 packets")
    (found,) = (note for note in made.notes if note.startswith("The weight is 2^-11"))
    assert "not 1.2e-05 as simulated" in found


@pytest.mark.parametrize("platform", PLATFORMS)
def test_what_a_platform_counts_is_the_unit_of_its_lines(platform: str) -> None:
    made = configuration("100 Mbps", "fifo", "100 packets", platform=platform)
    assert PLATFORMS[platform].counts_bytes == (made.unit not in {"packets", ""})


FAIR = {"discipline": "fair_queue"}


def test_fair_queue_on_ios_xe_has_its_command_and_number_of_queues() -> None:
    plain = configuration("20 Mbps", FAIR, "64 packets", platform="ios-xe")
    at = plain.lines.index(" class class-default")
    assert plain.lines[at + 1 : at + 3] == ("  fair-queue", "  queue-limit 64 packets")
    more = configuration("20 Mbps", {**FAIR, "flows": 64}, "64 packets", platform="ios-xe")
    assert "  fair-queue 64" in more.lines
    with pytest.raises(InputError, match="is not a number of queues that fair-queue takes") as caught:
        configuration("20 Mbps", {**FAIR, "flows": 17}, "64 packets", platform="ios-xe")
    assert "16, 32, 64" in (caught.value.accepted or "")


def test_below_a_shaper_fair_queue_is_the_policy_of_its_class() -> None:
    made = configuration("20 Mbps", FAIR, "64 packets", platform="ios-xe", shape=True)
    lines = list(made.lines)
    inner, outer = lines.index("policy-map bufferlab"), lines.index("policy-map bufferlab-shaper")
    assert "  fair-queue" in lines[inner:outer]
    assert lines[outer + 2 : outer + 4] == ["  shape average 20000000", "  service-policy bufferlab"]
    assert made.undo[-2:] == ("no policy-map bufferlab-shaper", "no policy-map bufferlab")


def test_a_class_with_priority_has_no_fair_queue_on_ios_xe() -> None:
    table = {"discipline": "diffserv", "classes": "EF: priority 5 % fair_queue; rest: weight 1"}
    with pytest.raises(InputError, match="has a queue in a class that is not known of IOS XE"):
        configuration("20 Mbps", table, "64 packets", platform="ios-xe")


@pytest.mark.parametrize(("packets", "us"), [(6667, 80_000), (6700, 80_400), (6650, 79_800)])
def test_junos_rounds_to_the_end_of_a_range_that_is_hardly_exceeded(packets: int, us: int) -> None:
    found = configuration("1 Gbps", queue="fifo", buffer=f"{packets} packets", platform="junos")
    assert any(line.endswith(f"bufferlab buffer-size temporal {us}") for line in found.lines)
