"""What a capture says, on one screen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any, Final

import polars as pl

from bufferlab.captured.doubts import cut_headers
from bufferlab.captured.findings import Findings
from bufferlab.captured.flows import LEAST_RTT_MS, lasting_loss_of, mean_bytes, rtt_quantile_ms, timed
from bufferlab.captured.lengths import accuracy_text
from bufferlab.captured.link import DIRECTIONS, TCP
from bufferlab.captured.long import by_bursts, of_each
from bufferlab.captured.marks import capable_share, uncounted
from bufferlab.captured.observation import NS_PER_MS, NS_PER_S, Observation
from bufferlab.captured.parts import parts_of
from bufferlab.captured.rate import LOSSY
from bufferlab.captured.scenario import NOTHING, few_packets, is_depth_seen, packets_of
from bufferlab.captured.waits import LEAST_LOSSES
from bufferlab.display import as_view, significant
from bufferlab.render.observe.damage import damage_lines
from bufferlab.render.observe.parts import parts_grid
from bufferlab.render.observe.place import place
from bufferlab.render.view import Heading, Part, Terms, View
from bufferlab.units import format_rate, format_size, format_time

_NS_TO_PS: Final = 1000

_MANY: Final = 0.01
"""Part of the packets from which on those with earlier times spoil what is measured in time. Our choice."""

_BLOAT_NS: Final = 60e6
"""Waits that are longer than this, and than a round trip takes, are called bufferbloat. Our choice."""

_MUCH: Final = 0.05
"""Part of the median wait from which on a packet's own transmission is mentioned. Our choice."""

_FEW_PART: Final = 0.02
_TOO_FEW_PART: Final = 0.01
_TOO_FEW: Final = 1_000
"""With round trips of a smaller part of the packets, a sentence on all of these says too much; with fewer of
both others, none has a median: flows that are silent for long are measured when they wait. Our choice."""

_HARDLY: Final = 0.1
"""Where half of the packets find less of a buffer full, what they find says nothing. Our choice."""

_FEW_SAMPLES: Final = 20
"""Of fewer no 95th percentile is said. Our choice."""

_SHORT_S: Final = 25.0
"""What is seen in less is said to be of that time. Our choice."""

_LITTLE_NS: Final = 100_000
"""Several processors write captures, and mix packets by some microseconds. Less than this says nothing."""

_NOTABLE: Final = 0.05
_MOST_OTHERS: Final = 3
"""Other directions and interfaces are named if they carry that part of what the busiest does, this many at
most. Our choice."""


_MUCH_SPURIOUS: Final = {True: 0.03, False: 0.1}
"""Segments sent again without need over all sent again, before the queue, where only some are known, and
behind it, from which on the loss may be off by a fifth, as with BBR, which lost 2.8 % where 3.2 % showed
before a queue and 2 % behind it. Our choice."""

_HALF: Final = 0.5
"""For a link that carries a smaller part of its rate no buffer is sized, as nothing fills it. Our choice."""

_CUT: Final = "not known: headers are cut"


@as_view.register
def findings_view(findings: Findings) -> View:
    """A line for each thing that matters."""
    lines = [
        ("in short", _in_short(findings)),
        *_accuracy(findings),
        ("link", _link(findings)),
        ("long flows", _long(findings)),
        *_others(findings),
        ("waits", _waits(findings)),
        ("buffer", _buffer(findings)),
        ("losses", _losses(findings)),
        *_ecn(findings),
        *_assumed(findings),
        ("seen from", place(findings)),
        *_other_way(findings),
        *_elsewhere(findings),
        *(("beware", text) for text in _warnings(findings)),
    ]
    parts: list[Part] = [Heading(_title(findings)), Terms(lines), *parts_grid(parts_of(findings))]
    return View(parts)


def _title(findings: Findings) -> str:
    seen = findings.observation
    name = "standard input" if seen.file == "-" else PurePath(seen.file).name
    name += f", packets of {' and '.join(seen.only)} alone" if seen.only else ""
    interfaces = seen.connections["interface"].n_unique()
    at = f" at {interfaces} interfaces" if interfaces > 1 else ""
    number = f"{_connections(seen):,} connections{at}"
    known = f"connections {_CUT}" if _are_cut(findings) else number
    return f"{name}: {significant(seen.duration_s)} s, {seen.packets:,} packets, {known}"


