"""Both directions of a line at once: one section for sqm-scripts, two shapers for Linux."""

from __future__ import annotations

import json
import re
import sys

import pytest

from bufferlab.configure import Direction, configuration_of_both
from bufferlab.errors import InputError

from .test_kernel import in_namespace, why_not

FQ = {"discipline": "fq_codel", "quantum": "300 B", "target": "5 ms"}
DOWN = Direction("45 Mbps", FQ, "225 packets")
UP = Direction("9 Mbps", {**FQ, "target": "7 ms"}, "64 packets")


def test_openwrt_has_one_section_with_both_rates() -> None:
    made = configuration_of_both(DOWN, UP, platform="openwrt", device="wan")
    assert made is not None
    lines = [line.strip() for line in made.lines]
    assert lines[0] == "config queue 'bufferlab'" and sum("config" in line for line in lines) == 1
    assert set(lines[1:]) == {
        *("option enabled '1'", "option interface 'wan'", "option download '45000'", "option upload '9000'"),
        *("option qdisc 'fq_codel'", "option script 'simplest.qos'", "option linklayer 'none'"),
        *("option ilimit '225'", "option elimit '64'", "option itarget '5ms'", "option etarget '7ms'"),
        *("option ingress_ecn 'ECN'", "option egress_ecn 'ECN'"),
        "option iqdisc_opts 'interval 100ms flows 1024 quantum 300 drop_batch 64'",
        "option eqdisc_opts 'interval 100ms flows 1024 quantum 300 drop_batch 64'",
        *("option qdisc_advanced '1'", "option qdisc_really_really_advanced '1'"),
    }


def test_openwrt_has_one_queue_for_both() -> None:
    with pytest.raises(InputError, match="'fq_codel' is not the other direction's, and sqm-scripts have one"):
        configuration_of_both(DOWN, Direction("9 Mbps", "fifo", "64 packets"), platform="openwrt")


def test_what_one_direction_alone_concerns_says_which() -> None:
    made = configuration_of_both(Direction("45.0005 Mbps", FQ, "225 packets"), UP, platform="openwrt")
    assert made is not None and "\toption download '45000'" in made.lines
    rounded = [note for note in made.notes if "rounded down" in note]
    assert rounded == ["download: The shaper's rate is rounded down to 45000000 bit/s, which it can count."]


def test_other_platforms_take_two_configurations_and_unknown_queues_say_so() -> None:
    assert configuration_of_both(DOWN, UP, platform="ios-xe") is None
    made = configuration_of_both(DOWN, Direction("9 Mbps", "drr", "64 packets"), platform="linux")
    assert made is not None and made.lines == () and made.nearest == "fq_codel"


def test_routeros_queues_each_direction_where_it_leaves_the_router() -> None:
    made = configuration_of_both(DOWN, UP, platform="routeros", device="ether5")
    assert made is not None
    trees = [line for line in made.lines if line.startswith("/queue/tree")]
    assert [re.findall(r"(?:name|parent|max-limit|queue)=(\S+)", line) for line in trees] == [
        ["bufferlab-download", "bridge", "45M", "bufferlab-download"],
        ["bufferlab-upload", "ether5", "9M", "bufferlab-upload"],
    ]
    types = [line for line in made.lines if line.startswith("/queue/type")]
    assert "name=bufferlab-download" in types[0] and "fq-codel-limit=225" in types[0]
    assert "name=bufferlab-upload" in types[1] and "fq-codel-limit=64" in types[1]
    # the rates are below the line's by now
    assert not any("ask for 90 %" in note for note in made.notes)


def test_routeros_has_no_lines_for_a_link_layer() -> None:
    with pytest.raises(InputError, match="linklayer: 'atm 26 B' has no line on routeros"):
        configuration_of_both(DOWN, UP, platform="routeros", linklayer="atm 26 B")


def test_a_long_device_name_leaves_room_for_that_of_the_ifb_device() -> None:
    made = configuration_of_both(DOWN, UP, device="pppoe-upstream0")
    assert made is not None
    assert "ip link add name ifb4e-upstream0 type ifb 2>/dev/null || true" in made.lines


def asked_of_kernel(queue: str | dict[str, str], script: str, linklayer: str | None = None) -> str:
    """What commands print once the lines have run, twice, in a namespace of their own."""
    if reason := why_not():
        pytest.skip(reason)
    made = configuration_of_both(
        Direction("45 Mbps", queue, "225 packets"),
        Direction("9 Mbps", queue, "64 packets"),
        linklayer=linklayer,
    )
    assert made is not None
    lines = "\n".join(made.lines)
    ended = in_namespace(f"{lines}\n{lines}\n{script}")
    if "kind is unknown" in ended.stderr or "Unknown device type" in ended.stderr:
        pytest.skip(f"this kernel lacks something: {ended.stderr.strip()}")
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.parametrize(("queue", "kind"), [("fifo", "pfifo"), (FQ, "fq_codel")])
def test_linux_takes_the_lines_twice_and_has_both_queues(queue: str | dict[str, str], kind: str) -> None:
    asked = [(what, at) for what in ("qdisc", "class") for at in ("eth0", "ifb4eth0")]
    shown = "; ".join(f"tc {what} show dev {at}" for what, at in asked)
    printed = asked_of_kernel(queue, f"{shown}\ntc filter show dev eth0 parent ffff:")
    assert printed.count(f"{kind} 110: parent 1:10") == 2 and printed.count("qdisc ingress ffff:") == 1
    assert "limit 64p" in printed and "limit 225p" in printed
    assert "rate 45Mbit ceil 45Mbit" in printed and "rate 9Mbit ceil 9Mbit" in printed
    assert printed.count("Egress Redirect to device ifb4eth0") == 1


