from __future__ import annotations

import re
from typing import Any

import pytest

from bufferlab.errors import InputError
from bufferlab.plan import lower
from bufferlab.scenario import Scenario, parse_value, split_override

from .conftest import Make


@pytest.fixture
def make(table: dict[str, Any]) -> Make:
    """Make the dumbbell with overrides."""

    def build(overrides: dict[str, object] | None = None) -> Scenario:
        return Scenario.from_dict(table).with_overrides(overrides or {})

    return build


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("10", 10),
        ("0.5", 0.5),
        ("true", True),
        ("10 Mbps", "10 Mbps"),
        ("'10 Mbps'", "10 Mbps"),
        ('"10"', "10"),
        ("fifo", "fifo"),
        ("['west', 'east']", ["west", "east"]),
        ("{kind = 'transfer', bytes = '2 MB'}", {"kind": "transfer", "bytes": "2 MB"}),
        ("", ""),
        ("1\nb = 2", "1\nb = 2"),
        ("[" * 5000, "[" * 5000),
        ("2024-01-01", "2024-01-01"),
    ],
)
def test_values(text: str, value: object) -> None:
    assert parse_value(text) == value


@pytest.mark.parametrize(
    "path", ["flows.short.count", "flows[0].count", "flows.0.count", " flows . short . count "]
)
def test_paths_name_or_count_items(make: Make, path: str) -> None:
    scenario = make({path: "7"})
    assert scenario.flows[0]["count"] == 7
    assert scenario.flows[1]["count"] == 3
    assert scenario.overrides == {path: "7"}


def test_missing_tables_are_made(make: Make) -> None:
    scenario = make({"probes.interval": "10 ms", "flows.long.application.kind": "bulk"})
    assert scenario.probes is not None
    assert scenario.probes["interval_ps"] == 10**10


def test_links_may_be_called_by_their_names_in_both_forms(table: dict[str, Any]) -> None:
    link = table["links"][0]
    link["name"] = "bottleneck"
    long_form = Scenario.from_dict(table)
    short_form = Scenario.from_dict({"run": table["run"], "flows": table["flows"], "bottleneck": link})
    unnamed = Scenario.from_dict({**short_form.to_dict(), "bottleneck": {"rate": "1 bps", "buffer": "1 B"}})
    for path in ("links.bottleneck.rate", "links[0].rate", "links.0.rate", "bottleneck.rate"):
        for scenario in (long_form, short_form, unnamed):
            assert scenario.with_overrides({path: "1 Gbps"}).links[0]["rate_bps"] == 10**9


def test_default_names_can_be_used(table: dict[str, Any]) -> None:
    del table["flows"][1]["name"], table["links"][0]["name"]
    scenario = Scenario.from_dict(table).with_overrides(
        {"flows.flows1.count": 4, "links.link0.rate": "1 Mbps"}
    )
    assert (scenario.flows[1]["count"], scenario.links[0]["rate_bps"]) == (4, 10**6)


