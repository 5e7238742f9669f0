"""Where an answer is for, and what a queue with a setting has measured there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from bufferlab.configure import Allowed
from bufferlab.scenario import Table
from bufferlab.stats import REMEDY, Estimate
from bufferlab.studies.advise.llq import FAIR
from bufferlab.studies.advise.queues import Queue
from bufferlab.studies.least import Check, Least
from bufferlab.studies.least.memory import FloatArray, Memory, margins_of
from bufferlab.studies.settling import Waiting
from bufferlab.studies.targets import Target, Values, mean_over_runs
from bufferlab.studies.words import LLQ_FAIR, is_llq


@dataclass(frozen=True)
class Users:
    """A flow group, as those who use it see it.

    Attributes:
        name: Name of the group.
        kind: Kind of its application: "bulk", "udp", "web" and so on.
        flows: How many flows it has.
        control: Its congestion control; `None` for datagrams.
    """

    name: str
    kind: str
    flows: int
    control: str | None


@dataclass(frozen=True)
class Site:
    """The link that an answer is for.

    Attributes:
        name: Title of the scenario.
        link: Name of the link.
        rate_bps: Its rate, bit/s.
        rtt_ms: Mean round-trip time without waiting of the flows that its buffer is sized for, ms.
        packet_bytes: Its largest full packet, bytes.
        users: The flow groups of the scenario.
        rules: Buffers by published rules, packets, by the rules' names; none without TCP.
        largest: Largest buffer that is tried, packets.
        allowed: What the platform takes on which it shall run; `None` if there is none, or it is not known.
        counts_bytes: Whether that platform's limits count bytes, and so the runs' buffers; else packets of
            any size.
        rtts_ms: Between which round-trip times those flows are, ms; `None` where seeds draw others.
    """

    name: str
    link: str
    rate_bps: int
    rtt_ms: float
    packet_bytes: int
    users: tuple[Users, ...] = ()
    rules: Mapping[str, int] = field(default_factory=dict)
    largest: int = 0
    allowed: Allowed | None = None
    counts_bytes: bool = False
    rtts_ms: tuple[float, float] | None = None

    @property
    def counted_bytes(self) -> int | None:
        """What a full packet takes of a buffer that counts bytes; `None` of one that counts packets."""
        return self.packet_bytes if self.counts_bytes else None

    @property
    def bdp_packets(self) -> float:
        """Bandwidth-delay product, packets."""
        return self.packets_of_ms(self.rtt_ms)

    def packets_of_ms(self, time_ms: float) -> float:
        """What the link sends in a time, packets."""
        return self.rate_bps * time_ms / 8e3 / self.packet_bytes

    def buffer(self, packets: int) -> dict[str, float]:
        """A buffer in packets, bytes and ms of draining."""
        size_bytes = packets * self.packet_bytes
        return {"packets": packets, "bytes": size_bytes, "ms": size_bytes * 8e3 / self.rate_bps}


@dataclass(frozen=True)
class Smaller:
    """A smaller buffer that is taken in place of the one that was searched.

    Attributes:
        size: The buffer, packets.
        former: The one that was searched, packets.
        behind: By which share users fare worse with the smaller one; negative if better.
        used: The link's use with the former.
        wait_ms: The mean wait with the former, ms.
        is_eased: Whether less of our default target is met with the smaller one.
    """

    size: int
    former: int
    behind: Estimate
    used: float
    wait_ms: float
    is_eased: bool


@dataclass(frozen=True)
class Entry:
    """A queue with a setting, and what it measured.

    Attributes:
        queue: The queue.
        setting: Its setting.
        values: What each run measured, with the seeds that all entries have.
        runs: What the runs measured that check its targets, with seeds of their own if there are such.
        checks: Each target.
        confidence: That all targets are met; 0 if one is missed in the mean.
        least: The search that gave the setting; `None` if it is the usual one.
        least_behind: By which share users fare worse with the least size that meets the targets; `None` if
            that is the setting.
        around: How many delays of the queue were looked at in place of a search, since none promised more.
        broken: In how many changes of the traffic a smaller buffer missed a target, if this one is taken for
            that; else `None`.
        smaller: That it is smaller than the buffer that was searched, and why; `None` if it is not.
    """

    queue: Queue
    setting: int
    values: tuple[Values, ...]
    runs: tuple[Values, ...]
    checks: tuple[Check, ...]
    confidence: float
    least: Least | None
    least_behind: Estimate | None = None
    around: int = 0
    broken: int | None = None
    smaller: Smaller | None = None

    @property
    def name(self) -> str:
        """The queue and, where two settings of it are compared, its setting."""
        return f"{self.queue.name}, {self.queue.show(self.setting)}"

    @property
    def title(self) -> str:
        """The queue, as it is called in sentences."""
        return self.queue.title

    @property
    def table(self) -> Table:
        """The discipline as a scenario has it, with its setting."""
        return self.queue.with_setting(self.setting)

    @property
    def packets(self) -> int:
        """Its buffer, packets; with classes, class-default's."""
        return self.queue.limit(self.setting)

    @property
    def buffers(self) -> Memory | None:
        """The runs of the search for its buffer; `None` if none was searched, as of a queue with a target."""
        return self.least.memory if self.least is not None and self.queue.knob == "limit" else None

    @property
    def whole_packets(self) -> int:
        """The buffer that a scenario has for it, packets: with classes, that of all of them."""
        return self.queue.whole_limit(self.setting)

    def waiting(self, site: Site) -> Waiting:
        """What waits at most: a full buffer, or what a target lets wait."""
        if self.queue.knob == "limit":
            return Waiting(self.packets, site.packet_bytes)
        packets = min(self.packets, round(site.packets_of_ms(self.mean("wait_p99_ms").mean or 0.0)))
        return Waiting(packets, site.packet_bytes, is_held=True)

    def mean(self, name: str) -> Estimate:
        """Mean of a value over the runs with common seeds, and how sure it is."""
        return self._estimate(self.values, name)

    def checked(self, name: str) -> Estimate:
        """Mean of a value over the runs that check the targets, and how sure it is."""
        return self._estimate(self.runs, name)

    def margins(self, target: Target) -> FloatArray:
        """How far each of the runs that check the targets is on the right side of one."""
        return margins_of(self.runs, target)

    def _estimate(self, runs: Sequence[Values], name: str) -> Estimate:
        """Mean and interval, which identical runs do not tell."""
        found = mean_over_runs(name, runs)
        return found._replace(half_width=None) if self.identical else found

    @property
    def identical(self) -> bool:
        """Whether all its runs measured the same."""
        return len(self.runs) > 1 and all(values == self.runs[0] for values in self.runs)


