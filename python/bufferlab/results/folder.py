"""Result folders: written whole or not at all (even if the process is killed), read back with a check.

A folder of one run holds:

- `scenario.toml`: the scenario, as given if nothing was overridden, otherwise with the overrides applied, and
  with the run's seed; what its laws read from files is in `files/`, so that it runs wherever the folder is;
- `plan.json`: the plan that ran, as canonical JSON: its SHA-256 is the plan hash;
- `result.json`: format, version, seed, plan hash, overrides, CPU time and the like, the SHA-256 of each file
  and, as `itself`, of what else it says (as JSON with sorted keys);
- `summary.json`: see `bufferlab.results.summary`; it has the resolved scenario;
- `flows.parquet`, `queues.parquet`, `histograms.parquet`, `queue_samples.parquet`, `flow_samples.parquet`,
  `classes.parquet`, `class_samples.parquet`, `exchanges.parquet`: see `Frames`.

A folder of several runs holds `scenario.toml`, the `summary.json` of all, `runs.json`, and such a folder for
each run, `seed-1` and so on.
"""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import polars as pl

from bufferlab.errors import InputError, OutputError
from bufferlab.files import hidden_beside, not_written, probe
from bufferlab.plan import plan_json
from bufferlab.results.frames import NAMES, Frames
from bufferlab.results.measurement import Measurement
from bufferlab.results.summary import summarize
from bufferlab.scenario import Scenario, beside
from bufferlab.swapping import exchange, held, remove_left

RESULT_FORMAT: Final = "bufferlab-result"
RUNS_FORMAT: Final = "bufferlab-runs"
FORMAT_VERSION: Final = 4

_RESULT_FILE: Final = "result.json"
_RUNS_FILE: Final = "runs.json"
_SCENARIO_FILE: Final = "scenario.toml"
_SUMMARY_FILE: Final = "summary.json"
_PLAN_FILE: Final = "plan.json"
_FILES: Final = "files"
_SUMS: Final = "sha256"
_ITSELF: Final = "itself"
_AS_WRITTEN: Final = "a file as Bufferlab wrote it: run the scenario again"
_META: Final = ("name", "version", "plan_hash", "overrides", "reached_ps", "events", "packets", "cpu_s")


def save(
    results: Sequence[Measurement],
    summary: Mapping[str, Any],
    directory: Path,
) -> None:
    """Write runs of one scenario as the result folder `directory`.

    Args:
        results: The runs, at least one.
        summary: Their summary document.
        directory: The folder; missing parents are made, an older result is replaced.

    Raises:
        InputError: If `directory` is a file or holds something else.
        OutputError: If it cannot be written.
    """
    with replacing(directory) as fresh:
        if len(results) == 1:
            _write_run(results[0], summary, fresh)
        else:
            _write_json(fresh / _SUMMARY_FILE, summary)
            _write_scenario(results[0], fresh)
            index = _header(RUNS_FORMAT) | {"runs": _write_runs(results, fresh)}
            _write_json(fresh / _RUNS_FILE, index | {_SUMS: {_ITSELF: _sum_of(index)}})


@contextmanager
def replacing(directory: Path) -> Iterator[Path]:
    """A fresh folder that takes the place of `directory` when the block ends, and vanishes if it fails.

    Raises:
        InputError: If `directory` is a file or holds something other than a result.
        OutputError: If something cannot be written.
    """
    directory = check_replaceable(directory)
    fresh = hidden_beside(directory, "partial")
    try:
        remove_left(directory)
        fresh.mkdir(parents=True)
        with held(fresh):
            yield fresh
            _swap(fresh, directory)
    except OSError as error:
        raise not_written(directory, error) from error
    except pl.exceptions.PolarsError as error:
        raise OutputError(f"{directory}: cannot be written ({_first_line(error)})") from error
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def check_replaceable(directory: Path) -> Path:
    """Check that a result folder may be written as `directory`; return its full path.

    Raises:
        InputError: If it is a file, the current folder, or holds something other than a result.
        OutputError: If it cannot be looked at, or not be written.
    """
    accepted = "a new folder, an empty one, or one with a result of Bufferlab"
    try:
        full = directory.resolve()
        if not full.exists():
            probe(full.parent)
            return full
        if not full.is_dir():
            raise InputError("is not a folder", file=directory, accepted=accepted)
        if full == Path.cwd():
            raise InputError("is the current folder", file=directory, accepted="a folder within it")
        if any(full.iterdir()) and not _is_result(full):
            raise InputError("holds other files already", file=directory, accepted=accepted)
        probe(full.parent)  # where its successor is written
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise OutputError(f"{directory}: cannot be written ({_reason(error)})") from error
    return full


