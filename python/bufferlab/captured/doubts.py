"""What may be wrong with what a capture says: sentences for the reader."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator
from typing import Any, Final

import polars as pl

from bufferlab.captured.flows import behind_a_queue, lasting_loss_of, loss_of, mean_bytes, timed
from bufferlab.captured.link import DIRECTIONS, TCP, CapturedLink, WaitingGroup, long_flows
from bufferlab.captured.marks import is_l4s
from bufferlab.captured.observation import NS_PER_S, Observation
from bufferlab.captured.scenario import Known, few_packets
from bufferlab.captured.waits import constant_ms
from bufferlab.display import significant
from bufferlab.errors import InputError
from bufferlab.units import format_rate, parse_rate

_NOTABLE: Final = 0.02
"""Part of the payload from which on it matters that it goes the other way."""

_TWICE: Final = 0.01
_IMPLAUSIBLE: Final = 0.3
"""Part of the packets that come twice in a row, and of the segments that come again, from which on the
capture is rather to blame than the link. Our choice."""

_BUSY: Final = 0.95
_LEAST_BUSY: Final = {True: 0.5, False: 0.85}
"""Parts of the rate: what arrives on a full link in the mean of all seconds, and in each at least, before its
queue and behind it. Our choice."""

_IDLE: Final = 0.5
_BUSY_SECOND: Final = 0.9
"""A link was never busy if it carried less than the first part of its rate, and in no second the other one.
Our choice."""

_FEWEST_SECONDS: Final = 3
_OFTEN: Final = 0.25
_TENTH_S: Final = 0.1
"""In few seconds packets wait often if they do in that part of all tenths. Our choice."""

_RATE_OFF: Final = 0.1
_MANY_EPISODES: Final = 30
_FEW_LATER: Final = 0.1
"""Losses came as flows began if there are as many, and at most that part of them later. Our choice."""

_OF_STARTS: Final = 0.1
"""They are of starts if no more than that part is lost without these. Our choice."""

_MORE: Final = 0.02
"""By more than that part of a rate no link carries more. Our choice."""

_FULL: Final = 0.9
_LOSSY: Final = 0.01
_FEW_PACKETS: Final = 4.0
"""A link that is used to as much and loses as much keeps more than as many packets waiting. Our choice."""

_RTTS_APART: Final = 1.3
_ERRORS: Final = 3.0
_RTT_OFF: Final = 1.2
"""What the operator says is contradicted by a rate that is off by that part and that many errors, and by
round trips that are shorter by that factor. Flows differ by the third one. Our choice."""


_CUT: Final = 0.01
"""Part of the packets without whole headers from which on it matters. Our choice."""


def cut_headers(observation: Observation, *, matters: bool) -> Iterator[str]:
    """How many packets were cut within their headers, as a sentence.

    Args:
        observation: The capture.
        matters: Whether it is asked for where it matters, else where it does not.
    """
    count = observation.cut
    if not count or (count >= _CUT * observation.packets) != matters:
        return
    are = (
        "1 packet is cut within its headers"
        if count == 1
        else f"{count:,} packets are cut within their headers"
    )
    lacking = ", before timestamps and SACK blocks end" if observation.totals["cut_options_packets"] else ""
    yield f"{are}{lacking}: capture 128 bytes of each"


def doubts(
    observation: Observation, link: dict[str, Any], long: pl.DataFrame, *, named: bool, ahead: bool
) -> Iterator[str]:
    """What to beware of, as sentences.

    Args:
        observation: The capture, with its own addresses.
        link: The row of the direction in the table of links.
        long: Its long flows.
        named: Whether the operator named the networks of one side.
        ahead: Whether the queue lies beyond the place of the capture.
    """
    yield from cut_headers(observation, matters=True)
    share = _other_way(observation, link)
    if not named and share > _NOTABLE and is_guessed(observation, link["interface"]):
        yield (
            "which way packets go is a guess, as both ends have addresses of one kind, and "
            f"{100 * share:.0f} % of the payload goes the other way, which is not judged here: --inside "
            "names the networks of one side"
        )
    yield from _answers_wait(observation, link, long)
    yield from _early_losses(observation, link, long)
    yield from _doubled(long)
    yield from _scalable(long)
    lonely = _one_way(observation, link)
    if not lonely.is_empty():
        yield (
            "most bytes are of connections of which only this direction was captured, and those have no "
            f"round trips; {_other_direction(observation, lonely)}name the round trip by --rtt"
        )
    if is_begun_busy(observation, link, long, ahead=ahead):
        yield (
            "the capture begins in the middle of flows on a busy link: if the queue was never empty, round "
            "trips are shorter than these, waits and the buffer longer; begin earlier, add a ping, or name "
            "the round trip by --rtt"
        )


def impossible(link: CapturedLink) -> Iterator[str]:
    """What cannot be true together, as sentences: losses and a queue that never filled, more than the rate.

    Args:
        link: What was captured.
    """
    waits, rate_bps = link.waits, link.rate_bps
    used = link.utilization()
    kept = 1.0 - ((link.losses or 0.0) if link.is_offered else 0.0)
    if rate_bps is not None and used is not None and used * kept > 1.0 + _MORE + _still_waiting(link):
        yield (
            f"{100 * used * kept:.0f} % of {format_rate(rate_bps, 3)} was carried, so the link is faster, at "
            "times at least: --rate names its rate"
        )
    if waits is None:
        return
    episodes = int(link.flows["loss_episodes"].sum())
    if not waits["loss_episodes"] and episodes:
        times = "once" if episodes == 1 else f"{episodes:,} times"
        side, other = ("beyond", "before") if waits["is_ahead"] else ("before", "beyond")
        yield (
            f"losses began {times} {other} this place, and what waits is of the queue {side} it: the queue "
            "that drops is another, and nothing here shows how much it holds"
        )
    if rate_bps is None or used is None or used < _FULL or (link.losses or 0.0) < _LOSSY:
        return
    few_ns = _FEW_PACKETS * mean_bytes(link.flows) * 8 / rate_bps * NS_PER_S
    if waits["p95_ns"] < few_ns:
        yield (
            f"the link is used to {100 * used:.0f} % and {100 * (link.losses or 0.0):.2g} % is lost, though "
            "next to nothing waits: a buffer of very few packets does that, or packets are lost elsewhere, "
            "or what waits is not seen here"
        )


def several_queues(link: CapturedLink) -> Iterator[str]:
    """That groups of flows wait apart, as a sentence.

    Args:
        link: What was captured.
    """
    if not link.apart:
        return
    yield (
        f"long flows wait in more than one queue: {_groups(link.apart)} wait alike, but no group like "
        "another. So there is more than one link, or one that keeps flows in queues of their own, and rate, "
        "waits and losses here are of all together: --only NETWORK keeps the flows of one link"
    )


def _groups(groups: Iterable[WaitingGroup]) -> str:
    return " and ".join(map(_group, groups))


def _group(group: WaitingGroup) -> str:
    text = f"{group.flows:,} with {format_rate(group.load_bps, 3)}"
    if group.rtt_low_ms is None or group.rtt_high_ms is None:
        return text
    low, high = (significant(rtt_ms, 3) for rtt_ms in (group.rtt_low_ms, group.rtt_high_ms))
    return f"{text} (smallest round trips {low} to {high} ms)"


def refuse_apart(link: CapturedLink, known: Known) -> None:
    """Refuse to answer for flows of several queues, which no one buffer is of.

    Args:
        link: What was captured.
        known: What the operator says: whoever names the rate of the link says that it is one.

    Raises:
        InputError: They wait apart.
    """
    if link.apart and known.rate is None:
        raise InputError(
            f"has long flows that wait in more than one queue, {_groups(link.apart)}, so no one buffer "
            "follows from it",
            file=link.observation.file,
            accepted="--only NETWORK, with the flows of one link; or --rate, if this is one link that keeps "
            "flows in queues of their own",
        )


def _still_waiting(link: CapturedLink) -> float:
    """The part of what was offered to a link that may still wait for it when the capture ends."""
    longest_ns = link.waits["max_ns"] if link.waits is not None and link.is_offered else 0.0
    return float(longest_ns / NS_PER_S / link.observation.duration_s)


def contains_waits(link: CapturedLink) -> Iterator[str]:
    """Whether smallest round trips may contain a queue that nothing shows, as a sentence.

    Args:
        link: What was captured.
    """
    known = timed(link.long)
    if link.waits is not None or known.is_empty():
        return
    shortest = significant(float(known["rtt_ms"][0]), 3)
    yield (
        "round trips contain what waited as each connection began, as nothing here shows what waits: the "
        f"shortest, {shortest} ms, is nearest to that of the path, and --rtt names it"
    )


def varies(link: CapturedLink) -> Iterator[str]:
    """Whether the link has two rates, as a sentence.

    Args:
        link: What was captured.
    """
    if link.rate_bps is None or link.other_rate_bps is None:
        return
    other, rate = (format_rate(bps, 3) for bps in (link.other_rate_bps, link.rate_bps))
    yield (
        f"the rate varies: in {100 * link.other_rate_share:.0f} % of the windows in which packets wait it is "
        f"{other}, and {rate} in most. A full buffer waits longer at the lower rate, at which its packets "
        f"are counted here; a scenario has {rate} all the time"
    )


def closer(shown_bps: float, rate_bps: float) -> Iterator[str]:
    """That packets follow each other closer than the link's rate has it, as a sentence.

    Args:
        shown_bps: The rate at which they do.
        rate_bps: That of the link.
    """
    shown, rate = (format_rate(bps, 3) for bps in (shown_bps, rate_bps))
    yield (
        f"nothing is lost or marked, and most packets follow each other as a link of {shown} sends them, so "
        f"{rate} may be what senders with a pace sent, and what waits theirs, too: --rate names the link's"
    )


def hardly_met(rate_bps: float) -> Iterator[str]:
    """That a link which would be busy all the time has packets wait seldom, as a sentence.

    Args:
        rate_bps: Its rate.
    """
    rate = format_rate(rate_bps, 3)
    yield (
        f"at {rate} the link would be busy nearly all the time, but packets wait seldom, so {rate} may be "
        "what senders with a pace sent: --rate names the link's"
    )


def without_pace(link: CapturedLink) -> tuple[str, ...]:
    """The doubts that are left where the operator names the rate.

    Args:
        link: What was captured.
    """
    return tuple(each for each in link.doubts if each not in link.pace_doubts)


def contradicted(link: CapturedLink, known: Known) -> Iterator[str]:
    """What the operator says and the capture does not show, as sentences.

    Args:
        link: What was captured.
        known: What the operator says.
    """
    rate_bps = None if known.rate is None else parse_rate(known.rate)
    if rate_bps is not None and link.rate_bps is not None:
        most_bps = max(_RATE_OFF * link.rate_bps, _ERRORS * (link.rate_error_bps or 0.0))
        if abs(rate_bps - link.rate_bps) > most_bps:
            yield f"--rate is {known.rate}, the capture shows {format_rate(link.rate_bps, 4)}"
    rtt_ms, least = constant_ms(known.rtt), timed(link.long)
    if rtt_ms is None or least.is_empty():
        return
    seen_ms = float(least["rtt_ms"][0])
    if seen_ms < rtt_ms / _RTT_OFF:
        yield f"--rtt is {known.rtt}, the capture has round trips of {significant(seen_ms, 3)} ms"


def refuse_idle(link: CapturedLink, known: Known) -> None:
    """Refuse to answer for a link that was never busy: what was captured is not what would fill a buffer.

    One whose buffer holds very few packets is not busy because of that.

    Args:
        link: What was captured.
        known: What the operator says.

    Raises:
        InputError: It was not.
    """
    rate_bps = link.rate_bps if known.rate is None else parse_rate(known.rate)
    if rate_bps is None or link.load_bps >= _IDLE * rate_bps or few_packets(link, known) is not None:
        return
    loads = _loads_bps(link.observation, link.interface, DIRECTIONS.index(link.direction))[:-1]
    if max(loads, default=0.0) * link.ip_share >= _BUSY_SECOND * rate_bps:
        return
    used = f"{100 * link.load_bps / rate_bps:.2g} %"
    raise InputError(
        f"has a link that carried {used} of its rate and was full in no second, so no buffer follows from it",
        file=link.observation.file,
        accepted="a capture from a busy hour; or --scenario FILE and advise FILE, where long flows that were "
        "not seen to pause always have something to send",
    )


def _answers_wait(observation: Observation, link: dict[str, Any], long: pl.DataFrame) -> Iterator[str]:
    """Whether acknowledgments wait on their way back, and no timestamps show how long."""
    back = long_flows(observation, link["interface"], 1 - link["direction"])
    tcp = long.filter(pl.col("protocol") == TCP)
    unstamped = int(tcp.filter(pl.col("has_timestamps") == 0)["ip_bytes"].sum())
    if back.is_empty() or tcp.is_empty():
        return
    rtts = timed(tcp)["rtt_ms"]
    if 2 * unstamped <= int(tcp["ip_bytes"].sum()):
        if len(rtts) and rtts[-1] > _RTTS_APART * rtts[0]:
            least, most = (significant(rtts[at], 3) for at in (0, -1))
            yield (
                f"round trips of {least} to {most} ms contain what acknowledgments waited at least, as long "
                "flows send the other way: the shortest is nearest to the truth, and --rtt names it"
            )
        return
    are = "1 long flow sends" if len(back) == 1 else f"{len(back):,} long flows send"
    yield (
        f"{are} the other way, so acknowledgments wait there, too, and no timestamps of these flows tell how "
        "long: round trips, waits and the buffer may be too long by what that queue holds"
    )


def _early_losses(observation: Observation, link: dict[str, Any], long: pl.DataFrame) -> Iterator[str]:
    """Whether losses came while flows began, and hardly any later: BBR's start may lose for ten seconds."""
    own = (pl.col("interface") == link["interface"]) & (pl.col("direction") == link["direction"])
    moments = observation.moments.filter(own)
    since_ns = pl.col("start_ns") - observation.totals["first_ns"]
    second_half = moments.filter(since_ns >= observation.duration_s * NS_PER_S / 2)
    episodes, later = (int(each["loss_episodes"].sum()) for each in (moments, second_half))
    if episodes < _MANY_EPISODES or later > _FEW_LATER * episodes:
        return
    lost, lasting = loss_of(long) or 0.0, lasting_loss_of(long) or 0.0
    why = (
        "they are of the flows' start"
        if lasting <= _OF_STARTS * lost
        else "they are of a start that takes longer than what counts as one, as BBR's may, or of a load that "
        "was there no longer"
    )
    yield (
        f"losses began {episodes:,} times, {later:,} of these in the second half of the capture: {why}, and "
        "controls or a buffer found by them may be wrong. Cut the beginning off (editcap -A), or capture "
        "longer"
    )