FRAMES = """
import socket
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
wire.bind(("peer0", 0))
for _ in range(25):
    wire.send(b"\\xff" * 12 + b"\\x08\\x00" + bytes(1000))
"""


def test_what_comes_in_passes_the_queue_of_the_download() -> None:
    send = f"ip link set peer0 up; {sys.executable} -c '{FRAMES}'; sleep 0.2"
    printed = json.loads(asked_of_kernel("fifo", f"{send}\ntc -j -s qdisc show dev ifb4eth0"))
    (queue,) = (each for each in printed if each["kind"] == "pfifo")
    assert queue["packets"] >= 25 and queue["bytes"] >= 25 * 1014


@pytest.mark.parametrize(("kind", "overhead"), [("ethernet", 16), ("atm", 26)])
def test_what_the_line_takes_for_a_packet_is_in_the_lines(kind: str, overhead: int) -> None:
    layer = f"{kind} {overhead} B"
    linux, openwrt = (
        configuration_of_both(DOWN, UP, platform=name, linklayer=layer) for name in ("linux", "openwrt")
    )
    assert linux is not None and openwrt is not None
    shapers = [line for line in linux.lines if "root handle 1:" in line]
    table = f"stab mtu 2047 tsize 512 mpu 0 overhead {overhead} linklayer {kind} htb default 10"
    assert len(shapers) == 2 and all(line.endswith(table) for line in shapers)
    lines = [line.strip() for line in openwrt.lines]
    assert {f"option linklayer '{kind}'", f"option overhead '{overhead}'"} <= set(lines)
    assert "option linklayer 'none'" not in lines
    for made in (linux, openwrt):
        (note,) = [note for note in made.notes if "beyond what the interface counts" in note]
        assert note.startswith(f"{overhead} bytes") and ("whole cells" in note) == (kind == "atm")
    plain = configuration_of_both(DOWN, UP)
    assert plain is not None and "stab" not in "".join(plain.lines)


CAKE = {"discipline": "cake"}


@pytest.mark.parametrize(
    ("device", "layer", "words"),
    [
        ("eth1", "ethernet 26 B", "overhead 40 mpu 0 noatm"),
        ("eth1", "atm 26 B", "overhead 40 mpu 0 atm"),
        ("pppoe-upstream0", "ethernet 30 B", "overhead 30 mpu 0 noatm"),
    ],
)
def test_cake_counts_the_line_itself_from_the_ip_packet_on(device: str, layer: str, words: str) -> None:
    linux, openwrt = (
        configuration_of_both(
            Direction("54 Mbps", CAKE, "1000 packets"),
            Direction("5.4 Mbps", CAKE, "1000 packets"),
            platform=name,
            device=device,
            linklayer=layer,
        )
        for name in ("linux", "openwrt")
    )
    assert linux is not None and openwrt is not None
    shapers = [line for line in linux.lines if " cake bandwidth " in line]
    assert len(shapers) == 2 and all(f" {words} memlimit" in line for line in shapers)
    # sqm-scripts put these options last, and CAKE takes the last of each kind
    options = [line for line in openwrt.lines if "qdisc_opts" in line]
    assert len(options) == 2 and not any(
        re.search("overhead|mpu|atm", line.partition(" '")[2]) for line in options
    )
    assert f"\toption overhead '{words.split()[1]}'" in openwrt.lines
    for made in (linux, openwrt):
        assert not any("overhead 0" in note or "the section" in note for note in made.notes[2:])
        assert any("its overhead is both together: 40" in note for note in made.notes) == (device == "eth1")


@pytest.mark.parametrize(
    ("linklayer", "problem"),
    [
        ("ethernt 16 B", "is not a link layer and its overhead (did you mean 'ethernet'?)"),
        ("16 B", "is not a link layer and its overhead"),
        ("ethernet", "is not a link layer and its overhead"),
        ("atm 26", "has no unit"),
        ("atm 300 B", "is too large"),
    ],
)
def test_a_bad_link_layer_says_what_is_accepted(linklayer: str, problem: str) -> None:
    with pytest.raises(InputError) as error:
        configuration_of_both(DOWN, UP, linklayer=linklayer)
    assert str(error.value) == (
        f"linklayer: '{linklayer}' {problem}; accepted: one of ethernet, atm, and 0 B to 242 B for each "
        "packet: 'ethernet 16 B'"
    )


def test_linux_counts_what_the_line_takes() -> None:
    """A frame of 1014 bytes takes 22 cells of 53 bytes with 26 more; what the kernel sends itself, fewer."""
    send = f"ip link set peer0 up; {sys.executable} -c '{FRAMES}'; sleep 0.2"
    printed = asked_of_kernel("fifo", f"{send}; tc -d -s qdisc show dev ifb4eth0", "atm 26 B")
    assert "linklayer atm overhead 26 mtu 2047 tsize 512" in printed
    sent = re.search(r"qdisc pfifo .*\n Sent (\d+) bytes (\d+) pkt", printed)
    assert sent is not None and int(sent[2]) >= 25
    others = int(sent[1]) - 25 * 22 * 53
    assert others >= 0 and others % 53 == 0 and others < 53 * 22 * (int(sent[2]) - 24)
