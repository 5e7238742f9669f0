"""The figure of an advice: what a buffer does, and what each queue gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from textwrap import fill
from typing import Final

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure, SubFigure
from matplotlib.ticker import FuncFormatter

from bufferlab.display import as_figure
from bufferlab.render.advise.felt import aspect_title
from bufferlab.render.advise.head import headline
from bufferlab.render.advise.words import entry_text
from bufferlab.render.plots.style import COLORS, LINE_STYLES, MARKERS, new_figure_row
from bufferlab.render.words import metric_of
from bufferlab.resolved import FELT_BY_GOODPUT
from bufferlab.results.metrics.metric import Unit
from bufferlab.results.metrics.registry import QUEUE_SUMMARY
from bufferlab.stats import estimate
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.entry import Entry, Users
from bufferlab.studies.choosing.objectives import Aspect
from bufferlab.studies.least import Least
from bufferlab.studies.targets import Values, mean_over_runs

_RULES: Final = ("bdp", "stanford", "single-flow", "tiny")
"""Rules that have a line, where they are within the figure."""

_SINGLE: Final = "single-flow"

_TITLE: Final = 100
"""Characters of a line of the title."""

_HEIGHT_IN: Final = 4.6


@as_figure.register
def draw(advice: Advice) -> Figure:
    """Left, utilization and wait against the setting; right, what users get against the wait, by queue."""
    figure = _new_figure()
    halves = figure.add_gridspec(1, 2, width_ratios=(1.1, 1.0))
    _draw_settings(figure.add_subfigure(halves[0]), advice)
    _draw_queues(figure.add_subfigure(halves[1]), advice)
    figure.suptitle(f"{_title(advice)}\n{fill(headline(advice), _TITLE)}", fontsize="medium")
    return figure


def _title(advice: Advice) -> str:
    """What is drawn: the scenario, and of several links which one."""
    name, link = advice.site.name, advice.site.link
    return name if len(advice.resolved["links"]) == 1 else f"{name}: {link}"


def _new_figure() -> Figure:
    figure, axes = new_figure_row(2)
    for each in axes:
        each.remove()
    figure.set_figheight(_HEIGHT_IN)
    FigureCanvasAgg(figure)
    return figure


def _draw_settings(part: SubFigure, advice: Advice) -> None:
    used, late = part.subplots(2, 1, sharex=True)
    entry = _searched(advice)
    if entry is None or entry.least is None:
        for axes in (used, late):
            axes.set_axis_off()
        used.text(0.5, 0.0, "no setting was searched", ha="center", transform=used.transAxes)
        return
    is_limit = entry.queue.knob == "limit"
    scale = 1.0 if is_limit else 1e-3
    for axes, metric, factor in ((used, "utilization", 100.0), (late, "wait_mean_ms", 1.0)):
        _curve(axes, entry.least, metric, (scale, factor), _color(advice, entry))
        axes.axvline(
            entry.setting * scale,
            color="black",
            linewidth=1.4,
            label="answer" if entry is advice.answer else f"{entry.title}, not the answer",
        )
        if is_limit:
            _draw_rules(axes, advice, entry.least)
    bound = next((each.bound for each in advice.targets if each.name == "utilization"), None)
    if bound is not None:
        used.axhline(bound * 100, color="0.4", linewidth=0.8, linestyle="dotted", label="target")
    used.set_title(f"{entry.title}: what the {'buffer' if is_limit else 'target'} does", fontsize="small")
    used.set_ylabel(QUEUE_SUMMARY["utilization"].axis)
    late.set_ylabel("mean wait (ms)")
    plain = FuncFormatter(lambda value, _position: f"{value:g}")
    late.set_xscale("log")
    late.xaxis.set_major_formatter(plain)
    if late.dataLim.y0 > 0:
        late.set_yscale("log")
        late.yaxis.set_major_formatter(plain)
    late.set_xlabel("buffer (packets)" if is_limit else "target of delay (ms)")
    _legend(part, used, 3)


def _color(advice: Advice, entry: Entry) -> str:
    """A queue's color, in both halves."""
    return COLORS[_queues(advice).index(entry.queue.name) % len(COLORS)]


