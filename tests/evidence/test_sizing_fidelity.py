"""Inter-dequeue times of Mininet-HiFi: the figures of the authors' files, and files that are named."""

from __future__ import annotations

from pathlib import Path

import pytest

from bufferlab.errors import InputError
from bufferlab.evidence import reproduce
from bufferlab.evidence.sizing_mininet.fidelity import read_measured, summarized

FLOWS = (20, 200, 800)


def test_the_authors_files_do_not_show_what_the_text_says() -> None:
    result = reproduce("sizing-mininet/fig_fidelity", progress=False)
    assert result.tables["fidelity"]["within_10_percent"].to_list() == [92.22, 93.07, 94.32]
    assert result.comparison["verdict"].to_list() == ["differs"] * 3
    assert len(result.figures["fig_fidelity"].axes[0].get_lines()) == len(FLOWS) + 2


def test_files_that_are_named_are_read(tmp_path: Path) -> None:
    for flows in FLOWS:
        times = [192.0] * 98 + [170.0, 250.0]
        (tmp_path / f"inter_dequeue_us_{flows}_flows.txt").write_text("\n".join(map(str, times)))
    result = reproduce("sizing-mininet/fig_fidelity", progress=False, measured=tmp_path)
    assert result.tables["fidelity"]["within_10_percent"].to_list() == [98.0] * 3
    assert result.tables["measured"].height == 300


def test_a_time_at_ten_per_cent_is_within() -> None:
    row = summarized(20, [172.8, 211.2, 172.7, 211.3])
    assert (row["packets"], row["within_10_percent"]) == (4, 50.0)


def test_files_that_cannot_be_read_are_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_measured(tmp_path, 20)
    (tmp_path / "inter_dequeue_us_20_flows.txt").write_text("192\nfast\n")
    with pytest.raises(InputError, match="cannot be read"):
        read_measured(tmp_path, 20)
