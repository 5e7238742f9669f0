"""Figures 4 to 7 and Table IV: the document's equations, with its own inputs and with corrected ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bufferlab.evidence.documents import Work
from bufferlab.evidence.heterogeneous.settings import (
    BDP_BYTES,
    FLOWS,
    MIX,
    NAMES,
    RATE_BPS,
    VARIANTS,
    Variant,
)
from bufferlab.theory import heterogeneous as theory
from bufferlab.theory.normal import probability_of

_Curve = Callable[[Variant, float], NDArray[np.float64]]
"""From a reading and a characteristic value to a line's heights."""


def table4(work: Work) -> dict[str, pl.DataFrame]:
    """622 Mbps times the round-trip times that the claims are about."""
    rows = []
    for claim in work.document.claims_of("table4"):
        rtt_ms, stated_mb = float(claim.setting["rtt_ms"]), claim.number or 0.0
        rows.append(
            {
                "rtt_ms": rtt_ms,
                "stated_mb": stated_mb,
                "bdp_mb": RATE_BPS * rtt_ms / 1e3 / 8e6,
                "rtt_of_stated_ms": stated_mb * 8e9 / RATE_BPS,
            }
        )
    return {"table4": pl.DataFrame(rows)}


def fig4(_work: Work) -> dict[str, pl.DataFrame]:
    """Theorem 2 for n = 200 … 1000 flows of one protocol."""
    flows = np.arange(200, 1001, 10)

    def buffer_mb(variant: Variant, a: float) -> NDArray[np.float64]:
        return theory.utilization_buffer(BDP_BYTES, a / np.sqrt(flows), variant.z) / 1e6

    return {"fig4": _lines("flows", flows, "buffer_mb", buffer_mb)}


def fig5(_work: Work) -> dict[str, pl.DataFrame]:
    """(12): the least n for each phi."""
    loss = np.linspace(0.001, 0.02, 191)

    def flows(variant: Variant, a: float) -> NDArray[np.float64]:
        return theory.least_flows_for_loss(a, variant.z, loss)

    return {"fig5": _lines("max_loss", loss, "flows", flows)}


def fig6(_work: Work) -> dict[str, pl.DataFrame]:
    """(14) over (7), for phi = 0.001 … 0.01: 200 flows of each protocol, and the mix of the evaluation."""
    loss = np.linspace(0.001, 0.01, 181)

    def increase_percent(variant: Variant, a: float) -> NDArray[np.float64]:
        return _increase(variant, float(theory.relative_deviation(a, FLOWS)), loss)

    mix = [
        _line(
            variant,
            f"mix of {sum(MIX.values())}",
            {"max_loss": loss, "increase_percent": _increase(variant, variant.spread(MIX), loss)},
        )
        for variant in VARIANTS.values()
    ]
    return {"fig6": pl.concat([_lines("max_loss", loss, "increase_percent", increase_percent), *mix])}


def fig7(_work: Work) -> dict[str, pl.DataFrame]:
    """(18) from no buffer to B_l, n = 200."""
    lines = [
        _line(variant, name, _shrinking(variant, variant.characteristics[name]))
        for variant in VARIANTS.values()
        for name in NAMES
    ]
    return {"fig7": pl.concat(lines)}


def _increase(variant: Variant, spread: float, loss: NDArray[np.float64]) -> NDArray[np.float64]:
    """(14) over (7), minus 1, %."""
    busy = theory.utilization_buffer(BDP_BYTES, spread, variant.z)
    both = theory.combined_buffer(BDP_BYTES, spread, variant.z, variant.z, loss)
    return np.asarray((both / busy - 1.0) * 100.0, dtype=np.float64)


def _shrinking(variant: Variant, characteristic: float) -> dict[str, NDArray[np.float64]]:
    spread = float(theory.relative_deviation(characteristic, FLOWS))
    wanted = float(theory.utilization_buffer(BDP_BYTES, spread, variant.z))
    least = float(theory.shrinkage(BDP_BYTES, 0.0, wanted))
    gamma = np.linspace(least, 1.0, 101)
    z = theory.compromised_z(variant.z, spread, gamma)
    kept = probability_of(z, variant.convention)
    return {"gamma": gamma, "z_q": z, "q": kept, "given_up": 0.99 - kept}


def _lines(x: str, along: NDArray[np.generic], y: str, curve: _Curve) -> pl.DataFrame:
    """A line for each reading and protocol."""
    lines = [
        _line(variant, name, {x: along, y: curve(variant, variant.characteristics[name])})
        for variant in VARIANTS.values()
        for name in NAMES
    ]
    return pl.concat(lines)


def _line(variant: Variant, protocol: str, columns: Mapping[str, NDArray[np.generic]]) -> pl.DataFrame:
    size = len(next(iter(columns.values())))
    return pl.DataFrame({"variant": [variant.name] * size, "protocol": [protocol] * size, **columns})
