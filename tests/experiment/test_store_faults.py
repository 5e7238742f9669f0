"""A store under faults: whatever fails, or whenever the process dies, what was put is there."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import polars as pl
import pytest

from bufferlab.errors import InputError, OutputError
from bufferlab.experiment.store import Claim, Row, Store, StoreFullError, Writer, failed_row, open_store
from bufferlab.experiment.store.checking import check, check_journals, set_aside
from bufferlab.experiment.store.pruning import prune
from bufferlab.experiment.store.rows import rows_to_frame
from bufferlab.experiment.store.segments import write_segment

OPERATIONS: Final = ("write", "pwrite", "fsync", "rename", "unlink", "ftruncate", "mkdir")
NAMES: Final = [f"run {index}" for index in range(4)]


class Killed(BaseException):
    """Stands for SIGKILL: from then on nothing changes a file."""


class Faults:
    """Counts operations on files; one of them fails, or is the last."""

    def __init__(self, patch: pytest.MonkeyPatch, at: int, *, kill: bool) -> None:
        self.done: list[str] = []
        self._at = at
        self._kill = kill
        self._files: set[int] = set()
        self._close = os.close
        for name in OPERATIONS:
            patch.setattr(os, name, self._counted(name, getattr(os, name)))
        patch.setattr(os, "open", self._opened(os.open))
        patch.setattr(os, "close", self._closed)

    def _counted(self, name: str, operation: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **named: Any) -> Any:
            self.done.append(name)
            if self._kill and len(self.done) > self._at:
                raise Killed
            if len(self.done) == self._at:
                raise OSError(errno.ENOSPC if "write" in name else errno.EIO, "the disk fails")
            return operation(*args, **named)

        return counted

    def _opened(self, operation: Callable[..., int]) -> Callable[..., int]:
        def opened(*args: Any, **named: Any) -> int:
            if self._kill and len(self.done) > self._at:
                raise Killed
            file = operation(*args, **named)
            self._files.add(file)
            return file

        return opened

    def _closed(self, file: int) -> None:
        self._files.discard(file)
        self._close(file)

    def bury(self) -> None:
        """What the kernel does with a process that is no more: close its files, give back its locks."""
        for file in self._files:
            with suppress(OSError):
                self._close(file)


@contextmanager
def faults(at: int, *, kill: bool) -> Iterator[Faults]:
    with pytest.MonkeyPatch.context() as patch:
        made = Faults(patch, 10**9 if at == 0 else at, kill=kill)
        yield made
    made.bury()


def row(name: str) -> Row:
    return failed_row(name, "", scenario="by hand", seed=7) | {"status": "done", "error": None}


def work(directory: Path, put: list[str]) -> None:
    """Two sweeps one after another, with journals that become segments and segments that are merged."""
    for chosen in (NAMES[:3], NAMES):
        with open_store(directory, create=True).writer() as writer:
            for name in chosen:
                if writer.claim(name) is Claim.MINE:
                    writer.put(row(name))
                    put.append(name)
            writer.sync()


def found(directory: Path) -> list[str]:
    return sorted(open_store(directory).runs()["plan_hash"])


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bufferlab.experiment.store.writer._ROTATE_ROWS", 2)
    monkeypatch.setattr("bufferlab.experiment.store.writer._MOST_SMALL", 1)


@pytest.mark.parametrize("kill", [False, True], ids=["fails", "is the last"])
def test_every_operation(tmp_path: Path, *, kill: bool) -> None:
    with faults(0, kill=False) as counted:
        work(tmp_path / "none", [])
    assert set(counted.done) == set(OPERATIONS)
    for at in range(1, len(counted.done) + 1):
        directory, put = tmp_path / str(at), list[str]()
        with faults(at, kill=kill), suppress(OutputError, Killed):
            work(directory, put)
        where = f"{counted.done[at - 1]}, operation {at}"
        if (directory / "store.json").exists():
            assert set(found(directory)) >= set(put), f"a finished run is lost: {where}"
        again: list[str] = []
        work(directory, again)
        assert found(directory) == NAMES, where
        assert not set(again) & set(put), f"simulated twice: {where}"
        assert check(open_store(directory)) == [], where
        hidden = [path.name for path in directory.rglob(".*") if not path.name.startswith(".store-")]
        assert not hidden, f"left behind: {where}"
        assert not open_store(directory).journal_paths(), where


def test_a_segment_is_on_the_disk_before_it_has_its_name(tmp_path: Path) -> None:
    """A power cut may leave a name without content, or no name: so the folder is synced, too (fsync(2))."""
    with faults(0, kill=False) as counted:
        path = write_segment(rows_to_frame([row("a")]), tmp_path)
    assert path.exists()
    assert [each for each in counted.done if each != "write"] == ["fsync", "rename", "fsync"]
    assert counted.done[0] == "write"


def test_a_full_disk_is_noticed_before_a_run_is_simulated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Room for a run's row is reserved when the run is claimed, for all that are under way."""
    write, full = os.pwrite, 600 * 1024

    def pwrite(file: int, data: bytes, offset: int) -> int:
        if offset + len(data) > full:
            raise OSError(errno.ENOSPC, "no space left")
        return write(file, data, offset)

    monkeypatch.setattr(os, "pwrite", pwrite)
    monkeypatch.setattr("bufferlab.experiment.store.writer._ROTATE_ROWS", 4096)
    put: list[str] = []
    with open_store(tmp_path / "runs", create=True).writer() as writer:
        writer.claim("first")
        writer.put(row("first") | {"scenario": "x" * 20_000})
        with pytest.raises(StoreFullError):  # by a claim, not by a row
            _fill(writer, put)
    assert len(put) > 4
    monkeypatch.undo()
    assert set(found(tmp_path / "runs")) == {"first", *put}


