"""Captures from an interface, here the loopback."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

import bufferlab
from bufferlab import InputError
from bufferlab.captured.live import KEPT_BYTES, record

SECONDS = 1.0


def may_capture() -> bool:
    if not hasattr(socket, "AF_PACKET"):
        return False
    try:
        socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM).close()
    except PermissionError:
        return False
    return True


needs_rights = pytest.mark.skipif(not may_capture(), reason="capturing needs Linux and root (CAP_NET_RAW)")


@pytest.fixture
def port() -> Iterator[int]:
    """Of a server to which a client sends 4000 bytes every 5 ms."""
    stop = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:
        number: int = server.getsockname()[1]

        def receive() -> None:
            accepted, _ = server.accept()
            with accepted:
                while accepted.recv(65_536):
                    pass

        def send() -> None:
            time.sleep(SECONDS / 5)
            with socket.create_connection(("127.0.0.1", number)) as sender:
                while not stop.wait(0.005):
                    sender.sendall(bytes(4000))

        threads = [threading.Thread(target=each) for each in (receive, send)]
        for each in threads:
            each.start()
        yield number
        stop.set()
        for each in threads:
            each.join()


@needs_rights
def test_an_interface_is_captured(port: int, tmp_path: Path) -> None:
    path = tmp_path / "lo.pcapng"
    recorded = record("lo", SECONDS, path)
    assert recorded.missed == 0 and recorded.packets > 100
    found = bufferlab.observe(path).observation
    assert found.packets == recorded.packets and found.duration_s < SECONDS
    assert found.warnings == [] and found.interfaces[0][0] == "lo"
    (own,) = found.connections.filter(pl.col("responder_port") == port).to_dicts()
    assert own["initiator"] == own["responder"] == "127.0.0.1" and own["is_opened"]
    sent = found.directions.filter(connection=own["connection"], sender=0).to_dicts()[0]
    assert sent["payload_bytes"] > 100 * 4000 * SECONDS / 2
    assert sent["retransmitted_segments"] == 0 and 0 < sent["rtt_min_ns"] < 5e6
    assert path.stat().st_size < recorded.packets * (KEPT_BYTES + 64) + 1000  # no more than headers


@needs_rights
def test_what_is_no_interface_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"'nosuch0' is no interface; accepted: lo"):
        record("nosuch0", SECONDS, tmp_path / "none.pcapng")