def load(directory: Path) -> list[dict[str, Any]]:
    """Read a result folder of one or several runs: the fields of `Result` for each.

    Raises:
        InputError: If it is none, or not of this format.
    """
    if not (directory / _RUNS_FILE).exists():
        return [_read_run(directory)]
    index = _read_json(directory / _RUNS_FILE)
    _check_format(index, RUNS_FORMAT, directory / _RUNS_FILE)
    _take_sums(index, directory / _RUNS_FILE)
    return [_read_run(directory / str(name)) for name in index.get("runs", [])]


def _write_runs(results: Sequence[Measurement], directory: Path) -> list[str]:
    names = [f"seed-{result.seed}" for result in results]
    for name, result in zip(names, results, strict=True):
        folder = directory / name
        folder.mkdir()
        _write_run(result, summarize([result]), folder)
    return names


def _write_run(result: Measurement, summary: Mapping[str, Any], directory: Path) -> None:
    meta = _header(RESULT_FORMAT) | {"seed": result.seed} | {name: getattr(result, name) for name in _META}
    _write_json(directory / _SUMMARY_FILE, summary)
    _write_text(directory / _PLAN_FILE, plan_json(dict(result.plan)))
    files = [*_write_scenario(result, directory), _SUMMARY_FILE, _PLAN_FILE]
    sums = {name: hashlib.sha256((directory / name).read_bytes()).hexdigest() for name in files}
    sums |= {
        name: _write_frame(directory / f"{name}.parquet", getattr(result.frames, name)) for name in NAMES
    }
    _write_json(directory / _RESULT_FILE, meta | {_SUMS: sums | {_ITSELF: _sum_of(meta)}})


def _write_scenario(result: Measurement, directory: Path) -> list[str]:
    """Write a scenario that repeats the run, and the files that it names; the names of all."""
    text, files = beside(result.scenario, result.files, _FILES)
    for name, content in files.items():
        (directory / name).parent.mkdir(exist_ok=True)
        _write_text(directory / name, content)
    path = directory / _SCENARIO_FILE
    if text:
        scenario = Scenario.from_toml(text, file=str(path))
        if scenario.run["seed"] != result.seed:
            text = scenario.with_overrides({"run.seed": result.seed}).to_toml()
    _write_text(path, text)
    return [_SCENARIO_FILE, *files]


def _read_scenario(directory: Path) -> tuple[str, dict[str, str]]:
    """A scenario's text, and what the files hold that it names."""
    path = directory / _SCENARIO_FILE
    text = path.read_text(encoding="utf-8")
    return text, Scenario.from_toml(text, file=str(path)).files if (directory / _FILES).is_dir() else {}


def _write_frame(path: Path, frame: pl.DataFrame) -> str:
    """Write a table; return the SHA-256 of its file."""
    # by way of memory: polars, writing itself, does not always tell why it could not
    content = io.BytesIO()
    frame.write_parquet(content)
    path.write_bytes(content.getbuffer())
    return hashlib.sha256(content.getbuffer()).hexdigest()


def _read_frame(path: Path, checksum: str | None) -> pl.DataFrame:
    """Read a table; one without a checksum was written by an earlier version."""
    content = path.read_bytes()
    if checksum is not None:
        _check_sum(hashlib.sha256(content).hexdigest(), checksum, path)
    return pl.read_parquet(io.BytesIO(content))


