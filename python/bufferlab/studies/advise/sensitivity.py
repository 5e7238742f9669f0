"""What would change the answer: the scenario with other flows, round-trip times and controls."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Final

from bufferlab import _core
from bufferlab.errors import InputError
from bufferlab.experiment.simulation import prepare
from bufferlab.resolved import is_endless
from bufferlab.results.latency.emodel import G711
from bufferlab.results.latency.voice import codec_of
from bufferlab.scenario import Scenario
from bufferlab.studies.advise.rough import Rough
from bufferlab.studies.targets import Target, Values
from bufferlab.units import PS_PER_S, format_time

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedFlow, ResolvedUdp

FACTORS: Final = (Fraction(1, 2), Fraction(2))
"""By which flows and round-trip times are multiplied."""

WIDE: Final = 0.5
NARROW: Final = 0.2
"""Round-trip times that are spaced over more than a half around their mean are also tried within a fifth of
it. Our choice."""

OTHERS: Final = ("cubic", "bbr", "reno")
"""Controls that are tried in place of the most frequent one."""

NEWER: Final = {"bbr": "bbr3"}
"""Of a control of a mix, the version that has replaced it at some senders, which is tried in place of it.

Google's public traffic runs BBR version 3; its authors call the older ones obsolete (N. Cardwell and others,
"BBRv3: Algorithm Bug Fixes and Public Internet Deployment", IETF 117, 2023). It yields to losses where
version 1 does not."""

MOST_CONTROLS: Final = 2
"""The most changes of controls that are tried; of a mix, the first gives all flows its most frequent one."""

_TIME: Final = re.compile(r"(?<![\w.])[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?\s*[a-zµμ]+")
"""A number with a unit within a law."""


_MOST_OF_CALL_BPS: Final = 2 * G711.payload_bps
"""A call's packets, headers included, take no more than this: G.711 in packets of 10 ms takes 96 kbit/s."""


@dataclass(frozen=True)
class Variant:
    """A changed scenario.

    Attributes:
        title: What is other about it.
        brief: The same, as short as it can be.
        scenario: It.
        is_of_control: Whether congestion controls are other.
        is_alone: Whether all endless flows have the most frequent control of a mix.
        is_supposed: Whether it may be as true as the scenario, as of a capture that does not tell them apart.
        is_newer: Whether a control of a mix has its newer version.
    """

    title: str
    brief: str
    scenario: Scenario
    is_of_control: bool = False
    is_alone: bool = False
    is_supposed: bool = False
    is_newer: bool = False


@dataclass(frozen=True)
class Sensitivity:
    """What the answer comes to where something is other.

    Attributes:
        title: What is other.
        brief: The same, as short as it can be.
        values: Means over runs with the answer's queue and setting.
        missed: Targets that the answer then misses in the mean.
        least: About the least buffer, or delay, of the queue there; `None` if it was not searched.
        runs: How many runs there are with the queue.
        is_of_control: Whether congestion controls are other.
        is_unsure: Whether the runs do not show that it misses what their mean misses.
        is_alone: Whether all endless flows have the most frequent control of a mix.
        is_supposed: Whether it may be as true as the scenario.
        is_newer: Whether a control of a mix has its newer version.
        least_loss: What about the least buffer loses there; `None` if it is not known.
    """

    title: str
    brief: str
    values: Values
    missed: tuple[Target, ...]
    least: Rough | None
    runs: int = 0
    is_of_control: bool = False
    is_unsure: bool = False
    is_alone: bool = False
    is_supposed: bool = False
    is_newer: bool = False
    least_loss: float | None = None

    @property
    def surely_breaks(self) -> bool:
        """Whether the runs show that the answer misses a target."""
        return bool(self.missed) and not self.is_unsure

    @property
    def holds(self) -> bool:
        """Whether the answer still meets all targets."""
        return not self.missed


@dataclass(frozen=True)
class Broken:
    """A change of the traffic in which a queue misses a target so far that users notice.

    Attributes:
        change: What is other, in brief.
        target: The target, of several the first.
        value: The mean of its metric there; `None` if there is none.
    """

    change: str
    target: Target
    value: float | None


