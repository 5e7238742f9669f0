"""The demand of a plan, which is the input of the sizing rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from bufferlab.errors import InputError
from bufferlab.theory.bscl import effective_rtt_s
from bufferlab.theory.demand import Demand
from bufferlab.theory.protocols import get_protocol
from bufferlab.theory.targets import Targets

_PS_PER_S = 1e12
_SPREAD_THAT_DESYNCHRONIZES = 0.05
"""Standard deviation over mean of the round-trip times above which flows count as unsynchronized: in ns-2,
round-trip times spread evenly over ±20 % (0.115) show no synchronization, equal ones complete
synchronization."""

_LINUX_VERSIONS: Final = {"linux_2_6_24": "cubic-0.8", "linux_2_6_26": "cubic-0.7", "linux_5": "cubic-linux"}


def demand_of(
    plan: dict[str, Any],
    link: int,
    *,
    targets: Targets | None = None,
    measured: Mapping[str, float] | None = None,
) -> Demand:
    """The demand of a plan's long-lived TCP flows on a link.

    The round-trip time is the arithmetic mean over those flows, the packet size the largest of their full
    data packets, as for the words "bdp" and "stanford" of scenarios. Flows that end (transfers) and UDP
    count only if there are no others.

    Args:
        plan: A lowered scenario.
        link: Index of the link.
        targets: Targets for the link.
        measured: Measured characteristic values by protocol, used in place of the model's.

    Raises:
        InputError: No TCP flow crosses the link, or a protocol has neither a model nor a measured value.
    """
    groups = plan["groups"]
    crossing = [i for i, group in enumerate(groups) if link in group["forward"] and _is_tcp(group)]
    lasting = [i for i in crossing if groups[i]["source"]["transfer_bytes"] is None]
    chosen = lasting or crossing
    member = np.isin(np.asarray(plan["flows"]["group"]), chosen)
    if not member.any():
        name = plan["links"][link]["name"]
        raise InputError("no TCP flow crosses this link, so no rule applies", key="flows", value=name)
    mix = _mix(plan, chosen, marks=_marks(plan["links"][link]["discipline"]))
    _check_measured(measured or {}, mix)
    rtt_s = _round_trips_s(plan)[member]
    jittered = any(groups[i]["jitter"]["kind"] != "none" for i in chosen)
    spread = float(rtt_s.std() / rtt_s.mean()) > _SPREAD_THAT_DESYNCHRONIZES
    return Demand(
        rate_bps=float(plan["links"][link]["rate_bps"]),
        rtt_s=float(rtt_s.mean()),
        flows=int(member.sum()),
        packet_bytes=max(_wire_bytes(groups[i]) for i in chosen),
        desynchronized=jittered or spread,
        mix=mix,
        harmonic_rtt_s=effective_rtt_s(rtt_s),
        targets=targets or Targets(),
        measured=measured or {},
    )


def _marks(discipline: Mapping[str, Any]) -> bool:
    """Whether a queue marks ECN-capable packets."""
    thresholds = (discipline.get("mark_above"), discipline.get("ce_threshold_ps"))
    return bool(discipline.get("ecn")) or any(threshold is not None for threshold in thresholds)


def protocol_of(congestion: Mapping[str, Any], *, marks: bool = False) -> str:
    """Name of the theory's protocol for a plan's congestion control.

    Args:
        congestion: As in the plan.
        marks: Whether the link marks packets: DCTCP is Reno where it does not.
    """
    kind = str(congestion["kind"])
    if kind == "cubic-linux":
        return _LINUX_VERSIONS[congestion["version"]]
    if kind == "dctcp" and not marks:
        return "dctcp-unmarked"
    return get_protocol(kind).name


def _mix(plan: dict[str, Any], chosen: list[int], *, marks: bool) -> tuple[tuple[str, float], ...]:
    """Flows of each protocol, in order of the groups."""
    counts = np.bincount(np.asarray(plan["flows"]["group"], dtype=np.intp), minlength=len(plan["groups"]))
    mix: dict[str, float] = {}
    for index in chosen:
        name = protocol_of(plan["groups"][index]["source"]["congestion"], marks=marks)
        mix[name] = mix.get(name, 0.0) + float(counts[index])
    return tuple((name, count) for name, count in mix.items() if count)


def _check_measured(measured: Mapping[str, float], mix: tuple[tuple[str, float], ...]) -> None:
    names = [name for name, _ in mix]
    for name in measured:
        if get_protocol(name).name not in names:
            raise InputError(
                "is the protocol of no flow", key="measured", value=name, accepted=", ".join(names)
            )


def _is_tcp(group: dict[str, Any]) -> bool:
    return bool(group["source"]["kind"] == "tcp")


def _wire_bytes(group: dict[str, Any]) -> int:
    return int(group["source"]["mss_bytes"] + group["source"]["header_bytes"])


def _round_trips_s(plan: dict[str, Any]) -> np.ndarray[Any, np.dtype[np.float64]]:
    flows = plan["flows"]
    own = sum(
        np.asarray(flows[column], dtype=np.float64)
        for column in ("source_delay_ps", "sink_delay_ps", "return_delay_ps", "home_delay_ps")
    )
    of_links = [
        float(sum(plan["links"][index]["delay_ps"] for index in group["forward"] + group["reverse"]))
        for group in plan["groups"]
    ]
    return np.asarray((own + np.asarray(of_links)[np.asarray(flows["group"])]) / _PS_PER_S, dtype=np.float64)
