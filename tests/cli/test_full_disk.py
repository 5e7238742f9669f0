"""A disk that fills while results are written: the summary is there, and no file that is only a part."""

from __future__ import annotations

import json
import os
import resource
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import polars as pl
import pytest
from matplotlib.figure import Figure

import bufferlab
from bufferlab.display import save_figure
from bufferlab.errors import OutputError
from bufferlab.experiment.run import NotSavedError
from bufferlab.files import write_whole
from bufferlab.studies.size.sizing import save_frames

from .conftest import SMALL

MANY_SAMPLES = ("--set", "probes.interval=1 ms")


def command(*args: str) -> list[str]:
    return [sys.executable, "-m", "bufferlab", *args]


def run(args: list[str], folder: Path, before: Callable[[], None] | None = None) -> tuple[int, str, str]:
    (folder / "small.toml").write_text(SMALL)
    ended = subprocess.run(args, cwd=folder, capture_output=True, text=True, check=False, preexec_fn=before)
    return ended.returncode, ended.stdout, ended.stderr


def no_large_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


@pytest.mark.parametrize(
    "outputs",
    [
        ("--out", "out"),
        ("--flent", "run.flent.gz"),
        ("--plot", "figures"),
        ("--plot", "figures", "--out", "out"),
    ],
)
def test_files_that_become_too_large(tmp_path: Path, outputs: tuple[str, ...]) -> None:
    status, out, err = run(
        command("run", "small.toml", "--json", *MANY_SAMPLES, *outputs), tmp_path, no_large_files
    )
    assert status == 1
    assert json.loads(out)["flows"][0]["group"] == "near"  # the run was not lost
    assert err.count("\n") == 1
    assert "cannot be written (File too large)" in err
    left = [path.name for path in tmp_path.rglob("*") if path.is_file()]
    assert left == ["small.toml"]


def test_an_older_result_stays(tmp_path: Path) -> None:
    assert run(command("run", "small.toml", "--out", "out"), tmp_path)[0] == 0
    before = bufferlab.Result.load(tmp_path / "out").plan_hash
    status, *_ = run(command("run", "small.toml", *MANY_SAMPLES, "--out", "out"), tmp_path, no_large_files)
    assert status == 1
    assert bufferlab.Result.load(tmp_path / "out").plan_hash == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "small.toml"]


def test_one_output_that_fails_keeps_no_other_from_being_there(tmp_path: Path) -> None:
    (tmp_path / "small.flent.gz").write_text("")
    args = command("run", "small.toml", "--out", "out", "--flent", "run.flent.gz")
    status, _, err = run(args, tmp_path, lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, 2_000)))
    assert status == 1
    assert "cannot be written (File too large)" in err
    status, _, err = run(
        command("run", "small.toml", *MANY_SAMPLES, "--out", "out", "--flent", "a.flent.gz"), tmp_path
    )
    assert (status, err) == (0, "bufferlab: saved out, a.flent.gz\n")


can_mount = (
    sys.platform == "linux"
    and os.geteuid() == 0
    and shutil.which("unshare") is not None
    and subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode == 0
)


def on_a_small_disk(folder: Path, room: str, script: str) -> tuple[int, str, str]:
    """What lines of a shell come to beside a file system that only they see: `disk` goes away with them."""
    (folder / "disk").mkdir()
    lines = f"mount -t tmpfs -o size={room} tmpfs disk\n{script}\nstatus=$?; find disk -type f; exit $status"
    return run(["unshare", "-m", "sh", "-c", lines], folder)


@pytest.mark.skipif(not can_mount, reason="needs the right to mount in a namespace of its own")
def test_a_disk_without_room(tmp_path: Path) -> None:
    wanted = shlex.join(command("run", "small.toml", *MANY_SAMPLES, "--out", "disk/out"))
    status, out, err = on_a_small_disk(tmp_path, "64k", wanted)
    assert status == 1
    assert "latency under load" in out
    assert out.rstrip().endswith("packets per CPU second")  # and find found nothing
    assert err == f"bufferlab: {tmp_path}/disk/out: cannot be written (No space left on device)\n"


@pytest.mark.skipif(not can_mount, reason="needs the right to mount in a namespace of its own")
def test_a_document_for_which_there_is_no_room_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    wanted = shlex.join(command("run", "small.toml", "--json"))
    lines = f"printf before > disk/all.json; {wanted} >> disk/all.json; status=$?; cat disk/*; (exit $status)"
    status, out, err = on_a_small_disk(tmp_path, "8k", lines)
    assert (status, out) == (1, "beforedisk/all.json\n")
    assert err == "bufferlab: standard output: cannot be written (No space left on device)\n"


def test_in_python_the_runs_are_in_the_exception(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "small.toml").write_text(SMALL)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("bufferlab.results.folder._write_json", full)
    with pytest.raises(NotSavedError, match="No space left") as caught:
        bufferlab.run(tmp_path / "small.toml", out=tmp_path / "out")
    assert caught.value.finished[0].flows.height == 3
    assert [path.name for path in tmp_path.iterdir()] == ["small.toml"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux's")
@pytest.mark.parametrize("option", ["--csv", "--parquet"])
def test_a_table_of_runs_for_which_there_is_no_room(tmp_path: Path, option: str) -> None:
    run(command("sweep", "small.toml", "--store", "runs", "--set", "run.duration=1500 ms"), tmp_path)
    status, _, err = run(command("results", "runs", option, "/dev/full"), tmp_path)
    assert status == 1
    assert err.strip() == "bufferlab: /dev/full: cannot be written (No space left on device)"
    assert Path("/dev/full").is_char_device()  # written to, and not replaced


FRAME: Final = pl.DataFrame({"size": range(5000), "loss": [index / 7 for index in range(5000)]})


@pytest.mark.parametrize(
    ("suffix", "write"),
    [
        (".csv", lambda path: write_whole(path, FRAME.write_csv)),
        (".txt", lambda path: write_whole(path, "x" * 30_000)),
        (".csv", lambda path: save_frames({path.stem: FRAME}, path.parent)),
        (".png", lambda path: save_figure(Figure(), path)),
    ],
)
def test_a_file_that_becomes_too_large_stays_what_it_was(
    tmp_path: Path, suffix: str, write: Callable[[Path], object]
) -> None:
    path = tmp_path / f"kept{suffix}"
    path.write_text("older")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))
    try:
        with pytest.raises(OutputError, match=r"cannot be written \(File too large\)"):
            write(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [each.name for each in tmp_path.iterdir()] == [path.name]
    assert path.read_text() == "older"


def test_what_a_link_points_to_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("older")
    link = tmp_path / "link"
    link.symlink_to("there")
    assert write_whole(link, "newer") == link
    assert link.is_symlink() and (tmp_path / "there").read_text() == "newer"


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        write_whole(pipe, "through")
        assert reader.communicate()[0] == b"through"
    assert pipe.is_fifo()
