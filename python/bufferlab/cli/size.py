"""`bufferlab size`: how large a link's buffer should be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import polars as pl
import typer
from rich.table import Table

from bufferlab.cli.common import print_json, print_rich, say
from bufferlab.cli.options import (
    AsJson,
    Engine,
    Fresh,
    Overrides,
    RayAddress,
    StoreFolder,
    Threads,
    delivering,
    runner_of,
    say_kept,
)
from bufferlab.cli.size_input import read_groups, read_measured, read_targets
from bufferlab.display import save_figure
from bufferlab.errors import InputError
from bufferlab.experiment.runner import Runner
from bufferlab.render.size import infeasible, range_text, targets_given, targets_text
from bufferlab.results.metrics.metric import CONFIDENCE_SUFFIX, Metric
from bufferlab.results.metrics.registry import STORED
from bufferlab.scenario import Scenario, split_override
from bufferlab.studies.size import Sizing, quick_scenario
from bufferlab.studies.size import size as size_buffers
from bufferlab.studies.size.sizing import DEFAULT_CURVE_POINTS, DEFAULT_SEEDS, DEFAULT_TARGET_UTILIZATION
from bufferlab.studies.size.verify import METRICS
from bufferlab.theory.normal import CONVENTIONS
from bufferlab.theory.targets import CHARACTERISTICS, DEFAULT_CONFIDENCE

_RESULTS: Final = Path("results")
_CONSTRAINTS: Final = ("utilization", "loss", "delay")


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("size")(size)


def size(  # noqa: PLR0917 - the order is that of the help; nobody calls it
    scenario: Annotated[
        Path | None,
        typer.Argument(
            help="Scenario file, TOML or JSON; or give --rate, --rtt and --flows.", show_default=False
        ),
    ] = None,
    rate: Annotated[
        str | None, typer.Option(help="Rate of the link: '100 Mbps'.", show_default=False)
    ] = None,
    rtt: Annotated[
        str | None, typer.Option(help="Mean round-trip time without queueing: '100 ms'.", show_default=False)
    ] = None,
    flows: Annotated[
        str | None,
        typer.Option(
            help="Number of long-lived flows: 200, or by protocol: reno:42,bic:51,cubic-0.8:30.",
            show_default=False,
        ),
    ] = None,
    mix: Annotated[
        str | None,
        typer.Option(help="With --flows N: shares of the protocols, reno:40%,cubic:60%.", show_default=False),
    ] = None,
    segment: Annotated[str, typer.Option(help="With --rate: payload of a full segment.")] = "1460 B",
    spread: Annotated[
        float, typer.Option(help="With --rate: round-trip times are spaced evenly over rtt*(1 +- spread).")
    ] = 0.2,
    stack: Annotated[str, typer.Option(help="With --rate: preset of the TCP keys.")] = "rfc",
    overrides: Overrides = None,
    link: Annotated[
        str | None, typer.Option(help="Link to size; default the slowest.", show_default=False)
    ] = None,
    utilization: Annotated[
        float, typer.Option(help="Keep this utilization; above 0, below 1.")
    ] = DEFAULT_TARGET_UTILIZATION,
    max_loss: Annotated[
        float | None, typer.Option(help="Keep the loss below this share: 0.01.", show_default=False)
    ] = None,
    max_delay: Annotated[
        str | None, typer.Option(help="Keep the queueing delay below this: '20 ms'.", show_default=False)
    ] = None,
    confidence: Annotated[
        float, typer.Option(help="With --max-loss: probability that the bound holds, in theory.")
    ] = DEFAULT_CONFIDENCE,
    z: Annotated[
        str,
        typer.Option(help="Quantiles: one-sided (2.33 for 0.99), or the heterogeneous-TCP paper's (2.05)."),
    ] = CONVENTIONS[0],
    characteristics: Annotated[
        str, typer.Option(help="Variation of the protocols' windows: derived, or published (Table III).")
    ] = CHARACTERISTICS[0],
    measured: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=A",
            help="Measured variation of a protocol's window: westwood=0.1. Repeatable.",
            show_default=False,
        ),
    ] = None,
    verify: Annotated[
        bool, typer.Option("--verify", help="Simulate each rule's buffer, and others around them.")
    ] = False,
    seeds: Annotated[int, typer.Option(help="With --verify: simulations per buffer.")] = DEFAULT_SEEDS,
    curve: Annotated[
        int, typer.Option(help="With --verify: number of buffers besides those of the rules.")
    ] = DEFAULT_CURVE_POINTS,
    threads: Threads = None,
    engine: Engine = "local",
    ray_address: RayAddress = None,
    store: StoreFolder = None,
    fresh: Fresh = False,
    plot: Annotated[
        Path | None,
        typer.Option(help="With --verify: the figure, PNG and SVG; default OUT/NAME.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of figure and tables; default results.", show_default=False)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Size a buffer by every published rule, recommend one, and check by simulation."""
    if plot is not None and not verify:
        raise InputError(
            "draws what simulations measured", key="--plot", accepted="--plot together with --verify"
        )
    targets = read_targets(
        max_delay,
        utilization=utilization,
        max_loss=max_loss,
        confidence=confidence,
        convention=z,
        characteristics=characteristics,
    )
    quick = _Quick(rate, rtt, flows, mix, {"segment": segment, "spread": spread, "stack": stack})
    loaded = _loaded(scenario, quick)
    runner: Runner | None = None
    if verify:
        runner = runner_of(threads=threads, engine=engine, ray_address=ray_address, store=store, fresh=fresh)
    with delivering(partial(_show, as_json=as_json)):
        sizing = size_buffers(
            loaded,
            link=link,
            verify=verify,
            targets=targets,
            measured=read_measured(measured or []),
            seeds=seeds,
            curve_points=curve,
            overrides=dict(split_override(text) for text in overrides or []),
            runner=runner,
        )
    saved = _save(sizing, scenario.stem if scenario else "size", plot, out)
    _show(sizing, as_json=as_json)
    if saved:
        say(f"saved {', '.join(str(path) for path in saved)}")
    if runner is not None:
        say_kept(runner)
    if sizing.verification is None and max_delay is not None and not sizing.feasibility.feasible:
        raise infeasible(sizing.demand, sizing.feasibility, max_delay)


