"""A scenario by the simulator and by a kernel, as a table."""

from __future__ import annotations

from bufferlab.display import as_view
from bufferlab.render.grid import Column, Grid
from bufferlab.render.scenario import ScenarioLines
from bufferlab.render.view import Heading, View
from bufferlab.results.metrics.metric import Unit
from bufferlab.stats import Estimate
from bufferlab.studies.crosscheck import Crosscheck, Row


@as_view.register
def crosscheck_view(found: Crosscheck) -> View:
    """What was run, and a line for each figure."""
    seeds = found.simulated.seeds
    several = f"means of {len(seeds)} seeds ± 95 % confidence" if len(seeds) > 1 else f"seed {seeds[0]}"
    columns: list[str | Column] = [
        "simulator",
        "kernel",
        "theory",
        "margin",
        Column("verdict", align="left"),
    ]
    reasons = dict.fromkeys(
        f"{row.compared.title} {row.verdict.value}: {row.reason}"
        for row in found.rows
        if row.verdict is not None and row.reason is not None
    )
    return View(
        [
            Heading(f"{found.simulated.name}: {several}"),
            ScenarioLines(found.simulated.resolved, seeds).terms(),
            Grid(["figure"], columns, [_line(row) for row in found.rows]),
            "\n".join(
                [
                    f"kernel: {found.emulated[0].version}",
                    *reasons,
                    *(f"the kernel's own: {line}" for line in found.otherwise),
                ]
            ),
        ]
    )


def _line(row: Row) -> list[str]:
    compared = row.compared
    return [
        compared.unit.label(compared.title),
        _text(compared.unit, row.ours),
        _text(compared.unit, row.kernels),
        "–" if row.theory is None else compared.unit.text(row.theory),
        compared.bound,
        row.verdict.value if row.verdict else "–",
    ]


def _text(unit: Unit, value: Estimate) -> str:
    return "–" if value.mean is None else unit.text(value.mean, value.half_width)
