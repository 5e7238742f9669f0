"""A plan as a job for the kernel: what to type, which flows, when to look. What cannot be run is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from bufferlab.errors import InputError
from bufferlab.experiment.recording import RECEIVERS, SENDERS
from bufferlab.kernel import network, tc
from bufferlab.kernel.applications import applications
from bufferlab.kernel.hosts import Hosts, counts_hosts, hosts
from bufferlab.kernel.program import Program
from bufferlab.kernel.refusals import CONTROLS, STATED, refusals
from bufferlab.plan import Plan, plan_json
from bufferlab.units import PS_PER_MS, PS_PER_NS

FIRST_PORT: Final = 10_000
PROGRAMS_FROM: Final = 32_768
"""Ports that programs get which ask for none (ip_local_port_range)."""

_LISTENING_PORT: Final = 5000
_DATAGRAM_PORT: Final = 4999
_NO_TCP: Final[Mapping[str, Any]] = {
    "kind": "tcp", "mss_bytes": 1448, "header_bytes": 52, "timestamps": True, "offload": None, "ecn": "off",
    "tuned_window": False, "initial_window": 10, "min_rto_ps": 200 * PS_PER_MS, "ack_every": 2,
}  # fmt: skip
"""What hosts without TCP have, whose packets are up to 1500 bytes."""

_QUEUE_READINGS: Final = 2000
_SHORTEST_STEP_NS: Final = 1_000_000
_PROGRAMS_STEP_NS: Final = 10_000_000
"""Between two looks at the queue where a program may end at any moment."""

_FLOW_STEP_NS: Final = 100_000_000
_STATE_STEP_NS: Final = 10_000_000
"""How old the round-trip time that a packet states may be."""

_INITIAL_WINDOW: Final = 10
_MIN_RTO_PS: Final = 200 * PS_PER_MS
"""The kernel's own (include/net/tcp.h, Linux 6.12: TCP_INIT_CWND and TCP_RTO_MIN)."""

Job = dict[str, Any]


