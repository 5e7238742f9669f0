"""Lowers a scenario and a seed to the plan: plain integers, the engine's only input.

The plan is a dictionary that `json.dumps` writes as the engine reads it (crates/simulator/src/plan.rs). What
is random about the flows is drawn here, so that a plan is the whole truth of a run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from bufferlab.buffers import LinkTraffic
from bufferlab.disciplines import lower_limit, lower_queue
from bufferlab.distributions import Distribution, Integers
from bufferlab.draws import Draws, draw, with_echoes
from bufferlab.errors import InputError
from bufferlab.presets import AfterIdle, CongestionKind, Stack
from bufferlab.scenario.applications import DATAGRAMS, Echo, OnOff, Ping, Transfer, Udp, Web
from bufferlab.scenario.checks import links_rtt_ps, sampled_flow_groups
from bufferlab.scenario.models import Flow, Link
from bufferlab.scenario.scenario import Scenario
from bufferlab.stacks import stack_of

PLAN_VERSION: Final = 1
"""Format of the plan; the engine refuses others."""

NEVER_PS: Final = 2**64 - 1
"""Stands for "never" among the plan's times, and for the group's size among the flows' transfers."""

Plan = dict[str, Any]
"""A plan as the engine's JSON has it."""

LINUX_CUBICS: Final[Mapping[CongestionKind, str]] = {
    "cubic-0.8": "linux_2_6_24",
    "cubic-0.7": "linux_2_6_26",
    "cubic-linux": "linux_5",
}
"""Versions of Linux's CUBIC in the plan."""

_PPB: Final = 10**9
_NO_FLOW: Final = 2**32 - 1
_PING_HEADER_BYTES: Final = 28  # 20 of IP and 8 of ICMP (RFC 791, RFC 792)
_FLOW_COLUMNS: Final = (
    "group",
    "start_ps",
    "stop_ps",
    "source_delay_ps",
    "sink_delay_ps",
    "return_delay_ps",
    "home_delay_ps",
    "sample",
)


def lower(scenario: Scenario, seed: int | None = None) -> Plan:
    """Lower a scenario to a plan.

    Args:
        scenario: The scenario.
        seed: Seed of every random draw, 0 to 2^64 - 1; the scenario's own if not given.

    Raises:
        InputError: If a drawn round-trip time is shorter than its links' delays, no flow of a group starts
            before the run's end, or a buffer's word has no flows to depend on.
    """
    seed = _checked_seed(scenario.run.seed if seed is None else seed)
    links = {link.name: link for link in scenario.links}
    try:
        end_ps = scenario.run.duration_ps
        draws = [
            draw(flow, f"flows[{index}]", links, end_ps, seed) for index, flow in enumerate(scenario.flows)
        ]
        draws = with_echoes(scenario.flows, draws)
        return {
            "version": PLAN_VERSION,
            "seed": seed,
            "duration_ps": end_ps,
            "warmup_ps": scenario.run.warmup_ps,
            "sample_interval_ps": 0 if scenario.probes is None else scenario.probes.interval_ps,
            "links": _links(scenario, draws),
            "groups": _groups(scenario, links),
            "flows": _columns(scenario, links, draws),
        }
    except InputError as error:
        raise error.at(file=scenario.file) from None


def plan_json(plan: Plan) -> str:
    """A plan as canonical JSON: keys sorted, no spaces; equal plans give equal text."""
    return json.dumps(plan, sort_keys=True, separators=(",", ":"), allow_nan=False)


def plan_hash(plan: Plan) -> str:
    """SHA-256 of the canonical JSON, in hexadecimal: with the engine's version, the identity of a run."""
    return hashlib.sha256(plan_json(plan).encode()).hexdigest()


def _checked_seed(seed: object) -> int:
    if isinstance(seed, np.integer):
        seed = int(seed)
    if not isinstance(seed, int) or isinstance(seed, bool) or not 0 <= seed < 2**64:
        raise InputError(
            "is not a usable seed", key="seed", value=seed, accepted="a whole number of 0 to 2^64 - 1"
        )
    return seed


