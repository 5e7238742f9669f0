"""The answers of `advise` for several links, as an object and as a document."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from bufferlab import _core, display
from bufferlab.configure import Configuration, Direction, configuration_of_both, find_platform
from bufferlab.errors import InputError
from bufferlab.files import make_folder, write_whole
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.beside import rival_of
from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.advise.unshaped import Unshaped
from bufferlab.studies.choosing.choice import Rival
from bufferlab.studies.least import checks_to_dicts
from bufferlab.studies.targets import values_document

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedScenario

FORMAT: Final = "bufferlab-advice-links"
FORMAT_VERSION: Final = 1

DOWN: Final = ("download", "down", "downlink", "downstream")
UP: Final = ("upload", "up", "uplink", "upstream")
"""Names of links that are the two directions of one line, which one router shapes."""


@dataclass(frozen=True)
class Shaped:
    """A shaper below a line's rate.

    Attributes:
        share: The shaper's rate as a share of the line's.
        line_bps: The line's rates by the links' names, bit/s.
    """

    share: float
    line_bps: Mapping[str, int]


@dataclass(frozen=True)
class Both:
    """What to type for both directions of a line.

    Attributes:
        made: The lines.
        down: The download's entry that they are for.
        up: The upload's.
        refused: Why the answers themselves cannot be typed; `None` if they can.
    """

    made: Configuration
    down: Entry
    up: Entry
    refused: InputError | None


@dataclass(frozen=True, eq=False, repr=False)
class LinksAdvice(display.Displayed):
    """Which queue, how large, for each of several links.

    Attributes:
        title: Title of the scenario.
        links: The answer for each link, in the order of the asking; after Ctrl-C, those that are known.
        wanted: Names of the links that were asked about.
        resolved: The scenario, with its own queues.
        joint: What each answer measures with all of them in place, in the same order; empty until they were
            run together.
        assumed: What the scenario takes for granted.
        shaped: By which share the links' rates are below those of a line, if they are.
        unshaped: What the line does without that; `None` if it is not shaped, or was not run yet.
        runs: How many runs it took.
        finished: Whether it came to its end.
    """

    title: str
    links: tuple[Advice, ...]
    wanted: tuple[str, ...]
    resolved: ResolvedScenario
    joint: tuple[Entry, ...] = ()
    assumed: tuple[str, ...] = ()
    shaped: Shaped | None = None
    unshaped: Unshaped | None = None
    runs: int = 0
    finished: bool = False

    @property
    def is_line(self) -> bool:
        """Whether the links that were asked about are the two directions of one line, by their names."""
        return are_directions(self.wanted)

    @property
    def missing(self) -> tuple[str, ...]:
        """Names of the links that have no answer yet."""
        return tuple(name for name in self.wanted if name not in {each.site.link for each in self.links})

    @property
    def directions(self) -> tuple[Advice, Advice] | None:
        """The download and the upload, if these are the links that were asked about and both have answers."""
        if not self.is_line or self.missing:
            return None
        down, up = sorted(self.links, key=lambda each: each.site.link.lower() in UP)
        return down, up

    def configuration(
        self, platform: str = "linux", device: str | None = None, linklayer: str | None = None
    ) -> Both | None:
        """What to type for both directions of a line at once.

        Where the platform has one queue discipline for both, and the answers' differ, it is the first of the
        download's contest that both have tried.

        Args:
            platform: For what: linux, openwrt.
            device: The interface to the line; default a usual name.
            linklayer: What the line takes for a packet beyond what the interface counts: "ethernet 16 B".

        Returns:
            The lines; `None` if the links are not the two directions of a line, or the platform takes two
            configurations for that.

        Raises:
            InputError: There is no such platform, or it cannot take the values.
        """
        if self.directions is None:
            return None
        refused: InputError | None = None
        for down, up in _pairs(*self.directions):
            try:
                made = configuration_of_both(
                    _direction(self.directions[0], down),
                    _direction(self.directions[1], up),
                    platform=platform,
                    device=device,
                    linklayer=linklayer,
                )
            except InputError as error:
                refused = refused or error
                continue
            if made is None or made.lines:
                return None if made is None else Both(made, down, up, refused)
        if refused is not None:
            raise refused
        return None

    @property
    def unmet(self) -> tuple[Advice, ...]:
        """The answers that miss a target by themselves."""
        return tuple(each for each in self.links if not each.choice.meets)

    @property
    def early(self) -> tuple[Advice, ...]:
        """The other answers for which one queue was tried so far, of several."""
        return tuple(each for each in self.links if each.choice.meets and each.stage == "begun")

    @property
    def disturbed(self) -> tuple[tuple[Advice, Entry], ...]:
        """The answers that meet their targets by themselves, but not with the others in place."""
        pairs = zip(self.links, self.joint, strict=True) if self.joint else ()
        return tuple(
            (advice, entry)
            for advice, entry in pairs
            if advice.choice.meets and not all(check.met for check in entry.checks)
        )

    @property
    def meets(self) -> bool:
        """Whether each answer meets its targets in the mean, by itself and with the others in place."""
        return not (self.missing or self.unmet or self.disturbed)

    @property
    def without_shaper(self) -> Rival | None:
        """How users fare without the shaper beside the answers together; `None` if that was not run."""
        if self.unshaped is None or not self.unshaped.values or not self.joint:
            return None
        first, values = self.links[0], self.unshaped.values[self.links[0].site.link]
        aspects = {aspect.metric: aspect for each in self.links for aspect in each.aspects}
        weights = {kind: weight for each in self.links for kind, weight in each.weights.items()}
        judged = tuple(aspects.values()), weights
        return rival_of(self.joint[0], "unshaped", values, first.targets, judged)[0]

    @property
    def is_worse_than_unshaped(self) -> bool:
        """Whether users surely fare better without the shaper, by more than they notice."""
        rival = self.without_shaper
        return rival is not None and not rival.is_equal and rival.most_behind < 0

    def to_dict(
        self,
        *,
        platform: str = "linux",
        device: str | None = None,
        shape: bool = False,
        linklayer: str | None = None,
    ) -> dict[str, Any]:
        """The document.

        Args:
            platform: For what the lines are that are to be typed.
            device: The interface to the line.
            shape: Hold the rates by shapers.
            linklayer: What the line takes for a packet beyond what the interface counts.
        """
        # what is typed of one direction alone is for what leaves the interface to the line
        are_one = self.is_line and find_platform(platform).write_both is not None
        none: dict[str, Any] = {"configuration": None} if are_one else {}
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "version": _core.engine_version,
            "name": self.title,
            "wanted": list(self.wanted),
            "meets": self.meets,
            "finished": self.finished,
            "shaped": None if self.shaped is None else dataclasses.asdict(self.shaped),
            "unshaped": None if self.unshaped is None else self.unshaped.to_dict(),
            "is_worse_than_unshaped": self.is_worse_than_unshaped,
            "together": [_joint(*each) for each in zip(self.links, self.joint, strict=False)],
            "configuration": self._configuration(platform, device, linklayer),
            "links": [
                each.to_dict(platform=platform, device=device, shape=shape or self.shaped is not None) | none
                for each in self.links
            ],
            "assumed": list(self.assumed),
            "runs": self.runs,
            "resolved": self.resolved,
        }

    def _configuration(
        self, platform: str, device: str | None, linklayer: str | None
    ) -> dict[str, Any] | None:
        try:
            both = self.configuration(platform, device, linklayer)
        except InputError:
            return None
        return None if both is None else both.made.to_dict()

    def save(
        self,
        folder: str | PathLike[str],
        *,
        document: Mapping[str, Any] | None = None,
        text: str | None = None,
    ) -> list[Path]:
        """Write `advice.json` and `advice.txt` into a folder, and each link's files into a folder there.

        Args:
            folder: The folder.
            document: What the first has, such as `to_dict(platform="openwrt")`; default `to_dict()`.
            text: What the second has; default what `print` shows.

        Raises:
            OutputError: They cannot be written.
        """
        directory, whole, views = Path(folder), document or self.to_dict(), display.parts(self)
        make_folder(directory)
        written = [
            write_whole(directory / "advice.json", f"{json.dumps(whole, indent=2, ensure_ascii=False)}\n"),
            write_whole(directory / "advice.txt", f"{self if text is None else text}\n"),
        ]
        for each, own in zip(self.links, whole["links"], strict=True):
            name = each.site.link
            written += each.save(directory / name, document=own, text=views[name].text())
        return written

    def save_figures(self, path: str | PathLike[str]) -> list[Path]:
        """Write each link's figure beside the others: its name follows the file's, as in `advice-upload.png`.

        Args:
            path: Where, with or without a suffix; a `.pdf` gives PDFs, all else PNG and SVG.

        Raises:
            OutputError: They cannot be written.
        """
        file = Path(path)
        suffix = file.suffix if file.suffix.lower() in {".png", ".svg", ".pdf"} else ""
        stem = file.name.removesuffix(suffix)
        return [
            written
            for each in self.links
            for written in display.save_figure(
                each.figure(), file.with_name(f"{stem}-{each.site.link}{suffix}")
            )
        ]

    def __repr__(self) -> str:
        answers = "; ".join(f"{each.site.link}: {each.choice.name}" for each in self.links)
        return f"<LinksAdvice {self.title!r}: {answers}>"


def are_directions(names: Collection[str]) -> bool:
    """Whether links are the two directions of one line, by their names."""
    ways = [[name for name in names if name.lower() in known] for known in (DOWN, UP)]
    return len(names) == 2 and all(ways)


def _pairs(down: Advice, up: Advice) -> Iterator[tuple[Entry, Entry]]:
    """The answers, then each queue that both have tried, the best of the download's first."""
    yield down.answer, up.answer
    others = {entry.queue.name: entry for entry in reversed(list(_ranked(up)))}
    for entry in _ranked(down):
        if entry.queue.name in others:
            yield entry, others[entry.queue.name]


def _ranked(advice: Advice) -> Iterator[Entry]:
    yield advice.answer
    yield from (advice.entries[each.name] for each in advice.choice.rivals)


def _direction(advice: Advice, entry: Entry) -> Direction:
    site = advice.site
    return Direction(
        f"{site.rate_bps} bps", entry.table, f"{entry.whole_packets} packets", f"{site.packet_bytes} B"
    )


def _joint(advice: Advice, entry: Entry) -> dict[str, Any]:
    names = dict.fromkeys(name for values in entry.values for name in values)
    return {
        "link": advice.site.link,
        "runs": len(entry.values),
        "checks": checks_to_dicts(entry.checks, entry.confidence, advice.confidence),
        **values_document({name: entry.mean(name) for name in names}),
    }