def test_overrides_add_up_and_later_ones_win(make: Make) -> None:
    scenario = make({"run.seed": 2, "run.duration": "9 s"}).with_overrides({"run.seed": 3})
    assert scenario.overrides == {"run.seed": 3, "run.duration": "9 s"}
    assert (scenario.run["seed"], scenario.run["duration_ps"]) == (3, 9 * 10**12)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("flows.shrt.count", "--set: flows.shrt.count: names nothing called 'shrt'; accepted: short, long"),
        ("flows[2].count", "has no item 2; accepted: 0 to 1"),
        ("flows.count", "names nothing called 'count'"),
        ("run.duration.s", "leads into a value that is no table, before 's'"),
        ("", "is not a path"),
        ("run..seed", "is not a path"),
        ("flows[x].count", "is not a path"),
        ("flows[-1].count", "is not a path"),
        ("run." * 200, "is not a path"),
    ],
)
def test_refused_paths(make: Make, path: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        make({path: "1"})
    assert message in str(caught.value)


def test_a_queue_in_one_word_takes_parameters(make: Make) -> None:
    scenario = make({"links.west.queue": "codel"}).with_overrides({"links.west.queue.target": "10 ms"})
    assert scenario.links[0]["queue"]["target_ps"] == 10**10
    both = make().with_overrides({"links[0].queue": "fq_codel", "links[0].queue.quantum": "300 B"})
    assert both.links[0]["queue"]["quantum_bytes"] == 300
    weighted = make({"links.west.queue": "splitbuff-weighted"})
    changed = weighted.with_overrides({"links.west.queue.sub_buffers": "3"}).links[0]["queue"]
    assert changed == weighted.links[0]["queue"] | {"sub_buffers": 3}
    with pytest.raises(InputError, match=r"links\.west\.queue\.target: is not a known key"):
        make({"links.west.queue": "fifo"}).with_overrides({"links.west.queue.target": "10 ms"})


@pytest.mark.parametrize(
    ("path", "where"),
    [
        ("links[0].ecn", 'a link\'s queue has it, such as queue = { discipline = "codel", ecn = true }'),
        ("flows[0].queue", "links have it: bottleneck.queue"),
        ("run.rtt", "groups of flows have it: flows[0].rtt"),
        ("links[0].warmup", "the run has it: run.warmup"),
    ],
)
def test_a_key_of_another_table_says_where_it_is(make: Make, path: str, where: str) -> None:
    with pytest.raises(InputError, match=re.escape(f"{path}: is not a known key ({where}); accepted: ")):
        make({path: "true"})


def test_a_path_that_leads_nowhere_hides_no_other_mistake(make: Make) -> None:
    changes = {"flows[7].rtt": "1 s", "links.nowhere.rate": "1 Mbps", "run.seed": "-1", "run.stack": "linus"}
    with pytest.raises(InputError) as error:
        make().with_overrides(changes)
    lines = str(error.value).splitlines()
    assert [line.removeprefix("--set: ").partition(": ")[0] for line in lines] == list(changes)


def test_the_only_item_of_a_list_is_named(make: Make) -> None:
    scenario = make().with_overrides({"flows": [{"rtt": "40 ms"}]})
    with pytest.raises(InputError, match="has no item 1; accepted: 0, the only item"):
        scenario.with_overrides({"flows[1].rtt": "1 s"})


def test_refused_values_name_the_path_as_it_was_written(make: Make) -> None:
    for path in ("links.west.rate", "links.0.rate", "links[0].rate"):
        with pytest.raises(InputError, match=rf"^--set: {re.escape(path)}: '10' has no unit"):
            make({path: "'10'"})
    with pytest.raises(InputError, match=r"^--set: flows\.short\.start: '100 s' starts no flow"):
        lower(make({"flows.short.start": "100 s"}))
    with pytest.raises(InputError, match=r"--set: run\.seed: <object object.* is not a value of a scenario"):
        make({"run.seed": object()})


def test_another_name_of_the_short_form(table: dict[str, Any]) -> None:
    scenario = Scenario.from_dict(
        {"run": table["run"], "flows": table["flows"], "bottleneck": table["links"][0]}
    )
    with pytest.raises(InputError, match="names no link 'east'; accepted: west"):
        scenario.with_overrides({"links.east.rate": "1 Mbps"})


def test_splitting() -> None:
    assert split_override("a.b = c=d") == ("a.b", "c=d")
    for text in ("a.b", "=1", ""):
        with pytest.raises(InputError, match="path=value"):
            split_override(text)


def test_a_table_can_be_taken_away() -> None:
    scenario = Scenario.from_dict(
        {
            "run": {"duration": "1 s"},
            "bottleneck": {"rate": "1 Mbps", "delay": "1 ms", "buffer": "5 packets"},
            "flows": [{"rtt": "10 ms"}],
            "probes": {"interval": "10 ms"},
        }
    )
    assert scenario.with_overrides({"probes": None}).probes is None
    assert "probes" not in scenario.with_overrides({"probes": None}).to_toml()
