"""A runnable scenario of what was captured: rate, long flows and round trips, short flows, datagrams."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import polars as pl

from bufferlab.captured.flows import mean_bytes, rtt_quantile_ms, timed
from bufferlab.captured.laws import law
from bufferlab.captured.link import CapturedLink
from bufferlab.captured.long import Placed, long_groups
from bufferlab.captured.marks import is_l4s, is_marking, uses_ecn
from bufferlab.captured.observation import NS_PER_MS, NS_PER_S
from bufferlab.captured.sockets import LINUX
from bufferlab.errors import InputError
from bufferlab.scenario import Scenario
from bufferlab.studies.internet import STACK
from bufferlab.units import format_rate, parse_rate

_LEAST_SHARE: Final = 0.005
"""Traffic with less of the link's rate is left out."""

_CALL_BYTES: Final = (60.0, 400.0)
_CALL_RATE: Final = (20.0, 120.0)
_CALL_S: Final = 5.0
"""Datagrams of that many bytes in the mean, that many a second, for at least that long, are taken for a call.
Our choice: G.711 has 50 packets of 200 bytes a second, Opus of 20 kbit/s 50 of 90, G.729 with 30 ms 33 of 70.
A game may look the same, and its players feel the same."""

_DIGITS: Final = 4

_NEVER_REACHED: Final = 2.0
"""Where nothing is lost, the buffer holds more than waits. The largest wait of all may be a host's, so that
many times the 99th percentile is taken. Our choice."""

_MANY_LOSSES: Final = 20
_FEW_PACKETS: Final = 8.0
"""A buffer is very small if losses began as many times and one in a hundred packets waits longer than fewer
take. Our choice."""

_USUAL_RTT_MS: Final = 40.0
"""Of datagrams in a capture without any round trip; it changes nothing but their own delay."""


Shares: TypeAlias = Sequence[tuple[str, float]]
"""Congestion controls with their shares, in any unit."""


@dataclass(frozen=True)
class Queue:
    """What a scenario's bottleneck runs.

    Attributes:
        discipline: Its word.
        buffer: What may wait, as in a scenario.
        marks: Whether it marks what is capable of ECN though it does not by default.
    """

    discipline: str
    buffer: str
    marks: bool = False

    def __str__(self) -> str:
        return f"{self.discipline} ({self.buffer}{', ecn' if self.marks else ''})"

    @property
    def keys(self) -> dict[str, Any]:
        """What a scenario's bottleneck has of it."""
        if self.discipline == "fifo":
            return {"buffer": self.buffer}
        queue = {"discipline": self.discipline, "ecn": True} if self.marks else self.discipline
        return {"buffer": self.buffer, "queue": queue}


MARKING: Final = Queue("fq_codel", "10240 packets")
"""What is assumed where packets are marked: of what marks by default in Linux the most frequent, with the
limit of tc-fq_codel(8)."""


@dataclass(frozen=True)
class Known:
    """What the operator knows and a capture need not show.

    Attributes:
        rate: The link's rate: "100 Mbps".
        rtt: The flows' round-trip time without waiting, in place of what was seen: "40 ms", or a law.
        mix: Congestion controls of the long flows with their shares; "cubic" is Linux's, as hosts run it.
    """

    rate: str | None = None
    rtt: str | None = None
    mix: Shares | None = None

    def __post_init__(self) -> None:
        if self.rate is not None:
            try:
                parse_rate(self.rate)
            except InputError as error:
                raise InputError(
                    error.problem, key="rate", value=self.rate, accepted=error.accepted
                ) from None

    @property
    def controls(self) -> Shares | None:
        """The mix by our words."""
        return None if self.mix is None else [(LINUX.get(name, name), share) for name, share in self.mix]


NOTHING: Final = Known()


