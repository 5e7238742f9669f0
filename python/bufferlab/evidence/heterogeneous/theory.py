"""Sizing Router Buffer for the Internet with Heterogeneous TCP (P. Yang, E. Zhang, L. Xu): figures 4 to 7.

All from theory; nothing is simulated, so seeds and `--quick` change nothing. Each is done twice: with the
document's own inputs (Table III and z = 2.05), which must give its numbers, and corrected. Tables II to IV
are in `heterogeneous_tables`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bufferlab.evidence.heterogeneous import published
from bufferlab.evidence.heterogeneous.comparison import compared, comparison_frame
from bufferlab.evidence.heterogeneous.figures import as_it_is, draw, from_zero, logarithmic
from bufferlab.evidence.heterogeneous.settings import (
    BDP_BYTES,
    CITATION,
    FLOWS,
    MIX,
    NAMES,
    SLIP_BIC,
    SLIP_Z,
    VARIANTS,
    Variant,
)
from bufferlab.evidence.registry import Reproduced, Request, reproduction
from bufferlab.theory import heterogeneous as theory
from bufferlab.theory.normal import probability_of

_Curve = Callable[[Variant, float], NDArray[np.float64]]
"""From a variant and a characteristic value to a line's heights."""

_NOTES: Final = (
    "OC-12 of 622 Mbps with a round-trip time of 100 ms; tau = rho = 0.99. All is theory, nothing simulated.",
    f"Corrected in the second panel, left in the first and in 'as published': {SLIP_BIC} {SLIP_Z}",
)


@reproduction(
    name="heterogeneous/fig4",
    title="Minimum buffer for the utilization over the number of flows",
    citation=CITATION,
)
def fig4(_request: Request) -> Reproduced:
    """Theorem 2 for n = 200 … 1000 flows of one protocol."""
    flows = np.arange(200, 1001, 10)
    frame = _lines(
        "flows",
        flows,
        "buffer_mb",
        lambda variant, a: theory.utilization_buffer(BDP_BYTES, a / np.sqrt(flows), variant.z) / 1e6,
    )
    rows = [
        compared(
            published.FIG4_SLOPE,
            [_slope(frame, variant, name) for variant in VARIANTS],
            "The denominator 1 - z·a/sqrt n makes the slope a little steeper.",
            statement=f"{name}, {published.FIG4_SLOPE.statement}",
        )
        for name in ("reno", "bic")
    ]
    labels = ("number of flows", "minimum buffer (MB)")
    return Reproduced(
        "heterogeneous/fig4",
        {"fig4": frame},
        {"fig4": draw(frame, ("flows", "buffer_mb"), labels, from_zero)},
        comparison_frame(rows),
        (*_NOTES, "RENO needs most as published; corrected, CTCP needs 3 % more than RENO."),
    )


@reproduction(
    name="heterogeneous/fig5", title="Flows for which any buffer keeps a loss bound", citation=CITATION
)
def fig5(_request: Request) -> Reproduced:
    """(12): the least n for each phi."""
    loss = np.linspace(0.001, 0.02, 191)
    frame = _lines(
        "max_loss", loss, "flows", lambda variant, a: theory.least_flows_for_loss(a, variant.z, loss)
    )
    rows = [
        compared(
            stated,
            [
                float(theory.least_flows_for_loss(variant.characteristics[name], variant.z, 0.01))
                for variant in VARIANTS
            ],
            f"n = (z·a·(1 - phi)/phi)². {SLIP_Z}" + (f" {SLIP_BIC}" if name == "bic" else ""),
        )
        for name, stated in published.FIG5.items()
    ]
    labels = ("bound of the loss rate, phi", "least number of flows")
    return Reproduced(
        "heterogeneous/fig5",
        {"fig5": frame},
        {"fig5": draw(frame, ("max_loss", "flows"), labels, logarithmic)},
        comparison_frame(rows),
        (*_NOTES, "Neither link rate nor round-trip time enters (12)."),
    )


@reproduction(
    name="heterogeneous/fig6",
    title="More buffer for a loss bound than for the utilization",
    citation=CITATION,
)
def fig6(_request: Request) -> Reproduced:
    """(14) over (7), for phi = 0.001 … 0.01, n = 200, and for the mix of the evaluation."""
    loss = np.linspace(0.001, 0.01, 181)
    frame = pl.concat(
        [
            _lines(
                "max_loss", loss, "increase_percent", lambda variant, a: increase(variant, a, FLOWS, loss)
            ),
            _mix_lines(loss),
        ]
    )
    rows = [
        compared(
            stated,
            [
                float(increase(variant, variant.characteristics[name], FLOWS, np.array(0.0035)))
                for variant in VARIANTS
            ],
            SLIP_Z + (f" {SLIP_BIC}" if name == "bic" else ""),
        )
        for name, stated in published.FIG6.items()
    ]
    rows.append(
        compared(
            published.SECTION_VIII_INCREASE,
            [
                float(increase(variant, mix_characteristic(variant), sum(MIX.values()), np.array(0.01)))
                for variant in VARIANTS
            ],
            f"The BDP cancels, so it is the same at all three. {SLIP_Z} {SLIP_BIC}",
        )
    )
    labels = ("bound of the loss rate, phi", "more buffer (%)")
    return Reproduced(
        "heterogeneous/fig6",
        {"fig6": frame},
        {"fig6": draw(frame, ("max_loss", "increase_percent"), labels, from_zero)},
        comparison_frame(rows),
        (*_NOTES, "(13) and (14) print z_rho where (8) has z_tau; here both are the z-score of 0.99."),
    )


