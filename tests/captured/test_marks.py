"""Marks in place of losses: who may have them, who has, and which queue gives them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest

import bufferlab
from bufferlab import Findings
from bufferlab.captured.fitting import captured_values, queues_tried
from bufferlab.captured.marks import (
    is_l4s,
    is_marking,
    marked,
    marked_share,
    uncounted,
    uses_ecn,
)
from bufferlab.captured.scenario import MARKING, NOTHING, Known, is_depth_seen, scenario_of

CUBIC: Final = {"congestion": "cubic-linux(hystart)", "start": "uniform(0 s, 2 s)"}
FQ_CODEL: Final = {"buffer": "1000 packets", "queue": {"discipline": "fq_codel", "control_law": "linux"}}


def flows(**changed: object) -> pl.DataFrame:
    """Two flows with ECN, of which one was marked ahead."""
    usual: dict[str, Any] = {
        "packets": [1_000, 1_000],
        "wire_packets": [1_000.0, 1_000.0],
        "ect0_packets": [990, 990],
        "ect1_packets": [0, 0],
        "ce_packets": [0, 0],
        "mark_episodes": [7, 0],
        "loss_episodes": [0, 0],
        "has_accurate_ecn": [0, 0],
    }
    return pl.DataFrame({**usual, **changed})


def test_marks_are_those_seen_or_echoed_and_no_flow_has_both() -> None:
    assert (marked(flows()), marked_share(flows())) == (7, 7 / 2_000)
    seen = flows(ce_packets=[9, 2])
    assert (marked(seen), marked_share(seen)) == (11, 11 / 2_000)
    assert marked(flows().clear()) == 0 and marked_share(flows().clear()) is None


def test_a_flow_uses_ecn_by_most_of_its_packets() -> None:
    mixed = flows(ect0_packets=[500, 501])
    assert mixed.select(uses_ecn()).to_series().to_list() == [False, True]
    scalable = flows(ect0_packets=[0, 990], ect1_packets=[990, 0])
    assert scalable.select(is_l4s()).to_series().to_list() == [True, False]
    assert marked_share(flows(ect0_packets=[0, 0])) is None


def test_marks_that_receivers_count_are_not_known() -> None:
    accurate = flows(has_accurate_ecn=[1, 0])
    assert len(uncounted(accurate)) == 1 and marked_share(accurate) is None


@pytest.mark.parametrize(("losses", "is_so"), [(0, True), (6, True), (7, False)])
def test_a_queue_marks_if_it_drops_less_often(losses: int, *, is_so: bool) -> None:
    assert is_marking(flows(loss_episodes=[losses, 0])) == is_so
    # losses of flows without ECN say nothing of it
    others = flows(loss_episodes=[0, 90], ect0_packets=[990, 0])
    assert is_marking(others)


def captured(folder: Path, place: str, groups: list[dict[str, Any]], **link: object) -> Findings:
    """What a capture of a link with such flows shows."""
    path = folder / "link.pcapng"
    scenario = {
        "run": {"duration": "12 s", "warmup": "0 s", "seed": 3, "stack": "linux"},
        "bottleneck": {"rate": "15 Mbps", "delay": "2 ms", **link},
        "flows": [{**CUBIC, **each} for each in groups],
    }
    bufferlab.run(scenario, progress=False, pcap=path, pcap_at=[place])
    return bufferlab.observe(path)


def table_of(*given: Any) -> dict[str, Any]:
    """The scenario as a table."""
    table: dict[str, Any] = scenario_of(*given).to_dict()
    return table


@pytest.mark.parametrize("place", ["senders", "receivers"])
@pytest.mark.parametrize(
    "link", [FQ_CODEL, {"buffer": "1000 packets", "queue": {"discipline": "pie", "ecn": True}}]
)
def test_marks_tell_a_queue_that_marks_from_a_pace(place: str, link: dict[str, Any], tmp_path: Path) -> None:
    seen = captured(tmp_path, place, [{"count": 4, "rtt": "30 ms", "ecn": "classic"}], **link)
    assert not seen.is_rate_a_pace and not any("pace" in each for each in seen.doubts)
    assert marked(seen.long) > 12 and not is_depth_seen(seen)
    assert {each.discipline for each in queues_tried(seen, NOTHING)} == {"codel", "fq_codel", "pie"}
    marking = next(each for each in queues_tried(seen, NOTHING) if each.discipline == "pie")
    written = table_of(seen, Known(mix=[("cubic", 100.0)]), marking)
    assert [(each["congestion"], each["ecn"]) for each in written["flows"]] == [
        ("cubic-linux(hystart)", "classic")  # as without --mix
    ]
    assert written["bottleneck"]["queue"] == {"discipline": "pie", "ecn": True}
    assert table_of(seen, NOTHING)["bottleneck"]["queue"] == MARKING.discipline
    share = captured_values(seen)["marks"]
    assert share is not None and 5e-4 < share < 2e-2
    text = " ".join(str(seen).split())
    echoed = "receivers echo marks from beyond" in text
    assert echoed == (place == "senders") and f"{int(seen.flows['ce_packets'].sum())} marked on" in text


def test_flows_with_and_without_ecn_are_groups_of_their_own(tmp_path: Path) -> None:
    groups = [{"count": 3, "rtt": "30 ms", "ecn": "classic"}, {"count": 2, "rtt": "32 ms"}]
    seen = captured(tmp_path, "receivers", groups, **FQ_CODEL)
    written = table_of(seen, Known(mix=[("reno", 100.0)]))["flows"]
    assert [(each["name"], each["count"], each.get("ecn")) for each in written] == [
        ("long", 2, None),
        ("long-ecn", 3, "classic"),
    ]


def test_a_fifo_that_drops_what_is_capable_is_tried_as_one(tmp_path: Path) -> None:
    seen = captured(tmp_path, "senders", [{"count": 3, "rtt": "30 ms", "ecn": "classic"}], buffer="40 ms")
    assert not marked(seen.long) and captured_values(seen)["marks"] == 0.0
    assert next(queues_tried(seen, NOTHING)).discipline == "fifo"


def test_l4s_flows_have_a_control_of_their_own(tmp_path: Path) -> None:
    link = {"buffer": "1000 packets", "queue": "dualpi2"}
    seen = captured(tmp_path, "senders", [{"count": 2, "rtt": "30 ms", "congestion": "prague"}], **link)
    assert any("2 long flows are L4S (ECT(1))" in each for each in seen.doubts)
    for control, ecn in [("prague", None), ("dctcp", "l4s"), ("reno", None)]:
        (written,) = table_of(seen, Known("15 Mbps", mix=[(control, 100.0)]))["flows"]
        assert (written["congestion"], written.get("ecn")) == (control, ecn)
