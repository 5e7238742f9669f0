"""What to type for an advice, on which platform."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Final

from bufferlab.configure import PLATFORMS, Configuration
from bufferlab.display import significant
from bufferlab.errors import InputError
from bufferlab.render.advise.beware import loses_much
from bufferlab.render.words import rate_text
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.advise.staying import runs_today
from bufferlab.studies.buffers import buffer_text
from bufferlab.units import packets_text

WIDTH: Final = 64
"""Characters of a line in the answer's box."""

_SHELL: Final = "linux"
"""The platform whose lines a shell reads, so that they go on after a backslash."""


_ETHERNET_BPS: Final = frozenset(
    mbps * 10**6 for mbps in (10, 100, 1000, 2500, 5000, 10_000, 25_000, 40_000, 50_000)
) | frozenset(gbps * 10**9 for gbps in (100, 200, 400, 800))
"""Rates of Ethernet interfaces, bit/s (IEEE 802.3): a link of such a rate is most likely the interface."""

_LINE_BPS: Final = (
    *(1_544_000, 2_048_000, 34_368_000, 44_736_000),
    *(count * 155_520_000 for count in (1, 4, 16, 64, 256)),
)
"""Rates of leased lines: DS1, E1, E3 and DS3 (ITU-T G.703), STM-1 to STM-256 (ITU-T G.707)."""

_ROUNDED: Final = (2, 3, 4)
_CUT: Final = (3, 4)
"""Digits to which people round these, or cut them: 45 Mbps are DS3, 155 are STM-1, 622 are STM-4."""

_NAMED_MBPS: Final = {
    "hundredgig": 100_000,
    "fortygig": 40_000,
    "twentyfivegig": 25_000,
    "tengig": 10_000,
    "fivegig": 5_000,
    "twogig": 2_500,
    "gigabitethernet": 1_000,
    "fastethernet": 100,
    "xe-": 10_000,
    "ge-": 1_000,
}
"""What names of interfaces begin with on Cisco's routers and on Junos, and the rate that is meant, Mbps;
Cisco's TwoGigabitEthernet is 2.5GBASE-T. Names of several rates, such as Junos' et-, are left out."""

_LONG_US: Final = 10_000
"""Times above this are said in ms."""

_WORD: Final = re.compile(r"(?:'[^']*'|\"[^\"]*\"|[^\s'\"])+")
"""A word of a shell's line, with what is quoted in it."""

_KEPT: Final = "\0"
"""Stands for a space that no line may end at."""

_SHAPES_ALWAYS: Final = "openwrt"
"""The platform whose lines always hold the rate by a shaper."""

NOTHING: Final = "nothing, since this misses what was asked"
LOSSY: Final = "nothing, since it loses what hardly anybody would accept"
TOO_EARLY: Final = "nothing yet, as no other queue was tried"


def rate_in_name(device: str) -> int | None:
    """The rate that an interface's name says, bit/s; `None` where it says none."""
    name = device.lower()
    return next((mbps * 10**6 for start, mbps in _NAMED_MBPS.items() if name.startswith(start)), None)


