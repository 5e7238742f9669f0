"""The store: nothing written is lost, nothing claimed is done twice, readers never see less than is there."""

from __future__ import annotations

import fcntl
import json
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest

from bufferlab.errors import InputError, OutputError
from bufferlab.experiment.store import (
    ENGINE,
    Claim,
    Row,
    Store,
    StoreFullError,
    failed_row,
    journal,
    open_store,
)
from bufferlab.experiment.store.rows import FIGURES, SCHEMA, rows_to_frame
from bufferlab.experiment.store.segments import write_segment
from bufferlab.experiment.store.writer import Writer


def row(name: str, **changes: object) -> Row:
    """A run that came to its end, with figures that tell it from others."""
    made = failed_row(name, "", scenario="by hand", seed=7, parameters={"a.b": name})
    flows = [
        {"group": "near", "flows": 2, "goodput_bps": 1e6},
        {"group": "all", "flows": 3, "goodput_bps": 2e6},
    ]
    figures = {"utilization": 0.5, "packets": 12.0, "flows": flows, "queues": []}
    return made | {"status": "done", "error": None} | figures | changes


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "runs", create=True)


def names(store: Store) -> list[str]:
    return sorted(store.runs()["plan_hash"])


def test_what_is_put_is_there_at_once_and_after_closing(store: Store) -> None:
    with store.writer() as writer:
        assert writer.claim("a") is Claim.MINE
        writer.put(row("a", utilization=0.25))
        assert names(open_store(store.directory)) == ["a"]
        assert store.journal_paths() and not store.segment_paths()
    assert not store.journal_paths() and len(store.segment_paths()) == 1
    found = store.get("a")
    assert found is not None
    assert (found["utilization"], found["seed"], found["scenario"]) == (0.25, 7, "by hand")
    assert store.get("b") is None
    flows = store.flows().select("plan_hash", "group", "flows", "goodput_bps").rows()
    assert flows == [("a", "near", 2, 1e6), ("a", "all", 3, 2e6)]


def test_a_run_is_claimed_once(store: Store) -> None:
    with store.writer() as one, open_store(store.directory).writer() as two:
        assert one.claim("a") is Claim.MINE
        assert one.claim("a") is Claim.TAKEN
        assert two.claim("a") is Claim.TAKEN
        assert two.claim("b") is Claim.MINE
        one.put(row("a"))
        assert two.claim("a") is Claim.DONE
        assert one.claim("b") is Claim.TAKEN
    with store.writer() as three:
        assert three.claim("a") is Claim.DONE
        assert three.claim("b") is Claim.MINE


