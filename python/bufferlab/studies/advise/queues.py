"""The queues to choose from, each with the one setting that trades its wait against the link's use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, cast

from bufferlab import _core
from bufferlab.configure import find_platform
from bufferlab.errors import InputError, did_you_mean
from bufferlab.experiment.simulation import prepare
from bufferlab.scenario import QUEUE_WORDS, Scenario, Table
from bufferlab.studies.advise.floor import is_home
from bufferlab.studies.advise.llq import (
    FAIR,
    LABELS,
    NEEDED,
    TITLES,
    known_queues,
    llq_tables,
    parts_of,
)
from bufferlab.studies.advise.runnable import llq_platforms, runnable
from bufferlab.studies.buffers import buffer_text, lasting, written_link
from bufferlab.studies.words import ALL, CAKE, DEPLOYED, LLQ, LLQ_FAIR, OWN, is_llq
from bufferlab.units import PS_PER_S, format_time, packets_text

Knob = Literal["limit", "target"]
"""What is searched: the buffer in packets, or the delay that the discipline aims at, in us."""

_RUNS_CAKE: Final = "openwrt"
"""The platform whose shaper is CAKE unless somebody configures another (sqm-scripts, piece_of_cake.qos)."""

AMPLE: Final = 1000
"""Buffer of a discipline that aims at a delay, at least, packets: PIE's limit in Linux (sch_pie.c). Two
bandwidth-delay products of a slow link would drop what the discipline is there to drop, and FQ-CoDel drops 64
packets at a time at its limit."""

_LONG_US: Final = 100_000
"""CoDel's interval (RFC 8289, section 4.2), us, which is to cover the usual round trip."""

_TARGET_SHARE: Final = 0.05
"""CoDel's target as a part of its interval (RFC 8289, section 4.3: 5 to 10 %)."""

_WITH_INTERVAL: Final = ("codel", "fq_codel")

_TARGETS: Final = 4
"""Buffer of a discipline that aims at a delay, at least, in such delays: it does not act on waits that its
buffer cannot hold. Two bandwidth-delay products hold 2 ms where round trips take 1 ms, CoDel aims at 5."""

_US_PER_S: Final = 10**6
_KEY: Final = "queues"


