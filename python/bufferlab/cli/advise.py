"""`bufferlab advise`: which queue a link should run, and how large its buffer should be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from bufferlab.cli.answers import (
    Bounds,
    Delivery,
    Emphasis,
    LeastUtilization,
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
from bufferlab.cli.several import Home, LineLayer, Links, Share, check_linklayer, home_line, is_several
from bufferlab.cli.size_input import read_targets
from bufferlab.configure import PLATFORMS, configuration, find_platform
from bufferlab.display import save_figure
from bufferlab.errors import InputError, did_you_mean
from bufferlab.render.advise.box import headline
from bufferlab.render.advise.links import links_headline, links_view
from bufferlab.render.advise.live import watching
from bufferlab.render.advise.typed import Typed
from bufferlab.render.advise.view import advice_view
from bufferlab.scenario import QUEUE_WORDS
from bufferlab.studies.advise import Advice
from bufferlab.studies.advise import advise as advise_on
from bufferlab.studies.advise.joint import LinksAdvice
from bufferlab.studies.advise.objectives import KINDS
from bufferlab.studies.advise.queues import ALL, OWN
from bufferlab.studies.advise.several import EACH, advise_links
from bufferlab.studies.internet import STACK

_EXAMPLES: Final = """\b
Examples:
  bufferlab advise --rate '1 Gbps' --rtt '30 ms' --flows 500 --target 'wait_p99 < 10 ms'
  bufferlab advise --home 50/10Mbps --platform openwrt
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
    link: Links = None,
    home: Home = None,
    share: Share = None,
    linklayer: LineLayer = None,
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
    line = home_line(home, share, scenario, numbers, read_overrides(overrides))
    if line is None:
        loaded, assumed = load(scenario, numbers, read_overrides(overrides), to="advise on")
    else:
        loaded, assumed, link = line.scenario, line.assumed, link or EACH
        typed = replace(typed, shape=find_platform(typed.platform).shapes)
    short = read_targets(utilization=utilization, max_loss=max_loss, max_delay=max_delay)
    _check_emphasis(emphasis)
    several = is_several(link)
    check_linklayer(linklayer, typed.platform, both=several and line is not None)
    typed = replace(typed, linklayer=linklayer)
    of_line: Mapping[str, Any] = {"linklayer": linklayer} if several else {}
    deliver = Delivery[Any](
        view=partial(links_view if several else advice_view, typed=typed, explain=explain),
        document=partial(
            LinksAdvice.to_dict if several else Advice.to_dict,
            platform=typed.platform,
            device=device,
            shape=typed.shape,
            **of_line,
        ),
        as_json=as_json,
        plot=plot,
        out=out,
        save=_save,
        draw=_draw,
    )
    runner = runner_of(threads=threads, engine=engine, ray_address=ray_address, store=store, fresh=fresh)
    shown_on = None if several else typed
    with delivering(deliver), naming_options(), watching(shown_on, boxed=not as_json) as shown:
        asked: Mapping[str, Any] = {
            "queues": queues,
            "platform": platform,
            "bounds": bounds,
            "emphasis": emphasis,
            "confidence": confidence,
            "quick": quick,
            "sensitivity": sensitivity,
            "assumed": assumed,
            "runner": runner,
            "watch": shown,
        }
        advice: Advice | LinksAdvice
        if several:
            shaped = None if line is None else line.shaped
            advice = advise_links(loaded, link or EACH, [*short, *(targets or [])], shaped=shaped, **asked)
        else:
            advice = advise_on(loaded, [*short, *(targets or [])], link=link, **asked)
    deliver(advice)
    say_kept(runner)
    _check_met(advice, loaded.file)


def _save(advice: Advice | LinksAdvice, folder: Path) -> list[Path]:
    return advice.save(folder)


def _draw(advice: Advice | LinksAdvice, path: Path) -> list[Path]:
    if isinstance(advice, LinksAdvice):
        return advice.save_figures(path)
    return save_figure(advice.figure(), path)


def _check_met(advice: Advice | LinksAdvice, file: str | None) -> None:
    """End with an error if targets are missed.

    Raises:
        InputError: They are.
    """
    if isinstance(advice, LinksAdvice):
        if not advice.meets:
            raise InputError(links_headline(advice).rstrip("."), file=file)
    elif not advice.choice.meets:
        raise InputError(headline(advice).rstrip("."), file=file)


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
