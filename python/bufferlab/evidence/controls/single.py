"""One flow at a link: utilization against the closed forms of Spang et al., and the window over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import polars as pl
from matplotlib.figure import Figure

from bufferlab.evidence.controls.mixes import CONTROLS, SCENARIOS
from bufferlab.evidence.documents import Work
from bufferlab.experiment.experiment import Experiment
from bufferlab.experiment.runner import Runner
from bufferlab.render.plots.style import COLORS, Drawing
from bufferlab.results.metrics.keys import TIME
from bufferlab.results.result import Result
from bufferlab.scenario import Scenario
from bufferlab.theory.protocols import get_protocol
from bufferlab.theory.single_flow import bbr_utilization, single_flow_utilization

BDP_PACKETS: Final = 100.0
"""Of the scenario."""

BUFFERS: Final = (0.1, 0.25, 0.5, 1.0)
DRAWN: Final = 0.5
SINGLE_CONTROLS: Final = (*CONTROLS, "vegas", "westwood")


@dataclass(frozen=True)
class SingleFlow:
    """One flow with one buffer.

    Attributes:
        control: Congestion control.
        buffer_bdps: Buffer over the BDP.
        mean: Utilization.
        least: The least over stretches of two round-trip times.
        formula: The closed form, which is about the time just after a loss.
        window: Time, s, and window, packets, of the whole run.
    """

    control: str
    buffer_bdps: float
    mean: float
    least: float
    formula: float
    window: pl.DataFrame


def tables(work: Work) -> dict[str, pl.DataFrame]:
    """The utilization of each control with each buffer, and the windows that are drawn."""
    flows = single_flows(SINGLE_CONTROLS, work.request.runner())
    rows = [{key: value for key, value in vars(each).items() if key != "window"} for each in flows]
    windows = [
        each.window.select(pl.lit(each.control).alias("control"), pl.all())
        for each in flows
        if each.buffer_bdps == DRAWN
    ]
    return {"single": pl.DataFrame(rows), "windows": pl.concat(windows)}


def single_flows(controls: tuple[str, ...], runner: Runner) -> list[SingleFlow]:
    """Simulate each control with each buffer.

    Raises:
        RunInterrupted: At Ctrl-C.
    """
    experiment = Experiment(
        "single flows",
        {(control, share): _scenario(control, share) for control in controls for share in BUFFERS},
        measure,
        parameters=lambda key: {"control": key[0], "buffer_bdps": key[1]},
    )
    return [
        SingleFlow(*done.key, formula=closed_form(*done.key), **done.value) for done in runner.all(experiment)
    ]


def closed_form(control: str, buffer_bdps: float) -> float:
    """min(β(1 + B/BDP), 1), for BBR v1 min(3/4 + B/BDP, 1)."""
    if control == "bbr":
        return float(bbr_utilization(buffer_bdps))
    return float(single_flow_utilization(buffer_bdps, get_protocol(control).beta))


def draw(work: Work, duration_s: float = 60.0) -> Figure:
    """The windows with half a BDP of buffer, one panel a control."""
    windows = work.tables["windows"].filter(pl.col("time_s") <= duration_s)
    controls = windows["control"].unique(maintain_order=True)
    rows = -(-len(controls) // 3)
    figure = Drawing(figsize=(9, 1.5 * rows), layout="constrained")
    panels = figure.subplots(rows, 3, sharex=True, sharey=True, squeeze=False).ravel()
    for panel, control in zip(panels, controls, strict=False):
        shown = windows.filter(pl.col("control") == control)
        panel.plot(shown["time_s"].to_numpy(), shown["packets"].to_numpy(), color=COLORS[0], linewidth=0.9)
        for level in (BDP_PACKETS, BDP_PACKETS * (1 + DRAWN)):
            panel.axhline(level, color="0.6", linewidth=0.6, linestyle="--")
        panel.set_title(control, fontsize="small")
        panel.tick_params(labelsize="x-small")
        panel.set_ylim(0, 2.5 * BDP_PACKETS)
    figure.supxlabel(TIME.axis, fontsize="small")
    figure.supylabel("congestion window (packets)", fontsize="small")
    return figure


def _scenario(control: str, buffer_bdps: float) -> Scenario:
    changes = {
        "flows[0].name": control.replace(".", "_"),
        "flows[0].congestion": control,
        "links[0].buffer": f"{buffer_bdps:g} bdp",
    }
    return Scenario.load(SCENARIOS / "single.toml", changes)


def measure(run: Result) -> dict[str, Any]:
    """`mean`, `least` and `window` of a `SingleFlow`."""
    return {
        "mean": float(run.queues["utilization"][0]),
        "least": _least(run),
        "window": run.flow_samples.select("time_s", packets="cwnd_segments"),
    }


def _least(run: Result) -> float:
    """The least utilization of an interval of samples, which is two round-trip times long."""
    measured = run.queue_samples.filter(pl.col("time_s") > run.warmup_s)["throughput_bps"].to_numpy()
    return float(measured.min() / run.queues["rate_bps"][0])
