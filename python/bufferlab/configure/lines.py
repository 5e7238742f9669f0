"""What to type on a router, so that it runs the queue and the buffer of an answer."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Any, Final

from bufferlab.configure.answer import Answer, read_answer
from bufferlab.configure.linklayer import read_linklayer
from bufferlab.configure.platform import DOWNLOAD, UPLOAD, Platform, Source, Target, Written
from bufferlab.configure.platforms import find_platform
from bufferlab.configure.shared import show_rate, show_size, show_time
from bufferlab.errors import InputError

_DEVICE: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_./:@-]{0,63}")
_WIDTH: Final = 110

LONGEST_S: Final = 10
"""A buffer that the link sends for longer has a note, s. This is our choice."""


@dataclass(frozen=True)
class Configuration:
    """The lines to type; it prints as a text that can be pasted, with the notes as comments.

    Attributes:
        platform: Name of the platform.
        title: Its name for people.
        lines: What to type, in order; none if the platform has no such queue.
        notes: What to know: units, what is below the queue, what the platform does otherwise.
        sources: Where syntax, units and bounds were read.
        amount: The buffer as configured: not less than the answer, and less than one unit more or the
            platform's least; `None` if the queue sizes itself or there are no lines.
        unit: Its unit: "packets", "bytes" (with the link header), "us" or "ms"; "" without an amount.
        packets: How many full packets the amount holds; `None` without an amount.
        nearest: The discipline that comes nearest if the platform has no such queue.
        comment: What starts a comment there.
        verify: Commands that show the queue and what it did, in order; none where no source has them.
        reads: What to look for in what they print.
        undo: What to type to take the lines back, in order; none where no source has it.
    """

    platform: str
    title: str
    lines: tuple[str, ...]
    notes: tuple[str, ...]
    sources: tuple[Source, ...]
    amount: int | None
    unit: str
    packets: Fraction | None
    nearest: str | None
    comment: str
    verify: tuple[str, ...] = ()
    reads: str = ""
    undo: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The document of `--json`."""
        return {
            "format": "bufferlab-configuration",
            "platform": self.platform,
            "lines": list(self.lines),
            "amount": self.amount,
            "unit": self.unit,
            "packets": None if self.packets is None else float(self.packets),
            "nearest": self.nearest,
            "notes": list(self.notes),
            "verify": list(self.verify),
            "reads": self.reads,
            "undo": list(self.undo),
            "sources": [str(source) for source in self.sources],
        }

    def __str__(self) -> str:
        comments = [line for note in self.notes for line in self._wrapped(note)]
        return "\n".join([*self.lines, *comments, *self._commands()])

    def cited(self) -> str:
        """The same text with where syntax, units and bounds were read."""
        return "\n".join([str(self), *self._wrapped(f"Sources: {_shown(self.sources)}.")])

    def _wrapped(self, note: str) -> list[str]:
        """A note as comments."""
        start = f"{self.comment} "
        return textwrap.wrap(
            note, _WIDTH, initial_indent=start, subsequent_indent=f"{start}  ", break_on_hyphens=False
        )

    def _commands(self) -> Iterator[str]:
        """What comes after typing, as comments: a command is whole in its line, whatever its length."""
        if self.verify:
            yield from self._wrapped(f"To verify ({self.reads}):")
            yield from (f"{self.comment}   {command}" for command in self.verify)
        if self.undo:
            yield f"{self.comment} To undo:"
            yield from (f"{self.comment}   {command}" for command in self.undo)


