"""The laboratory in a notebook: the page's parts as a widget, with the engine that runs in the browser."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from bufferlab import display
from bufferlab.errors import InputError
from bufferlab.experiment.simulation import ScenarioLike, prepare
from bufferlab.results.result import Result, RunSet
from bufferlab.web import built_page

WIDGET: Final = Path(__file__).with_name("widget")
"""Where `scripts/web.sh` puts the built widget."""

MOST: Final = 4
"""Variants that a laboratory shows side by side."""


def watch(*scenarios: ScenarioLike, overrides: Mapping[str, Any] | None = None) -> Any:  # noqa: ANN401
    """Show scenarios live in a notebook: the buffer packet by packet, with sliders, simulated in the browser.

    Needs `pip install 'bufferlab[notebook]'`, and a notebook that shows widgets, such as Jupyter, VS Code or
    marimo.

    Args:
        scenarios: One to four, side by side on one clock: scenarios, paths of files, or nested mappings.
        overrides: Values that replace those of all of them, by path.

    Returns:
        The widget, an `anywidget.AnyWidget`; its trait `variants` is what it shows.

    Raises:
        InputError: A scenario cannot be used, there are none or more than four, or the widget is not there.
    """
    return _laboratory([{"text": prepare(each, overrides).to_toml(), "overrides": {}} for each in scenarios])


@display.as_widget.register
def show_run(run: Result) -> Any:  # noqa: ANN401 - a class of an optional package
    """A run, simulated again in the browser: the same bytes."""
    return _laboratory([_again(run)])


@display.as_widget.register
def show_runs(runs: RunSet) -> Any:  # noqa: ANN401 - as above
    """The first runs of a set, side by side."""
    return _laboratory([_again(run) for run in runs[:MOST]])


def _again(run: Result) -> dict[str, Any]:
    return {"text": run.scenario, "overrides": {"run.seed": str(run.seed)}}


def _laboratory(variants: list[dict[str, Any]]) -> Any:  # noqa: ANN401 - as above
    if not 1 <= len(variants) <= MOST:
        accepted = f"1 to {MOST} scenarios"
        raise InputError("cannot be shown side by side", value=len(variants), accepted=accepted)
    return _widget_class()(variants=variants, engine=_engine())


@cache
def _widget_class() -> Any:  # noqa: ANN401 - as above
    """The class of the widget, made when it is first wanted, as `anywidget` is an extra.

    Raises:
        InputError: It is not there, or the widget was not built.
    """
    try:
        import anywidget  # noqa: PLC0415
        import traitlets  # noqa: PLC0415
    except ImportError:
        raise InputError("needs anywidget", accepted="pip install 'bufferlab[notebook]'") from None
    built_page()
    script = WIDGET / "widget.js"
    names = {
        "__doc__": "The laboratory: `variants` are the texts and the overrides that it begins with.",
        "__module__": __name__,
        "_esm": script.read_text(encoding="utf-8"),
        "engine": traitlets.Bytes().tag(sync=True),
        "variants": traitlets.List(traitlets.Dict()).tag(sync=True),
    }
    return type("Laboratory", (anywidget.AnyWidget,), names)


@cache
def _engine() -> bytes:
    """The engine in WebAssembly, which the page has."""
    (path,) = built_page().glob("assets/lab-*.wasm")
    return path.read_bytes()
