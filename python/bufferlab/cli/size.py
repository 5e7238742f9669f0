"""`bufferlab size`: the smallest buffer that meets targets."""

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
from bufferlab.cli.size_input import read_conventions, read_measured, read_targets, read_theory
from bufferlab.display import save_figure
from bufferlab.errors import InputError
from bufferlab.files import make_folder
from bufferlab.render.rules import rules_view
from bufferlab.render.sizing import no_buffer, sizing_view
from bufferlab.scenario import split_override
from bufferlab.studies.least import Plan
from bufferlab.studies.size import Rules, Sizing, rules
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
    target: Annotated[
        list[str] | None,
        typer.Option(
            help="What shall be met: 'wait_p99 < 20 ms', 'call.r > 80'. Repeatable; default "
            "'utilization >= 99 %'.",
            show_default=False,
        ),
    ] = None,
    utilization: Annotated[
        str | None, typer.Option(help="Least utilization of the link: 99 % or 0.99.", show_default=False)
    ] = None,
    max_loss: Annotated[
        str | None, typer.Option(help="Largest loss, drops over arrivals: 1 % or 0.01.", show_default=False)
    ] = None,
    max_delay: Annotated[
        str | None,
        typer.Option(
            help="Longest mean wait in the queue: 20 ms. Alone, it asks for the largest buffer.",
            show_default=False,
        ),
    ] = None,
    bounds: Annotated[
        str | None,
        typer.Option(
            help="Where to search, two buffers; plain numbers are packets. [default: 1..2bdp]",
            show_default=False,
        ),
    ] = None,
    confidence: Annotated[
        float, typer.Option(help="How sure it shall be that the answer meets all targets.")
    ] = Plan.confidence,
    resolution: Annotated[
        float, typer.Option(help="The answer may be larger than the smallest by this share.")
    ] = Plan.resolution,
    runs: Annotated[int, typer.Option(help="About the most simulations of the search.")] = Plan.runs,
    with_rules: Annotated[
        bool, typer.Option("--rules/--no-rules", help="Simulate the published rules' buffers, too.")
    ] = True,
    theory: Annotated[
        bool, typer.Option("--theory", help="Only what the published rules say, at once and unverified.")
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
    plot: Annotated[
        Path | None, typer.Option(help="Draw what was simulated here, PNG and SVG.", show_default=False)
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder for figure and tables.", show_default=False)
    ] = None,
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
    targets = read_targets(utilization=utilization, max_loss=max_loss, max_delay=max_delay)
    conventions = read_conventions(confidence=loss_confidence, convention=z, characteristics=characteristics)
    quick = Quick(rate, rtt, flows, mix, {"segment": segment, "spread": spread, "stack": stack})
    loaded = load(scenario, quick, to="size")
    changes = dict(split_override(text) for text in overrides or [])
    variation = read_measured(measured or [])
    if theory:
        if target:
            raise InputError("is nothing that the rules know", key="--target", accepted="no --theory")
        asked = read_theory(targets, conventions)
        _show_rules(rules(loaded, link=link, targets=asked, measured=variation, overrides=changes), as_json)
        return
    if out is not None:
        make_folder(out)  # before any work is done
    runner = runner_of(threads=threads, engine=engine, ray_address=ray_address, store=store, fresh=fresh)
    deliver = partial(
        _deliver, name=scenario.stem if scenario else "size", plot=plot, out=out, as_json=as_json
    )
    with delivering(deliver):
        sizing = size_buffer(
            loaded,
            [*targets, *(target or [])],
            link=link,
            bounds=bounds,
            confidence=confidence,
            resolution=resolution,
            runs=runs,
            with_rules=with_rules,
            conventions=conventions,
            measured=variation,
            overrides=changes,
            runner=runner,
        )
    deliver(sizing)
    say_kept(runner)
    if sizing.packets is None:
        raise InputError(no_buffer(sizing).rstrip("."), file=loaded.file)


def _show_rules(found: Rules, as_json: bool) -> None:
    if as_json:
        print_json(found.to_dict())
    else:
        print_rich(rules_view(found))


def _deliver(sizing: Sizing, *, name: str, plot: Path | None, out: Path | None, as_json: bool) -> None:
    saved: list[Path] = []
    if plot is not None:
        saved += save_figure(sizing.figure(), plot)
    if out is not None:
        saved += [*sizing.save_tables(out, name), *save_figure(sizing.figure(), out / name)]
    if as_json:
        print_json(sizing.to_dict())
    else:
        print_rich(sizing_view(sizing))
    if saved:
        say(f"saved {', '.join(str(path) for path in saved)}")