def _queues(advice: Advice) -> list[str]:
    return list(dict.fromkeys(entry.queue.name for entry in advice.entries.values()))


def _legend(part: SubFigure, axes: Axes, columns: int) -> None:
    """A legend below, where it covers nothing."""
    found = axes.get_legend_handles_labels()
    part.legend(*found, fontsize="x-small", loc="outside lower center", ncols=columns)


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


def _draw_queues(part: SubFigure, advice: Advice) -> None:
    axes = part.subplots()
    given, label = _given(advice)
    for entry in advice.entries.values():
        wait, found = entry.mean("wait_mean_ms"), estimate(given(values) for values in entry.values)
        if wait.mean is None or found.mean is None:
            continue
        color, chosen = _color(advice, entry), entry is advice.answer
        axes.errorbar(
            [wait.mean],
            [found.mean],
            xerr=[wait.half_width or 0.0],
            yerr=[found.half_width or 0.0],
            marker=MARKERS[_queues(advice).index(entry.queue.name) % len(MARKERS)],
            markersize=11 if chosen else 6,
            markerfacecolor=color if entry.least is not None or chosen else "white",
            markeredgecolor="black" if chosen else color,
            markeredgewidth=1.8 if chosen else 1.0,
            ecolor="0.5",
            linestyle="none",
            zorder=3 if chosen else 2,
            label=f"{entry_text(entry)}{' (answer)' if chosen else ''}",
        )
    axes.set_title("what each queue gives", fontsize="small")
    axes.set_xlabel("mean wait (ms)")
    axes.set_ylabel(label)
    axes.margins(0.15)
    axes.ticklabel_format(useOffset=False)
    _legend(part, axes, 2)


def _given(advice: Advice) -> tuple[Callable[[Values], float | None], str]:
    """What users get: what weighs most, or the goodput of the flows that cross the link, or its use."""
    aspect = _weightiest(advice)
    if aspect is not None:
        unit = metric_of(aspect.metric).unit
        return _scaled(aspect.metric, unit), unit.axis(aspect_title(aspect))
    groups = _crossing(advice)
    runs = [values for entry in advice.entries.values() for values in entry.values]
    if groups and all(_goodput(values, groups) is not None for values in runs):
        return lambda values: _goodput(values, groups), "goodput of the flows over the link (Mbps)"
    metric = QUEUE_SUMMARY["utilization"]
    return _scaled(metric.name, metric.unit), metric.axis


def _weightiest(advice: Advice) -> Aspect | None:
    """An aspect of the kind that weighs more than all others, if one does; not the wait, which is drawn."""
    heaviest = max(advice.weights.values(), default=0.0)
    kinds = [kind for kind, weight in advice.weights.items() if weight == heaviest]
    if len(kinds) != 1 or len(advice.weights) == 1:
        return None
    of_kind = (each for each in advice.aspects if each.kind == kinds[0] and each.metric != "wait_mean_ms")
    return next(of_kind, None)


def _scaled(name: str, unit: Unit) -> Callable[[Values], float | None]:
    def scaled(values: Values) -> float | None:
        value = values.get(name)
        return None if value is None else float(unit.scaled(value))

    return scaled


def _crossing(advice: Advice) -> list[Users]:
    """The groups with goodput whose data crosses the link."""
    paths = {flow["name"]: flow["path"] for flow in advice.resolved["flows"]}
    link = advice.site.link
    users = [each for each in advice.site.users if link in paths.get(each.name, [link])]
    return [each for each in users if each.kind in FELT_BY_GOODPUT]


def _goodput(values: Values, groups: Sequence[Users]) -> float | None:
    """The goodput of all flows of some groups, Mbps."""
    rates = [values.get(f"{each.name}.goodput_bps") for each in groups]
    known = [rate for rate in rates if rate is not None]
    if len(known) < len(rates):
        return None
    return sum(each.flows * rate for each, rate in zip(groups, known, strict=True)) / 1e6
