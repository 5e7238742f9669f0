"""The resolved form: what a scenario means, and what a seed settles of it."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any, Final, get_args, get_type_hints

import pytest

from bufferlab import _scenario_types as types
from bufferlab.plan import NEVER_PS, lower
from bufferlab.resolved import key_of
from bufferlab.scenario import QUEUE_WORDS, Scenario

ROOT: Final = Path(__file__).parents[2]
EXAMPLES: Final = sorted((ROOT / "examples").glob("*.toml"))

READS_PLANS: Final = {
    "plan.py",
    "experiment/simulation.py",  # hands it to the engine
    "experiment/memory.py",  # estimates what a recording takes, before the engine begins
    "results/transfers.py",  # what was drawn for each flow
    "kernel/applications.py",  # gives what of it flows do to a real kernel
    "kernel/captures.py",  # whose packets a capture of a kernel has
    "kernel/hosts.py",  # which addresses flows have
    "kernel/job.py",  # gives it to a real kernel in the engine's place
    "kernel/own.py",
    "kernel/outcome.py",
    "kernel/refusals.py",
    "kernel/witnessed.py",  # the groups that are captured, and whose place a program takes
    "evidence/captures/seen.py",  # the true depth of the buffer
    "evidence/ns2/equivalent.py",  # changes it into ns-2's
    "evidence/ns2/measure.py",
}
"""The modules that may know keys of plans."""

PIE_IN_PLANS = {"update_ps": "t_update_ps", "burst_ps": "max_burst_ps"}
"""What plans call PIE's parameters where scenarios have other words."""


def dumbbell(**link: Any) -> Scenario:
    return Scenario.from_dict(
        {
            "run": {"duration": "10 s", "seed": 5},
            "bottleneck": {"rate": "10 Mbps", "buffer": "1 bdp", **link},
            "flows": [{"rtt": "uniform(20 ms, 200 ms)", "count": 3}],
        }
    )


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_a_seed_settles_what_the_plan_has(path: Path) -> None:
    seeded = Scenario.load(path).seeded(7)
    plan, resolved = lower(Scenario.load(path), 7), seeded.resolved
    assert (resolved["run"]["seed"], resolved["run"]["duration_ps"]) == (7, plan["duration_ps"])
    for link, planned in zip(resolved["links"], plan["links"], strict=True):
        assert link["buffer"]["limit"] == planned["discipline"]["limit"]
        assert link["queue"]["discipline"] == planned["discipline"]["kind"]
        chosen = {"discipline", *(key for key, value in planned["discipline"].items() if value is None)}
        names = PIE_IN_PLANS if "pie" in link["queue"]["discipline"] else {}
        parameters = {names.get(key, key): value for key, value in link["queue"].items() if key not in chosen}
        assert parameters.items() <= planned["discipline"].items()
    for drawn, index in zip(seeded.draws, range(len(plan["groups"])), strict=True):
        of_group = [flow for flow, group in enumerate(plan["flows"]["group"]) if group == index]
        assert drawn["start_ps"] == [plan["flows"]["start_ps"][flow] for flow in of_group]
        stops_ps = [plan["flows"]["stop_ps"][flow] for flow in of_group]
        assert (drawn["stop_ps"] or [NEVER_PS] * len(of_group)) == stops_ps


@pytest.mark.parametrize("word", sorted({str(table["discipline"]) for table in QUEUE_WORDS.values()}))
def test_a_queue_s_parameters_have_the_names_of_its_keys(word: str) -> None:
    queue = dumbbell(queue=word).resolved["links"][0]["queue"]
    (keys,) = (
        set(table.__annotations__)
        for table in get_args(types.QueueDict)
        if get_args(get_type_hints(table)["discipline"]) == (word,)
    )
    assert {key_of(name) for name in queue} == keys


