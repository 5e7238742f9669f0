"""A plan's discipline in tc's words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from bufferlab.configure.answer import Answer
from bufferlab.configure.linux_cake import FRAMINGS
from bufferlab.configure.linux_red import red
from bufferlab.kernel.network import ETHERNET_BYTES, SHAPES
from bufferlab.kernel.refusals import PIE_SCALE
from bufferlab.units import PS_PER_US

MARKS_AT: Final[Mapping[str, list[int] | str]] = {
    "codel": [24, 32],
    "fq_codel": [12, 28],
    "pie": [36],
    "fq_pie": [16],
    "red": [12],
    "cake": "tins",
    "cobalt": "tins",
}
"""Where a discipline's own statistics count marks (include/uapi/linux/pkt_sched.h, Linux 6.12)."""

_MOST_PACKETS: Final = 1_000_000
_MEMORY: Final = "1gb"


def discipline(link: Mapping[str, Any], packet_bytes: int) -> list[str]:
    """A link's discipline.

    Args:
        link: The link of a plan.
        packet_bytes: A full packet.
    """
    of = link["discipline"]
    kind, limit = of["kind"], of["limit"]
    packets = _MOST_PACKETS if limit == "unlimited" else limit.get("packets")
    if kind == "red":
        return _red(link, packet_bytes)
    if kind in {"cake", "cobalt"}:
        return _cake(of, link["rate_bps"])
    if kind == "fifo":
        return ["pfifo", "limit", str(packets)] if packets else ["bfifo", "limit", str(limit["bytes"])]
    words: dict[str, object] = {"limit": packets, "target": _us(of["target_ps"])}
    words |= _of_pie(of) if kind in {"pie", "fq_pie"} else _of_codel(of)
    if kind == "fq_codel":
        words |= {name: of[name] for name in ("flows", "drop_batch")}
    if kind in {"fq_codel", "fq_pie"}:
        words |= {"flows": of["flows"], "quantum": of["quantum_bytes"], "memory_limit": _MEMORY}
    return [kind, *_spelled(words), "ecn" if of["ecn"] else "noecn"]


def _of_pie(of: Mapping[str, Any]) -> dict[str, object]:
    return {
        "tupdate": _us(of["t_update_ps"]),
        "alpha": round(of["alpha"] * PIE_SCALE),
        "beta": round(of["beta"] * PIE_SCALE),
    }


def _of_codel(of: Mapping[str, Any]) -> dict[str, object]:
    words: dict[str, object] = {"interval": _us(of["interval_ps"])}
    if of["ce_threshold_ps"] is not None:
        words["ce_threshold"] = _us(of["ce_threshold_ps"])
    return words


def _cake(of: Mapping[str, Any], rate_bps: int) -> list[str]:
    """CAKE with its shaper in the place of HTB, or under it without; COBALT is CAKE with one queue.

    With an overhead, CAKE takes off what stands before IP's header (`cake_calc_overhead`). The table of sizes
    has done so already: it is added here.
    """
    rtt = ["rtt", _us(of["interval_ps"]), "memlimit", _MEMORY]
    if of["kind"] == "cobalt":
        return ["cake", "unlimited", "besteffort", "flowblind", *rtt]
    shaper = ["cake", "unlimited"] if of["unlimited"] else [*SHAPES, f"{rate_bps}bit"]
    classes = [of[name].replace("_", "-") for name in ("tins", "isolation")]
    overhead = ETHERNET_BYTES + of["overhead_bytes"]
    line = ["overhead", str(overhead), "mpu", str(of["mpu_bytes"]), FRAMINGS[of["framing"]]]
    return [*shaper, *classes, *line, *rtt]


def _red(link: Mapping[str, Any], packet_bytes: int) -> list[str]:
    """RED: its thresholds and its limit are in bytes, its weight is a burst."""
    of = link["discipline"]
    unit, amount = (
        ("packets", _MOST_PACKETS) if of["limit"] == "unlimited" else next(iter(of["limit"].items()))
    )
    answer = Answer(
        rate_bps=link["rate_bps"],
        queue="red",
        discipline="red",
        parameters=of,
        kind=unit,
        amount=amount,
        packet_bytes=packet_bytes,
        overhead_bytes=0,
        changed={"weight": "weight"},
    )
    options, _ = red(answer, [])
    return ["red", *(word for option in options for word in option.split())]


def _us(ps: int) -> str:
    return f"{ps / PS_PER_US:g}us"


def _spelled(values: Mapping[str, object]) -> Sequence[str]:
    """Options: names and values."""
    return [word for name, value in values.items() for word in (name, str(value))]