@dataclass(frozen=True)
class _Quick:
    """The options that stand for a scenario file."""

    rate: str | None
    rtt: str | None
    flows: str | None
    mix: str | None
    details: dict[str, Any]

    def given(self) -> list[str]:
        """Those that were given."""
        return [f"--{name}" for name in ("rate", "rtt", "flows", "mix") if getattr(self, name) is not None]


def _loaded(scenario: Path | None, quick: _Quick) -> Scenario:
    if scenario is not None:
        if quick.given():
            raise InputError(
                "does not go with a scenario file",
                key=quick.given()[0],
                accepted="--set to change the scenario's values",
            )
        return Scenario.load(scenario)
    if quick.rate is None or quick.rtt is None or quick.flows is None:
        raise InputError("nothing to size", accepted="a scenario file, or all of --rate, --rtt and --flows")
    groups = read_groups(quick.flows, quick.mix)
    content = quick_scenario(quick.rate, quick.rtt, groups, **quick.details)
    return Scenario.from_dict(content, file="--rate/--rtt/--flows")


def _save(sizing: Sizing, name: str, plot: Path | None, out: Path | None) -> list[Path]:
    """Write the verification's figure and table; nothing without a verification, unless asked for."""
    saved: list[Path] = []
    if out is not None:
        saved += sizing.save_tables(out, name)
    if sizing.verification is not None:
        saved += save_figure(sizing.figure(), plot or (out or _RESULTS) / name)
    return saved


def _show(sizing: Sizing, *, as_json: bool) -> None:
    if as_json:
        print_json(sizing.to_dict())
    else:
        _print(sizing)


def _print(sizing: Sizing) -> None:
    demand = sizing.demand
    print_rich(
        f"{sizing.link}: {demand.rate_bps / 1e6:g} Mbps, mean round-trip time {demand.rtt_s * 1e3:.4g} ms, "
        f"{int(demand.flow_count)} long-lived flows ({_mix_text(sizing)}), packets of {demand.packet_bytes} "
        "bytes on the wire"
    )
    print_rich(f"Targets: {targets_text(demand.targets)}")
    print_rich(_rules_table(sizing))
    if sizing.verification is not None:
        print_rich(_verification_table(sizing, sizing.verification))
    for line in range_text(demand, sizing.feasibility):
        print_rich(line)
    chosen = sizing.recommendation
    size_text = f"{chosen.buffer_bytes / 1e3:.4g} KB, {chosen.buffer_ms:.3g} ms"
    print_rich(f"Take {chosen.buffer_packets} packets ({size_text}; {chosen.rule}): {chosen.reason}.")


def _rules_table(sizing: Sizing) -> Table:
    table = Table("rule", "formula")
    for title in ("packets", "KB", "ms"):
        table.add_column(title, justify="right")
    targets = sizing.demand.targets
    shown = [name for name, wanted in zip(_CONSTRAINTS, targets_given(targets), strict=True) if wanted]
    for name in shown:
        table.add_column(f"{name} met in theory", justify="center")
    table.add_column("source")
    for row in sizing.frame.iter_rows(named=True):
        table.add_row(
            row["rule"],
            row["title"],
            str(row["buffer_packets"]),
            f"{row['buffer_bytes'] / 1e3:.4g}",
            f"{row['buffer_ms']:.4g}",
            *["yes" if row[f"meets_{name}"] else "no" for name in shown],
            row["citation"],
        )
    return table


def _mix_text(sizing: Sizing) -> str:
    return ", ".join(f"{count:.0f} {name}" for name, count in sizing.demand.mix)


def _verification_table(sizing: Sizing, verification: pl.DataFrame) -> Table:
    table = Table("rule", title=f"Simulated, {sizing.seeds} seeds, ± 95 % confidence", title_justify="left")
    for title in ("packets", *(STORED[name].label for name in METRICS)):
        table.add_column(title, justify="right")
    for row in verification.iter_rows(named=True):
        table.add_row(
            row["rule"] or "·",
            str(row["buffer_packets"]),
            *(_with_confidence(row, STORED[name]) for name in METRICS),
        )
    return table


def _with_confidence(row: dict[str, Any], metric: Metric) -> str:
    scale = metric.unit.scale
    value, half = row[metric.name] * scale, row[metric.name + CONFIDENCE_SUFFIX] * scale
    return f"{value:.4g}" if math.isnan(half) else f"{value:.4g} ± {half:.2g}"
