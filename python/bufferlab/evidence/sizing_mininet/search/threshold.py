"""The least size that meets a target, from noisy answers: where to look next, and what is certain so far.

A *size* meets the target if at least half of all samples there do: the median decides, so a rare bad sample,
however bad, is one wrong answer and no more. Sizes are taken to be ordered: if one meets the target, larger
ones do. The *threshold* is the least that does. Two things are kept:

- **Belief**, which only steers. A posterior over the threshold on the grid of sizes, as in probabilistic
  bisection (R. Waeber, P. I. Frazier and S. G. Henderson, "Bisection search with noisy responses", SIAM J.
  Control Optim. 51(3), 2013). They take an answer to be right with one probability everywhere; here it is
  right the more often the farther the size is from the threshold, by a logistic function of unknown width
  with lapses of unknown share, as in the adaptive estimation of psychometric functions (L. L. Kontsevich and
  C. W. Tyler, "Bayesian adaptive estimation of psychometric slope and threshold", Vision Research 39, 1999).
- **Evidence**, which decides. For each threshold that is still possible, gamblers bet against it on every
  answer: at smaller sizes, which then should fail, that the size meets; at the others that it fails. If the
  threshold is the true one, no bet wins on average, so the chance that the capital ever multiplies by 1/α is
  at most α (Ville's inequality; I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables
  by betting", J. R. Statist. Soc. B 86(1), 2024). Thresholds against which it did are out. What is left holds
  the true one with the stated confidence whatever the noise is like, whichever sizes were tried and whenever
  the search stops. Stakes follow the belief: where that is wrong, the search is slow, not wrong.

Answers come in rounds. Those of one round may depend on each other (they share a seed, so that sizes are
compared under the same circumstances); rounds must be independent. A gambler splits one stake over a round's
answers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import expit

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

WIDTHS: Final = (0.01, 0.03, 0.1, 0.3, 1.0)
"""Widths of the logistic function that are thought possible, as logarithms of sizes."""

LAPSES: Final = (0.02, 0.1, 0.25)
"""Shares of answers that may be wrong however far a size is from the threshold."""

MOST_STAKE: Final = 0.9
"""Largest share of the capital that is put on one round; below 1, so that no round ruins a gambler."""

_SURE: Final = (0.4, 0.85)
"""Near the end, rounds in turn try the nearest sizes whose answers are believed to tell so much of what the
most telling one does: near ones, which narrow the interval, and safer ones, which get on where the noise is
strong."""

_SETTLED: Final = 0.5
"""The search is near its end once so much belief lies within the aim,"""

_QUANTILE_ROUNDS: Final = 8
"""or after this number of rounds: then noise keeps the belief spread, and only more answers help."""


class Interval(NamedTuple):
    """Thresholds that are not ruled out, as indices of sizes; the number of sizes stands for "none meets"."""

    least: int
    most: int


class Threshold:
    """Belief and evidence about the least size that meets a target.

    Args:
        sizes: The sizes in rising order, at least one, each above 0.
        confidence: Probability with which the interval must contain the threshold, above 0 and below 1.
    """

    def __init__(self, sizes: Sequence[int], confidence: float) -> None:
        self.sizes = list(sizes)
        self._logs = np.log(np.asarray(self.sizes, dtype=np.float64))
        # "none meets" lies an octave beyond the last size
        self._places = np.append(self._logs, self._logs[-1] + math.log(2.0))
        self._meets = _chances(self._logs)
        self._belief = np.zeros(self._meets.shape[1:])
        self._capital_below = np.zeros(len(self.sizes) + 1)
        self._capital_above = np.zeros(len(self.sizes) + 1)
        self._bar = -math.log(1.0 - confidence)
        self._out = np.zeros(len(self.sizes) + 1, dtype=np.bool_)
        self._rounds = 0

    def observe(self, answers: Sequence[tuple[int, bool]]) -> None:
        """Take the answers of one round.

        Args:
            answers: Index of a size, and whether a sample there met the target; one per size.
        """
        indices = np.array([index for index, _ in answers])
        signs = np.array([1.0 if meets else -1.0 for _, meets in answers])
        chance = self.chances()[indices]
        below = indices[:, None] < np.arange(len(self.sizes) + 1)[None, :]
        self._capital_below += _growth(np.clip(2.0 * chance - 1.0, 0.0, MOST_STAKE), signs, below)
        self._capital_above += _growth(np.clip(1.0 - 2.0 * chance, 0.0, MOST_STAKE), -signs, ~below)
        # half of the money started below each threshold, half above
        self._out |= np.logaddexp(self._capital_below, self._capital_above) - math.log(2.0) >= self._bar
        for index, meets in answers:
            self._belief += np.log(self._meets[index] if meets else 1.0 - self._meets[index])
        self._rounds += 1

    def interval(self) -> Interval:
        """The thresholds from the least to the most that the evidence leaves."""
        left = np.flatnonzero(~self._out)
        if left.size == 0:  # bad luck, which the confidence allows for
            return Interval(self.estimate(), self.estimate())
        return Interval(int(left[0]), int(left[-1]))

    def estimate(self) -> int:
        """Median of the belief among thresholds that are not ruled out."""
        weights = self._weights()
        return _quantile(weights if self._out.all() else np.where(self._out, 0.0, weights), 0.5)

    def chances(self) -> FloatArray:
        """The belief's chance that a sample meets the target, for each size."""
        belief = np.exp(self._belief - self._belief.max())
        return np.asarray(np.tensordot(self._meets, belief / belief.sum(), axes=3), dtype=np.float64)

    def propose(self, aim: float, count: int = 2) -> list[int]:
        """Indices of the sizes to sample in the next round, rising.

        At first they are quantiles of the belief. Once that is concentrated, they lie on both sides of its
        median, as far away as the aim and the noise ask for.

        Args:
            aim: Wanted width of the interval, as a logarithm of the ratio of its ends.
            count: Most quantiles.
        """
        weights = self._weights()
        middle = _quantile(weights, 0.5)
        near = np.abs(self._places - self._places[middle]) <= aim
        if self._rounds >= _QUANTILE_ROUNDS or float(weights[near].sum()) >= _SETTLED:
            return sorted(self._around(middle, aim) or {self._size(middle)})
        return sorted({self._size(_quantile(weights, (k + 1) / (count + 1))) for k in range(count)})

    def _around(self, middle: int, aim: float) -> set[int]:
        """On each side on which the interval goes beyond the middle, a size that should move its end."""
        interval, lean = self.interval(), self.chances() - 0.5
        above = range(middle, min(interval.most, len(self.sizes)))
        below = range(middle - 1, interval.least - 1, -1)
        found = set()
        for side, telling in ((above, lean), (below, -lean)):
            far = [i for i in side if abs(self._places[i] - self._places[middle]) >= aim / 2] or side[-1:]
            if far:
                best = max(far, key=lambda i: telling[i])
                enough = _SURE[self._rounds % len(_SURE)] * telling[best]
                found.add(next((i for i in far if telling[i] >= enough), best))
        return found

    def _size(self, threshold: int) -> int:
        return min(threshold, len(self.sizes) - 1)

    def _weights(self) -> FloatArray:
        belief = np.exp(self._belief - self._belief.max()).sum(axis=(1, 2))
        return np.asarray(belief / belief.sum(), dtype=np.float64)


def _chances(logs: FloatArray) -> FloatArray:
    """Chance that a sample meets the target by size, threshold, width and share of lapses."""
    between = (logs[:-1] + logs[1:]) / 2.0
    places = np.concatenate([[-np.inf], between, [np.inf]])
    distance = (logs[:, None, None] - places[None, :, None]) / np.asarray(WIDTHS)[None, None, :]
    lapses = np.asarray(LAPSES)
    return np.asarray(lapses + (1.0 - 2.0 * lapses) * expit(distance)[..., None], dtype=np.float64)


def _growth(stakes: FloatArray, signs: FloatArray, concerned: BoolArray) -> FloatArray:
    """Logarithm of what the capital against each threshold is multiplied by; 0 if no answer concerns it."""
    staked = (stakes[:, None] * concerned).sum(axis=0)
    won = ((stakes * signs)[:, None] * concerned).sum(axis=0)
    return np.asarray(np.log1p(won / np.maximum(staked / MOST_STAKE, 1.0)), dtype=np.float64)


def _quantile(weights: FloatArray, share: float) -> int:
    cumulative = np.cumsum(weights)
    return int(np.searchsorted(cumulative, share * cumulative[-1]))
