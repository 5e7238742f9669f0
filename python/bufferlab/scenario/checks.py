"""Checks across the parts of a scenario: names, paths, totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from bufferlab import units
from bufferlab.errors import InputError
from bufferlab.presets import COUNTING_PIPE, NEEDING_SACK, STACKS, UNSCALED_WINDOW_BYTES, WINDOW_PART
from bufferlab.scenario.applications import DATAGRAMS, Bulk, Echo, Ping, ShortFlows, Transfer, Udp
from bufferlab.scenario.fields import MAX_FLOWS
from bufferlab.scenario.hosts import most_segments
from bufferlab.scenario.models import Flow, Link, Probes
from bufferlab.scenario.queues import SplitBuff
from bufferlab.stacks import stack_of

if TYPE_CHECKING:
    from bufferlab.scenario.scenario import Scenario

MAX_SAMPLES: Final = 50_000_000
"""Most rows of time series that one run may write."""


def check(scenario: Scenario) -> None:
    """Check what no part can check alone.

    Raises:
        InputError: At the first thing wrong, with its key.
    """
    _check_links(scenario)
    links = {link.name: link for link in scenario.links}
    _check_unique([flow.name for flow in scenario.flows], "flows")
    _check_not_reserved([flow.name for flow in scenario.flows])
    _check_total(scenario.flows, scenario.run.duration_ps)
    _check_echoes(scenario)
    _check_records(scenario)
    for index, flow in enumerate(scenario.flows):
        _check_flow(flow, f"flows[{index}]", links, scenario.run.stack)
    for index, link in enumerate(scenario.links):
        key = f"links[{index}]" if scenario.bottleneck is None else "bottleneck"
        _check_round_trips(link, f"{key}.queue.rtt", scenario)
    if scenario.probes is not None:
        _check_probes(scenario.probes, scenario, links)


def _check_not_reserved(names: Sequence[str]) -> None:
    """Tables say "all" for the sum over groups."""
    if "all" in names:
        raise InputError(
            "is reserved for the sum over groups",
            key=f"flows[{names.index('all')}].name",
            value="all",
            accepted="any other name",
        )


def _check_links(scenario: Scenario) -> None:
    if scenario.bottleneck is not None and scenario.links_given:
        raise InputError(
            "cannot be combined with links", key="bottleneck", accepted="either [bottleneck] or [[links]]"
        )
    if not scenario.links:
        raise InputError(
            "is required", key="links", accepted="[[links]] with rate and buffer, or one [bottleneck]"
        )
    _check_unique([link.name for link in scenario.links], "links")


def _check_unique(names: Sequence[str], key: str) -> None:
    seen: dict[str, int] = {}
    for index, name in enumerate(names):
        if name in seen:
            raise InputError(
                f"is the name of {key}[{seen[name]}] too",
                key=f"{key}[{index}].name",
                value=name,
                accepted="names used once",
            )
        seen[name] = index


def _check_total(flows: Sequence[Flow], duration_ps: int) -> None:
    total = 0
    for index, flow in enumerate(flows):
        application = flow.application
        short = isinstance(application, ShortFlows)
        expected = duration_ps // application.interval_ps if isinstance(application, ShortFlows) else 0
        total += max(flow.count, expected)
        if total > MAX_FLOWS:
            key = f"flows[{index}].application" if short else f"flows[{index}].count"
            value = f"about {expected} short flows" if short else flow.count
            accepted = f"at most {MAX_FLOWS} flows in all groups together"
            raise InputError("makes too many flows", key=key, value=value, accepted=accepted)


def _check_echoes(scenario: Scenario) -> None:
    """A group that is returned is there, once, with as many flows and the same segments."""
    groups = {flow.name: flow for flow in scenario.flows if isinstance(flow.application, Bulk | Transfer)}
    returned: set[str] = set()
    for index, flow in enumerate(scenario.flows):
        if not isinstance(flow.application, Echo):
            continue
        key, name = f"flows[{index}].application.of", flow.application.of
        of = groups.get(name)
        if of is None or name in returned:
            problem = "is returned by another group already" if of else "names no group to return"
            free = [name for name in groups if name not in returned]
            accepted = "a bulk or transfer group that no other returns"
            accepted += f": {_listed(dict.fromkeys(free))}" if free else ", of which there is none"
            raise InputError(problem, key=key, value=name, accepted=accepted)
        returned.add(name)
        if flow.count != of.count:
            accepted = f"as many flows as '{name}' has, {of.count}"
            raise InputError("does not fit", key=f"flows[{index}].count", value=flow.count, accepted=accepted)
        segments = [stack_of(each, scenario.run.stack).segment_bytes for each in (flow, of)]
        if segments[0] != segments[1]:
            accepted = f"that of '{name}', {units.format_size(segments[1])}"
            size = units.format_size(segments[0])
            raise InputError("does not fit", key=f"flows[{index}].segment", value=size, accepted=accepted)


def _check_records(scenario: Scenario) -> None:
    """Pings and recorded datagrams take a row each, in memory, too."""
    rows = 0
    for index, flow in enumerate(scenario.flows):
        application = flow.application
        if isinstance(application, Ping) or (isinstance(application, Udp) and application.record):
            rows += flow.count * (scenario.run.duration_ps // application.interval_ps)
            if rows > MAX_SAMPLES:
                raise InputError(
                    f"makes {rows} rows of exchanges",
                    key=f"flows[{index}].application",
                    value=units.format_time(application.interval_ps),
                    accepted=f"intervals that make at most {MAX_SAMPLES} in all groups together",
                )


def _check_flow(flow: Flow, key: str, links: dict[str, Link], run_stack: str) -> None:
    if flow.path is None:
        raise InputError("is required", key=f"{key}.path", accepted=f"a list of links, of {_listed(links)}")
    _check_path(flow.path, f"{key}.path", links)
    _check_path(flow.reverse_path, f"{key}.reverse_path", links)
    if flow.rtt.kind == "constant":
        _check_rtt(flow, key, links)
    if not isinstance(flow.application, DATAGRAMS):
        _check_timers(flow, key, run_stack)
        _check_recovery(flow, key, run_stack)
        _check_pace(flow, key, run_stack)
        _check_offload(flow, key, run_stack)
        _check_window(flow, key, run_stack)


def _check_path(path: Sequence[str], key: str, links: dict[str, Link]) -> None:
    for index, name in enumerate(path):
        if name not in links:
            raise InputError("names no link", key=f"{key}[{index}]", value=name, accepted=_listed(links))
        if name in path[:index]:
            raise InputError(
                "is crossed twice", key=f"{key}[{index}]", value=name, accepted="each link once a path"
            )


def _check_rtt(flow: Flow, key: str, links: dict[str, Link]) -> None:
    least_ps = links_rtt_ps(flow, links)
    rtt_ps = flow.rtt.parameters["value"] * (1 - flow.rtt_spread * (1 - 1 / flow.count))
    if round(rtt_ps) < least_ps:
        raise short_rtt(key, flow.rtt.text, least_ps, bool(flow.reverse_path))


def links_rtt_ps(flow: Flow, links: Mapping[str, Link]) -> int:
    """Propagation delay of a flow's links both ways, ps.

    Acknowledgments without a `reverse_path` come back over the same distance, without queues.
    """
    forward_ps = sum(links[name].delay_ps for name in flow.path or [])
    return forward_ps + (
        sum(links[name].delay_ps for name in flow.reverse_path) if flow.reverse_path else forward_ps
    )


def short_rtt(key: str, value: object, least_ps: int, reverse: bool) -> InputError:
    """The error for a round-trip time that its links' delays alone exceed."""
    ways = "path and reverse_path" if reverse else "path, there and back"
    accepted = f"at least {units.format_time(least_ps)}, the delays of the links of its {ways}"
    return InputError("is shorter than the links' delays", key=f"{key}.rtt", value=value, accepted=accepted)


