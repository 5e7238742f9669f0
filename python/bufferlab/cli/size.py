"""`bufferlab size`: how large a link's buffer should be."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Annotated, Any, Final

import polars as pl
import typer
from rich.table import Table

from bufferlab.cli.common import print_json, print_rich, say
from bufferlab.errors import InputError
from bufferlab.scenario import Scenario, split_override
from bufferlab.sizing import Sizing, quick_scenario
from bufferlab.sizing import size as size_buffers
from bufferlab.sizing.study import DEFAULT_CURVE_POINTS, DEFAULT_SEEDS, DEFAULT_TARGET_UTILIZATION

_RESULTS: Final = Path("results")
_GROUP: Final = re.compile(r"(?:([A-Za-z][\w-]*):)?(\d{1,9})", re.ASCII)


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
            help="Number of long-lived flows: 200, or by control: reno:150,newreno:50.", show_default=False
        ),
    ] = None,
    segment: Annotated[str, typer.Option(help="With --rate: payload of a full segment.")] = "1460 B",
    spread: Annotated[
        float, typer.Option(help="With --rate: round-trip times are spaced evenly over rtt*(1 +- spread).")
    ] = 0.2,
    stack: Annotated[str, typer.Option(help="With --rate: preset of the TCP keys.")] = "rfc",
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="PATH=VALUE", help="Override a value of the scenario. Repeatable."),
    ] = None,
    link: Annotated[
        str | None, typer.Option(help="Which link; default the slowest.", show_default=False)
    ] = None,
    utilization: Annotated[
        float, typer.Option(help="The recommendation keeps this utilization.")
    ] = DEFAULT_TARGET_UTILIZATION,
    verify: Annotated[
        bool, typer.Option("--verify", help="Simulate each rule's buffer, and a curve around.")
    ] = False,
    seeds: Annotated[int, typer.Option(help="With --verify: simulations a buffer.")] = DEFAULT_SEEDS,
    curve: Annotated[
        int, typer.Option(help="With --verify: so many buffers besides the rules' own.")
    ] = DEFAULT_CURVE_POINTS,
    threads: Annotated[
        int | None, typer.Option(help="Simulations at a time; default one a processor.", show_default=False)
    ] = None,
    plot: Annotated[
        Path | None,
        typer.Option(help="With --verify: the figure, PNG and SVG; default OUT/NAME.", show_default=False),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder of figure and tables; default results.", show_default=False)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Size a buffer by every published rule, recommend one, and check by simulation."""
    if plot is not None and not verify:
        raise InputError(
            "draws what simulations measured", key="--plot", accepted="--plot together with --verify"
        )
    loaded = _loaded(scenario, rate, rtt, flows, quick={"segment": segment, "spread": spread, "stack": stack})
    sizing = size_buffers(
        loaded,
        link=link,
        verify=verify,
        target_utilization=utilization,
        seeds=seeds,
        curve_points=curve,
        threads=threads,
        overrides=dict(split_override(text) for text in overrides or []),
    )
    saved = _save(sizing, scenario.stem if scenario else "size", plot, out)
    if as_json:
        print_json(sizing.to_dict())
    else:
        _print(sizing)
    if saved:
        say(f"saved {', '.join(str(path) for path in saved)}")


def _loaded(
    scenario: Path | None, rate: str | None, rtt: str | None, flows: str | None, quick: dict[str, Any]
) -> Scenario:
    given = [
        name for name, value in (("--rate", rate), ("--rtt", rtt), ("--flows", flows)) if value is not None
    ]
    if scenario is not None:
        if given:
            raise InputError(
                "does not go with a scenario file",
                key=given[0],
                accepted="--set to change the scenario's values",
            )
        return Scenario.load(scenario)
    if rate is None or rtt is None or flows is None:
        raise InputError("nothing to size", accepted="a scenario file, or all of --rate, --rtt and --flows")
    return Scenario.from_dict(quick_scenario(rate, rtt, _groups(flows), **quick), file="--rate/--rtt/--flows")


def _groups(text: str) -> list[tuple[str | None, int]]:
    groups: list[tuple[str | None, int]] = []
    for part in text.split(","):
        match = _GROUP.fullmatch(part.strip())
        if match is None or int(match[2]) < 1:
            raise InputError(
                "is not a number of flows", key="--flows", value=text, accepted="200, or reno:150,newreno:50"
            )
        groups.append((match[1], int(match[2])))
    return groups


def _save(sizing: Sizing, name: str, plot: Path | None, out: Path | None) -> list[Path]:
    """Write the verification's figure and table; nothing without a verification, unless asked for."""
    saved: list[Path] = []
    if out is not None:
        saved += sizing.save_tables(out, name)
    if sizing.verification is not None:
        from bufferlab.plots.style import save_figure  # noqa: PLC0415 - matplotlib takes long to start

        saved += save_figure(sizing.figure(), plot or (out or _RESULTS) / name)
    return saved


def _print(sizing: Sizing) -> None:
    demand = sizing.demand
    print_rich(
        f"{sizing.link}: {demand.rate_bps / 1e6:g} Mbps, mean round-trip time {demand.rtt_s * 1e3:.4g} ms, "
        f"{int(demand.flow_count)} long-lived flows, packets of {demand.packet_bytes} bytes on the wire"
    )
    print_rich(_rules_table(sizing))
    if sizing.verification is not None:
        print_rich(_verification_table(sizing, sizing.verification))
    chosen = sizing.recommendation
    print_rich(
        f"Take {chosen.buffer_packets} packets ({chosen.buffer_bytes / 1e3:.4g} KB, {chosen.buffer_ms:.3g} ms; "
        f"{chosen.rule}): {chosen.reason}."
    )


def _rules_table(sizing: Sizing) -> Table:
    table = Table("rule", "formula")
    for title in ("packets", "KB", "ms"):
        table.add_column(title, justify="right")
    table.add_column("source")
    for row in sizing.frame.iter_rows(named=True):
        table.add_row(
            row["rule"],
            row["title"],
            str(row["buffer_packets"]),
            f"{row['buffer_bytes'] / 1e3:.4g}",
            f"{row['buffer_ms']:.4g}",
            row["citation"],
        )
    return table


def _verification_table(sizing: Sizing, verification: pl.DataFrame) -> Table:
    table = Table("rule", title=f"Simulated, {sizing.seeds} seeds, ± 95 % confidence", title_justify="left")
    for title in ("packets", "utilization, %", "loss, %", "delay: mean, ms", "delay: 99th percentile, ms"):
        table.add_column(title, justify="right")
    for row in verification.iter_rows(named=True):
        table.add_row(
            row["rule"] or "·",
            str(row["buffer_packets"]),
            _with_confidence(row, "utilization", 100),
            _with_confidence(row, "loss_fraction", 100),
            _with_confidence(row, "sojourn_mean_ms", 1),
            _with_confidence(row, "sojourn_p99_ms", 1),
        )
    return table


def _with_confidence(row: dict[str, Any], metric: str, scale: float) -> str:
    value, half = row[metric] * scale, row[f"{metric}_ci95"] * scale
    return f"{value:.4g}" if math.isnan(half) else f"{value:.4g} ± {half:.2g}"
