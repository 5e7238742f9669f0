"""What of a plan a kernel cannot be given: the keys, with what it takes."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from bufferlab.errors import InputError
from bufferlab.kernel import hosts
from bufferlab.kernel.applications import MOST_DATAGRAMS
from bufferlab.kernel.keys import DISCIPLINES, KEYS
from bufferlab.kernel.network import ETHERNET_BYTES
from bufferlab.plan import Plan, lower
from bufferlab.scenario import Scenario
from bufferlab.units import PS_PER_MS, PS_PER_US

CONTROLS: Final[Mapping[str, str]] = {
    "reno": "reno",
    "cubic": "cubic",
    "cubic-linux": "cubic",
    "bic": "bic",
    "scalable": "scalable",
    "westwood": "westwood",
    "htcp": "htcp",
    "vegas": "vegas",
    "bbr": "bbr",
    "dctcp": "dctcp",
}
"""The kernel's name (TCP_CONGESTION) of each control of a plan that it has."""

OURS: Final = "--queues bufferlab"
"""What gives a kernel a link of Bufferlab's."""

_VARYING: Final = ("capacity", "varying_delay")
"""Parts of a link's plan that are refused by the keys that they come from."""

_AS_IN_SCENARIOS: Final[Mapping[str, str]] = {
    "discipline": "queue",
    "max_burst": "burst",
    "t_update": "update",
}
"""The scenario's key of what has another name in a plan, without its unit."""

_BESIDE: Final = frozenset({"kind", "limit", "mark_above", "sample"})
"""What a plan has in a link or its discipline, and a scenario elsewhere."""

PIE_SCALE: Final = 16
"""tc's alpha and beta count sixteenths of the RFC's hertz (tc-pie(8))."""

_MOST_FLOWS: Final = 2000
"""What was tried: each has two sockets and the kernel's memory for them."""

_MOST_ROUND_TRIPS: Final = 400
"""Each distinct round-trip time has a network namespace of its own."""

_AMPLE_WINDOW: Final = 16 * 2**20
_FIRST_WINDOW: Final = 65_535
"""Bytes that a receiver offers at first (tcp_select_initial_window, net/ipv4/tcp_output.c, Linux 6.12)."""

_MOST_JITTER_PS: Final = 50 * 10**6
"""What the presets have: it tells flows apart, and is too short to be felt."""


_LEAST_DATAGRAM: Final = 32
_MOST_DATAGRAM: Final = 1500
"""IPv4's and UDP's headers and a number; what an Ethernet packet holds."""

_TARGETS: Final = 20
_MOST_OVERHEAD: Final = 256 - ETHERNET_BYTES
"""tc-cake(8): 256, of which Ethernet's header is a part."""

_PIE_BURST_PS: Final = 150 * PS_PER_MS
"""Fixed in the kernel (include/net/pie.h, Linux 6.12)."""

_FIXED: Final[Mapping[str, tuple[object, str]]] = {
    "clock_ps": (1, "no clock's tick: the kernel keeps round-trip times in microseconds"),
    "handshake": (True, "true"),
    "initial_rto_ps": (1000 * PS_PER_MS, "1 s, the kernel's TCP_TIMEOUT_INIT"),
    "initial_ssthresh": (None, "none"),
    "limited_transmit": (True, "true"),
    "stated_rtt_ps": (None, "none"),
    "stated_in": ("header", "header"),
    "max_rto_ps": (120_000 * PS_PER_MS, "120 s, the kernel's TCP_RTO_MAX"),
    "timestamps": (True, "true"),
}
"""What the kernel has no setting for (include/net/tcp.h, Linux 6.12), and what is accepted."""

_CONTROLS_OWN: Final[Mapping[str, Mapping[str, object]]] = {
    "reno": {"growth": "per_segment"},
    "cubic-linux": {"version": "linux_5"},
    "scalable": {"count": 100},
    "dctcp": {"gain": 1 / 16},
}
"""Parameters of controls that are fixed in the kernel (net/ipv4/tcp_*.c, Linux 6.12)."""

_SHARED: Final = (
    "mss_bytes", "header_bytes", "timestamps", "offload", "tuned_window", "initial_window", "ack_every",
    "min_rto_ps", "ecn",
)  # fmt: skip
"""What is set for a route, an interface or a namespace, and not for a connection."""

