"""A result takes the place of an older one: at no moment there is none; what kills leave goes later."""

from __future__ import annotations

import ctypes
import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bufferlab import Result
from bufferlab.results.folder import load, replacing
from bufferlab.swapping import exchange, held, remove_left


def entries(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def can_exchange(folder: Path) -> bool:
    (folder / "a").mkdir()
    (folder / "b").mkdir()
    possible = exchange(folder / "a", folder / "b")
    (folder / "a").rmdir()
    (folder / "b").rmdir()
    return possible


def test_there_is_a_result_before_and_after_every_step(
    tmp_path: Path, result: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not can_exchange(tmp_path):
        pytest.skip("this disk cannot exchange names")
    out = tmp_path / "out"
    result.save(out)
    steps = 0

    def looked(operation: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            nonlocal steps
            steps += 1
            assert load(out)
            done = operation(*args, **named)
            assert load(out)
            return done

        return call

    for name in ("rename", "replace", "rmdir", "mkdir"):
        monkeypatch.setattr(os, name, looked(getattr(os, name)))
    monkeypatch.setattr("bufferlab.results.folder.exchange", looked(exchange))
    result.save(out)
    assert steps >= 2
    assert entries(tmp_path) == ["out"]


def test_what_a_kill_leaves_goes_with_the_next_result(tmp_path: Path, result: Result) -> None:
    out = tmp_path / "out"
    code = (
        "import os, sys, signal, pathlib\n"
        "from bufferlab.results.folder import replacing\n"
        "with replacing(pathlib.Path(sys.argv[1])) as fresh:\n"
        "    (fresh / 'half').write_text('')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", code, str(out)], check=False).returncode == -9
    (left,) = entries(tmp_path)
    assert left.startswith(".out.") and left.endswith(".partial")
    (tmp_path / ".other.0123abcd.partial").mkdir()
    result.save(out)
    assert entries(tmp_path) == [".other.0123abcd.partial", "out"]


def test_what_another_process_writes_stays(tmp_path: Path, result: Result) -> None:
    result.save(tmp_path / "out")
    with replacing(tmp_path / "out") as fresh:
        (fresh / "half").write_text("")
        remove_left(tmp_path / "out")
        assert (fresh / "half").exists()
        raised = fresh
        result_folder = tmp_path / "out"
        assert load(result_folder)
        (fresh / "half").unlink()
    assert not raised.exists()


def test_a_result_that_a_kill_left_under_another_name_is_put_back(tmp_path: Path, result: Result) -> None:
    result.save(tmp_path / "out")
    (tmp_path / "out").rename(tmp_path / ".out.0123abcd.old")
    remove_left(tmp_path / "out")
    assert load(tmp_path / "out")
    assert entries(tmp_path) == ["out"]


def test_disks_that_cannot_exchange_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError, match="No such file"):
        exchange(tmp_path / "a", tmp_path / "none")
    monkeypatch.setattr(ctypes, "get_errno", lambda: errno.EINVAL)
    assert not exchange(tmp_path / "a", tmp_path / "none")


def test_a_held_folder_is_free_when_the_block_ends(tmp_path: Path) -> None:
    left = tmp_path / ".out.0123abcd.partial"
    left.mkdir()
    with held(left):
        remove_left(tmp_path / "out")
        assert left.exists()
    remove_left(tmp_path / "out")
    assert not left.exists()
