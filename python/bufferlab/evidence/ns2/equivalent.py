"""From a setting of ns-2 to the same thing as a scenario and a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bufferlab.evidence.ns2.ns2_random import uniform
from bufferlab.evidence.ns2.reference import LINUX_CONTROLS, SHIFT, Setting
from bufferlab.plan import lower
from bufferlab.scenario import Scenario
from bufferlab.units import PS_PER_S, PS_PER_US

_ACK_BYTES = 40
_BOTTLENECK_DELAY_MS = 1.0
_BLOAT_DELAY_MS = 20.0
_ACCESS_MBPS = 10_000.0
_BLOAT_ACCESS_MBPS = 1000.0
_START_BOUND_S = {"mininet": 30.0, "bufferbloat": 0.0, "bufferbloat-omnet": 0.0}
STANDARD_START_BOUND_S = 5.0
_SHIFTS_FROM = 1000
_SKIPPED = 10
_DELAYED_ACK = "100 ms"
_NS2_WINDOW_PACKETS = 100_000

# What ns-2's agents differ in from the preset that reproduces Agent/TCP/Sack1.
_STACKS: dict[str, dict[str, Any]] = {
    "sack1": {},
    "newreno": {"recovery": "newreno-ns2"},
    "reno": {"recovery": "reno-ns2"},
}

# Agent/TCP/Linux: the kernel's window growth, ns-2's own recovery, a clock of 1 ms (tcp-linux.cc,
# install_congestion_control), a timeout with no margin but minrto_ (rtt_update) and of at most maxrto_ 120 s
# (ns-default.tcl).
_LINUX: dict[str, Any] = {
    "growth": "per-segment",
    "recovery": "linux-ns2",
    "timestamps": True,
    "clock": "1 ms",
    "max_rto": "120 s",
}


def scenario_of(setting: Setting) -> dict[str, Any]:
    """The scenario document that is equivalent to a setting of ns-2.

    Args:
        setting: A supported setting; see `bufferlab.evidence.ns2.reference.unsupported`.
    """
    rate = _rate(setting.rate_bps)
    back = _rate(float(setting.option("back")) * 1e6) if setting.option("back") else rate
    delay = f"{_bottleneck_delay_ms(setting):.10g} ms"
    return {
        "run": {
            "name": f"{setting.scenario}: {setting.title}",
            "duration": f"{setting.duration_s:g} s",
            "warmup": f"{setting.warmup_s:g} s",
            "stack": "ns2-sack1",
        },
        "links": [
            # ns-2 drops if L packets would wait, so L - 1 may
            {
                "name": "bottleneck",
                "rate": rate,
                "delay": delay,
                "buffer": f"{setting.buffer_packets - 1} packets",
            },
            {"name": "back", "rate": back, "delay": delay, "buffer": "unlimited"},
        ],
        "flows": [
            _group(setting, kind, control, len(own)) for (kind, control), own in _members(setting).items()
        ],
    }


@dataclass(frozen=True)
class Variant:
    """Circumstances of a run that ns-2 leaves to rounding or draws at random, and that can decide it.

    Attributes:
        later_ms: All flows start this much later: the phase of the senders' clocks, random in ns-2.
        second_first_ps: Flows of type 2 have so much less delay from the bottleneck to the receiver: their
            acknowledgments win or lose the ties with those of type 1, which ns-2 leaves to rounding.
        noise_ns: Senders wait up to so long: ties fall at random, as in ns-2 by rounding.
        further_us: All flows have so much more delay: an ack-clocked flow's packets come at another moment
            between two departures, and that decides which flow finds a full buffer.
    """

    later_ms: float = 0.0
    second_first_ps: int = 0
    noise_ns: int = 0
    further_us: int = 0


AS_IS = Variant()


def plan_of(setting: Setting, seed: int, variant: Variant = AS_IS) -> dict[str, Any]:
    """The plan of one run: the scenario's, with the start times (and spread) that ns-2 had with this seed."""
    scenario = scenario_of(setting)
    for group in scenario["flows"]:
        if variant.noise_ns:
            group["jitter"] = f"uniform(0 s, {variant.noise_ns} ns)"
    plan = lower(Scenario.from_dict(scenario), seed)
    order = [flow for own in _members(setting).values() for flow in own]
    starts = uniform(seed, start_bound_s(setting), setting.flows)
    later_s = variant.later_ms / 1e3
    plan["flows"]["start_ps"] = [round((starts[flow] + later_s) * PS_PER_S) for flow in order]
    for index, flow in enumerate(order):
        earlier_ps = variant.second_first_ps if kind_of(setting, flow) == 1 else 0
        plan["flows"]["sink_delay_ps"][index] += variant.further_us * PS_PER_US - earlier_ps
    if setting.option("spread"):
        _spread_round_trips(plan["flows"], setting, order)
    if setting.option(SHIFT):
        _shift_round_trips(plan["flows"], setting, order, seed)
    return plan


def kind_of(setting: Setting, flow: int) -> int:
    """0 for a flow of type 1, 1 for one of type 2, by its number in ns-2."""
    return 0 if flow < setting.flow_counts[0] else 1


