"""The comparison as one table, and the answer below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bufferlab.display import as_view
from bufferlab.render.grid import Grid
from bufferlab.render.scenario import ScenarioLines
from bufferlab.render.summary import headline, lines
from bufferlab.render.view import Heading, View
from bufferlab.results.metrics.registry import STORED
from bufferlab.studies.compare.comparison import Comparison
from bufferlab.studies.compare.measure import FIGURES, GROUP_FIGURES


@as_view.register
def comparison_view(comparison: Comparison) -> View:
    """The table, and the queue to run."""
    advice = comparison.advice
    queue = advice.queue or "any"
    varied = {comparison.link: ("buffer", "queue")}
    return View(
        [
            Heading(headline(comparison.to_dict())),
            ScenarioLines(comparison.resolved, comparison.seeds, varied).terms(),
            _grid(comparison.link, comparison.rows),
            f"Rule: {advice.rule}.",
            f"Which queue should I run for these flows? {queue}: {advice.reason}.",
        ]
    )


def _grid(link: str, rows: Sequence[Mapping[str, Any]]) -> Grid:
    shown = [["buffer", *(row["buffer"] for row in rows)], *lines(rows, map(STORED.__getitem__, FIGURES))]
    for at, group in enumerate(rows[0]["groups"]):
        of_group = [row["groups"][at] for row in rows]
        shown.append([f"{group['group']} ({group['flows']})"])
        shown += [
            [f"  {label}", *cells]
            for label, *cells in lines(of_group, map(STORED.__getitem__, GROUP_FIGURES))
        ]
    return Grid([f"queue of {link}"], [row["queue"] for row in rows], shown)
