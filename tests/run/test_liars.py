"""What docs/splitbuff.md and docs/compare.md say of liars and floods: every cell is what a run gives.

`REWRITE=1 pytest tests/run/test_liars.py` writes the tables anew.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any, Final

import polars as pl
import pytest

from bufferlab.experiment.simulation import simulate
from bufferlab.results.result import Result
from bufferlab.scenario import Scenario

ROOT: Final = Path(__file__).parents[2]
EXAMPLE: Final = ROOT / "examples" / "liar.toml"
PAYLOAD: Final = 1448 / 1500
"""What headers leave of the link."""

SPLIT: Final = {"discipline": "splitbuff"}
WEIGHTED: Final = {"discipline": "splitbuff", "weighted": True, "thresholds": "gaps", "sub_buffers": 4}
DEFENSE: Final = {"sizes": "own", "police": 1.0}
QUEUES: Final[Mapping[str, dict[str, Any]]] = {
    "SplitBuff": SPLIT,
    "SplitBuff, weighted": WEIGHTED,
    "SplitBuff, defended": SPLIT | DEFENSE,
    "weighted, defended": WEIGHTED | DEFENSE,
}
LIES: Final = ("none", "100 ms", "1 s", "10 s", "600 s")
MIXED_LIES: Final = ("none", "200 ms", "600 s")
PLACES: Final = {
    "header": "header",
    "header(4 bits)": "header",
    "timestamps": "timestamps",
    "handshake": "handshake",
    "oracle": "header",
}
"""Where a liar has to lie, by source of round-trip times."""

FLOOD_QUEUES: Final[Mapping[str, object]] = {
    "FIFO": "fifo",
    "CoDel": "codel",
    "PIE": "pie",
    "RED": "red",
    "DRR": "drr",
    "FQ-CoDel": "fq_codel",
    **QUEUES,
    "Blind-SplitBuff": "splitbuff-blind",
    "COBALT": "cobalt",
    "CAKE": "cake",
    "FQ-PIE": "fq_pie",
    "FQ-PIE, 10,240 packets": "fq_pie",
    "PI2": "pi2",
    "DualPI2": "dualpi2",
    "ADT": "adt",
}


def measured(scenario: Mapping[str, Any], seed: int = 1) -> Result:
    result = simulate(Scenario.from_dict(scenario), seed)
    assert result is not None
    return result


def goodputs(scenario: Mapping[str, Any], seed: int = 1) -> tuple[dict[str, float], float]:
    """Mean goodput of a flow of each group, Mbps, and the part of the link that is used, %."""
    result = measured(scenario, seed)
    means = result.flows.group_by("group").agg(pl.col("goodput_bps").mean() / 1e6)
    return dict(means.iter_rows()), 100 * float(result.queues["utilization"].max())  # type: ignore[arg-type]


def group(name: str, count: int, rtt: str, **keys: object) -> dict[str, object]:
    usual = {"rtt_spread": 0.2 if count > 1 else 0.0, "jitter": "uniform(0 s, 0.5 ms)"}
    return {"name": name, "count": count, "rtt": rtt, "start": "uniform(0 s, 2 s)", **usual, **keys}


def liar(count: int, lie: str, place: str) -> dict[str, object]:
    keys = {} if lie == "none" else {"stated_rtt": lie, "stated_in": place}
    return group("liar", count, "20 ms", **keys)


def scenario(queue: object, *flows: Mapping[str, object], **link: object) -> dict[str, object]:
    bottleneck = {"rate": "100 Mbps", "delay": "1 ms", "queue": queue, **link}
    return {
        "run": {"duration": "60 s", "warmup": "20 s"},
        "bottleneck": bottleneck,
        "flows": list(flows),
    }


def alone(queue: dict[str, Any], lie: str, place: str = "header") -> dict[str, object]:
    """As the example: one of twenty."""
    return scenario(queue, liar(1, lie, place), group("honest", 19, "20 ms"))


def among(queue: dict[str, Any], lie: str) -> dict[str, object]:
    """Ten of a hundred, near and far ones."""
    return scenario(queue, liar(10, lie, "header"), group("near", 45, "20 ms"), group("far", 45, "200 ms"))


AMPLE: Final = {"FQ-PIE, 10,240 packets": "10240 packets"}
"""Rows of queues with another buffer than a bandwidth-delay product: Linux's usual limit."""


