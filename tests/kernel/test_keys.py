"""Every key of a scenario is given to the kernel, refused by name, or said to be the kernel's own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest

from bufferlab.errors import InputError
from bufferlab.kernel import refusals
from bufferlab.kernel.job import job_of
from bufferlab.kernel.keys import KEYS, Fate, becomes
from bufferlab.kernel.own import kernels_own
from bufferlab.kernel.refusals import _link
from bufferlab.plan import lower
from bufferlab.scenario import Scenario

PARTS: Final = json.loads((Path(__file__).parents[2] / "docs" / "scenario.schema.json").read_text())["$defs"]

MORE: Final[Mapping[str, list[object]]] = {
    "warmup": ["10 s"],
    "reverse_path": [["bottleneck"]],
    "min_rto": ["300 ms"],
    "ack_delay": ["100 ms"],
    "initial_window": [45, 46],
    "window": ["auto", "auto(16 MiB)", "1 MB"],
    "loss": [0.01],
    "mark_above": ["20 packets"],
    "host": ["linux-10g"],
    "alpha": [0.25, 0.1],
    "beta": [1.5, 0.1],
}
"""Values that the schema has no examples of."""

WITH: Final[Mapping[str, Mapping[str, object]]] = {
    "fast_convergence": {"congestion": "bic"},
    "min_rto": {"rto_margin": "300 ms"},
    "rtt_spread": {"count": 3},
    "stated_rtt": {"window": "16 MiB"},
    "after_idle": {"application": {"kind": "on-off", "size": "1 MB", "off": "1 s"}},
}
"""What else a key needs to show."""


QUEUES: Final[Mapping[str, Mapping[str, object]]] = {"Red": {"gentle": False, "weight": 2**-9}}
"""What a discipline needs to be the kernel's."""


TABLE: Final[Mapping[str, Any]] = {
    "run": {"duration": "40 s", "warmup": "5 s", "stack": "linux"},
    "bottleneck": {"rate": "12 Mbps", "buffer": "100 packets"},
    "flows": [{"name": "bulk", "rtt": "50 ms", "congestion": "reno"}],
}
"""A scenario that a kernel takes."""


class Seen(NamedTuple):
    """What became of a scenario."""

    plan: object
    job: object
    own: tuple[str, ...]
    refused: tuple[str, ...]


def values(schema: Mapping[str, Any]) -> Iterator[object]:
    """Some values that a key may have."""
    for example in schema.get("examples", ()):
        yield from (example, re.sub(r"\d+", lambda number: str(2 * int(number[0])), str(example)))
    yield from schema.get("enum", ())
    if schema.get("type") == "boolean":
        yield from (True, False)
    if schema.get("type") == "integer":
        yield from (1, 3, 7)
    if schema.get("type") == "number":
        yield from (0.25, 0.125)
    for part in schema.get("anyOf", ()):
        yield from values(part)


def seen(link: Mapping[str, Any], flow: Mapping[str, Any], run: Mapping[str, Any] | None = None) -> Seen:
    """What becomes of a scenario in the kernel.

    Raises:
        InputError: It is no scenario.
    """
    table = {
        "run": TABLE["run"] | (run or {}),
        "bottleneck": TABLE["bottleneck"] | link,
        "flows": [TABLE["flows"][0] | flow],
    }
    plan = lower(Scenario.from_dict(table))
    try:
        return Seen(plan, job_of(plan), tuple(kernels_own(plan)), ())
    except InputError as error:
        return Seen(plan, None, (), tuple(str(each.key) for each in (error, *error.others)))


def trials(part: str, key: str) -> Iterator[tuple[Seen, Seen]]:
    """The scenario without a key and with some of its values."""
    schema = PARTS[part]["properties"][key]
    for value in [*values(schema), *MORE.get(key, [])]:
        extra = WITH.get(key, {}) if part == "Flow" else {}
        word = PARTS[part]["properties"].get("discipline", {}).get("const")
        queue = {"discipline": word, **QUEUES.get(part, {})}
        cases: dict[str, tuple[dict[str, Any], ...]] = {
            "Link": ({key: value}, {}),
            "Flow": ({}, {**extra, key: value}),
            "Run": ({}, {}, {key: value}),
        }
        case = cases.get(part, ({"queue": queue | {key: value}}, {}))
        usual = ({"queue": queue}, {}) if word else ({}, extra)
        try:
            yield seen(*usual), seen(*case)
        except InputError:
            continue


BECOMES: Final = {part: becomes(part, keys["properties"]) for part, keys in PARTS.items()}
"""Of every part of a scenario."""


def test_no_key_is_listed_that_there_is_not() -> None:
    unknown = {part: keys.keys() - PARTS[part]["properties"].keys() for part, keys in KEYS.items()}
    assert not any(unknown.values()), unknown


def test_every_other_queue_is_refused() -> None:
    words = [
        keys["properties"]["discipline"]["const"]
        for part, keys in PARTS.items()
        if "discipline" in keys["properties"] and part not in KEYS
    ]
    assert len(words) >= 3
    for word in words:
        assert seen({"queue": word}, {}).refused == ("links.bottleneck.queue",)


