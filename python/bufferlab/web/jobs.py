"""Commands that the page asks for: each is a process of its own, with a folder for what it writes.

A command prints its progress line by line and ends well at an interrupt, with what it has found by then; so a
job needs nothing of its own for either. Jobs end with the server, and their files go with it.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

from bufferlab.display import VIEW_VARIABLE
from bufferlab.errors import InputError
from bufferlab.experiment.store.studies import CHANGED_VARIABLE, JOB_VARIABLE
from bufferlab.render.setting_text import changes_text, setting_names
from bufferlab.scenario import Scenario
from bufferlab.units import format_rate
from bufferlab.web.answered import buffers_answered
from bufferlab.web.documents import document_of

SCENARIO: Final = "scenario.toml"
SAID: Final = "answer.txt"
_REPORT: Final = "progress.txt"
_VIEW: Final = "answer.json"
_PREFIX: Final = "bufferlab: "

ADVISE: Final = "advise"
SWEEP: Final = "sweep"

VERBS: Final[Mapping[str, tuple[str, ...]]] = {
    ADVISE: ("--out", "results"),
    "size": ("--out", "results"),
    "compare": ("--plot", "figures"),
    "run": (
        *("--out", "results", "--plot", "figures", "--flent", "run.flent.gz"),
        *("--pcap", "run.pcapng", "--record-limit", "100000"),
    ),
    SWEEP: (),
}
"""What may be asked for, and where its files go."""

MOST_VARIED: Final = 8
"""Values that one sweep varies."""

MOST_CHANGED_BYTES: Final = 20_000
"""Of what sliders changed, as JSON: an environment variable holds it."""

MOST_ABOUT: Final = 100
"""Letters by which the page knows again what it asked about."""

MOST_SEEDS: Final = 1000
MOST_RUNNING: Final = 2
MOST_KEPT: Final = 40


@dataclass(frozen=True)
class Asked:
    """What the page asks for.

    Attributes:
        verb: One of `VERBS`.
        text: The scenario.
        vary: Of a sweep: what it varies, as `--vary` has it.
        seeds: Of a sweep: how many for each point.
        changed: What was changed in the scenario, which the text has: values by path.
        about: By what the page knows again the link that it asked about, whatever its queue and buffer.
        today: Of `advise`: whether the scenario's queue and buffer are what runs today.
    """

    verb: str
    text: str
    vary: tuple[str, ...] = ()
    seeds: int = 1
    changed: Mapping[str, str] = field(default_factory=dict)
    about: str = ""
    today: bool = False

    def check(self) -> None:
        """Refuse what is none.

        Raises:
            InputError: It is none.
        """
        if self.verb not in VERBS:
            raise InputError("is no command of the page", value=self.verb, accepted=", ".join(VERBS))
        if len(json.dumps(dict(self.changed))) > MOST_CHANGED_BYTES:
            raise InputError(
                "are too many changes", key="changed", accepted="a scenario with them in its text"
            )
        if len(self.about) > MOST_ABOUT:
            raise InputError("is too long", key="about", accepted=f"up to {MOST_ABOUT} letters")
        if self.verb != SWEEP:
            return
        if not 1 <= len(self.vary) <= MOST_VARIED:
            accepted = f"1 to {MOST_VARIED} lines such as bottleneck.queue=fifo,codel"
            raise InputError("cannot be varied", key="sweep", value=list(self.vary), accepted=accepted)
        if not 1 <= self.seeds <= MOST_SEEDS:
            raise InputError(
                "is no number of seeds", key="seeds", value=self.seeds, accepted=f"1 to {MOST_SEEDS}"
            )

    @cached_property
    def title(self) -> str:
        """Title of the scenario, empty if it is none."""
        return self._scenario.title if self._scenario else ""

    @cached_property
    def numbers(self) -> str:
        """What tells it from others of its title: "75 Mbps, 7 flows, round trip 35 ms"; empty if none."""
        if self._scenario is None:
            return ""
        resolved = self._scenario.seeded().resolved
        flows = sum(each["count"] for each in resolved["flows"])
        trips = sorted((each["rtt"]["value"], each["rtt"]["text"]) for each in resolved["flows"])
        texts = list(dict.fromkeys(text for _, text in trips))
        rate = format_rate(min(each["rate_bps"] for each in resolved["links"]))
        trip = texts[0] if len(texts) == 1 else f"{texts[0]} to {texts[-1]}"
        return f"{rate}, {flows} {'flow' if flows == 1 else 'flows'}, round trip {trip}"

    @cached_property
    def groups(self) -> list[str]:
        """The names of the scenario's groups of flows."""
        return [each["name"] for each in self._scenario.flows] if self._scenario else []

    @cached_property
    def _scenario(self) -> Scenario | None:
        try:
            return Scenario.from_toml(self.text)
        except InputError:
            return None

    def varied(self) -> list[str]:
        """What a sweep varies, and how many seeds each of its points has; of others nothing."""
        if self.verb != SWEEP:
            return []
        values = dict(each.partition("=")[::2] for each in self.vary)
        names = setting_names([*values], self.groups)
        said = [
            f"{names[path]}: {', '.join(map(str.strip, text.split(',')))}" for path, text in values.items()
        ]
        return [*said, f"{self.seeds} {'seed' if self.seeds == 1 else 'seeds'} of each"]

    def options(self, store: Path) -> list[str]:
        """What follows the scenario on the command's line; a value never begins one of its own."""
        varied = [f"--vary={each}" for each in self.vary] if self.verb == SWEEP else []
        seeds = [f"--seeds={self.seeds}"] if self.verb == SWEEP else []
        today = ["--today=scenario"] if self.verb == ADVISE and self.today else []
        return [*VERBS[self.verb], f"--store={store}", *varied, *seeds, *today]