def scenario_of(link: CapturedLink, known: Known = NOTHING, queue: Queue | None = None) -> Scenario:
    """The scenario.

    Args:
        link: What was captured of a direction.
        known: What the operator knows; for controls, in place of the Internet's mix.
        queue: What the bottleneck runs; default a FIFO as deep as was seen, and what marks where packets are
            marked.

    Raises:
        InputError: The link's rate is not known, or no flow has a round-trip time.
    """
    rate = known.rate or _rate(link)
    queue = queue or seen_queue(link, known)
    flows = [*_long(link, known), *_short(link, known), *_calls(link, known), *_datagrams(link, known)]
    if not flows:
        raise InputError(
            "has no flow with a round-trip time in this direction",
            file=link.observation.file,
            accepted="a time that you give (--rtt), or a capture with handshakes, timestamps, or both "
            "directions of its flows",
        )
    table = {
        "run": {
            "name": f"As captured in {link.observation.file.rsplit('/', 1)[-1]}"[:80],
            "duration": f"{_DURATION_S} s",
            "stack": STACK,
        },
        "bottleneck": {"rate": rate, **queue.keys},
        "flows": flows,
    }
    try:
        return Scenario.from_dict(table)
    except InputError as error:
        if known.rtt is None or not (error.key or "").endswith(".rtt"):
            raise
        raise InputError(error.problem, key="rtt", value=known.rtt, accepted=error.accepted) from None


def _rate(link: CapturedLink) -> str:
    if link.rate_bps is None:
        raise InputError(
            f"does not show the link's rate: {link.why_no_rate or 'nothing shows when packets wait'}",
            file=link.observation.file,
            accepted="a rate that you give (--rate), or a capture from a busy hour",
        )
    return format_rate(_rounded(link.rate_bps))


def _rounded(value: float) -> int:
    digits = _DIGITS - 1 - math.floor(math.log10(value))
    return round(round(value, digits))


def seen_queue(link: CapturedLink, known: Known = NOTHING) -> Queue:
    """A FIFO as deep as was seen to fill; else of a bandwidth-delay product, or of what waited.

    No less than what one in a hundred waits fits where some is lost, and more where nothing is. A FIFO marks
    nothing, so it is none where packets are marked.
    """
    if is_marking(link.long):
        return MARKING
    waits = link.waits
    if waits is None:
        return Queue("fifo", "1 bdp")
    if waits["is_filled"]:
        return Queue("fifo", packets_of(link, known, waits["depth_ns"]))
    if few := few_packets(link, known):
        return Queue("fifo", f"{few} packets")
    longest_rtt_ms = timed(link.long)["rtt_ms"].max()
    is_lost = bool(waits["loss_episodes"]) or bool(link.losses)
    least_ns = (1.0 if is_lost else _NEVER_REACHED) * waits["p99_ns"]
    if longest_rtt_ms is None or least_ns <= longest_rtt_ms * NS_PER_MS:  # type: ignore[operator]
        return Queue("fifo", "1 bdp")
    return Queue("fifo", packets_of(link, known, least_ns))


def is_depth_seen(link: CapturedLink, known: Known = NOTHING) -> bool:
    """Whether losses show how much the buffer holds: it fills, or holds very few packets.

    Where packets are marked, the queue acts before it is full.

    Args:
        link: What was captured.
        known: What the operator knows.
    """
    if is_marking(link.long):
        return False
    return bool(link.waits and link.waits["is_filled"]) or few_packets(link, known) is not None


def few_packets(link: CapturedLink, known: Known = NOTHING) -> int | None:
    """How many it holds, where packets are lost often though hardly any waits for long; else `None`.

    Args:
        link: What was captured.
        known: What the operator knows.
    """
    waits, rate_bps = link.waits, link.rate_bps if known.rate is None else parse_rate(known.rate)
    if waits is None or rate_bps is None or waits["loss_episodes"] < _MANY_LOSSES:
        return None
    packets = waits["p99_ns"] / NS_PER_S * rate_bps / 8 / mean_bytes(link.flows)
    return max(round(packets), 1) if packets < _FEW_PACKETS else None


