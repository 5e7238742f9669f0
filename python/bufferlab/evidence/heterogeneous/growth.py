"""Tables II and III: the growth functions of the windows, checked."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl

from bufferlab.evidence.documents import Work
from bufferlab.evidence.heterogeneous.published import table_iii
from bufferlab.evidence.heterogeneous.settings import NAMES
from bufferlab.theory.arrays import FloatArray
from bufferlab.theory.characteristic import cubic, integrate_growth, linear, quartic
from bufferlab.theory.epochs import CUBIC_C, Epoch
from bufferlab.theory.protocols import PROTOCOLS, REFERENCE_RTT_S, REFERENCE_WINDOW_PACKETS


def table2(work: Work) -> dict[str, pl.DataFrame]:
    """Each growth function at the ends of its epoch, with T as printed and corrected; and its course."""
    frame = pl.DataFrame([_growth_row(name, _ctcp_factor(work)) for name in NAMES])
    return {"table2": frame, "growth": _growth_curves()}


def table3(work: Work) -> dict[str, pl.DataFrame]:
    """Mean and characteristic value by (4) and (5), with T as printed and with the exact epoch."""
    return {"table3": pl.DataFrame([_moments_row(name, _ctcp_factor(work)) for name in NAMES])}


def _ctcp_factor(work: Work) -> float:
    """CTCP's T over the fourth root of w_max as Table II prints it, s."""
    (claim,) = (claim for claim in work.document.claims if claim.id == "table2-ctcp-duration")
    return claim.number or math.nan


def _growth_row(name: str, ctcp_factor: float) -> dict[str, Any]:
    protocol = PROTOCOLS[name]
    window = REFERENCE_WINDOW_PACKETS
    epoch = protocol.epoch(window, REFERENCE_RTT_S)
    printed_s = _printed_duration_s(name, ctcp_factor)
    start_printed = epoch.growth(0.0) / window
    if name.startswith("cubic"):
        start_printed = 1.0 - CUBIC_C * printed_s**3 / window
    return {
        "protocol": name,
        "title": protocol.title,
        "beta": protocol.beta,
        "duration_s": epoch.duration_s,
        "duration_printed_s": printed_s,
        "start": epoch.growth(0.0) / window,
        "start_printed": start_printed,
        "end": epoch.growth(epoch.duration_s) / window,
    }


def _printed_duration_s(name: str, ctcp_factor: float) -> float:
    """T to the letter of Table II, for the reference window and round-trip time."""
    window, beta = REFERENCE_WINDOW_PACKETS, PROTOCOLS[name].beta
    if name.startswith("cubic"):
        return math.cbrt(window * beta / CUBIC_C)
    if name == "ctcp":
        return ctcp_factor * math.sqrt(math.sqrt(window))
    return PROTOCOLS[name].epoch(window, REFERENCE_RTT_S).duration_s


def _growth_curves() -> pl.DataFrame:
    share = np.linspace(0.0, 1.0, 101)
    frames = []
    for name in NAMES:
        epoch = PROTOCOLS[name].epoch(REFERENCE_WINDOW_PACKETS, REFERENCE_RTT_S)
        window = [epoch.growth(float(x) * epoch.duration_s) / REFERENCE_WINDOW_PACKETS for x in share]
        frames.append(pl.DataFrame({"protocol": [name] * share.size, "epoch_share": share, "window": window}))
    return pl.concat(frames)


def _moments_row(name: str, ctcp_factor: float) -> dict[str, Any]:
    window = REFERENCE_WINDOW_PACKETS
    epoch = PROTOCOLS[name].epoch(window, REFERENCE_RTT_S)
    exact = epoch.moments
    # CUBIC's printed T is out of the question: the epoch would start at (1 - beta)·w_max
    printed_s = epoch.duration_s if name.startswith("cubic") else _printed_duration_s(name, ctcp_factor)
    printed = integrate_growth(epoch.growth, printed_s)
    return {
        "protocol": name,
        "title": PROTOCOLS[name].title,
        "mean": exact.mean / window,
        "mean_printed": printed.mean / window,
        "characteristic": exact.characteristic,
        "characteristic_printed": printed.characteristic,
        "closed_form": float(_closed_form(name, epoch)),
        "table_iii": table_iii()[name],
    }


def _closed_form(name: str, epoch: Epoch) -> FloatArray:
    """The characteristic value by the closed form of the growth function's family."""
    start, end = (epoch.growth(time) / REFERENCE_WINDOW_PACKETS for time in (0.0, epoch.duration_s))
    if name.startswith("cubic"):
        return cubic(start)
    return quartic(start) if name == "ctcp" else linear(start, end)