@dataclass(frozen=True)
class Shaken:
    """What becomes of a queue in the changes of the traffic in which an equal one was tried as well.

    Attributes:
        changed: What its targets come to in each.
        broken: Where it misses what both are held to.
        lost: Where the other one does.
    """

    changed: tuple[Sensitivity, ...]
    broken: tuple[Broken, ...]
    lost: tuple[Broken, ...] = ()


def variants(base: Scenario, link: int = 0) -> list[Variant]:
    """The scenario with other numbers of flows, or loads, round trips and controls.

    Of a mix the most frequent control alone comes first, and then a newer version of another one: nothing
    else changes a FIFO's buffer as much.

    Args:
        base: The scenario.
        link: Index of the link in question, whose flows are counted in the titles.
    """
    controls = [dataclasses.replace(each, is_of_control=True) for each in _controls(base)]
    first = [each for each in controls if each.is_alone or each.is_newer]
    others = [each for each in controls if each not in first]
    same = [*_flows(base, base.links[link]["name"]), *_loads(base), *_round_trips(base), *_narrower(base)]
    return [*first, *same, *others]


def supposed_variants(base: Scenario, supposed: Mapping[str, Scenario]) -> list[Variant]:
    """Scenarios with other controls that may be as true as this one, with runs that are as long.

    Args:
        base: The scenario.
        supposed: The others, by what is other in them.
    """
    run = base.resolved["run"]
    length = {"run.duration": format_time(run["duration_ps"]), "run.warmup": format_time(run["warmup_ps"])}
    return [
        Variant(name, name, prepare(each, length), is_of_control=True, is_supposed=True)
        for name, each in supposed.items()
    ]


def _flows(base: Scenario, link: str) -> Iterator[Variant]:
    for factor in FACTORS:
        changes: dict[str, int] = {}
        for index, flow in enumerate(base.flows):
            count = Fraction(flow["count"]) * factor
            if is_endless(flow) and count >= 1:
                changes[f"flows[{index}].count"] = round(count)
        if changes:
            yield from _variant(_of_flows(base, link, changes, factor), base, changes)


def _of_flows(base: Scenario, link: str, changes: dict[str, int], factor: Fraction) -> tuple[str, str]:
    """What other numbers of the link's flows are called; groups of one flow cannot be halved."""
    counts = {
        f"flows[{index}].count": int(flow["count"])
        for index, flow in enumerate(base.flows)
        if is_endless(flow) and link in flow["path"]
    }
    before, after = sum(counts.values()), sum(changes.get(key, count) for key, count in counts.items())
    crossing = sum(link in flow["path"] for flow in base.flows)
    what = "flow" if crossing == len(counts) else "long flow"  # what others send is as it was
    if before == after:  # those of other links are other
        names = [flow["name"] for at, flow in enumerate(base.flows) if f"flows[{at}].count" in changes]
        brief = f"{_times(factor)} flows of {' and '.join(names)}"
        return f"{brief}, which send over other links", brief
    brief = f"1 {what}" if after == 1 else f"{after} {what}s"
    if after == before * factor:
        return f"{_times(factor)} {what}s ({after})", brief
    return f"{brief} in place of {before}", brief


def _loads(base: Scenario) -> Iterator[Variant]:
    """Half and twice of what is offered, where no flow takes what there is."""
    if any(map(is_endless, base.flows)):
        return
    for factor in FACTORS:
        changes: dict[str, object] = {}
        for index, flow in enumerate(base.flows):
            changes |= {f"flows[{index}].{key}": value for key, value in _load_of(flow, factor).items()}
        if changes:
            yield from _variant((f"{_times(factor)} offered load", f"{_times(factor)} load"), base, changes)


def _load_of(flow: ResolvedFlow, factor: Fraction) -> dict[str, object]:
    """What multiplies a group's load: other rates of datagrams and short flows, else other numbers of flows.

    A call stays a call: two talk, or none does.
    """
    application, count = flow["application"], flow["count"] * factor
    if application["kind"] == "ping":
        return {}
    if application["kind"] == "udp" and not _is_call(application):
        if application["rate_bps"] is not None:
            return {"application.rate": f"{round(application['rate_bps'] * factor)} bps"}
        return {"application.interval": f"{round(application['interval_ps'] / factor)} ps"}
    if application["kind"] == "short-flows":
        if application["load_bps"] is not None:
            return {"application.load": f"{round(application['load_bps'] * factor)} bps"}
        return {"application.interval": f"{round(application['interval_ps'] / factor)} ps"}
    return {"count": int(count)} if count.denominator == 1 else {}


