"""Characteristic values of windows in simulation against those of theory."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import partial
from typing import Final

import numpy as np
import polars as pl

from bufferlab.evidence.controls.mixes import (
    CONTROLS,
    DOCUMENT_MIX,
    MODERN_MIX,
    RTT_S,
    Mix,
    alone,
    scenario_of,
)
from bufferlab.evidence.documents import Work
from bufferlab.evidence.heterogeneous.published import table_iii
from bufferlab.experiment.experiment import Experiment
from bufferlab.experiment.runner import Runner
from bufferlab.experiment.simulation import prepare
from bufferlab.results.result import Result
from bufferlab.scenario import Scenario
from bufferlab.theory.measured import MeasuredCharacteristic, measure_characteristic
from bufferlab.theory.protocols import get_protocol

WINDOW_PACKETS: Final = 60.0
FLOWS: Final = 40
BUFFER_BDPS: Final = 0.25
MEASURED_MIXES: Final = (
    *(alone(control) for control in CONTROLS),
    DOCUMENT_MIX,
    MODERN_MIX,
    Mix("cubic and bbr", (("cubic", 1), ("bbr", 1))),
)
_DURATION_S: Final = 80.0
_WARMUP_S: Final = 20.0
_SAMPLE_MS: Final = 50.0
_BY_RATE: Final = ("bbr", "bbr3")
"""Their window is a bound that they seldom meet: what is in flight counts, and has no epochs."""


@dataclass(frozen=True)
class Characteristic:
    """The flows of one congestion control in one mix.

    Attributes:
        mix: All flows at the link.
        control: Whose.
        window: Mean window (of BBR: in flight), packets.
        beta: Mean of the window after a fall over the one before; NaN for BBR.
        epochs: Complete epochs of all flows; 0 for BBR.
        within: Standard deviation over mean within epochs, mean over the epochs; NaN for BBR.
        overall: The same over all time, root of the mean square over the flows.
        theory: By numeric integration of the growth function at the measured mean window.
        theory_beta: Window after a loss over the one before, by the definition of the control.
        published: Table III's; NaN for what it does not have.
    """

    mix: str
    control: str
    window: float
    beta: float
    epochs: int
    within: float
    overall: float
    theory: float
    theory_beta: float
    published: float


def tables(work: Work) -> dict[str, pl.DataFrame]:
    """The windows of each control in each mix; quick: of Reno and CUBIC alone."""
    mixes = (alone("reno"), alone("cubic")) if work.request.quick else MEASURED_MIXES
    found = characteristics(mixes, work.request.runner())
    return {"characteristics": pl.DataFrame([asdict(each) for each in found])}


def characteristics(mixes: tuple[Mix, ...], runner: Runner) -> list[Characteristic]:
    """Measure every control alone and in mixes.

    Raises:
        RunInterrupted: At Ctrl-C.
    """
    by_name = {mix.name: mix for mix in mixes}
    experiment = Experiment(
        "characteristic values",
        {mix.name: _scenario(mix) for mix in mixes},
        {mix.name: partial(measure, tuple(mix.counts(FLOWS))) for mix in mixes},
        parameters=lambda name: {"mix": name},
    )
    return [
        conclude(done.key, control, values)
        for done in runner.all(experiment)
        for control, values in zip(by_name[done.key].counts(FLOWS), done.value, strict=True)
    ]


def _scenario(mix: Mix) -> Scenario:
    document = scenario_of(
        mix.counts(FLOWS),
        window_packets=WINDOW_PACKETS,
        duration_s=_DURATION_S,
        warmup_s=_WARMUP_S,
        sample_ms=_SAMPLE_MS,
    )
    return prepare(document, {"links[0].buffer": f"{BUFFER_BDPS:g} bdp"})


def measure(controls: tuple[str, ...], run: Result) -> list[dict[str, float]]:
    """For each control `window`, `beta`, `epochs`, `within` and `overall` of its flows' windows."""
    return [_windows(control, run) for control in controls]


def conclude(mix: str, control: str, measured: dict[str, float]) -> Characteristic:
    """What was measured of a control's flows, beside theory."""
    protocol = get_protocol(control)
    return Characteristic(
        mix=mix,
        control=control,
        window=measured["window"],
        beta=measured["beta"],
        epochs=int(measured["epochs"]),
        within=measured["within"],
        overall=measured["overall"],
        theory=protocol.characteristic(measured["window"] * protocol.peak_over_mean, RTT_S),
        theory_beta=protocol.beta,
        published=table_iii().get(control, math.nan),
    )


def _windows(control: str, run: Result) -> dict[str, float]:
    column = "inflight_segments" if control in _BY_RATE else "cwnd_segments"
    samples = run.flow_samples.filter(
        (pl.col("group") == control.replace(".", "_")) & (pl.col("time_s") >= _WARMUP_S)
    )
    series = [own.sort("time_s") for own in samples.partition_by("flow")]
    windows = [own[column].to_numpy().astype(np.float64) for own in series]
    beta, epochs, within = math.nan, 0, math.nan
    if control not in _BY_RATE:
        found = [
            measured
            for own, window in zip(series, windows, strict=True)
            if (measured := _epochs(own["time_s"].to_numpy(), window)) is not None
        ]
        weights = [each.epochs for each in found]
        epochs = sum(weights)
        if epochs:
            beta = float(np.average([each.beta for each in found], weights=weights))
            within = float(np.average([each.characteristic for each in found], weights=weights))
    return {
        "window": float(np.mean([each.mean() for each in windows])),
        "beta": beta,
        "epochs": epochs,
        "within": within,
        "overall": math.sqrt(float(np.mean([(each.std() / each.mean()) ** 2 for each in windows]))),
    }


def _epochs(times_s: np.ndarray, window: np.ndarray) -> MeasuredCharacteristic | None:
    try:
        return measure_characteristic(times_s, window)
    except ValueError:  # fewer than two congestion events
        return None
