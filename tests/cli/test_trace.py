"""`bufferlab trace` from a shell."""

from __future__ import annotations

from pathlib import Path

from .conftest import Command


def test_a_rate_over_time_becomes_a_trace_for_mahimahi_and_back(bufferlab: Command) -> None:
    # 12.032 Mbps are 1504 bytes a millisecond
    Path("rate.csv").write_text("time_s,rate_Mbps\n0,12.032\n0.003,0\n", encoding="utf-8")
    ended = bufferlab("trace", "csv(rate.csv, repeat=5 ms)", "--duration", "10 ms", "--to", "rate.down")
    assert (ended.status, ended.out, ended.err) == (0, "", "")
    assert Path("rate.down").read_text(encoding="utf-8") == "1\n2\n3\n6\n7\n8\n"
    ended = bufferlab("trace", "mahimahi(rate.down)", "--step", "4 ms")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out == "time_s,rate_Mbps\n0,9.024\n0.004,9.024\n"


def test_errors_name_the_file_and_its_line_or_the_option(bufferlab: Command) -> None:
    Path("bad.down").write_text("1\n0\n", encoding="utf-8")
    ended = bufferlab("trace", "mahimahi(bad.down)")
    assert ended.status == 2
    assert "bad.down: 'line 2': '0' is smaller than the line before it; accepted: " in ended.err
    ended = bufferlab("trace", "100 Mbps")
    assert (ended.status, ended.out) == (2, "")
    assert "'100 Mbps' has no end of its own; accepted: a length, such as --duration '60 s'" in ended.err
    ended = bufferlab("trace", "100 Mbps", "--duration", "1 parsec")
    assert "--duration: '1 parsec' has a wrong unit" in ended.err
    ended = bufferlab("trace", "100 Mbps", "--duration", "1 s", "--step", "1 s", "--to", "a.down")
    assert "--step: '1 s' goes with CSV" in ended.err
    assert not Path("a.down").exists()