def late(long: pl.DataFrame, moments: pl.DataFrame) -> Iterator[str]:
    """Flows that only met a queue, which their round trips contain, as sentences.

    Args:
        long: The long flows, where nothing was taken off their round trips.
        moments: What those waited over time.
    """
    found = behind_a_queue(timed(long), moments)
    if found.is_empty():
        return
    worst = found.sort("least_ms", descending=True).row(0, named=True)
    of = "of 1 long flow" if len(found) == 1 else f"of {len(found):,} long flows"
    yield (
        f"the round-trip times {of} contain a queue, as others waited all the time that they lasted: that of "
        f"{significant(worst['rtt_ms'], 3)} ms has {significant(worst['least_ms'], 3)} ms of it or more"
    )


def _doubled(long: pl.DataFrame) -> Iterator[str]:
    """Whether packets seem to be captured more than once, which looks like losses."""
    packets, doubled = int(long["packets"].sum()), int(long["doubled_packets"].sum())
    segments, again = int(long["segments"].sum()), int(long["retransmitted_segments"].sum())
    if doubled > _TWICE * packets:
        sign = f"{doubled:,} packets come twice in a row"
    elif again > _IMPLAUSIBLE * segments:
        sign = f"{100 * again / segments:.0f} % of the segments come again"
    else:
        return
    yield (
        f"{sign}, so the capture may have packets twice (tcpdump -i any, two interfaces in one): losses and "
        "rates are then wrong. Capture one interface, or all with -y LINUX_SLL2, which names that of each "
        "packet"
    )


