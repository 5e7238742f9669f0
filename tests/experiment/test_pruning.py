"""A store that nobody asked to keep is bounded, in age and in size, and serves on meanwhile."""

from __future__ import annotations

from pathlib import Path

import pytest

from bufferlab.experiment.store import Claim, Row, Store, failed_row, open_store
from bufferlab.experiment.store.pruning import prune
from bufferlab.experiment.store.rows import rows_to_frame, timestamp
from bufferlab.experiment.store.segments import write_segment

LARGE = 10**9


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return open_store(tmp_path / "runs", create=True)


def row(name: str, days_ago: float, engine: str | None = None) -> Row:
    made = failed_row(name, "", scenario="by hand", seed=7) | {"status": "done", "error": None}
    made["finished_at"] = timestamp(days_ago=days_ago)
    return made if engine is None else made | {"engine": engine}


def segment(store: Store, *rows: Row) -> Path:
    return write_segment(rows_to_frame(rows), store.directory / "segments")


def names(store: Store) -> list[str]:
    return sorted(store.runs(None)["plan_hash"])


def test_old_rows_go_whoever_made_them(store: Store) -> None:
    segment(store, row("old", 91), row("young", 89), row("old too", 91, "0.0.0-other"))
    segment(store, row("oldest", 400))
    kept = segment(store, row("new", 0))
    prune(store, most_days=90, most_bytes=LARGE)
    assert names(store) == ["new", "young"]
    assert len(store.segment_paths()) == 2
    assert kept in store.segment_paths(), "what holds nothing old is not written again"


def test_the_oldest_segments_go_until_the_rest_fits(store: Store) -> None:
    paths = {days: segment(store, row(f"{days} days", days)) for days in (3, 1, 2)}
    sizes = {days: path.stat().st_size for days, path in paths.items()}
    prune(store, most_days=90, most_bytes=sizes[1] + sizes[2])
    assert names(store) == ["1 days", "2 days"]
    prune(store, most_days=90, most_bytes=sizes[1] + sizes[2] - 1)
    assert names(store) == ["1 days"]
    prune(store, most_days=90, most_bytes=0)
    assert names(store) == []


def test_a_writer_meanwhile_keeps_its_claims_and_rows(store: Store) -> None:
    segment(store, row("old", 91))
    with store.writer() as writer:
        assert writer.claim("a") is Claim.MINE
        writer.put(row("a", 0))
        assert writer.claim("b") is Claim.MINE
        prune(store, most_days=90, most_bytes=0)
        with open_store(store.directory).writer() as other:
            assert other.claim("b") is Claim.TAKEN
            assert other.claim("old") is Claim.MINE
        assert names(store) == ["a"]
