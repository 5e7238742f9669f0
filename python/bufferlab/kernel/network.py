"""What to type inside the kernel so that its network is a plan's: a chain of namespaces and one link.

    sending ── router ══ beyond ── home0, home1, …

The router's interface towards `beyond` is the bottleneck: HTB at the link's rate, under it the discipline. A
link of Bufferlab's lies between two devices of its own, and only acknowledgments take the interface.
Each distinct round-trip time has a namespace of its own, whose acknowledgments wait that long on their way
out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

SENDING: Final = "sending"
ROUTER: Final = "router"
BEYOND: Final = "beyond"
BOTTLENECK: Final = "bottleneck"
TUNS: Final = ("queued", "forwarded")
"""Where packets come to a link of Bufferlab's, in the router, and where they leave it, in `beyond`."""

ADDRESS: Final = "10.0.0.2"
"""Of the senders, which differ in their ports."""

ETHERNET_BYTES: Final = 14
"""What an interface counts of a packet beside its IP packet."""
_EVERYBODY: Final = "02:00:00:00:00:01"
"""The Ethernet address of all: without ARP a packet goes to its sender's own, and no flow waits for one."""

_RING: Final = 30_000
"""Packets that may come to a link of Bufferlab's in one moment; the kernel takes no number of 60,000."""

_LONG: Final = 1_000_000
"""Packets that may wait where nothing must be lost."""

SHAPES: Final = ("cake", "bandwidth")
"""tc's first words of a discipline that is its own shaper."""

Command = dict[str, Any]


class Routes(NamedTuple):
    """What hosts set by their routes (ip-route(8)), each word with a space before it.

    Attributes:
        senders: Those of the senders.
        receivers: Those of the receivers.
    """

    senders: str = ""
    receivers: str = ""

    def with_control(self, name: str) -> Routes:
        """The same, with a congestion control for all that ask for none."""
        return Routes(f"{self.senders} congctl {name}", f"{self.receivers} congctl {name}")


class Net(NamedTuple):
    """Where packets of a job are seen.

    Attributes:
        senders: Namespace and device of the senders.
        receivers: Namespaces of receivers, each with its device.
        arrives: Namespace and device by which packets come to the queue, and whether they leave there.
        crossed: Namespace and devices by which they leave the link, and whether they leave there.
        is_early: Packets leave the link a transmission before they do in the scenario (HTB), which is on
            their way back, too.
        answers_wait: Answers are seen when they have waited for the round trip.
    """

    senders: tuple[str, str]
    receivers: tuple[tuple[str, str], ...]
    arrives: tuple[str, str, bool]
    crossed: tuple[str, tuple[str, ...], bool]
    is_early: bool
    answers_wait: bool


PLAIN: Final = Routes()
"""Hosts that set nothing."""


def home(index: int) -> str:
    """The namespace of the receivers with the round-trip time of this index."""
    return f"home{index}"


def address(index: int, host: int = 0) -> str:
    """Their address, or that of another host among them."""
    return f"10.{1 + index // 256}.{index % 256}.{2 + host}"


def sender(host: int) -> str:
    """The address of a host that sends."""
    return f"10.0.0.{2 + host}"


def commands(
    *, rate_bps: int, discipline: Sequence[str] | None, delays_ns: Sequence[int], mtu: int, packet_bytes: int,
    segments: int | None = 1, routes: Routes = PLAIN, more: Sequence[tuple[str, str]] = (),
) -> list[Command]:  # fmt: skip
    """The commands in order.

    Args:
        rate_bps: Rate of the bottleneck.
        discipline: Its discipline in tc's words; nothing for a link of Bufferlab's.
        delays_ns: The distinct delays of the ways back.
        mtu: Largest IP packet.
        packet_bytes: What the link counts such a packet as.
        segments: How many segments hosts may hand over as one packet; nothing for what the kernel chooses.
        routes: What hosts set by their routes.
        more: Namespaces of hosts, each with an address beside its own.
    """
    homes = [home(index) for index in range(len(delays_ns))]
    names = [SENDING, ROUTER, BEYOND, *homes]
    pairs = [(SENDING, "out", ROUTER, "in"), (ROUTER, BOTTLENECK, BEYOND, "in")]
    pairs += [(BEYOND, name, name, "out") for name in homes]
    made = [f"netns add {name}" for name in names]
    made += [
        f"link add {ours} netns {one} mtu {mtu} type veth peer name {theirs} netns {other} mtu {mtu}"
        for one, ours, other, theirs in pairs
    ]
    once = [_batch("ip", made)]
    if discipline is None:
        places = zip(TUNS, (ROUTER, BEYOND), strict=True)
        once += [{"tun": tun, "namespace": namespace} for tun, namespace in places]
    inner: dict[str, list[str]] = {name: ["link set lo up"] for name in names}
    for one, ours, other, theirs in pairs:
        for name, device in ((one, ours), (other, theirs)):
            most = "" if segments is None else f" gso_max_segs {segments}"
            inner[name].append(f"link set {device} address {_EVERYBODY} arp off up{most}")
    if discipline is None:
        for tun, name in zip(TUNS, (ROUTER, BEYOND), strict=True):
            inner[name].append(f"link set {tun} mtu {mtu} txqueuelen {_RING} up")
    onward = "via 10.255.0.2" if discipline is not None else f"dev {TUNS[0]}"
    _add_routes(inner, homes, routes, onward)
    for name, another in more:
        inner[name].append(f"addr add {another}/24 dev out")
    once += [_batch("ip", lines, name) for name, lines in inner.items()]
    if discipline is not None:
        overhead = packet_bytes - mtu - ETHERNET_BYTES
        once.append(_batch("tc", _shaped(rate_bps, discipline, overhead), ROUTER))
    for name, delay_ns in zip(homes, delays_ns, strict=True):
        line = f"qdisc add dev out root netem delay {delay_ns / 1000:.3f}us limit {_LONG}"
        once.append(_batch("tc", [line], name))
    return once


