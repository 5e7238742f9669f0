"""Nodes, links and routes of a scenario, and the pictures of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from bufferlab.render.network import Network, network_of
from bufferlab.render.picture import dot, svg
from bufferlab.scenario import Scenario


def network(*flows: dict[str, Any], links: str = "abc") -> Network:
    table = {
        "run": {"duration": "10 s"},
        "links": [
            {"name": name, "rate": "10 Mbps", "delay": "1 ms", "buffer": "100 packets"} for name in links
        ],
        "flows": [{"rtt": "50 ms", **flow} for flow in flows],
    }
    return network_of(Scenario.from_dict(table).seeded().resolved)


def ends(made: Network) -> list[tuple[int, int]]:
    return [(wire.tail, wire.head) for wire in made.wires]


def test_a_link_begins_where_the_one_before_it_on_a_path_ends() -> None:
    made = network({"path": ["a", "b", "c"]}, {"path": ["b"]})
    assert ends(made) == [(0, 1), (1, 2), (2, 3)]
    assert made.layers == (0, 1, 2, 3)


def test_links_that_no_path_joins_stand_apart() -> None:
    made = network({"path": ["a"]}, {"path": ["b"]}, {"path": ["c"]})
    assert ends(made) == [(0, 1), (2, 3), (4, 5)]
    assert made.layers == (0, 1) * 3


def test_the_way_back_begins_where_the_way_there_ends() -> None:
    made = network({"path": ["a", "b"], "reverse_path": ["c"]})
    assert ends(made) == [(0, 1), (1, 2), (2, 0)]
    assert made.layers == (0, 1, 2)


def test_two_links_into_a_third_meet_before_it() -> None:
    made = network({"path": ["a", "c"]}, {"path": ["b", "c"]})
    assert ends(made) == [(0, 1), (2, 1), (1, 3)]
    assert made.layers == (0, 1, 0, 2)


def test_links_in_a_circle_have_a_picture() -> None:
    made = network({"path": ["a", "b"]}, {"path": ["b", "c"]}, {"path": ["c", "a"]})
    assert ends(made) == [(0, 1), (1, 2), (2, 0)]


def test_who_crosses_a_link_is_known() -> None:
    made = network(
        {"name": "up", "path": ["a"], "reverse_path": ["b"]}, {"name": "down", "path": ["b"]}, links="ab"
    )
    assert [(wire.groups, wire.back) for wire in made.wires] == [(("up",), ()), (("down",), ("up",))]


@pytest.mark.parametrize("draw", [svg, dot])
def test_pictures_name_every_link_and_group(draw: Callable[[Network, str], str]) -> None:
    made = network(
        {"name": "east", "path": ["a", "b"], "reverse_path": ["c"]}, {"name": "west", "path": ["c"]}
    )
    text = draw(made, 'A <"title">')
    assert all(f"{name}: 10 Mbps, 1 ms" in text for name in "abc")
    assert "east: 1 × " in text and "west: 1 × " in text


def test_a_picture_is_xml_with_a_stripe_for_each_route() -> None:
    made = network(
        {"name": "east", "path": ["a", "b"], "reverse_path": ["c"]}, {"name": "west", "path": ["c"]}
    )
    root = ET.fromstring(svg(made, 'A <"title">'))
    paths = root.findall("{http://www.w3.org/2000/svg}path")
    stripes = [path for path in paths if path.get("stroke-width") == "3"]
    dashed = [path for path in stripes if path.get("stroke-dasharray")]
    # east on a and b, west on c, and east's acknowledgments on c
    assert (len(stripes), len(dashed)) == (4, 1)
    assert stripes[0].get("stroke") == dashed[0].get("stroke") != stripes[2].get("stroke")


def test_titles_cannot_break_the_text_for_graphviz() -> None:
    assert dot(network({"path": ["a"]}, links="a"), 'A "title"').startswith('digraph "A \\"title\\"" {\n')