def _scalable(long: pl.DataFrame) -> Iterator[str]:
    """Whether flows run a control that no run is tried with, as their packets say."""
    found = int(long.select(is_l4s().sum()).item() or 0)
    if found:
        are = "1 long flow is" if found == 1 else f"{found:,} long flows are"
        yield (
            f"{are} L4S (ECT(1)), whose controls are none of those that are tried: --mix names them, such as "
            "prague:100%"
        )


def _other_way(observation: Observation, link: dict[str, Any]) -> float:
    """The part of the interface's payload that goes the other way."""
    own = observation.connections.filter(pl.col("interface") == link["interface"]).select("connection")
    sent = observation.directions.join(own, on="connection", how="semi")
    total = int(sent["payload_bytes"].sum())
    other = sent.filter(pl.col("direction") != link["direction"])
    return int(other["payload_bytes"].sum()) / total if total else 0.0


def _one_way(observation: Observation, link: dict[str, Any]) -> pl.DataFrame:
    """Flows of TCP that have no packet the other way, if they have most of its bytes in this direction."""
    own = observation.connections.filter(
        (pl.col("interface") == link["interface"]) & (pl.col("protocol") == TCP)
    ).select("connection")
    sent = observation.directions.join(own, on="connection", how="semi")
    back = sent.filter((pl.col("direction") != link["direction"]) & (pl.col("packets") > 0))
    there = sent.filter(pl.col("direction") == link["direction"])
    lonely = there.join(back, on="connection", how="anti")
    return lonely if 2 * int(lonely["ip_bytes"].sum()) > int(there["ip_bytes"].sum()) else lonely.clear()