def groups_of(setting: Setting) -> list[tuple[int, str]]:
    """Type and congestion control (empty for agents that have only one) of each group of the plan."""
    return list(_members(setting))


def _members(setting: Setting) -> dict[tuple[int, str], list[int]]:
    """The flows, by their numbers in ns-2, of each type and congestion control."""
    members: dict[tuple[int, str], list[int]] = {}
    controls = setting.control_of or [""] * setting.flows
    for flow, control in enumerate(controls):
        members.setdefault((kind_of(setting, flow), control), []).append(flow)
    return dict(sorted(members.items()))


def start_bound_s(setting: Setting) -> float:
    """Flows start at times uniform between 0 and this, s."""
    return _START_BOUND_S.get(setting.scenario, STANDARD_START_BOUND_S)


def _group(setting: Setting, kind: int, control: str, count: int) -> dict[str, Any]:
    access_mbps = float(setting.option("access", str(_standard_access_mbps(setting))))
    segment = setting.wire_bytes - _ACK_BYTES
    window = int(setting.option("window", str(_NS2_WINDOW_PACKETS)))
    group: dict[str, Any] = {
        "name": f"type{kind + 1}{control and '-'}{control}",
        "count": count,
        "rtt": _round_trip(setting, kind, access_mbps),
        "path": ["bottleneck"],
        "reverse_path": ["back"],
        "access_rate": _rate(access_mbps * 1e6),
        "start": f"uniform(0 s, {start_bound_s(setting):g} s)" if start_bound_s(setting) else "0 s",
        "segment": f"{segment} B",
        "header": f"{_ACK_BYTES} B",
        "ack": f"{_ACK_BYTES} B",
        "window": f"{window} segments",
        **(_LINUX | {"congestion": LINUX_CONTROLS[control]} if control else _STACKS[setting.stack]),
    }
    if setting.option("overhead"):
        group["jitter"] = f"uniform(0 s, {float(setting.option('overhead')) * 1e6:g} us)"
    if setting.option("delack") == "1":
        group |= {"delayed_ack": 2, "ack_delay": _DELAYED_ACK}
    if setting.option("minrto"):
        group["min_rto"] = f"{setting.option('minrto')} s"
    if setting.option("tick"):
        group["clock"] = f"{float(setting.option('tick')) * 1e3:g} ms"
    if setting.option("singledup") == "0":
        group["limited_transmit"] = False
    if setting.option("ssthresh"):
        group["initial_ssthresh"] = int(setting.option("ssthresh"))
    return group


def _round_trip(setting: Setting, kind: int, access_mbps: float) -> str:
    """Propagation, and what ns-2's access links add by storing and forwarding data twice and ACKs twice.

    (Our access rate spaces packets but does not delay a lone one.)
    """
    access_us = 2 * (setting.wire_bytes + _ACK_BYTES) * 8 / access_mbps
    return f"{setting.rtt_ms[kind] * 1e3 + access_us:.6f} us"


def _spread_round_trips(flows: dict[str, Any], setting: Setting, order: list[int]) -> None:
    """Replace the delays by those of ns-2's hosts."""
    hosts, spread = _hosts(setting), float(setting.option("spread"))
    for index, flow in enumerate(order):
        kind = kind_of(setting, flow)
        host = _host_of(setting, flow)
        shift_ms = setting.rtt_ms[kind] * spread * (2.0 * (host + 0.5) / hosts - 1.0)
        quarter_ps = round(shift_ms * 1e9 / 4)
        for column in ("source_delay_ps", "sink_delay_ps", "return_delay_ps", "home_delay_ps"):
            flows[column][index] += quarter_ps


def _shift_round_trips(flows: dict[str, Any], setting: Setting, order: list[int], seed: int) -> None:
    """Lengthen the source's access link, both ways, by what ns-2's script draws for each pair of hosts."""
    hosts = _hosts(setting)
    longer_s = uniform(_SHIFTS_FROM + seed, float(setting.option(SHIFT)), _SKIPPED + 2 * hosts)[_SKIPPED:]
    for index, flow in enumerate(order):
        half_ps = round(longer_s[kind_of(setting, flow) * hosts + _host_of(setting, flow)] * PS_PER_S / 2)
        for column in ("source_delay_ps", "home_delay_ps"):
            flows[column][index] += half_ps


def _hosts(setting: Setting) -> int:
    return int(setting.option("hosts", "1"))


def _host_of(setting: Setting, flow: int) -> int:
    """Flow i of a type is at host i mod hosts."""
    return (flow - kind_of(setting, flow) * setting.flow_counts[0]) % _hosts(setting)


def _bottleneck_delay_ms(setting: Setting) -> float:
    standard = _BLOAT_DELAY_MS if setting.scenario.startswith("bufferbloat") else _BOTTLENECK_DELAY_MS
    return float(setting.option("botdelay", str(standard)))


def _standard_access_mbps(setting: Setting) -> float:
    return _BLOAT_ACCESS_MBPS if setting.scenario.startswith("bufferbloat") else _ACCESS_MBPS


def _rate(rate_bps: float) -> str:
    return f"{rate_bps / 1e6:.10g} Mbps"
