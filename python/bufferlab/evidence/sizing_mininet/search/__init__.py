"""Searching the least buffer for a utilization: by medians with a confidence, and as the script did.

The first follows the lessons of the testbed: it calibrates what 100 % is, as the median over some runs with
a large buffer, filters by medians, and never lets a single bad sample turn the search. Rounds measure two
buffers with one seed, chosen by a Bayesian posterior over the answer (probabilistic bisection: Waeber,
Frazier and Henderson 2013). Evidence is apart from that: each candidate has bets placed against it, and is
excluded once their capital has grown by the inverse of the error allowed (Ville; Waudby-Smith and Ramdas
2024), so that the interval holds at any time, however wrong the posterior.
"""

from __future__ import annotations

from bufferlab.evidence.sizing_mininet.search.least import Effort, Found, search_least
from bufferlab.evidence.sizing_mininet.search.sample import Sample

__all__ = ["Effort", "Found", "Sample", "search_least"]
