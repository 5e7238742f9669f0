"""`bufferlab advise`: which queue a link should run, and how large its buffer should be."""

from __future__ import annotations

from dataclasses import dataclass
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
from bufferlab.cli.size_input import read_targets
from bufferlab.configure import PLATFORMS, find_platform
from bufferlab.display import save_figure
from bufferlab.errors import InputError, did_you_mean
from bufferlab.files import make_folder
from bufferlab.render.advise.box import headline
from bufferlab.render.advise.live import watching
from bufferlab.render.advise.typed import Typed
from bufferlab.render.advise.view import advice_view
from bufferlab.scenario import split_override
from bufferlab.studies.advise import Advice
from bufferlab.studies.advise import advise as advise_on
from bufferlab.studies.advise.objectives import KINDS

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
    scenario: Annotated[
        Path | None,
        typer.Argument(
            help="Scenario file, TOML or JSON; or give --rate, --rtt and --flows.", show_default=False
        ),
    ] = None,
    targets: Annotated[
        list[str] | None,
        typer.Option(
            "--target",
            help="What shall be met: 'utilization >= 99 %', 'wait_p99 < 20 ms', 'call.r > 80'. Repeatable; "
            "default a utilization of 99 %.",
            show_default=False,
        ),
    ] = None,
    utilization: Annotated[
        str | None, typer.Option(help="Target: least utilization, 0.99 or '99 %'.", show_default=False)
    ] = None,
    max_loss: Annotated[
        str | None, typer.Option(help="Target: largest loss, 0.01 or '1 %'.", show_default=False)
    ] = None,
    max_delay: Annotated[
        str | None, typer.Option(help="Target: longest mean wait, '20 ms'.", show_default=False)
    ] = None,
    emphasis: Annotated[
        str | None,
        typer.Option("--for", help=f"What matters most: {', '.join(KINDS)}.", show_default=False),
    ] = None,
    queues: Annotated[
        str | None,
        typer.Option(
            help="Queues to choose from: fifo,fq_codel; 'scenario' is the file's own; or all. Default those "
            "that routers have.",
            show_default=False,
        ),
    ] = None,
    link: Annotated[
        str | None, typer.Option(help="Link to advise on; default the slowest.", show_default=False)
    ] = None,
    rate: LinkRate = None,
    rtt: RoundTrip = None,
    flows: FlowCounts = None,
    mix: Mix = None,
    segment: Annotated[
        str | None,
        typer.Option(help="With --rate: payload of a full segment; default the stack's.", show_default=False),
    ] = None,
    spread: Spread = 0.2,
    stack: Annotated[str, typer.Option(help="With --rate: preset of the TCP keys.")] = "linux",
    confidence: Annotated[
        float, typer.Option(help="With which all targets shall be met at the answer.")
    ] = 0.95,
    quick: Annotated[bool, typer.Option("--quick", help="Stop after the first answer.")] = False,
    sensitivity: Annotated[
        bool,
        typer.Option(
            "--sensitivity/--no-sensitivity",
            help="Ask also what the answer comes to with other flows, round trips and controls.",
            show_default=False,
        ),
    ] = True,
    platform: Annotated[str, typer.Option(help=f"What to type on: {', '.join(PLATFORMS)}.")] = "linux",
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
    plot: Annotated[
        Path | None, typer.Option(help="Draw the figure here, PNG and SVG.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for figure, document and text.", show_default=False)
    ] = None,
    explain: Annotated[
        bool,
        typer.Option("--explain", help="Tell also how it was found: runs, statistics, weights, sources."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say which queue to run and how large its buffer should be.

    It searches both: size takes the queue as given, compare takes the buffers, sweep takes both.
    """
    if not find_platform(platform).shapes and shape:
        known = ", ".join(name for name, each in PLATFORMS.items() if each.shapes)
        raise InputError("has no shaper that is known here", key="--platform", value=platform, accepted=known)
    typed = Typed(platform, device, shape)
    outputs = _Outputs(typed, plot, out, explain=explain, as_json=as_json)
    loaded = load(
        scenario,
        Quick(
            rate,
            rtt,
            flows,
            mix,
            {"segment": segment, "spread": spread, "stack": stack, "name": _title(flows)},
        ),
        to="advise on",
    )
    short = read_targets(utilization=utilization, max_loss=max_loss, max_delay=max_delay)
    _check_emphasis(emphasis)
    if out is not None:
        make_folder(out)  # before any work is done
    runner = runner_of(threads=threads, engine=engine, ray_address=ray_address, store=store, fresh=fresh)
    with delivering(partial(_deliver, outputs)), watching(typed, boxed=not as_json) as shown:
        advice = advise_on(
            loaded,
            [*short, *(targets or [])],
            queues=queues,
            link=link,
            emphasis=emphasis,
            confidence=confidence,
            quick=quick,
            sensitivity=sensitivity,
            overrides=dict(split_override(text) for text in overrides or []),
            runner=runner,
            watch=shown,
        )
    _deliver(outputs, advice)
    say_kept(runner)
    if not advice.choice.meets:
        raise InputError(headline(advice).rstrip("."), file=loaded.file)


@dataclass(frozen=True)
class _Outputs:
    """What is shown, and where files go."""

    typed: Typed
    plot: Path | None
    out: Path | None
    explain: bool
    as_json: bool


def _deliver(outputs: _Outputs, advice: Advice) -> None:
    typed = outputs.typed
    if outputs.as_json:
        print_json(advice.to_dict(platform=typed.platform, device=typed.device, shape=typed.shape))
    else:
        print_rich(advice_view(advice, typed=typed, explain=outputs.explain))
    saved: list[Path] = []
    if outputs.plot is not None:
        saved += save_figure(advice.figure(), outputs.plot)
    if outputs.out is not None:
        saved += advice.save(outputs.out)
    if saved:
        say(f"saved {', '.join(str(path) for path in saved)}")


def _title(flows: str | None) -> str:
    """What a scenario is called that has no file."""
    if flows is None or not flows.isdigit():
        return f"Flows {flows}"
    return "1 flow" if flows == "1" else f"{flows} flows"


def _check_emphasis(word: str | None) -> None:
    if word is not None and word not in KINDS:
        raise InputError(
            f"is no kind{did_you_mean(word, KINDS)}", key="--for", value=word, accepted=", ".join(KINDS)
        )
