"""A link that nothing fills is called that, and not one whose buffer was not found."""

from __future__ import annotations

import dataclasses

from bufferlab.render.advise.links import links_headline
from bufferlab.render.advise.unfilled import unfilled
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.joint import LinksAdvice

from ..advised import FIFO, advised, entry, runs
from .boxes import box

SAID = (
    "Nothing fills this link: 20 to 21 % of it is used with a fifo of 30 to 200 packets. Something else "
    "holds its flows back, and no buffer here changes that."
)


def searched(uses: dict[int, float], *targets: str) -> Advice:
    """An answer of FIFO with 14 packets, after a search that measured these uses."""
    made = advised({"fifo": (14, runs({**FIFO, "utilization": 0.2}))}, targets or ("utilization >= 99 %",))
    other = {size: {**FIFO, "utilization": use} for size, use in uses.items()}
    found = entry("fifo", 14, runs({**FIFO, "utilization": 0.2}), made.targets, other=other)
    return dataclasses.replace(made, entries={found.name: found})


def test_a_link_that_larger_buffers_use_no_more_is_not_filled() -> None:
    advice = searched({1: 0.05, 30: 0.2, 67: 0.21, 200: 0.205})
    assert unfilled(advice) == SAID
    assert " ".join(SAID.split()) in " ".join(" ".join(box(advice)).replace("│", "").split())


def test_of_several_links_each_says_it_for_itself() -> None:
    advice = searched({30: 0.2, 67: 0.21, 200: 0.205})
    both = LinksAdvice("Two", (advice,), ("west",), advice.resolved)
    assert links_headline(both) == f"west: n{SAID[1:]}"


def test_where_larger_buffers_use_more_the_buffer_decides() -> None:
    assert unfilled(searched({30: 0.7, 67: 0.85, 200: 0.93})) is None


def test_buffers_below_a_bandwidth_delay_product_tell_nothing() -> None:
    assert unfilled(searched({15: 0.2, 30: 0.2, 60: 0.2})) is None


def test_what_nobody_asks_for_is_not_said() -> None:
    uses = {30: 0.2, 67: 0.21, 200: 0.205}
    assert unfilled(searched(uses, "loss <= 0.01 %")) is None
    assert unfilled(searched(uses, "utilization >= 15 %")) is None
