"""Low latency queueing: calls that come marked have priority over the rest, up to a part of the link."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Any, Final

from bufferlab._scenario_types import ResolvedFlow, ResolvedScenario
from bufferlab.configure import find_platform
from bufferlab.resolved import datagrams_bps
from bufferlab.results.metrics.metric import FRACTION
from bufferlab.scenario import QUEUE_WORDS, Scenario, Table
from bufferlab.studies.internet import CALL_DSCP
from bufferlab.studies.words import LLQ, LLQ_FAIR, is_llq
from bufferlab.units import packets_text

FAIR: Final = "fair_queue"
"""The word of `fair-queue` alone."""

TITLES: Final = {LLQ: "LLQ", LLQ_FAIR: "LLQ with fair-queue", FAIR: "fair-queue"}
"""What they are called in sentences, as on the router."""

LABELS: Final = {LLQ: "LLQ", LLQ_FAIR: "LLQ, fair", FAIR: "fair-queue"}
"""What they are called in tables."""

_EF: Final = 46
"""The codepoint that it is."""

SPARE: Final = 1.5
"""The class of calls may have this many times their share of the link, in whole percents. Our choice."""

LEAST: Final = 5
"""Percent of the link that it has at least, so that more calls have room: what they leave, others have.
Our choice."""

MOST: Final = 33
"""Percent of the link that it may have at most. Our choice, as in the simulator's default classes."""


_FRAMING_BYTES: Final = 18
"""Ethernet's header and frame check sequence (IEEE 802.3, section 3.1.1)."""

NEEDED: Final = f"flows of datagrams with dscp = '{CALL_DSCP}', which take at most {MOST} % of the link"
"""What it needs."""


def llq_tables(base: Scenario, link: int) -> dict[str, Table]:
    """The queues for a link's marked calls, by word; none where there are none, or they take too much."""
    share = calls_share(base, link)
    if not 0 < share * 100 <= MOST:
        return {}
    percent = min(max(ceil(round(share * 100 * SPARE, 9)), LEAST), MOST)
    classes = f"{CALL_DSCP}: priority {percent} %; rest: weight 1"
    return {
        word: {"discipline": "diffserv", "classes": f"{classes}{queue}"}
        for word, queue in ((LLQ, ""), (LLQ_FAIR, f" {FAIR}"))
    }


def known_queues(base: Scenario, link: int) -> dict[str, Table]:
    """Every queue by its word, with those for a link's marked calls where there are some."""
    return {**QUEUE_WORDS, **llq_tables(base, link)}


def percent_of(table: Table) -> int:
    """The percent of the link that calls may have."""
    return int(str(table["classes"]).partition(" %")[0].rpartition(" ")[2])


def rests_on(name: str, table: Table, resolved: ResolvedScenario, link: str) -> list[str]:
    """What an answer rests on if it is LLQ, as sentences: marks, and how many calls have room.

    Args:
        name: The queue's word.
        table: Its table.
        resolved: The scenario.
        link: Name of the link.
    """
    if not is_llq(name):
        return []
    room_bps = _rate_bps(resolved, link) * percent_of(table) // 100
    calls = priority_calls(resolved, link)
    number = sum(each["count"] for each in calls)
    sent_bps = sum(_framed_bps(each) for each in calls)
    room = int(number * room_bps / sent_bps) if sent_bps else 0
    held = f" ({room} call{'' if room == 1 else 's'})" if sent_bps else ""
    return [f"It needs calls marked {CALL_DSCP}; up to {percent_of(table)} % of the link{held} goes first."]


def priority_calls(resolved: ResolvedScenario, link: str) -> list[ResolvedFlow]:
    """The groups that cross a link marked as calls."""
    return [each for each in resolved["flows"] if link in each["path"] and each["dscp"] == _EF]


def _framed_bps(flow: ResolvedFlow) -> float:
    """What a group of datagrams sends with Ethernet's framing, which a policer may count."""
    sent = flow["application"]
    if sent["kind"] != "udp":
        return 0.0
    return datagrams_bps(flow) * (sent["packet_bytes"] + _FRAMING_BYTES) / sent["packet_bytes"]


def _rate_bps(resolved: ResolvedScenario, link: str) -> int:
    return sum(each["rate_bps"] or 0 for each in resolved["links"] if each["name"] == link)


def parts_of(table: Table) -> int:
    """How many classes share a queue's buffer evenly."""
    return str(table["classes"]).count(":") if table["discipline"] == "diffserv" and "classes" in table else 1


def of_classes(table: Table, packets: int | None) -> str | None:
    """That a buffer is that of all classes together, and what one has, as a clause; `None` without classes.

    Args:
        table: The queue.
        packets: Its buffer; `None` if there is none.
    """
    parts = parts_of(table)
    if packets is None or parts < 2:
        return None
    return (
        f"this buffer is that of all {parts} classes, which share it evenly: a queue-limit of one class is "
        f"{packets_text(packets // parts)}"
    )


def calls_share(base: Scenario, link: int, dscp: int = _EF) -> float:
    """The share of a link's rate that datagrams with a codepoint take while they are sent."""
    name, rate_bps = base.links[link]["name"], base.links[link]["rate_bps"]
    sent = sum(datagrams_bps(flow) for flow in _calls(base, name) if flow["dscp"] == dscp)
    return sent / rate_bps if rate_bps else 0.0


def about_llq(base: Scenario, link: int, platform: str | None, tables: Iterator[Table]) -> Iterator[str]:
    """What is taken for granted about calls and marks, where the platform has LLQ.

    Args:
        base: The scenario.
        link: Index of the link.
        platform: The platform; `None` where none was named.
        tables: LLQ's table if it is tried, else nothing.
    """
    if platform is None or not find_platform(platform).llq:
        return
    share = calls_share(base, link)
    shown = FRACTION.quantity(share, digits=2)
    for table in tables:
        yield (
            f"LLQ has calls marked {CALL_DSCP} first, up to {percent_of(table)} % of the link: {SPARE:g} "
            f"times the {shown} that they take, rounded up, between {LEAST} and {MOST} % (our choice)"
        )
        return
    if share * 100 > MOST:
        most = f"which has {MOST} % for them at most (our choice)"
        yield f"calls marked {CALL_DSCP} take {shown} of the link: no LLQ is tried, {most}"
    elif not share and any(_calls(base, base.links[link]["name"])):
        yield f"datagrams come unmarked: no LLQ is tried, which needs dscp = '{CALL_DSCP}' of calls"


def _calls(base: Scenario, link: str) -> Iterator[Any]:
    """The groups of datagrams that cross a link."""
    flows = base.resolved["flows"]
    return (flow for flow in flows if flow["application"]["kind"] == "udp" and link in flow["path"])