def test_what_nobody_knows_of_a_queue_or_a_link_is_refused_unless_it_is_off() -> None:
    plan = lower(Scenario.from_dict(TABLE))
    (link,) = plan["links"]
    for name, value in (("news", 0), ("news", False), ("news", None), ("news", [])):
        assert not [*_link(link | {name: value})]
    (refused,) = _link(link | {"news_ps": 3_000_000_000})
    assert (refused.key, refused.value) == ("links.bottleneck.news", "3 ms")
    queue = link["discipline"] | {"news": True}
    assert [each.key for each in _link(link | {"discipline": queue})] == ["links.bottleneck.queue.news"]


def test_what_nobody_knows_of_a_queue_is_as_usual_if_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the burst were new: without a line for it the kernel has the usual one, and no other."""
    pie = {key: fate for key, fate in KEYS["Pie"].items() if key != "burst"}
    monkeypatch.setattr(refusals, "KEYS", {**KEYS, "Pie": pie})
    assert seen({"queue": "pie"}, {}).refused == ()
    other = seen({"queue": {"discipline": "pie", "burst": "100 ms"}}, {})
    assert "links.bottleneck.queue.burst" in other.refused


TRIED: Final = [
    (part, key)
    for part in ("Run", "Link", "Flow", "Codel", "FqCodel", "Pie", "Red")
    for key in BECOMES[part]
    if key not in {"changes", "application", "window_scaling", "seed"}  # below
]  # fmt: skip


@pytest.mark.parametrize(("part", "key"), TRIED)
def test_no_value_is_passed_over_in_silence(part: str, key: str) -> None:
    """Whatever changes the plan is done by the kernel, refused, or reported, unless nothing is to be done."""
    fate, _ = BECOMES[part][key]
    for usual, now in trials(part, key):
        if now.plan == usual.plan or fate is Fate.NOTHING:
            assert now.job == usual.job or now.refused
            continue
        assert now.job != usual.job or now.refused or now.own != usual.own, now.plan


@pytest.mark.parametrize(
    ("part", "key"),
    [(part, key) for part, key in TRIED if BECOMES[part][key][0] is Fate.REFUSED and key != "path"],
)
def test_what_is_refused_is_named(part: str, key: str) -> None:
    refused = [name for _, now in trials(part, key) for name in now.refused]
    assert any(name.endswith(f".{key}") for name in refused), refused


@pytest.mark.parametrize(
    ("part", "key"),
    [
        (part, key)
        for part, key in TRIED
        if BECOMES[part][key][0] is Fate.GIVEN and key not in {"stack", "discipline"}
    ],
)
def test_what_is_given_changes_the_job(part: str, key: str) -> None:
    assert any(now.job is not None and now.job != usual.job for usual, now in trials(part, key))


@pytest.mark.parametrize(
    ("part", "key"), [(part, key) for part, key in TRIED if BECOMES[part][key][0] is Fate.OWN]
)
def test_what_is_the_kernels_own_is_said(part: str, key: str) -> None:
    assert any(f"{key} is" in line for pair in trials(part, key) for each in pair for line in each.own)


def test_a_seed_draws() -> None:
    first, other = (seen({}, {"start": "uniform(0 s, 1 s)"}, {"seed": seed}).job for seed in (1, 2))
    assert first != other


def test_without_scaling_the_window_is_refused() -> None:
    assert seen({}, {"window_scaling": False}).refused == ("flows.bulk.window",)


def test_a_changing_buffer_is_refused() -> None:
    assert seen({"changes": [{"at": "9 s", "buffer": "50 packets"}]}, {}).refused == (
        "links.bottleneck.changes",
    )


def test_groups_may_not_differ_in_what_holds_for_all() -> None:
    base: dict[str, Any] = {
        "run": {"duration": "9 s", "stack": "linux"},
        "bottleneck": {"rate": "10 Mbps", "buffer": "100 packets"},
    }
    two = [
        {"name": "a", "rtt": "40 ms", "congestion": "cubic-linux(hystart)", "initial_window": 4},
        {"name": "b", "rtt": "40 ms", "congestion": "cubic"},
    ]
    with pytest.raises(InputError) as refused:
        job_of(lower(Scenario.from_dict(base | {"flows": two})))
    keys = {refused.value.key, *(other.key for other in refused.value.others)}
    assert keys == {"flows.initial_window", "flows.congestion.hystart"}


def test_the_kernels_own_settings_need_no_command() -> None:
    """What is set is what differs, so that a kernel without a setting runs what does not need it."""
    commands = json.dumps(seen({}, {}).job)
    assert not [word for word in ("initcwnd", "rto_min", "quickack", "paced") if word in commands]
    given = {
        "initial_window": 4,
        "min_rto": "300 ms",
        "rto_margin": "300 ms",
        "delayed_ack": False,
        "paced": True,
    }
    commands = json.dumps(seen({}, given).job)
    for words in ("via 10.0.0.1 initcwnd 4 rto_min 300ms", "via 10.1.0.1 quickack 1", '"paced": true'):
        assert words in commands
