"""What the published rules say about a link's buffer. Nothing of it is verified by a run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

import polars as pl

from bufferlab import display
from bufferlab.errors import InputError
from bufferlab.experiment.simulation import ScenarioLike, prepare
from bufferlab.results.links import choose_link
from bufferlab.scenario import Scenario
from bufferlab.studies.targets import Target
from bufferlab.studies.traffic import demand_of
from bufferlab.studies.words import about_rate
from bufferlab.theory.constraints import Feasibility, feasibility
from bufferlab.theory.demand import Demand
from bufferlab.theory.rules import all_rules
from bufferlab.theory.targets import Targets

FORMAT: Final = "bufferlab-rules"
FORMAT_VERSION: Final = 1

OPTIONS: Final = ("characteristics", "measured")
"""Keys of errors about what is not the scenario's."""


@dataclass(frozen=True)
class Rules(display.Displayed):
    """What the published rules say about a link's buffer, unverified.

    Attributes:
        name: Title of the scenario.
        link: Name of the link.
        demand: The input of the rules.
        frame: One row per rule: `rule`, `title`, `buffer_packets`, `buffer_bytes`, `buffer_ms`, `bound`
            (whether it asks for at least or allows at most so much), `citation`, `assumptions`. Rules by
            which no buffer is enough have no row.
        feasibility: Which buffers meet all constraints by the theory of heterogeneous TCP.
        assumed: What the scenario takes for granted.
    """

    name: str
    link: str
    demand: Demand
    frame: pl.DataFrame
    feasibility: Feasibility
    assumed: tuple[str, ...] = ()

    def packets(self) -> dict[str, int]:
        """The buffer of each rule, packets."""
        return dict(zip(self.frame["rule"], self.frame["buffer_packets"], strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain values, for JSON; what is not a number becomes `None`."""
        found = self.feasibility
        values = {key: _json_value(value) for key, value in asdict(found).items()}
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "verified": False,
            "name": self.name,
            "link": self.link,
            "rate_bps": self.demand.rate_bps,
            "rtt_ms": self.demand.rtt_s * 1e3,
            "flows": int(self.demand.flow_count),
            "packet_bytes": self.demand.packet_bytes,
            "mix": [{"protocol": name, "flows": count} for name, count in self.demand.mix],
            "characteristic": float(self.demand.characteristic),
            "targets": asdict(self.demand.targets),
            "feasibility": {"feasible": found.feasible, "least_bytes": _json_value(found.least_bytes)}
            | values,
            "rules": self.frame.to_dicts(),
            "assumed": list(self.assumed),
        }


def rules(
    scenario: ScenarioLike,
    *,
    link: str | None = None,
    targets: Targets | None = None,
    measured: Mapping[str, float] | None = None,
    overrides: Mapping[str, Any] | None = None,
    assumed: Iterable[str] = (),
) -> Rules:
    """Compute the buffer that every published rule gives for a link; no run verifies them.

    Args:
        scenario: A scenario, the path of its file, or its content as nested mappings.
        link: Which link; default the slowest that data crosses.
        targets: What must be met; default a utilization of 99 %.
        measured: Characteristic value by congestion control, where a measured one is to replace the
            model's; see `bufferlab.theory.measured`.
        overrides: Values that replace those of the scenario, by path.
        assumed: What the scenario takes for granted, for the answer to tell: sentences.

    Raises:
        InputError: The scenario is not valid, has no such link, or no TCP flow crosses it; or a congestion
            control has neither a model nor a measured value.
    """
    base = prepare(scenario, overrides)
    index = choose_link(base.resolved, link)
    found = rules_of(base, index, targets or Targets(), measured or {})
    return replace(found, assumed=(*assumed, *about_rate(base.links[index])))


def rules_of(base: Scenario, index: int, targets: Targets, measured: Mapping[str, float]) -> Rules:
    """`rules` for a link by its index.

    Raises:
        InputError: No rule applies.
    """
    try:
        demand = demand_of(base.seeded(), index, targets=targets, measured=measured)
        found = feasibility(demand)
    except InputError as error:
        option = (error.key or "").partition(".")[0] in OPTIONS
        raise error.at(file=None if option else base.file) from error
    return Rules(base.title, base.links[index]["name"], demand, rules_frame(demand), found)


def rules_frame(demand: Demand) -> pl.DataFrame:
    """One row per rule for a demand with one number of flows; see `Rules`."""
    rows = [
        {
            "rule": rule.name,
            "title": rule.title,
            "buffer_packets": int(rule.buffer_packets(demand)),
            "buffer_bytes": float(rule.buffer_bytes(demand)),
            "buffer_ms": float(rule.buffer_ms(demand)),
            "bound": rule.bound,
            "citation": rule.citation,
            "assumptions": "; ".join(rule.assumptions),
        }
        for rule in all_rules()
        if rule.applies(demand) and math.isfinite(float(rule.buffer_bytes(demand)))
    ]
    return pl.DataFrame(rows)


def in_theory(targets: Sequence[Target], conventions: Targets | None = None) -> Targets:
    """What the rules know of targets: the link's utilization, its loss, and the longest wait.

    Args:
        targets: What is asked of runs.
        conventions: Has all else that the rules want to know.

    Raises:
        InputError: A bound that the rules cannot use.
    """
    bounds: dict[str, Any] = {}
    for each in targets:
        if each.group is not None:
            continue
        if each.metric.name == "utilization" and each.at_least:
            bounds["utilization"] = each.bound
        elif each.metric.name == "loss" and not each.at_least:
            bounds["max_loss"] = each.bound
        elif each.metric.name.startswith("wait_") and not each.at_least:
            bounds["max_delay_s"] = min(each.bound / 1e3, bounds.get("max_delay_s", math.inf))
    return replace(conventions or Targets(), **bounds)


def _json_value(value: object) -> object:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return list(value) if isinstance(value, tuple) else value
