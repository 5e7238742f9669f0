"""`bufferlab observe` from a shell."""

from __future__ import annotations

import importlib
import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from .conftest import Command

LINK = """\
[run]
duration = "12 s"
warmup = "2 s"
[bottleneck]
rate = "10 Mbps"
delay = "2 ms"
buffer = "40 packets"
[[flows]]
count = 3
rtt = "30 ms"
handshake = true
timestamps = true
"""


@pytest.fixture
def capture(bufferlab: Command, tmp_path: Path) -> str:
    (tmp_path / "link.toml").write_text(LINK)
    assert bufferlab("run", "link.toml", "--pcap", "link.pcapng").status == 0
    return "link.pcapng"


def test_from_a_capture_to_a_buffer_in_two_commands(bufferlab: Command, capture: str) -> None:
    ended = bufferlab("observe", capture, "--scenario", "seen.toml", "--mix", "reno:100%", "--plot", "seen")
    assert ended.status == 0 and "out, interface 0 (senders): 9.976 Mbps ± " in ended.out
    assert "wrote seen.toml; next: bufferlab advise seen.toml --today scenario" in ended.err
    assert "congestion controls" not in ended.err  # the mix was given
    assert Path("seen.png").stat().st_size > 10_000
    sized, truth = (
        bufferlab("size", file, "--target", "utilization >= 95 %", "--json")
        for file in ("seen.toml", "link.toml")
    )
    assert (sized.status, truth.status) == (0, 0), sized.err + truth.err
    found, true = (json.loads(each.out)["buffer"]["packets"] for each in (sized, truth))
    assert found == pytest.approx(true, rel=0.2), (found, true)


def test_the_answer_stands_beside_the_queue_that_the_capture_shows(bufferlab: Command, capture: str) -> None:
    ended = bufferlab("observe", capture, "--mix", "reno:100%", "--advise", "--quick")
    assert ended.status == 0, ended.err
    assert "Without --quick, other traffic" in ended.out and "What if" not in ended.out
    box = " ".join(ended.out.partition("╰")[0].replace("│", " ").split())
    assert "Today's fifo, 40 packets, is worse: packets wait" in box
    assert "beware A buffer sized from 10 s was 0.8 to 1.66 times the right one" in box  # it has 12 s


def test_the_answer_is_tried_with_other_controls(bufferlab: Command, capture: str) -> None:
    """It rested on the one guess whose run is nearest."""
    ended = bufferlab("observe", capture, "--advise", "--quick")
    assert ended.status == 0, ended.err
    box = " ".join("".join(ended.out.partition("╰")[0].replace("│", " ")).split())
    (named,) = re.findall(r"controls The answer (?:holds|does not hold)(.*?)\.", box)
    assert len({"cubic", "reno", "bbr", "bbr3"} & set(re.findall(r"\w+", named))) >= 2


def test_a_quick_answer_comes_first_with_its_doubts_and_little_below(
    bufferlab: Command, capture: str
) -> None:
    """It was the capture's screen, then 90 lines of advice, and doubts at their end."""
    ended = bufferlab("observe", capture, "--mix", "reno:100%", "--rate", "14 Mbps", "--advise", "--quick")
    assert ended.status == 0, ended.err
    lines = ended.out.splitlines()
    end = next(at for at, line in enumerate(lines) if line.startswith("╰"))
    assert lines[0].startswith("╭─  As captured in link.pcapng") and len(lines) < 60
    box = " ".join("".join(lines[:end]).replace("│", " ").split())
    assert "beware --rate is 14 Mbps, the capture shows " in box.replace("Rate", "rate")
    assert next(at for at, line in enumerate(lines) if line.startswith("link.pcapng: ")) > end
    assert not any(line.startswith(("assumed", "Queues, with")) for line in lines)
    assert [line[:20] for line in lines if line.startswith("note")] == ["note    It shapes to"]
    assert "the evidence is left out" in ended.err
    # what was fitted is said behind the answer
    assert ended.err.index("a run of the scenario") > ended.err.index("the evidence is left out")


