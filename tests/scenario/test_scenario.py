from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bufferlab.errors import InputError
from bufferlab.scenario import Scenario

from .conftest import Make

S = 10**12


def test_defaults(make: Make) -> None:
    scenario = make()
    assert scenario.run["warmup_ps"] == 20 * S
    assert (scenario.run["seed"], scenario.run["stack"], scenario.title) == (1, "rfc", "scenario")
    link, flow = scenario.links[0], scenario.flows[0]
    assert (link["rate_bps"], link["delay_ps"], link["loss"]) == (10**8, 10**9, 0.0)
    assert link["queue"] == {"discipline": "fifo"}
    assert (flow["count"], flow["path"], flow["reverse_path"]) == (1, ["west"], [])
    assert flow["tcp"] is not None and flow["tcp"]["jitter"] is None


def test_short_form_is_a_link_called_bottleneck(table: dict[str, Any]) -> None:
    link = table.pop("links")[0]
    del link["name"]
    scenario = Scenario.from_dict({**table, "bottleneck": link})
    assert [link["name"] for link in scenario.links] == ["bottleneck"]
    assert scenario.flows[0]["path"] == ["bottleneck"]


def test_names_are_given_where_they_are_missing(table: dict[str, Any]) -> None:
    del table["links"][0]["name"], table["flows"][1]["name"]
    scenario = Scenario.from_dict(table)
    assert scenario.links[0]["name"] == "link0"
    assert [flow["name"] for flow in scenario.flows] == ["short", "flows1"]
    assert scenario.flows[1]["path"] == ["link0"]


def test_toml_json_and_dictionaries_give_the_same_scenario(tmp_path: Path, table: dict[str, Any]) -> None:
    from_dict = Scenario.from_dict(table)
    (tmp_path / "a.json").write_text(json.dumps(table))
    (tmp_path / "a.toml").write_text(from_dict.to_toml())
    (tmp_path / "a").write_text(json.dumps(table))
    for name in ("a.json", "a.toml", "a"):
        loaded = Scenario.load(tmp_path / name)
        assert loaded.to_dict() == from_dict.to_dict()
        assert loaded.flows == from_dict.flows
        assert loaded.file == str(tmp_path / name)
        assert loaded.title == "a"


def test_numpy_numbers_are_numbers(table: dict[str, Any]) -> None:
    table["flows"][1]["count"] = np.int64(5)
    table["links"][0]["loss"] = np.float64(0.5)
    scenario = Scenario.from_dict(table)
    assert scenario.flows[1]["count"] == 5
    assert type(scenario.links[0]["loss"]) is float


def test_a_byte_order_mark_and_windows_line_ends_are_fine(tmp_path: Path, table: dict[str, Any]) -> None:
    text = Scenario.from_dict(table).to_toml().replace("\n", "\r\n")
    (tmp_path / "a.toml").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert Scenario.load(tmp_path / "a.toml").to_dict() == table


def test_the_file_is_stored_as_given(tmp_path: Path, table: dict[str, Any]) -> None:
    text = "# a comment\n" + Scenario.from_dict(table).to_toml()
    (tmp_path / "a.toml").write_text(text)
    scenario = Scenario.load(tmp_path / "a.toml")
    assert scenario.to_toml() == text
    changed = scenario.with_overrides({"run.duration": "50 s"})
    assert Scenario.from_toml(changed.to_toml()).run["duration_ps"] == 50 * S
    assert scenario.run["duration_ps"] == 100 * S


def test_json_with_null_becomes_toml(table: dict[str, Any]) -> None:
    table["run"]["warmup"] = None
    scenario = Scenario.from_json(json.dumps(table))
    assert "warmup" not in tomllib.loads(scenario.to_toml())["run"]


def test_changing_the_dictionary_later_changes_nothing(table: dict[str, Any]) -> None:
    scenario = Scenario.from_dict(table)
    table["flows"][0]["count"] = 9
    scenario.to_dict()["run"] = {}
    assert scenario.to_dict()["flows"] == Scenario.from_dict(scenario.to_dict()).to_dict()["flows"]
    assert "count" not in str(scenario.to_dict()["flows"]).split("long", maxsplit=1)[0]


def test_what_is_no_path_is_reported() -> None:
    with pytest.raises(InputError, match="path: None is no path; accepted: the path of a TOML or JSON file"):
        Scenario.load(None)  # type: ignore[arg-type]
