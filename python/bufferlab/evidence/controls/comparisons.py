"""All comparisons of congestion controls with theory."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import polars as pl
from matplotlib.figure import Figure

from bufferlab.evidence.controls import characteristics, minimum, single
from bufferlab.evidence.controls.mixes import MIXES, alone
from bufferlab.experiment.runner import Runner


@dataclass(frozen=True)
class Controls:
    """What was found.

    Attributes:
        cells: Least buffers.
        characteristics: Variation of windows.
        singles: One flow.
        quick: Whether only a part was simulated.
    """

    cells: list[minimum.Cell]
    characteristics: list[characteristics.Characteristic]
    singles: list[single.SingleFlow]
    quick: bool = False

    @property
    def frames(self) -> dict[str, pl.DataFrame]:
        """The tables by name."""
        least = [
            {key: value for key, value in asdict(cell).items() if key != "minima"} | asdict(one)
            for cell in self.cells
            for one in cell.minima
        ]
        flows = [
            {key: value for key, value in vars(each).items() if key != "window"} for each in self.singles
        ]
        return {
            "minimum": pl.DataFrame(least),
            "characteristics": pl.DataFrame([asdict(each) for each in self.characteristics]),
            "single": pl.DataFrame(flows),
        }

    def figure(self) -> Figure:
        """The windows of single flows."""
        return single.draw(self.singles)


def study_controls(
    *,
    quick: bool = False,
    threads: int | None = None,
    progress: bool | None = None,
    runner: Runner | None = None,
) -> Controls:
    """Simulate all that docs/controls.md shows: some five minutes of one processor.

    Args:
        quick: Least buffers only of Reno with 10 flows, windows only of Reno and CUBIC.
        threads: Simulations at a time; default one for each processor.
        progress: Show progress bars; default if standard error is a terminal.
        runner: Runs the simulations; default a plain one with `threads` and `progress`.

    Raises:
        RunInterrupted: At Ctrl-C.
    """
    mixes = (alone("reno"),) if quick else MIXES
    measured = (alone("reno"), alone("cubic")) if quick else characteristics.MEASURED_MIXES
    counts = minimum.FLOWS[:1] if quick else minimum.FLOWS
    points = [minimum.Point(mix, flows) for mix in mixes for flows in counts]
    with runner or Runner(threads=threads, progress=progress) as keeping:
        return Controls(
            cells=minimum.least_buffers(points, keeping),
            characteristics=characteristics.characteristics(measured, keeping),
            singles=single.single_flows(single.SINGLE_CONTROLS, keeping),
            quick=quick,
        )
