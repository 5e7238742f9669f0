"""The quick runs of DCTCP's figure."""

from __future__ import annotations

from bufferlab.evidence import Request, find_reproductions


def test_a_seventh_of_the_product_keeps_the_link_busy_and_less_does_not() -> None:
    (found,) = find_reproductions("dctcp/threshold")
    points = found.function(Request(quick=True, progress=False)).tables["points"]
    below, above = points.sort("part").iter_rows(named=True)
    assert (below["part"], above["part"]) == (0.25, 2.0)
    assert below["utilization"] < 0.998 < above["utilization"]
    assert below["wait_us"] < above["wait_us"] / 4
