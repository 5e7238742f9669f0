"""What becomes of each key of a scenario in a kernel: given to it, refused, or the kernel's own and said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Final


class Fate(Enum):
    """What becomes of a key."""

    GIVEN = "given:"
    """The kernel does it."""
    REFUSED = "refused unless"
    """Only what is accepted is taken; everything else is an error that names the key."""
    OWN = "the kernel's own:"
    """The kernel does as it does, which the output says where the scenario has it otherwise."""
    NOTHING = "nothing to do:"
    """It changes nothing of what happens in the kernel."""


Reason = tuple[Fate, str]

_NO_HOST: Final[Reason] = (Fate.REFUSED, "ideal hosts only")
_DRAWN: Final[Reason] = (Fate.GIVEN, "drawn as for the simulator")
_A_CONNECTION_EACH: Final[Reason] = (Fate.GIVEN, "a connection each, drawn as for the simulator")
_DATAGRAMS: Final[Reason] = (Fate.GIVEN, "datagrams of 32 to 1500 B")
_OURS: Final[Reason] = (Fate.NOTHING, "is Bufferlab's")
_OF_CODEL: Final[Mapping[str, Reason]] = {
    "discipline": (Fate.GIVEN, "tc"),
    "target": (Fate.GIVEN, "tc"),
    "interval": (Fate.GIVEN, "tc"),
    "ecn": (Fate.GIVEN, "tc"),
    "ce_threshold": (Fate.GIVEN, "tc"),
    "control_law": (Fate.OWN, "Linux's approximation of the root"),
}

_OF_PIE: Final[Mapping[str, Reason]] = {
    "discipline": (Fate.GIVEN, "tc"),
    "target": (Fate.GIVEN, "tc"),
    "update": (Fate.GIVEN, "tc tupdate"),
    "alpha": (Fate.GIVEN, "tc, in sixteenths; others are refused"),
    "beta": (Fate.GIVEN, "tc, in sixteenths; others are refused"),
    "burst": (Fate.REFUSED, "150 ms"),
    "ecn": (Fate.GIVEN, "tc"),
}
_OF_COBALT: Final[Mapping[str, Reason]] = {
    "discipline": (Fate.GIVEN, "tc cake unlimited besteffort flowblind"),
    "interval": (Fate.GIVEN, "tc rtt"),
    "target": (Fate.REFUSED, "a twentieth of the interval"),
    "ecn": (Fate.REFUSED, "true"),
    "increment": (Fate.REFUSED, "1/256"),
    "decrement": (Fate.REFUSED, "1/4096"),
}

KEYS: Final[Mapping[str, Mapping[str, Reason]]] = {
    "Run": {
        "name": _OURS,
        "duration": (Fate.GIVEN, "end of the traffic"),
        "warmup": (Fate.GIVEN, "moment of a reading"),
        "seed": (Fate.GIVEN, "draws, and the kernel's random numbers"),
        "stack": (Fate.GIVEN, "key by key, as in flows"),
        "host": _NO_HOST,
    },
    "Link": {
        "name": _OURS,
        "rate": (Fate.GIVEN, "HTB; one that varies is refused"),
        "delay": (Fate.NOTHING, "a part of the round trip, all of which netem has"),
        "buffer": (Fate.GIVEN, "tc limit, in packets but for fifo and red; cake and cobalt have none"),
        "queue": (Fate.GIVEN, "tc, key by key below"),
        "mark_above": (Fate.REFUSED, "none: the kernel's FIFOs never mark"),
        "loss": (Fate.REFUSED, "0"),
        "changes": (Fate.REFUSED, "none"),
        **dict.fromkeys(("loss_bursts", "jitter", "handover"), (Fate.REFUSED, "none")),
        "reorder": (Fate.NOTHING, "jitter, without which it does nothing, is refused"),
    },
    "Change": dict.fromkeys(("at", "buffer", "rate", "delay"), (Fate.REFUSED, "none")),
    "Memory": dict.fromkeys(("name", "size", "alpha", "links"), (Fate.REFUSED, "none")),
    "Fifo": {"discipline": (Fate.GIVEN, "pfifo, or bfifo with bytes")},
    "Codel": _OF_CODEL,
    "FqCodel": {
        **_OF_CODEL,
        "flows": (Fate.GIVEN, "tc"),
        "quantum": (Fate.GIVEN, "tc"),
        "drop_batch": (Fate.GIVEN, "tc"),
        "codel_backlog": (Fate.OWN, "that of all queues"),
    },
    "Pie": _OF_PIE,
    "FqPie": {**_OF_PIE, "flows": (Fate.GIVEN, "tc"), "quantum": (Fate.GIVEN, "tc")},
    "Cobalt": _OF_COBALT,
    "Cake": {
        **_OF_COBALT,
        "discipline": (Fate.GIVEN, "tc; its shaper is in HTB's place"),
        "tins": (Fate.GIVEN, "tc"),
        "isolation": (Fate.GIVEN, "tc; hosts have addresses of their own, up to 250 on a side"),
        "unlimited": (Fate.GIVEN, "tc, under HTB"),
        "overhead": (Fate.GIVEN, "tc, with Ethernet's 14 bytes, which it takes off; up to 242 bytes"),
        **dict.fromkeys(("mpu", "framing"), (Fate.GIVEN, "tc")),
    },
    "Red": {
        "discipline": (Fate.GIVEN, "tc"),
        "min_threshold": (Fate.GIVEN, "tc min, in bytes"),
        "max_threshold": (Fate.GIVEN, "tc max, in bytes"),
        **dict.fromkeys(("min_threshold_medium", "min_threshold_high"), (Fate.REFUSED, "left out")),
        "target_delay": (Fate.GIVEN, "tc min and max"),
        "weight": (Fate.GIVEN, "tc burst; powers of two"),
        "max_p": (Fate.GIVEN, "tc probability"),
        "gentle": (Fate.REFUSED, "false"),
        "adaptive": (Fate.GIVEN, "tc"),
        "ecn": (Fate.GIVEN, "tc"),
        "mean_packet": (Fate.GIVEN, "tc avpkt"),
    },
    "Flow": {
        "name": _OURS,
        "count": (Fate.GIVEN, "connections, at most 2000"),
        "rtt": (Fate.GIVEN, "drawn as for the simulator, at most 400 different ones"),
        "rtt_spread": _DRAWN,
        "start": _DRAWN,
        "stop": (Fate.GIVEN, "no new data; up to 4 KB are in the socket"),
        "path": (Fate.REFUSED, "one link"),
        "reverse_path": (Fate.REFUSED, "none"),
        "access_rate": (Fate.REFUSED, "none"),
        "dscp": (Fate.GIVEN, "IP_TOS of the senders' sockets"),
        "sender": (Fate.NOTHING, "hosts have addresses of their own under cake; else none is looked at"),
        "receiver": (Fate.NOTHING, "as sender; under cake with one round-trip time"),
        "application": (Fate.GIVEN, "as below; drawn as for the simulator"),
        "stack": (Fate.GIVEN, "key by key"),
        "host": _NO_HOST,
        "congestion": (Fate.GIVEN, "TCP_CONGESTION; HyStart by the module's parameter"),
        "fast_convergence": (Fate.GIVEN, "the module's parameter"),
        "growth": (Fate.REFUSED, "per-segment"),
        "recovery": (Fate.REFUSED, "linux"),
        "segment": (Fate.GIVEN, "ip link mtu"),
        "header": (Fate.GIVEN, "tc stab"),
        "ack": (Fate.NOTHING, "acknowledgments cross no queue"),
        "initial_window": (Fate.GIVEN, "ip route initcwnd, up to 65,535 bytes"),
        "initial_ssthresh": (Fate.REFUSED, "none"),
        "delayed_ack": (Fate.GIVEN, "ip route quickack; true or false"),
        "ack_delay": (Fate.REFUSED, "40 ms"),
        "min_rto": (Fate.GIVEN, "ip route rto_min, whole milliseconds"),
        "max_rto": (Fate.REFUSED, "120 s"),
        "rto_margin": (Fate.REFUSED, "that of min_rto"),
        "initial_rto": (Fate.REFUSED, "1 s"),
        "clock": (Fate.REFUSED, "none"),
        "timestamps": (Fate.REFUSED, "true"),
        "limited_transmit": (Fate.REFUSED, "true"),
        "ecn": (Fate.GIVEN, "tcp_ecn; off or classic"),
        "handshake": (Fate.REFUSED, "true"),
        "paced": (Fate.GIVEN, "SO_MAX_PACING_RATE without a limit"),
        "stated_rtt": (Fate.REFUSED, "none"),
        "stated_in": (Fate.REFUSED, "header"),
        "window": (Fate.GIVEN, "tcp_rmem; 16 MiB and more, or auto"),
        "window_scaling": (Fate.REFUSED, "true"),
        "offload": (Fate.GIVEN, "ip link gso_max_segs"),
        "jitter": (Fate.OWN, "none; more than 50 us are refused"),
        "after_idle": (Fate.GIVEN, "tcp_slow_start_after_idle; restart is refused"),
    },
    "Bulk": {"kind": (Fate.GIVEN, "sockets that always have data")},
    "Transfer": dict.fromkeys(("kind", "bytes"), (Fate.GIVEN, "a connection with that amount of data")),
    "ShortFlows": dict.fromkeys(("kind", "size", "interval", "arrivals", "load"), _A_CONNECTION_EACH),
    "OnOff": {
        **dict.fromkeys(("kind", "size", "off"), (Fate.GIVEN, "a connection that has data by turns")),
        "on": (Fate.REFUSED, "left out"),
    },
    "Video": dict.fromkeys(
        ("kind", "segment", "ladder", "rule", "buffer", "startup", "resume", "safety"),
        (Fate.REFUSED, "another application"),
    ),
    "VideoCall": dict.fromkeys(
        (
            "kind",
            "min_rate",
            "start_rate",
            "max_rate",
            "low_rate",
            "fps",
            "variation",
            "packet",
            "header",
            "report",
        ),
        (Fate.REFUSED, "another application"),
    ),
    "Web": dict.fromkeys(("kind", "size", "every"), (Fate.GIVEN, "a new connection for each page")),
    "Udp": {
        **dict.fromkeys(("kind", "packet", "rate", "interval", "arrivals", "record"), _DATAGRAMS),
        "header": (Fate.GIVEN, "of the packet, what is no payload"),
        "sizes": (Fate.REFUSED, "constant"),
    },
    "Ping": dict.fromkeys(("kind", "packet", "interval"), (Fate.GIVEN, "datagrams that come back")),
    "Host": dict.fromkeys(
        ("interrupt_delay", "line_rate", "noise", "queue", "queue_limit", "quick_acks"), _NO_HOST
    ),
    "Probes": dict.fromkeys(("interval", "flows", "links", "per_group"), (Fate.GIVEN, "readings")),
    "Advise": dict.fromkeys(("for", "targets", "weights"), _OURS),
    "Weights": dict.fromkeys(
        ("calls", "fairness", "latency", "pages", "throughput", "transfers", "video"), _OURS
    ),
}  # fmt: skip
"""By part of the scenario (docs/scenario.schema.json) and key: what becomes of it, and by what or as what."""

DISCIPLINES: Final[Mapping[str, str]] = {
    "fifo": "Fifo",
    "codel": "Codel",
    "fq_codel": "FqCodel",
    "pie": "Pie",
    "fq_pie": "FqPie",
    "red": "Red",
    "cobalt": "Cobalt",
    "cake": "Cake",
}
"""The part of each discipline that the kernel has, by its word."""

_OTHER_PARTS: Final[Mapping[str, tuple[str, Reason]]] = {
    "discipline": ("every other queue", (Fate.REFUSED, ", ".join(DISCIPLINES))),
    "kind": ("every other application", (Fate.REFUSED, "left out")),
}
"""What becomes of the parts that are not listed, by the key that they have their word in."""

_OTHER_KEYS: Final[Reason] = (Fate.REFUSED, "left out")
"""What becomes of a key of a link or a queue that is not listed."""


def becomes(part: str, keys: Iterable[str]) -> dict[str, Reason]:
    """What becomes of a part's keys.

    Args:
        part: Its name in docs/scenario.schema.json.
        keys: The keys that it has there.

    Raises:
        KeyError: It is no queue and no application, and not listed.
    """
    known = KEYS.get(part)
    if known is not None:
        return {key: known.get(key, _OTHER_KEYS) for key in keys}
    word = next((word for word in _OTHER_PARTS if word in keys), part)
    return dict.fromkeys(keys, _OTHER_PARTS[word][1])


def table() -> str:
    """The keys as Markdown for docs/kernel.md: those of one part with one fate in a line."""
    lines = ["| part | keys | what becomes of them |", "| --- | --- | --- |"]
    for part, keys in KEYS.items():
        fates: dict[Reason, list[str]] = {}
        for key, reason in keys.items():
            fates.setdefault(reason, []).append(f"`{key}`")
        for (fate, text), names in fates.items():
            lines.append(f"| {part} | {', '.join(names)} | {fate.value} {text} |")
    for part, (fate, text) in _OTHER_PARTS.values():
        lines.append(f"| {part} | all | {fate.value} {text} |")
    return "\n".join(lines)
