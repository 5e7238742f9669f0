"""The laboratory in a notebook: what the widget holds, and that a browser shows it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bufferlab
from bufferlab.web import PAGE, widget

from .engine import CHROMIUM, NODE
from .test_page import LACKS, static_server

SCENARIO = {
    "run": {"name": "small", "duration": "4 s", "warmup": "1 s"},
    "bottleneck": {"rate": "10 Mbps", "delay": "2 ms", "buffer": "40 packets"},
    "flows": [{"name": "near", "count": 2, "rtt": "20 ms"}],
}

pytestmark = pytest.mark.skipif(bool(LACKS), reason=LACKS)


def test_a_widget_holds_its_scenarios_and_the_engine() -> None:
    pytest.importorskip("anywidget")
    shown = bufferlab.watch(SCENARIO, SCENARIO, overrides={"bottleneck.buffer": "10 packets"})
    scenarios = [bufferlab.Scenario.from_toml(each["text"]) for each in shown.variants]
    assert [each.links[0]["buffer"]["text"] for each in scenarios] == ["10 packets", "10 packets"]
    assert shown.engine.startswith(b"\0asm")
    assert "application/vnd.jupyter.widget-view+json" in shown._repr_mimebundle_()[0]


def test_a_run_is_shown_again_with_its_seed() -> None:
    pytest.importorskip("anywidget")
    runs = bufferlab.run(SCENARIO, seeds=5)
    shown = runs.show()
    assert [each["overrides"]["run.seed"] for each in shown.variants] == ["1", "2", "3", "4"]
    (one,) = runs[2].show().variants
    assert one["overrides"] == {"run.seed": "3"}
    again = bufferlab.Scenario.from_toml(one["text"]).with_overrides({"run.seed": 3})
    assert again.identity == bufferlab.Scenario.from_dict(SCENARIO).identity


def test_what_cannot_be_shown_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for scenarios in ([], [SCENARIO] * 5):
        with pytest.raises(bufferlab.InputError, match="1 to 4 scenarios"):
            bufferlab.watch(*scenarios)
    widget._widget_class.cache_clear()
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(bufferlab.InputError, match=r"bufferlab\[notebook\]"):
        bufferlab.watch(SCENARIO)


def test_a_notebook_s_browser_runs_it(tmp_path: Path) -> None:
    (engine,) = PAGE.glob("assets/lab-*.wasm")
    shutil.copy(engine, tmp_path / "lab.wasm")
    shutil.copy(widget.WIDGET / "widget.js", tmp_path)
    texts = [
        bufferlab.Scenario.from_dict(SCENARIO).with_overrides({"bottleneck.buffer": size}).to_toml()
        for size in ("10 packets", "40 packets")
    ]
    state = {"variants": [{"text": text, "overrides": {}} for text in texts]}
    (tmp_path / "state.json").write_text(json.dumps(state))
    (tmp_path / "index.html").write_text(
        '<!doctype html><link rel="icon" href="data:,"><style>body { margin: 7px }</style>'
        '<div id="cell"></div><div id="other"></div>'
    )
    with static_server(tmp_path) as address:
        driver = Path(__file__).with_name("widget.mjs")
        command = [NODE or "node", str(driver), CHROMIUM or "chromium", address]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
