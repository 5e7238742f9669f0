"""Marks of congestion (ECN, RFC 3168): whose packets may carry them, and which do."""

from __future__ import annotations

from typing import Final

import polars as pl

_MOST: Final = 0.5
"""A flow uses ECN if more than that part of its packets is capable: those of its handshake, its bare
acknowledgments and what it sends again are not (RFC 3168, sections 6.1.1, 6.1.4 and 6.1.5)."""

_CAPABLE: Final = pl.sum_horizontal("ect0_packets", "ect1_packets", "ce_packets")


def uses_ecn() -> pl.Expr:
    """Whether a flow's packets are capable of ECN."""
    return _MOST * pl.col("packets") < _CAPABLE


def is_l4s() -> pl.Expr:
    """Whether a flow names itself L4S: its packets are ECT(1) (RFC 9331, section 4.1)."""
    return uses_ecn() & (pl.col("ect1_packets") > pl.col("ect0_packets"))


def capable_share(flows: pl.DataFrame) -> float:
    """The part of the flows' packets that is capable of ECN, 0 to 1."""
    return int(flows.select(_CAPABLE.sum()).item() or 0) / max(int(flows["packets"].sum()), 1)


def marked(flows: pl.DataFrame) -> int:
    """How often the flows' packets were marked, wherever on their path; at least.

    A packet that was marked before the place of the capture is seen. What is marked beyond shows in
    acknowledgments, where marks of one round trip are one, and not at all with accurate ECN (`uncounted`).

    Args:
        flows: Rows of flows.
    """
    return int(flows.select(pl.max_horizontal("ce_packets", "mark_episodes").sum()).item() or 0)


def is_marking(flows: pl.DataFrame) -> bool:
    """Whether the queue marks in place of dropping: of flows that use ECN it marks more often than it drops.

    Args:
        flows: Rows of flows.
    """
    own = flows.filter(uses_ecn())
    return marked(own) > int(own["loss_episodes"].sum())


def uncounted(flows: pl.DataFrame) -> pl.DataFrame:
    """Those of which marks beyond the place of the capture are not read: accurate ECN (RFC 9768).

    Args:
        flows: Rows of flows.
    """
    return flows.filter(pl.col("has_accurate_ecn") == 1)


def marked_share(flows: pl.DataFrame) -> float | None:
    """Marks over packets, 0 to 1; `None` of flows without ECN, or whose marks are not read.

    Args:
        flows: Rows of flows.
    """
    own = flows.filter(uses_ecn())
    if own.is_empty() or not uncounted(own).is_empty():
        return None
    return marked(own) / max(float(flows["wire_packets"].sum()), 1.0)