def configuration(
    rate: str,
    queue: str | Mapping[str, Any],
    buffer: str,
    *,
    platform: str = "linux",
    device: str | None = None,
    shape: bool = False,
    cake: bool = False,
    packet: str = "1500 B",
    overhead: str = "14 B",
) -> Configuration:
    """Write the configuration of a real router for a queue and its buffer.

    The buffer is in the platform's own unit, rounded up, and within its bounds.

    Args:
        rate: Rate of the link: "100 Mbps".
        queue: The queue as in a scenario: "fq_codel", or a table with parameters.
        buffer: How much may wait: "1000 packets", "1.5 MB", "20 ms" (of sending).
        platform: Router platform: linux, openwrt, routeros, junos, ios-xe, ios-xr, nx-os.
        device: The interface that sends into the link; default a usual name.
        shape: Add a shaper at this rate, for an interface that is faster.
        cake: CAKE in place of FQ-CoDel.
        packet: Size of a full packet, as the buffer counts it.
        overhead: What the router counts for each packet beyond that: 14 bytes of an Ethernet header.

    Returns:
        The lines, with notes and sources; none, and the nearest queue, if the platform has no such queue.

    Raises:
        InputError: A word is not known, a unit is missing, or the platform cannot take a value.
    """
    found = find_platform(platform)
    answer = read_answer(rate, queue, buffer, packet, overhead)
    target = Target(
        _device(found, found.device_at(answer.rate_bps) if device is None else device), shape, cake
    )
    if cake and answer.discipline != "fq_codel":
        raise InputError(
            "has no CAKE that could stand in", key="queue", value=answer.queue, accepted="fq_codel"
        )
    if shape and not found.shapes:
        raise InputError(
            f"has no shaper that is known here ({found.title})",
            key="shape",
            accepted=f"no shape on {found.name}",
        )
    if answer.discipline not in found.disciplines or (cake and not found.cake):
        return _none(answer, found, cake=cake)
    seen = _Seen(answer.parameters)
    written = found.write(replace(answer, parameters=seen), target)
    others = f"; for downloads, {found.for_downloads}" if found.for_downloads else ""
    direction = f"It queues what leaves {target.device}{others}."
    written = replace(written, notes=(direction, *written.notes, *_unset(answer, found, seen.keys_read)))
    return _made(answer, found, _plausible(answer, found, written, buffer))


class _Seen(Mapping[str, Any]):
    """Parameters that remember which of them were looked at."""

    def __init__(self, parameters: Mapping[str, Any]) -> None:
        self._parameters = parameters
        self.keys_read: set[str] = set()

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 - a parameter's value
        self.keys_read.add(key)
        return self._parameters[key]

    def __contains__(self, key: object) -> bool:
        return key in self._parameters  # asks for no value

    def __iter__(self) -> Iterator[str]:
        return iter(self._parameters)

    def __len__(self) -> int:
        return len(self._parameters)


def _unset(answer: Answer, platform: Platform, read: Collection[str]) -> list[str]:
    """Notes of parameters that were asked for and that the platform's writer did not look at."""
    return [
        f"{key} = {_value(parameter, answer.parameters[parameter])} is not set: no line for it is known on "
        f"{platform.title}."
        for parameter, key in answer.changed.items()
        if parameter not in read
    ]


def _plausible(answer: Answer, platform: Platform, written: Written, buffer: str) -> Written:
    """What was written, if a packet fits it, with a note if it holds absurdly much.

    Raises:
        InputError: No full packet fits the buffer as the platform counts it.
    """
    if written.amount is None:
        return written
    if answer.held.packets(written.amount, written.unit) < 1:
        whole = answer.packet_bytes + answer.overhead_bytes
        raise InputError(
            f"is less than a full packet of {whole} bytes on {platform.title}, so that none could wait",
            key="buffer",
            value=buffer,
            accepted=f"at least {answer.full_packet}",
        )
    if answer.duration_s <= LONGEST_S or answer.parameters.get("target_ps") is not None:
        return written  # the limit of a queue that aims at a delay only bounds memory
    amount, size = f"{written.amount} {written.unit}", show_size(ceil(answer.size_bytes))
    rate, seconds = show_rate(answer.rate_bps), ceil(answer.duration_s)
    note = f"{amount} are {size}, which {rate} take {seconds} s to send: hardly what you want."
    bound = next((each for each in platform.bounds if each.unit == written.unit), None)
    if bound is not None:
        most = f"{bound.most} {bound.unit} ({bound.source})"
        note += f" {platform.title} takes the number, up to {most}, whatever its memory is."
    return replace(written, notes=(note, *written.notes))


def _value(parameter: str, value: object) -> str:
    """A parameter's value for people."""
    if isinstance(value, int) and parameter.endswith("_ps"):
        return show_time(value)
    return str(value).lower() if isinstance(value, bool) else str(value)