def _written(rate_bps: int) -> set[int]:
    """A leased line's rate as people write it: exact, rounded or cut."""
    rounded, cut = ([10 ** (len(str(rate_bps)) - digits) for digits in each] for each in (_ROUNDED, _CUT))
    return {
        rate_bps,
        *(round(rate_bps / step) * step for step in rounded),
        *(rate_bps // step * step for step in cut),
    }


@dataclass(frozen=True)
class Lines:
    """What to type.

    Attributes:
        entry: For what: the answer, or the best queue that can be typed; `None` if none can, or none should.
        lines: What to type.
        notes: What to know about the lines.
        problem: Why the answer itself cannot be typed; empty if it can.
        amounts_to: What the typed buffer holds, if that is not what was checked.
        after: What comes after typing, as terms: how to verify, how to undo.
    """

    entry: Entry | None
    lines: list[str]
    notes: tuple[str, ...] = ()
    problem: str = ""
    amounts_to: str = ""
    after: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Typed:
    """Where lines are typed.

    Attributes:
        platform: For what: a name of `configure.PLATFORMS`.
        device: The interface whose output it is; default a usual name.
        shape: Hold the rate by a shaper, since the interface itself is faster.
        linklayer: What a home's line takes for a packet beyond what the interface counts.
        is_presumed: Whether nobody asked for that shaper.
    """

    platform: str = _SHELL
    device: str | None = None
    shape: bool = False
    linklayer: str | None = None
    is_presumed: bool = False

    def shaped_by_default(self, rate_bps: int, *, is_estimated: bool = False) -> Typed:
        """Lines with a shaper where hardly an interface has that rate: without one nothing would wait.

        Args:
            rate_bps: The link's rate, bit/s.
            is_estimated: Whether nobody stated it. Then it is near that of an interface by chance.
        """
        is_own = not is_estimated and self._is_own(rate_bps)
        if is_own or not self._could_shape:
            return self
        return replace(self, shape=True, is_presumed=True)

    def shaper_asked(self, rate_bps: int) -> str | None:
        """Whether a shaper is needed, as a sentence; `None` if it is likely the interface's own rate."""
        if self.is_presumed:
            return f"Shaped to {rate_text(rate_bps)}; --no-shape if the interface itself sends so."
        if self._is_own(rate_bps):
            return None
        if not PLATFORMS[self.platform].shapes:
            return (
                f"No usual interface sends at {rate_text(rate_bps)}, and no shaper is known here for "
                f"{PLATFORMS[self.platform].title}: unless it is held at that, nothing waits in this queue."
            )
        return self._shaper(rate_bps) if self._could_shape else None

    def shaper_note(self, rate_bps: int) -> str | None:
        """The same as a first note, where it is likely the interface's own rate."""
        return self._shaper(rate_bps) if self._is_own(rate_bps) and self._could_shape else None

    def _is_own(self, rate_bps: int) -> bool:
        """Whether a rate is likely the interface's own: the one in its name, or else one of Ethernet."""
        named = rate_in_name(self.device or "")
        if named is not None:
            return rate_bps == named
        if rate_bps in _ETHERNET_BPS:
            return True
        device = self.device or PLATFORMS[self.platform].device_at(rate_bps)
        is_ethernet = rate_in_name(device) is not None  # which no leased line ends at
        return not is_ethernet and any(rate_bps in _written(each) for each in _LINE_BPS)

    @property
    def _could_shape(self) -> bool:
        """Whether the platform could hold the rate by a shaper, and was not asked to."""
        return not self.shape and PLATFORMS[self.platform].shapes and self.platform != _SHAPES_ALWAYS

    @staticmethod
    def _shaper(rate_bps: int) -> str:
        return f"Needs --shape if the interface itself is faster than {rate_text(rate_bps)}."

    def command(self, advice: Advice, entry: Entry) -> str:
        """The command that writes the lines for an entry, whatever it misses."""
        table = dict(entry.table)
        queue = table.pop("discipline")
        if table:
            given = ", ".join(f"{key} = {json.dumps(value)}" for key, value in table.items())
            queue = f'{{discipline = "{queue}", {given}}}'
        buffer = buffer_text(entry.whole_packets, advice.site.counted_bytes)
        return self._configure(advice.site.rate_bps, str(queue), buffer, shape=self.shape)

    def restoring(self, advice: Advice) -> tuple[tuple[str, str], ...]:
        """How to have again what runs today, as terms; none where nobody said what, or it cannot be typed."""
        now = advice.today
        if now is None or now.is_shaped or runs_today(advice):
            return ()
        if now.default_of is not None or now.presumed_of is not None:  # which 'undo' gives again
            return ()
        if now.label or now.queue not in PLATFORMS[self.platform].disciplines:
            return ()  # of LLQ only a whole table says which classes
        has_shaper = self.shape and not self.is_presumed
        command = self._configure(advice.site.rate_bps, now.queue, now.buffer, shape=has_shaper)
        return (("restore", f"To undo is not to restore: {command} writes what runs today."),)

    def _configure(self, rate_bps: int, queue: str, buffer: str, *, shape: bool) -> str:
        """The command that writes the lines for a queue and its buffer."""
        words = [
            "bufferlab",
            "configure",
            "--rate",
            rate_text(rate_bps),
            "--queue",
            queue,
            "--buffer",
            buffer,
        ]
        words += ["--platform", self.platform, *(["--device", self.device] if self.device else [])]
        return shlex.join([*words, *(["--shape"] if shape else [])])

    def lines(self, advice: Advice) -> Lines:
        """What to type, and for what."""
        if not advice.choice.meets:
            return Lines(None, [], problem=NOTHING)
        if loses_much(advice):
            return Lines(None, [], problem=LOSSY)
        if advice.stage == "begun":
            return Lines(None, [], problem=TOO_EARLY)
        problem = ""
        for entry in (advice.answer, *(advice.entries[each.name] for each in advice.choice.rivals)):
            try:
                made = advice.configuration_of(entry, self.platform, self.device, shape=self.shape)
            except InputError as error:  # another queue's values may fit
                problem = problem or f"{self.platform} cannot take it ({error})"
                continue
            if made.lines:
                notes = (*made.notes, *_simulated(advice, entry, made.lines, self.platform))
                amount = amounts_to(made, entry.packets)
                return Lines(entry, self.folded(made.lines), notes, problem, amount, tuple(after(made)))
            problem = problem or f"{self.platform} has no {entry.title}"
        return Lines(None, [], problem=problem)

    def folded(self, lines: Iterable[str]) -> list[str]:
        """Lines that fit the box; a comment goes on as another one."""
        if self.platform != _SHELL:
            return list(lines)
        return [part for line in lines for part in _folded(line)]


def _folded(line: str) -> list[str]:
    """A shell's line in parts that can be pasted: none ends within quotes."""
    if line.startswith("#"):
        return wrap(line, WIDTH - 2, subsequent_indent="# ", break_long_words=False)
    words = [word.replace(" ", _KEPT) for word in _WORD.findall(line)]
    parts = wrap(
        " ".join(words), WIDTH - 2, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    whole = [more for part in parts for more in _cut(part.replace(_KEPT, " "))]
    return [*(part if part.endswith("\\") else f"{part} \\" for part in whole[:-1]), whole[-1]]


def _cut(part: str) -> list[str]:
    """A part, or the parts of a quoted word that is too long, each quoted and all but the last continued."""
    if len(part) <= WIDTH - 2 or "'" not in part:
        return [part]
    first, *others = wrap(part.strip(), WIDTH - 4, drop_whitespace=False, break_long_words=False)
    begun = [first, *(f"'{piece}" for piece in others)]
    return [*(f"{piece}'\\" for piece in begun[:-1]), begun[-1]]


def _simulated(advice: Advice, entry: Entry, lines: Iterable[str], platform: str) -> Iterator[str]:
    """What in the lines the runs had otherwise, or nobody searched."""
    if advice.site.counts_bytes and entry.queue.knob == "limit":
        whole = advice.site.packet_bytes
        yield (
            f"Its limit counts bytes, and so do the runs: a full packet is one of {whole} B, and more fit of "
            f"smaller ones. In a scenario that is buffer = '{buffer_text(entry.packets, whole)}'."
        )
    if (
        not PLATFORMS[platform].llq
        and entry.queue.table == {"discipline": "fifo"}
        and any(entry.checked(f"{each.name}.call_r").mean is not None for each in advice.site.users)
    ):
        yield (
            "Calls share this queue with all others, as in the runs. A priority class for them (LLQ) is "
            "neither simulated nor typed."
        )
    full_us = advice.site.buffer(entry.packets)["ms"] * 1e3
    if entry.queue.knob == "target" and full_us < entry.setting:
        yield (
            f"The limit of {entry.packets} packets is sent in {significant(full_us / 1e3, 3)} ms, so hardly "
            f"a packet waits as long as the {entry.queue.show(entry.setting)}: the queue drops at its limit."
        )
    elif entry.queue.knob == "target":
        yield (
            f"The limit of {entry.packets} packets is ample and was not searched. The target is a delay that "
            "the queue drops for, and no bound: many flows wait longer, or some that do not yield to losses."
        )
    listens = any(
        flow["tcp"] is not None and flow["tcp"]["ecn"] != "off" for flow in advice.resolved["flows"]
    )
    if not listens and any(map(_has_ecn, lines)):
        yield (
            "The queue marks packets of flows with ECN in place of dropping them. The simulated flows have "
            'none: ecn = "classic" in the flows of a scenario simulates it.'
        )


def _has_ecn(line: str) -> bool:
    """Whether a line turns ECN on: of tc, of RouterOS, of sqm-scripts."""
    return "ecn" in line.split() or "ecn=yes" in line or "'ECN'" in line


def after(made: Configuration) -> Iterator[tuple[str, str]]:
    """What comes after typing, as terms for a view: each command in its order."""
    if made.verify:
        yield "verify", f"{_joined(made.verify)}: {made.reads}."
    if made.undo:
        yield "undo", f"{_joined(made.undo)}."


def _joined(commands: Iterable[str]) -> str:
    return "; ".join(f"'{command.strip()}'" for command in commands)


def amounts_to(made: Configuration, packets: int) -> str:
    """What the typed buffer holds, if the platform's unit makes it another than the one that was checked."""
    if made.packets is None or made.packets == packets:
        return ""
    held = int(made.packets)  # what is left holds no packet
    if held == packets:
        return ""
    return f"{_amount_text(made)} hold {packets_text(held)}; {packets} were checked."


def _amount_text(made: Configuration) -> str:
    """The buffer as configured; a time that is long in ms."""
    if made.unit == "us" and made.amount is not None and made.amount > _LONG_US:
        return f"{significant(made.amount / 1e3, 3)} ms"
    return f"{made.amount} {made.unit}"


LINUX: Final = Typed()
