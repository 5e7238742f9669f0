"""`bufferlab size`: how large a link's buffer should be."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

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
from bufferlab.cli.quick import FlowCounts, LinkRate, Mix, Quick, RoundTrip, Spread, load
from bufferlab.cli.size_input import read_measured, read_targets
from bufferlab.display import save_figure
from bufferlab.errors import InputError
from bufferlab.experiment.runner import Runner
from bufferlab.render.size import infeasible
from bufferlab.render.sizing import sizing_view
from bufferlab.scenario import split_override
from bufferlab.studies.size import Sizing
from bufferlab.studies.size import size as size_buffers
from bufferlab.studies.size.sizing import DEFAULT_CURVE_POINTS, DEFAULT_SEEDS, DEFAULT_TARGET_UTILIZATION
from bufferlab.theory.normal import CONVENTIONS
from bufferlab.theory.targets import CHARACTERISTICS, DEFAULT_CONFIDENCE

_RESULTS: Final = Path("results")


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
    rate: LinkRate = None,
    rtt: RoundTrip = None,
    flows: FlowCounts = None,
    mix: Mix = None,
    segment: Annotated[str, typer.Option(help="With --rate: payload of a full segment.")] = "1460 B",
    spread: Spread = 0.2,
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
    quick = Quick(rate, rtt, flows, mix, {"segment": segment, "spread": spread, "stack": stack})
    loaded = load(scenario, quick, to="size")
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
        print_rich(sizing_view(sizing))