def _other_direction(observation: Observation, lonely: pl.DataFrame) -> str:
    """Where the other direction of such flows is: beside this at another interface, or alone, as at a tap."""
    sent = _ends(observation, observation.directions.filter(pl.col("packets") > 0))
    there = _ends(observation, lonely).drop("interface")
    back = there.rename({"source": "target", "target": "source"})
    at = ["source", "target"]
    ways = [sent.join(each, on=at, how="semi")["interface"] for each in (there, back)]
    if ways[1].is_empty():
        return "no interface here has the other one: capture where both pass, or "
    both = sorted(set(ways[0]) & set(ways[1]))
    if not both:
        return "another interface has the other one: if they are the two ports of one tap, --joined; else "
    name = observation.interfaces[both[0]][0]
    return f"interface {both[0]}{f' ({name})' if name else ''} has both: --interface {both[0]}; else "


def _ends(observation: Observation, sent: pl.DataFrame) -> pl.DataFrame:
    """From where to where these flows send, and at which interface that was captured."""
    first, second = (
        pl.concat_str(end, f"{end}_port", "protocol", separator=" ") for end in ("initiator", "responder")
    )
    is_first = pl.col("sender") == 0
    return sent.join(observation.connections.drop("direction"), on="connection").select(
        "interface",
        source=pl.when(is_first).then(first).otherwise(second),
        target=pl.when(is_first).then(second).otherwise(first),
    )


