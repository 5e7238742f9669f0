"""`bufferlab size`: the smallest buffer that meets targets."""

from __future__ import annotations

from typing import Annotated, Final

import typer

from bufferlab.cli.answers import (
    Bounds,
    Device,
    LeastUtilization,
    Link,
    LongestWait,
    MostLoss,
    OutFolder,
    Plot,
    Shape,
    TargetTexts,
    platform_option,
)
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
    Calls,
    FlowCounts,
    LinkRate,
    Mix,
    Quick,
    RoundTrip,
    ScenarioFileOrNumbers,
    Segment,
    Spread,
    Stack,
    WrittenScenario,
    check_new,
    load,
    may_lengthen,
    write_scenario,
)
from bufferlab.errors import InputError
from bufferlab.studies.internet import STACK

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
    calls: Calls = None,
    stack: Stack = STACK,
    written: WrittenScenario = None,
    overrides: Overrides = None,
    link: Link = None,
    targets: TargetTexts = None,
    utilization: LeastUtilization = None,
    max_loss: MostLoss = None,
    max_delay: LongestWait = None,
    bounds: Bounds = None,
    platform: Annotated[
        str | None,
        platform_option("Also say what to type on", "Buffers that it does not take are not tried."),
    ] = None,
    device: Device = None,
    shape: Shape = False,
    confidence: Annotated[
        float, typer.Option(help="Confidence with which the answer meets all targets.")
    ] = 0.95,
    resolution: Annotated[
        float, typer.Option(help="The answer may be larger than the smallest by this share.")
    ] = 0.1,
    runs: Annotated[int, typer.Option(help="Most simulations of the search, roughly.")] = 300,
    with_rules: Annotated[
        bool, typer.Option("--rules/--no-rules", help="Simulate the published rules' buffers, too.")
    ] = True,
    theory: Annotated[
        bool,
        typer.Option(
            "--theory",
            help="Only what the published rules say, at once; in our runs they were wrong by large factors.",
        ),
    ] = False,
    loss_confidence: Annotated[
        float, typer.Option(help="For the rules: probability that the loss bound holds.")
    ] = 0.99,
    z: Annotated[
        str,
        typer.Option(
            help="For the rules: the normal quantile of a probability. one-sided is 2.33 for 0.99; document "
            "is 2.05, as in the heterogeneous-TCP paper."
        ),
    ] = "one-sided",
    characteristics: Annotated[
        str,
        typer.Option(
            help="For the rules: the variation of each window, derived from its growth, or as published "
            "(Table III of the heterogeneous-TCP paper)."
        ),
    ] = "derived",
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
    if theory:
        _check_theory(targets=targets, plot=plot, out=out, platform=platform)
    from bufferlab.cli.running import runner_of  # noqa: PLC0415 - slow to import, and no help needs it
    from bufferlab.cli.size_input import read_conventions, read_targets, read_variation  # noqa: PLC0415
    from bufferlab.cli.sizing import answer_size, say_rules, typed_for  # noqa: PLC0415

    short = read_targets(utilization=utilization, max_loss=max_loss, max_delay=max_delay)
    conventions = read_conventions(confidence=loss_confidence, convention=z, characteristics=characteristics)
    typed = typed_for(platform, device, shape=shape)
    quick = Quick(rate, rtt, flows, mix, spread, stack, {"segment": segment, "calls": calls})
    check_new(written, scenario, plot)
    loaded, assumed = load(scenario, quick, read_overrides(overrides), to="size", simulates=not theory)
    write_scenario(written, loaded, assumed)
    variation = read_variation(characteristics, measured or [])
    if theory:
        say_rules(loaded, link, short, conventions, measured=variation, assumed=assumed, as_json=as_json)
        return
    answer_size(
        loaded,
        [*short, *(targets or [])],
        name=scenario.stem if scenario else "size",
        typed=typed,
        runner=runner_of(threads=threads, engine=engine, ray_address=ray_address, store=store, fresh=fresh),
        as_json=as_json,
        plot=plot,
        out=out,
        link=link,
        bounds=bounds,
        confidence=confidence,
        resolution=resolution,
        runs=runs,
        with_rules=with_rules,
        conventions=conventions,
        measured=variation,
        assumed=assumed,
        lengthen=may_lengthen(scenario, read_overrides(overrides)),
    )


def _check_theory(**given: object) -> None:
    """Refuse what goes with runs only.

    Raises:
        InputError: Something of it is given.
    """
    unusable = {
        "targets": (
            "is checked by runs, and --theory makes none",
            "--utilization, --max-loss and --max-delay with --theory, or any --target without it",
        ),
        "plot": ("draws what runs measured", "no --theory"),
        "out": ("draws what runs measured", "no --theory"),
        "platform": ("is for the answer of runs", "no --theory"),
    }
    for name, (problem, accepted) in unusable.items():
        if given[name]:
            raise InputError(problem, key=f"--{name.removesuffix('s')}", accepted=accepted)
