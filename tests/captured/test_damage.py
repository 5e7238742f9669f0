"""Damaged captures, from the file to the screen and the scenario: an answer or a mistake, never a crash."""

from __future__ import annotations

import gzip
import json
import random
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import bufferlab
from bufferlab import InputError

LINK: dict[str, Any] = {
    "run": {"duration": "6 s", "warmup": "0 s", "seed": 7, "stack": "linux"},
    "bottleneck": {"rate": "3 Mbps", "delay": "3 ms", "buffer": "40 ms"},
    "flows": [
        {"name": "near", "count": 3, "rtt": "20 ms", "congestion": "cubic-linux(hystart)"},
        {
            "name": "web",
            "rtt": "40 ms",
            "application": {"kind": "short-flows", "size": "20 kB", "interval": "250 ms"},
        },
        {
            "name": "call",
            "rtt": "30 ms",
            "application": {"kind": "udp", "rate": "80 kbps", "packet": "200 B"},
        },
    ],
}
WILD = (0, 1, 2**31, 2**32 - 1)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Both sides of the link in one file, pcapng."""
    path = tmp_path_factory.mktemp("whole") / "link.pcapng"
    bufferlab.run(LINK, progress=False, pcap=path, pcap_at=["senders", "receivers"])
    return path.read_bytes()


def blocks_of(content: bytes) -> list[int]:
    """Where blocks begin."""
    places, at = [], 0
    while at < len(content):
        places.append(at)
        at += int.from_bytes(content[at + 4 : at + 8], "little")
    return places


def put(content: bytearray, at: int, *words: int) -> None:
    """Write words of four bytes."""
    for index, word in enumerate(words):
        content[at + 4 * index : at + 4 * index + 4] = word.to_bytes(4, "little")


def damaged(content: bytes, blocks: list[int], seed: int) -> bytes:
    """Some of what happens to files: bits, stretches, times, fields of packets, an end."""
    chance, found = random.Random(seed), bytearray(content)
    for _ in range(chance.randint(1, 6)):
        block, at, word = chance.choice(blocks), chance.randrange(len(found)), chance.getrandbits(32)
        kind = chance.randrange(7)
        if kind == 0:
            found[at] ^= 1 << chance.randrange(8)
        elif kind == 1:
            del found[at : at + chance.randrange(1, 400)]
        elif kind == 2:
            found[at:at] = found[at : at + chance.randrange(1, 3000)]
        elif kind == 3:
            put(found, block + 12, chance.choice((*WILD, word)), word)
        elif kind == 4:
            put(found, block + 28 + chance.randrange(100), chance.choice((*WILD, word)))
        elif kind == 5:
            put(found, block + 8, chance.randrange(6))
        else:
            del found[max(at, 28) :]
    return bytes(found)


@pytest.mark.parametrize("part", range(6))
def test_no_damage_stops_the_answer(whole: bytes, part: int, tmp_path: Path) -> None:
    blocks, answered = blocks_of(whole), 0
    path = tmp_path / "damaged.pcapng"
    for seed in range(10 * part, 10 * part + 10):
        path.write_bytes(damaged(whole, blocks, seed))
        with suppress(InputError):  # nothing of it can be read
            found = bufferlab.observe(path)
            answered += 1
            assert f"{found.observation.packets:,} packets" in str(found), seed
            json.dumps(found.to_dict(), allow_nan=False)
            assert found.scenario(mix=[("reno", 100.0)]).flows, seed  # or its rate is not known
    assert answered >= 5


def test_one_wrong_time_changes_nothing_else(whole: bytes, tmp_path: Path) -> None:
    blocks = blocks_of(whole)
    right, wrong = tmp_path / "right.pcapng", tmp_path / "wrong.pcapng"
    right.write_bytes(whole)
    expected = bufferlab.observe(right)
    for high in (3, 1 << 31):  # times are nanoseconds since the capture's begin
        content = bytearray(whole)
        put(content, blocks[len(blocks) // 2] + 12, high)
        wrong.write_bytes(content)
        found = bufferlab.observe(wrong)
        assert found.observation.totals["wrong_times"] == 1
        assert "1 packet has a time that its neighbors contradict; theirs is taken" in " ".join(
            str(found).split()
        )
        same = ("duration_s", "long_flows", "loss")
        assert {key: found.to_dict()[key] for key in same} == pytest.approx(
            {key: expected.to_dict()[key] for key in same}, rel=1e-3
        )


def test_a_clock_that_was_set_back_is_said(whole: bytes, tmp_path: Path) -> None:
    content, blocks, path = bytearray(whole), blocks_of(whole), tmp_path / "back.pcapng"
    for block in blocks[3 : len(blocks) // 2]:
        put(content, block + 12, int.from_bytes(whole[block + 12 : block + 16], "little") + 900)
    path.write_bytes(content)
    said = " ".join(str(bufferlab.observe(path)).split())
    assert "by up to 3870 s: a clock was set, or files were joined. Believe nothing here" in said


def test_which_share_of_a_damaged_file_was_read_is_said(whole: bytes, tmp_path: Path) -> None:
    """A length that cannot be, in the middle, costs its block alone."""
    path, blocks = tmp_path / "damaged.pcapng", blocks_of(whole)
    middle = blocks[len(blocks) // 2]
    content = bytearray(whole)
    put(content, middle + 4, 7)
    path.write_bytes(content)
    found = bufferlab.observe(path)
    seen = found.observation
    lost = blocks[len(blocks) // 2 + 1] - middle
    assert (seen.read_bytes, seen.skipped_bytes) == (len(whole) - lost, lost)
    share = f"{min(100 * seen.read_bytes / len(whole), 99.9):.1f} %"
    text = " ".join(str(found).split())
    assert f"first at byte {middle:,}, {100 * middle / len(whole):.1f} % into the file)" in text
    assert f", {share}: {seen.packets:,} packets over " in text
    assert f"are judged; skipped {lost} B, up to what can be records again" in text
    assert found.to_dict()["file_bytes"] == len(whole)
    path.write_bytes(gzip.compress(bytes(content)))
    packed = bufferlab.observe(path)
    assert packed.observation.file_bytes is None
    assert "(of the whole, the size is not known)" in " ".join(str(packed).split())
    path.write_bytes(whole)
    assert "are judged" not in str(bufferlab.observe(path))
    path.write_bytes(whole[: middle + 20])
    assert "it was cut (1 time, first at byte" in (cut := " ".join(str(bufferlab.observe(path)).split()))
    assert "what is missing behind it cannot be known" in cut
    assert re.search(r"read [\d.]+ [kKM]?B, up to where it was cut: [\d,]+ packets", cut)  # it was "99.9 %"
