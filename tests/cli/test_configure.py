"""`bufferlab configure` from a shell."""

from __future__ import annotations

import json

from .conftest import Command


def test_lines_with_notes_as_comments(bufferlab: Command) -> None:
    ended = bufferlab("configure", "--rate", "100 Mbps", "--queue", "fq_codel", "--buffer", "1000 packets")
    assert (ended.status, ended.err) == (0, "")
    first, second, *notes = ended.out.splitlines()
    assert first == "tc qdisc del dev eth0 root 2>/dev/null || true"
    assert second.startswith("tc qdisc add dev eth0 root fq_codel limit 1000 ")
    assert notes and all(note.startswith("# ") for note in notes)


def test_a_queue_with_parameters_and_json(bufferlab: Command) -> None:
    queue = "{discipline = 'codel', target = '10 ms'}"
    ended = bufferlab("configure", "--rate", "1 Gbps", "--queue", queue, "--buffer", "5 ms", "--json")
    document = json.loads(ended.out)
    assert (document["format"], document["amount"], document["unit"]) == (
        "bufferlab-configuration",
        417,
        "packets",
    )
    assert "codel limit 417 target 10ms" in document["lines"][1]


def test_errors_name_the_options(bufferlab: Command) -> None:
    ended = bufferlab("configure", "--rate", "1 Gbps", "--buffer", "5 ms", "--platform", "rooteros")
    assert ended.status == 2
    assert "--platform: 'rooteros' is not a known platform (did you mean 'routeros'?)" in ended.err
    ended = bufferlab("configure", "--rate", "1 Gbps", "--buffer", "5 ms", "--queue", "splitbuff")
    assert (ended.status, ended.out) == (2, "")
    assert "--queue: 'splitbuff' has no equivalent on Linux" in ended.err
    assert "nearest: fq_codel" in ended.err


def test_cake_is_a_queue_and_an_option(bufferlab: Command) -> None:
    ended = bufferlab("configure", "--rate", "100 Mbps", "--queue", "cake", "--buffer", "1 MB")
    assert ended.status == 0 and "root cake bandwidth 100mbit diffserv3 triple-isolate" in ended.out


def test_the_help_has_three_examples(bufferlab: Command) -> None:
    ended = bufferlab("configure", "--help")
    assert ended.out.count("  bufferlab configure --rate") == 3