@dataclass
class _Crossing:
    """What crosses a link, as far as buffer rules look at it; filled group by group.

    Attributes:
        flows: Number of flows.
        rtt_sum_ps: Sum of their round-trip times, ps.
        packet_bytes: Their largest full packet on the wire, bytes.
    """

    flows: int = 0
    rtt_sum_ps: float = 0.0
    packet_bytes: int = 0

    def add(self, flow: Flow, drawn: Draws, packet_bytes: int) -> None:
        """Count a group. Short flows count for one, as few of them are there at a time."""
        self.flows += flow.count
        self.rtt_sum_ps += flow.count * float(drawn.rtt_ps.mean(dtype=np.float64))
        self.packet_bytes = max(self.packet_bytes, packet_bytes)


@dataclass(frozen=True)
class _Traffic:
    """Crossings of one link by kind: data of TCP, data of UDP, acknowledgments."""

    tcp: _Crossing
    udp: _Crossing
    acks: _Crossing

    def on(self, link: Link) -> LinkTraffic | None:
        """What buffer words depend on: data before acknowledgments, TCP before UDP."""
        chosen = next((kind for kind in (self.tcp, self.udp, self.acks) if kind.flows), None)
        if chosen is None:
            return None
        largest = max(self.tcp.packet_bytes, self.udp.packet_bytes) or self.acks.packet_bytes
        return LinkTraffic(link.rate_bps, chosen.flows, chosen.rtt_sum_ps / chosen.flows, largest)


def _traffic(scenario: Scenario, draws: list[Draws]) -> dict[str, _Traffic]:
    """The traffic of each link by name."""
    traffic = {link.name: _Traffic(_Crossing(), _Crossing(), _Crossing()) for link in scenario.links}
    for flow, drawn in zip(scenario.flows, draws, strict=True):
        if isinstance(flow.application, DATAGRAMS):
            for name in [*(flow.path or []), *flow.reverse_path]:
                traffic[name].udp.add(flow, drawn, flow.application.packet_bytes)
            continue
        stack = stack_of(flow, scenario.run.stack)
        for name in flow.path or []:
            traffic[name].tcp.add(flow, drawn, stack.segment_bytes + stack.header_bytes)
        for name in flow.reverse_path:
            traffic[name].acks.add(flow, drawn, stack.ack_bytes)
    return traffic


def _links(scenario: Scenario, draws: list[Draws]) -> list[dict[str, Any]]:
    traffic = _traffic(scenario, draws)
    sampled = _sampled_links(scenario)
    lowered = []
    for index, link in enumerate(scenario.links):
        key = f"links[{index}]" if scenario.bottleneck is None else "bottleneck"
        lowered.append(_link(link, key, traffic[link.name].on(link), sample=link.name in sampled))
    return lowered


def _link(link: Link, key: str, traffic: LinkTraffic | None, *, sample: bool) -> dict[str, Any]:
    first = lower_limit(link.buffer, f"{key}.buffer", traffic)
    later = [
        lower_limit(change.buffer, f"{key}.changes[{index}].buffer", traffic)
        for index, change in enumerate(link.changes)
    ]
    # left out and not null for never, so that a plan without marks stays the plan it was
    marking = (
        {"mark_above": lower_limit(link.mark_above, f"{key}.mark_above", traffic)} if link.mark_above else {}
    )
    return {
        "name": link.name,
        "rate_bps": link.rate_bps,
        "delay_ps": link.delay_ps,
        "discipline": {
            **lower_queue(link.queue, f"{key}.queue", link.rate_bps, traffic),
            "limit": first,
            **marking,
        },
        "loss_ppb": round(link.loss * _PPB),
        "changes": [
            {"at_ps": change.at_ps, "limit": new} for change, new in zip(link.changes, later, strict=True)
        ],
        "sample": sample,
    }


def _sampled_links(scenario: Scenario) -> set[str]:
    probes = scenario.probes
    if probes is None:
        return set()
    return {link.name for link in scenario.links} if probes.links is None else set(probes.links)


