"""What the kernel does in its own way, and says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bufferlab.kernel.refusals import longest_jitter_ps


def kernels_own(plan: Mapping[str, Any], *, ours: bool = False) -> Iterator[str]:
    """What the kernel does otherwise than a plan says, in words.

    Args:
        plan: The plan.
        ours: The link is Bufferlab's, which does as the plan says.
    """
    for link in [] if ours else plan["links"]:
        queue = link["discipline"]
        if queue.get("control_law") == "rfc":
            yield f"{link['name']}: control_law is 'linux', the scenario's is 'rfc'"
        if queue.get("codel_backlog") == "own":
            yield f"{link['name']}: codel_backlog is 'all', the scenario's is 'own'"
    for group in plan["groups"]:
        yield from _group(group)


def _group(group: Mapping[str, Any]) -> Iterator[str]:
    jitter_ps = longest_jitter_ps(group["jitter"])
    if jitter_ps:
        yield f"{group['name']}: jitter is none, the scenario's is up to {jitter_ps / 1e6:g} us"
    if group["source"]["kind"] != "tcp":
        return
    control = group["source"]["congestion"]
    if control["kind"] == "cubic":
        yield f"{group['name']}: congestion is Linux's CUBIC, the scenario's is that of RFC 9438"
    if control.get("hystart"):
        yield f"{group['name']}: HyStart is Linux's, the simulator's is HyStart++ (RFC 9406)"
