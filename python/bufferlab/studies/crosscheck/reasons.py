"""What theory says of a scenario that a kernel runs, and what is known of why kernel and simulator differ."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from bufferlab.resolved import full_packet_bytes
from bufferlab.results.result import Result
from bufferlab.results.tables import BITS_PER_BYTE
from bufferlab.theory.tcp_models import reno_sawtooth

_FEW: Final = 10
"""Losses a run, below which one more or less is a difference."""


def in_theory(run: Result) -> dict[str, float]:
    """The figures of a lone Reno flow through a FIFO (`reno_sawtooth`), of others nothing."""
    resolved = run.resolved
    flow, (link,) = resolved["flows"][0], resolved["links"]
    limit, tcp = link["buffer"]["limit"], flow["tcp"]
    is_lone_reno = run.flows.height == 1 and tcp is not None and tcp["congestion"] == "reno"
    if not is_lone_reno or link["queue"]["discipline"] != "fifo" or limit is None or limit == "unlimited":
        return {}
    packet_bytes = full_packet_bytes(flow)
    rate = link["rate_bps"] / BITS_PER_BYTE / packet_bytes
    packets = limit["packets"] if "packets" in limit else limit["bytes"] / packet_bytes
    # each acknowledged segment counts, whether or not acknowledgments are delayed: growth is per_segment
    tooth = reno_sawtooth(rate, run.flows["propagation_ms"][0] / 1e3 + 1 / rate, packets)
    found = {"utilization": tooth.utilization, "wait_mean_ms": tooth.wait_mean_s * 1e3, "loss": tooth.loss}
    # a part of a period says nothing of its mean
    is_long = run.duration_s - run.warmup_s >= 2 * tooth.period_s
    return found if is_long else {"utilization": tooth.utilization}


def likely_reasons(run: Result, *, drops: float, seeds: int) -> Sequence[str]:
    """Why the figures of a scenario may differ, as far as that is known; the likeliest first.

    Args:
        run: A run of the simulator.
        drops: Packets that the simulator dropped in a run, on average.
        seeds: How many runs there are.
    """
    return list(_reasons(run, drops, seeds))


def _reasons(run: Result, drops: float, seeds: int) -> Iterator[str]:
    queue, flows = run.resolved["links"][0]["queue"], run.resolved["flows"]
    words = [flow["tcp"]["congestion"] for flow in flows if flow["tcp"] is not None]
    controls = {word.partition("(")[0] for word in words}
    has_many = run.flows.height > 1
    if queue.get("codel_backlog") == "own" and has_many:
        yield "Linux's CoDel counts the backlog of all queues: codel_backlog = 'all'"
    if queue.get("control_law") == "rfc":
        yield "Linux approximates the root in CoDel's law: control_law = 'linux'"
    if seeds == 1:
        yield "chance: one seed has no interval"
    if 0 < drops < _FEW:
        yield f"chance: {drops:.3g} drops a run"
    if "bbr" in controls and has_many:
        yield "chance: shares of BBR differ from seed to seed"
    if "cubic" in controls:
        yield "Linux's CUBIC is cubic-linux, not that of RFC 9438"
    if any("hystart" in word for word in words):
        yield "Linux's own HyStart leaves slow start otherwise than HyStart++"
    if has_many and run.flows["start_s"].n_unique() == 1:
        yield "nothing random tells the kernel's flows apart: start = 'uniform(0 s, 1 s)'"
