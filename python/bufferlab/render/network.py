"""Nodes, links and routes of a scenario, from the paths of its flows, and where they stand in a picture.

A scenario names links and no nodes. A link begins where another ends if a path crosses one right after the
other, and the way back begins where the way there ends. So a node is what these ends have in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedFlow, ResolvedLink, ResolvedScenario


@dataclass(frozen=True)
class Wire:
    """A link between two nodes.

    Attributes:
        link: The link.
        tail: Number of the node where it begins.
        head: Number of the node where it ends.
        groups: Names of the groups whose data crosses it.
        back: Names of the groups whose acknowledgments cross it.
    """

    link: ResolvedLink
    tail: int
    head: int
    groups: tuple[str, ...]
    back: tuple[str, ...]


@dataclass(frozen=True)
class Network:
    """Links between nodes.

    Attributes:
        wires: The links, in the scenario's order.
        layers: Of each node, how many links are before it on the longest way from a first one.
        flows: The groups of flows.
    """

    wires: tuple[Wire, ...]
    layers: tuple[int, ...]
    flows: tuple[ResolvedFlow, ...]


def network_of(scenario: ResolvedScenario) -> Network:
    """The nodes and links of a scenario."""
    links, flows = scenario["links"], scenario["flows"]
    ends = _Ends()
    for one, other in _joints(flows):
        ends.join(one, other)
    pairs = [(ends.of((link["name"], "tail")), ends.of((link["name"], "head"))) for link in links]
    numbers = {end: number for number, end in enumerate(dict.fromkeys(end for pair in pairs for end in pair))}
    places = [(numbers[tail], numbers[head]) for tail, head in pairs]
    wires = tuple(
        Wire(
            link,
            tail,
            head,
            tuple(flow["name"] for flow in flows if link["name"] in flow["path"]),
            tuple(flow["name"] for flow in flows if link["name"] in flow["reverse_path"]),
        )
        for link, (tail, head) in zip(links, places, strict=True)
    )
    return Network(wires, _layers(places, len(numbers)), tuple(flows))


_End: TypeAlias = tuple[str, str]


class _Ends:
    """Ends of links, in classes of those that are one node."""

    def __init__(self) -> None:
        self._above: dict[_End, _End] = {}

    def of(self, end: _End) -> _End:
        """The end that stands for a node."""
        while end in self._above:
            end = self._above[end]
        return end

    def join(self, one: _End, other: _End) -> None:
        """Two ends are one node."""
        first, second = self.of(one), self.of(other)
        if first != second:
            self._above[second] = first


def _joints(flows: Sequence[ResolvedFlow]) -> Iterator[tuple[_End, _End]]:
    """Ends that are one node: where a path goes on, and where the way back begins and ends."""
    for flow in flows:
        there, back = flow["path"], flow["reverse_path"]
        for way in (there, back):
            yield from (((before, "head"), (after, "tail")) for before, after in pairwise(way))
        # who goes back over a link of the way there turns nowhere
        if back and not set(there) & set(back):
            yield (there[-1], "head"), (back[0], "tail")
            yield (there[0], "tail"), (back[-1], "head")


def _layers(wires: Sequence[tuple[int, int]], nodes: int) -> tuple[int, ...]:
    """Each node's distance from the first ones; a link that closes a circle counts for nothing."""
    layers = [0] * nodes
    onward = [
        (tail, head) for index, (tail, head) in enumerate(wires) if not _reaches(wires[:index], head, tail)
    ]
    for _ in range(nodes):
        for tail, head in onward:
            layers[head] = max(layers[head], layers[tail] + 1)
    return tuple(layers)


def _reaches(wires: Sequence[tuple[int, int]], start: int, goal: int) -> bool:
    """Whether links lead from a node to another one."""
    seen, todo = {start}, [start]
    while todo:
        node = todo.pop()
        todo += [head for tail, head in wires if tail == node and head not in seen]
        seen.update(todo)
    return goal in seen