def test_nothing_else_depends_on_the_seed() -> None:
    scenario = dumbbell()
    plain, settled = scenario.resolved, scenario.seeded().resolved
    assert plain["links"][0]["buffer"]["limit"] is None
    assert plain["links"][0]["packet_bytes"] is None
    assert settled["run"] == plain["run"]
    assert (settled["flows"], settled["probes"]) == (plain["flows"], plain["probes"])


def test_a_buffer_in_words_is_that_of_the_flows_drawn() -> None:
    first, second = (dumbbell().seeded(seed) for seed in (1, 2))
    limits = [seeded.resolved["links"][0]["buffer"]["limit"] for seeded in (first, second)]
    assert limits[0] != limits[1]
    mean_s = sum(first.draws[0]["rtt_ps"]) / 3 / 1e12
    packet_bytes = first.resolved["links"][0]["packet_bytes"]
    assert packet_bytes == 1500
    assert limits[0] == {"packets": round(10e6 * mean_s / 8 / packet_bytes)}


def test_changes_and_marks_are_sized_too() -> None:
    link = (
        dumbbell(mark_above="1 ms", changes=[{"at": "5 s", "buffer": "12 ms"}]).seeded().resolved["links"][0]
    )
    assert link["mark_above"] is not None
    assert link["mark_above"]["limit"] == {"packets": 1}
    changed = link["changes"][0]["buffer"]
    assert changed is not None
    assert changed["limit"] == {"packets": 10}
    red = dumbbell(queue={"discipline": "red", "min_threshold": "12 ms", "max_threshold": "24 ms"})
    queue = red.seeded().resolved["links"][0]["queue"]
    assert (queue["min_threshold"], queue["max_threshold"]) == ({"packets": 10}, {"packets": 20})


def test_everything_is_there_with_its_default(tmp_path: Path) -> None:
    (tmp_path / "rtts.csv").write_text("rtt_ms,weight\n20,1\n40,3\n")
    (tmp_path / "named.toml").write_text(
        "[run]\nduration = '5 s'\nstack = 'linux'\n[bottleneck]\nrate = '12 Mbps'\nbuffer = '9 packets'\n"
        "queue = 'red'\n[[flows]]\nrtt = 'choice(10 ms, 20 ms: 3)'\n[[flows]]\nrtt = 'empirical(rtts.csv)'\n"
        "stack = 'rfc'\n[[flows]]\nrtt = '9 ms'\napplication = { kind = 'ping', interval = '1 s' }\n"
    )
    scenario = Scenario.load(tmp_path / "named.toml")
    assert scenario.run["name"] == scenario.seeded().resolved["run"]["name"] == "named"
    assert [flow["stack"] for flow in scenario.flows] == ["linux", "rfc", None]
    assert [flow["rtt"].get("weights") for flow in scenario.flows] == [[1, 3], [1, 3], None]
    queue = scenario.seeded().resolved["links"][0]["queue"]
    # S. Floyd, R. Gummadi, S. Shenker, 2001, section 4: 1 - exp(-1/C), with C packets a second
    assert queue["weight"] == pytest.approx(-math.expm1(-1500 * 8 / 12e6))
    assert queue["target_delay_ps"] == 5 * 10**9
    given = {"discipline": "red", "min_threshold": "5 packets", "weight": 0.5}
    changed = scenario.with_overrides({"bottleneck.queue": given}).seeded().resolved["links"][0]["queue"]
    assert (changed["weight"], changed["target_delay_ps"]) == (0.5, None)
    delayed = scenario.with_overrides({"bottleneck.queue": {"discipline": "red", "target_delay": "8 ms"}})
    assert delayed.seeded().resolved["links"][0]["queue"]["target_delay_ps"] == 8 * 10**9


def test_only_few_modules_know_keys_of_plans() -> None:
    package = ROOT / "python" / "bufferlab"
    reads = re.compile(r"\bplan(\[|\.get\()")
    found = {
        str(path.relative_to(package)) for path in package.rglob("*.py") if reads.search(path.read_text())
    }
    assert found <= READS_PLANS
