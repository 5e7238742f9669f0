"""What the kernel does in its own way, and says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bufferlab.kernel.refusals import longest_jitter_ps


def kernels_own(
    plan: Mapping[str, Any], *, ours: bool = False, live: bool = False, program: bool = False
) -> Iterator[str]:
    """What the kernel does otherwise than a plan says, in words.

    Args:
        plan: The plan.
        ours: The link is Bufferlab's, which does as the plan says.
        live: It is the machine's own kernel.
        program: A program has the first group's place.
    """
    for link in [] if ours else plan["links"]:
        queue = link["discipline"]
        if queue["kind"] in {"cake", "cobalt"} and queue["limit"] != "unlimited":
            yield f"{link['name']}: cake has no limit in packets or bytes, the scenario's buffer is finite"
        if not queue.get("unlimited") and _is_framed(queue):
            yield f"{link['name']}: utilization is of packets' own bytes, without overhead, mpu and framing"
        if queue.get("control_law") == "rfc":
            yield f"{link['name']}: control_law is 'linux', the scenario's is 'rfc'"
        if queue.get("codel_backlog") == "own":
            yield f"{link['name']}: codel_backlog is 'all', the scenario's is 'own'"
    if program:
        yield f"{plan['groups'][0]['name']}: COMMAND has its place, its round trip and its congestion control"
    for group in plan["groups"][int(program) :]:
        yield from _group(group, "the machine's" if live else "none")


def _is_framed(queue: Mapping[str, Any]) -> bool:
    line = queue.get("overhead_bytes", 0) or queue.get("mpu_bytes", 0)
    return bool(line) or queue.get("framing", "plain") != "plain"


def _group(group: Mapping[str, Any], jitter: str) -> Iterator[str]:
    jitter_ps = longest_jitter_ps(group["jitter"])
    if jitter_ps:
        yield f"{group['name']}: jitter is {jitter}, the scenario's is up to {jitter_ps / 1e6:g} us"
    if group["source"]["kind"] != "tcp":
        return
    control = group["source"]["congestion"]
    if control["kind"] == "cubic":
        yield f"{group['name']}: congestion is Linux's CUBIC, the scenario's is that of RFC 9438"
    if control.get("hystart"):
        yield f"{group['name']}: HyStart is Linux's, the simulator's is HyStart++ (RFC 9406)"
