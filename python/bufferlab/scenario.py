"""Scenarios: what users write, read and checked; see docs/scenario.md for every key.

The language itself is the crate `bufferlab-scenario`; this is its Python side.
"""

from __future__ import annotations

import hashlib
import json
import operator
import re
from collections.abc import Mapping
from functools import cached_property
from itertools import count
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Final, SupportsIndex, TypeAlias, cast

from bufferlab import _core
from bufferlab.errors import InputError
from bufferlab.files import read_text

if TYPE_CHECKING:
    from bufferlab._scenario_types import (
        Draws,
        ResolvedAdvise,
        ResolvedFlow,
        ResolvedLink,
        ResolvedProbes,
        ResolvedRun,
        ResolvedScenario,
        ScenarioDict,
    )

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
"""A value as JSON has it."""

Table: TypeAlias = dict[str, Json]
"""An object of JSON, a table of TOML."""

SET: Final = "--set"
"""What stands for the file in messages about overrides."""

SPLITBUFF_CAP: Final = _core.SPLITBUFF_CAP
"""Buffer of a SplitBuff that is given none."""

NOUNS: Final[Mapping[str, str]] = _core.NOUNS
"""What a resolved scenario's parameters count, for those that count something."""

QUEUE_WORDS: Final[Mapping[str, Table]] = _core.queue_words()
"""What `queue` may be in one word, and the table that each stands for."""


_FILE: Final = re.compile(
    r"(?:empirical|mahimahi|csv)\(\s*[\\'\"]*(.*?)[\\'\"]*\s*(?:,\s*repeat\s*=[^)]*)?\)"
)
"""A law or a rate that reads a file, within a scenario's text."""


