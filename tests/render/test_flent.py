"""Files for Flent: by the format's description, and by Flent itself where it is installed."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import bufferlab
from bufferlab import InputError, Result
from bufferlab.render import flent

EXAMPLES = Path(__file__).parents[2] / "examples"
PING = {"kind": "ping", "interval": "100 ms"}
CALL = {"kind": "udp", "packet": "200 B", "interval": "20 ms", "record": True}


def one_way(**more: Any) -> dict[str, Any]:
    return {
        "run": {"name": "by hand", "duration": "20 s"},
        "bottleneck": {"rate": "10 Mbps", "delay": "2 ms", "buffer": "50 packets"},
        "flows": [
            {"name": "bulk", "count": 2, "rtt": "40 ms"},
            {"name": "ping", "rtt": "40 ms", "application": PING},
            {"name": "call", "rtt": "40 ms", "application": CALL},
        ],
        "probes": {"interval": "200 ms"},
        **more,
    }


def both_ways() -> dict[str, Any]:
    links = [{"name": name, "rate": "10 Mbps", "buffer": "50 packets"} for name in ("up", "down")]
    up, down = (
        {"path": [a], "reverse_path": [b], "rtt": "40 ms"} for a, b in (("up", "down"), ("down", "up"))
    )
    flows = [
        {"name": "uploads", "count": 2, **up},
        {"name": "downloads", "count": 3, **down},
        {"name": "ping", **up, "application": PING},
        {"name": "far-ping", **up, "rtt": "90 ms", "application": PING},
    ]
    return {"run": {"duration": "20 s"}, "links": links, "flows": flows, "probes": {"interval": "200 ms"}}


@pytest.fixture(scope="module")
def result() -> Result:
    return bufferlab.run(one_way())[0]


@pytest.fixture(scope="module")
def written(result: Result, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("flent") / "one.flent.gz"
    flent.save(result, path)
    return path


def test_the_document_has_the_parts_of_the_format(written: Path) -> None:
    document = json.loads(gzip.decompress(written.read_bytes()))
    assert set(document) == {"version", "x_values", "results", "metadata", "raw_values"}
    assert document["version"] == 4
    x_values = document["x_values"]
    assert (x_values[0], x_values[-1], len(x_values)) == (0.2, 20.0, 100)
    assert {len(series) for series in document["results"].values()} == {100}
    assert document["metadata"]["NAME"] == "tcp_nup"
    assert document["metadata"]["TEST_PARAMETERS"] == {"upload_streams": "2", "voip_host": "call"}
    assert document["metadata"]["STEP_SIZE"] == 0.2


def test_streams_are_the_samples(result: Result, written: Path) -> None:
    series = json.loads(gzip.decompress(written.read_bytes()))["results"]
    for number, flow in ((1, 0), (2, 1)):
        rates = result.flow_samples.filter(flow=flow)["goodput_bps"].drop_nulls() / 1e6
        shown = [value for value in series[f"TCP upload::{number}"] if value is not None]
        assert shown == pytest.approx(rates.to_list())
    last = [series[f"TCP upload::{number}"][-1] for number in (1, 2)]
    assert series["TCP upload sum"][-1] == pytest.approx(sum(last))
    assert series["TCP upload avg"][-1] == pytest.approx(sum(last) / 2)


def test_pings_are_means_of_their_intervals(result: Result, written: Path) -> None:
    document = json.loads(gzip.decompress(written.read_bytes()))
    pings = result.exchanges.filter(group="ping").drop_nulls("end_s")
    raw = document["raw_values"]["Ping (ms) ICMP"]
    assert [row["val"] for row in raw] == pytest.approx((pings["duration_s"] * 1e3).to_list())
    tenth = [row["val"] for row in raw if 1.8 < row["t"] <= 2.0]
    assert document["results"]["Ping (ms) ICMP"][9] == pytest.approx(sum(tenth) / len(tenth))


def test_the_same_run_gives_the_same_bytes(result: Result, written: Path, tmp_path: Path) -> None:
    flent.save(result, tmp_path / "again.flent.gz")
    assert (tmp_path / "again.flent.gz").read_bytes() == written.read_bytes()


def test_flows_of_both_ways_are_uploads_and_downloads() -> None:
    document = flent.document(bufferlab.run(both_ways())[0])
    assert document["metadata"]["NAME"] == "rrul_be_nflows"
    assert document["metadata"]["TEST_PARAMETERS"] == {
        "upload_streams": "2", "download_streams": "3", "ping_hosts": "far-ping",
    }  # fmt: skip
    names = set(document["results"])
    assert {
        "TCP upload BE::2",
        "TCP download BE::3",
        "TCP totals",
        "Ping (ms) ICMP far-ping (extra)",
    } <= names


def test_pings_alone_are_the_test_of_that_name() -> None:
    alone = one_way(flows=[{"name": "ping", "rtt": "40 ms", "application": PING}])
    del alone["probes"]
    document = flent.document(bufferlab.run(alone)[0])
    assert document["metadata"]["NAME"] == "ping"
    assert document["results"]["Ping (ms) ICMP"][5] == pytest.approx(40.07, abs=0.01)


def test_what_flent_has_no_test_for_is_refused() -> None:
    datagrams = {"kind": "udp", "packet": "1000 B", "rate": "1 Mbps"}
    alone = bufferlab.run(one_way(flows=[{"rtt": "40 ms", "application": datagrams}]))[0]
    with pytest.raises(InputError, match="neither samples of TCP flows nor pings"):
        flent.document(alone)


@pytest.mark.skipif(shutil.which("flent") is None, reason="flent is not installed: apt install flent")
@pytest.mark.parametrize(
    ("scenario", "plots"),
    [
        (
            one_way(),
            ("totals", "upload_with_ping_and_tcp_rtt", "ping_cdf", "tcp_cwnd", "tcp_rtt", "voip_delay"),
        ),
        (both_ways(), ("all_scaled", "totals", "ping_extra")),
    ],
    ids=["tcp_nup", "rrul_be_nflows"],
)
def test_flent_reads_and_plots_it(scenario: dict[str, Any], plots: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "run.flent.gz"
    result = bufferlab.run(scenario)[0]
    flent.save(result, path)

    def read(*args: str) -> str:
        command = ["flent", "-i", str(path), *args]
        ended = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
        assert ended.returncode == 0, ended.stderr
        assert "ERROR" not in ended.stderr, ended.stderr
        return ended.stdout

    for plot in plots:
        read("-f", "plot", "-p", plot, "-o", f"{plot}.png")
        assert (tmp_path / f"{plot}.png").read_bytes().startswith(b"\x89PNG")
    read("-f", "csv", "-o", "run.csv")
    names, *lines = (line.split(",") for line in (tmp_path / "run.csv").read_text().splitlines())
    assert len(lines) == 100
    document = flent.document(result)
    for name, values in document["results"].items():
        column = names.index(name)
        shown = [float(line[column]) if line[column] else None for line in lines]
        assert [value for value in shown if value is not None] == pytest.approx(
            [value for value in values if value is not None], rel=1e-6
        )
