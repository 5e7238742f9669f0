"""What asked for the runs of a store: a file for each study, with its command, what it changed, and its runs.

A run may be of several studies, as what is stored is not simulated again, whoever asks. Runs of stores that
earlier versions wrote, and of experiments that name no study, are of none. The files are lines as those of a
`journal`: the study, then the hash of each of its runs as soon as that is in the store, of a sweep with the
point that it asked for, as another may have made the run for a point of its own. They say how to list runs,
and no more; where one cannot be written, the runs are made without it.
"""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from bufferlab.experiment.store import journal
from bufferlab.experiment.store.rows import timestamp
from bufferlab.scenario import Scenario

FOLDER: Final = "studies"

CHANGED_VARIABLE: Final = "BUFFERLAB_CHANGED"
"""Environment variable with what was changed in a command's scenario before it got it: values by path, JSON.

`bufferlab serve` sets it for what its page asks for, where sliders change scenarios.
"""

JOB_VARIABLE: Final = "BUFFERLAB_JOB"
"""Environment variable with the name of the job of `bufferlab serve` that a command is."""


@dataclass(frozen=True)
class Study:
    """What asks for runs.

    Attributes:
        command: What it is: "sweep".
        scenario: Title of the scenario.
        changed: What was changed in the scenario for all runs: values by path.
        varied: Paths of what a sweep varies.
        began_at: When it began, UTC.
        job: Of a server that asked for it: the name by which it knows the answer.
    """

    command: str
    scenario: str
    changed: Mapping[str, Any] = field(default_factory=dict)
    varied: Sequence[str] = ()
    began_at: str = field(default_factory=timestamp)
    job: str = field(default_factory=lambda: os.environ.get(JOB_VARIABLE, ""))

    @classmethod
    def of(cls, command: str, scenario: Scenario, varied: Sequence[str] = ()) -> Self:
        """A study of a scenario that begins now."""
        return cls(command, scenario.title, _changed_before() | dict(scenario.overrides), tuple(varied))


@dataclass(frozen=True)
class Asked:
    """What a study asked for.

    Attributes:
        name: That no other study of the store has; later ones sort behind.
        study: The study.
        runs: The hash of each run, and of a sweep the point as JSON: values by path.
    """

    name: str
    study: Study
    runs: Sequence[tuple[str, str | None]]


class StudyFile:
    """Takes down what a study asks for; the file is made with its first run."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._file: int | None = None
        self._known: set[bytes] = set()
        self._is_off = False

    def add(self, directory: Path, plan_hash: str, point: Mapping[str, Any]) -> None:
        """Take down a run that is in the store of this folder, and of a sweep its point."""
        of_sweep = {"point": json.dumps(dict(point), ensure_ascii=False)} if self._study.varied else {}
        line = journal.encode({"asked": plan_hash} | of_sweep)
        if self._is_off or line in self._known:
            return
        self._known.add(line)
        try:
            if self._file is None:
                self._file = self._made(directory / FOLDER)
            os.write(self._file, line)
        except OSError:  # the list is shorter, and no run is lost
            self._is_off = True

    def close(self) -> None:
        """End."""
        if self._file is not None:
            with suppress(OSError):
                os.close(self._file)
            self._file = None

    def _made(self, folder: Path) -> int:
        folder.mkdir(exist_ok=True)
        name = f"{_file_time(self._study.began_at)}-{secrets.token_hex(4)}.jsonl"
        made = os.open(folder / name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        text = json.loads(json.dumps(asdict(self._study), default=str))
        os.write(made, journal.encode({"study": text}))
        return made


def read_studies(directory: Path) -> list[Asked]:
    """The studies of a store, the latest first; what of a file is damaged is left out."""
    paths = sorted((directory / FOLDER).glob("*.jsonl"), reverse=True)
    return [asked for path in paths if (asked := _read(path)) is not None]


def forget_studies(directory: Path, oldest: str) -> None:
    """Remove the files of studies that began before a moment, as `timestamp` writes it.

    Raises:
        OSError: One cannot be removed.
    """
    for path in (directory / FOLDER).glob("*.jsonl"):
        if path.name < _file_time(oldest):
            path.unlink(missing_ok=True)


def _read(path: Path) -> Asked | None:
    try:
        (first, *others), _ = journal.read(path)
        study = Study(**first["study"])
    except (OSError, ValueError, KeyError, TypeError):  # half written, or by another version
        return None
    runs = dict.fromkeys((entry["asked"], entry.get("point")) for entry in others if "asked" in entry)
    return Asked(path.stem, study, tuple(runs))


def _file_time(moment: str) -> str:
    """A moment without the colons that some file systems do not take."""
    return moment.replace(":", ".")


def _changed_before() -> dict[str, Any]:
    try:
        changed = json.loads(os.environ.get(CHANGED_VARIABLE, "{}"))
    except ValueError:
        return {}
    return changed if isinstance(changed, dict) else {}