@dataclass(frozen=True)
class Queue:
    """A queue discipline whose setting is open.

    Attributes:
        name: Its word in scenarios, or "scenario".
        table: The discipline's table in the scenario.
        knob: Which setting is open.
        lower: Least setting.
        upper: Largest setting.
        usual: The setting that its specification has: the target; of limits the ample one.
        ample: An ample buffer, packets.
        step_us: The unit in which a delay can be set, us.
        is_own: Whether somebody's scenario has it so; not what numbers in place of one stand for.
        counted_bytes: What a full packet takes of the buffer, where that counts bytes; `None` where it counts
            packets of any size.
        parts: How many classes share a scenario's buffer evenly, of which the setting is one: on platforms
            whose classes have limits of their own, class-default's.
    """

    name: str
    table: Table
    knob: Knob
    lower: int
    upper: int
    usual: int
    ample: int
    step_us: int = 1
    is_own: bool = False
    counted_bytes: int | None = None
    parts: int = 1

    @property
    def title(self) -> str:
        """What it is called in sentences: "codel", "the scenario's fq_codel"."""
        return f"the scenario's {self.kind}" if self.is_own else TITLES.get(self.name, self.kind)

    @property
    def label(self) -> str:
        """What it is called in tables, where "scenario" stands for the scenario's own."""
        return self.name if self.is_own else LABELS.get(self.name, self.kind)

    @property
    def kind(self) -> str:
        """Its word; of the own one, its discipline."""
        return str(self.table["discipline"]) if self.name == OWN else self.name

    def limit(self, setting: int) -> int:
        """The buffer, packets; with classes, one class's."""
        return setting if self.knob == "limit" else self.ample

    def whole_limit(self, setting: int) -> int:
        """The buffer of all classes together, as a scenario has it, packets."""
        return self.limit(setting) * self.parts

    def target_us(self, setting: int) -> int:
        """The delay that is aimed at, us: three digits, as people would type it, in whole steps."""
        rounded = round(setting, min(3 - len(str(setting)), 0))
        return -(-rounded // self.step_us) * self.step_us

    def show(self, setting: int) -> str:
        """A setting in words."""
        if self.knob == "limit":
            return packets_text(setting)
        return f"target {format_time(self.target_us(setting) * (PS_PER_S // _US_PER_S))}"

    def with_setting(self, setting: int) -> Table:
        """The discipline's table with a setting."""
        target = {"target": f"{self.target_us(setting)} us"} if self.knob == "target" else {}
        return {**self.table, **target}

    def scenario(self, base: Scenario, link: int, setting: int) -> Scenario:
        """The scenario with this queue at a link."""
        table = self.with_setting(setting)
        changes = queue_at(base, link, table)
        changes[f"links[{link}].buffer"] = buffer_text(self.whole_limit(setting), self.counted_bytes)
        return prepare(base, changes)


def queues_for(
    names: str | Sequence[str] | None,
    base: Scenario,
    link: int,
    *,
    upper: int,
    lower: int = 1,
    ample: int | None = None,
    most: int | None = None,
    packet_us: float,
    rtt_us: float,
    platform: str | None = None,
    counted_bytes: int | None = None,
) -> list[Queue]:
    """The queues to choose from.

    Args:
        names: Words of `queue`, "scenario" for the scenario's own, "all" for every one there is, "llq" and
            "llq-fair" where the platform has them; default those that are deployed, the scenario's own if it
            is none of them, what the platform has beside them (LLQ where calls are marked for it), and CAKE
            on a home's line and on OpenWrt.
        base: The scenario.
        link: Index of the link.
        upper: Largest buffer, packets.
        lower: Least buffer, packets.
        ample: Buffer of disciplines that aim at a delay, packets; default the largest.
        most: What that may become where it would hold too few of the delays that are aimed at, packets;
            default no more.
        packet_us: Time to send a full packet, us.
        rtt_us: Mean round-trip time without waiting, us.
        platform: On what they shall run; `None` takes all.
        counted_bytes: What a full packet takes of a buffer that counts bytes.

    Raises:
        InputError: If one is none, or the platform lacks one that was asked for.
    """
    own = own_table(base, link)
    llqs = llq_tables(base, link)
    words = _with_llq(_words(names, own), names, platform, is_there=bool(llqs))
    if (
        names is None
        and (is_home(base) or platform == _RUNS_CAKE)
        and CAKE not in (*words, own["discipline"])
    ):
        words = [*words, CAKE]
    if any(llqs.get(word) == own for word in words):  # a file that has it in place, as --scenario writes it
        words = [word for word in words if word != OWN]
    known = {**known_queues(base, link), OWN: own}
    tables = {word: dict(known[word]) for word in words}
    if platform is not None:
        asked = names is not None and names != ALL
        fit = runnable(tables, platform, rate_bps=base.links[link]["rate_bps"] or 1, asked=asked)
        tables = {word: tables[word] for word in fit}
    ample = upper if ample is None else ample
    room = ample if most is None else most
    is_written = not (base.file or "").startswith("-")  # "--home" and other numbers write no queue
    step_us = 1 if platform is None else find_platform(platform).step_us
    queues = []
    for word, written in tables.items():
        is_own = is_written and word == OWN
        table = _as_typed(written if word == OWN else _covering(written, rtt_us), step_us)
        target_us = _target_us(base, link, table, ample)
        if target_us is not None:
            # the discipline aims at a delay, which is its setting; its buffer only has to be ample
            # A target below a packet's own time cannot be met (RFC 8289, section 4.3: "at least one MTU").
            least = max(round(1.5 * packet_us), 50, step_us)
            usual = max(target_us, least)
            longest = max(round(rtt_us), 4 * usual)
            if word == CAKE and names is None:
                least = longest = usual  # of its delay nobody types more than the round trip
            roomy = max(ample, min(round(_TARGETS * usual / packet_us), room))
            queue = Queue(word, table, "target", least, longest, usual, roomy, step_us)
        else:
            queue = Queue(word, table, "limit", lower, upper, upper, upper)
        parts = parts_of(table) if platform in llq_platforms() else 1
        queues.append(replace(queue, is_own=is_own, counted_bytes=counted_bytes, parts=parts))
    return queues


def _covering(table: Table, rtt_us: float) -> Table:
    """CoDel's table with an interval that covers a round trip longer than the usual one, in tens of ms."""
    if table["discipline"] not in _WITH_INTERVAL or rtt_us <= _LONG_US:
        return table
    interval_us = -(-round(rtt_us) // 10_000) * 10_000
    times = {"interval": interval_us, "target": round(_TARGET_SHARE * interval_us)}
    return {**table, **{key: format_time(value * (PS_PER_S // _US_PER_S)) for key, value in times.items()}}


def _as_typed(table: Table, step_us: int) -> Table:
    """A discipline's table with its interval in whole steps, rounded up, as it is typed."""
    written = table.get("interval")
    if step_us == 1 or not isinstance(written, str):
        return table
    step_ps = step_us * (PS_PER_S // _US_PER_S)
    steps = -(-_core.parse_quantity("time", written, 0) // step_ps)
    return {**table, "interval": format_time(steps * step_ps)}


def own_table(base: Scenario, link: int) -> Table:
    """The scenario's discipline as its file has it, if it has parameters of its own or is not deployed."""
    queue = (written_link(base, link) or {}).get("queue")
    if isinstance(queue, str):
        return dict(QUEUE_WORDS[queue])
    return dict(queue) if isinstance(queue, dict) else {"discipline": "fifo"}


def _words(names: str | Sequence[str] | None, own: Table) -> list[str]:
    if names is None:
        known = any(own == QUEUE_WORDS[word] for word in DEPLOYED)
        return [*DEPLOYED] if known else [OWN, *(word for word in DEPLOYED if word != own["discipline"])]
    words = [word.strip() for word in (names.split(",") if isinstance(names, str) else names)]
    if words == [ALL]:
        return list(QUEUE_WORDS)
    for word in words:
        if word not in QUEUE_WORDS and word != OWN and not is_llq(word):
            hint = did_you_mean(word, [*QUEUE_WORDS, OWN])
            accepted = f"{', '.join((*QUEUE_WORDS, OWN))} or {ALL}; commas between them"
            raise InputError(f"is not a known queue{hint}", key=_KEY, value=word, accepted=accepted)
    return list(dict.fromkeys(words))


def _with_llq(
    words: list[str], names: str | Sequence[str] | None, platform: str | None, *, is_there: bool
) -> list[str]:
    """The words with what the platform has beside FIFO, if nobody said which queues: LLQ if calls are marked.

    Raises:
        InputError: It was asked for and is not to be had.
    """
    asked = next(filter(is_llq, words), None)
    if asked is not None and platform not in llq_platforms():
        raise InputError(
            "needs a platform that has it",
            key=_KEY,
            value=asked,
            accepted=f"platform {' or '.join(llq_platforms())}",
        )
    if asked is not None and not is_there:
        raise InputError("has no calls to go first", key=_KEY, value=asked, accepted=NEEDED)
    if platform not in llq_platforms() or not (names is None or words == list(QUEUE_WORDS)):
        return words
    at = words.index("fifo") + 1 if "fifo" in words else len(words)
    own = [*([LLQ, LLQ_FAIR] if is_there else []), FAIR]
    return [*words[:at], *(word for word in own if word not in words), *words[at:]]


def _target_us(base: Scenario, link: int, table: Table, ample: int) -> int | None:
    """The target that a discipline has, by its table or by default, us; `None` if it has no such key."""
    changes = queue_at(base, link, table) | {f"links[{link}].buffer": f"{ample} packets"}
    changed = base.with_overrides(changes)
    queue = cast("Mapping[str, Any]", changed.resolved["links"][link]["queue"])
    if queue.get("target_ps", 0) is None:
        # what is open is filled in for the link's flows
        queue = cast("Mapping[str, Any]", changed.seeded().resolved["links"][link]["queue"])
    target_ps = queue.get("target_ps")
    return None if target_ps is None else int(target_ps) * _US_PER_S // PS_PER_S


def queue_at(base: Scenario, link: int, table: Table) -> dict[str, object]:
    """What gives a link a queue, and takes away marks of another one and changes of the buffer."""
    changes: dict[str, object] = {f"links[{link}].queue": table, **lasting(base, link)}
    if base.links[link]["mark_above"] is not None and table["discipline"] != "fifo":
        changes[f"links[{link}].mark_above"] = None
    return changes