def _check_timers(flow: Flow, key: str, run_stack: str) -> None:
    stack = stack_of(flow, run_stack)
    for name, timer_ps in (("min_rto", stack.min_rto_ps), ("rto_margin", stack.rto_margin_ps)):
        if timer_ps > stack.max_rto_ps:
            raise InputError(
                "is above max_rto",
                key=f"{key}.{name}",
                value=units.format_time(timer_ps),
                accepted=f"at most {units.format_time(stack.max_rto_ps)}",
            )


def _check_recovery(flow: Flow, key: str, run_stack: str) -> None:
    stack = stack_of(flow, run_stack)
    if stack.congestion.kind not in NEEDING_SACK or stack.recovery in COUNTING_PIPE:
        return
    word = stack.congestion.word
    if flow.recovery is not None:
        raise InputError(
            f"does not go with {word}",
            key=f"{key}.recovery",
            value=flow.recovery,
            accepted=" or ".join(COUNTING_PIPE),
        )
    name = flow.stack or run_stack
    with_sack = ", ".join(other for other, preset in STACKS.items() if preset.recovery in COUNTING_PIPE)
    raise InputError(
        f"needs the recovery sack or linux, and the stack '{name}' has {stack.recovery}",
        key=f"{key}.congestion",
        value=word,
        accepted=f"it with recovery = 'sack' or 'linux', or with a stack of {with_sack}",
    )