STATED: Final = ("header", "quantized")
"""Sources of round-trip times that senders state, which a link of Bufferlab's is given beside the packets."""

_SWITCHES: Final = ("hystart", "fast_convergence")
"""Parameters of a control that the kernel keeps once for all connections."""


def refusals(plan: Plan, *, ours: bool = False) -> Iterator[InputError]:
    """Everything in a plan that the kernel is not given, by key.

    Args:
        plan: The plan.
        ours: The link is Bufferlab's, in the place of the kernel's.
    """
    links, groups = plan["links"], plan["groups"]
    if len(links) != 1:
        yield _refuse("links", [link["name"] for link in links], "one link")
    yield from _our_link(links[0]) if ours else _link(links[0])
    if not ours and hosts.counts_hosts(plan):
        yield from _apart(plan)
    yield from _flows(plan["flows"])
    for group in groups:
        yield from _group(f"flows.{group['name']}", group)
    yield from _datagrams(plan, ours=ours)
    idle = [group["source"].get("on_off") or {"after_idle": None} for group in groups]
    ways = [way for way in _distinct(turns["after_idle"] for turns in idle) if way is not None]
    if len(ways) > 1:
        yield _refuse("flows.after_idle", ways, "one value for all groups")
    tcp = [group["source"] for group in groups if group["source"]["kind"] == "tcp"]
    yield from _differences(tcp)
    if ours and any(source["offload"] is not None for source in tcp):
        accepted = "false with --queues bufferlab: devices of TUN get single segments"
        yield _refuse("flows.offload", "more than one segment", accepted)


def _apart(plan: Plan) -> Iterator[InputError]:
    """Hosts that a queue tells apart."""
    for side, count in hosts.too_many(plan):
        yield _refuse(f"flows.{side}", f"{count} hosts", f"at most {hosts.MOST}; any with {OURS}")
    for name in hosts.scattered(plan):
        accepted = f"flows of one round-trip time, or any with {OURS}"
        yield _refuse(f"flows.{name}.receiver", "several round-trip times", accepted)


def _flows(flows: Mapping[str, Any]) -> Iterator[InputError]:
    if len(flows["group"]) > _MOST_FLOWS:
        yield _refuse("flows", len(flows["group"]), f"at most {_MOST_FLOWS} flows")
    delays = (flows[f"{part}_delay_ps"] for part in ("source", "sink", "return"))
    distinct = len({sum(each) for each in zip(*delays, strict=True)})
    if distinct > _MOST_ROUND_TRIPS:
        yield _refuse("flows.rtt", distinct, f"at most {_MOST_ROUND_TRIPS} different round-trip times")
    if flows["echo_of"]:
        yield _refuse("flows.application", "echo", "all others")


def _differences(sources: list[dict[str, Any]]) -> Iterator[InputError]:
    """Groups that differ in what the kernel has once for all."""
    for name in _SHARED:
        values = _distinct(source[name] for source in sources)
        if len(values) > 1:
            yield _refuse(f"flows.{key_of(name)}", values, "one value for all groups")
    for name in _SWITCHES:
        controls = [source["congestion"] for source in sources if name in source["congestion"]]
        for kind in _distinct(CONTROLS.get(control["kind"]) for control in controls):
            values = _distinct(each[name] for each in controls if CONTROLS.get(each["kind"]) == kind)
            if len(values) > 1:
                yield _refuse(f"flows.congestion.{name}", values, f"one value for all {kind}")


def key_of(name: str) -> str:
    """The scenario's key of a connection's parameter in a plan."""
    known = {"mss_bytes": "segment", "header_bytes": "header", "ack_every": "delayed_ack"}
    return known.get(name, name.removesuffix("_ps").replace("tuned_window", "window"))


def _our_link(link: Mapping[str, Any]) -> Iterator[InputError]:
    """What a link of Bufferlab's cannot have: it sees a kernel's packets, on their way there only."""
    if link.get("memory") is not None:
        yield _refuse("memory", link["name"], "none: there is one link")
    source = link["discipline"].get("rtt")
    if source is not None and source["kind"] == "timestamps":
        accepted = "header, handshake, frequency or oracle: acknowledgments do not pass the link"
        yield _refuse(f"links.{link['name']}.queue.rtt", "timestamps", accepted)


