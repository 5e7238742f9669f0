"""Addresses that can be given away."""

from __future__ import annotations

import ipaddress
from itertools import pairwise
from pathlib import Path

import polars as pl
import pytest

import bufferlab
from bufferlab import InputError
from bufferlab.captured.privacy import read_key

from .conftest import Captured

KEY = "00112233445566778899aabbccddeeff" * 2


@pytest.fixture
def key(tmp_path: Path) -> Path:
    path = tmp_path / "key"
    path.write_text(f"{KEY[:32]}\n{KEY[32:]}\n", encoding="utf-8")
    return path


def shared_bits(one: str, other: str) -> int:
    bits = int(ipaddress.ip_address(one)) ^ int(ipaddress.ip_address(other))
    return 32 - bits.bit_length()


def test_addresses_are_others_and_networks_stay(captured: Captured, key: Path, tmp_path: Path) -> None:
    plain = bufferlab.observe(captured.at_senders)
    other = bufferlab.observe(captured.at_senders, anonymize=key)
    ends = [
        pl.concat([found.observation.connections[end] for end in ("initiator", "responder")]).to_list()
        for found in (plain, other)
    ]
    assert len(set(ends[0])) == len(set(ends[1])) and not set(ends[0]) & set(ends[1])
    pairs = list(zip(*ends, strict=True))
    for (a, b), (c, d) in pairwise(pairs):
        assert shared_bits(a, c) == shared_bits(b, d)
    assert str(plain) == str(other) and plain.to_dict() == other.to_dict()
    other.save(tmp_path / "given")
    for path in (tmp_path / "given").iterdir():
        content = path.read_bytes()
        assert not any(own.encode() in content for own in set(ends[0])), path
    connections = pl.read_parquet(tmp_path / "given" / "connections.parquet")
    assert connections["initiator"].to_list() == other.observation.connections["initiator"].to_list()


@pytest.mark.parametrize(("text", "said"), [("xy" * 32, "other than hexadecimal"), (KEY[:-2], "62 digits")])
def test_a_bad_key_is_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=rf"{said}.*openssl rand -hex 32"):
        read_key(path)


def test_no_key_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        bufferlab.observe("nothing.pcap", anonymize=tmp_path / "none")
