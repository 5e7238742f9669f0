"""Documents' runs on a real kernel: what of a claims file it is given, and what stands beside it."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from bufferlab.cli import main
from bufferlab.errors import InputError
from bufferlab.evidence.documents import bundled_documents
from bufferlab.evidence.emulated import emulated
from bufferlab.evidence.reading import read_document
from bufferlab.evidence.reproduction import Request
from bufferlab.evidence.simulated import scenarios_of
from bufferlab.kernel.cache import Kernel, kernel
from bufferlab.kernel.emulate import check

UML = """
[runs.lone.uml]
queues = "kernel"
seeds = 1
vary = { buffer_packets = [20, 40] }

[runs.lone.uml.set]
"run.stack" = "linux"
"flows.*.congestion" = "reno"
"links.bottleneck.buffer" = "{buffer_packets} packets"
"""

KERNEL = "stand-in"


def with_uml(folder: Path, text: str = UML) -> Path:
    """The document of a user, with something for a kernel."""
    file = folder / "claims.toml"
    head, rest = file.read_text().split("[figures.fig2]", 1)
    file.write_text(f"{head}{text}\n[figures.fig2]{rest}")
    return folder


@pytest.fixture(name="built")
def a_kernel() -> Kernel:
    try:
        return kernel()
    except InputError:
        pytest.skip(
            "there is no kernel ('bufferlab kernel build' makes one): 'reproduce' is NOT tested with one"
        )


def test_a_kernels_runs_have_their_own_changes(folder: Path) -> None:
    document = read_document(with_uml(folder))
    runs = document.runs["lone"]
    given = emulated(document, runs, quick=False)
    assert (given.ours, given.effort.seeds, list(given.effort.vary["buffer_packets"])) == (False, 1, [20, 40])
    scenarios = scenarios_of(document, runs, Request(kernel=KERNEL))
    assert list(scenarios) == [(20,), (40,)]
    assert scenarios[40,].links[0]["buffer"]["text"] == "40 packets"
    short = scenarios_of(document, runs, Request(kernel=KERNEL, quick=True))
    assert short[20,].run["duration_ps"] == 8 * 10**12


def test_what_a_claims_file_has_nothing_for_is_refused(folder: Path) -> None:
    document = read_document(folder)
    with pytest.raises(InputError, match=r"runs\.lone\.uml: is not there"):
        emulated(document, document.runs["lone"], quick=False)
    with_uml(folder, UML.replace('"kernel"', '"mine"'))
    with pytest.raises(InputError, match=r"runs\.lone\.uml\.queues: 'mine'.*bufferlab or kernel"):
        read_document(folder)


def test_every_document_that_has_something_for_a_kernel_can_be_given_it() -> None:
    """All points of all their runs."""
    names = []
    for document in bundled_documents():
        for runs in document.runs.values():
            if runs.uml is None:
                continue
            names.append(f"{document.name}/{runs.name}")
            ours = emulated(document, runs, quick=False).ours
            for scenario in scenarios_of(document, runs, Request(kernel=KERNEL)).values():
                check(scenario, 1, ours=ours)
    assert sorted(names) == [
        "bloat-mininet/testbed", "sizing-mininet/curve", "splitbuff/evaluation", "splitbuff/fig1",
    ]  # fmt: skip


def test_a_kernels_points_are_compared(built: Kernel, folder: Path, tmp_path: Path) -> None:
    assert built.name
    out = tmp_path / "results"
    words = ["reproduce", f"{with_uml(folder)}/fig2", "--engine", "uml", "--quick", "--out", str(out)]
    assert main(words) == 0
    points = pl.read_csv(out / "my-paper-fig2-uml" / "points.csv")
    assert points["buffer_packets"].to_list() == [20]
    assert 0.9 < points["utilization"][0] <= 1
    assert "Run by Linux" in (out / "my-paper-fig2-uml" / "notes.txt").read_text()


def test_what_is_kept_is_the_simulators(folder: Path) -> None:
    assert main(["reproduce", str(with_uml(folder)), "--engine", "uml", "--record"]) == 2
