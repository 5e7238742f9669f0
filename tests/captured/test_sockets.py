"""Logs of `ss -tin` beside a capture."""

from __future__ import annotations

from pathlib import Path

import pytest

from bufferlab import InputError
from bufferlab.captured.sockets import Sockets, read_sockets

HEAD = "State Recv-Q Send-Q Local Address:Port  Peer Address:Port Process\n"


def entry(port: int, control: str, acked: int, least: str = "minrtt:20.1") -> str:
    """As iproute2 6.1 prints a connection."""
    return (
        f"ESTAB 0      0          192.0.2.1:{port}    198.51.100.2:443   \n"
        f"\t ts sack ecn {control} wscale:7,7 rto:204 rtt:35.08/0.014 mss:1448 pmtu:1500 cwnd:16 ssthresh:8 "
        f"bytes_sent:5000000 bytes_acked:{acked} bbr:(bw:30815527568bps,mrtt:0.028) send 1047728bps {least}\n"
    )


def test_the_last_entry_of_each_long_flow_counts(tmp_path: Path) -> None:
    path = tmp_path / "ss.log"
    flows = entry(1, "cubic", 90_000) + entry(2, "bbr", 7_000_000, "minrtt:40") + entry(3, "cubic", 800)
    path.write_text(HEAD + flows + HEAD + entry(1, "cubic", 200_000) + entry(4, "cubic", 200_000))
    found = read_sockets(path)
    assert found == Sockets({"cubic-linux(hystart)": 2, "bbr": 1}, "choice(20.1 ms: 2, 40 ms)")
    assert found.mix == [("cubic-linux(hystart)", 2.0), ("bbr", 1.0)]


def test_entries_of_one_line_and_ipv6(tmp_path: Path) -> None:
    path = tmp_path / "ss.log"
    path.write_text(
        "ESTAB 0 0 [2001:db8::1]:5201 [2001:db8::2]:41234 reno rto:204 mss:1448 bytes_acked:300000\n"
    )
    assert read_sockets(path) == Sockets({"reno": 1}, None)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nothing of the kind\n", "has no TCP connection of which more than 100 kB were acknowledged"),
        (entry(1, "illinois", 200_000), "'illinois' is not a known congestion control"),
    ],
)
def test_what_cannot_be_used_is_said(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "ss.log"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        read_sockets(path)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        read_sockets(tmp_path / "none.log")
