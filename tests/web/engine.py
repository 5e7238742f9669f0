"""The engine in WebAssembly beside the native one."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl

from bufferlab import _core

ROOT: Final = Path(__file__).parents[2]
WASM: Final = ROOT / "web" / "engine" / "lab.wasm"
MODULES: Final = ROOT / "web" / "node_modules"
CHROMIUM: Final = shutil.which("chromium")
NODE: Final = shutil.which("node")
OF_THE_BUILD: Final = {("class_samples", "state_bytes")}
"""What depends on the machine: the size of the structures of a queue, in which there are pointers."""
DRIVER: Final = Path(__file__).with_name("engine.mjs")

TABLES: Final = (
    "flows", "queues", "histograms", "classes", "class_histograms", "queue_samples", "class_samples",
    "sender_samples", "receiver_samples", "exchanges", "segments",
)  # fmt: skip


def missing() -> str:
    """What the engine in WebAssembly lacks here; nothing if it runs."""
    if not WASM.exists():
        return "the engine is not built for WebAssembly: scripts/web.sh says why"
    return "" if NODE else "needs node"


def run(jobs: Sequence[Mapping[str, Any]], *, chromium: str = "") -> list[dict[str, Any]]:
    """Run jobs (engine.mjs says what they are) in Node or Chromium, without what differs by the machine."""
    asked = json.dumps(jobs)
    ended = subprocess.run(
        [NODE or "node", DRIVER, WASM, *filter(None, [chromium])],
        input=asked,
        capture_output=True,
        text=True,
        check=True,
    )
    answers: list[dict[str, Any]] = json.loads(ended.stdout)
    for answer in answers:
        for table, column in OF_THE_BUILD:
            answer.get("tables", {}).get(table, {}).pop(column, None)
    return answers


def hashes(outcome: _core.Outcome) -> dict[str, dict[str, str]]:
    """SHA-256 of each column of a native run, by table, but for what differs by the machine."""
    return {name: _of(name, pl.DataFrame(getattr(outcome, name)())) for name in TABLES}


def _of(name: str, table: pl.DataFrame) -> dict[str, str]:
    columns = [column for column in table.columns if (name, column) not in OF_THE_BUILD]
    return {column: hashlib.sha256(table[column].to_numpy().tobytes()).hexdigest() for column in columns}
