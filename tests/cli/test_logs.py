"""What long commands say to a log while they run: plain lines, one a stage."""

from __future__ import annotations

import re

import pytest

from bufferlab import log

from .conftest import Command

LINE = re.compile(r"bufferlab: \d+ s: .+")


@pytest.fixture(autouse=True)
def at_once(bufferlab: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    del bufferlab  # its patience is set first
    monkeypatch.setattr(log, "PATIENCE_S", 0.0)


def lines(err: str) -> list[str]:
    assert err.isprintable() or not re.search(r"[^\n\x20-\x7e±…–]", err), err
    found = err.splitlines()
    assert all(map(LINE.fullmatch, found)), found
    return [line.partition(" s: ")[2] for line in found]


def test_advise_tells_its_stages_and_its_first_answer(bufferlab: Command) -> None:
    ended = bufferlab("advise", "small.toml", "--utilization", "0.9", "--queues", "fifo,codel")
    assert ended.status == 0
    logged = lines(ended.err)
    assert logged[0].startswith("searching the buffers: fifo looking at 1 packet to ")
    begun, first = (at for at, line in enumerate(logged) if " runs, first answer" in line)
    assert " runs, first answer, larger buffers and other queues not tried yet: fifo, " in logged[begun]
    assert " runs, first answer of all queues: " in logged[first]
    assert ": meets the target; mean wait " in logged[begun]  # how surely, such short runs do not tell
    assert logged[first - 1] == "comparing the queues with 5 runs each"
    refined = [at for at, line in enumerate(logged) if " runs, refined answer: " in line]
    assert first < refined[0] and len({logged[at] for at in refined}) == len(refined)  # one for each look
    changes = [line for line in logged if line.startswith("trying ")]
    assert [re.sub(r".* \((.*)\)", r"\1", change) for change in changes] == [
        f"{number} of {len(changes)}" for number in range(1, len(changes) + 1)
    ]
    assert any(change.startswith("trying twice the round-trip times (") for change in changes)
    assert logged[refined[-1] + 1 :] == [*changes, "measuring half of the buffer"]


def test_advise_names_the_link_of_several_in_its_answers(bufferlab: Command) -> None:
    ended = bufferlab("advise", "--home", "4/1Mbps", "--quick", "--queues", "fq_codel")
    logged = ended.err.splitlines()
    found = [
        line.partition(" runs, ")[2].partition(": ")[0] for line in logged if " runs, first answer" in line
    ]
    assert set(found) == {"first answer of all queues (download)", "first answer of all queues (upload)"}


def test_size_tells_its_stages(bufferlab: Command) -> None:
    ended = bufferlab("size", "small.toml", "--utilization", "0.9", "--json")
    assert ended.status == 0
    logged = lines(ended.err)
    assert logged[0].startswith("looking at 1 packet to ") and " packets" in logged[0]
    assert any(line.startswith("checking ") for line in logged)
    assert logged[-1] == "simulating the rules' buffers"


@pytest.mark.parametrize(
    ("words", "runs"),
    [
        (("compare", "small.toml", "--queues", "fifo,codel", "--seeds", "2", "--fresh"), 4),
        (("run", "small.toml", "--seeds", "3"), 3),
        (("sweep", "small.toml", "--vary", "flows.near.count=1,2,3"), 3),
    ],
)
def test_runs_of_one_experiment_are_counted(bufferlab: Command, words: tuple[str, ...], runs: int) -> None:
    ended = bufferlab(*words)
    assert ended.status == 0
    logged = lines(ended.err)
    assert re.fullmatch(rf"\d of {runs} runs(, .*)?", logged[0]), logged