def _connections(seen: Observation) -> int:
    """How many there are: one that is seen at several interfaces is one."""
    total: int = seen.totals["connections"]
    if seen.connections["interface"].n_unique() < 2 or seen.totals["left_out_connections"]:
        return total
    ends = [
        pl.concat_str(f"{end}", f"{end}_port", separator=" ").alias(end) for end in ("initiator", "responder")
    ]
    both = seen.connections.select("interface", "protocol", *ends).with_columns(
        pl.min_horizontal("initiator", "responder").alias("one"),
        pl.max_horizontal("initiator", "responder").alias("other"),
    )
    by_place = both.group_by("protocol", "one", "other", "interface").agg(pl.len().alias("times"))
    return int(by_place.group_by("protocol", "one", "other").agg(pl.col("times").max())["times"].sum())


def _are_cut(findings: Findings) -> bool:
    """Whether most packets are cut within their headers, so that they are of no flow."""
    return bool(2 * findings.observation.totals["cut_packets"] > findings.observation.packets)


def _in_short(findings: Findings) -> str:
    """What its waiting does to a round trip, in a sentence; else why that is not known."""
    waits = findings.waits
    known = timed(findings.long)
    doubt = "; but see 'beware'" if findings.doubts else ""
    if waits is None or known.is_empty():
        lacks = "its rate" if findings.rate_bps is None else "what waits"
        return f"the capture does not show {lacks}, so no buffer follows from it alone{doubt}"
    if findings.apart:
        return f"long flows wait in more than one queue, so no one buffer follows from it{doubt}"
    if findings.is_paced:
        shown = f"{findings.shown_to_wait} that packets wait for the link"
        return f"{shown}, so no buffer follows from it alone{doubt}"
    if findings.rate_bps is None:
        doubt = f"; the link's rate is not known, so no buffer follows from the capture alone{doubt}"
    duration_s = findings.observation.duration_s
    when = f"in these {significant(duration_s, 2)} s, " if duration_s < _SHORT_S else ""
    slowed = _slowed(findings, waits, (rtt_quantile_ms(known, 0.5) or 0.0) * NS_PER_MS)
    pausing = len(findings.pausing)
    by_turns = f"; {pausing:,} of {len(findings.long):,} long flows pause" if pausing else ""
    return f"{when}{slowed}{_holds(findings, waits)}{by_turns}{doubt}"


def _holds(findings: Findings, waits: dict[str, Any]) -> str:
    """How much the buffer holds, where losses show it."""
    deep = format_time(_ps(waits["depth_ns"])) if waits["is_filled"] else ""
    return f"; the buffer holds {_at_least(findings)}{deep}" if deep else ""


def _accuracy(findings: Findings) -> Iterator[tuple[str, str]]:
    """How far a buffer is off that follows from a capture so long, where one was read, and not "at least"."""
    is_read = findings.rate_bps is not None and not findings.is_paced and is_depth_seen(findings)
    if is_read and not findings.is_never_empty and (findings.utilization() or 0.0) >= _HALF:
        yield "accuracy", accuracy_text(findings.observation.duration_s)


def _slowed(findings: Findings, waits: dict[str, Any], rtt_ns: float) -> str:
    """What its waiting does to a round trip of some length."""
    wait_ns, samples = waits["median_ns"], waits["samples"]
    packets = int(findings.flows["wire_packets"].sum())
    wait, late = (format_time(_ps(time_ns)) for time_ns in (wait_ns, waits["p95_ns"]))
    rtt = "less than 0.01 ms" if rtt_ns <= LEAST_RTT_MS * NS_PER_MS else format_time(_ps(rtt_ns))
    if _is_sampled_little(findings):
        return (
            f"{samples:,} round trips could be measured of {packets:,} packets, too few to say what half of "
            f"these wait; a round trip takes {rtt} without waiting"
        )
    if findings.is_never_empty:
        return (
            f"half of the packets wait at least {wait}, one in twenty at least {late}, where a round trip "
            f"takes at most {rtt} without waiting: the queue may never have been empty"
        )
    if wait_ns > max(rtt_ns, _BLOAT_NS):
        times = significant((wait_ns + rtt_ns) / rtt_ns, 2)
        return (
            f"bufferbloat: half of the packets wait {wait} or more, so a round trip of {rtt} takes {times} "
            "times as long"
        )
    where = "" if samples >= _FEW_PART * packets else f"in the {samples:,} round trips that were measured, "
    return (
        f"{where}half of the packets wait {wait} or more, one in twenty {late}, where a round trip takes "
        f"{rtt} without waiting"
    )