def test_a_link_that_was_never_busy_has_no_answer(bufferlab: Command, tmp_path: Path) -> None:
    idle = LINK.replace("10 Mbps", "100 Mbps").replace(
        "timestamps = true",
        """timestamps = true
application = { kind = "web", size = "200 kB", every = "1 s" }""",
    )
    (tmp_path / "idle.toml").write_text(idle)
    assert bufferlab("run", "idle.toml", "--pcap", "idle.pcapng").status == 0
    ended = bufferlab("observe", "idle.pcapng", "--rate", "100 Mbps", "--advise", "--quick")
    assert ended.status == 2, ended.out
    assert re.search(
        r"bufferlab: \S+\.pcapng: has a link that carried [\d.]+ % of its rate and was full in no second",
        ended.err,
    )
    assert "Run " not in ended.out
    written = bufferlab("observe", "idle.pcapng", "--rate", "100 Mbps", "--scenario", "idle-seen.toml")
    assert written.status == 0 and Path("idle-seen.toml").exists()


def test_where_controls_come_from_is_said(bufferlab: Command, capture: str, tmp_path: Path) -> None:
    ended = bufferlab("observe", capture, "--scenario", "seen.toml")
    assert "controls: not distinguished: runs with reno, bbr3" in ended.err
    assert "as near to the capture; the scenario has reno, --mix names another" in ended.err
    compared = r"utilization .* \(not seen in the capture\), loss .* % \(captured: .* %\), median wait "
    assert re.search(f"a run of the scenario: {compared}", ended.err)
    written = (tmp_path / "seen.toml").read_text()
    assert written.startswith("# from ") and "# controls: not distinguished: runs with reno" in written
    given = bufferlab("observe", capture, "--scenario", "given.toml", "--mix", "bbr:100%")
    assert "controls:" not in given.err
    assert "beware: the scenario does not do what was captured" in given.err


def test_controls_by_the_senders_sockets(bufferlab: Command, capture: str, tmp_path: Path) -> None:
    words = "rto:204 rtt:35.1/0.5 mss:1448 bytes_acked:3000000 minrtt:30.1"
    lines = [f"ESTAB 0 0 192.0.2.1:{port} 198.51.100.1:80\n\t reno wscale:7,7 {words}" for port in (1, 2)]
    (tmp_path / "ss.log").write_text("\n".join(lines))
    ended = bufferlab("observe", capture, "--scenario", "seen.toml", "--ss", "ss.log")
    assert ended.status == 0 and "controls: 2 reno, by the senders' sockets" in ended.err
    written = (tmp_path / "seen.toml").read_text()
    assert set(re.findall(r'congestion = "(.*)"', written)) == {"reno"}
    both = bufferlab("observe", capture, "--scenario", "again.toml", "--ss", "ss.log", "--mix", "bbr")
    assert both.status == 2 and "--ss or --mix" in both.err


def test_json_and_options_that_do_not_go_together(bufferlab: Command, capture: str) -> None:
    document = json.loads(bufferlab("observe", capture, "--json").out)
    assert document["rate_bps"] == pytest.approx(10e6, rel=0.01)
    for extra in (("--rate", "5 Mbps"), ("--mix", "reno")):
        ended = bufferlab("observe", capture, *extra)
        assert (
            ended.status == 2 and f"{extra[0]}: " in ended.err and "--scenario FILE or --advise" in ended.err
        )
    assert bufferlab("observe", capture, "--advise", "--json").status == 2
    assert (
        "--quick: stops its answers; accepted: --advise with it"
        in bufferlab("observe", capture, "--quick").line()
    )
    ended = bufferlab("observe", capture, "--direction", "up")
    assert ended.status == 2 and "--direction: 'up' is not a direction; accepted: out or in" in ended.err


def test_what_is_no_capture(bufferlab: Command) -> None:
    ended = bufferlab("observe", "small.toml")
    assert ended.status == 2 and "small.toml" in ended.line()


def test_a_file_or_an_interface(bufferlab: Command) -> None:
    for given in ((), ("some.pcap", "--live", "lo")):
        ended = bufferlab("observe", *given)
        assert ended.status == 2 and "needs one of both; accepted: a file, or an interface" in ended.line()
    ended = bufferlab("observe", "--live", "lo", "--for", "3 parsecs")
    assert ended.status == 2 and "--for: '3 parsecs' has a wrong unit" in ended.line()


