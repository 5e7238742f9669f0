"""Results print themselves."""

import bufferlab

SCENARIO = {
    "run": {"name": "two flows", "duration": "2 s", "seed": 3},
    "bottleneck": {"rate": "10 Mbps", "delay": "1 ms", "buffer": "20 packets"},
    "flows": [{"count": 2, "rtt": "20 ms"}],
}


def test_a_run_prints_its_tables_without_colors() -> None:
    text = str(bufferlab.run(SCENARIO))
    assert text.startswith("two flows: 2 s")
    assert "utilization" in text
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) <= 100


def test_a_sizing_prints_its_rules_and_the_buffer_to_take() -> None:
    lines = str(bufferlab.size(SCENARIO)).splitlines()
    assert lines[0].startswith("bottleneck: 10 Mbps")
    assert any(line.startswith("Take ") for line in lines)
