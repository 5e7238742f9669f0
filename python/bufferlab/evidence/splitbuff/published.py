"""Numbers that documents state in their texts: targets of comparison tables, never inputs of a result."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Published:
    """One stated number.

    Attributes:
        buffer_ms: The buffer for which it is stated, ms of draining.
        column: Name of our column that measures it.
        value: The number.
        unit: Its unit.
        statement: How the document puts it.
        bound: `""` for a value, `">"` for a lower bound.
    """

    buffer_ms: int
    column: str
    value: float
    unit: str
    statement: str
    bound: str = ""


SPLITBUFF_FIG1 = (
    Published(25, "ratio", 443.0, "", "throughput ratio"),
    Published(25, "loss_long_percent", 0.2, "%", "loss rate of the long flow (0.2; read as per cent)"),
    Published(25, "loss_short_percent", 0.012, "%", "loss rate of the short flow (0.012; read as per cent)"),
    Published(25, "ratio_model_loss", 405.0, "", "throughput ratio by model (2)"),
    Published(300, "ratio", 5.6, "", "throughput ratio"),
    Published(300, "delay_short_ms", 230.0, "ms", "average queueing delay"),
    Published(300, "ratio_model_delay", 5.1, "", "throughput ratio by model (3), 1220/240"),
    Published(500, "delay_short_ms", 300.0, "ms", "queueing delay of the short flow", ">"),
)