def _link(link: Mapping[str, Any]) -> Iterator[InputError]:
    key, queue = f"links.{link['name']}", link["discipline"]
    if link["loss_ppb"]:
        yield _refuse(f"{key}.loss", link["loss_ppb"] / 1e9, "0")
    if link["changes"]:
        yield _refuse(f"{key}.changes", len(link["changes"]), "a buffer that stays as it is")
    if link.get("capacity") is not None:
        yield _refuse(f"{key}.rate", link["capacity"]["kind"], "a rate that stays as it is")
    delay = link.get("varying_delay")
    if delay is not None and delay["delays"]:
        yield _refuse(f"{key}.handover", "a delay that changes", "none, and no changes of the delay")
    if delay is not None and delay["jitter"]["kind"] != "none":
        yield _refuse(f"{key}.jitter", delay["jitter"]["kind"], "none")
    if link.get("loss_bursts") is not None:
        yield _refuse(f"{key}.loss_bursts", "gemodel", "none")
    yield from _others(
        key, {name: value for name, value in link.items() if name not in _VARYING}, "Link", usual={}
    )
    if queue["kind"] not in DISCIPLINES:
        yield _refuse(f"{key}.queue", queue["kind"], f"{', '.join(DISCIPLINES)}; any with {OURS}")
        return
    if queue.get("mark_above") is not None:
        accepted = "none: the kernel's FIFOs never mark; codel's ce_threshold does"
        yield _refuse(f"{key}.mark_above", queue["mark_above"], accepted)
    part = DISCIPLINES[queue["kind"]]
    if not all(_is_known(name, part) for name in queue):
        yield from _others(f"{key}.queue", queue, part, usual=_usual(queue["kind"], link["rate_bps"]))
    yield from _queue(key, queue)


def _key(name: str) -> str:
    """The scenario's key of what a plan has of a link or a discipline."""
    bare = re.sub("_(ps|bps|ppb|bytes)$", "", name)
    return _AS_IN_SCENARIOS.get(bare, bare)


def _is_known(name: str, part: str) -> bool:
    return name in _BESIDE or _key(name) in KEYS[part]


def _others(key: str, given: Mapping[str, Any], part: str, usual: Mapping[str, Any]) -> Iterator[InputError]:
    """What nobody has said a kernel does: refused, unless it is off or as usual."""
    for name, value in sorted(given.items()):
        if not _is_known(name, part) and value and value != usual.get(name):
            yield _refuse(f"{key}.{_key(name)}", _as_written(name, value), "left out")


def _usual(word: str, rate_bps: int) -> Mapping[str, Any]:
    """A discipline of which only its word is given."""
    link = {"rate": f"{rate_bps} bps", "buffer": "1 bdp", "queue": word}
    table = {"run": {"duration": "1 s"}, "bottleneck": link, "flows": [{"rtt": "100 ms"}]}
    discipline: Mapping[str, Any] = lower(Scenario.from_dict(table))["links"][0]["discipline"]
    return discipline


def _queue(key: str, queue: Mapping[str, Any]) -> Iterator[InputError]:
    counts = queue["kind"] not in {"fifo", "red", "cake", "cobalt"}
    if counts and queue["limit"] != "unlimited" and "packets" not in queue["limit"]:
        yield _refuse(f"{key}.buffer", queue["limit"], "packets, which the kernel's discipline counts")
    if queue["kind"] == "red":
        yield from _red(f"{key}.queue", queue)
    if queue["kind"] in {"cake", "cobalt"}:
        yield from _cobalt(f"{key}.queue", queue)
    if queue["kind"] in {"pie", "fq_pie"}:
        if queue["max_burst_ps"] != _PIE_BURST_PS:
            burst = f"{queue['max_burst_ps'] / PS_PER_MS:g} ms"
            yield _refuse(f"{key}.queue.burst", burst, "150 ms, which is fixed in the kernel")
        for name in ("alpha", "beta"):
            if (queue[name] * PIE_SCALE) % 1 or not 0 <= queue[name] * PIE_SCALE <= 32:
                yield _refuse(f"{key}.queue.{name}", queue[name], "a multiple of 1/16 up to 2")


