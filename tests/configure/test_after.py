"""What comes after typing: how to see that the lines work, and how to take them back."""

from __future__ import annotations

import json
import re
import sys
from typing import Any

import pytest

from bufferlab.configure import PLATFORMS, Configuration, Direction, configuration, configuration_of_both

from .test_kernel import in_namespace, why_not

EXPECTED: dict[str, tuple[dict[str, Any], list[str], list[str]]] = {
    "linux": ({}, ["tc -s qdisc show dev abc0"], ["tc qdisc del dev abc0 root"]),
    "openwrt": (
        {},
        ["tc -s qdisc show dev abc0"],
        ["uci delete sqm.bufferlab", "uci commit sqm", "/etc/init.d/sqm restart"],
    ),
    "routeros": (
        {"shape": True},
        ["/queue/tree print stats"],
        ["/queue/tree remove [find where name=bufferlab]", "/queue/type remove [find where name=bufferlab]"],
    ),
    "junos": (
        {},
        ["show class-of-service interface abc0", "show interfaces queue abc0"],
        ["rollback 1", "commit"],
    ),
    "ios-xe": (
        {},
        ["show policy-map interface abc0 output"],
        ["interface abc0", " no service-policy output bufferlab", " exit", "no policy-map bufferlab"],
    ),
    "ios-xr": ({}, ["show policy-map interface abc0"], ["rollback configuration last 1"]),
    "nx-os": (
        {},
        ["show policy-map interface abc0", "show queuing interface abc0"],
        [
            "interface abc0",
            "  no service-policy type queuing output bufferlab",
            "  exit",
            "no policy-map type queuing bufferlab",
        ],
    ),
}


def made_for(platform: str, **options: Any) -> Configuration:
    return configuration("100 Mbps", "fifo", "100 packets", platform=platform, device="abc0", **options)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_what_to_type_to_verify_and_to_undo(platform: str) -> None:
    options, verify, undo = EXPECTED[platform]
    made = made_for(platform, **options)
    assert (list(made.verify), list(made.undo)) == (verify, undo)
    assert made.reads and not made.reads.endswith(".")


def test_a_queue_on_an_interface_of_routeros_gives_way_to_that_of_mikrotik() -> None:
    made = made_for("routeros")
    assert made.verify == ("/queue/interface print",)
    assert made.undo == (
        "/queue/interface set abc0 queue=only-hardware-queue",  # before its type: one in use stays
        "/queue/type remove [find where name=bufferlab]",
    )


@pytest.mark.parametrize("platform", ["ios-xe", "nx-os"])
def test_the_policy_is_detached_before_it_is_removed(platform: str) -> None:
    made = made_for(platform)
    attached, created = made.lines[-1].strip(), made.lines[0].strip()
    assert [line.strip() for line in made.undo if "bufferlab" in line] == [f"no {attached}", f"no {created}"]


@pytest.mark.parametrize("platform", PLATFORMS)
def test_they_are_comments_after_the_lines_each_command_whole(platform: str) -> None:
    made = made_for(platform)
    text, sign = str(made), made.comment
    rest = text.splitlines()[len(made.lines) :]
    assert all(line.startswith(f"{sign} ") for line in rest)
    asked = rest.index(f"{sign} To undo:")
    assert rest[asked + 1 : asked + 1 + len(made.undo)] == [f"{sign}   {line}" for line in made.undo]
    assert rest[asked - len(made.verify) : asked] == [f"{sign}   {line}" for line in made.verify]


def test_they_are_in_the_json_document() -> None:
    document = json.loads(json.dumps(made_for("junos").to_dict()))
    assert document["undo"] == ["rollback 1", "commit"]
    assert document["verify"][0] == "show class-of-service interface abc0"
    assert document["reads"] == "the scheduler map by name; what each queue counted and dropped"


def test_a_platform_without_lines_has_nothing_to_undo() -> None:
    made = configuration("100 Mbps", "codel", "100 packets", platform="junos")
    assert (made.lines, made.verify, made.undo) == ((), (), ())
    assert "To undo" not in str(made)


