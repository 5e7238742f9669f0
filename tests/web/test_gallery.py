"""The page's gallery shows what is recorded of the documents, and scenarios that can be run."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from typing import Any, Final

import pytest

import bufferlab

from .engine import ROOT

MADE: Final[list[dict[str, Any]]] = json.loads((ROOT / "web" / "gallery" / "figures.json").read_text())
FIGURES: Final = [pytest.param(each, id=each["name"]) for document in MADE for each in document["figures"]]


def test_it_is_what_its_file_the_claims_and_the_recorded_points_give() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "gallery.py"), "--check"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_each_document_of_the_stories_has_figures() -> None:
    stories = [tomllib.loads(path.read_text()) for path in (ROOT / "web" / "stories").glob("*.toml")]
    assert len(MADE) == len(stories) == 5
    for document in MADE:
        assert any(document["title"] in each["document"] for each in stories), document["title"]
        assert document["figures"]


@pytest.mark.parametrize("figure", FIGURES)
def test_a_figure_has_what_it_is_compared_with_and_scenarios(figure: dict[str, Any]) -> None:
    assert len(figure["lines"]) >= 2 or figure["published"]
    assert sum(each["count"] for each in figure["verdicts"]) > 0
    explained = sum(len(each["points"]) for each in figure["reasons"])
    assert explained == sum(each["count"] for each in figure["verdicts"] if each["verdict"] != "agrees")
    assert all(len(each["why"]) > 20 for each in figure["reasons"])
    assert 2 <= len(figure["variants"]) <= 4
    for variant in figure["variants"]:
        scenario = bufferlab.Scenario.from_toml(variant["text"])
        assert scenario.run["name"] == variant["name"]
    assert len({each["text"] for each in figure["variants"]}) == len(figure["variants"])


def test_a_variant_is_the_point_that_the_claims_file_has() -> None:
    (figure,) = (each for document in MADE for each in document["figures"] if each["of"] == "splitbuff/fig1")
    buffers = [
        bufferlab.Scenario.from_toml(each["text"]).links[0]["buffer"]["text"] for each in figure["variants"]
    ]
    assert buffers == ["311 packets", "1249 packets", "3749 packets"]
