"""A run's frames from the engine's tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from bufferlab.plan import Plan
from bufferlab.results import exchanges
from bufferlab.results.frames import NAMES, Frames, measured_s
from bufferlab.results.metrics.exchanges import EXCHANGES
from bufferlab.results.metrics.expressions import Run, Table
from bufferlab.results.metrics.flows import FLOWS
from bufferlab.results.metrics.metric import Dimension
from bufferlab.results.metrics.queues import CLASSES, QUEUES, WAIT_QUANTILES
from bufferlab.results.metrics.samples import CLASS_SAMPLES, FLOW_SAMPLES, HISTOGRAMS, QUEUE_SAMPLES
from bufferlab.results.transfers import with_sizes
from bufferlab.results.videos import with_segments
from bufferlab.stats import histogram_quantiles
from bufferlab.units import PS_PER_MS

if TYPE_CHECKING:
    from bufferlab._core import Outcome
    from bufferlab._scenario_types import ResolvedScenario


def from_outcome(outcome: Outcome, resolved: ResolvedScenario, plan: Plan, *, brief: bool = False) -> Frames:
    """Build the frames of a run.

    Args:
        outcome: What the engine measured.
        resolved: The scenario under the run's seed.
        plan: Its plan.
        brief: Only the frames that a summary needs; the rest is empty.
    """
    run = Run.of(resolved, measured_s(resolved, outcome.reached_ps))

    def frame(rows: pl.DataFrame, dimension: Dimension) -> pl.DataFrame:
        return Table(run, rows).frame(dimension)

    histograms, flows = pl.DataFrame(outcome.histograms()), pl.DataFrame(outcome.flows())
    groups = (flows if flows["flow"].is_sorted() else flows.sort("flow"))["group"]
    exchanged = with_segments(pl.DataFrame(outcome.exchanges()), outcome, resolved)
    frames = {
        "flows": frame(with_sizes(flows, resolved, plan), FLOWS),
        "queues": frame(_with_quantiles(pl.DataFrame(outcome.queues()), histograms, "group"), QUEUES),
        "exchanges": frame(exchanges.with_parts(exchanged, groups, resolved), EXCHANGES),
    }
    if brief:
        return Frames(**dict.fromkeys(NAMES, pl.DataFrame()) | frames)
    classes, class_histograms = pl.DataFrame(outcome.classes()), pl.DataFrame(outcome.class_histograms())
    senders, receivers = pl.DataFrame(outcome.sender_samples()), pl.DataFrame(outcome.receiver_samples())
    queue_samples = pl.DataFrame(outcome.queue_samples())
    if queue_samples.height:
        queue_samples = queue_samples.sort("link", "time_ps", maintain_order=True)
    return Frames(
        **frames,
        histograms=frame(histograms, HISTOGRAMS),
        queue_samples=frame(queue_samples, QUEUE_SAMPLES),
        flow_samples=frame(_flow_samples(senders, receivers, groups), FLOW_SAMPLES),
        classes=frame(_with_quantiles(classes, class_histograms, "class"), CLASSES),
        class_samples=frame(pl.DataFrame(outcome.class_samples()), CLASS_SAMPLES),
    )


def _flow_samples(senders: pl.DataFrame, receivers: pl.DataFrame, groups: pl.Series) -> pl.DataFrame:
    if not senders.height and not receivers.height:  # as of most runs, which may take less time than a join
        received = [column for column in receivers.get_columns() if column.name not in senders.columns]
        return senders.hstack([*received, groups.clear().alias("group")])
    table = senders.join(receivers, on=["time_ps", "flow"], how="full", coalesce=True)
    table = table.with_columns(groups.gather(table["flow"]).alias("group"))
    return table.sort("flow", "time_ps")


def _with_quantiles(table: pl.DataFrame, histograms: pl.DataFrame, part: str) -> pl.DataFrame:
    """The table with the waits' quantiles; `part` names its groups or classes of a link."""
    links, parts, lower_ps, upper_ps, counts = (
        histograms[name].to_numpy() for name in ("link", part, "lower_ps", "upper_ps", "count")
    )
    owners = links.astype(np.uint64) << np.uint64(32) | parts
    ordered = np.lexsort((lower_ps, owners))
    owners = owners[ordered]
    wanted = table["link"].to_numpy().astype(np.uint64) << np.uint64(32) | table[part].to_numpy()
    begins, ends = (np.searchsorted(owners, wanted, side).tolist() for side in ("left", "right"))
    found_ms: list[list[float | None]] = []
    for begin, end, longest_ps in zip(begins, ends, table["wait_max_ps"].to_list(), strict=True):
        own = ordered[begin:end]
        found_ps = histogram_quantiles(
            lower_ps[own],
            upper_ps[own] - 1,  # a bucket's bound belongs to the next
            counts[own],
            list(WAIT_QUANTILES.values()),
            largest=longest_ps,
        )
        found_ms.append([None if wait_ps is None else wait_ps / PS_PER_MS for wait_ps in found_ps])
    return table.hstack(
        [
            pl.Series(name, [each[at] for each in found_ms], pl.Float64)
            for at, name in enumerate(WAIT_QUANTILES)
        ]
    )