def _check_pace(flow: Flow, key: str, run_stack: str) -> None:
    word = stack_of(flow, run_stack).congestion.word
    if flow.paced is not None and word in NEEDING_SACK:
        raise InputError(
            f"means nothing to {word}, which has a pace of its own",
            key=f"{key}.paced",
            value=flow.paced,
            accepted="no paced here, or another congestion control",
        )


def _check_offload(flow: Flow, key: str, run_stack: str) -> None:
    stack = stack_of(flow, run_stack)
    most = most_segments(stack.segment_bytes)
    if isinstance(stack.offload, int) and stack.offload > most:
        raise InputError(
            "is more than 64 KB",
            key=f"{key}.offload",
            value=f"{stack.offload} segments",
            accepted=f"1 to {most} segments of {stack.segment_bytes} B, 'auto' or 'none'",
        )


def _check_window(flow: Flow, key: str, run_stack: str) -> None:
    """A window of less than a segment would let nothing pass."""
    stack = stack_of(flow, run_stack)
    if stack.receive_window_bytes >= stack.segment_bytes:
        return
    segment = f"{stack.segment_bytes} B"
    least = f"auto({stack.segment_bytes * WINDOW_PART} B)" if stack.window.is_tuned else segment
    limit = (
        "" if stack.window_scaling else f"; without window_scaling it is at most {UNSCALED_WINDOW_BYTES} B"
    )
    raise InputError(
        "is less than a segment, so nothing could be sent",
        key=f"{key}.window",
        value=stack.window.text,
        accepted=f"at least '{least}', a segment's {segment}{limit}",
    )


def _check_round_trips(link: Link, key: str, scenario: Scenario) -> None:
    """What a router is to read must be in the packets."""
    source = link.queue.rtt.kind if isinstance(link.queue, SplitBuff) else None
    if source not in ("handshake", "timestamps"):
        return
    for flow in scenario.flows:
        crosses = link.name in (flow.path or []) and not isinstance(flow.application, DATAGRAMS)
        if crosses and not getattr(stack_of(flow, scenario.run.stack), source):
            raise InputError(
                f"needs {source} of all TCP flows, and '{flow.name}' has none",
                key=key,
                value=source,
                accepted=f"it with {source} = true there, or another source",
            )


def _check_probes(probes: Probes, scenario: Scenario, links: dict[str, Link]) -> None:
    groups = {flow.name: flow for flow in scenario.flows}
    for key, names, known in (("links", probes.links, links), ("flows", probes.flows, groups)):
        for index, name in enumerate(names or []):
            if name not in known:
                raise InputError(
                    f"names no {key}", key=f"probes.{key}[{index}]", value=name, accepted=_listed(known)
                )
    sampled_links = len(set(links if probes.links is None else probes.links))
    sampled_groups = sampled_flow_groups(probes, scenario.flows)
    sampled_flows = sum(
        probes.per_group
        if isinstance(groups[name].application, ShortFlows)
        else min(groups[name].count, probes.per_group)
        for name in sampled_groups
    )
    rows = scenario.run.duration_ps // probes.interval_ps * (sampled_links + 2 * sampled_flows)
    if rows > MAX_SAMPLES:
        raise InputError(
            f"makes {rows} samples",
            key="probes.interval",
            value=units.format_time(probes.interval_ps),
            accepted=f"an interval, links, flows and per_group that make at most {MAX_SAMPLES}",
        )


def sampled_flow_groups(probes: Probes, flows: Sequence[Flow]) -> set[str]:
    """Names of the groups to sample: those given, else all but short flows."""
    if probes.flows is not None:
        return set(probes.flows)
    return {flow.name for flow in flows if not isinstance(flow.application, ShortFlows)}


def _listed(names: object) -> str:
    known = list(names) if isinstance(names, dict) else []
    return ", ".join(known[:20]) + (", …" if len(known) > 20 else "")
