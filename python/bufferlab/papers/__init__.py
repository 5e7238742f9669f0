"""Published figures and tables, reproduced: one module a document."""

from __future__ import annotations

from bufferlab.papers import beyond as beyond
from bufferlab.papers import bloat_inet as bloat_inet
from bufferlab.papers import bloat_inet_beyond as bloat_inet_beyond
from bufferlab.papers import bloat_mininet as bloat_mininet
from bufferlab.papers import heterogeneous as heterogeneous
from bufferlab.papers import heterogeneous_histograms as heterogeneous_histograms
from bufferlab.papers import heterogeneous_simulated as heterogeneous_simulated
from bufferlab.papers import heterogeneous_tables as heterogeneous_tables
from bufferlab.papers import sizing_mininet as sizing_mininet
from bufferlab.papers import splitbuff as splitbuff
from bufferlab.papers import splitbuff_bimodal as splitbuff_bimodal
from bufferlab.papers import splitbuff_estimate as splitbuff_estimate
from bufferlab.papers import splitbuff_evaluation as splitbuff_evaluation
from bufferlab.papers import splitbuff_heavytail as splitbuff_heavytail
from bufferlab.papers.registry import (
    Reproduced,
    Reproduction,
    Request,
    all_reproductions,
    find_reproductions,
    reproduce,
)

__all__ = [
    "Reproduced",
    "Reproduction",
    "Request",
    "all_reproductions",
    "find_reproductions",
    "heterogeneous",
    "heterogeneous_histograms",
    "heterogeneous_simulated",
    "heterogeneous_tables",
    "reproduce",
    "sizing_mininet",
    "splitbuff",
    "splitbuff_bimodal",
    "splitbuff_estimate",
    "splitbuff_evaluation",
    "splitbuff_heavytail",
]
