"""Targets that nothing can meet are refused at once, and those that something may meet are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from bufferlab import InputError
from bufferlab.experiment.runner import Runner
from bufferlab.studies.advise.question import prepared
from bufferlab.studies.alone import refuse_impossible
from bufferlab.studies.size import size
from bufferlab.studies.targets import parse_targets

EXAMPLES = Path(__file__).parents[2] / "examples"

SHORT = {"run.duration": "20 s"}


def refuse(*written: str) -> int:
    base = prepared(EXAMPLES / "bufferbloat.toml", SHORT)
    targets = parse_targets(written, [flow["name"] for flow in base.flows])
    return refuse_impossible(base, base.links[0]["name"], targets, Runner(threads=1, progress=False))


@pytest.mark.parametrize(
    ("target", "alone"),
    [("page.exchange_p50 < 100 ms", "page has 0.16"), ("long.goodput > 11 Mbps", "long has 9.")],
)
def test_what_a_group_misses_alone_is_refused(target: str, alone: str) -> None:
    with pytest.raises(InputError, match="cannot be met: alone on the link, without other traffic") as error:
        refuse(target)
    assert alone in str(error.value) and error.value.key == "target"


def test_what_a_group_has_alone_is_not_refused() -> None:
    assert refuse("page.exchange_p50 < 200 ms", "long.goodput > 5 Mbps", "ping.loaded_rtt_p95 < 8 ms") > 0


def test_bounds_on_the_link_take_no_runs() -> None:
    assert refuse("utilization >= 99 %", "wait_p99 < 1 ms", "long.loss < 0.01 %") == 0


def test_size_refuses_them_as_well() -> None:
    with pytest.raises(InputError, match="alone on the link"):
        size(
            EXAMPLES / "bufferbloat.toml",
            ["page.exchange_p50 < 100 ms"],
            overrides=SHORT,
            runner=Runner(threads=1, progress=False),
        )
