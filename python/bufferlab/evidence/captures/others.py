"""What tshark and tcptrace make of the same captures, beside `observe`."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import polars as pl

from bufferlab.captured.findings import observe
from bufferlab.captured.observation import NS_PER_MS, Observation
from bufferlab.evidence.captures.drawn import drawn
from bufferlab.evidence.captures.seen import PLACES
from bufferlab.evidence.documents import Work
from bufferlab.experiment.run import run

SCENARIOS: Final = 20
QUICK_SCENARIOS: Final = 2
SECONDS: Final = 15

SAME_PERCENT: Final = 1.0
SAME_MS: Final = 0.1
"""Two round-trip times are equal within one of these: tcptrace prints tenths of a millisecond."""

_FIELDS: Final = (
    "ip.src",
    "tcp.srcport",
    "ip.dst",
    "tcp.dstport",
    "tcp.analysis.ack_rtt",
    "tcp.analysis.retransmission",
    "tcp.analysis.out_of_order",
    "tcp.analysis.spurious_retransmission",
)
_TRACED: Final = {"packets": "actual data pkts", "again": "rexmt data pkts", "least_ms": "RTT min"}
_ENDS: Final = ("source", "source_port", "destination", "destination_port")


def other_tables(work: Work) -> dict[str, pl.DataFrame]:
    """A row a place, program and quantity: what it says, what we say, and for how many flows that is equal.

    A program that is not installed has no rows.
    """
    count = QUICK_SCENARIOS if work.request.quick else SCENARIOS
    with work.request.runner() as runner, runner.bar("captures") as bar:
        rows: list[dict[str, Any]] = []
        for number in range(1, count + 1):
            bar.update((number - 1) / count, f"scenario {number}")
            rows += _compared(number)
    groups = pl.DataFrame(rows, infer_schema_length=None).group_by(
        "place", "program", "quantity", maintain_order=True
    )
    return {"others": groups.agg(pl.col("flows", "equal", "theirs", "ours").sum())}


def _compared(number: int) -> Iterator[dict[str, Any]]:
    table = drawn(number, duration_s=SECONDS)
    for place in PLACES:
        with TemporaryDirectory(prefix="bufferlab-") as folder:
            path = Path(folder, "link.pcapng")
            run(table, progress=False, pcap=path, pcap_at=[place])
            ours = senders_of(observe(path).observation)
            for program, read in (("tshark", by_tshark), ("tcptrace", by_tcptrace)):
                if shutil.which(program) is not None:
                    yield from _rows(ours.join(read(path), on=_ENDS), place, program)


def senders_of(observation: Observation) -> pl.DataFrame:
    """A row a direction of a TCP connection with data: its ends, and what we say of it."""
    tcp = observation.connections.filter(pl.col("protocol") == _TCP)
    ends = ("initiator", "initiator_port", "responder", "responder_port")
    known = observation.directions.filter(pl.col("payload_bytes") > 0).join(
        tcp.select("connection", "path_rtt_ns", *ends), on="connection"
    )
    named = [
        pl.when(pl.col("sender") == 0).then(pl.col(ends[at])).otherwise(pl.col(ends[at - 2])).alias(name)
        for at, name in enumerate(_ENDS)
    ]
    return known.with_columns(named).select(
        *_ENDS,
        (pl.col("path_rtt_ns") / NS_PER_MS).alias("path_ms"),
        (pl.col("rtt_min_ns") / NS_PER_MS).alias("our_least_ms"),
        pl.col("retransmitted_segments").alias("our_again"),
        pl.col("spurious_segments").alias("our_spurious"),
        pl.col("reordered_segments").alias("our_reordered"),
    )


_TCP: Final = 6


def by_tshark(path: Path) -> pl.DataFrame:
    """The same by tshark: `least_ms` (of ack_rtt), `again` (retransmissions and out-of-order), `spurious`."""
    asked = [part for name in _FIELDS for part in ("-e", name)]
    text = _said("tshark", "-n", "-r", str(path), "-Y", "tcp", "-T", "fields", "-E", "separator=,", *asked)
    names = [*_ENDS, "ack_rtt", "retransmission", "out_of_order", "spurious"]
    types = {"ack_rtt": pl.Float64, "source_port": pl.UInt32, "destination_port": pl.UInt32}
    packets = pl.read_csv(
        io.StringIO(text),
        has_header=False,
        new_columns=names,
        infer_schema_length=None,
        schema_overrides=types,
    )
    flagged = [pl.col(name).is_not_null() for name in ("retransmission", "out_of_order", "spurious")]
    sent = packets.group_by(_ENDS).agg(again=(flagged[0] | flagged[1]).sum(), spurious=flagged[2].sum())
    back = dict(zip(_ENDS, (*_ENDS[2:], *_ENDS[:2]), strict=True))
    answered = packets.rename(back).group_by(_ENDS).agg(least_ms=1e3 * pl.col("ack_rtt").min())
    return sent.join(answered, on=_ENDS)


def by_tcptrace(path: Path) -> pl.DataFrame:
    """The same by tcptrace: `least_ms` and `again`."""
    text = _said("tcptrace", "-lr", "-n", str(path))
    rows = []
    for part in re.split(r"^TCP connection \d+:", text, flags=re.MULTILINE)[1:]:
        hosts = re.findall(r"host \w+: +(\S+):(\d+)", part)
        found = {name: re.findall(rf"{re.escape(label)}: +([\d.]+)", part) for name, label in _TRACED.items()}
        for way in (0, 1):
            source, destination = hosts[way], hosts[1 - way]
            rows.append(
                {
                    **dict(zip(_ENDS, (*source, *destination), strict=True)),
                    **{name: float(values[way]) for name, values in found.items()},
                }
            )
    ports = [pl.col(name).cast(pl.UInt32) for name in ("source_port", "destination_port")]
    return pl.DataFrame(rows).with_columns(ports)


def _said(program: str, *arguments: str) -> str:
    command = [shutil.which(program) or program, *arguments]
    done = subprocess.run(command, check=True, capture_output=True, text=True, errors="replace")  # noqa: S603
    return done.stdout


def _rows(flows: pl.DataFrame, place: str, program: str) -> Iterator[dict[str, Any]]:
    for quantity, own, other in (
        ("segments sent again", "our_again", "again"),
        ("of those, spurious", "our_spurious", "spurious"),
    ):
        if other in flows.columns:
            same = pl.col(own) == pl.col(other)
            yield _row(flows, (place, program, quantity), (own, other), same)
    if place == PLACES[0]:  # beside a receiver its acknowledgments take no time
        timed = flows.filter((pl.col("least_ms") > 0) & pl.col("our_least_ms").is_finite())
        most = pl.max_horizontal(pl.lit(SAME_MS), SAME_PERCENT / 100 * pl.col("path_ms"))
        same = (pl.col("our_least_ms") - pl.col("least_ms")).abs() <= most
        yield _row(timed, (place, program, "smallest round trip, ms"), ("our_least_ms", "least_ms"), same)


def _row(
    flows: pl.DataFrame, key: tuple[str, str, str], columns: tuple[str, str], same: pl.Expr
) -> dict[str, Any]:
    place, program, quantity = key
    ours, theirs = (float(flows[name].sum()) for name in columns)
    found = {"flows": len(flows), "equal": flows.filter(same).height, "theirs": theirs, "ours": ours}
    return {"place": place, "program": program, "quantity": quantity, **found}
