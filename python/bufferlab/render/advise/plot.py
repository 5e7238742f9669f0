"""The figure of an advice: what a buffer does, and what each queue gives."""

from __future__ import annotations

from typing import Final

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from bufferlab.display import as_figure
from bufferlab.render.plots.style import COLORS, LINE_STYLES, new_figure_row
from bufferlab.results.metrics.registry import QUEUE_SUMMARY
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.least import Least
from bufferlab.studies.targets import mean_over_runs

_MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X", "<", ">")
_RULES: Final = ("bdp", "stanford", "single-flow", "tiny")
"""Rules that are marked, where they are within the figure."""

_SINGLE: Final = "single-flow"


@as_figure.register
def draw(advice: Advice) -> Figure:
    """Left, utilization and mean wait against the setting; right, goodput against mean wait, by queue."""
    figure = _new_figure()
    grid = figure.add_gridspec(2, 2, width_ratios=(1.1, 1.0))
    used = figure.add_subplot(grid[0, 0])
    late = figure.add_subplot(grid[1, 0], sharex=used)
    _draw_settings(used, late, advice)
    _draw_queues(figure.add_subplot(grid[:, 1]), advice)
    figure.suptitle(advice.site.name, fontsize="medium")
    return figure


def _new_figure() -> Figure:
    figure, axes = new_figure_row(2)
    for each in axes:
        each.remove()
    FigureCanvasAgg(figure)
    return figure


def _draw_settings(used: Axes, late: Axes, advice: Advice) -> None:
    entry = _searched(advice)
    if entry is None or entry.least is None:
        for axes in (used, late):
            axes.set_axis_off()
        used.text(0.5, 0.0, "no setting was searched", ha="center", transform=used.transAxes)
        return
    is_limit = entry.queue.knob == "limit"
    scale = 1.0 if is_limit else 1e-3
    for axes, metric, factor, color in (
        (used, "utilization", 100.0, COLORS[0]),
        (late, "wait_mean_ms", 1.0, COLORS[1]),
    ):
        _curve(axes, entry.least, metric, (scale, factor), color)
        axes.axvline(
            entry.setting * scale,
            color="black",
            linewidth=1.4,
            label="answer" if entry is advice.answer else f"best {entry.queue.name}",
        )
        if is_limit:
            _draw_rules(axes, advice, entry.least)
    bound = next((each.bound for each in advice.targets if each.name == "utilization"), None)
    if bound is not None:
        used.axhline(bound * 100, color="0.4", linewidth=0.8, linestyle="dotted", label="target")
    used.set_title(entry.queue.name, fontsize="small")
    used.set_ylabel(QUEUE_SUMMARY["utilization"].axis)
    used.tick_params(labelbottom=False)
    late.set_ylabel("mean wait (ms)")
    plain = FuncFormatter(lambda value, _position: f"{value:g}")
    late.set_xscale("log")
    late.xaxis.set_major_formatter(plain)
    if late.dataLim.y0 > 0:
        late.set_yscale("log")
        late.yaxis.set_major_formatter(plain)
    late.set_xlabel("buffer (packets)" if is_limit else "target of delay (ms)")
    used.legend(fontsize="x-small", framealpha=0.9, loc="lower right")


def _searched(advice: Advice) -> Entry | None:
    """Whose settings are drawn: the answer's if they were searched, otherwise plain FIFO's, otherwise any."""
    candidates = [advice.answer, advice.best_fifo(), *advice.entries.values()]
    searched = [each for each in candidates if each is not None and each.least is not None]
    limits = [each for each in searched if each.queue.knob == "limit"]
    return next(iter([*limits, *searched]), None)


def _curve(axes: Axes, found: Least, metric: str, scales: tuple[float, float], color: str) -> None:
    scale, factor = scales
    points = []
    for size in found.memory.sizes:
        given = mean_over_runs(metric, found.memory.values(size))
        if given.mean is not None:
            points.append((size * scale, given.mean * factor, (given.half_width or 0.0) * factor))
    if points:
        sizes, means, halves = zip(*points, strict=True)
        axes.errorbar(
            sizes, means, yerr=halves, color=color, marker="o", markersize=3, linewidth=1.0, capsize=2
        )


def _draw_rules(axes: Axes, advice: Advice, found: Least) -> None:
    sizes = found.memory.sizes
    several = sum(each.flows for each in advice.site.users if each.control is not None) > 1
    names = [name for name in _RULES if name in advice.site.rules and not (several and name == _SINGLE)]
    for index, name in enumerate(names):
        packets = advice.site.rules[name]
        if sizes[0] <= packets <= sizes[-1]:
            axes.axvline(
                packets,
                color="0.35",
                linewidth=1.0,
                linestyle=LINE_STYLES[1 + index],
                label=f"{name}: {packets}",
            )


def _draw_queues(axes: Axes, advice: Advice) -> None:
    metric, factor, label = _given(advice)
    queues = list(dict.fromkeys(entry.queue.name for entry in advice.entries.values()))
    for entry in advice.entries.values():
        wait, given = entry.mean("wait_mean_ms"), entry.mean(metric)
        if wait.mean is None or given.mean is None:
            continue
        index = queues.index(entry.queue.name)
        chosen = entry is advice.answer
        axes.errorbar(
            [wait.mean],
            [given.mean * factor],
            xerr=[wait.half_width or 0.0],
            yerr=[(given.half_width or 0.0) * factor],
            marker=_MARKERS[index % len(_MARKERS)],
            markersize=11 if chosen else 6,
            markerfacecolor=COLORS[index % len(COLORS)] if entry.least is not None or chosen else "white",
            markeredgecolor="black" if chosen else COLORS[index % len(COLORS)],
            markeredgewidth=1.8 if chosen else 1.0,
            ecolor="0.5",
            linestyle="none",
            zorder=3 if chosen else 2,
            label=f"{entry.name}{' (answer)' if chosen else ''}",
        )
    axes.set_xlabel("mean wait (ms)")
    axes.set_ylabel(label)
    axes.margins(0.15)
    axes.ticklabel_format(useOffset=False)
    axes.figure.legend(
        *axes.get_legend_handles_labels(), fontsize="x-small", loc="outside lower center", ncols=4
    )


def _given(advice: Advice) -> tuple[str, float, str]:
    """What users get: the goodput of all flows; without TCP, the link's throughput."""
    for metric, label in (
        ("goodput_total_bps", "goodput of all flows (Mbps)"),
        ("throughput_bps", QUEUE_SUMMARY["throughput_bps"].axis),
    ):
        if all(entry.mean(metric).mean is not None for entry in advice.entries.values()):
            return metric, 1e-6, label
    return "utilization", 100.0, QUEUE_SUMMARY["utilization"].axis
