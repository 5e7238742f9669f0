"""OpenWrt: `/etc/config/sqm` for sqm-scripts, which always shape."""

from __future__ import annotations

from typing import Final

from bufferlab.configure.answer import Answer
from bufferlab.configure.linux import (
    CAKE_NOTE,
    cake_options,
    discipline_options,
)
from bufferlab.configure.platform import Platform, Source, Target, Written
from bufferlab.configure.shared import LINUX_BOUNDS, counted_limit, counted_note, floored, time_text


def write(answer: Answer, target: Target) -> Written:
    """The section of `/etc/config/sqm`, for what leaves the interface."""
    notes = [
        "Append to /etc/config/sqm, then '/etc/init.d/sqm restart'. It is for what leaves the interface "
        "(upload); download 0 leaves the other direction alone.",
        "sqm-scripts always shape, in kbit/s; the limit is the queue's below the shaper.",
    ]
    kbps = floored(answer.rate_bps, 1000, notes)
    options = {"enabled": "1", "interface": target.device, "download": "0", "upload": str(kbps)}
    amount, unit = None, ""
    if target.cake:
        options |= {"qdisc": "cake", "script": "piece_of_cake.qos"}
        options["eqdisc_opts"] = " ".join(cake_options(answer))
        notes.append(CAKE_NOTE)
    else:
        chosen, amount, unit = _queue(answer, notes)
        options |= chosen
    options |= {"qdisc_advanced": "1", "qdisc_really_really_advanced": "1", "linklayer": "none"}
    lines = ["config queue 'bufferlab'", *(f"\toption {name} '{value}'" for name, value in options.items())]
    return Written(tuple(lines), tuple(notes), amount, unit)


def _queue(answer: Answer, notes: list[str]) -> tuple[dict[str, str], int, str]:
    in_bytes = answer.discipline == "fifo" and answer.kind == "bytes"
    if in_bytes:
        kind, unit = "bfifo", "bytes"
        notes.append(counted_note(answer))
    else:
        kind, unit = "pfifo" if answer.discipline == "fifo" else answer.discipline, "packets"
    limit = counted_limit(answer, kind, unit)
    options = {"qdisc": kind, "script": "simplest.qos", "elimit": str(limit)}
    given = answer.parameters
    options["egress_ecn"] = "ECN" if given.get("ecn") else "NOECN"
    if "target_ps" in given:
        options["etarget"] = time_text(given["target_ps"])
        others = [
            option
            for option in discipline_options(answer, notes)
            if option.partition(" ")[0] not in {"target", "ecn", "noecn"}
        ]
        options["eqdisc_opts"] = " ".join(others)
    return options, limit, unit


_WIKI: Final = "OpenWrt wiki"
_SQM: Final = "sqm-scripts (tohojo/sqm-scripts)"

OPENWRT: Final = Platform(
    name="openwrt",
    title="OpenWrt (sqm-scripts)",
    device="eth0",
    comment="#",
    disciplines=("fifo", "codel", "fq_codel", "pie"),
    nearest={"red": "pie", "drr": "fq_codel", "splitbuff": "fq_codel", "splitbuff-blind": "fq_codel"},
    cake=True,
    shapes=True,
    write=write,
    sources=(
        Source(
            _WIKI, "SQM configuration /etc/config/sqm, Sections", "options, units: kbit/s, packets, times"
        ),
        Source(_SQM, "platform/openwrt/sqm-uci, src/run-openwrt.sh", "form of the file, names that are read"),
        Source(_SQM, "src/functions.sh: get_limit, get_target, get_ecn", "which queues take which option"),
        Source(_SQM, "src/simplest.qos, src/piece_of_cake.qos", "the tc lines that come of it"),
    ),
    bounds=LINUX_BOUNDS,
)