def _cobalt(key: str, queue: Mapping[str, Any]) -> Iterator[InputError]:
    """What CAKE fixes (net/sched/sch_cake.c and tc-cake(8): the target is a twentieth of rtt)."""
    if queue["target_ps"] * _TARGETS != queue["interval_ps"]:
        written = _as_written("target_ps", queue["target_ps"])
        accepted = f"{_as_written('target_ps', queue['interval_ps'] // _TARGETS)} with that interval"
        yield _refuse(f"{key}.target", written, accepted)
    for name, fixed in {"ecn": True, "increment": 1 / 256, "decrement": 1 / 4096}.items():
        if queue[name] != fixed:
            yield _refuse(f"{key}.{name}", queue[name], f"{str(fixed).lower()}, which is fixed in the kernel")
    if queue.get("overhead_bytes", 0) > _MOST_OVERHEAD:
        yield _refuse(f"{key}.overhead", f"{queue['overhead_bytes']} B", f"at most {_MOST_OVERHEAD} B")


def _red(key: str, queue: Mapping[str, Any]) -> Iterator[InputError]:
    """Linux's RED is not gentle, and its weight is a power of two (include/net/red.h, Linux 6.12)."""
    for name in ("min_threshold_medium", "min_threshold_high"):
        if queue.get(name):
            yield _refuse(f"{key}.{name}", queue[name], "left out")
    if queue["gentle"]:
        yield _refuse(f"{key}.gentle", True, "false: above max_threshold the kernel drops all")
    weight = queue["weight"]
    if weight is None or not 2**-31 <= weight <= 0.5 or math.frexp(weight)[0] != 0.5:
        yield _refuse(f"{key}.weight", weight, "a power of two from 2^-31 to 1/2, such as 0.001953125")


def _datagrams(plan: Plan, *, ours: bool) -> Iterator[InputError]:
    """What datagrams cannot have: the kernel writes their headers, and does not split them here."""
    groups = [group for group in plan["groups"] if group["source"]["kind"] == "udp"]
    tcp = [group["source"] for group in plan["groups"] if group["source"]["kind"] == "tcp"]
    most = min((source["mss_bytes"] + 52 for source in tcp), default=_MOST_DATAGRAM)
    headers = _distinct(source["header_bytes"] - (52 if source["timestamps"] else 40) for source in tcp)
    for key, source in ((f"flows.{group['name']}.application", group["source"]) for group in groups):
        if source["sizes"] != "constant" or not _LEAST_DATAGRAM <= source["packet_bytes"] <= most:
            size = f"{source['packet_bytes']} B, {source['sizes']}"
            accepted = f"constant, {_LEAST_DATAGRAM} to {most} B, in one packet with its number"
            yield _refuse(f"{key}.packet", size, accepted)
        if headers not in ([], [0]) and not ours:
            accepted = f"those of the kernel's TCP with datagrams; any with {OURS}"
            yield _refuse("flows.header", tcp[0]["header_bytes"], accepted)
    rows = zip(plan["flows"]["group"], plan["flows"]["start_ps"], plan["flows"]["stop_ps"], strict=True)
    for number, start_ps, stop_ps in rows:
        source = plan["groups"][number]["source"]
        lasts_ps = min(stop_ps, plan["duration_ps"]) - start_ps
        if source["kind"] == "udp" and lasts_ps > MOST_DATAGRAMS * source["interval_ps"] / 2:
            accepted = f"at most {MOST_DATAGRAMS // 2} packets of a flow"
            yield _refuse(f"flows.{plan['groups'][number]['name']}.application.interval", "short", accepted)


def _group(key: str, group: Mapping[str, Any]) -> Iterator[InputError]:
    source = group["source"]
    yield from _hosts(key, group)
    if source["kind"] == "video_call":
        accepted = "another application: the kernel's hosts have no sender that follows a call's reports"
        yield _refuse(f"{key}.application.kind", "video-call", accepted)
    if source["kind"] != "tcp":
        return
    if source.get("video"):
        accepted = "another application: the kernel's hosts have no client that chooses bitrates"
        yield _refuse(f"{key}.application.kind", "video", accepted)
    turns = source["on_off"]
    if turns and "bytes" not in turns["on"]:
        yield _refuse(f"{key}.application.on", "a time", "a size: what is in a socket goes on after it")
    if turns and turns["after_idle"] == "restart":
        yield _refuse(f"{key}.after_idle", "restart", "decay, or keep")
    if source["ecn"] == "abe":
        yield _refuse(f"{key}.ecn", "abe", "off or classic: Linux responds to a mark as to a loss")
    yield from _control(key, source["congestion"])
    if source["recovery"] == "quic":
        accepted = "linux, as with run.stack = 'linux': the kernel has no QUIC"
        yield _refuse(f"{key}.recovery", "quic", accepted)
    else:
        yield from _connection(key, source)


