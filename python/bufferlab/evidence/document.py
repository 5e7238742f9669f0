"""What a claims file says: a document's runs, figures and claims; docs/claims.md describes the format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

Bound = Literal["=", "<", ">", "about", "range"]
BOUNDS: tuple[Bound, ...] = get_args(Bound)

Key = int | float | str
"""A value of something that varies."""

Setting = Mapping[str, Any]
"""Values of keys that select points; of a list of values any will do."""

Overrides = Mapping[str, Any]
"""Changes of a scenario by path, as `--set` has them; texts may hold expressions in braces."""


@dataclass(frozen=True)
class Effort:
    """How much is simulated.

    Attributes:
        vary: What varies: for each key its values, and the changes of the scenario that each value brings.
        where: Condition over the keys that a point must meet.
        let: Further names for a point's expressions, computed from its keys.
        changes: Changes of every scenario.
        seeds: Runs a point: a number, or an expression over the point's keys.
    """

    vary: Mapping[str, Mapping[Key, Overrides]]
    where: str | None
    let: Mapping[str, str]
    changes: Overrides
    seeds: int | str


@dataclass(frozen=True)
class Runs:
    """Simulations that figures are made of.

    Attributes:
        name: How figures refer to them.
        scenario: File in the folder `scenarios`.
        let_with: The hook that makes further names, for what expressions cannot say.
        columns: Those of the further names that stand beside the keys in tables.
        measure: Expressions over a run's figures by column.
        measure_with: The hook that measures what expressions cannot say.
        frames: Hooks by table: each makes a frame of every run.
        derive: Expressions over the means of a point by column.
        full: What is simulated.
        quick: What `--quick` simulates.
        uml: What a real kernel is given, and whose link its packets cross; `None` for nothing.
    """

    name: str
    scenario: str
    let_with: str | None
    columns: Sequence[str]
    measure: Mapping[str, str]
    measure_with: str | None
    frames: Mapping[str, str]
    derive: Mapping[str, str]
    full: Effort
    quick: Effort
    uml: tuple[Effort, str] | None = None


@dataclass(frozen=True)
class Other:
    """Points that somebody else measured.

    Attributes:
        name: Name of the table, and of the values in explanations.
        who: Who measured, as the reader sees it.
        points: The hook that makes the frame, with our keys and columns.
    """

    name: str
    who: str
    points: str


@dataclass(frozen=True)
class Reason:
    """A sentence with the condition under which it applies; without one it always does."""

    text: str
    when: str | None = None


@dataclass(frozen=True)
class Finding:
    """Something that the runs show and the document does not state.

    Attributes:
        setting: Values of keys that select the point whose values the text takes.
        reasons: The first sentence that applies counts.
    """

    setting: Setting
    reasons: Sequence[Reason]


@dataclass(frozen=True)
class Shown:
    """A table of points for the page.

    Attributes:
        title: What its cells are.
        rows: Keys that tell its rows apart.
        setting: Values of keys that select points.
        cells: Texts of a row's cells by heading, with expressions over a point.
        column: A key that has a column for each value, with the one text of `cells`; `None` for a column a
            text.
        others: Names of those whose points follow ours.
    """

    title: str
    rows: Sequence[str]
    setting: Setting
    cells: Mapping[str, str]
    column: str | None
    others: Sequence[str]


@dataclass(frozen=True)
class Headline:
    """A row of docs/evidence.md, with expressions over a point; `claims["ID"]` is a stated number.

    Attributes:
        what: What is compared.
        setting: Values of keys that select the point.
        reference: What is published, and what others measured.
        ours: What came out.
        readme: Whether the README's table has it, too.
    """

    what: str
    setting: Mapping[str, Key]
    reference: str
    ours: str
    readme: bool = False


@dataclass(frozen=True)
class Figure:
    """A figure or table of the document.

    Attributes:
        name: Its name within the document.
        title: What it shows.
        runs: Name of the runs it is made of; `None` if it needs none.
        only: Values of the runs' keys that it shows, in their order.
        tables: The hook that makes tables, or further ones.
        scenarios: The hook that says which scenarios were simulated, if the figure has no runs.
        points: Name of the table that has a row a point.
        keys: Columns that tell its rows apart, if they are not the keys of the runs.
        draw: The hook that draws.
        notes: What the reader should know of the settings.
        others: Points of others.
        findings: What the runs show beyond the claims.
        shown: Tables of points for the page.
        headlines: Rows of docs/evidence.md.
    """

    name: str
    title: str
    runs: str | None
    only: Mapping[str, Sequence[Key]]
    tables: str | None
    scenarios: str | None
    points: str
    keys: Sequence[str]
    draw: str | None
    notes: Sequence[str]
    others: Sequence[Other]
    findings: Sequence[Finding] = ()
    shown: Sequence[Shown] = ()
    headlines: Sequence[Headline] = ()


@dataclass(frozen=True)
class Tolerance:
    """How far a value may be from the stated one.

    Attributes:
        amount: In the claim's unit, or a part of the stated value.
        relative: Whether it is a part.
        because: Why so far.
    """

    amount: float = 0.0
    relative: bool = False
    because: str = ""

    def of(self, stated: float) -> float:
        """The tolerance in the claim's unit."""
        return abs(stated) * self.amount if self.relative else self.amount


@dataclass(frozen=True)
class Stated:
    """A number that somebody else has for a claim's quantity.

    Attributes:
        who: Who.
        value: The number, or a text such as "12 … 14".
        source: Where it stands.
    """

    who: str
    value: float | str
    source: str


@dataclass(frozen=True)
class Claim:
    """Something that the document states and a run can check.

    Attributes:
        id: Its name within the document.
        figure: Name of the figure whose points decide.
        place: Where the document states it.
        what: The quantity in words.
        says: The document's words, where it gives none or other numbers.
        setting: Values of keys that select the points; a key left out is free.
        quantity: Expression over a point.
        value: The stated number, an expression for one, or two numbers for a range; `None` if the document
            gives no number.
        unit: Its unit.
        bound: How our value must relate to it.
        tolerance: How far it may be from it.
        others: Others' numbers.
        why: Why ours differs, where it does; the first that applies counts.
        incomparable: Where our number does not mean the document's, and why.
    """

    id: str
    figure: str
    place: str
    what: str
    says: str
    setting: Setting
    quantity: str
    value: float | str | tuple[float, float] | None
    unit: str
    bound: Bound
    tolerance: Tolerance
    others: Sequence[Stated]
    why: Sequence[Reason]
    incomparable: Sequence[Reason]

    @property
    def number(self) -> float | None:
        """The stated number, if it is a single one."""
        return self.value if isinstance(self.value, float) else None


@dataclass(frozen=True)
class Document:
    """A published document, or a question of our own in the same form.

    Attributes:
        name: How commands call it.
        title: Its title.
        citation: Who published it, where.
        page: The page of Bufferlab's sources that tells of it.
        folder: Where its claims file lies.
        package: The Python package of the folder; `None` for users' folders.
        runs: Simulations by name.
        figures: Figures by name.
        claims: What it states.
    """

    name: str
    title: str
    citation: str
    page: str
    folder: Path
    package: str | None
    runs: Mapping[str, Runs]
    figures: Mapping[str, Figure]
    claims: Sequence[Claim] = field(default=())

    def claims_of(self, figure: str) -> list[Claim]:
        """The claims that a figure's points decide."""
        return [claim for claim in self.claims if claim.figure == figure]