def live_commands(
    *, delays_ns: Sequence[int], mtu: int, segments: int | None, routes: Routes
) -> list[Command]:
    """The commands in order for a live link: two namespaces, and a device of the link's in each.

    Receivers have their addresses in one namespace; the link's process has answers wait.
    """
    most = "" if segments is None else f" gso_max_segs {segments}"
    ends = ((SENDING, TUNS[0], ADDRESS, routes.senders), (BEYOND, TUNS[1], None, routes.receivers))
    made: list[Command] = [_batch("ip", [f"netns add {name}" for name, *_ in ends])]
    for name, tun, own, words in ends:
        addresses = [own] if own else [address(index) for index in range(len(delays_ns))]
        lines = ["link set lo up", f"link set {tun} mtu {mtu} txqueuelen {_RING}{most} up"]
        lines += [f"addr add {each}/32 dev lo" for each in addresses]
        lines.append(f"route add default dev {tun} src {addresses[0]}{words}")
        made += [{"tun": tun, "namespace": name}, _batch("ip", lines, name)]
    return made


def live_net(homes: int) -> Net:
    """Where packets of a live link are seen, however many round-trip times there are."""
    del homes
    return Net(
        senders=(SENDING, TUNS[0]),
        receivers=((BEYOND, TUNS[1]),),
        arrives=(SENDING, TUNS[0], True),
        crossed=(BEYOND, (TUNS[1],), False),
        is_early=False,
        answers_wait=False,
    )


def net(homes: int, *, ours: bool) -> Net:
    """Where packets are seen.

    Args:
        homes: How many distinct round-trip times there are.
        ours: The link is Bufferlab's.
    """
    names = tuple(home(index) for index in range(homes))
    return Net(
        senders=(SENDING, "out"),
        receivers=tuple((name, "out") for name in names),
        arrives=(ROUTER, "in", False),
        crossed=(BEYOND, names, True),
        is_early=not ours,
        answers_wait=True,
    )


def sysctls(homes: int) -> dict[str, dict[str, str]]:
    """The kernel's variables, by namespace and path; memory must not be what limits a window."""
    memory = {
        "net/ipv4/tcp_no_metrics_save": "1",
        "net/ipv4/tcp_rmem": "4096 131072 67108864",
        "net/ipv4/tcp_wmem": "4096 131072 67108864",
    }
    forward = {"net/ipv4/ip_forward": "1"}
    return {ROUTER: forward, BEYOND: forward, SENDING: memory} | {home(i): memory for i in range(homes)}


def _add_routes(inner: dict[str, list[str]], homes: Sequence[str], routes: Routes, onward: str) -> None:
    inner[SENDING] += [f"addr add {ADDRESS}/24 dev out", f"route add default via 10.0.0.1{routes.senders}"]
    inner[ROUTER] += ["addr add 10.0.0.1/24 dev in", f"addr add 10.255.0.1/24 dev {BOTTLENECK}"]
    inner[ROUTER] += [f"route add default {onward}"]
    inner[BEYOND] += ["addr add 10.255.0.2/24 dev in", "route add default via 10.255.0.1"]
    for index, name in enumerate(homes):
        theirs = address(index)
        ours = theirs[:-1] + "1"
        inner[BEYOND].append(f"addr add {ours}/24 dev {name}")
        inner[name] += [f"addr add {theirs}/24 dev out", f"route add default via {ours}{routes.receivers}"]


def _shaped(rate_bps: int, discipline: Sequence[str], overhead: int) -> list[str]:
    """HTB with a bucket of next to nothing: a packet leaves when the one before it has been sent.

    The table of sizes makes the link count what the scenario counts, not what Ethernet adds.
    """
    size = f"stab overhead {overhead} linklayer ethernet " if overhead else ""
    if tuple(discipline[:2]) == SHAPES:  # it shapes
        return [f"qdisc add dev {BOTTLENECK} {size}root handle 2: {' '.join(discipline)}"]
    rate = f"rate {rate_bps}bit ceil {rate_bps}bit burst 1b cburst 1b quantum 60000"
    return [
        f"qdisc add dev {BOTTLENECK} {size}root handle 1: htb default 1",
        f"class add dev {BOTTLENECK} parent 1: classid 1:1 htb {rate}",
        f"qdisc add dev {BOTTLENECK} parent 1:1 handle 2: {' '.join(discipline)}",
    ]


def _batch(program: str, lines: Sequence[str], namespace: str | None = None) -> Command:
    within = [] if namespace is None else ["-n", namespace]
    return {"words": [program, *within, "-batch", "-"], "input": "".join(f"{line}\n" for line in lines)}
