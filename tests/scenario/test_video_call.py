"""Video calls: what the plan says, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from bufferlab.errors import InputError
from bufferlab.plan import lower
from bufferlab.scenario import Scenario

from .conftest import Make

MS = 10**9


def call(make: Make, **keys: object) -> dict[str, Any]:
    scenario = make({"flows.short.application": {"kind": "video-call", **keys}})
    found: dict[str, Any] = lower(scenario)["groups"][0]["source"]
    return found


def test_a_call_needs_no_key(make: Make) -> None:
    assert call(make) == {
        "kind": "video_call",
        "min_bps": 150_000,
        "start_bps": 300_000,
        "max_bps": 2_500_000,
        "frame_ps": 33_333_333_333,
        "deviation": 0.15,
        "packet_bytes": 1228,
        "header_bytes": 40,
        "report_ps": 100 * MS,
        "report_bytes": 80,
    }


def test_a_call_may_have_other_rates_frames_and_reports(make: Make) -> None:
    plan = call(make, min_rate="50 kbps", start_rate="1 Mbps", max_rate="4 Mbps", fps=25, report="50 ms")
    assert (plan["min_bps"], plan["start_bps"], plan["max_bps"]) == (50_000, 1_000_000, 4_000_000)
    assert (plan["frame_ps"], plan["report_ps"]) == (40 * MS, 50 * MS)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"max_rat": "1 Mbps"}, "application.max_rat: is not a known key (did you mean 'max_rate'?)"),
        ({"max_rate": "200 kbps"}, "start_rate: '300 kbps' is out of bounds; accepted: 150 kbps to 200 kbps"),
        ({"min_rate": "3 Mbps"}, "application.min_rate: '3 Mbps' is out of bounds"),
        ({"max_rate": "2 Gbps"}, "application.max_rate: '2 Gbps' is out of bounds"),
        ({"fps": 0}, "application.fps: 0"),
        ({"variation": 1.5}, "application.variation: 1.5"),
        ({"packet": "120 B"}, "application.packet: '120 B' has no room beside the headers"),
    ],
)
def test_refused(make: Make, keys: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        call(make, **keys)
    assert message in str(caught.value)


def test_tcp_keys_mean_nothing_to_a_call_and_its_reports_may_wait_on_the_way_back(make: Make) -> None:
    with pytest.raises(InputError, match="means nothing to a video-call application"):
        make({"flows.short.application": {"kind": "video-call"}, "flows.short.congestion": "cubic"})
    link = {"rate": "10 Mbps", "delay": "1 ms", "buffer": "50 packets"}
    links = [{"name": name, **link} for name in ("there", "back")]
    ways = {"path": ["there"], "reverse_path": ["back"]}
    flow = {"rtt": "20 ms", **ways, "application": {"kind": "video-call"}}
    scenario = Scenario.from_dict({"run": {"duration": "10 s"}, "links": links, "flows": [flow]})
    assert lower(scenario)["groups"][0]["reverse"] == [1]


def test_a_word_of_plain_speech_names_it(make: Make) -> None:
    with pytest.raises(InputError, match=r"did you mean \{ ?kind = ['\"]video-call['\"] ?\}\?"):
        make({"flows.short.application": "webrtc"})