@pytest.mark.parametrize("ends", [True, False])
def test_ctrl_c_counts_what_came_from_a_pipe(capture: str, tmp_path: Path, ends: bool) -> None:
    """A capturing program ends with the same Ctrl-C; if nothing ends the pipe, nobody waits for it."""
    content = Path(tmp_path, capture).read_bytes()
    process = subprocess.Popen(
        [sys.executable, "-m", "bufferlab", "observe", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin is not None
    process.stdin.write(content[: len(content) // 2])
    process.stdin.flush()
    time.sleep(1.5)  # until it has read that
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    if ends:
        out, err = process.communicate(timeout=20)
        assert process.returncode == 0, err
        assert b"long flows" in out
    else:
        assert process.wait(timeout=20) == 130
        for pipe in (process.stdin, process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()


def test_what_to_do_next_is_said(bufferlab: Command, capture: str) -> None:
    assert "next: --advise says which queue to run" in bufferlab("observe", capture).err
    assert "next:" not in bufferlab("observe", capture, "--json").err
    other = bufferlab("observe", capture, "--direction", "in")
    assert "next: --advise" not in other.err  # nothing sends long there


def test_no_answer_is_offered_of_a_link_that_was_never_full(bufferlab: Command, tmp_path: Path) -> None:
    bursts = """
[run]
duration = "20 s"
warmup = "0 s"
seed = 3
stack = "linux"

[bottleneck]
rate = "60 Mbps"
delay = "2 ms"
buffer = "1 bdp"

[[flows]]
count = 4
rtt = "40 ms"
congestion = "cubic-linux(hystart)"
start = "uniform(0 s, 2 s)"
application = { kind = "on-off", size = "300 KB", off = "1 s" }
"""
    (tmp_path / "bursts.toml").write_text(bursts)
    ended = bufferlab("run", "bursts.toml", "--pcap", "bursts.pcapng", "--pcap-at", "receivers")
    assert ended.status == 0
    seen = bufferlab("observe", "bursts.pcapng")
    assert "60 Mbps" in seen.out or "59." in seen.out
    assert "next: capture a busy hour, since --advise has no answer" in seen.err


def test_what_is_not_known_is_asked_for_by_what_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was "--advise with --rate, which is not known, says"."""
    monkeypatch.setattr("bufferlab.captured.doubts.refuse_idle", lambda _found, _known: None)
    module = importlib.import_module("bufferlab.cli.observe")
    found = SimpleNamespace(is_paced=False, apart=None, observation=SimpleNamespace(is_cut=False))
    asked = "next: if you know {}, --advise {} says which queue to run and how large its buffer should be"
    for lacks, known, options in (
        (["--rate"], "the link's rate", "--rate '…'"),
        (["--rate", "--rtt"], "the link's rate and the flows' round trip", "--rate '…' --rtt '…'"),
    ):
        monkeypatch.setattr(module, "_lacks", lambda _found, lacks=lacks: lacks)
        assert module._next(found) == asked.format(known, options)
    cut = SimpleNamespace(apart=None, observation=SimpleNamespace(is_cut=True), rate_bps=1e6, waits=None)
    assert module._next(cut) == "next: capture 128 bytes of each packet, since most of these lack headers"


def test_doubts_that_the_box_counts_are_below_it(
    bufferlab: Command, capture: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It said "2 more below this box", and nothing called so was there."""
    doubts = ["first of all", "second of all", "third of all", "fourth of all"]
    monkeypatch.setattr("bufferlab.render.observe.fit.fit_doubts", lambda *_, **__: iter(doubts))
    found = bufferlab("observe", capture, "--mix", "reno:100%", "--advise", "--quick")
    assert "note    It shapes to" in found.out
    assert found.status == 0 and "more below this box.)" in " ".join(found.out.replace("│", " ").split())
    for each in doubts[2:]:
        assert f"beware: {each}" in found.err
