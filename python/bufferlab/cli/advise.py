"""`bufferlab advise`: which queue a link should run, and how large its buffer should be."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Final

import typer

from bufferlab.cli.answers import (
    Bounds,
    Delivery,
    Emphasis,
    LeastUtilization,
    Link,
    LongestWait,
    MostLoss,
    OutFolder,
    Plot,
    TargetTexts,
    naming_options,
)
from bufferlab.cli.options import (
    AsJson,
    Engine,
    Fresh,
    Overrides,
    RayAddress,
    StoreFolder,
    Threads,
    delivering,
    listing,
    read_overrides,
    runner_of,
    say_kept,
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
from bufferlab.cli.size_input import read_targets
from bufferlab.configure import PLATFORMS, configuration, find_platform
from bufferlab.errors import InputError, did_you_mean
from bufferlab.render.advise.box import headline
from bufferlab.render.advise.live import watching
from bufferlab.render.advise.typed import Typed
from bufferlab.render.advise.view import advice_view
from bufferlab.scenario import QUEUE_WORDS
from bufferlab.studies.advise import Advice
from bufferlab.studies.advise import advise as advise_on
from bufferlab.studies.advise.objectives import KINDS
from bufferlab.studies.advise.queues import ALL, OWN
from bufferlab.studies.internet import STACK

_EXAMPLES: Final = """\b
Examples:
  bufferlab advise examples/home-gateway.toml --for calls
  bufferlab advise --rate '1 Gbps' --rtt '30 ms' --flows 500 --target 'wait_p99 < 10 ms'
  bufferlab advise examples/published-link.toml --queues fifo --platform junos --plot advice.png
"""


def register(app: typer.Typer) -> None:
    """Add the verb to the command."""
    app.command("advise", epilog=_EXAMPLES)(advise)


def advise(  # noqa: PLR0917 - the order is that of the help; nobody calls it
    scenario: ScenarioFileOrNumbers = None,
    targets: TargetTexts = None,
    utilization: LeastUtilization = None,
    max_loss: MostLoss = None,
    max_delay: LongestWait = None,
    emphasis: Emphasis = None,
    queues: Annotated[
        str | None,
        typer.Option(
            help="Queues to choose from: fifo,fq_codel; 'scenario' is the file's own; or all. Default those "
            "that routers have.",
            autocompletion=listing((*QUEUE_WORDS, OWN, ALL)),
            show_default=False,
        ),
    ] = None,
    link: Link = None,
    bounds: Bounds = None,
    rate: LinkRate = None,
    rtt: RoundTrip = None,
    flows: FlowCounts = None,
    mix: Mix = None,
    segment: Segment = None,
    spread: Spread = None,
    stack: Stack = STACK,
    confidence: Annotated[
        float, typer.Option(help="Confidence with which the answer meets all targets.")
    ] = 0.95,
    quick: Annotated[bool, typer.Option("--quick", help="Stop after the first answer.")] = False,
    sensitivity: Annotated[
        bool,
        typer.Option(
            "--sensitivity/--no-sensitivity",
            help="Also try the answer with other flows, round trips and controls.",
            show_default=False,
        ),
    ] = True,
    platform: Annotated[
        str | None,
        typer.Option(
            help=f"What it shall run on: {', '.join(PLATFORMS)}. Queues that it lacks are not tried, the "
            "lines to type are for it. [default: any queue, lines for linux]",
            autocompletion=listing(PLATFORMS),
            show_default=False,
        ),
    ] = None,
    device: Annotated[
        str | None, typer.Option(help="Interface for that; default a usual name.", show_default=False)
    ] = None,
    shape: Annotated[
        bool, typer.Option("--shape", help="Hold the rate by a shaper: the interface itself is faster.")
    ] = False,
    overrides: Overrides = None,
    threads: Threads = None,
    engine: Engine = "local",
    ray_address: RayAddress = None,
    store: StoreFolder = None,
    fresh: Fresh = False,
    plot: Plot = None,
    out: OutFolder = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Also tell how it was found: runs, statistics, weights, sources."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say which queue to run and how large its buffer should be.

    It searches both: size takes the queue as given, compare takes the buffers, sweep takes both.
    """
    typed = _typed(platform, device, shape=shape)
    numbers = Quick(rate, rtt, flows, mix, spread, stack, {"segment": segment})
    loaded, assumed = load(scenario, numbers, read_overrides(overrides), to="advise on")
    short = read_targets(utilization=utilization, max_loss=max_loss, max_delay=max_delay)
    _check_emphasis(emphasis)
    deliver = Delivery[Advice](
        view=partial(advice_view, typed=typed, explain=explain),
        document=partial(Advice.to_dict, platform=typed.platform, device=device, shape=shape),
        as_json=as_json,
        plot=plot,
        out=out,
        save=Advice.save,
    )
    runner = runner_of(threads=threads, engine=engine, ray_address=ray_address, store=store, fresh=fresh)
    with delivering(deliver), naming_options(), watching(typed, boxed=not as_json) as shown:
        advice = advise_on(
            loaded,
            [*short, *(targets or [])],
            queues=queues,
            platform=platform,
            link=link,
            bounds=bounds,
            emphasis=emphasis,
            confidence=confidence,
            quick=quick,
            sensitivity=sensitivity,
            assumed=assumed,
            runner=runner,
            watch=shown,
        )
    deliver(advice)
    say_kept(runner)
    if not advice.choice.meets:
        raise InputError(headline(advice).rstrip("."), file=loaded.file)


def _typed(platform: str | None, device: str | None, *, shape: bool) -> Typed:
    """Where lines are typed; what is wrong with it is said before anything is run."""
    typed = Typed(device=device, shape=shape) if platform is None else Typed(platform, device, shape)
    if not find_platform(typed.platform).shapes and shape:
        known = ", ".join(name for name, each in PLATFORMS.items() if each.shapes)
        raise InputError("has no shaper that is known here", key="--platform", value=platform, accepted=known)
    try:
        configuration("1 Gbps", "fifo", "100 packets", platform=typed.platform, device=device)
    except InputError as error:
        raise InputError(
            error.problem, key=f"--{error.key}", value=error.value, accepted=error.accepted
        ) from None
    return typed


def _check_emphasis(word: str | None) -> None:
    if word is not None and word not in KINDS:
        raise InputError(
            f"is not a valid kind{did_you_mean(word, KINDS)}",
            key="--for",
            value=word,
            accepted=", ".join(KINDS),
        )