def job_of(plan: Plan, *, ours: bool = False, program: Program | None = None) -> Job:
    """The job.

    Args:
        plan: The plan.
        ours: The link is Bufferlab's, with its own disciplines, in the place of the kernel's.
        program: What takes the place of the first group of flows, if anything does.

    Raises:
        InputError: The plan has something that the kernel is not given yet.
    """
    mistakes = list(refusals(plan, ours=ours))
    if mistakes:
        raise InputError.of(mistakes)
    (link,), groups, flows = plan["links"], plan["groups"], plan["flows"]
    source = next((group["source"] for group in groups if group["source"]["kind"] == "tcp"), _NO_TCP)
    packet_bytes = source["mss_bytes"] + source["header_bytes"]
    # HTB lets a packet leave when the one before it has been sent, so the last one's time is lacking
    own_ns = [0 if ours else packet_of(group["source"]) * 8 * 10**9 // link["rate_bps"] for group in groups]
    delays_ns = [
        round(ps / PS_PER_NS) + own_ns[group]
        for ps, group in zip(round_trips_ps(plan), flows["group"], strict=True)
    ]
    distinct = sorted(set(delays_ns))
    homes = {delay_ns: index for index, delay_ns in enumerate(distinct)}
    controls = [control_of(group["source"]) for group in groups]
    named = dict.fromkeys(filter(None, controls))
    ports: dict[str | None, int] = {control: _LISTENING_PORT + index for index, control in enumerate(named)}
    datagrams = {} if len(named) == len(set(controls)) else {"datagrams": [_DATAGRAM_PORT]}
    ports[None] = _DATAGRAM_PORT
    applied = applications(plan)
    apart = counts_hosts(plan) and not ours
    at = hosts(plan, [homes[delay_ns] for delay_ns in delays_ns], apart=apart)
    return {
        "commands": network.commands(
            rate_bps=link["rate_bps"],
            discipline=None if ours else tc.discipline(link, packet_bytes),
            delays_ns=distinct,
            mtu=ip_bytes(source),
            packet_bytes=packet_bytes,
            segments=_segments(source["offload"]),
            routes=_routes(source),
            more=_more_addresses(at),
        ),
        "parameters": _parameters(groups),
        "sysctls": _sysctls(
            len(distinct), source, keeps=_keeps(groups), default=controls[0] if program else None
        ),
        "device": network.BOTTLENECK,
        "marks_at": tc.MARKS_AT.get(link["discipline"]["kind"], []),
        "router": network.ROUTER,
        "sending": network.SENDING,
        "address": network.ADDRESS,
        "first_port": FIRST_PORT,
        "receivers": [
            {
                "namespace": network.home(index),
                "address": address,
                "ports": [[port, control] for control, port in ports.items() if control is not None],
                **datagrams,
            }
            for address, index in at.places.items()
        ],
        "flows": [
            {
                "start_ns": start_ps // PS_PER_NS,
                "control": controls[group],
                "address": receiver,
                "port": ports[controls[group]],
                **({"from": sender} if sender != network.ADDRESS else {}),
                **({"tos": dscp << 2} if (dscp := groups[group].get("dscp")) and not ours else {}),
                **({"paced": True} if groups[group]["source"].get("paced") else {}),
                **({"is_programs": True} if program is not None and group == 0 else {}),
                **more,
            }
            for start_ps, group, sender, receiver, more in zip(
                flows["start_ps"], flows["group"], at.senders, at.receivers, applied, strict=True
            )
        ],
        "readings": readings(plan, _PROGRAMS_STEP_NS if program is not None else None),
        **(_forwarded(plan) if ours else {}),
        **(_program(plan, program, homes[delays_ns[flows["group"].index(0)]]) if program else {}),
    }


def _more_addresses(at: Hosts) -> list[tuple[str, str]]:
    """Those that hosts have beside the first of their namespace."""
    senders = [(network.SENDING, address) for address in dict.fromkeys(at.senders)]
    receivers = [(network.home(index), address) for address, index in at.places.items()]
    first = {network.ADDRESS, *(network.address(index) for index in at.places.values())}
    return [place for place in senders + receivers if place[1] not in first]


def live_job_of(plan: Plan, *, program: Program | None = None) -> Job:
    """The job for this machine's own kernel, with a link of Bufferlab's.

    Raises:
        InputError: The plan has something that a kernel is not given yet.
    """
    job = job_of(plan, ours=True, program=program)
    source = next((group["source"] for group in plan["groups"] if group["source"]["kind"] == "tcp"), _NO_TCP)
    delays_ns = dict(zip((flow["address"] for flow in job["flows"]), _delays_ns(plan), strict=True))
    routes = _routes(source)
    if program is not None and (control := control_of(plan["groups"][0]["source"])):
        routes = routes.with_control(control)
    values = job["sysctls"]
    hosts = {name: dict(values[name]) for name in (network.SENDING, network.home(0))}
    for each in hosts.values():
        each.pop("net/ipv4/tcp_congestion_control", None)
    live = {
        "commands": network.live_commands(
            delays_ns=sorted(delays_ns.values()), mtu=ip_bytes(source), segments=_segments(source["offload"]),
            routes=routes,
        ),
        "delays_ns": delays_ns,
        "parameters": {},
        "needs_parameters": job["parameters"],
        "sysctls": {network.SENDING: hosts[network.SENDING], network.BEYOND: hosts[network.home(0)]},
        "router": network.SENDING,
        "receivers": [{**each, "namespace": network.BEYOND} for each in job["receivers"]],
    }  # fmt: skip
    if program is not None:
        for part in filter(None, (job["program"]["program"], job["program"]["peer"])):
            if part["namespace"] != network.SENDING:
                part["namespace"] = network.BEYOND
    return job | live


def _delays_ns(plan: Plan) -> list[int]:
    """What answers of each flow wait for."""
    return [round(ps / PS_PER_NS) for ps in round_trips_ps(plan)]


def _program(plan: Plan, program: Program, home: int) -> Job:
    """A program in the place of the first group, on the way of that group's first flow."""
    places = {
        SENDERS: (network.SENDING, network.ADDRESS),
        RECEIVERS: (network.home(home), network.address(home)),
    }
    return {"program": program.job(places, plan["warmup_ps"] // PS_PER_NS)}


def _forwarded(plan: Plan) -> Job:
    """What a link of Bufferlab's needs."""
    found: Job = {"plan": plan_json(plan), "tuns": list(network.TUNS)}
    source = plan["links"][0]["discipline"].get("rtt")
    if source is not None and source["kind"] in STATED:
        found["states"] = [_STATE_STEP_NS, plan["duration_ps"] // PS_PER_NS, _STATE_STEP_NS]
    return found


def control_of(source: Mapping[str, Any]) -> str | None:
    """The kernel's control of a source, if it has one."""
    return CONTROLS[source["congestion"]["kind"]] if source["kind"] == "tcp" else None


def packet_of(source: Mapping[str, Any]) -> int:
    """A source's full packet on the wire, bytes."""
    return int(
        source["packet_bytes"] if source["kind"] == "udp" else source["mss_bytes"] + source["header_bytes"]
    )


def ip_bytes(source: Mapping[str, Any]) -> int:
    """A source's full packet from IP's header on, bytes."""
    if source["kind"] == "udp":
        return packet_of(source)
    return int(source["mss_bytes"] + (52 if source["timestamps"] else 40))


def round_trips_ps(plan: Plan) -> list[int]:
    """Each flow's round trip without any wait or transmission."""
    flows = plan["flows"]
    parts = (flows[f"{part}_delay_ps"] for part in ("source", "sink", "return"))
    return [sum(each) + plan["links"][0]["delay_ps"] for each in zip(*parts, strict=True)]


def readings(plan: Plan, longest_ns: int | None = None) -> list[tuple[int, str]]:
    """The moments, ns, at which to look, each with what at: everything at the warm-up's end and the run's.

    Args:
        plan: The plan.
        longest_ns: The longest time between two looks at the queue; default a share of the run.
    """
    warmup, end = plan["warmup_ps"] // PS_PER_NS, plan["duration_ps"] // PS_PER_NS
    sample_ps = plan["sample_interval_ps"]
    step = max((end - warmup) // _QUEUE_READINGS, _SHORTEST_STEP_NS)
    step = step if longest_ns is None else min(step, longest_ns)
    own = range(_FLOW_STEP_NS, end, _FLOW_STEP_NS)
    asked = range(0, end + 1, sample_ps // PS_PER_NS)[1:] if sample_ps else range(0)
    kinds = dict.fromkeys(range(warmup, end, step), "queue") | dict.fromkeys(own, "flows")
    kinds |= dict.fromkeys(asked, "sample") | {warmup: "warmup"} | {end: "end"}
    return sorted(kinds.items())


def _parameters(groups: list[dict[str, Any]]) -> dict[str, str]:
    """Files of the modules' parameters, which hold for all connections: groups do not differ in them."""
    found = {}
    for source in (group["source"] for group in groups if group["source"]["kind"] == "tcp"):
        control = source["congestion"]
        folder = f"/sys/module/tcp_{CONTROLS[control['kind']]}/parameters"
        if "hystart" in control:
            found[f"{folder}/hystart"] = str(int(control["hystart"]))
        if control.get("fast_convergence") is False:  # the kernel's own is true
            found[f"{folder}/fast_convergence"] = "0"
    return found


def _segments(offload: object) -> int | None:
    """How many segments a host may hand over as one packet; nothing for what the kernel chooses."""
    if offload is None:
        return 1
    return int(offload["segments"]) if isinstance(offload, Mapping) else None


def _routes(source: Mapping[str, Any]) -> network.Routes:
    """What hosts set by their routes, where it is not the kernel's own."""
    senders = ""
    if source["initial_window"] != _INITIAL_WINDOW:
        senders += f" initcwnd {source['initial_window']}"
    if source["min_rto_ps"] != _MIN_RTO_PS:
        senders += f" rto_min {source['min_rto_ps'] // PS_PER_MS}ms"
    return network.Routes(senders, " quickack 1" if source["ack_every"] == 1 else "")


def _keeps(groups: list[dict[str, Any]]) -> bool:
    """Whether senders keep their windows when they were idle; Linux's do not."""
    return any((group["source"].get("on_off") or {}).get("after_idle") == "keep" for group in groups)


def _sysctls(
    homes: int, source: Mapping[str, Any], *, keeps: bool, default: str | None
) -> dict[str, dict[str, str]]:
    """The kernel's variables, by namespace and path; the default is the control of programs."""
    values = network.sysctls(homes)
    ours = {"net/ipv4/tcp_timestamps": str(int(source["timestamps"]))}
    if source["ecn"] == "classic":  # otherwise as they are: only connections that ask, as DCTCP's, have it
        ours["net/ipv4/tcp_ecn"] = "1"
    if keeps:
        ours["net/ipv4/tcp_slow_start_after_idle"] = "0"
    if default is not None:
        ours["net/ipv4/tcp_congestion_control"] = default
    if source["tuned_window"]:  # the kernel's own limits: what it tunes is looked at
        ours["net/ipv4/tcp_rmem"] = "4096 131072 6291456"
    hosts = [network.SENDING, *map(network.home, range(homes))]
    return values | {name: values[name] | ours for name in hosts}
