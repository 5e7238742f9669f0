"""The stories' numbers are those of their runs, and their files are complete."""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any, Final

import pytest

import bufferlab

from .engine import ROOT

FILES: Final = sorted((ROOT / "web" / "stories").glob("*.toml"))
STEPS: Final = [
    pytest.param(story, step, id=f"{path.stem}-{number}")
    for path in FILES
    for story in [tomllib.loads(path.read_text())]
    for number, step in enumerate(story["steps"], 1)
]
SCALES: Final = {
    ("fraction", "%"): 100,
    ("ms", "ms"): 1,
    ("ms", "s"): 1e-3,
    ("s", "ms"): 1000,
    ("s", "s"): 1,
    ("bps", "Mbps"): 1e-6,
    ("mos", "MOS"): 1,
}


def test_each_document_has_a_story() -> None:
    assert [path.stem for path in FILES] == ["1-home", "2-buffer", "3-root", "4-kinds", "5-split"]


def value(summary: dict[str, Any], of: str, metric: str) -> float:
    """A metric of a group, at the only link where it is one of queues."""
    rows = [
        row
        for table in ("queues", "flows", "latency")
        for row in summary[table]
        if metric in row and row["group"] == of
    ]
    found: list[float] = [row[metric] for row in rows]
    assert len(found) == 1, f"{metric} of {of}"
    return found[0]


@pytest.mark.parametrize(("story", "step"), STEPS)
def test_a_lesson_says_what_its_runs_give(story: dict[str, Any], step: dict[str, Any]) -> None:
    assert 0 <= step["right"] < len(step["choices"])
    assert step["numbers"], "an answer rests on a run"
    text = " ".join(step["answer"].split())
    summaries: dict[int, dict[str, Any]] = {}
    for number in step["numbers"]:
        assert number["says"] in text
        variant = number["variant"]
        if variant not in summaries:
            overrides = step["variants"][variant].get("set", {})
            summaries[variant] = bufferlab.run(
                tomllib.loads(step.get("scenario", story["scenario"])), overrides=overrides
            ).summary()
        match = re.fullmatch(r"([\d.]+) (\S+)", number["says"])
        assert match
        digits, unit = match.groups()
        kind = number["metric"].rsplit("_", 1)[-1]
        scale = SCALES[kind if kind in {"ms", "s", "bps", "mos"} else "fraction", unit]
        measured = scale * value(summaries[variant], number["of"], number["metric"])
        half_a_digit = 0.5 * 10 ** -len(digits.partition(".")[2])
        assert abs(measured - float(digits)) <= half_a_digit * 1.001, f"{number} is {measured}"


def beginning(name: str, step: int, variant: int, until: str) -> dict[str, Any]:
    """What the first moments of a lesson's run came to, which its table leaves out."""
    (story,) = (tomllib.loads(path.read_text()) for path in FILES if path.stem == name)
    lesson = story["steps"][step]
    overrides = lesson["variants"][variant].get("set", {}) | {"run.warmup": "0 s", "run.duration": until}
    return bufferlab.run(
        tomllib.loads(lesson.get("scenario", story["scenario"])), overrides=overrides
    ).summary()


def test_what_texts_say_of_the_first_moments_is_so() -> None:
    for until, timeouts in (("1 s", 0), ("1.5 s", 1)):  # three packets are lost, and a timeout waited for
        almost_none = beginning("2-buffer", 0, 0, until)
        assert value(almost_none, "all", "dropped_packets") == 3
        assert value(almost_none, "transfer", "timeouts") == timeouts
    small, whole = (beginning("3-root", 0, variant, "30 s") for variant in (0, 1))  # half a minute to climb
    assert value(small, "all", "utilization") < 0.7
    assert value(whole, "all", "utilization") > 0.9
    for variant in (0, 1, 2):
        assert value(beginning("4-kinds", 2, variant, "2 s"), "all", "dropped_packets") > 2000
    split = tomllib.loads(FILES[-1].read_text())["scenario"]
    starts_ps = json.loads(bufferlab.Scenario.from_toml(split).seeded().plan_json())["flows"]["start_ps"]
    assert 10**12 < min(starts_ps) < 1.5 * 10**12
    assert max(starts_ps) < 5 * 10**12
