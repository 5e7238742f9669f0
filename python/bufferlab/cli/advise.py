"""`bufferlab advise`: which queue a link should run, and how large its buffer should be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from bufferlab.cli.answers import (
    Bounds,
    Device,
    Emphasis,
    LeastUtilization,
    LongestWait,
    MostLoss,
    OutFolder,
    Plot,
    ShapeOrNot,
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
    listing,
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
    taken_back,
    write_scenario,
)
from bufferlab.cli.several import Home, LineLayer, Links, Share, check_linklayer, home_line, is_several
from bufferlab.configure import find_platform
from bufferlab.errors import InputError, did_you_mean
from bufferlab.scenario import QUEUE_WORDS
from bufferlab.studies.choosing.objectives import KINDS
from bufferlab.studies.internet import CALL_DSCP, STACK
from bufferlab.studies.words import ALL, EACH, OWN

if TYPE_CHECKING:
    from bufferlab.studies.targets import Target

_EXAMPLES: Final = """\b
Examples:
  bufferlab advise --rate '20 Mbps' --rtt '40 ms' --flows 10 --calls 2 --today 'fifo:64 packets'
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
    calls: Calls = None,
    stack: Stack = STACK,
    written: WrittenScenario = None,
    confidence: Annotated[
        float, typer.Option(help="Confidence with which the answer meets all targets.")
    ] = 0.95,
    today: Annotated[
        str | None,
        typer.Option(
            help="What the link runs now, to be run beside the answer: 'fifo:64 packets', fq_codel; "
            "'scenario' is what the file has, 'default' the platform's.",
            show_default=False,
        ),
    ] = None,
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
        platform_option(
            "Router platform",
            "Queues that it lacks are not tried, the lines to type are for it. "
            "[default: any queue, lines for linux]",
        ),
    ] = None,
    device: Device = None,
    shape: ShapeOrNot = None,
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
        typer.Option("--explain", help="Also say how it was found: runs, statistics, weights, sources."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say which queue to run and how large its buffer should be.

    It searches both: size takes the queue as given, compare takes the buffers, sweep takes both.
    """
    from bufferlab.cli.advising import (  # noqa: PLC0415 - slow to import
        answer_in_file,
        answer_on,
        answered,
        check_met,
        delivery,
        shaped_by_default,
        typed_on,
        why_none,
    )
    from bufferlab.cli.common import say  # noqa: PLC0415
    from bufferlab.cli.running import runner_of, say_kept  # noqa: PLC0415
    from bufferlab.cli.size_input import asking, read_targets  # noqa: PLC0415

    check_new(written, plot=plot)
    typed = typed_on(platform, device, shape=bool(shape))
    call_dscp = CALL_DSCP if find_platform(typed.platform).llq else None
    details = {"segment": segment, "calls": calls}
    numbers = Quick(rate, rtt, flows, mix, spread, stack, details, call_dscp)
    line = home_line(home, share, scenario, numbers, read_overrides(overrides))
    if line is None:
        loaded, assumed = load(scenario, numbers, read_overrides(overrides), to="advise on")
    else:
        loaded, assumed, link = line.scenario, line.assumed, link or EACH
        typed = replace(typed, shape=find_platform(typed.platform).shapes)
    short = read_targets(utilization=utilization, max_loss=max_loss, max_delay=max_delay)
    _check_emphasis(emphasis)
    made = loaded
    if written is not None:
        spelled = {"utilization": utilization, "max_loss": max_loss, "max_delay": max_delay}
        made = asking(loaded, emphasis, more=targets, **spelled)
    several = is_several(link)
    if shape is None and not several:
        typed = shaped_by_default(typed, loaded, link)
    check_linklayer(linklayer, typed.platform, both=several and line is not None)
    typed = replace(typed, linklayer=linklayer)
    deliver = delivery(typed, several=several, explain=explain, as_json=as_json, plot=plot, out=out)
    runner = runner_of(threads=threads, engine=engine, ray_address=ray_address, store=store, fresh=fresh)
    write_scenario(written, made, assumed)  # when all else is known to be usable
    asked: Mapping[str, Any] = {
        "queues": queues,
        "platform": platform,
        "bounds": bounds,
        "emphasis": emphasis,
        "confidence": confidence,
        "quick": quick,
        "sensitivity": sensitivity,
        "assumed": assumed,
        "today": today,
        **({} if several else {"lengthen": may_lengthen(scenario, read_overrides(overrides))}),
        "runner": runner,
    }
    shaped = None if line is None else line.shaped

    def hand_over(answer: Any) -> None:  # noqa: ANN401 - an answer, or what was tried
        deliver(answer)
        if written is None:
            return
        if (found := answered(made, answer)) is not None:
            write_scenario(written, found, assumed, answer=answer_in_file(answer))
        else:
            say(f"{written} stays as it was asked about, without an answer in place: {why_none(answer)}")

    wanted: list[Target | str] = [*short, *(targets or [])]
    with taken_back(written):
        advice = answer_on(
            loaded, wanted, link, asked, hand_over, boxed=not as_json, typed=typed, shaped=shaped
        )
    hand_over(advice)
    say_kept(runner)
    check_met(advice, loaded.file)


def _check_emphasis(word: str | None) -> None:
    if word is not None and word not in KINDS:
        raise InputError(
            f"is not a valid kind{did_you_mean(word, KINDS)}",
            key="--for",
            value=word,
            accepted=", ".join(KINDS),
        )
