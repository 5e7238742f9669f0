"""Packets per second of the engine in WebAssembly, in Chromium or in Node, beside the native one.

Both run the same scenario in turns, so that what else the machine does falls on both. A browser compiles what
runs often a second time, and better: its first run is slower than its second.
"""

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

from bufferlab import _core
from bufferlab.scenario import Scenario

ROOT = Path(__file__).parents[1]
TURNS = 5


def main() -> None:
    """Prints one line for each queue."""
    node = shutil.which("node") or "node"
    browser = list(filter(None, [shutil.which("chromium")]))
    sys.stdout.write(f"in {'Chromium' if browser else 'Node'}\n")
    wasm, driver = ROOT / "web/engine/lab.wasm", ROOT / "tests/web/engine.mjs"
    scenario = Scenario.load(ROOT / "examples/published-link.toml")
    for queue in ("fifo", "fq_codel"):
        plan = scenario.with_overrides({"bottleneck.queue": queue}).seeded().plan_json()
        rates = []
        for _ in range(TURNS):
            begun = time.perf_counter()
            packets = _core.simulate(plan).packets
            native = packets / (time.perf_counter() - begun)
            asked = json.dumps([{"plan": plan}] * 2)
            ended = subprocess.run(  # noqa: S603 - our own script
                [node, driver, wasm, *browser], input=asked, capture_output=True, text=True, check=True
            )
            first, second = (packets / answer["seconds"] for answer in json.loads(ended.stdout))
            rates.append((native, first, second))
        native, first, second = (median(column) / 1e6 for column in zip(*rates, strict=True))
        share = median(rate[2] / rate[0] for rate in rates)
        sys.stdout.write(
            f"{queue}: native {native:.1f} million packets/s, in WebAssembly {first:.1f} at first, "
            f"{second:.1f} once compiled: {share:.2f} of native\n"
        )


if __name__ == "__main__":
    main()