def _fill(writer: Writer, put: list[str]) -> None:
    """Claim runs, four at a time, and put them, until a claim fails."""
    for index in range(100):
        names = [f"{index} {each}" for each in range(4)]
        assert {writer.claim(name) for name in names} == {Claim.MINE}
        for name in names:
            try:
                writer.put(row(name) | {"scenario": "x" * 20_000})
            except StoreFullError:
                pytest.fail(f"{name} was simulated and has no room")
            put.append(name)


def flips(content: bytes, step: int) -> Iterator[tuple[int, bytes]]:
    """The content with one bit changed, again and again; `step` bits apart."""
    for bit in range(0, 8 * len(content), step):
        changed = bytearray(content)
        changed[bit // 8] ^= 1 << bit % 8
        yield bit, bytes(changed)


@pytest.fixture
def filled(tmp_path: Path) -> Store:
    """A store with segments, and a journal whose process is no more."""
    with faults(0, kill=False):
        work(tmp_path / "runs", [])
        store = open_store(tmp_path / "runs")
        writer = store.writer()
        writer.put(row("in the journal"))
        writer.sync()
    return store


def state(directory: Path) -> list[tuple[Any, ...]] | str:
    """The rows of a store, or what is said of it."""
    try:
        return open_store(directory).runs().rows()
    except InputError as error:
        return str(error)


def test_bits_that_flip_are_found_or_change_nothing(filled: Store) -> None:
    whole = state(filled.directory)
    assert isinstance(whole, list) and len(whole) == 5
    paths = [path for path in filled.directory.rglob("*") if path.is_file() and path.stat().st_size]
    assert {path.suffix for path in paths} == {".json", ".jsonl", ".parquet"}
    counted = 0
    for path in paths:
        content = path.read_bytes()
        used = content.rstrip(b"\0") if path.suffix == ".jsonl" else content
        for bit, changed in flips(used, max(5, 8 * len(used) // 300) | 1):
            counted += 1
            path.write_bytes(changed + content[len(used) :])
            where = f"{path.name}, bit {bit} of {8 * len(used)}"
            after = state(filled.directory)
            if isinstance(after, str):
                assert str(path) in after, where
            elif after != whole:
                assert [each.path for each in check_journals(filled)] == [path], where
            if after != whole and path.name != "store.json":  # which is read by whoever opens the store
                assert [each.path for each in check(filled)] == [path], where
        path.write_bytes(content)
    assert counted > 500
    assert state(filled.directory) == whole


def test_repair_keeps_what_is_whole_and_the_rest_is_simulated_again(filled: Store) -> None:
    journal, *_ = filled.journal_paths()
    segment = filled.segment_paths()[0]
    journal.write_bytes(journal.read_bytes().replace(b'"writer"', b'"wRiter"', 1))
    lost = {found["plan_hash"] for found in _rows(segment)}
    segment.write_bytes(segment.read_bytes()[:-9] + b"x" * 9)
    damage = set_aside(filled)
    assert {each.path for each in damage} == {journal, segment}
    aside = {path.name for path in (filled.directory / "damaged").iterdir()}
    assert aside == {journal.name, segment.name}
    assert check(filled) == []
    assert set(found(filled.directory)) == {*NAMES, "in the journal"} - lost
    again: list[str] = []
    work(filled.directory, again)
    assert set(again) == lost
    assert set_aside(filled) == []


def test_a_journal_that_is_being_written_stays(filled: Store) -> None:
    with filled.writer() as writer:
        writer.put(row("a"))
        (journal,) = filled.journal_paths()
        journal.write_bytes(journal.read_bytes().replace(b'"writer"', b'"wRiter"', 1))
        (each,) = set_aside(filled)
        assert each.is_live and each.path == journal and journal.exists()
    assert "a" in found(filled.directory)


def _rows(segment: Path) -> list[dict[str, Any]]:
    return pl.read_parquet(segment).to_dicts()


def test_half_written_tables_go_when_nobody_writes(tmp_path: Path) -> None:
    store = open_store(tmp_path / "runs", create=True)
    half = [store.directory / "tables" / "01" / f".0123.abcd0123.{suffix}" for suffix in ("partial", "old")]
    for each in half:
        each.mkdir(parents=True)
        (each / "flows.parquet").write_text("half")
    with store.writer():
        pass
    assert not any(each.exists() for each in half)
    with store.writer():
        half[0].mkdir()
        with store.writer():
            assert half[0].exists(), "another process may write it"


def test_damage_in_a_store_nobody_asked_to_keep_is_removed(filled: Store) -> None:
    segment = filled.segment_paths()[0]
    segment.write_bytes(segment.read_bytes()[:-9] + b"x" * 9)
    prune(filled, most_days=90, most_bytes=10**9)
    assert check(filled) == []
    assert found(filled.directory)