def _groups(scenario: Scenario, links: Mapping[str, Link]) -> list[dict[str, Any]]:
    position = {name: index for index, name in enumerate(links)}
    return [
        {
            "name": flow.name,
            "source": _source(flow, scenario.run.stack),
            "forward": [position[name] for name in flow.path or []],
            "reverse": [position[name] for name in flow.reverse_path],
            "jitter": _jitter(flow.jitter),
            "access_bps": flow.access_rate_bps,
        }
        for flow in scenario.flows
    ]


def _jitter(law: Distribution | None) -> dict[str, Any]:
    if law is None:
        return {"kind": "none"}
    if law.kind == "uniform":
        low_ps, high_ps = int(law.parameters["low"]), int(law.parameters["high"])
        return {"kind": "uniform", "low_ps": low_ps, "high_ps": high_ps}
    return {"kind": "exponential", "mean_ps": int(law.parameters["mean"])}


def _source(flow: Flow, run_stack: str) -> dict[str, Any]:
    if isinstance(flow.application, DATAGRAMS):
        return _datagrams(flow.application)
    transfer_bytes = flow.application.transfer_bytes if isinstance(flow.application, Transfer) else None
    source = {"kind": "tcp", **_tcp(flow, run_stack), "transfer_bytes": transfer_bytes}
    if stack_of(flow, run_stack).window.is_tuned:
        source["tuned_window"] = True
    if stack_of(flow, run_stack).paced:
        source["paced"] = True
    offload = stack_of(flow, run_stack).offload
    if offload != "none":
        source["offload"] = offload if offload == "auto" else {"segments": offload}
    if isinstance(flow.application, Echo):
        source["handshake"] = False  # over the connection that is there
    if isinstance(flow.application, OnOff | Web):
        source["on_off"] = _on_off(flow.application, stack_of(flow, run_stack).after_idle)
    return source


def _datagrams(application: Udp | Ping) -> dict[str, Any]:
    source = {
        "kind": "udp",
        "packet_bytes": application.packet_bytes,
        "interval_ps": application.interval_ps,
        "header_bytes": min(_PING_HEADER_BYTES, application.packet_bytes),
        "arrivals": "constant",
        "sizes": "constant",
    }
    if isinstance(application, Ping):
        return source | {"echo": True}
    law = "exponential" if application.arrivals == "poisson" else "constant"
    source |= {"header_bytes": application.header_bytes, "arrivals": law, "sizes": application.sizes}
    return source | ({"record": True} if application.record else {})


def _on_off(application: OnOff | Web, after_idle: AfterIdle) -> dict[str, Any]:
    if isinstance(application, Web):
        turns = {"on": {"bytes": _law(application.size)}, "off_ps": _law(application.every)}
        return {**turns, "after_idle": after_idle, "fetch": True}
    on = {"time_ps": _law(application.on)} if application.on else {"bytes": _law(application.size)}
    return {"on": on, "off_ps": _law(application.off), "after_idle": after_idle}


def _law(law: Distribution | None) -> dict[str, Any] | None:
    """A law that is drawn during the run."""
    if law is None:
        return None
    whole = {name: int(value) for name, value in law.parameters.items() if name != "shape"}
    shape = {"shape": float(law.parameters["shape"])} if law.kind == "pareto" else {}
    return {"kind": law.kind, **whole, **shape}


def _tcp(flow: Flow, run_stack: str) -> dict[str, Any]:
    stack = stack_of(flow, run_stack)
    return {
        "congestion": _congestion(stack),
        "recovery": stack.recovery.replace("-", "_"),
        "mss_bytes": stack.segment_bytes,
        "header_bytes": stack.header_bytes,
        "ack_bytes": stack.ack_bytes,
        "initial_window": stack.initial_window,
        "initial_ssthresh": stack.initial_ssthresh,
        "receive_window_bytes": stack.receive_window_bytes,
        "ack_every": stack.delayed_ack,
        "ack_delay_ps": stack.ack_delay_ps,
        "min_rto_ps": stack.min_rto_ps,
        "max_rto_ps": stack.max_rto_ps,
        "rto_margin_ps": stack.rto_margin_ps,
        "initial_rto_ps": stack.initial_rto_ps,
        "clock_ps": stack.clock_ps,
        "timestamps": stack.timestamps,
        "limited_transmit": stack.limited_transmit,
        "handshake": stack.handshake,
    }


