"""What theory says of a scenario that a kernel runs, and what is known of why kernel and simulator differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from bufferlab.kernel.job import round_trips_ps
from bufferlab.plan import Plan
from bufferlab.theory.tcp_models import reno_sawtooth
from bufferlab.units import PS_PER_S

_BITS: Final = 8
_FEW: Final = 10
"""Losses a run, below which one more or less is a difference."""


def in_theory(plan: Plan) -> dict[str, float]:
    """The figures of a lone Reno flow through a FIFO (`reno_sawtooth`), of others nothing."""
    groups, flows, (link,) = plan["groups"], plan["flows"], plan["links"]
    source = groups[0]["source"]
    limit = link["discipline"]["limit"]
    is_lone_reno = len(flows["group"]) == 1 and source["congestion"]["kind"] == "reno"
    if not is_lone_reno or link["discipline"]["kind"] != "fifo" or limit == "unlimited":
        return {}
    packet_bytes = source["mss_bytes"] + source["header_bytes"]
    rate = link["rate_bps"] / _BITS / packet_bytes
    packets = limit["packets"] if "packets" in limit else limit["bytes"] / packet_bytes
    # each acknowledged segment counts, whether or not acknowledgments are delayed: growth is per_segment
    tooth = reno_sawtooth(rate, round_trips_ps(plan)[0] / PS_PER_S + 1 / rate, packets)
    measured_s = (plan["duration_ps"] - plan["warmup_ps"]) / PS_PER_S
    found = {"utilization": tooth.utilization, "wait_mean_ms": tooth.wait_mean_s * 1e3, "loss": tooth.loss}
    # a part of a period says nothing of its mean
    return found if measured_s >= 2 * tooth.period_s else {"utilization": tooth.utilization}


def likely_reasons(plan: Plan, *, drops: float, seeds: int) -> Sequence[str]:
    """Why the figures of a scenario may differ, as far as that is known; the likeliest first.

    Args:
        plan: The scenario's plan.
        drops: Packets that the simulator dropped in a run, on average.
        seeds: How many runs there are.
    """
    return list(_reasons(plan, drops, seeds))


def _reasons(plan: Plan, drops: float, seeds: int) -> Iterator[str]:
    queue, groups = plan["links"][0]["discipline"], plan["groups"]
    controls = {group["source"]["congestion"]["kind"] for group in groups}
    if queue.get("codel_backlog") == "own" and len(plan["flows"]["group"]) > 1:
        yield "Linux's CoDel counts the backlog of all queues: codel_backlog = 'all'"
    if queue.get("control_law") == "rfc":
        yield "Linux approximates the root in CoDel's law: control_law = 'linux'"
    if seeds == 1:
        yield "chance: one seed has no interval"
    if 0 < drops < _FEW:
        yield f"chance: {drops:.3g} drops a run"
    if "bbr" in controls and len(plan["flows"]["group"]) > 1:
        yield "chance: shares of BBR differ from seed to seed"
    if "cubic" in controls:
        yield "Linux's CUBIC is cubic-linux, not that of RFC 9438"
    if any(group["source"]["congestion"].get("hystart") for group in groups):
        yield "Linux's own HyStart leaves slow start otherwise than HyStart++"
    if len(plan["flows"]["group"]) > 1 and len(set(plan["flows"]["start_ps"])) == 1:
        yield "nothing random tells the kernel's flows apart: start = 'uniform(0 s, 1 s)'"
