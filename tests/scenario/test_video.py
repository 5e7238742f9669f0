"""Adaptive video: what the plan says, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from bufferlab.errors import InputError
from bufferlab.plan import lower

from .conftest import Make

S = 10**12


def video(make: Make, **keys: object) -> dict[str, Any]:
    scenario = make({"flows.short.application": {"kind": "video", **keys}, "flows.short.stack": "linux"})
    found: dict[str, Any] = lower(scenario)["groups"][0]["source"]["video"]
    return found


def test_a_video_needs_no_key(make: Make) -> None:
    plan = video(make)
    assert plan == {
        "segment_ps": 4 * S,
        "ladder_bps": [1000 * kbps for kbps in (200, 400, 600, 800, 1000, 1500, 2500, 4000, 8000, 12_000)],
        "buffer_ps": 30 * S,
        "startup_ps": 4 * S,
        "resume_ps": 4 * S,
        "rule": "throughput",
        "safety": 0.9,
        "after_idle": "decay",
    }


def test_start_and_resumption_are_a_segment_unless_given(make: Make) -> None:
    plan = video(make, segment="2 s", resume="6 s")
    assert (plan["startup_ps"], plan["resume_ps"]) == (2 * S, 6 * S)
    assert video(make, rule="bola", ladder=["1 Mbps"])["ladder_bps"] == [1_000_000]


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"rul": "bola"}, "application.rul: is not a known key (did you mean 'rule'?)"),
        ({"rule": "bolla"}, "application.rule: 'bolla' is not a known word (did you mean 'bola'?)"),
        ({"ladder": []}, "application.ladder: 0 is too short or too long; accepted: 1 to 100 rates"),
        (
            {"ladder": ["2 Mbps", "1 Mbps"]},
            "ladder: '1 Mbps' does not grow; accepted: rates that grow: above 2",
        ),
        ({"ladder": ["2 MB"]}, "application.ladder[0]: '2 MB' has a wrong unit"),
        ({"segment": "1 ms"}, "application.segment: '1 ms' is too small"),
        ({"buffer": "3 s"}, "application.buffer: '3 s' holds no segment; accepted: at least a segment's 4 s"),
        ({"startup": "31 s"}, "application.startup: '31 s' is more than the buffer holds"),
        ({"resume": "31 s"}, "application.resume: '31 s' is more than the buffer holds"),
        ({"safety": 0}, "application.safety: '0' leaves nothing"),
        ({"safety": 1.5}, "application.safety: 1.5"),
    ],
)
def test_refused(make: Make, keys: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as caught:
        video(make, **keys)
    assert message in str(caught.value)


def test_a_kind_that_is_nearly_right_is_named(make: Make) -> None:
    with pytest.raises(InputError, match=r'did you mean \{ kind = "video" \}\?'):
        make({"flows.short.application": "vidio"})
