"""What tshark and tcptrace make of a capture, beside what we make of it."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest

import bufferlab
from bufferlab.evidence.captures.drawn import drawn
from bufferlab.evidence.captures.others import SAME_MS, by_tcptrace, by_tshark, senders_of

ENDS = ["source", "source_port", "destination", "destination_port"]


def flows_of(number: int, place: str, program: str, folder: Path) -> pl.DataFrame:
    """What a program and we say of the flows of a drawn scenario."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is missing: sudo apt-get install {program}")
    path = folder / "link.pcapng"
    bufferlab.run(drawn(number, duration_s=8), progress=False, pcap=path, pcap_at=[place])
    theirs = by_tshark(path) if program == "tshark" else by_tcptrace(path)
    ours = senders_of(bufferlab.observe(path).observation)
    found = ours.join(theirs, on=ENDS)
    assert len(found) == len(ours) > 5
    assert found["our_reordered"].sum() == 0  # nothing is reordered in these scenarios
    return found


@pytest.mark.parametrize("number", [2, 5])
def test_what_a_receiver_gets_again(number: int, tmp_path: Path) -> None:
    found = flows_of(number, "receivers", "tshark", tmp_path)
    assert found["our_again"].sum() > 100
    assert found["our_again"].to_list() == found["again"].to_list()
    assert found["our_spurious"].to_list() == found["spurious"].to_list()


@pytest.mark.parametrize("program", ["tshark", "tcptrace"])
@pytest.mark.parametrize("number", [2, 5])
def test_what_a_sender_sends_again(number: int, program: str, tmp_path: Path) -> None:
    """They count SYNs, too: at most one more a flow here."""
    found = flows_of(number, "senders", program, tmp_path)
    more = found["again"].cast(pl.Int64) - found["our_again"].cast(pl.Int64)
    assert found["our_again"].sum() > 100
    assert more.is_between(0, 1).all() and int((more == 0).sum()) > 0.9 * len(more)


@pytest.mark.parametrize("program", ["tshark", "tcptrace"])
def test_the_smallest_round_trip(program: str, tmp_path: Path) -> None:
    """Timestamps show us round trips that they leave out, so ours may be smaller."""
    found = flows_of(5, "senders", program, tmp_path).filter(pl.col("least_ms") > 0)
    assert (found["our_least_ms"] <= found["least_ms"] + SAME_MS).all()
    same = (found["our_least_ms"] - found["least_ms"]).abs() <= SAME_MS
    assert int(same.sum()) > 0.9 * len(found)
