"""A scenario's links, nodes and routes as a picture: SVG, or text for Graphviz."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Final

from bufferlab.render.flow_text import flow_text
from bufferlab.render.network import Network, Wire
from bufferlab.render.queue_text import queue_text
from bufferlab.units import format_rate, format_time

if TYPE_CHECKING:
    from bufferlab._scenario_types import ResolvedLink

_COLORS: Final = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
"""Colors of groups, of Okabe and Ito: those who do not see all colors can tell them apart."""

_LAYER: Final = 240
_LANE: Final = 80
_MARGIN: Final = 40
_ROW: Final = 24
_LABEL: Final = 48
_RADIUS: Final = 8
_STRIPE: Final = 4
_CHARACTER: Final = 7
"""In px: the least distance between layers of nodes, between links, at the edge, between lines of text; the
height of a link's text; a node's radius, a group's stripe, a character."""


def link_lines(link: ResolvedLink) -> tuple[str, str]:
    """A link in two lines: its name, rate and delay; its buffer and queue."""
    rate = link["capacity"] or format_rate(link["rate_bps"])
    return (
        f"{link['name']}: {rate}, {format_time(link['delay_ps'])}",
        f"{link['buffer']['text']}, {queue_text(link)}",
    )


def dot(network: Network, title: str) -> str:
    """Text for Graphviz: `dot -Tsvg`."""
    several = len(network.wires) > 1
    groups = [f"  // {flow['name']}: {flow_text(flow, of_several=several)}" for flow in network.flows]
    nodes = [f'  n{node} [label=""];' for node in range(len(network.layers))]
    edges = [
        f"  n{wire.tail} -> n{wire.head} [label={_quoted(*link_lines(wire.link), _groups(wire))}];"
        for wire in network.wires
    ]
    head = [f"digraph {_quoted(title)} {{", "  rankdir=LR;", "  node [shape=circle, width=0.2];"]
    return "\n".join([*head, *nodes, *edges, *groups, "}"]) + "\n"


def _quoted(*lines: str) -> str:
    text = "\\n".join(line.replace("\\", "\\\\").replace('"', '\\"') for line in lines if line)
    return f'"{text}"'


def _groups(wire: Wire) -> str:
    """Who crosses a link."""
    return ", ".join([*wire.groups, *(f"ACKs of {name}" for name in wire.back)])


def svg(network: Network, title: str) -> str:
    """A picture that stands alone: nodes and links above, a line for each group of flows below."""
    color = {flow["name"]: _COLORS[at % len(_COLORS)] for at, flow in enumerate(network.flows)}
    places, bends = _places(network), _bends(network)
    wires = [
        part
        for wire, bend in zip(network.wires, bends, strict=True)
        for part in _wire(wire, places[wire.tail], places[wire.head], bend, color)
    ]
    nodes = [f'<circle cx="{x:g}" cy="{y:g}" r="{_RADIUS}" fill="#333"/>' for x, y in places]
    texts = [f"{flow['name']}: {flow_text(flow, of_several=True)}" for flow in network.flows]
    stripes = max(len(wire.groups) + len(wire.back) for wire in network.wires) * _STRIPE
    below = max(y for _, y in places) + max(bends) + stripes + 2 * _LABEL
    rows = [part for row, text in enumerate(texts) for part in _row(below + row * _ROW, text, row)]
    labels = [line for wire in network.wires for line in link_lines(wire.link)]
    right = max(x for x, _ in places) + max(map(len, labels)) * _CHARACTER / 2
    width = max(right, (max(map(len, [title, *texts])) + 4) * _CHARACTER + _MARGIN) + _MARGIN
    height = below + _ROW * len(texts) + _MARGIN
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" role="img" '
        'font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        '<rect width="100%" height="100%" fill="white"/>',
        f'<text x="{_MARGIN}" y="{_MARGIN}" font-size="16">{escape(title)}</text>',
    )
    return "\n".join([*head, *wires, *nodes, *rows, "</svg>"]) + "\n"


def _places(network: Network) -> list[tuple[float, float]]:
    """Where each node is: layers from left to right, the nodes of a layer below each other."""
    labels = [line for wire in network.wires for line in link_lines(wire.link)]
    layer_px = max(_LAYER, max(map(len, labels)) * _CHARACTER + 2 * _MARGIN)
    rows: Counter[int] = Counter()
    places: list[tuple[float, float]] = []
    for layer in network.layers:
        y = _MARGIN + 2 * _LABEL + rows[layer] * _LANE
        places.append((_MARGIN + layer_px / 4 + layer * layer_px, y))
        rows[layer] += 1
    return places


def _bends(network: Network) -> list[float]:
    """How far each link hangs through: not at all, unless other links or nodes are there."""
    seen: Counter[frozenset[int]] = Counter()
    bends: list[float] = []
    for wire in network.wires:
        between = frozenset((wire.tail, wire.head))
        span = abs(network.layers[wire.head] - network.layers[wire.tail])
        bends.append(_LANE * (seen[between] + max(span - 1, 0)))
        seen[between] += 1
    return bends


def _wire(
    wire: Wire, tail: tuple[float, float], head: tuple[float, float], bend: float, color: dict[str, str]
) -> Iterator[str]:
    """A link: a stripe for each group that crosses it, dashed if its ACKs do, and two lines of text."""
    (x, y), (to_x, to_y) = tail, head
    middle_x, middle_y = (x + to_x) / 2, (y + to_y) / 2
    path = f"M {x:g} {y:g} Q {middle_x:g} {middle_y + 2 * bend:g} {to_x:g} {to_y:g}"
    stripes = [(color[name], "") for name in wire.groups]
    stripes += [(color[name], ' stroke-dasharray="8 5"') for name in wire.back]
    for at, (stroke, dashes) in enumerate(stripes or [("#999", "")]):
        yield (
            f'<path d="{path}" transform="translate(0 {at * _STRIPE})" fill="none" stroke="{stroke}" '
            f'stroke-width="{_STRIPE - 1}"{dashes}/>'
        )
    middle_y += bend
    behind = middle_x - (_RADIUS if to_x >= x else -_RADIUS)
    yield (
        f'<path d="M {behind:g} {middle_y - _RADIUS:g} L {middle_x:g} {middle_y:g} '
        f'L {behind:g} {middle_y + _RADIUS:g}" fill="none" stroke="#333" stroke-width="2"/>'
    )
    above = middle_y - _LABEL + _RADIUS
    top = middle_y + len(stripes) * _STRIPE + _RADIUS if bend else above
    for line, text in enumerate(link_lines(wire.link)):
        at_y = top + (line + 1) * _ROW * 0.6
        yield f'<text x="{middle_x:g}" y="{at_y:g}" text-anchor="middle">{escape(text)}</text>'


def _row(y: float, text: str, row: int) -> Iterator[str]:
    """A group of flows in its color."""
    fill = _COLORS[row % len(_COLORS)]
    yield f'<rect x="{_MARGIN}" y="{y - _RADIUS:g}" width="{2 * _RADIUS}" height="{_RADIUS}" fill="{fill}"/>'
    yield f'<text x="{_MARGIN + 3 * _RADIUS}" y="{y:g}">{escape(text)}</text>'