def _is_sampled_little(findings: Findings) -> bool:
    """Whether too few round trips were measured to say what packets wait."""
    samples = findings.waits["samples"] if findings.waits else 0
    return bool(samples < min(_TOO_FEW_PART * int(findings.flows["wire_packets"].sum()), _TOO_FEW))


def _link(findings: Findings) -> str:
    way = f"{findings.direction} (a guess)" if findings.is_guessed else findings.direction
    where = f"{way}, {_interface(findings, findings.interface)}"
    load = format_rate(findings.load_bps, 4)
    load = f"offered {load} before drops" if findings.is_offered else f"carried {load}"
    if findings.rate_bps is None:
        why = findings.why_no_rate or "nothing shows when packets wait"
        return f"{where}: rate not known, since {why}; {load}"
    rate = format_rate(findings.rate_bps, 4)
    error = format_rate(findings.rate_error_bps or 0.0, 4)
    windows = findings.rate_windows
    of = "" if windows is None else f": {windows:,} of them"
    of += "; it may be the senders' pace" if findings.is_rate_a_pace else ""
    if findings.other_rate_bps is not None:
        other = format_rate(findings.other_rate_bps, 4)
        part = significant(100 * findings.other_rate_share, 2)
        return f"{where}: {rate} ± {error} ({findings.rate_by}{of}), but {other} in {part} %; {load}"
    used = significant(100 * (findings.utilization() or 0.0), 3)
    return f"{where}: {rate} ± {error} ({findings.rate_by}{of}); {load}, {used} % of it"


def _interface(findings: Findings, number: int) -> str:
    """Its number, and its name if the capture has one."""
    interfaces = findings.observation.interfaces
    name = interfaces[number][0] if number < len(interfaces) else None
    return f"interface {number} ({name})" if name else f"interface {number}"


def _short_number(value: float) -> float:
    return float(f"{value:.3g}")


def _long(findings: Findings) -> str:
    long = findings.long
    if _are_cut(findings):
        return _CUT
    if long.is_empty():
        return "none: no flow has more than 100 kB over more than a second"
    text = f"{significant(findings.long_flows, 3)} at a time, {len(long):,} in all{_pauses(findings)}"
    known = timed(long)
    if known.is_empty():
        return f"{text}; their round-trip times cannot be seen"
    low, middle, high = (rtt_quantile_ms(known, part) or 0.0 for part in (0.1, 0.5, 0.9))
    least = (
        "round trip without waiting"
        if findings.waits is not None
        else "smallest round trip, waiting included"
    )
    most = "at most " if findings.is_never_empty else ""
    return f"{text}; {least}: median {most}{_rtt(middle)} ms, {_rtt(low)} to {_rtt(high)} ms for eight of ten"


def _pauses(findings: Findings) -> str:
    """How many have nothing to send by turns, and what they do then."""
    pausing = findings.pausing
    if pausing.is_empty():
        return ""
    parts = by_bursts(pausing, max(round(findings.pausing_flows), 1))
    shown = ", ".join(_turns(flows, of=len(flows) if len(parts) > 1 else None) for _, flows in parts)
    verb = "pauses" if len(pausing) == 1 else "pause"
    return f", of which {len(pausing):,} {verb}, on average: {shown}"


def _turns(pausing: pl.DataFrame, *, of: int | None) -> str:
    """What flows of a kind send between their silences, and how many these are if there are other kinds."""
    size, _ = of_each(pausing, "burst_mean_bytes", "burst_deviation_bytes")
    silent_ns, _ = of_each(pausing, "silence_mean_ns", "silence_deviation_ns")
    sent, silent = format_size(round(_short_number(size))), format_time(_ps(silent_ns))
    have = "" if of is None else f"{of:,} with "
    return f"{have}bursts of {sent} and silences of {silent} by turns"


