"""`bufferlab advise` from a shell."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .conftest import SMALL, Command

QUICK = ("--quick", "--queues", "fifo,codel")
BRIEF = ("--no-sensitivity", "--queues", "fifo,codel")


def test_the_answer_is_in_a_box_that_comes_first(bufferlab: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ended = bufferlab("advise", "small.toml", "--utilization", "0.9", *BRIEF)
    assert ended.status == 0, ended.err
    lines = ended.out.splitlines()
    assert lines[0].startswith("╭─") and lines[0].endswith("╮")
    assert lines[1].startswith("│ Run ")
    assert max(map(len, lines)) <= 80
    height = next(at for at, line in enumerate(lines) if line.startswith("╰"))
    assert height < 24
    assert "Less and more buffer with fifo" in ended.out and "Queues, with " in ended.out
    assert "Buffers of fifo" not in ended.out and ended.out.rstrip().endswith("how this was\nfound.")
    assert "\x1b" not in ended.out + ended.err
    assert ended.err == ""


def test_quick_says_how_far_it_is_and_explain_how_it_was_found(bufferlab: Command) -> None:
    ended = bufferlab("advise", "small.toml", "--utilization", "90 %", "--explain", *QUICK)
    assert ended.status == 0, ended.err
    quick = "--quick: only usual delays, only this traffic; a full run may say otherwise."
    tied = "As good for this traffic: "
    assert (quick in ended.out) != (tied in ended.out)
    assert "How it was found" in ended.out and "How queues were compared" in ended.out


def test_the_document_and_files(bufferlab: Command, tmp_path: Path) -> None:
    options = (
        "--json",
        "--plot",
        "seen.png",
        "--out",
        "found",
        "--platform",
        "openwrt",
        "--device",
        "xe-0",
    )
    ended = bufferlab("advise", "small.toml", "--utilization", "0.9", *options, *BRIEF)
    assert ended.status == 0, ended.err
    document = json.loads(ended.out)
    assert document["format"] == "bufferlab-advice" and document["finished"]
    assert any(each.startswith("the warm-up of 1 s is shorter than") for each in document["warnings"])
    assert document["configuration"]["platform"] == "openwrt"
    assert [each["metric"] for each in document["checks"]] == ["utilization"]
    assert {each["queue"] for each in document["queues"]} == {"fifo", "codel"}
    assert document["resolved"]["links"][0]["rate_bps"] == 10_000_000
    assert set(document) == {
        *("format", "format_version", "version", "name", "link", "rate_bps", "rtt_ms", "packet_bytes"),
        "allowed",
        *("resolved", "groups", "rules", "targets", "floor", "confidence_wanted", "stage", "finished"),
        *("queue", "setting", "buffer", "meets", "confidence", "checks", "aspects", "queues"),
        *("sensitivity", "configuration", "assumed", "warnings", "runs", "targets_from", "weights_from"),
        "short_runs",
        *(
            "absent",
            "half",
            "plain",
            "today",
            "unmixed",
            "beyond",
            "elsewhere",
            "undecided",
            "outlasted",
            "tied",
        ),
        *("nearly", "helps", "instead", "unmixed", "nearest_alone", "left_out"),
    }
    for name in ("seen.png", "seen.svg", "found/advice.json", "found/advice.txt", "found/advice.png"):
        assert (tmp_path / name).stat().st_size > 500
    assert json.loads((tmp_path / "found/advice.json").read_text("utf-8")) == document
    assert "config queue 'bufferlab'" in (tmp_path / "found/advice.txt").read_text("utf-8")
    assert "saved " in ended.err


def test_on_a_platform_only_what_it_has_is_advised_with_its_notes(bufferlab: Command) -> None:
    ended = bufferlab("advise", "small.toml", "--utilization", "0.9", "--quick", "--platform", "junos")
    assert ended.status == 0, ended.err
    lines = ended.out.splitlines()
    assert lines[1].startswith("│ Run fifo with a buffer of ")
    said = " ".join(ended.out.split())
    assert "assumed the queue is one that Juniper Junos has: fifo" in said
    assert "note A scheduler map replaces the default one" in said
    assert "fq_codel" not in ended.out and "codel" not in ended.out


def test_what_would_change_it_is_asked_too(bufferlab: Command) -> None:
    ended = bufferlab("advise", "small.toml", "--utilization", "0.9", "--queues", "fifo", "--json")
    titles = [each["title"] for each in json.loads(ended.out)["sensitivity"]]
    assert "twice the round-trip times" in titles and "bbr in place of reno" in titles


def test_numbers_stand_for_a_file(bufferlab: Command) -> None:
    numbers = ("--rate", "2 Mbps", "--rtt", "20 ms", "--flows", "2")
    ended = bufferlab("advise", *numbers, "--set", "run.duration=40 s", "--utilization", "0.8", *QUICK)
    assert ended.status == 0, ended.err
    assert "╭─  2 flows: bottleneck, 2 Mbps, RTT 20 ms  ─" in ended.out
    said = " ".join(ended.out.split())
    assert "assumed the 2 flows are 1 CUBIC and 1 BBR (36 % CUBIC and 22 % BBR in the census" in said
    assert "--flows cubic:2 is without" in said


def test_targets_that_nothing_meets_are_said_first_and_by_the_status(bufferlab: Command) -> None:
    asked = ("--target", "utilization >= 95 %", "--target", "wait_p99 < 10 us")
    ended = bufferlab("advise", "small.toml", *asked, *QUICK)
    assert ended.status == 2
    first = "No setting that was tried meets both targets."
    assert ended.out.splitlines()[1].startswith(f"│ {first}")
    assert "- 99th percentile wait at most 0.01 ms: nothing that was tried (nearest: " in ended.out
    assert ended.line() == f"bufferlab: small.toml: {first.rstrip('.')}"


def test_what_meets_its_targets_and_is_not_worth_running_is_no_success(bufferlab: Command) -> None:
    numbers = ("--rate", "2 Mbps", "--rtt", "20 ms", "--flows", "bbr:6", "--set", "run.duration=20 s")
    asked = ("--target", "wait_p99 < 30 ms", "--queues", "fifo", "--quick")
    ended = bufferlab("advise", *numbers, *asked)
    assert "│ Nothing is worth running. What meets the target: fifo" in ended.out
    assert ended.status == 2 and "Nothing is worth running. What meets the target: fifo" in ended.line()


def test_a_search_ends_where_the_platform_takes_no_more(bufferlab: Command) -> None:
    asked = ("--max-loss", "0.0001 %", "--bounds", "20..9000", "--platform", "junos", "--quick")
    ended = bufferlab("advise", "small.toml", *asked)
    assert ended.status == 2
    ends = (
        "No buffer that Juniper Junos takes, up to 166 packets (200 ms), meets the target and our default, "
    )
    ends += "utilization 99 %"
    assert ended.line() == f"bufferlab: small.toml: {ends}"
    found = json.loads(bufferlab("advise", "small.toml", *asked, "--json").out)
    assert found["allowed"] == {
        "platform": "junos",
        "least_packets": 1,
        "most_packets": 166,
        "most": "200 ms",
        "source": "Junos OS Class of Service, Release 10.3, buffer-size",
    }
    assert found["queues"][0]["searched"]["upper"] == 166
    assert max(each["setting"] for each in found["queues"][0]["searched"]["settings"]) == 166


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--for", "call"),
            "--for: 'call' is not a valid kind (did you mean 'calls'?); accepted: throughput, ",
        ),
        (("--for", "calls"), "bufferlab: --for: 'calls' is nothing that this scenario can tell: it has no"),
        (("--queues", "fq_codle"), "--queues: 'fq_codle' is not a known queue (did you mean 'fq_codel'?)"),
        (("--target", "utilisation > 1"), "names no metric (did you mean 'utilization'?)"),
        (("--platform", "linus"), "platform: 'linus' is not a known platform (did you mean 'linux'?)"),
        (("--platform", "nx-os", "--shape"), "--platform: 'nx-os' has no shaper that is known here"),
        (
            ("--platform", "junos", "--queues", "fifo,pie"),
            "--queues: 'pie' has no equivalent on Juniper Junos",
        ),
        (("--platform", "junos", "--device", "ge 0"), "--device: 'ge 0' is not the name of an interface"),
        (("--bounds", "9..3"), "bounds: '9..3' is no range"),
        (("--bounds", "500..900", "--platform", "junos"), "accepted: within 1..166 packets (Junos OS"),
        (("--rate", "1 Mbps"), "--rate: does not go with a scenario file"),
        (("--calls", "3"), "--calls: does not go with a scenario file"),
        (("--segment", "900 B"), "--segment: does not go with a scenario file"),
        (("--link", "east"), "link: 'east' is not a link of the scenario"),
        (("--utilization", "99"), "--utilization: '99' "),
    ],
)
def test_one_line_says_what_is_wrong(bufferlab: Command, options: tuple[str, ...], message: str) -> None:
    ended = bufferlab("advise", "small.toml", *options)
    assert ended.status == 2
    assert message in ended.line()
    assert ended.out == ""


def test_nothing_to_advise_on(bufferlab: Command) -> None:
    assert bufferlab("advise").line().startswith("bufferlab: nothing to advise on; accepted: a scenario file")


def test_help_says_what_is_different_and_has_three_examples(bufferlab: Command) -> None:
    text = bufferlab("advise", "--help").out
    assert "Say which queue to run and how large its buffer should be" in " ".join(text.split())
    assert text.count("  bufferlab advise ") == 3


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")
def test_ctrl_c_prints_the_best_answer_so_far(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    screen, slave = os.openpty()
    command = ("advise", "small.toml", "--set", "run.duration=200 s", "--store", "runs", "--queues", "fifo")
    process = subprocess.Popen(
        [sys.executable, "-m", "bufferlab", *command],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=slave,
        text=True,
        env={**os.environ, "COLUMNS": "80", "TERM": "xterm"},
    )
    os.close(slave)
    _wait_for(screen, b"takes this answer", 120.0)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    lines = out.splitlines()
    assert lines[1].startswith("│ Run fifo with a buffer of ")
    assert "so far" in out
    assert "interrupted" in _rest(screen)


@pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals")
def test_on_a_terminal_the_box_is_shown_while_it_gets_better(tmp_path: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    alone = ("--queues", "fifo", "--utilization", "0.9", "--no-sensitivity")
    screen, slave = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "bufferlab", "advise", "small.toml", *alone],
        cwd=tmp_path,
        stdout=slave,
        stderr=slave,
        env={**os.environ, "COLUMNS": "80", "LINES": "24", "TERM": "xterm"},
    )
    os.close(slave)
    text = _rest(screen)
    assert process.wait(timeout=60) == 0
    assert "no answer yet: " in text
    final = text[text.rindex("╭─") :]
    assert "│ Run " in final and "Less and more buffer with fifo" in final
    assert "Ctrl-C" not in final


def _wait_for(screen: int, wanted: bytes, longest_s: float) -> None:
    seen, end_s = b"", time.monotonic() + longest_s
    while wanted not in seen:
        assert time.monotonic() < end_s, seen
        if select.select([screen], [], [], 0.2)[0]:
            seen += os.read(screen, 65536)


def _rest(screen: int) -> str:
    seen = b""
    while True:
        try:
            more = os.read(screen, 65536)
        except OSError:  # the other end is closed
            break
        if not more:
            break
        seen += more
    os.close(screen)
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", seen.decode("utf-8", "replace"))


NEEDS = """
[advise]
weights = { latency = 5, throughput = 0 }
targets = ["utilization >= 80 %"]
"""


def test_latency_means_something_beside_a_call_without_pings(bufferlab: Command) -> None:
    call = '{ kind = "udp", packet = "200 B", interval = "20 ms" }'
    flow = f'[[flows]]\nname = "call"\nrtt = "20 ms"\napplication = {call}\n'
    Path("call.toml").write_text(f"{Path('small.toml').read_text('utf-8')}\n{flow}", "utf-8")
    options = ("--queues", "fifo:9 packets,fifo:40 packets", "--seeds", "2", "--for", "latency", "--json")
    found = json.loads(bufferlab("compare", "call.toml", *options).out)
    weights = {each["metric"]: each["weight"] for each in found["aspects"]}
    assert (weights["wait_mean_ms"], weights["call.call_r"]) == (10.0, 1.0)
    assert found["recommendation"]["queue"] == "fifo:9 packets"


def test_the_scenario_says_what_its_users_need_and_options_go_before_it(bufferlab: Command) -> None:
    Path("needs.toml").write_text(Path("small.toml").read_text("utf-8") + NEEDS, "utf-8")
    ended = bufferlab("advise", "needs.toml", *QUICK)
    assert ended.status == 0, ended.err
    said = " ".join(re.sub("[│ ]+", " ", ended.out).split())
    assert "by [advise] of the scenario: the target; weights: latency 5, throughput 0, others 1" in said
    ended = bufferlab(
        "advise", "needs.toml", *QUICK, "--for", "throughput", "--utilization", "85 %", "--json"
    )
    found = json.loads(ended.out)
    assert found["targets"] == ["utilization at least 85 %"]
    assert (found["targets_from"], found["weights_from"]) == ("asked", "asked")
    weights = {each["kind"]: each["weight"] for each in found["aspects"]}
    assert (weights["throughput"], weights["latency"]) == (10.0, 1.0)


def test_targets_of_the_scenario_are_size_s_and_compare_s_too(bufferlab: Command) -> None:
    Path("needs.toml").write_text(Path("small.toml").read_text("utf-8") + NEEDS, "utf-8")
    ended = bufferlab("size", "needs.toml", "--no-rules", "--resolution", "0.3")
    assert ended.status == 0, ended.err
    assert "utilization at least 80 %, by [advise] of the scenario; 95 % sure" in ended.out
    theory = json.loads(bufferlab("size", "needs.toml", "--theory", "--json").out)
    assert theory["targets"]["utilization"] == 0.8
    queues = "fifo:2 packets,fifo:20 packets"
    found = json.loads(bufferlab("compare", "needs.toml", "--queues", queues, "--json").out)
    missed = {each["queue"]: each["missed"] for each in found["queues"]}
    assert missed == {"fifo:2 packets": ["utilization at least 80 %"], "fifo:20 packets": []}
    said = bufferlab("compare", "needs.toml", "--queues", queues).out
    assert "Run fifo, 20 packets: it alone meets all targets." in said
    assert "not fifo:2 packets  missed: utilization" in said
    assert "latency 5, throughput 0, others 1, by [advise] of the scenario" in said


def test_a_mistake_in_what_users_need_has_its_place(bufferlab: Command) -> None:
    text = Path("small.toml").read_text("utf-8") + NEEDS.replace("utilization", "utilisation")
    Path("needs.toml").write_text(text, "utf-8")
    ended = bufferlab("advise", "needs.toml", *QUICK)
    line = text.splitlines().index('targets = ["utilisation >= 80 %"]') + 1
    assert ended.status == 2
    assert f"needs.toml:{line}:12: advise.targets[0]: 'utilisation >= 80 %' names no metric" in ended.err
    assert "(did you mean 'utilization'?)" in ended.err


@pytest.mark.parametrize("confidence", ["95", "nan", "-1", "1", "0"])
def test_a_confidence_that_cannot_be_is_refused(bufferlab: Command, confidence: str) -> None:
    ended = bufferlab("advise", "small.toml", "--confidence", confidence)
    assert ended.status == 2
    assert "confidence" in ended.err and "from 0.5 to below 1, such as 0.95" in ended.err


def test_a_figure_that_cannot_be_written_is_refused_before_any_run(bufferlab: Command) -> None:
    ended = bufferlab("advise", "small.toml", "--quick", "--plot", "/proc/none/figure.png")
    assert ended.status == 1 and "/proc/none" in ended.err and "cannot be written" in ended.err
    assert "simulations" not in ended.err and not ended.out