def _hosts(key: str, group: Mapping[str, Any]) -> Iterator[InputError]:
    if group["access_bps"] is not None:
        yield _refuse(f"{key}.access_rate", group["access_bps"], "none")
    if group["reverse"]:
        yield _refuse(f"{key}.reverse_path", len(group["reverse"]), "none")
    if group["host"] is not None:
        yield _refuse(f"{key}.host", "a host model", "ideal")
    most_ps = longest_jitter_ps(group["jitter"])
    if most_ps is None or most_ps > _MOST_JITTER_PS:
        accepted = "none, or at most 50 us, which are left out: a host in virtual time has no noise"
        yield _refuse(f"{key}.jitter", group["jitter"]["kind"], accepted)


def _control(key: str, control: Mapping[str, Any]) -> Iterator[InputError]:
    if control["kind"] not in CONTROLS:
        yield _refuse(f"{key}.congestion", control["kind"], ", ".join(CONTROLS))
        return
    for name, value in _CONTROLS_OWN.get(control["kind"], {}).items():
        if control[name] != value:
            path = f"{key}.growth" if name == "growth" else f"{key}.congestion.{name}"
            text, accepted = (str(each).replace("_", "-") for each in (control[name], value))
            yield _refuse(path, text, f"{accepted}, which is fixed in the kernel")


def _connection(key: str, source: Mapping[str, Any]) -> Iterator[InputError]:
    if source["recovery"] != "linux":
        yield _refuse(f"{key}.recovery", source["recovery"], "linux, as with run.stack = 'linux'")
    if not source["tuned_window"] and source["receive_window_bytes"] < _AMPLE_WINDOW:
        window = f"{source['receive_window_bytes']} B"
        yield _refuse(f"{key}.window", window, "16 MiB and more, or auto, with window_scaling")
    for name, (value, accepted) in _FIXED.items():
        if source[name] != value:
            yield _refuse(f"{key}.{key_of(name)}", _as_written(name, source[name]), accepted)
    if source["ack_every"] not in {1, 2}:
        yield _refuse(
            f"{key}.delayed_ack", source["ack_every"], "true or false: every second segment, or each"
        )
    if source["ack_every"] == 2 and source["ack_delay_ps"] != 40 * PS_PER_MS:
        accepted = "40 ms, the kernel's TCP_DELACK_MIN"
        yield _refuse(f"{key}.ack_delay", _as_written("ack_delay_ps", source["ack_delay_ps"]), accepted)
    if source["min_rto_ps"] % PS_PER_MS or source["min_rto_ps"] == 0:
        yield _refuse(
            f"{key}.min_rto", _as_written("min_rto_ps", source["min_rto_ps"]), "whole ms, 1 ms and more"
        )
    if source["rto_margin_ps"] != source["min_rto_ps"]:
        accepted = (
            f"that of min_rto, {_as_written('min_rto_ps', source['min_rto_ps'])}: the kernel has one for both"
        )
        yield _refuse(f"{key}.rto_margin", _as_written("rto_margin_ps", source["rto_margin_ps"]), accepted)
    if source["initial_window"] * source["mss_bytes"] > _FIRST_WINDOW:
        most = _FIRST_WINDOW // source["mss_bytes"]
        accepted = f"at most {most} segments, what a Linux receiver takes at first"
        yield _refuse(f"{key}.initial_window", source["initial_window"], accepted)


def longest_jitter_ps(jitter: Mapping[str, Any]) -> int | None:
    """The longest that a jitter lasts; nothing if it has no bound."""
    if jitter["kind"] == "none":
        return 0
    return int(jitter["high_ps"]) if jitter["kind"] == "uniform" else None


def _as_written(name: str, value: object) -> object:
    """A parameter's value as scenarios write it."""
    if name.endswith("_ps") and isinstance(value, int):
        return f"{value / PS_PER_MS:g} ms" if value >= PS_PER_US else f"{value} ps"
    return value


def _distinct(values: Any) -> list[Any]:  # noqa: ANN401 - of any kind, hashable or not
    found: list[Any] = []
    for value in values:
        if value not in found:
            found.append(value)
    return found


def _refuse(key: str, value: object, accepted: str) -> InputError:
    return InputError("is not given to a kernel yet", key=key, value=value, accepted=accepted)