def _is_call(application: ResolvedUdp) -> bool:
    """Whether datagrams come as those of a call, and no faster."""
    codec = codec_of(application)
    if codec is None:
        return False
    return application["packet_bytes"] * 8 * PS_PER_S <= _MOST_OF_CALL_BPS * application["interval_ps"]


def _round_trips(base: Scenario) -> Iterator[Variant]:
    if all(flow["tcp"] is None for flow in base.flows):
        return  # datagrams do not wait for answers
    for factor in FACTORS:
        changes: dict[str, object] = {}
        for index, flow in enumerate(base.flows):
            changes[f"flows[{index}].rtt"] = _scaled(flow["rtt"]["text"], factor)
        for index, link in enumerate(base.links):
            changes[f"links[{index}].delay"] = format_time(float(link["delay_ps"] * factor))
        if all(base.flows[i]["rtt"]["kind"] != "empirical" for i in range(len(base.flows))):
            titles = (f"{_times(factor)} round-trip times", f"{_times(factor)} RTT")
            yield from _variant(titles, base, changes)


def _narrower(base: Scenario) -> Iterator[Variant]:
    """Round-trip times that differ little, where they are spaced widely: such flows lose together more."""
    wide = [index for index, flow in enumerate(base.flows) if flow["rtt_spread"] > WIDE and flow["count"] > 1]
    if wide:
        share = f"± {NARROW * 100:g} %"
        titles = (f"round-trip times within {share}", f"RTTs {share}")
        yield from _variant(titles, base, {f"flows[{index}].rtt_spread": NARROW for index in wide})


def _controls(base: Scenario) -> Iterator[Variant]:
    controls = {
        index: flow["tcp"]["congestion"]
        for index, flow in enumerate(base.flows)
        if flow["tcp"] is not None and is_endless(flow)
    }
    counts: Counter[str] = Counter()
    for index, control in controls.items():
        counts[control] += base.flows[index]["count"]
    if not counts:
        return
    usual = counts.most_common(1)[0][0]
    if len(counts) > 1:
        brief = f"{called(usual)} alone"
        changed = {f"flows[{index}].congestion": usual for index in controls}
        for each in _variant((brief, brief), base, changed):
            yield dataclasses.replace(each, is_alone=True)
        old = next((each for each in NEWER if each in counts and each != usual), None)
        if old is not None:
            for each in _replaced(base, controls, old, NEWER[old]):
                yield dataclasses.replace(each, is_newer=True)
            return
    most = MOST_CONTROLS - (len(counts) > 1)
    for other in [word for word in OTHERS if word != usual.partition("-")[0].partition("(")[0]][:most]:
        for each in _replaced(base, controls, usual, other):
            is_alone = set(counts) <= {usual, other}
            yield dataclasses.replace(each, brief=f"{other} alone") if is_alone else each


def _replaced(base: Scenario, controls: Mapping[int, str], old: str, new: str) -> Iterator[Variant]:
    """The scenario with a control in place of another one."""
    changes = {f"flows[{index}].congestion": new for index, control in controls.items() if control == old}
    titles = f"{new} in place of {called(old)}", f"{new} for {called(old)}"
    yield from _variant(titles, base, changes)


def called(control: str) -> str:
    """A control as it is called in a sentence: without its parameters, and of which hosts it is."""
    return control.partition("(")[0].removesuffix("-linux")


def _variant(titles: tuple[str, str], base: Scenario, changes: Mapping[str, object]) -> Iterator[Variant]:
    try:
        yield Variant(*titles, prepare(base, changes))
    except InputError:
        return  # a scenario may have bounds that a changed one breaks, such as more flows than hash buckets


def _scaled(law: str, factor: Fraction) -> str:
    """A law with all its times multiplied."""

    def scaled(time: re.Match[str]) -> str:
        return f"{round(_core.parse_quantity('time', time[0], 0) * factor)} ps"

    return _TIME.sub(scaled, law)


def _times(factor: Fraction) -> str:
    return "half the" if factor < 1 else "twice the"