def packets_of(link: CapturedLink, known: Known, wait_ns: float) -> str:
    """As many packets as wait for a time, at the lower rate of a link that varies.

    A scenario's buffer in ms is of full ones, and these vary.
    """
    rate_bps = link.slowest_bps() if known.rate is None else parse_rate(known.rate)
    if rate_bps is None:
        return "1 bdp"
    packets = wait_ns / NS_PER_S * rate_bps / 8 / mean_bytes(link.flows)
    return f"{max(round(packets), 1)} packets"


_DURATION_S: Final = 60
"""How long a run of a scenario lasts."""

_FEW_SHORT: Final = 20
"""Short flows in a run below which they are transfers, as many as were seen, of their mean size. Of a process
of arrivals with a mean of 20 one run in 5e8 has none, with a mean of 1 one in three, which is refused."""


def _long(link: CapturedLink, known: Known) -> list[dict[str, Any]]:
    flows = _long_flows(link, known)
    segment = _segment(flows)
    common = {
        **({"segment": segment} if segment else {}),
        "start": "uniform(0 s, 5 s)",
        **({"rtt": known.rtt} if known.rtt else {}),
    }
    return [{**each.group, **common} for each in _placed(link, known)]


def _long_flows(link: CapturedLink, known: Known) -> pl.DataFrame:
    """Those of which a round trip is known."""
    flows = link.long.with_columns(rtt_ms=pl.lit(_USUAL_RTT_MS)) if known.rtt else timed(link.long)
    return flows.with_columns(uses_ecn=uses_ecn(), is_l4s=is_l4s())


def _placed(link: CapturedLink, known: Known) -> list[Placed]:
    flows, count = _long_flows(link, known), round(link.long_flows)
    if flows.is_empty() or not count:
        return []
    by_turns = min(round(link.pausing_flows), count)
    steady = flows.filter(~pl.col("pauses")) if by_turns else flows
    return long_groups(steady, count - by_turns, known.controls, (flows.filter("pauses"), by_turns))


def long_modes(link: CapturedLink) -> list[Placed]:
    """The groups of long flows by round-trip time, and by whether they use ECN and pause.

    Args:
        link: What was captured.
    """
    return _placed(link, Known(mix=[("cubic", 100.0)]))


def long_goodputs(link: CapturedLink, known: Known = NOTHING) -> list[tuple[tuple[str, ...], float]]:
    """What a long flow that always sends got in the mean, bit/s, by the groups that stand for it.

    Args:
        link: What was captured.
        known: What the operator knows.
    """
    placed = [each for each in _placed(link, known) if not each.pauses]
    found = []
    for mode in dict.fromkeys(each.mode for each in placed):
        own = [each for each in placed if each.mode == mode]
        flows = own[0].flows
        goodput_bps = 8 * float(flows["new_bytes"].sum()) / float(flows["seconds"].sum())
        found.append((tuple(str(each.group["name"]) for each in own), goodput_bps))
    return found


def _short(link: CapturedLink, known: Known = NOTHING) -> list[dict[str, Any]]:
    short = link.short
    payload = float(short["payload_bytes"].sum())
    if short.is_empty() or not _matters(link, payload):
        return []
    rtts = timed(short if not timed(short).is_empty() else link.long)
    if rtts.is_empty() and not known.rtt:
        return []
    interval_s = link.observation.duration_s / len(short)
    rtt = known.rtt or law(rtts["rtt_ms"], pl.Series([1.0] * len(rtts)), "ms")
    sizes = short["new_bytes"].cast(pl.Float64)
    count = round(_DURATION_S / interval_s)
    if count < _FEW_SHORT:
        mean = max(round(float(sizes.sum()) / len(short)), 1)
        start = f"uniform(0 s, {_DURATION_S} s)"
        few = {"kind": "transfer", "bytes": f"{mean} B"}
        own = {"count": max(count, 1), "rtt": rtt, "start": start, "application": few, **_ecn(short)}
        return [{"name": "short", **own}]
    many = {
        "kind": "short-flows",
        "size": law(sizes, pl.Series([1.0] * len(short)), "B"),
        "interval": f"{interval_s * 1e3:.4g} ms",
    }
    return [{"name": "short", "rtt": rtt, "application": many, **_ecn(short)}]


