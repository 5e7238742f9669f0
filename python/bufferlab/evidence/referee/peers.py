"""The simulators that drawn settings are compared with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import polars as pl

from bufferlab.evidence.ns2.criteria import criteria
from bufferlab.evidence.ns2.explanations import EXPLANATIONS, Explanation, explanations
from bufferlab.evidence.ns2.judging import Figure
from bufferlab.evidence.ns2.measure import simulate
from bufferlab.evidence.ns2.reference import Setting
from bufferlab.evidence.referee import draw, program
from bufferlab.evidence.referee.figures import FIGURES
from bufferlab.evidence.referee.ns3 import draw as ns3_draw
from bufferlab.evidence.referee.ns3 import program as ns3_program
from bufferlab.evidence.referee.ns3.arbiter import judged, summary
from bufferlab.evidence.referee.ns3.simulate import simulate as simulate_as_ns3
from bufferlab.evidence.referee.ranges import RANGES, Range

_NS3: Final = "bufferlab.evidence.referee.ns3"


@dataclass(frozen=True)
class Peer:
    """Another simulator, and the settings that are drawn for it.

    Attributes:
        key: Its name in options and files.
        name: Its name for readers.
        script: The program that runs a setting there, for readers.
        install: What it needs.
        is_there: Whether it can be run.
        run: One run of it: its measurements, `None` if a signal ended it.
        simulate: The same run here; `None` if it was canceled.
        drawn: The setting of a draw and a number.
        figures: What is compared.
        explanations: What experiments show of differences.
        parts: Names of parts of the settings, and what they consist of, by `part`.
        part: What a setting is counted under.
        ranges: What is drawn.
        count: How many settings are drawn by default.
        most_seeds: Of both sides.
        arbiter: What a third says where the two differ, as parts of a page; `None` without one.
        ruled: The same in a clause.
    """

    key: str
    name: str
    script: str
    install: str
    is_there: Callable[[], bool]
    run: Callable[[Setting, int], dict[str, float] | None]
    simulate: Callable[..., dict[str, float] | None]
    drawn: Callable[[int, int], Setting]
    figures: tuple[Figure, ...]
    explanations: tuple[Explanation, ...]
    parts: tuple[tuple[str, tuple[str, ...]], ...]
    part: Callable[[Setting], str]
    ranges: tuple[Range, ...]
    count: int
    most_seeds: int
    arbiter: Callable[[pl.DataFrame], Iterator[str]] | None = None
    ruled: Callable[[pl.DataFrame], str] | None = None

    @property
    def columns(self) -> list[str]:
        """The names of the figures."""
        return [each.name for each in self.figures]

    def figure(self, name: str) -> Figure:
        """The figure of a name."""
        return next(each for each in self.figures if each.name == name)


NS2: Final = Peer(
    key="ns2",
    name="ns-2",
    script=program.SCRIPT,
    install=program.INSTALL,
    is_there=program.is_there,
    run=program.run,
    simulate=simulate,
    drawn=draw.drawn,
    figures=FIGURES,
    explanations=EXPLANATIONS,
    parts=(("ns-2's own agents", draw.OWN_AGENTS), ("Agent/TCP/Linux", draw.LINUX_AGENTS)),
    part=lambda setting: setting.stack,
    ranges=RANGES,
    count=200,
    most_seeds=80,
)

NS3: Final = Peer(
    key="ns3",
    name="ns-3",
    script=ns3_program.SOURCE,
    install=ns3_program.INSTALL,
    is_there=ns3_program.is_there,
    run=ns3_program.run,
    simulate=simulate_as_ns3,
    drawn=ns3_draw.drawn,
    figures=tuple(Figure(**table) for table in criteria(_NS3)["figures"]),
    explanations=explanations(_NS3),
    parts=(("Reno and CUBIC", ns3_draw.PARTS[0]), ("BBR and DCTCP", ns3_draw.PARTS[1])),
    part=ns3_draw.part,
    ranges=ns3_draw.RANGES,
    count=30,
    most_seeds=40,
    arbiter=judged,
    ruled=summary,
)

PEERS: Final = {each.key: each for each in (NS2, NS3)}
"""By the name in options and files."""