def is_guessed(observation: Observation, interface: int) -> bool:
    """Whether the capture has no directions, and most connections have two private ends, or two public.

    Args:
        observation: The capture, with its own addresses.
        interface: The interface.
    """
    totals = observation.totals
    if 2 * totals["sided_packets"] > totals["packets"]:
        return False
    ends = observation.connections.filter(pl.col("interface") == interface).select("initiator", "responder")
    same = [
        ipaddress.ip_address(first).is_private == ipaddress.ip_address(second).is_private
        for first, second in ends.iter_rows()
    ]
    return 2 * sum(same) > len(same)


def _loads_bps(observation: Observation, interface: int, direction: int) -> list[float]:
    """What was sent in each second, bit/s on the wire; the last one may be cut."""
    bins = observation.seconds.filter(
        (pl.col("interface") == interface) & (pl.col("direction") == direction)
    ).sort("start_ns")
    loads: list[float] = (bins["wire_bytes"] * 8 / (bins["width_ns"] / NS_PER_S)).to_list()
    return loads


def is_begun_busy(observation: Observation, link: dict[str, Any], long: pl.DataFrame, *, ahead: bool) -> bool:
    """Whether the link was full all the time, and most of the long flows' bytes are of earlier ones.

    Before the queue, more or less than the link carries arrives in a second; what arrives in the mean tells.
    In a capture of few seconds it is enough that packets often wait.

    Args:
        observation: The capture.
        link: The row of the direction in the table of links.
        long: Its long flows.
        ahead: Whether the queue lies beyond the place of the capture.
    """
    opened = int(long.filter(pl.col("is_opened") == 1)["ip_bytes"].sum())
    if timed(long).is_empty() or 2 * opened > int(long["ip_bytes"].sum()):
        return False
    found = _loads_bps(observation, link["interface"], link["direction"])[1:-1]
    if len(found) < _FEWEST_SECONDS:
        return bool(link["queued_100ms_windows"] >= _OFTEN * observation.duration_s / _TENTH_S)
    rate_bps = float(link["rate_bps"] or 0.0)
    is_busy = sum(found) >= _BUSY * rate_bps * len(found) and min(found) >= _LEAST_BUSY[ahead] * rate_bps
    return rate_bps > 0 and is_busy
