"""Where on the path a capture was taken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bufferlab.captured.findings import Findings
from bufferlab.captured.flows import LEAST_RTT_MS, rtt_quantile_ms, timed
from bufferlab.captured.link import VANTAGES
from bufferlab.units import PS_PER_MS, format_time

_HOSTS_MS: Final = 0.2
"""Hosts take as long to answer. Our choice."""


def place(findings: Findings) -> str:
    """Beside whom it is, and on which side of the queue, if that is known.

    Args:
        findings: What was captured.
    """
    found = findings.long["vantage"].value_counts().sort("count", descending=True)
    if found.is_empty():
        return "not known: no long flow"
    near = ", ".join(
        f"{VANTAGES[vantage] if vantage else 'an unknown part of the path'} "
        f"({count:,} of {len(findings.long):,} long flows)"
        for vantage, count in found.iter_rows()
    )
    rtt_ms = rtt_quantile_ms(timed(findings.long), 0.5)
    if rtt_ms is not None and rtt_ms < _HOSTS_MS:
        is_none = rtt_ms <= LEAST_RTT_MS
        path = "less than 0.01 ms" if is_none else format_time(float(f"{rtt_ms * PS_PER_MS:.3g}"))
        near = (
            f"a path of {path}, of which hosts take as much as lies between: whose end is nearer says nothing"
        )
    return "; ".join((*_side(findings), near))


def _side(findings: Findings) -> Iterator[str]:
    """On which side of the queue the place is, and what it does not show, where a queue was seen."""
    if findings.waits is None or findings.is_paced or findings.rate_bps is None:
        return
    if findings.is_offered:
        yield "before the queue: what it drops and marks shows in acknowledgments alone"
    else:
        yield "behind the queue: what arrives at it is not seen, and what it drops shows as a gap"
