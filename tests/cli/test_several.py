"""`bufferlab advise` for several links, and for a home's line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ..small import LINE
from .conftest import Command

MILD = ("--target", "utilization >= 50 %", "--bounds", "2..8", "--quick", "--queues", "fifo,fq_codel")
LINE_LAYER = ("--linklayer", "ethernet 16 B")
BRIEF = ("--set", "run.duration=8 s", "--utilization", "30 %", "--quick", "--queues", "scenario")


def test_each_link_in_one_command(bufferlab: Command, tmp_path: Path) -> None:
    (tmp_path / "line.toml").write_text(LINE)
    ended = bufferlab(
        "advise",
        "line.toml",
        *("--link", "each", *MILD, "--platform", "openwrt", "--out", "found", "--plot", "drawn/a.b.png"),
    )
    assert ended.status == 0, ended.err
    assert ended.out.splitlines()[0].startswith("╭─  Line: download and upload  ─")
    assert ended.out.count("╭─") == 3 and ended.out.count("config queue 'bufferlab'") == 1
    assert "option download '4000'" in ended.out and "option upload '1000'" in ended.out
    assert "each was answered with the others' answers in place" in " ".join(ended.out.split())
    document = json.loads((tmp_path / "found" / "advice.json").read_text())
    assert [each["link"] for each in document["links"]] == ["download", "upload"]
    assert (tmp_path / "found" / "upload" / "advice.png").stat().st_size > 500
    drawn = sorted(path.name for path in (tmp_path / "drawn").iterdir())
    assert drawn == ["a.b-download.png", "a.b-download.svg", "a.b-upload.png", "a.b-upload.svg"]
    ours, saved = (tmp_path / "drawn" / "a.b-upload.png", tmp_path / "found" / "upload" / "advice.png")
    assert ours.read_bytes() == saved.read_bytes()


def test_a_home_line_is_shaped_and_says_so(bufferlab: Command) -> None:
    line = ("--home", "5/1 Mbps", "--share", "80 %", "--rtt", "40 ms", *LINE_LAYER)
    ended = bufferlab("advise", *line, *BRIEF, "--json")
    assert ended.status == 0, ended.err
    document = json.loads(ended.out)
    assert any("overhead 16 linklayer ethernet" in line for line in document["configuration"]["lines"])
    assert [link["rate_bps"] for link in document["resolved"]["links"]] == [4_000_000, 800_000]
    assert document["shaped"] == {"share": 0.8, "line_bps": {"download": 5_000_000, "upload": 1_000_000}}
    assert any("rate 4mbit ceil 4mbit" in line for line in document["configuration"]["lines"])
    assert document["assumed"][0].startswith("3 long downloads (2 CUBIC and 1 BBR")
    assert not any("--rtt" in each for each in document["assumed"])


def test_one_direction_of_a_home_line(bufferlab: Command) -> None:
    ended = bufferlab("advise", "--home", "5/1 Mbps", "--link", "upload", *BRIEF)
    assert ended.status == 0, ended.err
    assert ended.out.splitlines()[0].startswith("╭─  Home line 5/1 Mbps: upload, 900 kbps")
    assert "rate 900kbit" in ended.out
    said = " ".join(ended.out.split())
    assert "assumed shaped to 4.5 Mbps down and 900 kbps up, 90 % of the line's rates (--share)" in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--home", "50"),
            "--home: '50' is not the two rates of a line; accepted: the rate down and the rate up,",
        ),
        (("--home", "50/10 mbps"), "--home: '50/10 mbps' has a wrong unit (did you mean 'Mbps'?)"),
        (
            ("small.toml", "--home", "50/10Mbps"),
            "--home: does not go with a scenario file; accepted: --home with",
        ),
        (
            ("--home", "50/10Mbps", "--rate", "1 Mbps"),
            "--home: does not go with --rate; accepted: --home with --rtt",
        ),
        (("--home", "50/10Mbps", "--flows", "3"), "--home: does not go with --flows"),
        (("--home", "50/10Mbps", "--stack", "rfc"), "--home: does not go with --stack"),
        (
            ("--home", "50/10Mbps", "--link", "uplod,download"),
            "--link: 'uplod' is not a link of the scenario (did you",
        ),
        (
            ("--home", "50/10Mbps", "--share", "5 %"),
            "--share: '5 %' is out of range; accepted: 50 % to 100 %",
        ),
        (
            ("--home", "50/10Mbps", "--linklayer", "ethernet 16"),
            "--linklayer: 'ethernet 16' has no unit; accepted: one of ethernet, atm, and 0 B to 242 B",
        ),
        (
            ("--home", "50/10Mbps", "--linklayer", "ethernet 16 B", "--platform", "routeros"),
            "--linklayer: has no line on routeros; accepted: --platform linux or openwrt",
        ),
        (
            ("--home", "50/10Mbps", "--link", "upload", "--linklayer", "ethernet 16 B"),
            "--linklayer: goes with --home; accepted: --home 50/10Mbps, both directions",
        ),
        (("small.toml", "--linklayer", "atm 26 B"), "--linklayer: goes with --home"),
        (("small.toml", "--share", "90 %"), "--share: goes with --home; accepted: --home 50/10Mbps with it"),
        (("small.toml", "--link", "each,bottleneck"), "--link: 'each' stands for all links, and goes alone"),
    ],
)
def test_what_does_not_go_together(bufferlab: Command, options: tuple[str, ...], message: str) -> None:
    ended = bufferlab("advise", *options)
    assert ended.status == 2 and ended.out == ""
    assert message in ended.line()


@pytest.mark.parametrize(
    ("line", "ways"),
    [
        ("advise line.toml --link", ["each", "download", "upload"]),
        ("advise line.toml --quick --link download,u", ["download,upload"]),
        ("advise --home 5/1Mbps --link d", ["download"]),
        ("advise missing.toml --link e", ["each"]),
    ],
)
def test_names_of_links_are_completed(tmp_path: Path, line: str, ways: list[str]) -> None:
    (tmp_path / "line.toml").write_text(LINE)
    words = ["bufferlab", *line.split()]
    at = len(words) if line.endswith("--link") else len(words) - 1
    asked = {
        "_BUFFERLAB_COMPLETE": "complete_bash",
        "COMP_WORDS": f"bufferlab {line} ",
        "COMP_CWORD": str(at),
    }
    ended = subprocess.run(
        [sys.executable, "-m", "bufferlab"],
        cwd=tmp_path,
        env=os.environ | asked,
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout.split() == ways