@dataclass(frozen=True)
class Job:
    """A command that runs, or has ended.

    Attributes:
        name: By which it is asked about.
        asked: What was asked for.
        folder: What it reads and writes.
        process: Its process.
        began_s: When it began, of a clock that only runs forward.
    """

    name: str
    asked: Asked
    folder: Path
    process: subprocess.Popen[bytes]
    began_s: float = field(default_factory=time.monotonic)
    _ended_s: list[float] = field(default_factory=list)
    _canceled: list[bool] = field(default_factory=list)

    @property
    def is_running(self) -> bool:
        """Whether it has not ended yet."""
        running = self.process.poll() is None
        if not running and not self._ended_s:
            self._ended_s.append(time.monotonic())
        return running

    def cancel(self) -> None:
        """Ask it to end with what it has; asked again, end it."""
        if self.is_running:
            self.process.send_signal(signal.SIGKILL if self._canceled else signal.SIGINT)
            self._canceled.append(True)

    def state(self) -> dict[str, Any]:
        """What the page shows of it."""
        running = self.is_running
        ended_s = time.monotonic() if running else self._ended_s[0]
        view = None if running else _document(self.folder / _VIEW)
        return {
            "name": self.name,
            "verb": self.asked.verb,
            "scenario": self.asked.title,
            "numbers": self.asked.numbers,
            "changed": changes_text(self.asked.changed, self.asked.groups),
            "varied": self.asked.varied(),
            "state": "running" if running else self._end(),
            "seconds": round(ended_s - self.began_s, 1),
            "progress": self._lines(),
            "answer": _text(self.folder / SAID),
            "view": view,
            "document": document_of(self.asked.verb),
            "about": self.asked.about,
            "buffers": [] if running else buffers_answered(self.folder),
            "files": [] if running else self.files(),
        }

    def files(self) -> list[str]:
        """What it wrote, and the scenario, as paths in its folder."""
        paths = (path for path in self.folder.rglob("*") if path.is_file())
        paths = (path for path in paths if path.name not in {_REPORT, _VIEW})
        return sorted(path.relative_to(self.folder).as_posix() for path in paths)

    def file(self, name: str) -> Path | None:
        """One of its files."""
        return self.folder / name if name in self.files() else None

    def _end(self) -> str:
        if self._canceled:
            return "canceled"
        return "done" if self.process.returncode == 0 else "failed"

    def _lines(self) -> list[str]:
        return [line.removeprefix(_PREFIX) for line in _text(self.folder / _REPORT).splitlines()]


class Jobs:
    """All of them.

    Args:
        root: The folder for theirs.
        store: The folder of the store of runs that all of them fill.
    """

    def __init__(self, root: Path, store: Path) -> None:
        self._root = root
        self._store = store.absolute()
        self._jobs: dict[str, Job] = {}

    def begin(self, asked: Asked) -> Job:
        """Begin a command on a scenario.

        Raises:
            InputError: It is none of the page's, or too many are running.
        """
        asked.check()
        if sum(job.is_running for job in self._jobs.values()) >= MOST_RUNNING:
            raise InputError(
                "too many run already", accepted=f"{MOST_RUNNING} at a time: wait, or cancel one"
            )
        name = secrets.token_hex(6)
        folder = self._root / name
        folder.mkdir()
        (folder / SCENARIO).write_text(asked.text, encoding="utf-8")
        command = [sys.executable, "-m", "bufferlab", asked.verb, SCENARIO, *asked.options(self._store)]
        with (folder / SAID).open("wb") as said, (folder / _REPORT).open("wb") as reported:
            process = subprocess.Popen(  # noqa: S603 - no shell, and no word of the request is an option
                command,
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=reported,
                env=os.environ
                | {
                    "COLUMNS": "100",
                    VIEW_VARIABLE: str((folder / _VIEW).absolute()),
                    CHANGED_VARIABLE: json.dumps(dict(asked.changed)),
                    JOB_VARIABLE: name,
                },
                start_new_session=True,  # Ctrl-C is the server's
            )
        job = self._jobs[name] = Job(name, asked, folder, process)
        self._forget()
        return job

    def get(self, name: str) -> Job | None:
        """The job of this name."""
        return self._jobs.get(name)

    def states(self) -> list[dict[str, Any]]:
        """Those of all, the latest first."""
        return [job.state() for job in reversed(self._jobs.values())]

    def close(self) -> None:
        """End all of them."""
        for job in self._jobs.values():
            if job.is_running:
                job.process.kill()
            job.process.wait()

    def _forget(self) -> None:
        ended = [job for job in self._jobs.values() if not job.is_running]
        for job in ended[: max(0, len(self._jobs) - MOST_KEPT)]:
            shutil.rmtree(job.folder, ignore_errors=True)
            del self._jobs[job.name]


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


def _document(path: Path) -> Any:  # noqa: ANN401 - a list of a view's parts
    """What a command has shown; nothing if it has shown none."""
    return json.loads(text) if (text := _text(path)) else None
