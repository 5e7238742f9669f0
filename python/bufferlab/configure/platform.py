"""What a platform is: its name, what it can run, what its configuration is written from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from bufferlab.configure.answer import OVERHEAD_BYTES, Answer, read_answer
from bufferlab.configure.bounds import Allowed, Bound, Held, allowed
from bufferlab.configure.linklayer import LinkLayer

DOWNLOAD: Final = "download"
UPLOAD: Final = "upload"
"""The directions of a line, as people at home call them."""


@dataclass(frozen=True)
class Source:
    """Where a platform's syntax, units and bounds were read.

    Attributes:
        title: Title of the document, with its version.
        place: Section, page or file.
        confirms: What it confirms.
    """

    title: str
    place: str
    confirms: str

    def __str__(self) -> str:
        return f"{self.title}, {self.place}"


@dataclass(frozen=True)
class Default:
    """What an interface runs where nobody configured a queue.

    Attributes:
        of: What runs it, in words that follow "by default of": "the kernel".
        queue: The queue as in a scenario, with its parameters.
        buffer: How much may wait, as in a scenario; `buffer_at` heeds the least.
        sources: Where that was read.
        note: What to know of it: where it differs, and what the scenario's queue leaves out.
        least_packets: Full packets of 1500 bytes that it holds at least, whatever the rate.
        faster: The buffer instead from a rate on, bit/s; none where it is always the same.
    """

    of: str
    queue: Mapping[str, Any]
    buffer: str
    sources: tuple[Source, ...]
    note: str
    least_packets: int = 0
    faster: tuple[int, str] | None = None

    def buffer_at(self, rate_bps: int) -> str:
        """The buffer on a link of a rate, bit/s, as in a scenario."""
        from_bps, other = self.faster or (rate_bps + 1, self.buffer)
        buffer = other if rate_bps >= from_bps else self.buffer
        packets = read_answer(f"{rate_bps} bps", self.queue, buffer, "1500 B", "0 B").packets
        return buffer if packets >= self.least_packets else f"{self.least_packets} packets"


@dataclass(frozen=True)
class Target:
    """Where the configuration goes.

    Attributes:
        device: Name of the interface whose output queue it is.
        shape: Whether the router has to hold the rate by a shaper, since its own link is faster.
        cake: Whether CAKE stands in for FQ-CoDel.
        linklayer: What the line takes for a packet beyond what the interface counts.
    """

    device: str
    shape: bool = False
    cake: bool = False
    linklayer: LinkLayer | None = None


@dataclass(frozen=True)
class After:
    """What comes after typing. Each line is from a source; what none has is absent.

    Attributes:
        verify: Commands that show the queue and what it did, in order.
        reads: What to look for in what they print.
        undo: What to type to take the lines back, in order.
    """

    verify: tuple[str, ...] = ()
    reads: str = ""
    undo: tuple[str, ...] = ()


NOTHING_AFTER: Final = After()


@dataclass(frozen=True)
class Written:
    """A platform's lines for an answer.

    Attributes:
        lines: What to type, in order.
        notes: What to know about them, a sentence or two each.
        amount: The buffer as configured, in `unit`; `None` if the queue sizes itself.
        unit: "packets", "bytes", "us", "ms", or "" without an amount.
        after: How to see that they work, and how to take them back.
    """

    lines: tuple[str, ...]
    notes: tuple[str, ...]
    amount: int | None
    unit: str
    after: After = NOTHING_AFTER

    @classmethod
    def of_both(
        cls, lines: tuple[str, ...], down: Written, up: Written, notes: tuple[str, ...], after: After
    ) -> Written:
        """Both directions of a line; a note that is about one of them says so.

        Args:
            lines: What to type.
            down: The download by itself, for its notes.
            up: The upload by itself, for its notes.
            notes: What to know besides.
            after: How to see that both work, and how to take both back.
        """
        prefixes = {note: "" for note in up.notes if note in down.notes}
        prefixes |= {note: f"{DOWNLOAD}: " for note in down.notes if note not in prefixes}
        prefixes |= {note: f"{UPLOAD}: " for note in up.notes if note not in prefixes}
        return cls(lines, (*notes, *(f"{of}{note}" for note, of in prefixes.items())), None, "", after)


ALIKE: Final[Mapping[str, tuple[str, ...]]] = {
    "pie": ("codel",),
    "fq_pie": ("fq_codel", "pie"),
    "cobalt": ("codel", "fq_codel"),
    "cake": ("fq_codel",),
    "pi2": ("dualpi2", "pie", "codel"),
    "step": ("red", "codel"),
    "dualpi2": ("fq_codel",),
    "red": ("pie", "codel"),
    "drr": ("fq_codel", "fair_queue"),
    "fair_queue": ("fq_codel",),
    "diffserv": ("cake", "fq_codel"),
    "splitbuff": ("fq_codel",),
    "splitbuff-blind": ("fq_codel",),
}
"""Which disciplines come nearest to one that a system lacks, the best first: those that keep a queue of all
flows short, or those that keep flows apart."""


@dataclass(frozen=True)
class Platform:
    """A system that can be configured.

    Attributes:
        name: What `platform` calls it.
        title: Its name for people, with the versions that the sources are of.
        device: The interface that lines are for if none is named, of up to 1 Gbps.
        comment: What starts a comment.
        disciplines: The disciplines of scenarios that it can run.
        cake: Whether it has CAKE.
        shapes: Whether the syntax of its shaper is known.
        write: Writes an answer for a target.
        sources: Where all that was read.
        bounds: What it takes in each of its units, of which the lines use one that has room; none if that is
            not known.
        step_us: The unit of its queues' delays, us.
        faster: The interfaces instead for more than a rate, bit/s, by rising rate, as names tell the speed.
        write_both: Writes both directions of a line at once, the download first; `None` where that takes two
            configurations.
        has_one_queue: Whether those lines have one queue discipline for both directions.
        linklayers: Whether those lines can count what the line takes for a packet beyond the interface.
        sources_of_both: Where was read what that has beyond one direction.
        for_downloads: What to do for what comes in, since lines are for what leaves an interface; empty of
            what passes on the traffic of others.
        device_length: Characters of an interface's name at most; `None` if that is not known.
        counts_bytes: Whether its limits hold bytes, be it as a time, where Linux's hold packets of any size.
        defaults: What an interface runs if nobody configured a queue: the usual one first, then what others
            of its kind run; none if no source has it.
        no_default: Why there is none; empty if there is one.
        llq: Whether marked calls can have a class of their own there, before class-default: `diffserv` with
            FIFO in its classes.
    """

    name: str
    title: str
    device: str
    comment: str
    disciplines: tuple[str, ...]
    cake: bool
    shapes: bool
    write: Callable[[Answer, Target], Written]
    sources: tuple[Source, ...]
    bounds: tuple[Bound, ...] = ()
    step_us: int = 1
    faster: tuple[tuple[int, str], ...] = ()
    write_both: Callable[[Answer, Answer, Target], Written] | None = None
    has_one_queue: bool = False
    linklayers: bool = False
    sources_of_both: tuple[Source, ...] = ()
    for_downloads: str = "configure the interface towards their receivers"
    device_length: int | None = None
    counts_bytes: bool = False
    defaults: tuple[Default, ...] = ()
    no_default: str = ""
    llq: bool = False

    @property
    def default(self) -> Default | None:
        """What its interfaces usually run if nobody configured a queue; `None` if no source has it."""
        return self.defaults[0] if self.defaults else None

    def nearest(self, discipline: str) -> str:
        """Its discipline that comes nearest to one that it lacks; the first one if none is alike."""
        alike = (each for each in ALIKE.get(discipline, ()) if each in self.disciplines)
        return next(alike, self.disciplines[0])

    def device_at(self, rate_bps: int) -> str:
        """A usual name of an interface of a rate, bit/s."""
        return ([self.device] + [name for over_bps, name in self.faster if rate_bps > over_bps])[-1]

    def allowed(
        self, rate_bps: int, packet_bytes: int, overhead_bytes: int = OVERHEAD_BYTES
    ) -> Allowed | None:
        """The buffers that it takes on a link; `None` if that is not known.

        Args:
            rate_bps: Rate of the link, bit/s.
            packet_bytes: Size of a full packet, bytes.
            overhead_bytes: What it counts for each packet beyond that, bytes.

        Raises:
            InputError: It takes no full packet there.
        """
        return allowed(self.name, self.title, self.bounds, Held(rate_bps, packet_bytes, overhead_bytes))
