"""What tcptrace makes of our captures, against our own figures."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import bufferlab

pytestmark = pytest.mark.skipif(
    shutil.which("tcptrace") is None, reason="tcptrace is missing: sudo apt-get install tcptrace"
)


def tcptrace(path: Path, *names: str) -> list[list[float]]:
    """Figures of the senders' direction, a list for each name."""
    done = subprocess.run(["tcptrace", "-lr", "-n", str(path)], check=True, capture_output=True, text=True)
    found = (re.findall(rf"^ +{re.escape(name)}: +([\d.]+)", done.stdout, re.MULTILINE) for name in names)
    return [[float(value) for value in values] for values in found]


def scenario(window: str, buffer: str) -> dict[str, object]:
    return {
        "run": {"duration": "20 s", "warmup": "0 s", "seed": 3},
        "bottleneck": {"rate": "10 Mbps", "delay": "5 ms", "buffer": buffer},
        "flows": [{"count": 3, "rtt": "40 ms", "rtt_spread": 0.3, "delayed_ack": False, "window": window}],
    }


def test_bytes_and_retransmissions_are_ours(tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    result = bufferlab.run(scenario("2 MB", "40 packets"), pcap=path, progress=False)[0]
    names = ("actual data pkts", "actual data bytes", "rexmt data pkts", "unique bytes sent")
    packets, octets, again, unique = tcptrace(path, *names)
    sent, resent = result.flows["whole_sent_packets"], result.flows["whole_retransmissions"]
    assert packets == sent.to_list()
    assert octets == (sent * 1448).to_list()
    assert again == resent.to_list()
    assert sum(again) > 30
    assert unique == ((sent - resent) * 1448).to_list()


@pytest.mark.parametrize(
    ("window", "buffer", "tolerance_ms"), [("30 segments", "200 packets", 0.1), ("2 MB", "40 packets", 1.0)]
)
def test_round_trips_are_ours(window: str, buffer: str, tolerance_ms: float, tmp_path: Path) -> None:
    path = tmp_path / "a.pcapng"
    result = bufferlab.run(scenario(window, buffer), pcap=path, progress=False)[0]
    (times,) = tcptrace(path, "RTT avg")
    # tcptrace prints tenths; it leaves out what was sent again, of which timestamps tell us more
    assert times == pytest.approx(result.flows["rtt_ms"].to_list(), abs=tolerance_ms)
