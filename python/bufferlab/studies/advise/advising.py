"""Says which queue a link should run, and how large its buffer should be."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bufferlab.experiment.runner import Runner
from bufferlab.experiment.simulation import ScenarioLike
from bufferlab.experiment.store.studies import Study
from bufferlab.scenario import Scenario
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.answering import Manner, answer_link
from bufferlab.studies.advise.course import Watch
from bufferlab.studies.advise.floor import default_targets
from bufferlab.studies.advise.needs import Needs
from bufferlab.studies.advise.question import link_index, prepared
from bufferlab.studies.choosing.objectives import Emphasis
from bufferlab.studies.targets import Target


def advise(
    scenario: ScenarioLike,
    targets: Iterable[str | Target] = (),
    *,
    queues: str | Sequence[str] | None = None,
    platform: str | None = None,
    link: str | None = None,
    bounds: str | None = None,
    emphasis: Emphasis | None = None,
    confidence: float = 0.95,
    resolution: float = 0.1,
    quick: bool = False,
    sensitivity: bool = True,
    today: str | None = None,
    lengthen: bool = False,
    supposed: Mapping[str, Scenario] | None = None,
    threads: int | None = None,
    progress: bool | None = None,
    overrides: Mapping[str, Any] | None = None,
    assumed: Iterable[str] = (),
    runner: Runner | None = None,
    watch: Watch | None = None,
) -> Advice:
    """Say which queue a link should run and how large its buffer should be.

    Args:
        scenario: A scenario, the path of its file, or its content as nested mappings.
        targets: What shall be met, such as "utilization >= 99 %", "wait_p99 < 20 ms", "call.r > 80"; default
            those of the scenario, else a utilization of 99 %, which is asked for beside others that leave it
            open, too (90 % with a queue at its specification's target); or, where no flow is without end, a
            loss of at most 1 %.
        queues: Words of `queue` to choose from, "scenario" for the scenario's own, "all" for every one;
            default those that routers have.
        platform: On what it shall run: linux, openwrt, routeros, junos, ios-xe, ios-xr, nx-os. Queues that it
            lacks are then not tried; one that was asked for is an error. No buffer is tried that it does not
            take.
        link: Whose buffer; default the slowest that data crosses.
        bounds: Where buffers are searched: two buffers with ".." between them, a number alone is packets;
            default one packet up to twice the bandwidth-delay product, and up to 16 times while all buffers
            miss a target and larger ones come nearer.
        emphasis: The kind of aspect that matters most: "throughput", "fairness", "latency", "calls", "pages"
            or "transfers"; or the weights of some, such as {"calls": 10}, where the others have 1; default
            what the scenario says, else all alike.
        confidence: With which all targets shall be met at the answer.
        resolution: The buffer may be larger than the least by this share.
        quick: End with the first answer: buffers are searched, targets of delay are the usual ones.
        sensitivity: Ask also what would change the answer.
        today: What the link runs now, which is run beside the answer: a queue and its buffer, such as
            "fifo:64 packets" or "fq_codel"; "scenario" for what the scenario has; default what the
            platform's interfaces run if nobody configured a queue, if a platform is given.
        lengthen: Begin again with longer runs where those of the scenario are too short to judge the answer;
            else a warning says so.
        supposed: Scenarios with other controls that may be as true, by what is other in them, as of a capture
            that does not tell them apart: the answer is tried in each.
        threads: Simulations at a time; default one for each processor.
        progress: Show a progress bar; default if standard error is a terminal.
        overrides: Values that replace those of the scenario, by path.
        assumed: What the scenario takes for granted, for the answer to tell: sentences.
        runner: Runs the simulations; default a plain one with `threads` and `progress`.
        watch: Called with the best answer so far whenever something new is known.

    Raises:
        InputError: If the scenario or an argument cannot be used.
        RunInterrupted: At Ctrl-C, with the best answer so far, or a `Tried` without one.
    """
    base = prepared(scenario, overrides)
    index = link_index(base, link)
    needs = Needs.of(base, targets, emphasis, default_targets(base, index)).with_floor(base, index)
    manner = Manner(
        queues,
        platform,
        bounds,
        confidence,
        resolution,
        quick=quick,
        sensitivity=sensitivity,
        today=today,
        lengthen=lengthen,
        supposed=supposed or {},
    )
    keeping = runner or Runner(threads=threads, progress=progress)
    with keeping.study(Study.of("advise", base)):
        return answer_link(base, index, needs, manner, assumed=assumed, runner=keeping, watch=watch)
