"""Differentiated services on Linux: each line as `tc` takes it."""

from __future__ import annotations

import pytest

from bufferlab.configure import configuration
from bufferlab.errors import InputError

LLQ = {"discipline": "diffserv", "classes": "AF31 8: weight 3 codel; EF: priority 33 %; rest: weight 1 drr"}
REST = "priomap" + 16 * " 2"


def test_bands_come_before_classes_by_weight_and_the_rest_has_what_no_filter_names() -> None:
    made = configuration("20 Mbps", LLQ, "300 packets")
    assert list(made.lines[1:]) == [
        f"tc qdisc add dev eth0 root handle 1: ets bands 3 strict 1 quanta 4542 1514 {REST}",
        "tc qdisc add dev eth0 parent 1:1 handle 2: pfifo limit 100",
        "tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dsfield 0xb8 0xfc flowid 1:1"
        " action police index 1 rate 6600kbit burst 165000 conform-exceed drop",
        "tc filter add dev eth0 parent 1: protocol ipv6 prio 2 u32 match ip6 priority 0xb8 0xfc flowid 1:1"
        " action police index 1",
        "tc qdisc add dev eth0 parent 1:2 handle 3: codel limit 100 target 5ms interval 100ms noecn",
        *(
            f"tc filter add dev eth0 parent 1: protocol {protocol} prio {prio} u32 match {match} {field} 0xfc"
            " flowid 1:2"
            for field in ("0x68", "0x20")
            for protocol, prio, match in (("ip", 1, "ip dsfield"), ("ipv6", 2, "ip6 priority"))
        ),
        "tc qdisc add dev eth0 parent 1:3 handle 4: fq_codel limit 100 target 5ms interval 100ms flows 1024"
        " quantum 1514 drop_batch 64 ecn",
    ]
    notes = " ".join(made.notes)
    assert "split evenly" in notes and "while the link is idle" in notes and "no drr" in notes


def test_below_a_shaper_the_handles_are_htb_s() -> None:
    made = configuration("20 Mbps", LLQ, "300 packets", shape=True)
    assert (
        f"tc qdisc add dev eth0 parent 1:10 handle 110: ets bands 3 strict 1 quanta 4542 1514 {REST}"
        in made.lines
    )
    assert "tc qdisc add dev eth0 parent 110:1 handle 111: pfifo limit 100" in made.lines


def test_prio_has_no_quanta_and_its_last_class_what_no_class_lists() -> None:
    queue = {"discipline": "diffserv", "classes": "EF: priority; CS1: priority"}
    made = configuration("20 Mbps", queue, "40 KB")
    assert made.lines[1] == "tc qdisc add dev eth0 root handle 1: ets bands 2 strict 2 priomap" + 16 * " 1"
    assert sum("bfifo limit 20187" in line for line in made.lines) == 2
    assert not any("police" in line for line in made.lines)


def test_a_class_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="names a codepoint twice"):
        configuration("20 Mbps", LLQ | {"classes": "EF: priority; 46: weight 1"}, "9 packets")
