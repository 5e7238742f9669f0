"""`bufferlab size`: the smallest buffer that meets targets."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Final

import typer

from bufferlab.cli.answers import (
    Bounds,
    Delivery,
    LeastUtilization,
    Link,
    LongestWait,
    MostLoss,
    OutFolder,
    Plot,
    TargetTexts,
)
from bufferlab.cli.delivery import show_as
from bufferlab.cli.options import (
    AsJson,
    Engine,
    Fresh,
    Overrides,
    RayAddress,
    StoreFolder,
    Threads,
    read_overrides,
)
from bufferlab.cli.quick import (
    FlowCounts,
    LinkRate,
    Mix,
    Quick,
    RoundTrip,
    ScenarioFileOrNumbers,
    Segment,
    Spread,
    Stack,
    load,
)
from bufferlab.cli.running import delivering, runner_of, say_kept
from bufferlab.cli.size_input import read_conventions, read_measured, read_targets, read_theory
from bufferlab.display import save_figure
from bufferlab.errors import InputError
from bufferlab.render.rules import rules_view
from bufferlab.render.sizing import no_buffer, sizing_view
from bufferlab.studies.advise.needs import targets_of
from bufferlab.studies.internet import STACK
from bufferlab.studies.least import Plan
from bufferlab.studies.size import Sizing, rules
from bufferlab.studies.size import size as size_buffer
from bufferlab.theory.normal import CONVENTIONS
from bufferlab.theory.targets import CHARACTERISTICS, DEFAULT_CONFIDENCE

_EXAMPLES: Final = """\b
Examples:
  bufferlab size examples/published-link.toml
  bufferlab size --rate '1 Gbps' --rtt '40 ms' --flows 500 --max-loss '2 %'
  bufferlab size examples/bufferbloat.toml --target 'call.r > 80'
"""


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("size", epilog=_EXAMPLES)(size)


def size(  # noqa: PLR0917 - the order is that of the help; nobody calls it
    scenario: ScenarioFileOrNumbers = None,
    rate: LinkRate = None,
    rtt: RoundTrip = None,
    flows: FlowCounts = None,
    mix: Mix = None,
    segment: Segment = None,
    spread: Spread = None,
    stack: Stack = STACK,
    overrides: Overrides = None,
    link: Link = None,
    targets: TargetTexts = None,
    utilization: LeastUtilization = None,
    max_loss: MostLoss = None,
    max_delay: LongestWait = None,
    bounds: Bounds = None,
    confidence: Annotated[
        float, typer.Option(help="Confidence with which the answer meets all targets.")
    ] = Plan.confidence,
    resolution: Annotated[
        float, typer.Option(help="The answer may be larger than the smallest by this share.")
    ] = Plan.resolution,
    runs: Annotated[int, typer.Option(help="Most simulations of the search, roughly.")] = Plan.runs,
    with_rules: Annotated[
        bool, typer.Option("--rules/--no-rules", help="Simulate the published rules' buffers, too.")
    ] = True,
    theory: Annotated[
        bool,
        typer.Option(
            "--theory", help="Only what the published rules say, at once; runs were off by factors."
        ),
    ] = False,
    loss_confidence: Annotated[
        float, typer.Option(help="For the rules: probability that the loss bound holds.")
    ] = DEFAULT_CONFIDENCE,
    z: Annotated[
        str,
        typer.Option(
            help="For the rules: the normal quantile of a probability. one-sided is 2.33 for 0.99; document "
            "is 2.05, as in the heterogeneous-TCP paper."
        ),
    ] = CONVENTIONS[0],
    characteristics: Annotated[
        str,
        typer.Option(
            help="For the rules: the variation of each window, derived from its growth, or as published "
            "(Table III of the heterogeneous-TCP paper)."
        ),
    ] = CHARACTERISTICS[0],
    measured: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=A",
            help="For the rules: measured variation of a protocol's window: westwood=0.1. Repeatable.",
            show_default=False,
        ),
    ] = None,
    threads: Threads = None,
    engine: Engine = "local",
    ray_address: RayAddress = None,
    store: StoreFolder = None,
    fresh: Fresh = False,
    plot: Plot = None,
    out: OutFolder = None,
    as_json: AsJson = False,
) -> None:
    """Measure the smallest buffer of a given queue.

    Runs confirm the smallest buffer that meets the targets (of bounds on waits alone the largest), and say
    what the published rules' buffers do. advise searches the queue, too; compare sets queues side by side
    with the buffers that you name; run takes all as it stands.
    """
    if theory and (plot or out) is not None:
        raise InputError(
            "draws what runs measured", key="--plot" if plot else "--out", accepted="no --theory"
        )
    short = read_targets(utilization=utilization, max_loss=max_loss, max_delay=max_delay)
    conventions = read_conventions(confidence=loss_confidence, convention=z, characteristics=characteristics)
    quick = Quick(rate, rtt, flows, mix, spread, stack, {"segment": segment})
    loaded, assumed = load(scenario, quick, read_overrides(overrides), to="size")
    variation = read_measured(measured or [])
    if theory:
        if targets:
            raise InputError("is nothing that the rules know", key="--target", accepted="no --theory")
        asked = read_theory(short or targets_of(loaded), conventions)
        found = rules(loaded, link=link, targets=asked, measured=variation, assumed=assumed)
        show_as(found.to_dict, partial(rules_view, found), as_json=as_json)
        return
    runner = runner_of(threads=threads, engine=engine, ray_address=ray_address, store=store, fresh=fresh)
    deliver = Delivery[Sizing](
        view=sizing_view,
        document=Sizing.to_dict,
        as_json=as_json,
        plot=plot,
        out=out,
        save=partial(_save, name=scenario.stem if scenario else "size"),
    )
    with delivering(deliver):
        sizing = size_buffer(
            loaded,
            [*short, *(targets or [])],
            link=link,
            bounds=bounds,
            confidence=confidence,
            resolution=resolution,
            runs=runs,
            with_rules=with_rules,
            conventions=conventions,
            measured=variation,
            assumed=assumed,
            runner=runner,
        )
    deliver(sizing)
    say_kept(runner)
    if sizing.packets is None:
        raise InputError(no_buffer(sizing).rstrip("."), file=loaded.file)


def _save(sizing: Sizing, folder: Path, *, name: str) -> list[Path]:
    return [*sizing.save_tables(folder, name), *save_figure(sizing.figure(), folder / name)]
