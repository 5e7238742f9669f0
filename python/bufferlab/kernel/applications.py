"""What a plan's flows do beside sending always: how much, when, and when again, for the kernel's hosts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from bufferlab import _core
from bufferlab.plan import NEVER_PS, Plan, plan_json
from bufferlab.units import PS_PER_MS, PS_PER_NS

MOST_DATAGRAMS: Final = 1_000_000
"""Of a flow; each is listed in the job."""

_MOST_TURNS: Final = 10_000


def applications(plan: Plan) -> list[dict[str, Any]]:
    """What each flow does; nothing for one that always has data."""
    sources = [group["source"] for group in plan["groups"]]
    text = plan_json(plan)
    by_turns = any(source["kind"] == "tcp" and source["on_off"] for source in sources)
    turns = _core.turns(text, _turns(plan)) if by_turns else []
    has_datagrams = any(source["kind"] == "udp" for source in sources)
    datagrams = _core.datagrams(text, MOST_DATAGRAMS) if has_datagrams else []
    found = []
    for flow, group in enumerate(plan["flows"]["group"]):
        source, ways = sources[group], _ways(plan, flow)
        if source["kind"] == "udp":
            planned = [[ps // PS_PER_NS, size] for ps, size in datagrams[flow]]
            kept = {name: source[name] for name in ("echo", "record", "header_bytes")}
            found.append({"datagrams": planned, **kept, **ways})
        elif source["on_off"]:
            drawn = [[size, ps // PS_PER_NS] for size, ps in turns[flow]]
            fetch = source["on_off"]["fetch"]
            lead_ns = ways["back_ns"] if fetch else 0
            start_ns = plan["flows"]["start_ps"][flow] // PS_PER_NS + lead_ns
            more = {"start_ns": start_ns} if fetch else {}
            found.append({"turns": drawn, "fetch": fetch, **more, **ways, **_stop(plan, flow)})
        else:
            size = transfer_bytes(plan, flow)
            amount = {} if size is None else {"bytes": size, **ways}
            found.append({**amount, **_stop(plan, flow)})
    return found


def transfer_bytes(plan: Plan, flow: int) -> int | None:
    """How much a flow has to send; nothing if it never ends."""
    flows = plan["flows"]
    own = flows["transfer_bytes"][flow] if flows["transfer_bytes"] else NEVER_PS
    amount = plan["groups"][flows["group"][flow]]["source"]["transfer_bytes"] if own == NEVER_PS else own
    return None if amount is None else int(amount)


def forward_ps(plan: Plan, flow: int) -> int:
    """The delay from a flow's sender to its receiver, which the kernel has on the way back."""
    flows = plan["flows"]
    return int(flows["source_delay_ps"][flow] + flows["sink_delay_ps"][flow] + plan["links"][0]["delay_ps"])


def _ways(plan: Plan, flow: int) -> dict[str, int]:
    flows = plan["flows"]
    back_ps = flows["return_delay_ps"][flow] + flows["home_delay_ps"][flow]
    return {"forward_ns": forward_ps(plan, flow) // PS_PER_NS, "back_ns": back_ps // PS_PER_NS}


def _stop(plan: Plan, flow: int) -> Mapping[str, int]:
    stop_ps = plan["flows"]["stop_ps"][flow]
    return {} if stop_ps == NEVER_PS else {"stop_ns": stop_ps // PS_PER_NS}


def _turns(plan: Plan) -> int:
    """Turns that are more than there can be: each takes a round trip, or 1 ms."""
    flows = range(len(plan["flows"]["group"]))
    least_ps = min(PS_PER_NS * sum(_ways(plan, flow).values()) for flow in flows)
    return int(min(plan["duration_ps"] // max(least_ps, PS_PER_MS) + 2, _MOST_TURNS))