def flooded(queue: object, multiple: float, buffer: str = "1 bdp") -> dict[str, object]:
    """Ten flows beside datagrams at a multiple of the link's rate."""
    datagrams = {"kind": "udp", "packet": "1500 B", "rate": f"{100 * multiple:g} Mbps"}
    flood = {"name": "flood", "rtt": "20 ms", "application": datagrams}
    return scenario(queue, group("honest", 10, "20 ms"), flood, buffer=buffer)


def table(first: str, rows: Mapping[str, list[str]], columns: list[str]) -> str:
    lines = [f"| {' | '.join([first, *columns])} |", "| --- " * (len(columns) + 1) + "|"]
    lines += [f"| {' | '.join([name, *cells])} |" for name, cells in rows.items()]
    return "\n".join(lines)


def one_liar() -> str:
    def cell(lie: str, queue: dict[str, Any]) -> str:
        rates, used = goodputs(alone(queue, lie))
        return f"{rates['liar']:.1f}; {rates['honest']:.2f}; {used:.0f}"

    rows = {lie: [cell(lie, queue) for queue in QUEUES.values()] for lie in LIES}
    return table("stated", rows, list(QUEUES))


def ten_liars() -> str:
    def cell(lie: str, queue: dict[str, Any]) -> str:
        runs = [goodputs(among(queue, lie), seed) for seed in (1, 2, 3)]
        rates = {name: fmean(run[0][name] for run in runs) for name in runs[0][0]}
        used = fmean(run[1] for run in runs)
        return f"{rates['liar']:.2f}; {rates['near']:.2f}, {rates['far']:.2f}; {used:.0f}"

    rows = {lie: [cell(lie, queue) for queue in QUEUES.values()] for lie in MIXED_LIES}
    return table("stated", rows, list(QUEUES))


def sources() -> str:
    def cell(source: str, place: str, queue: dict[str, Any]) -> str:
        rates, _ = goodputs(alone(queue | {"rtt": source}, "10 s", place))
        return f"{rates['liar']:.1f}; {rates['honest']:.2f}"

    rows = {
        f"`{source}`": [place, *(cell(source, place, queue) for queue in QUEUES.values())]
        for source, place in PLACES.items()
    }
    return table("source", rows, ["lie in", *QUEUES])


PINGS: Final = {"kind": "ping", "interval": "100 ms"}
HONEST: Final[Mapping[str, list[dict[str, object]]]] = {
    "20 of 20 ms": [group("near", 20, "20 ms")],
    "50 of 20 ms, 50 of 200 ms": [group("near", 50, "20 ms"), group("far", 50, "200 ms")],
    "90 of 20 ms, 10 of 200 ms": [group("near", 90, "20 ms"), group("far", 10, "200 ms")],
    "one of each": [group("near", 1, "20 ms"), group("far", 1, "200 ms")],
    "10 of 20 ms, 90 pings": [
        group("near", 10, "20 ms"),
        {"name": "pings", "count": 90, "rtt": "20 ms", "application": PINGS},
    ],
}
"""Traffic without a liar."""


