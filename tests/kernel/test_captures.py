"""Captures that a kernel wrote: what `observe` says of them is what is known of the run."""

from __future__ import annotations

import pytest

from bufferlab.evidence.captures.kernels import SETTINGS, captured, setting
from bufferlab.evidence.captures.seen import PLACES, estimates
from bufferlab.kernel.cache import Kernel

NUMBER = SETTINGS.index(("cubic-linux(hystart)", 2, 80, "1 bdp"))


def test_what_a_capture_says_is_what_the_kernel_did(built: Kernel) -> None:
    assert built.name
    table = setting(NUMBER)
    table["run"]["duration"] = "15 s"
    result, found = captured(table)
    for place in PLACES:
        assert found[place].observation.warnings == []
        seen = {each.quantity: each for each in estimates(table, result, found[place])}
        for quantity, percent in (("rate", 5), ("round trip of long flows, 50%", 5), ("wait, median", 15)):
            each = seen[quantity]
            assert each.estimate == pytest.approx(each.truth, rel=percent / 100), (place, each)
    # packets reach the link's other side as many times as they leave it
    behind = found["receivers"].flows["segments"].sum()
    link = result.queues.filter(result.queues["group"] == "all").row(0, named=True)
    assert behind == pytest.approx(link["whole_departed_packets"], rel=0.002)
