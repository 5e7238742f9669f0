"""The scenario as a whole: loading, overriding, storing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Self, TypeVar

import tomli_w
from pydantic import Field, PrivateAttr, ValidationError, model_validator

from bufferlab.errors import InputError
from bufferlab.scenario.checks import check
from bufferlab.scenario.loading import parse_json, parse_toml, read_table
from bufferlab.scenario.messages import to_input_error
from bufferlab.scenario.models import Flow, Link, Probes, Run
from bufferlab.scenario.overrides import DEFAULT_NAMES, apply_overrides
from bufferlab.scenario.part import Part
from bufferlab.scenario.plain import Json, Table, plain, plain_table
from bufferlab.scenario.source import Source

Text = TypeVar("Text")


class Scenario(Part):
    """A network, the flows that cross it, and what to measure; see docs/scenario.md for every key.

    Make one with `Scenario.load`, `Scenario.from_toml`, `Scenario.from_json` or `Scenario.from_dict`.
    """

    run: Run = Field(description="Length, warm-up, seed and stack of the run.")
    bottleneck: Link | None = Field(None, description="Short form for a single link, named bottleneck.")
    links_given: list[Link] = Field([], alias="links", max_length=10_000, description="The queued links.")
    flows: list[Flow] = Field(min_length=1, description="Groups of flows.")
    probes: Probes | None = Field(None, description="What to sample over time; default nothing.")

    _source: Source = PrivateAttr(default_factory=Source)

    @property
    def links(self) -> list[Link]:
        """The links in order, whichever form the file has."""
        return self.links_given if self.bottleneck is None else [self.bottleneck]

    @property
    def file(self) -> str | None:
        """The file it was loaded from."""
        return self._source.file

    @property
    def overrides(self) -> Table:
        """Overrides applied since it was loaded, by path."""
        return dict(self._source.overrides)

    @property
    def title(self) -> str:
        """The run's name, or the file's, or "scenario"."""
        return self.run.name or (Path(self.file).stem if self.file else "scenario")

    @classmethod
    def load(cls, path: str | PathLike[str], overrides: Mapping[str, object] | None = None) -> Scenario:
        """Load a TOML or JSON file.

        Args:
            path: The file.
            overrides: Changes by path, such as {"links.bottleneck.rate": "10 Mbps"}.

        Raises:
            InputError: If the file cannot be used; the message names file, key, value and what is accepted.
        """
        file = Path(path)
        text, table = read_table(file)
        return cls._build(Source(table, text, str(file)), overrides or {})

    @classmethod
    def from_dict(cls, table: Mapping[str, object], *, file: str | None = None) -> Scenario:
        """Make a scenario from a table as a file has it: {"run": {"duration": "10 s"}, …}.

        Args:
            table: The table; NumPy numbers are accepted.
            file: Name for messages; relative paths within the scenario start from its folder.

        Raises:
            InputError: If the table is not a scenario.
        """
        return cls._build(Source(_placed(plain_table, table, file), None, file), {})

    @classmethod
    def from_toml(cls, text: str, *, file: str | None = None) -> Scenario:
        """Make a scenario from TOML text.

        Raises:
            InputError: If the text is not TOML or not a scenario.
        """
        return cls._build(Source(_placed(parse_toml, text, file), text, file), {})

    @classmethod
    def from_json(cls, text: str, *, file: str | None = None) -> Scenario:
        """Make a scenario from JSON text.

        Raises:
            InputError: If the text is not JSON or not a scenario.
        """
        return cls._build(Source(_placed(parse_json, text, file), None, file), {})

    def with_overrides(self, overrides: Mapping[str, object]) -> Scenario:
        """Return a changed copy.

        Args:
            overrides: Values by path. Texts are read as `--set` reads them: "10" is a number, "10 ms" a text.

        Raises:
            InputError: If a path leads nowhere or the result is not a scenario.
        """
        return self._build(self._source, overrides)

    def to_dict(self) -> Table:
        """The table as given, overrides applied: what `from_dict` takes."""
        return plain_table(self._source.table)

    def to_toml(self) -> str:
        """TOML text that loads as the same scenario: the file as given if nothing changed it.

        Relative paths of `empirical(…)` stay relative to the original file's folder.
        """
        if self._source.text is not None:
            return self._source.text
        given = {key: value for key, value in self._source.table.items() if value is not None}
        return tomli_w.dumps({key: _without_none(value) for key, value in given.items()})

    def model_post_init(self, context: object) -> None:
        """Keep where the scenario came from; pydantic calls this with the context of the validation."""
        if isinstance(context, Source):
            self._source = context

    @classmethod
    def _build(cls, source: Source, overrides: Mapping[str, object]) -> Scenario:
        try:
            if overrides:
                table = apply_overrides(source.table, overrides)
                given = {path: plain(value) for path, value in overrides.items()}
                source = Source(table, None, source.file, {**source.overrides, **given})
            return cls.model_validate(source.table, context=source)
        except ValidationError as report:
            raise to_input_error(report, cls, source.table).at(file=source.file) from None
        except InputError as error:
            raise error.at(file=source.file) from None

    @model_validator(mode="before")
    @classmethod
    def _fill_in_names_and_paths(cls, table: object) -> object:
        if not isinstance(table, dict):
            return table
        filled: dict[str, object] = dict(table)
        if isinstance(table.get("bottleneck"), dict):
            filled["bottleneck"] = {"name": "bottleneck", **table["bottleneck"]}
        filled |= {key: _named(table[key], stem) for key, stem in DEFAULT_NAMES.items() if key in table}
        only = _only_link(filled) if "flows" in filled else None
        if only is not None and isinstance(filled["flows"], list):
            flows = filled["flows"]
            filled["flows"] = [{"path": [only], **flow} if isinstance(flow, dict) else flow for flow in flows]
        return filled

    @model_validator(mode="after")
    def _parts_agree(self) -> Self:
        check(self)
        return self


def _placed(parse: Callable[[Text], Table], text: Text, file: str | None) -> Table:
    """Call a parser; its errors name the file."""
    try:
        return parse(text)
    except InputError as error:
        raise error.at(file=file) from None


def _named(items: object, stem: str) -> object:
    if not isinstance(items, list):
        return items
    named = enumerate(items)
    return [{"name": f"{stem}{i}", **item} if isinstance(item, dict) else item for i, item in named]


def _only_link(table: dict[str, object]) -> object:
    """Name of the link, if there is just one."""
    links = table.get("links")
    alone = links[0] if isinstance(links, list) and len(links) == 1 else None
    only = table.get("bottleneck", alone)
    return only.get("name") if isinstance(only, dict) else None


def _without_none(value: Json) -> Json:
    """TOML has no null; a key without a value is a key not given."""
    if isinstance(value, dict):
        return {key: _without_none(item) for key, item in value.items() if item is not None}
    return [_without_none(item) for item in value] if isinstance(value, list) else value