def _rtt(rtt_ms: float) -> str:
    """A round trip, of which hosts' own are not worth a number."""
    return f"less than {LEAST_RTT_MS}" if rtt_ms <= LEAST_RTT_MS else significant(rtt_ms, 3)


def _others(findings: Findings) -> Iterator[tuple[str, str]]:
    short, datagrams = findings.short, findings.datagrams
    duration_s = findings.observation.duration_s
    if not short.is_empty():
        mean = format_size(round(_short_number(float(short["new_bytes"].sum()) / len(short))))
        yield "short flows", f"{significant(len(short) / duration_s, 3)} a second, {mean} on average"
    sent = float(datagrams["ip_bytes"].sum())
    if sent:
        rate = format_rate(sent * 8 / duration_s, 4)
        number = f"{len(datagrams):,} {'flow' if len(datagrams) == 1 else 'flows'}"
        yield "datagrams", f"{rate} in {number} (UDP but QUIC, and echoes)"


def _waits(findings: Findings) -> str:
    waits = findings.waits
    if waits is None:
        return f"not known: {findings.why_no_waits or 'no round trip shows them'}"
    if waits["samples"] < _FEW_SAMPLES:
        number = "1 sample" if waits["samples"] == 1 else f"{waits['samples']} samples"
        return f"known of {number} alone, up to {format_time(_ps(waits['max_ns']))}"
    median, p95, p99 = (format_time(_ps(waits[f"{name}_ns"])) for name in ("median", "p95", "p99"))
    paced = "; hosts take as long, by a pace or late acknowledgments, so none of it need be the link's"
    by_packets = "" if findings.pausing.is_empty() else ", by packets: moments without any do not count"
    return (
        f"{_at_least(findings)}median {median}, 95th percentile {p95}, 99th {p99} above each connection's "
        f"smallest round trip ({waits['samples']:,} samples{by_packets})"
        f"{paced if findings.is_paced else _transmission(findings, waits['median_ns'])}"
    )


def _at_least(findings: Findings) -> str:
    """What is before a wait that may be longer than it was seen to be."""
    return "at least " if findings.is_never_empty else ""


def _transmission(findings: Findings, wait_ns: float) -> str:
    """What of its wait may be a packet's own transmission, where that is much: a short SYN had little."""
    if not findings.rate_bps or findings.flows.is_empty():
        return ""
    sent_ns = mean_bytes(findings.flows) * 8 / findings.rate_bps * NS_PER_S
    if sent_ns < _MUCH * wait_ns:
        return ""
    return f"; up to {format_time(_ps(sent_ns))} of it is a packet's own transmission"


def _buffer(findings: Findings) -> str:
    """How deep it is, or why that is not known."""
    waits = findings.waits
    if waits is None or findings.is_paced or findings.apart:
        return f"not known{_why_unread(findings)}"
    if waits["is_filled"]:
        low, deep, high = (format_time(_ps(waits[f"depth{part}_ns"])) for part in ("_low", "", "_high"))
        size = _size(findings, waits["depth_ns"])
        at = f"{_at_least(findings)}at {deep} ({low} to {high} for eight of ten){size}"
        part = min(waits["median_ns"] / waits["depth_ns"], 1.0)
        full = f"; half of the packets find it at least {significant(100 * part, 2)} % full"
        used = "" if findings.is_never_empty or part < _HARDLY else full
        return f"losses come {at}: it is full then, or the queue drops early{used}"
    if few := _few_packets(findings):
        return few
    if waits["loss_episodes"]:
        return f"not known: {_no_depth(waits, varies=findings.other_rate_bps is not None)}"
    if int(findings.flows["loss_episodes"].sum()):
        return "not known: what was lost was lost on the other side of this place; see 'beware'"
    more = f"; it holds more than {format_time(_ps(waits['p99_ns']))}"
    few = f", and what waits was seen in {waits['samples']:,} samples alone"
    return f"not known: no loss was seen{few if _is_sampled_little(findings) else more}"


def _why_unread(findings: Findings) -> str:
    if findings.waits is None:
        return ", as waits are not"
    if findings.is_paced:
        return f": {findings.shown_to_wait} that packets wait for it"
    return ": long flows wait in more than one queue; see 'beware'"


