"""What `bufferlab size` does with its options: the rules alone, or the answer and what becomes of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bufferlab.cli.advising import typed_on
from bufferlab.cli.answers import Delivery
from bufferlab.cli.common import say
from bufferlab.cli.delivery import show_as
from bufferlab.cli.running import delivering, say_kept
from bufferlab.cli.size_input import read_theory
from bufferlab.display import save_figure
from bufferlab.errors import InputError
from bufferlab.experiment.runner import Runner
from bufferlab.files import write_whole
from bufferlab.render.advise.typed import Typed
from bufferlab.render.size.rules import rules_view
from bufferlab.render.size.view import no_buffer, sizing_view
from bufferlab.scenario import Scenario
from bufferlab.studies.advise.needs import targets_of
from bufferlab.studies.heavy import warning
from bufferlab.studies.size import Sizing, rules
from bufferlab.studies.size import size as size_buffer
from bufferlab.studies.targets import Target
from bufferlab.theory.targets import Targets


def say_rules(
    scenario: Scenario,
    link: str | None,
    targets: Sequence[Target],
    conventions: Targets,
    *,
    measured: Mapping[str, float],
    assumed: Iterable[str],
    as_json: bool,
) -> None:
    """Print what the published rules say, of the targets or those of the scenario."""
    asked = read_theory(targets or targets_of(scenario), conventions)
    found = rules(scenario, link=link, targets=asked, measured=measured, assumed=assumed)
    show_as(found.to_dict, partial(rules_view, found), as_json=as_json)


def typed_for(platform: str | None, device: str | None, *, shape: bool) -> Typed | None:
    """Where lines are typed; `None` if no platform is named.

    Raises:
        InputError: What goes with a platform is given without one, or cannot be used.
    """
    if platform is not None:
        return typed_on(platform, device, shape=shape)
    if device is not None or shape:
        raise InputError(
            "is for the lines to type", key="--device" if device else "--shape", accepted="--platform"
        )
    return None


def answer_size(
    scenario: Scenario,
    targets: Sequence[Target | str],
    *,
    name: str,
    typed: Typed | None,
    runner: Runner,
    as_json: bool,
    plot: Path | None,
    out: Path | None,
    **asked: Any,  # noqa: ANN401 - further arguments of `size`
) -> None:
    """Search the buffer and hand over the answer; what there is of one at Ctrl-C is delivered.

    Raises:
        InputError: No buffer meets the targets, or something cannot be used.
    """
    if (heavy := warning(scenario)) is not None:
        say(heavy)
    platform = None if typed is None else typed.platform
    device, shape = (None, False) if typed is None else (typed.device, typed.shape)
    document = partial(Sizing.to_dict, platform=platform, device=device, shape=shape)
    deliver = Delivery[Sizing](
        view=partial(sizing_view, typed=typed),
        document=document,
        as_json=as_json,
        plot=plot,
        out=out,
        save=partial(_save, name=name, document=document),
    )
    with delivering(deliver):
        sizing = size_buffer(scenario, targets, platform=platform, runner=runner, **asked)
    deliver(sizing)
    say_kept(runner)
    if sizing.packets is None:
        raise InputError(no_buffer(sizing).rstrip("."), file=scenario.file)


def _save(
    sizing: Sizing, folder: Path, *, name: str, document: Callable[[Sizing], dict[str, Any]]
) -> list[Path]:
    text = json.dumps(document(sizing), indent=2, ensure_ascii=False)
    return [
        *sizing.save_tables(folder, name),
        write_whole(folder / f"{name}.json", f"{text}\n"),
        *save_figure(sizing.figure(), folder / name),
    ]