def both_for(platform: str, queue: str = "fq_codel") -> Configuration:
    made = configuration_of_both(
        Direction("45 Mbps", queue, "225 packets"),
        Direction("9 Mbps", queue, "64 packets"),
        platform=platform,
        device="eth0",
    )
    assert made is not None
    return made


def test_both_directions_are_verified_and_undone() -> None:
    assert both_for("openwrt").verify == ("tc -s qdisc show dev eth0", "tc -s qdisc show dev ifb4eth0")
    assert both_for("openwrt").undo == made_for("openwrt").undo
    undo = both_for("routeros").undo
    assert [re.sub(r" remove \[find where name=(\S+)\]", r" \1", line) for line in undo] == [
        "/queue/tree bufferlab-download",
        "/queue/tree bufferlab-upload",
        "/queue/type bufferlab-download",
        "/queue/type bufferlab-upload",
    ]


FRAMES = """
import socket
wire = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
wire.bind(("eth0", 0))
for _ in range(100):
    try:
        wire.send(b"\\xff" * 12 + b"\\x08\\x00" + bytes(1000))
    except OSError:  # the queue refused it
        pass
"""


def on_kernel(script: str) -> str:
    """What a script prints in a namespace with eth0."""
    if reason := why_not():
        pytest.skip(reason)
    ended = in_namespace(script)
    if "kind is unknown" in ended.stderr or "Unknown device type" in ended.stderr:
        pytest.skip(f"this kernel lacks something: {ended.stderr.strip()}")
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_what_verifies_on_linux_shows_what_waits_and_what_was_dropped() -> None:
    """Of 100 frames that come at once, 10 wait and a few have left; all others were dropped."""
    made = configuration("10 kbps", "fifo", "10 packets", shape=True)
    lines, verify = "\n".join(made.lines), "\n".join(made.verify)
    printed = on_kernel(f"{lines}\nip link set peer0 up\n{sys.executable} -c '{FRAMES}'\n{verify}")
    queue = printed[printed.index("qdisc pfifo 110:") :]
    found = re.search(r"Sent \d+ bytes (\d+) pkt \(dropped (\d+),.*?backlog \S+ (\d+)p", queue, re.DOTALL)
    assert found, queue
    sent, dropped, waiting = found.groups()
    assert 9 <= int(waiting) <= 10  # one takes most of a second
    assert int(dropped) > 70
    assert int(sent) + int(dropped) + int(waiting) >= 100
    assert "'dropped'" in made.reads and "'backlog'" in made.reads


QUEUES = ["fifo", "codel", "fq_codel", "pie", "fq_pie", "step", "red", "cobalt", "cake"]


@pytest.mark.parametrize("shape", [False, True])
@pytest.mark.parametrize("queue", QUEUES)
def test_what_undoes_on_linux_leaves_the_interface_as_it_was(queue: str, shape: bool) -> None:
    made = configuration("100 Mbps", queue, "100 packets", shape=shape)
    show = "tc qdisc show; tc class show dev eth0; ip -br link | cut -d' ' -f1"
    undo = "\n".join(made.undo)
    before, between, after = on_kernel(
        "\necho ===\n".join([show, "\n".join([*made.lines, show]), "\n".join([undo, show])])
    ).split("===\n")
    assert after.strip() == before.strip() != between.strip()


@pytest.mark.parametrize(("queue", "kind"), [("fifo", "pfifo"), ("fq_codel", "fq_codel")])
def test_what_undoes_both_directions_on_linux_leaves_the_interface_as_it_was(queue: str, kind: str) -> None:
    made = both_for("linux", queue)
    assert made.verify == ("tc -s qdisc show dev eth0", "tc -s qdisc show dev ifb4eth0")
    show = "tc qdisc show; tc filter show dev eth0 ingress; ip -br link | cut -d' ' -f1"
    steps = [show, "\n".join([*made.lines, *made.verify, show]), "\n".join([*made.undo, show])]
    before, between, after = on_kernel("\necho ===\n".join(steps)).split("===\n")
    assert after.strip() == before.strip()
    assert between.count(f"{kind} 110: dev ifb4eth0") == 1 and "Sent" in between
