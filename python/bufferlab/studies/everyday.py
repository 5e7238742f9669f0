"""Everyday words for what metrics measure, for those who guess a metric's name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

SHOWN_AS: Final[Mapping[str, str]] = {
    "used": "utilization",
    "lost": "loss",
    "fetch": "exchange_p50",
    "fetched": "exchange_p50",
    "fetch_p50": "exchange_p50",
    "fetch_p95": "exchange_p95",
}
"""What the box of an answer calls metrics, by the names that targets have: a target may have either."""

_OF_LINKS: Final[Mapping[str, tuple[str, ...]]] = {
    "latency": ("wait_mean", "wait_p99"),
    "drops": ("loss",),
    "bandwidth": ("utilization", "throughput"),
    "load": ("utilization",),
    "fairness": ("jain_index",),
    "duration": ("completion", "completion_p95"),
    "page": ("exchange_p50", "exchange_p95"),
    **{share: (f"wait_{share}",) for share in ("p50", "p95", "p99")},
}
"""Metrics of a link or of all flows."""

_OF_GROUPS: Final[Mapping[str, tuple[str, ...]]] = {
    **_OF_LINKS,
    "latency": ("loaded_rtt_p95", "rtt", "wait_mean"),
    "bandwidth": ("goodput", "throughput"),
    "quality": ("r", "mos"),
}
"""Metrics of a flow group."""

_SAME: Final[Mapping[str, str]] = {
    **dict.fromkeys(("delay", "ping", "lag", "queueing", "queueing_delay", "queue"), "latency"),
    **dict.fromkeys(("dropped", "drop", "packet_loss", "lost", "losses"), "drops"),
    **dict.fromkeys(("speed", "rate", "bitrate"), "bandwidth"),
    **dict.fromkeys(("usage", "use", "busy"), "load"),
    **dict.fromkeys(("fair", "jain"), "fairness"),
    **dict.fromkeys(("fct", "download"), "duration"),
    **dict.fromkeys(("fetch", "page_load", "plt"), "page"),
}
"""Words for the same."""


def meant(word: str, group: str | None) -> tuple[str, ...]:
    """The metrics that an everyday word may mean, the likeliest first, as targets name them.

    >>> meant("Delay", None), meant("quality", "call"), meant("foo", None)
    (('wait_mean', 'wait_p99'), ('r', 'mos'), ())
    """
    spoken = word.lower()
    return (_OF_LINKS if group is None else _OF_GROUPS).get(_SAME.get(spoken, spoken), ())
