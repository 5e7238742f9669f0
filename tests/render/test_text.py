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


def test_a_sizing_prints_the_buffer_to_take_before_all_else() -> None:
    lines = str(bufferlab.size(SCENARIO, ["utilization >= 90 %"], progress=False)).splitlines()
    assert lines[0] == "two flows: fifo at bottleneck, 10 Mbps, RTT 20 ms"
    assert lines[1].startswith("Take ")
    assert max(map(len, lines)) <= 100


def test_rules_print_that_no_run_stands_behind_them() -> None:
    text = " ".join(str(bufferlab.rules(SCENARIO)).split())
    assert "no run stands behind it, and in our runs such rules were off by factors" in text
    assert "without --theory, the same command measures the buffer" in text
    assert "Take " not in text