def honest() -> str:
    def cell(flows: list[dict[str, object]], queue: dict[str, Any]) -> str:
        result = measured(scenario(queue, *flows))
        rates = result.flows.filter(pl.col("group") != "pings")["goodput_bps"].to_numpy()
        jain = rates.sum() ** 2 / (rates**2).sum() / rates.size
        all_flows = result.queues.filter(pl.col("group") == "all").row(0, named=True)
        used, loss = 100 * all_flows["utilization"], 100 * all_flows["loss"]
        return f"{jain:.2f}; {used:.1f}; {all_flows['wait_mean_ms']:.0f}; {loss:.1f}"

    rows = {name: [cell(flows, queue) for queue in QUEUES.values()] for name, flows in HONEST.items()}
    return table("traffic", rows, list(QUEUES))


def floods() -> str:
    def cell(name: str, queue: object, multiple: float) -> str:
        rates, _ = goodputs(flooded(queue, multiple, AMPLE.get(name, "1 bdp")))
        return f"{10 * rates['honest'] / PAYLOAD:.0f} %"

    multiples = (0.5, 2, 10)
    rows = {
        name: [cell(name, queue, multiple) for multiple in multiples] for name, queue in FLOOD_QUEUES.items()
    }
    return table("queue", rows, [f"flood of {multiple:g} × the link" for multiple in multiples])


TABLES: Final[Mapping[str, tuple[str, Callable[[], str]]]] = {
    "one liar": ("splitbuff.md", one_liar),
    "ten liars": ("splitbuff.md", ten_liars),
    "sources of liars": ("splitbuff.md", sources),
    "without liars": ("splitbuff.md", honest),
    "floods": ("compare.md", floods),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_what_runs_give(name: str) -> None:
    page, made = TABLES[name]
    path, begin, end = ROOT / "docs" / page, f"<!-- {name} -->\n", f"\n<!-- end of {name} -->"
    text, written = path.read_text(), made()
    before, after = text.index(begin) + len(begin), text.index(end)
    if os.environ.get("REWRITE"):
        path.write_text(text[:before] + written + text[after:])
    assert text[before:after] == written


def cells(name: str) -> dict[str, list[list[float]]]:
    """A table of docs/splitbuff.md by its first column, each cell as numbers."""
    text = (ROOT / "docs" / TABLES[name][0]).read_text()
    lines = text.split(f"<!-- {name} -->\n")[1].split("\n<!-- end")[0].splitlines()[2:]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    numbers = [[cell.replace(",", ";").removesuffix(" %").split(";") for cell in row[1:]] for row in rows]
    return {
        row[0]: [[float(part) for part in cell] for cell in parts if cell[0].strip()[0].isdigit()]
        for row, parts in zip(rows, numbers, strict=True)
    }


DEFENDED: Final = slice(2, 4)


def test_defended_no_liar_gains_a_tenth() -> None:
    """Of the fair share: 100 Mbps without headers, over all flows."""
    for name, flows in (("one liar", 20), ("ten liars", 100)):
        most = 1.1 * 100 * PAYLOAD / flows
        for lie, row in cells(name).items():
            assert all(cell[0] <= most for cell in row[DEFENDED]), (name, lie)
    assert all(row[-1][0] <= 1.1 * 5 * PAYLOAD for row in cells("sources of liars").values())


def test_undefended_a_liar_starves_all_others() -> None:
    starved = cells("one liar")["600 s"][:2]
    assert all(liar > 90 and honest < 0.35 for liar, honest, _ in starved)


def test_the_defense_costs_no_throughput() -> None:
    for name in ("one liar", "ten liars"):
        assert all(cell[-1] >= 99 for row in cells(name).values() for cell in row[DEFENDED])


def test_who_isolates_and_who_does_not() -> None:
    shares = {name: row[1][0] for name, row in cells("floods").items()}
    assert min(shares["DRR"], shares["FQ-CoDel"]) > 80
    assert max(shares[name] for name in ("FIFO", "CoDel", "PIE")) < 5


def test_the_example_is_the_page_s() -> None:
    example = Scenario.load(EXAMPLE)
    assert goodputs(example.to_dict()) == goodputs(alone(SPLIT | {"rtt": "header"}, "10 s"))
