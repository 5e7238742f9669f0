"""OpenWrt: `/etc/config/sqm` for sqm-scripts, which always shape."""

from __future__ import annotations

from typing import Final

from bufferlab.configure.answer import Answer
from bufferlab.configure.linux import (
    CAKE_NOTE,
    LONGEST_NAME,
    cake_options,
    discipline_options,
    ifb_of,
)
from bufferlab.configure.linux_cake import cake_queue_options
from bufferlab.configure.linux_defaults import OF_OPENWRT
from bufferlab.configure.platform import DOWNLOAD, UPLOAD, After, Platform, Source, Target, Written
from bufferlab.configure.shared import (
    FIFO_SOURCE,
    counted_limit,
    counted_note,
    fifo_bounds,
    floored,
    shaped_note,
    time_text,
)
from bufferlab.errors import InputError


def write(answer: Answer, target: Target) -> Written:
    """The section of `/etc/config/sqm`, for what leaves the interface."""
    notes = [
        _APPEND,
        _SHAPES,
        shaped_note(answer),
    ]
    kbps = floored(answer.rate_bps, 1000, notes)
    if target.cake:
        qdisc, options, amount, unit = "cake", {"eqdisc_opts": " ".join(cake_options(answer))}, None, ""
        notes.append(CAKE_NOTE)
    else:
        qdisc, options, amount, unit = _queue(answer, _EGRESS, target, notes)
    rates = {"download": "0", "upload": str(kbps)}
    after = _after(target.device)
    return Written(_section(target, rates, qdisc, options), tuple(notes), amount, unit, after)


def _after(*devices: str) -> After:
    """How to see what the section made, and how to remove it."""
    return After(
        tuple(f"tc -s qdisc show dev {device}" for device in devices),
        "'backlog' is what waits now, 'dropped' counts drops",
        ("uci delete sqm.bufferlab", "uci commit sqm", "/etc/init.d/sqm restart"),
    )


def write_both(down: Answer, up: Answer, target: Target) -> Written:
    """One section for both directions, which has one queue discipline for both.

    Raises:
        InputError: They have different ones.
    """
    rounding: dict[str, list[str]] = {DOWNLOAD: [], UPLOAD: []}
    rates = {
        way: str(floored(answer.rate_bps, 1000, rounding[way]))
        for way, answer in ((DOWNLOAD, down), (UPLOAD, up))
    }
    qdisc, ingress, *_ = _queue(down, _INGRESS, target, rounding[DOWNLOAD])
    other, egress, *_ = _queue(up, _EGRESS, target, rounding[UPLOAD])
    if qdisc != other:
        raise InputError(
            "is not the other direction's, and sqm-scripts have one queue for both",
            key="queue",
            value=qdisc,
            accepted=other,
        )
    layer = target.linklayer
    overhead = () if layer is None else (layer.note(cake=qdisc == "cake"),)
    notes = (f"{_APPEND} {_INTERFACE}", _SHAPES, *overhead)
    return Written.of_both(
        _section(target, rates, qdisc, {**ingress, **egress}),
        Written((), tuple(rounding[DOWNLOAD]), None, ""),
        Written((), tuple(rounding[UPLOAD]), None, ""),
        notes,
        _after(target.device, ifb_of(target.device)),
    )


def _section(target: Target, rates: dict[str, str], qdisc: str, options: dict[str, str]) -> tuple[str, ...]:
    """The section's lines."""
    layer = target.linklayer
    line = {"linklayer": "none"} if layer is None else layer.options(cake=qdisc == "cake")
    script = "piece_of_cake.qos" if qdisc == "cake" else "simplest.qos"
    written = {
        "enabled": "1",
        "interface": target.device,
        **rates,
        "qdisc": qdisc,
        "script": script,
        **options,
        "qdisc_advanced": "1",
        "qdisc_really_really_advanced": "1",
        **line,
    }
    return ("config queue 'bufferlab'", *(f"\toption {name} '{value}'" for name, value in written.items()))