def _congestion(stack: Stack) -> dict[str, Any]:
    chosen = stack.congestion
    match chosen.kind:
        case "tahoe" | "reno" | "newreno":
            return {"kind": "reno", "growth": stack.growth.replace("-", "_")}
        case "fixed":
            return {"kind": "fixed", "segments": chosen.segments}
        case "bic":
            return {"kind": "bic", "fast_convergence": stack.fast_convergence}
        case "cubic" | "cubic-0.8" | "cubic-0.7" | "cubic-linux":
            version = LINUX_CUBICS.get(chosen.kind)
            kind = {"kind": "cubic-linux", "version": version} if version else {"kind": "cubic"}
            options = {"fast_convergence": stack.fast_convergence, "hystart": chosen.hystart}
            return {**kind, **options}
        case _:
            return {"kind": chosen.kind}


def _columns(scenario: Scenario, links: Mapping[str, Link], draws: list[Draws]) -> dict[str, list[Any]]:
    """The flows by columns, group after group."""
    columns: dict[str, list[Any]] = {name: [] for name in _FLOW_COLUMNS}
    probes = scenario.probes
    sampled = set() if probes is None else sampled_flow_groups(probes, scenario.flows)
    most = 0 if probes is None else probes.per_group
    for index, (flow, drawn) in enumerate(zip(scenario.flows, draws, strict=True)):
        count = drawn.count
        columns["group"] += [index] * count
        columns["start_ps"] += drawn.start_ps.tolist()
        columns["stop_ps"] += [NEVER_PS] * count if drawn.stop_ps is None else drawn.stop_ps.tolist()
        for name, delays_ps in _delays(flow, links, drawn.rtt_ps).items():
            columns[name] += delays_ps.tolist()
        samples = min(count, most) if flow.name in sampled else 0
        columns["sample"] += [True] * samples + [False] * (count - samples)
    return columns | _transfers(draws) | _echoes(scenario, draws)


def _echoes(scenario: Scenario, draws: list[Draws]) -> dict[str, list[int]]:
    """The column of whose data flows return; left out without any."""
    if not any(isinstance(flow.application, Echo) for flow in scenario.flows):
        return {}
    firsts: dict[str, int] = {}
    total = 0
    for flow, drawn in zip(scenario.flows, draws, strict=True):
        firsts[flow.name] = total
        total += drawn.count
    of: list[int] = []
    for flow, drawn in zip(scenario.flows, draws, strict=True):
        if isinstance(flow.application, Echo):
            first = firsts[flow.application.of]
            of += range(first, first + drawn.count)
        else:
            of += [_NO_FLOW] * drawn.count
    return {"echo_of": of}


def _transfers(draws: list[Draws]) -> dict[str, list[int]]:
    """The column of the flows' own transfers; left out without any, so that such plans stay as they were."""
    if all(drawn.transfer_bytes is None for drawn in draws):
        return {}
    own: list[int] = []
    for drawn in draws:
        sizes = drawn.transfer_bytes
        own += [NEVER_PS] * drawn.count if sizes is None else sizes.tolist()
    return {"transfer_bytes": own}


def _delays(flow: Flow, links: Mapping[str, Link], rtt_ps: Integers) -> dict[str, Integers]:
    """Split what the links leave of the round-trip time in four: each side's access, each way.

    Without queued reverse links the way back is one delay: half the round-trip time. Picoseconds that do
    not divide go to the way back, so that the parts sum to the round-trip time exactly.
    """
    access_ps = (rtt_ps - links_rtt_ps(flow, links)) // 4
    forward_ps = sum(links[name].delay_ps for name in flow.path or [])
    reverse_ps = sum(links[name].delay_ps for name in flow.reverse_path)
    home_ps = access_ps if flow.reverse_path else np.zeros_like(rtt_ps)
    return {
        "source_delay_ps": access_ps,
        "sink_delay_ps": access_ps,
        "return_delay_ps": rtt_ps - 2 * access_ps - forward_ps - reverse_ps - home_ps,
        "home_delay_ps": home_ps,
    }