@reproduction(
    name="heterogeneous/fig7",
    title="Utilization given up for a smaller buffer: z_q over gamma",
    citation=CITATION,
)
def fig7(_request: Request) -> Reproduced:
    """(18) from no buffer to B_l, n = 200."""
    frames = [
        _shrinking(variant, name, variant.characteristics[name]) for variant in VARIANTS for name in NAMES
    ]
    frame = pl.concat(frames)
    # the smallest gamma of each protocol comes first: no buffer
    without = frame.group_by("variant", maintain_order=True).first()
    rows = [
        compared(
            published.FIG7_Z,
            without["z_q"].abs().round(9).to_list(),
            "gamma = BDP/(BDP + B_l) makes (18) zero for every protocol.",
        ),
        compared(
            published.FIG7_REDUCTION,
            without["given_up"].to_list(),
            "z = 0 stands for q = 0.75 by the document's 2q - 1 = 0.5, and for one half one-sided: windows "
            "without a buffer fill the link half of the time, so 0.49 is given up.",
        ),
    ]
    labels = ("gamma = (BDP + B) / (BDP + B_l)", "z_q")
    return Reproduced(
        "heterogeneous/fig7",
        {"fig7": frame},
        {"fig7": draw(frame, ("gamma", "z_q"), labels, as_it_is)},
        comparison_frame(rows),
        _NOTES,
    )


def increase(
    variant: Variant, characteristic: float, flows: int, loss: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(14) over (7), minus 1, %.

    Args:
        variant: Gives z.
        characteristic: a.
        flows: n.
        loss: phi.
    """
    spread = theory.relative_deviation(characteristic, flows)
    busy = theory.utilization_buffer(BDP_BYTES, spread, variant.z)
    both = theory.combined_buffer(BDP_BYTES, spread, variant.z, variant.z, loss)
    return np.asarray((both / busy - 1.0) * 100.0, dtype=np.float64)


def mix_characteristic(variant: Variant) -> float:
    """A of the evaluation's mix."""
    return theory.mix_characteristic([variant.characteristics[name] for name in MIX], list(MIX.values()))


def _lines(x: str, along: NDArray[np.generic], y: str, curve: _Curve) -> pl.DataFrame:
    return pl.concat(
        [
            pl.DataFrame(
                {
                    "variant": [variant.name] * along.size,
                    "protocol": [name] * along.size,
                    x: along,
                    y: curve(variant, variant.characteristics[name]),
                }
            )
            for variant in VARIANTS
            for name in NAMES
        ]
    )


def _mix_lines(loss: NDArray[np.float64]) -> pl.DataFrame:
    flows = sum(MIX.values())
    return pl.concat(
        [
            pl.DataFrame(
                {
                    "variant": [variant.name] * loss.size,
                    "protocol": [f"mix of {flows}"] * loss.size,
                    "max_loss": loss,
                    "increase_percent": increase(variant, mix_characteristic(variant), flows, loss),
                }
            )
            for variant in VARIANTS
        ]
    )


def _slope(frame: pl.DataFrame, variant: Variant, protocol: str) -> float:
    """Least-squares slope of log B over log n."""
    part = frame.filter(pl.col("variant") == variant.name, pl.col("protocol") == protocol)
    return float(np.polyfit(np.log(part["flows"].to_numpy()), np.log(part["buffer_mb"].to_numpy()), 1)[0])


def _shrinking(variant: Variant, name: str, characteristic: float) -> pl.DataFrame:
    spread = float(theory.relative_deviation(characteristic, FLOWS))
    wanted = float(theory.utilization_buffer(BDP_BYTES, spread, variant.z))
    least = float(theory.shrinkage(BDP_BYTES, 0.0, wanted))
    gamma = np.linspace(least, 1.0, 101)
    z = theory.compromised_z(variant.z, spread, gamma)
    kept = probability_of(z, variant.convention)
    return pl.DataFrame(
        {
            "variant": [variant.name] * gamma.size,
            "protocol": [name] * gamma.size,
            "gamma": gamma,
            "z_q": z,
            "q": kept,
            "given_up": 0.99 - kept,
        }
    )
