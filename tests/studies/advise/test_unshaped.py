"""A shaped line is also run at its own rates, with the modem's queues."""

from __future__ import annotations

import pytest

from bufferlab.errors import InputError
from bufferlab.experiment.simulation import prepare, simulate
from bufferlab.scenario import Scenario
from bufferlab.studies.advise.joint import LinksAdvice, Shaped
from bufferlab.studies.advise.settings import PILOTS
from bufferlab.studies.advise.several import advise_links
from bufferlab.studies.advise.unshaped import Unshaped
from bufferlab.studies.least.candidates import CHECK_SEEDS
from bufferlab.studies.targets import values_of_run

from ...small import LINE

SCENARIO = Scenario.from_toml(LINE)
SHAPED = Shaped(0.8, {"download": 5_000_000, "upload": 1_250_000})


def advised(share: Shaped | None = SHAPED, *, today: str | None = None) -> LinksAdvice:
    return advise_links(
        SCENARIO,
        "each",
        ["utilization >= 50 %"],
        queues="fq_codel",
        quick=True,
        today=today,
        threads=1,
        progress=False,
        shaped=share,
    )


@pytest.mark.parametrize(("today", "buffer"), [(None, "250 ms"), ("fifo:40 packets", "40 packets")])
def test_the_line_is_run_at_its_own_rates_with_the_seeds_of_the_answers(
    today: str | None, buffer: str
) -> None:
    advice = advised(today=today)
    found = advice.unshaped
    assert isinstance(found, Unshaped) and (found.queue, found.buffer) == ("fifo", buffer)
    assert found.is_assumed == (today is None)
    assert [each.today for each in advice.links] == [None, None]  # it is in the modem
    changes = {f"links[{at}].buffer": buffer for at in (0, 1)}
    line = prepare(SCENARIO, {**changes, "links[0].rate": "5 Mbps", "links[1].rate": "1250 kbps"})
    runs = [simulate(line, seed) for seed in range(1 + CHECK_SEEDS, 1 + CHECK_SEEDS + PILOTS)]
    for link in ("download", "upload"):
        expected = [values_of_run(link, run)["wait_mean_ms"] for run in runs if run is not None]
        assert [each["wait_mean_ms"] for each in found.values[link]] == expected
    document = advice.to_dict()["unshaped"]
    assert document["links"]["upload"]["wait_mean_ms"] == found.mean("upload", "wait_mean_ms").mean


def test_without_a_shaper_nothing_is_assumed_of_a_modem() -> None:
    assert advised(None).unshaped is None
    assert advised(Shaped(1.0, {"download": 4_000_000, "upload": 1_000_000})).unshaped is None


def test_what_a_modem_cannot_run_is_refused_before_any_run() -> None:
    with pytest.raises(InputError) as raised:
        advised(today="fifo")
    assert raised.value.key == "today"