def _ecn(short: pl.DataFrame) -> dict[str, str]:
    """Whether most of the short flows use ECN."""
    capable = int(short.select((uses_ecn() & ~is_l4s()).sum()).item())
    return {"ecn": "classic"} if 2 * capable > len(short) else {}


def left_out(link: CapturedLink, known: Known = NOTHING) -> dict[str, float]:
    """What the scenario does not have, with its share of the link's rate; of the load if that is unknown."""
    reference = (link.rate_bps or link.load_bps) * link.observation.duration_s / 8
    rest = link.datagrams.filter(~_is_call())
    given = {
        "short flows": (float(link.short["payload_bytes"].sum()), _short(link, known)),
        "datagrams": (float(rest["ip_bytes"].sum()), _datagrams(link, known)),
    }
    return {name: sent / reference for name, (sent, groups) in given.items() if sent and not groups}


def _is_call() -> pl.Expr:
    size, rate = pl.col("ip_bytes") / pl.col("packets"), pl.col("packets") / pl.col("seconds")
    return (pl.col("seconds") >= _CALL_S) & size.is_between(*_CALL_BYTES) & rate.is_between(*_CALL_RATE)


def _calls(link: CapturedLink, known: Known) -> list[dict[str, Any]]:
    """Voices of calls, however little of the link they are: whoever calls feels its queue most."""
    calls = link.datagrams.filter(_is_call())
    seconds = float(calls["seconds"].sum())
    if calls.is_empty():
        return []
    packets = int(calls["packets"].sum())
    return [
        {
            "name": "call",
            "count": max(round(seconds / link.observation.duration_s), 1),
            "rtt": known.rtt or _rtt_of_datagrams(link),
            "application": {
                "kind": "udp",
                "packet": f"{round(float(calls['ip_bytes'].sum()) / packets)} B",
                "interval": f"{seconds / (packets - len(calls)) * 1e3:.4g} ms",
            },
        }
    ]


def _rtt_of_datagrams(link: CapturedLink) -> str:
    """That of the flows of which it is known best: a short one's may contain what it waited."""
    long = timed(link.long)
    rtt_ms = rtt_quantile_ms(timed(link.flows) if long.is_empty() else long, 0.5) or _USUAL_RTT_MS
    return f"{rtt_ms:.4g} ms"


def _datagrams(link: CapturedLink, known: Known) -> list[dict[str, Any]]:
    sent = link.datagrams.filter(~_is_call())
    total, packets = float(sent["ip_bytes"].sum()), int(sent["packets"].sum())
    if not packets or not _matters(link, total):
        return []
    return [
        {
            "name": "datagrams",
            "rtt": known.rtt or _rtt_of_datagrams(link),
            "application": {
                "kind": "udp",
                "packet": f"{max(round(total / packets), 29)} B",
                "rate": format_rate(_rounded(total * 8 / link.observation.duration_s)),
                "arrivals": "poisson",
            },
        }
    ]


def _matters(link: CapturedLink, sent_bytes: float) -> bool:
    reference = link.rate_bps or link.load_bps
    return sent_bytes * 8 / link.observation.duration_s >= _LEAST_SHARE * reference


def _segment(flows: pl.DataFrame) -> str | None:
    """The largest segment of most bytes."""
    sizes = flows.filter(pl.col("largest_segment_bytes") > 0)
    if sizes.is_empty():
        return None
    by_bytes = sizes.group_by("largest_segment_bytes").agg(pl.col("ip_bytes").sum())
    most = by_bytes.sort("ip_bytes", "largest_segment_bytes", descending=True).row(0, named=True)
    return f"{most['largest_segment_bytes']} B"