def warnings_about(found: Mapping[str, Least], entries: Mapping[str, Entry]) -> Iterator[str]:
    """What the reader should know of how settings were found.

    Args:
        found: What searches came to, by queue.
        entries: What was tried.
    """
    if all(entry.identical for entry in entries.values()):
        nothing = "all seeds give the same run, as nothing here is random: nothing is known about chance"
        yield f"{nothing}; {REMEDY}"
    queues = {entry.queue.name: entry.queue for entry in entries.values()}
    for name, each in found.items():
        if each.islands and each.size is not None and name in queues:
            met, *missed = map(queues[name].show, (each.size, *each.islands))
            yield f"{name}: the targets are met with {met}, but missed with {', '.join(missed)}"


def warns_of_bytes(entries: Iterable[Entry], kind: str) -> bool:
    """Whether some buffers in packets, of a kind of queue, miss the targets though smaller ones meet them.

    Then one in bytes, which has room for small packets where one in packets is full, need not miss them.
    """
    found = [each.least for each in entries if each.queue.kind == kind and each.least is not None]
    return any(each.islands and each.size is not None for each in found)


def superseded(entries: Iterable[Entry]) -> dict[str, list[str]]:
    """The queues that LLQ has in class-default, each with the LLQs that do all that it does, calls first.

    LLQ of any kind supersedes FIFO, and LLQ with fair-queue that alone.
    """
    known = list(entries)
    by = {
        "fifo": [each.name for each in known if is_llq(each.queue.name)],
        FAIR: [each.name for each in known if each.queue.name == LLQ_FAIR],
    }
    plain = {each.name: each.queue.table for each in known}
    return {
        name: by[str(table["discipline"])]
        for name, table in plain.items()
        if set(table) == {"discipline"} and by.get(str(table["discipline"]))
    }