def _assumed(findings: Findings) -> Iterator[tuple[str, str]]:
    """That all flows are taken to wait for one link, where nothing can show it."""
    is_of_a_link = findings.rate_bps is not None and findings.waits is not None and not findings.is_paced
    if findings.apart is None and is_of_a_link and len(findings.long) > 1:
        why = "too few long ones wait alike here to tell groups apart"
        yield "bottleneck", f"one for all flows is assumed: {why}"


def _few_packets(findings: Findings) -> str:
    """That it holds very few, where packets are lost often though none waits for long; else nothing."""
    waits, few = findings.waits, few_packets(findings)
    if waits is None:
        return ""
    longest = format_time(_ps(waits["p99_ns"]))
    if few is None:
        why = f"it holds very few, as hardly any packet waits longer than {longest}, or losses are elsewhere"
        return f"not known: {why}" if (findings.why_no_rate or "").endswith(LOSSY) else ""
    return (
        f"very small: losses began {waits['loss_episodes']:,} times though hardly any packet waits longer "
        f"than {longest}, what {few} of mean size take"
    )


def _no_depth(waits: dict[str, Any], *, varies: bool) -> str:
    """Why losses do not show how much the buffer holds."""
    read = waits.get("at_loss_samples", 0)
    if read < LEAST_LOSSES:
        times = "once" if waits["loss_episodes"] == 1 else f"{waits['loss_episodes']:,} times"
        known = f"what was waited before is known of {read or 'none'} of them, and {LEAST_LOSSES} are needed"
        return f"losses began {times}; {known}"
    low, high, p99 = (
        format_time(_ps(waits[name])) for name in ("at_loss_low_ns", "at_loss_high_ns", "p99_ns")
    )
    return (
        f"losses come at no one depth ({low} to {high} for eight of ten, where one in a hundred waits "
        f"{p99}): {'the rate varies, or ' if varies else ''}the queue drops early, or they are another "
        "queue's, or what was waited before them could not be read well enough"
    )


def _size(findings: Findings, wait_ns: float) -> str:
    rate_bps = findings.slowest_bps()
    if rate_bps is None:
        return ""
    size = format_size(round(_short_number(rate_bps / 8 * wait_ns / NS_PER_S)))
    return f", {packets_of(findings, NOTHING, wait_ns)} of mean size or {size}"


def _ps(time_ns: float) -> float:
    return float(f"{time_ns * _NS_TO_PS:.3g}")


def _losses(findings: Findings) -> str:
    if _are_cut(findings):
        return _CUT
    if findings.losses is None:
        return "no TCP in this direction"
    flows = findings.flows
    episodes = int(flows["loss_episodes"].sum())
    spurious = int(flows["spurious_segments"].sum())
    times = "1 episode" if episodes == 1 else f"{episodes:,} episodes"
    text = f"{significant(100 * findings.losses, 3)} % of the segments sent again, in {times}"
    if not findings.losses:
        text = "none of the segments had to be sent again"
    lasting = lasting_loss_of(flows)
    if lasting is not None and significant(100 * lasting, 2) != significant(100 * findings.losses, 2):
        text += f"; {significant(100 * lasting, 2)} % without the starts of long flows"
    return f"{text}; {spurious:,} more without need{_miscounted(findings)}" if spurious else text


def _miscounted(findings: Findings) -> str:
    """Why that loss is too small behind the queue, or too large before it, where much is spurious."""
    tcp = findings.flows.filter(pl.col("protocol") == TCP)
    again, spurious = (int(tcp[f"{name}_segments"].sum()) for name in ("retransmitted", "spurious"))
    if spurious < _MUCH_SPURIOUS[findings.is_offered] * again:
        return ""
    if findings.is_offered:
        return (
            ", by what receivers report (DSACK), which is not all: fewer than these "
            f"{significant(100 * (findings.losses or 0.0), 3)} % may be lost"
        )
    return ": a repair that is lost, too, does not show behind the queue, so more may be lost"


def _ecn(findings: Findings) -> Iterator[tuple[str, str]]:
    flows = findings.flows
    share = capable_share(flows)
    if share:
        here, echoed = (int(flows[name].sum()) for name in ("ce_packets", "mark_episodes"))
        own = f"{significant(100 * share, 3)} % of the packets capable, {here:,} marked on their way here"
        yield "ECN", f"{own}{_echoed(here, echoed)}{_uncounted(len(uncounted(flows)))}"