def _sum_of(document: Mapping[str, Any]) -> str:
    """SHA-256 of a document, however it is laid out."""
    text = json.dumps(document, ensure_ascii=False, allow_nan=False, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _take_sums(document: dict[str, Any], path: Path) -> dict[str, str]:
    """Take the checksums out of a document, and check what else it says.

    Documents without any were written by an earlier version.
    """
    sums = document.pop(_SUMS, {})
    if not isinstance(sums, dict):
        raise InputError("is damaged (its checksums are none)", file=path, accepted=_AS_WRITTEN)
    if _ITSELF in sums:
        _check_sum(_sum_of(document), sums[_ITSELF], path)
    return sums


def _check_sum(found: str, wanted: object, path: Path) -> None:
    if found != wanted:
        raise InputError("is damaged (its checksum is wrong)", file=path, accepted=_AS_WRITTEN)


def _check_files(sums: Mapping[str, object], directory: Path) -> None:
    """Check all but the tables, which are checked when they are read."""
    for name in sums.keys() - {*NAMES, _ITSELF}:
        _check_sum(hashlib.sha256((directory / name).read_bytes()).hexdigest(), sums[name], directory / name)


def _write_text(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="")


def _header(kind: str) -> dict[str, Any]:
    return {"format": kind, "format_version": FORMAT_VERSION}


def _write_json(path: Path, document: Mapping[str, Any]) -> None:
    text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def _read_run(directory: Path) -> dict[str, Any]:
    path = directory / _RESULT_FILE
    meta = _read_json(path)
    _check_format(meta, RESULT_FORMAT, path)
    try:
        sums = _take_sums(meta, path)
        _check_files(sums, directory)
        scenario, files = _read_scenario(directory)
        frames = Frames(
            **{name: _read_frame(directory / f"{name}.parquet", sums.get(name)) for name in NAMES}
        )
        plan = _read_json(directory / _PLAN_FILE)
        return {
            **{name: meta[name] for name in _META},
            "scenario": scenario,
            "files": files,
            "resolved": _read_json(directory / _SUMMARY_FILE)["resolved"],
            "plan": plan,
            "frames": frames,
        }
    except (KeyError, TypeError) as error:
        raise InputError(f"lacks {error}", file=path, accepted="a file as Bufferlab wrote it") from error
    except (OSError, UnicodeDecodeError, pl.exceptions.PolarsError) as error:
        raise _not_readable(directory, error) from error


def _read_json(path: Path) -> dict[str, Any]:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise _not_readable(path, error) from error
    if not isinstance(document, dict):
        raise InputError("is not a JSON object", file=path, accepted="a file as Bufferlab wrote it")
    return document


def _check_format(document: Mapping[str, Any], kind: str, path: Path) -> None:
    found = (document.get("format"), document.get("format_version"))
    if found != (kind, FORMAT_VERSION):
        raise InputError("is of another format", file=path, value=found, accepted=f"{kind}, {FORMAT_VERSION}")


def _not_readable(path: Path, error: Exception) -> InputError:
    return InputError(
        f"cannot be read ({_reason(error)})", file=path, accepted="a result folder that Bufferlab wrote"
    )


def _reason(error: Exception) -> str:
    return (isinstance(error, OSError) and error.strerror) or _first_line(error)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def _is_result(directory: Path) -> bool:
    return (directory / _RESULT_FILE).is_file() or (directory / _RUNS_FILE).is_file()


def _swap(fresh: Path, directory: Path) -> None:
    if not directory.exists():
        fresh.rename(directory)
        return
    if exchange(fresh, directory):  # the older result is now what is removed
        return
    old = hidden_beside(directory, "old")
    directory.rename(old)
    try:
        fresh.rename(directory)
    except BaseException:
        old.rename(directory)
        raise
    shutil.rmtree(old, ignore_errors=True)
