"""Figure 1: how normal the sum of the windows is, for 10 to 200 flows.

The text gives the link (OC-12, 100 ms) and the numbers of flows, "from 10 to 200", but neither protocol nor
buffer: here RENO alone and the mix of section VIII, with the buffer of (7).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import special

from bufferlab.evidence.documents import Work
from bufferlab.evidence.heterogeneous.settings import AS_PUBLISHED, MIX, RTT_S, bdp_packets
from bufferlab.evidence.heterogeneous.windows import Keys, sum_of_windows
from bufferlab.results.result import Result

_RTT_MS: Final = RTT_S * 1e3
_BINS: Final = 40


def prediction(keys: Keys) -> dict[str, Any]:
    """(7) and (6) as published for the flows of a point, and how many of them use each congestion control."""
    flows = {"reno": keys["flows"]} if keys["protocols"] == "reno" else shares(MIX, keys["flows"])
    return {
        "buffer_packets": AS_PUBLISHED.utilization_packets(_RTT_MS, flows),
        "predicted_spread": AS_PUBLISHED.spread(flows),
        **{name.translate(str.maketrans("-.", "__")): count for name, count in flows.items()},
    }


def shares(mix: Mapping[str, int], flows: int) -> dict[str, int]:
    """A mix scaled to a number of flows: whole numbers, the largest remainders rounded up.

    Args:
        mix: Flows of each congestion control.
        flows: Number of flows in all.
    """
    exact = {name: count * flows / sum(mix.values()) for name, count in mix.items()}
    whole = {name: int(value) for name, value in exact.items()}
    by_rest = sorted(exact, key=lambda name: whole[name] - exact[name])
    for name in by_rest[: flows - sum(whole.values())]:
        whole[name] += 1
    return whole


def samples(result: Result, keys: Keys) -> pl.DataFrame:
    """W over the BDP at each sample of a run."""
    labels = [pl.lit(keys[name]).alias(name) for name in ("protocols", "hosts", "flows")]
    return pl.DataFrame({"w_over_bdp": _over_bdp(result)}).select(*labels, pl.all())


def measure(result: Result, _keys: Keys) -> dict[str, float]:
    """Moments of W, and how far it is from a normal distribution."""
    sums = _over_bdp(result)
    queue = result.queues.filter(pl.col("group") == "all").row(0, named=True)
    moments = {"mean_over_bdp": float(sums.mean()), "spread": float(sums.std() / sums.mean())}
    return moments | normality(sums) | {"utilization": queue["utilization"]}


def _over_bdp(result: Result) -> NDArray[np.float64]:
    return sum_of_windows(result) / bdp_packets(_RTT_MS)


def normality(sums: NDArray[np.float64]) -> dict[str, float]:
    """How far samples are from a normal distribution of their own mean and standard deviation.

    Returns:
        The largest difference of the distribution functions (Kolmogorov and Smirnov's, not their test, as
        samples depend on each other), skewness and excess kurtosis: 0 each for a normal distribution.
    """
    scores = np.sort((sums - sums.mean()) / sums.std())
    below = special.ndtr(scores)
    steps = np.arange(scores.size + 1) / scores.size
    return {
        "distance": float(max((steps[1:] - below).max(), (below - steps[:-1]).max())),
        "skewness": float((scores**3).mean()),
        "excess_kurtosis": float((scores**4).mean() - 3.0),
    }


def densities(work: Work) -> dict[str, pl.DataFrame]:
    """The histogram of each point: densities of all seeds' samples, and the normal density mid-bin."""
    points = work.tables["histograms"].group_by("protocols", "hosts", "flows", maintain_order=True)
    return {
        "histograms": pl.concat([_histogram(key, frame["w_over_bdp"].to_numpy()) for key, frame in points])
    }


def _histogram(key: tuple[object, ...], sums: NDArray[np.float64]) -> pl.DataFrame:
    protocols, hosts, flows = key
    density, edges = np.histogram(sums, bins=_BINS, density=True)
    scores = ((edges[1:] + edges[:-1]) / 2.0 - sums.mean()) / sums.std()
    normal = np.exp(-(scores**2) / 2.0) / (sums.std() * np.sqrt(2.0 * np.pi))
    return pl.DataFrame(
        {
            "protocols": [protocols] * _BINS,
            "hosts": [hosts] * _BINS,
            "flows": [flows] * _BINS,
            "w_over_bdp_from": edges[:-1],
            "w_over_bdp_to": edges[1:],
            "density": density,
            "normal_density": normal,
        }
    )