def _queue(
    answer: Answer, way: str, target: Target, notes: list[str]
) -> tuple[str, dict[str, str], int, str]:
    """The queue's kind, its options for a direction, and its limit with the limit's unit."""
    if answer.discipline == "cake":
        # these options come after those of linklayer and overhead, and CAKE takes the last of each kind
        words, memory = cake_queue_options(answer, notes, None if target.linklayer is None else ())
        if target.linklayer is None:
            notes.append(_LAST)
        return "cake", {f"{way[0]}qdisc_opts": " ".join(words)}, memory, "bytes"
    in_bytes = answer.discipline == "fifo" and answer.kind == "bytes"
    if in_bytes:
        kind, unit = "bfifo", "bytes"
        notes.append(counted_note(answer))
    else:
        kind, unit = "pfifo" if answer.discipline == "fifo" else answer.discipline, "packets"
    limit, first = counted_limit(answer, kind, unit, _LIMIT), way[0]
    options = {f"{first}limit": str(limit)}
    given = answer.parameters
    options[f"{way}_ecn"] = "ECN" if given.get("ecn") else "NOECN"
    if "target_ps" in given:
        options[f"{first}target"] = time_text(given["target_ps"])
        others = [
            option
            for option in discipline_options(answer, notes)
            if option.partition(" ")[0] not in {"target", "ecn", "noecn"}
        ]
        options[f"{first}qdisc_opts"] = " ".join(others)
    return kind, options, limit, unit


_APPEND: Final = "Needs the package sqm-scripts. Append to /etc/config/sqm, then '/etc/init.d/sqm restart'."
_INTERFACE: Final = (
    "The interface is the one to the line: 'uci get network.wan.device' names it, often wan; --device sets "
    "it. Delete a section that 'uci show sqm' has for it already."
)
_SHAPES: Final = "sqm-scripts always shape, in kbit/s; the limit is the queue's below the shaper."
_LAST: Final = (
    "sqm-scripts put iqdisc_opts and eqdisc_opts last, and CAKE takes the last of each kind: before you set "
    "linklayer and overhead in the section, take overhead, mpu and the word after them out of these."
)
_EGRESS: Final = "egress"
_INGRESS: Final = "ingress"
"""The directions in the options' names; their first letters are in the names of others."""

_LIMIT: Final = f"sqm-scripts, src/functions.sh, get_limit, as it is to tc: {FIFO_SOURCE}"
"""Where the bounds of limits were read: sqm-scripts hand them on, which tc then bounds."""

_WIKI: Final = "OpenWrt wiki"
_SQM: Final = "sqm-scripts (tohojo/sqm-scripts)"

OPENWRT: Final = Platform(
    device_length=LONGEST_NAME,
    name="openwrt",
    title="OpenWrt (sqm-scripts)",
    device="eth1",
    comment="#",
    disciplines=("fifo", "codel", "fq_codel", "pie", "cake"),
    cake=True,
    shapes=True,
    write=write,
    sources=(
        Source(
            _WIKI, "SQM configuration /etc/config/sqm, Sections", "options, units: kbit/s, packets, times"
        ),
        Source(_SQM, "platform/openwrt/sqm-uci, src/run-openwrt.sh", "form of the file, interface, names"),
        Source(_SQM, "src/functions.sh: get_limit, get_target, get_ecn", "which queues take which option"),
        Source(_SQM, "src/simplest.qos, src/piece_of_cake.qos", "the tc lines that come of it"),
        Source(_SQM, "src/functions.sh: get_stab_string, get_cake_lla_string", "the line's overhead"),
        Source(_SQM, "platform/openwrt/sqm-init, src/run-openwrt.sh", "restart stops what has no section"),
        Source(_WIKI, "The UCI system, Command-line utility", "uci delete, uci commit"),
    ),
    bounds=fifo_bounds(_LIMIT),
    write_both=write_both,
    has_one_queue=True,
    linklayers=True,
    for_downloads="of which the section has none, see bufferlab advise --home",
    defaults=OF_OPENWRT,
)