@dataclass(frozen=True)
class Direction:
    """One direction of a line.

    Attributes:
        rate: The shaper's rate: "45 Mbps".
        queue: The queue as in a scenario.
        buffer: How much may wait.
        packet: Size of a full packet, as the buffer counts it.
    """

    rate: str
    queue: str | Mapping[str, Any]
    buffer: str
    packet: str = "1500 B"


def configuration_of_both(
    download: Direction,
    upload: Direction,
    *,
    platform: str = "linux",
    device: str | None = None,
    overhead: str = "14 B",
    linklayer: str | None = None,
) -> Configuration | None:
    """Write both directions of a line at once, for the router behind it; each is held by a shaper.

    Args:
        download: What the home receives.
        upload: What it sends.
        platform: For what.
        device: The interface to the line; default a usual name.
        overhead: What the router counts for each packet beyond its size.
        linklayer: What the line takes beyond that: "ethernet 16 B", "atm 26 B"; default nothing.

    Returns:
        The lines; `None` if the platform takes two configurations for that.

    Raises:
        InputError: A word is not known, a unit is missing, or the platform cannot take a value.
    """
    found = find_platform(platform)
    if found.write_both is None:
        return None
    if linklayer is not None and not found.linklayers:
        raise InputError(f"has no line on {platform}", key="linklayer", value=linklayer)
    line = _device(found, found.device if device is None else device)
    layer = None if linklayer is None else read_linklayer(linklayer, line)
    target = Target(line, shape=True, linklayer=layer)
    down, up = (
        read_answer(each.rate, each.queue, each.buffer, each.packet, overhead) for each in (download, upload)
    )
    for answer in (down, up):
        if answer.discipline not in found.disciplines:
            return _none(answer, found, cake=False)
    seen = {way: _Seen(answer.parameters) for way, answer in ((DOWNLOAD, down), (UPLOAD, up))}
    written = found.write_both(
        replace(down, parameters=seen[DOWNLOAD]), replace(up, parameters=seen[UPLOAD]), target
    )
    unset = [
        f"{way}: {note}"
        for way, answer in ((DOWNLOAD, down), (UPLOAD, up))
        for note in _unset(answer, found, seen[way].keys_read)
    ]
    made = _made(down, found, replace(written, notes=(*written.notes, *unset)))
    return replace(made, sources=(*found.sources, *found.sources_of_both))


def _shown(sources: tuple[Source, ...]) -> str:
    """Sources for people: places of one document together."""
    places: dict[str, list[str]] = {}
    for source in sources:
        places.setdefault(source.title, []).append(source.place)
    return "; ".join(f"{title}: {', '.join(within)}" for title, within in places.items())


def _device(platform: Platform, name: str) -> str:
    most = platform.device_length
    if not _DEVICE.fullmatch(name) or (most is not None and len(name) > most):
        at_most = "" if most is None else f"; at most {most} characters"
        raise InputError(
            "is not the name of an interface",
            key="device",
            value=name,
            accepted=f"letters, digits and _ . / : @ -, a letter or digit first{at_most}",
        )
    return name


def _made(answer: Answer, platform: Platform, written: Written) -> Configuration:
    return Configuration(
        platform=platform.name,
        title=platform.title,
        lines=written.lines,
        notes=written.notes,
        sources=platform.sources,
        amount=written.amount,
        unit=written.unit,
        packets=None if written.amount is None else answer.held.packets(written.amount, written.unit),
        nearest=None,
        comment=platform.comment,
        verify=written.after.verify,
        reads=written.after.reads,
        undo=written.after.undo,
    )


def _none(answer: Answer, platform: Platform, *, cake: bool) -> Configuration:
    """Says that there is no such queue, and which comes nearest."""
    nearest = platform.nearest(answer.discipline)
    asked = "CAKE" if cake else answer.queue
    note = (
        f"No equivalent of {asked} on {platform.title} is known here; nearest: {nearest}. "
        f"It can be given {', '.join(platform.disciplines)}."
    )
    return Configuration(
        platform=platform.name,
        title=platform.title,
        lines=(),
        notes=(note,),
        sources=platform.sources,
        amount=None,
        unit="",
        packets=None,
        nearest=nearest,
        comment=platform.comment,
    )
