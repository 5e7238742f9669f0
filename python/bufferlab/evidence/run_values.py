"""The values of one run by name, for the expressions that measure it.

- `flows.GROUP.FIGURE`: of a flow group (`all` for all together), as `bufferlab run` shows it;
- `queues.LINK.GROUP.FIGURE`: of a group's packets at a link (`all` for all of them);
- `latency.GROUP.FIGURE`: round trips and calls of a group;
- `seed`, `duration_s`, `warmup_s`, `measured_s`, the keys of the point and the columns measured before.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from bufferlab.evidence.expressions import Alone, Value, unknown_name
from bufferlab.results.result import Result
from bufferlab.results.summary import flow_values, latency_values, queue_values
from bufferlab.results.tables import ALL

_RUN = ("seed", "duration_s", "warmup_s", "measured_s")


class RunValues(Alone):
    """The names of one run."""

    def __init__(self, result: Result, keys: Mapping[str, Value]) -> None:
        self._result = result
        self._keys = keys

    def resolve(self, path: tuple[str, ...]) -> Value:
        """The value of a name.

        Raises:
            InputError: There is no such name.
        """
        match path:
            case (name,) if name in self._keys:
                return self._keys[name]
            case (name,) if name in _RUN:
                return getattr(self._result, name)  # type: ignore[no-any-return]
            case ("flows", group, figure):
                return _found(path, self._flows, group, figure)
            case ("queues", link, group, figure):
                return _found(path, self._queues, f"{link}.{group}", figure)
            case ("latency", group, figure):
                return _found(path, self._latency, group, figure)
        accepted = (*self._keys, *_RUN, "flows.GROUP.…", "queues.LINK.GROUP.…", "latency.GROUP.…")
        raise unknown_name(".".join(path), accepted)

    @cached_property
    def _flows(self) -> dict[str, Mapping[str, Any]]:
        rows: dict[str, Mapping[str, Any]] = {row["group"]: row for row in flow_values(self._result)}
        return rows | {ALL: rows.get(ALL, next(iter(rows.values())))}

    @cached_property
    def _queues(self) -> dict[str, Mapping[str, Any]]:
        return {f"{row['link']}.{row['group']}": row for row in queue_values(self._result)}

    @cached_property
    def _latency(self) -> dict[str, Mapping[str, Any]]:
        return {row["group"]: row for row in latency_values(self._result)}


def _found(path: tuple[str, ...], rows: Mapping[str, Mapping[str, Any]], row: str, figure: str) -> Value:
    if row not in rows:
        raise unknown_name(".".join(path), [".".join((path[0], known, figure)) for known in rows])
    if figure not in rows[row]:
        raise unknown_name(".".join(path), list(rows[row]))
    return rows[row][figure]  # type: ignore[no-any-return]