def test_a_run_is_not_done_again_whose_writer_ends_as_we_ask(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It finished between our look at its lines and at whether it lives."""
    ending, asking = store.writer().__enter__(), store.writer().__enter__()
    assert ending.claim("a") is Claim.MINE and asking.claim("a") is Claim.TAKEN
    is_live = journal.is_live

    def ended(path: Path) -> bool:
        monkeypatch.undo()
        ending.put(row("a"))
        ending._journal.close()
        return is_live(path)

    monkeypatch.setattr(journal, "is_live", ended)
    assert asking.claim("a") is Claim.DONE
    asking.close()
    assert names(store) == ["a"]


def die_after(store: Store, code: str) -> None:
    """Write in a process that then kills itself."""
    program = (
        "import os, signal, sys\n"
        "from bufferlab.experiment.store import Claim, failed_row, open_store\n"
        "writer = open_store(sys.argv[1], create=True).writer()\n"
        f"{code}\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program, str(store.directory)], check=False)
    assert ended.returncode == -9


def test_the_dead_leave_their_rows_and_give_back_their_claims(store: Store) -> None:
    die_after(
        store,
        "writer.claim('a'); writer.put(failed_row('a', 'x', scenario='s', seed=1)); writer.claim('b')",
    )
    assert names(store) == ["a"]
    with store.writer() as writer:
        assert writer.claim("a") is Claim.DONE
        assert writer.claim("b") is Claim.MINE
    assert names(store) == ["a"]


def test_claims_of_the_dead_are_free_while_others_live(store: Store) -> None:
    with store.writer() as writer:
        die_after(store, "writer.claim('a'); writer.claim('b')")
        assert writer.claim("a") is Claim.MINE


def test_a_line_cut_short_is_not_there(store: Store) -> None:
    die_after(
        store,
        "[writer.put(failed_row(name, 'x', scenario='s', seed=1)) for name in ('a', 'b')]; writer.sync()",
    )
    (path,) = store.journal_paths()
    content = path.read_bytes().rstrip(b"\0")
    lines = content.splitlines(keepends=True)
    for cut in range(len(content) - len(lines[-1]), len(content), 41):
        path.write_bytes(content[:cut] + b"\0" * 100)
        assert names(store) == ["a"]
    path.write_bytes(content.replace(b'"failed"', b'"fooled"', 1))
    assert names(store) == ["b"]
    path.write_bytes(content)
    assert names(store) == ["a", "b"]


def test_rows_are_seen_once_while_they_move(store: Store) -> None:
    writer = store.writer()
    writer.put(row("a"))
    write_segment(rows_to_frame([row("a"), row("b")]), store.directory / "segments")
    assert names(store) == ["a", "b"]
    writer.close()
    assert names(store) == ["a", "b"]


def test_what_came_to_its_end_counts_more_than_a_failure(store: Store) -> None:
    for made in (row("a"), failed_row("a", "later", scenario="s", seed=1)):
        with store.writer() as writer:
            writer.put(made)
    assert store.runs()["status"].to_list() == ["done"]


def test_failures_are_retried_only_if_asked(store: Store) -> None:
    with store.writer() as writer:
        writer.put(failed_row("a", "x", scenario="s", seed=1))
    with store.writer() as writer:
        assert writer.claim("a") is Claim.DONE
    with store.writer(retry_failed=True) as writer:
        assert writer.claim("a") is Claim.MINE
        writer.put(failed_row("a", "again", scenario="s", seed=1))
        assert writer.claim("a") is Claim.DONE
    assert store.runs()["error"].to_list() == ["again"]


def test_long_journals_become_segments(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bufferlab.experiment.store.writer._ROTATE_ROWS", 10)
    with store.writer() as writer, store.writer() as other:
        writer.claim("open")
        for index in range(25):
            writer.put(row(f"{index:02}"))
        assert len(store.segment_paths()) == 2
        assert other.claim("open") is Claim.TAKEN
        assert other.claim("03") is Claim.DONE
        assert len(names(store)) == 25
    assert len(names(store)) == 25


def test_many_small_segments_are_merged(store: Store) -> None:
    for index in range(20):
        with store.writer() as writer:
            writer.put(row(f"{index:02}"))
    assert len(store.segment_paths()) < 17
    assert names(store) == [f"{index:02}" for index in range(20)]


def test_other_engines_do_not_mix(store: Store) -> None:
    with store.writer() as writer:
        writer.put(row("a", engine="0.0.1+old"))
        writer.put(row("b"))
    with store.writer() as writer:
        assert writer.claim("a") is Claim.MINE
    assert names(store) == ["b"]
    assert store.engines() == {ENGINE: 1, "0.0.1+old": 1}
    assert sorted(store.runs(None)["plan_hash"]) == ["a", "b"]


def test_figures_that_came_later_are_null(store: Store) -> None:
    frame = rows_to_frame([row("a")]).drop("jain_index").with_columns(pl.lit(1).alias("of_the_future"))
    less = frame.with_columns(
        pl.col("flows").list.eval(pl.struct(pl.element().struct.field("group"), pl.lit(1).alias("new")))
    )
    write_segment(less, store.directory / "segments")
    with store.writer() as writer:
        writer.put(row("b"))
    runs = store.runs()
    assert sorted(runs["plan_hash"]) == ["a", "b"]
    assert runs.filter(plan_hash="a")["utilization"].to_list() == [0.5]
    assert "of_the_future" not in runs.columns
    flows = store.flows().filter(plan_hash="a").select("group", "goodput_bps").rows()
    assert flows == [("near", None), ("all", None)]


def test_columns_have_one_meaning() -> None:
    assert len(set(FIGURES)) == len(FIGURES)
    assert not set(FIGURES) & {"plan_hash", "seed", "link", "status", "flows", "queues"}
    assert set(row("a")) == set(SCHEMA)


@contextmanager
def room(size_bytes: int) -> Iterator[None]:
    """Files cannot grow beyond a size, as on a full disk (Python ignores SIGXFSZ)."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_without_a_run_promises_none(store: Store) -> None:
    with room(1000), pytest.raises(StoreFullError) as full:
        store.writer()
    assert str(full.value).endswith("Free some space and run the same command again")
    assert "kept" not in str(full.value)


def test_a_full_disk_is_reported_before_a_run_starts(store: Store) -> None:
    writer = store.writer()
    done = 0

    def work() -> None:
        nonlocal done
        while writer.claim(f"{done:04}") is Claim.MINE:
            writer.put(row(f"{done:04}"))  # never fails: its room was there before it began
            done += 1

    with (
        room(300_000),
        pytest.raises(StoreFullError, match=r"no space is left .* all finished runs are kept"),
    ):
        work()
    assert done > 10
    assert len(names(store)) == done
    with room(1000):
        writer.close()  # there is no room for a segment either
    assert len(names(store)) == done
    with store.writer():
        pass
    assert not store.journal_paths()
    assert len(names(store)) == done


def test_a_failed_write_loses_nothing_else(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = store.writer()
    writer.put(row("a"))

    def fail(*_: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", fail)
        with pytest.raises(StoreFullError):
            writer.put(row("b"))
    writer.put(row("c"))
    writer.close()
    assert names(store) == ["a", "c"]


def test_a_store_of_another_version_is_reported(store: Store) -> None:
    identity = store.directory / "store.json"
    identity.write_text(
        json.dumps(json.loads(identity.read_text()) | {"format_version": 9, "version": "7.1"})
    )
    with pytest.raises(
        InputError, match=r"store.json: is of format 9, written by Bufferlab 7.1; accepted: .*that version"
    ):
        open_store(store.directory)


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff\xfe"])
def test_a_damaged_identity_is_said_and_can_be_replaced(store: Store, content: bytes) -> None:
    identity = store.directory / "store.json"
    whole = identity.read_bytes()
    identity.write_bytes(content)
    with pytest.raises(InputError, match=r"store.json: is damaged; accepted: .* may be copied here"):
        open_store(store.directory)
    identity.write_bytes(whole)
    open_store(store.directory)


def test_what_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="does not exist"):
        open_store(tmp_path / "none")
    with pytest.raises(InputError, match="is not a folder"):
        open_store(tmp_path / "file", create=True)
    with pytest.raises(InputError, match="holds other files already"):
        open_store(tmp_path, create=True)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_a_damaged_segment_is_reported(store: Store) -> None:
    (store.directory / "segments" / "0123.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(InputError, match=r"0123\.parquet: is damaged"):
        store.runs()


def test_folders_that_cannot_lock_are_reported(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(OutputError, match="files cannot be locked there"):
        Writer(store)