class Scenario:
    """A network, the flows that cross it, and what to measure; see docs/scenario.md for every key.

    Make one with `Scenario.load`, `Scenario.from_toml`, `Scenario.from_json` or `Scenario.from_dict`. What it
    means, with defaults filled in and units resolved, is in `resolved` and its parts `run`, `links`, `flows`
    and `probes`.
    """

    def __init__(self, core: _core.Scenario, files: _Files) -> None:
        """Wrap a scenario of the compiled module; callers use the class methods."""
        self._core = core
        self._files = files

    @classmethod
    def load(cls, path: str | PathLike[str], overrides: Mapping[str, object] | None = None) -> Scenario:
        """Load a TOML or JSON file.

        A file is JSON if its suffix is `.json`, or if it begins with a brace and its suffix is not `.toml`.

        Args:
            path: The file.
            overrides: Changes by path, such as {"links.bottleneck.rate": "10 Mbps"}.

        Raises:
            InputError: If the file cannot be used; the message has a line for each mistake, which names file,
                line, column, key, value and what is accepted.
        """
        try:
            file = str(Path(path))
        except TypeError:
            accepted = "the path of a TOML or JSON file"
            raise InputError("is no path", key="path", value=path, accepted=accepted) from None
        text = read_text(Path(path), what="a scenario file")
        files = _Files(file)
        try:
            return cls(_core.Scenario.from_text(text, _printable(file), overrides or {}, files), files)
        except InputError as error:
            raise _of_overrides(error, file, text) if overrides else error from None

    @classmethod
    def from_dict(cls, table: ScenarioDict | Mapping[str, object], *, file: str | None = None) -> Scenario:
        """Make a scenario from a table as a file has it: {"run": {"duration": "10 s"}, …}.

        Args:
            table: The table; NumPy numbers are accepted.
            file: Name for messages; relative paths within the scenario start from its folder.

        Raises:
            InputError: If the table is not a scenario.
        """
        files = _Files(file)
        return cls(_core.Scenario.from_dict(table, file and _printable(file), files), files)

    @classmethod
    def from_toml(cls, text: str, *, file: str | None = None) -> Scenario:
        """Make a scenario from TOML text.

        Raises:
            InputError: If the text is not TOML or not a scenario.
        """
        files = _Files(file)
        return cls(_core.Scenario.from_toml(text, file and _printable(file), files), files)

    @classmethod
    def from_json(cls, text: str, *, file: str | None = None) -> Scenario:
        """Make a scenario from JSON text.

        Raises:
            InputError: If the text is not JSON or not a scenario.
        """
        files = _Files(file)
        return cls(_core.Scenario.from_json(text, file and _printable(file), files), files)

    def with_overrides(self, overrides: Mapping[str, object]) -> Scenario:
        """Return a changed copy.

        Args:
            overrides: Values by path. Texts are read as `--set` reads them: "10" is a number, "10 ms" a text.

        Raises:
            InputError: If a path leads nowhere or the result is not a scenario.
        """
        return Scenario(self._core.with_overrides(overrides), self._files)

    def twin(self, factor: int) -> Scenario:
        """Return the twin with 1/`factor` of the rates and flows; see crates/scenario/src/twin.rs.

        Raises:
            InputError: If the factor does not divide a group's flows, or a queue does not scale.
        """
        return self if factor == 1 else Scenario(self._core.twin(max(factor, 0)), self._files)

    def to_dict(self) -> Table:
        """The table as given, overrides applied: what `from_dict` takes."""
        table: Table = self._core.to_dict()
        return table

    def to_toml(self) -> str:
        """TOML text that loads as the same scenario: the file as given if nothing changed it.

        Relative paths, as of `empirical(…)`, stay relative to the original file's folder; `files` has what
        these files hold.
        """
        return self._core.to_toml()

    @cached_property
    def resolved(self) -> ResolvedScenario:
        """What it means: defaults filled in, units resolved, stacks expanded, links and groups named."""
        return _titled(self._core.resolved_json(), self.title)

    @property
    def run(self) -> ResolvedRun:
        """Length, warm-up, seed and stack of the run."""
        return self.resolved["run"]

    @property
    def links(self) -> list[ResolvedLink]:
        """The links in order, whichever form the file has."""
        return self.resolved["links"]

    @property
    def flows(self) -> list[ResolvedFlow]:
        """The groups of flows."""
        return self.resolved["flows"]

    @property
    def probes(self) -> ResolvedProbes | None:
        """What to sample over time."""
        return self.resolved["probes"]

    @property
    def advise(self) -> ResolvedAdvise | None:
        """What its users need, if it says so."""
        return self.resolved["advise"]

    def place(self, key: str) -> tuple[int, int] | None:
        """Line and column of a key's value in the file, such as `advise.targets[0]`, if it stands there."""
        return self._core.place(key)

    @property
    def file(self) -> str | None:
        """The file it was loaded from."""
        return self._core.file

    @property
    def files(self) -> dict[str, str]:
        """What the files hold that its laws and rates name (`empirical(…)`, `csv(…)`), by path as written."""
        named = dict.fromkeys(match[1] for match in _FILE.finditer(self.to_toml()))
        return {path: self._files.texts[path] for path in named if path in self._files.texts}

    @property
    def overrides(self) -> Table:
        """Overrides applied since it was loaded, by path."""
        overrides: Table = self._core.overrides
        return overrides

    @property
    def title(self) -> str:
        """The run's name, or the file's, or "scenario"."""
        return self._core.title

    @cached_property
    def identity(self) -> str:
        """What is simulated but for the seed, as a hash: what files hold counts, the title does not."""
        run = {key: value for key, value in self.run.items() if key not in {"name", "seed"}}
        text = json.dumps(self.resolved | {"run": run}, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def __repr__(self) -> str:
        links, flows = (", ".join(each["name"] for each in part) for part in (self.links, self.flows))
        return f"<Scenario {self.title!r}, links {links}, flows {flows}>"

    def seeded(self, seed: int | None = None) -> Seeded:
        """The scenario under a seed.

        Args:
            seed: Seed of every random draw, 0 to 2^63 - 1; the scenario's own if not given.

        Raises:
            InputError: If a drawn round-trip time is shorter than its links' delays, no flow of a group
                starts before the run's end, or a buffer's word has no flows to depend on.
        """
        return Seeded(self._core.seeded(None if seed is None else _checked_seed(seed)), self.title)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self._core.is_same(other._core)

    def __hash__(self) -> int:
        return hash(self._core.resolved_json())

    def __reduce__(self) -> tuple[object, ...]:
        parts = (self.to_dict(), self._core.text, self.file, self.overrides)
        return _rebuilt, (*parts, dict(self._files.texts))


class Seeded:
    """A scenario under a seed; `Scenario.seeded` makes it."""

    def __init__(self, core: _core.Seeded, title: str) -> None:
        """Wrap one of the compiled module, with the scenario's title."""
        self._core = core
        self._title = title

    @cached_property
    def resolved(self) -> ResolvedScenario:
        """`Scenario.resolved` with this seed, and with what the flows drawn make of buffers and queues."""
        return _titled(self._core.resolved_json(), self._title)

    @cached_property
    def draws(self) -> list[Draws]:
        """What was drawn for the flows of each group."""
        draws: list[Draws] = json.loads(self._core.draws_json())
        return draws

    def plan_json(self) -> str:
        """The plan as canonical JSON."""
        return self._core.plan_json()


def beside(text: str, files: Mapping[str, str], folder: str) -> tuple[str, dict[str, str]]:
    """A scenario's text that finds its files in a folder beside it, and what to write there.

    Args:
        text: The scenario as TOML.
        files: What the files hold, by path as written (`Scenario.files`).
        folder: Name of the folder.

    Returns:
        The text, and what each file holds, by path relative to the text's.
    """
    written: dict[str, str] = {}
    places: dict[str, str] = {}
    for path, content in files.items():
        stem, suffix = Path(path).stem, Path(path).suffix
        names = (f"{folder}/{stem}{'' if number == 1 else f'-{number}'}{suffix}" for number in count(1))
        places[path] = next(name for name in names if name not in written)
        written[places[path]] = content
    return _FILE.sub(lambda law: law[0].replace(law[1], places.get(law[1], law[1])), text), written


def _titled(resolved_json: str, title: str) -> ResolvedScenario:
    """A resolved scenario with its title, which may be that of its file."""
    resolved: ResolvedScenario = json.loads(resolved_json)
    resolved["run"]["name"] = title
    return resolved


def trace_text(rate: str, length_ps: int | None = None, step_ps: int | None = None) -> str:
    """What a link with a rate offers, as a file: a trace for Mahimahi, or a CSV file of rates over time.

    Args:
        rate: As in a scenario; files are relative to the current folder.
        length_ps: How long the file is; default as long as the rate's own file, or one round of its steps.
        step_ps: Writes CSV, for each step of this length the mean of a trace.

    Raises:
        InputError: It is no rate, has no length of its own, or is random.
    """
    return _core.trace_text(rate, length_ps, step_ps, _Files(None))


def parse_value(text: str) -> Json:
    """Read a value from a command line: TOML where it is TOML (10, true, [1, 2]), else the text itself."""
    return cast("Json", _core.parse_value(text))


def _printable(file: str) -> str:
    """A file's name for messages: bytes that are not UTF-8 as escapes."""
    return file.encode("utf-8", "backslashreplace").decode()


def _of_overrides(error: InputError, file: str, text: str) -> InputError:
    """The mistakes of a file with changes, said of the changes if the file alone has none."""
    try:
        _core.Scenario.from_text(text, _printable(file), {}, _Files(file))
    except InputError:
        return error
    return InputError.of(
        [each.at() if each.line is not None else each.moved(file="--set") for each in (error, *error.others)]
    )


def split_override(text: str) -> tuple[str, str]:
    """Split "path=value" as a command line has it.

    Raises:
        InputError: If there is no path or no equals sign.
    """
    return _core.split_override(text)


def plain(value: object, key: str = "") -> Json:
    """Copy a value of any nesting into what a file could hold; NumPy scalars become Python numbers.

    `key` names the value in messages.

    Raises:
        InputError: If it holds something that a file could not, or is nested too deeply.
    """
    return cast("Json", _core.plain(value, key))


def plain_table(value: Mapping[str, object]) -> Table:
    """Copy a mapping, and all within it, as `plain` does."""
    copied = plain(value)
    return copied if isinstance(copied, dict) else {}


def size_unit(unit: str) -> tuple[str, int] | None:
    """A unit of size in its usual spelling and how many bytes it is; nothing if it is none."""
    return _core.size_unit(unit)


def check_buffer(value: object) -> None:
    """Check the size of a buffer.

    Raises:
        InputError: If it is none.
    """
    _core.check_word("buffer", value)


def check_congestion(value: object) -> None:
    """Check the word of a congestion control.

    Raises:
        InputError: If it is none; the message says the nearest.
    """
    _core.check_word("congestion", value)


def _checked_seed(seed: object) -> int:
    if isinstance(seed, SupportsIndex) and not isinstance(seed, bool) and 0 <= operator.index(seed) < 2**63:
        return operator.index(seed)
    raise InputError(
        "is not a usable seed", key="seed", value=seed, accepted="a whole number of 0 to 2^63 - 1"
    )


class _Files:
    """Reads the files that a scenario names, relative to its folder, each once, and keeps what they hold."""

    def __init__(self, file: str | None) -> None:
        self._folder = Path(file).parent if file else Path()
        self.texts: dict[str, str] = {}

    def __call__(self, path: str) -> tuple[str, str]:
        found = self._folder / path
        if path not in self.texts:
            self.texts[path] = read_text(found, what="the distribution's file")
        return str(found), self.texts[path]


def _rebuilt(
    table: Table, text: str | None, file: str | None, overrides: Table, texts: dict[str, str]
) -> Scenario:
    files = _Files(file)
    files.texts |= texts
    return Scenario(_core.Scenario.of_parts((table, text, file, overrides), files), files)