def _echoed(here: int, echoed: int) -> str:
    """How often acknowledgments echo marks from beyond the place of the capture."""
    if echoed <= here:
        return ""
    times = "once" if echoed == 1 else f"{echoed:,} times"
    return f"; receivers echo marks from beyond {times} (those of one round trip count once)"


def _uncounted(flows: int) -> str:
    """That marks beyond are not known where receivers count them."""
    if not flows:
        return ""
    of = "of 1 flow" if flows == 1 else f"of {flows:,} flows"
    return f"; marks beyond are not known {of} with accurate ECN"


def _other_way(findings: Findings) -> Iterator[tuple[str, str]]:
    """What goes the other way over the interface, that no line above is of it, and how to ask about it."""
    other = findings.other_way
    if other is None:
        return
    share, payload = (significant(100 * part, 2) for part in (other.share, other.payload_share))
    flows = "long flow" if other.long_flows == 1 else "long flows"
    long = f", {other.long_flows:,} {flows}" if other.long_flows else ""
    yield (
        "other way",
        f"{other.direction}: {share} % of this interface's bytes, {payload} % of its payload{long}; not in "
        f"the lines above (--direction {other.direction})",
    )


def _elsewhere(findings: Findings) -> Iterator[tuple[str, str]]:
    """What other interfaces the capture has, and how to ask about them."""
    seen = findings.observation
    others = seen.links.filter(
        pl.col("interface") != findings.interface,
        pl.col("wire_bytes") >= _NOTABLE * pl.col("wire_bytes").max(),
    ).sort("wire_bytes", descending=True)
    if others.is_empty():
        return
    shown = []
    for link in others.head(_MOST_OTHERS).iter_rows(named=True):
        load = format_rate(link["wire_bytes"] * 8 / seen.duration_s, 3)
        way = DIRECTIONS[link["direction"]]
        asked = f"--interface {link['interface']} --direction {way}"
        shown.append(f"{way}, {_interface(findings, link['interface'])}: {load} ({asked})")
    more = len(others) - len(shown)
    yield "also here", "; ".join([*shown, *([f"{more} more"] if more else [])])


def _warnings(findings: Findings) -> Iterator[str]:
    totals, flows = findings.observation.totals, findings.flows
    yield from findings.doubts
    yield from damage_lines(findings.observation)
    missed = float(flows["missed_bytes"].sum())
    payload = float(flows["payload_bytes"].sum())
    if payload and missed / payload > 1e-4:
        share = significant(100 * missed / (missed + payload), 2)
        yield f"the capture lacks {share} % of the data that was acknowledged"
    hidden = totals["quic_bytes"] - totals["spinning_bytes"]
    carried = totals["frame_bytes"]
    if carried and hidden / carried > 0.01:
        share = significant(100 * hidden / carried, 3)
        yield f"{share} % of the bytes are QUIC without a spin bit: no round trips after the handshake"
    if totals["evicted_connections"]:
        ended = totals["evicted_connections"]
        yield f"{ended:,} connections ended early: more than --flows were open at a time"
    yield from cut_headers(findings.observation, matters=False)
    if totals["backward_ns"] > _LITTLE_NS:
        yield _older(totals["backward_packets"], totals["packets"], totals["backward_ns"])
    if totals["wrong_times"]:
        count = totals["wrong_times"]
        yield f"{count:,} {_packets(count)} a time that its neighbors contradict; theirs is taken"


def _packets(count: int) -> str:
    return "packet has" if count == 1 else "packets have each"


def _older(count: int, packets: int, most_ns: int) -> str:
    """Packets out of order; after a clock that was set back, all are until it is there again."""
    are = "packet is" if count == 1 else "packets are"
    text = f"{count:,} {are} older than one before, by up to {format_time(_ps(most_ns))}"
    if most_ns > NS_PER_S and count > _MANY * packets:
        return (
            f"{text}: a clock was set, or files were joined. Believe nothing here: cut or sort it first "
            "(editcap, reordercap)"
        )
    return f"{text}, and counts as of that (reordercap sorts)"
