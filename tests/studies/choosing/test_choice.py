"""Which queue is taken, from made-up runs."""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Mapping, Sequence

import pytest

from bufferlab.studies.advise.tried import Attempt
from bufferlab.studies.choosing.choice import Choice, choose, missed_targets, standing
from bufferlab.studies.choosing.closest import Off
from bufferlab.studies.choosing.objectives import Aspect, Kind
from bufferlab.studies.choosing.thresholds import HEAVY_LOSS, MATERIAL, noticed
from bufferlab.studies.least.lacking import Lack
from bufferlab.studies.targets import Target, Values, make_target

BUSY = make_target("utilization", 0.99)
QUICK = make_target("wait_mean_ms", 20.0)
PAGE = Aspect("pages", "page", "web.exchange_p50_s", "less")
GOODPUT = Aspect("throughput", "goodput", "goodput_bps", "more")
ASPECTS = (PAGE, GOODPUT)
WAITS = {"fifo": 41.0, "codel": 20.0, "pie": 19.9}
"""Mean waits of queues, ms."""
ALIKE: dict[Kind, float] = {"pages": 1.0, "throughput": 1.0}


def runs(page_s: float, goodput_bps: float = 1e6, spread: float = 0.0, name: str = "") -> list[Values]:
    draw = random.Random(name)
    return [
        {"web.exchange_p50_s": page_s * (1 + draw.gauss(0, spread)), "goodput_bps": goodput_bps}
        for _ in range(8)
    ]


def chosen(
    contest: Mapping[str, Sequence[Values]],
    missed: Mapping[str, tuple[Target, ...]] | None = None,
    weights: Mapping[Kind, float] | None = None,
) -> Choice:
    none: dict[str, tuple[Target, ...]] = dict.fromkeys(contest, ())
    return choose(contest, ASPECTS, weights or ALIKE, missed=none | dict(missed or {}))


@pytest.mark.parametrize(
    ("names", "simplest"),
    [
        (("pie", "codel", "fifo", "fq_codel"), "fifo"),
        (("drr", "pie", "fq_codel"), "fq_codel"),
        (("fifo", "scenario"), "scenario"),
        (("splitbuff", "red"), "red"),
    ],
)
def test_of_equal_queues_the_simplest_is_taken(names: tuple[str, ...], simplest: str) -> None:
    found = chosen({name: runs(0.3) for name in names})
    assert (found.name, found.meets, found.is_clear) == (simplest, True, False)
    assert all(rival.is_equal and rival.worst is None for rival in found.rivals)
    assert {rival.name for rival in found.rivals} == set(names) - {simplest}


def test_of_equal_queues_one_in_which_packets_wait_longer_than_their_path_is_taken_last() -> None:
    contest = {name: [{**run, "wait_mean_ms": wait} for run in runs(0.3)] for name, wait in WAITS.items()}
    late = standing(contest, 40.0, (BUSY,))
    assert late == {"fifo"}
    none: dict[str, tuple[Target, ...]] = dict.fromkeys(contest, ())
    found = choose(contest, ASPECTS, ALIKE, missed=none, standing=late)
    assert found.name == "codel"
    assert [(rival.name, rival.is_standing) for rival in found.rivals] == [("fifo", True), ("pie", False)]
    better = {**contest, "fifo": [{**run, "wait_mean_ms": 41.0} for run in runs(0.2)]}
    assert choose(better, ASPECTS, ALIKE, missed=none, standing=late).name == "fifo"  # it is no equal


def test_a_standing_queue_is_not_taken_for_what_one_group_of_endless_flows_has_of_another() -> None:
    """Fair queueing takes from a greedy group what others gain; users fare alike as a whole."""
    greedy, meek = (Aspect("throughput", f"{each}: goodput", f"{each}.goodput_bps", "more") for each in "ab")

    def shares(greedy_bps: float, meek_bps: float) -> list[Values]:
        return [{"a.goodput_bps": greedy_bps, "b.goodput_bps": meek_bps}] * 8

    contest = {"fifo": shares(4.1e6, 1e6), "fair_queue": shares(2e6, 2e6)}
    none: dict[str, tuple[Target, ...]] = dict.fromkeys(contest, ())

    def taken(late: set[str]) -> str:
        return choose(contest, (greedy, meek), {"throughput": 1.0}, missed=none, standing=late).name

    assert (taken(set()), taken({"fifo"}), taken({"fifo", "fair_queue"})) == ("fifo", "fair_queue", "fifo")
    contest["fair_queue"] = shares(1.5e6, 2e6)  # and here they fare worse as a whole
    assert taken({"fifo"}) == "fifo"


@pytest.mark.parametrize(
    ("rtt_ms", "targets", "names"),
    [
        (42.0, (BUSY,), set()),  # no longer than the path
        (5.0, (BUSY,), {"fifo", "codel"}),
        (5.0, (QUICK,), set()),  # a target bounds the wait
    ],
)
def test_a_wait_is_long_beside_the_path_and_from_20_ms_on(
    rtt_ms: float, targets: tuple[Target, ...], names: set[str]
) -> None:
    contest = {name: [{"wait_mean_ms": wait}] for name, wait in WAITS.items()}
    assert standing({**contest, "silent": [{}]}, rtt_ms, targets) == names


def test_names_with_settings_are_as_simple_as_their_queues() -> None:
    found = chosen({"codel, target 5 ms": runs(0.3), "fifo, 40 packets": runs(0.3)})
    assert found.name == "fifo, 40 packets"


def test_a_better_queue_is_taken_and_clear() -> None:
    found = chosen({"fifo": runs(0.6), "codel": runs(0.3), "pie": runs(0.45)})
    assert (found.name, found.is_clear) == ("codel", True)
    assert [rival.name for rival in found.rivals] == ["pie", "fifo"]
    assert not any(rival.is_equal for rival in found.rivals)
    fifo = found.rivals[-1]
    assert fifo.behind.mean is not None and fifo.behind.mean > MATERIAL
    assert fifo.worst is not None and fifo.worst[0] is PAGE


def test_a_difference_that_is_too_small_to_matter_is_none() -> None:
    found = chosen({"fifo": runs(0.303), "codel": runs(0.3)})
    assert (found.name, found.is_clear) == ("fifo", False)


def test_a_difference_within_chance_is_none() -> None:
    contest = {"fifo": runs(0.31, spread=0.3, name="a"), "codel": runs(0.3, spread=0.3, name="b")}
    assert not chosen(contest).is_clear


def test_a_queue_that_misses_a_target_loses_to_one_that_meets_all() -> None:
    found = chosen({"fifo": runs(0.1), "codel": runs(0.9)}, {"fifo": (BUSY,)})
    assert (found.name, found.meets, found.is_clear) == ("codel", True, True)
    (fifo,) = found.rivals
    assert fifo.missed == (BUSY,) and fifo.behind.mean is not None and fifo.behind.mean < 0


def test_where_all_miss_the_fewest_decide() -> None:
    contest = {"fifo": runs(0.1), "codel": runs(0.5), "pie": runs(0.4)}
    found = chosen(contest, {"fifo": (BUSY, QUICK), "codel": (BUSY,), "pie": (QUICK,)})
    assert (found.name, found.meets) == ("pie", False)
    assert [rival.name for rival in found.rivals] == ["codel", "fifo"]


def test_weights_decide_between_aspects() -> None:
    contest = {"fifo": runs(0.4, 2e6), "codel": runs(0.3, 1e6)}
    assert chosen(contest).name == "fifo"
    pages: dict[Kind, float] = {"pages": 10.0, "throughput": 1.0}
    assert chosen(contest, weights=pages).name == "codel"


def test_missed_targets_are_those_of_the_mean() -> None:
    values: list[Values] = [
        {"utilization": 0.98, "wait_mean_ms": 30.0},
        {"utilization": 1.0, "wait_mean_ms": 12.0},
    ]
    assert missed_targets(values, (BUSY, QUICK)) == (QUICK,)
    assert missed_targets([*values, {"utilization": None}], (BUSY,)) == (BUSY,)


@pytest.mark.parametrize("values", [(1.0, None), (None, 1.0), (None, None), (1.0, 1.0), (0.9, 1.0)])
def test_an_attempt_misses_what_an_answer_with_its_runs_would(values: Sequence[float | None]) -> None:
    measured: tuple[Values, ...] = tuple({"utilization": each} for each in values)
    attempt = Attempt("fifo", "50 packets", 50, (BUSY,), measured)
    assert attempt.missed == missed_targets(measured, (BUSY,)) == (() if values == (1.0, 1.0) else (BUSY,))


def far(short: float, *, unknown: float = 0.0) -> Off:
    return Off(Lack(unknown, short))


def test_where_none_meets_all_the_nearest_is_taken_however_many_targets_it_misses() -> None:
    contest = {"codel, target 5 ms": runs(0.1), "codel, target 1 ms": runs(0.3), "fifo, 9 packets": runs(0.1)}
    missed = dict(zip(contest, ((QUICK,), (QUICK,), (QUICK, BUSY)), strict=True))
    lacking = dict(zip(contest, map(far, (2.0, 1.5, 0.1)), strict=True))
    found = choose(contest, ASPECTS, ALIKE, missed=missed, lacking=lacking)
    assert (found.name, found.meets) == ("fifo, 9 packets", False)
    assert [rival.name for rival in found.rivals] == ["codel, target 5 ms", "codel, target 1 ms"]
    lacking["fifo, 9 packets"] = far(3.0)
    found = choose(contest, ASPECTS, ALIKE, missed=missed, lacking=lacking)
    assert (found.name, found.meets) == ("codel, target 1 ms", False)
    assert choose(contest, ASPECTS, ALIKE, missed=missed).name == "codel, target 5 ms"
    lacking["codel, target 5 ms"] = far(1.6)  # as near, and better for users
    assert choose(contest, ASPECTS, ALIKE, missed=missed, lacking=lacking).name == "codel, target 5 ms"
    lacking["codel, target 1 ms"] = far(0.0, unknown=0.25)  # what has no value in some runs is the farthest
    found = choose(contest, ASPECTS, ALIKE, missed=missed, lacking=lacking)
    assert found.name == "codel, target 5 ms"


def test_a_choice_is_open_while_a_queue_may_be_better_by_what_users_notice() -> None:
    noisy = {"fifo": runs(0.31, spread=0.3, name="a"), "codel": runs(0.3, spread=0.3, name="b")}
    found = chosen(noisy)
    assert (found.name, found.open) == ("fifo", ("codel",))
    assert found.rivals[0].is_equal and found.rivals[0].is_open
    calm = {"fifo": runs(0.303, spread=0.001, name="a"), "codel": runs(0.3, spread=0.001, name="b")}
    assert chosen(calm).open == ()
    assert chosen({"fifo": runs(0.6), "codel": runs(0.3)}).open == ()  # surely worse is decided, too


def test_a_single_run_decides_nothing() -> None:
    assert chosen({"fifo": runs(0.3)[:1], "codel": runs(0.3)[:1]}).open == ("codel",)


def test_what_misses_a_target_leaves_no_choice_open() -> None:
    contest = {"fifo": runs(0.31, spread=0.3, name="a"), "codel": runs(0.3, spread=0.3, name="b")}
    assert chosen(contest, {"codel": (BUSY,)}).open == ()


def test_two_queues_are_compared_by_the_seeds_that_both_have() -> None:
    far = [*runs(0.3), *runs(9.0)]
    found = chosen({"fifo": runs(0.3), "codel": far, "pie": runs(0.6)})
    assert found.name == "fifo"
    by_name = {rival.name: rival for rival in found.rivals}
    assert by_name["codel"].behind.mean == 0.0 and by_name["codel"].behind.known == 8


def test_queues_that_are_left_are_compared_by_all_their_seeds() -> None:
    """What is out after few runs does not hide the further runs of the others."""
    contest = {
        "fifo": [*runs(0.30), *runs(0.60)],
        "codel": [*runs(0.30), *runs(0.20)],
        "pie": runs(0.9),
    }
    found = chosen(contest)
    assert (found.best, found.name) == ("codel", "codel")


def test_of_equals_one_that_keeps_targets_where_traffic_changes_is_taken_first() -> None:
    contest = {"fifo": runs(0.3), "codel": runs(0.301), "pie": runs(0.6)}
    none: dict[str, tuple[Target, ...]] = dict.fromkeys(contest, ())
    assert choose(contest, ASPECTS, ALIKE, missed=none, sturdy=["codel", "pie"]).name == "codel"


def test_twice_as_bad_is_never_equal_however_little_it_weighs() -> None:
    light: dict[Kind, float] = {"pages": 1.0, "throughput": 1000.0}
    assert chosen({"fifo": runs(0.55), "codel": runs(0.3)}, weights=light).name == "fifo"
    assert chosen({"fifo": runs(0.65), "codel": runs(0.3)}, weights=light).name == "codel"
    nothing: dict[Kind, float] = {"pages": 0.0, "throughput": 1.0}
    assert chosen({"fifo": runs(0.65), "codel": runs(0.3)}, weights=nothing).name == "fifo"


def test_more_looks_need_clearer_differences() -> None:
    contest = {"fifo": runs(0.36, spread=0.1, name="a"), "codel": runs(0.3, spread=0.1, name="b")}
    none: dict[str, tuple[Target, ...]] = dict.fromkeys(contest, ())
    one, three = (choose(contest, ASPECTS, ALIKE, missed=none, looks=looks) for looks in (1, 3))
    widths = [found.rivals[0].behind.half_width or 0.0 for found in (one, three)]
    assert widths[1] > 1.1 * widths[0] > 0.0


def test_a_simpler_queue_that_may_be_as_good_leaves_the_choice_open() -> None:
    """It is out by its mean, but its interval has differences in it that users would not notice."""
    contest = {"fifo": runs(0.345, spread=0.06, name="a"), "codel": runs(0.3, spread=0.02, name="b")}
    found = chosen(contest)
    (fifo,) = found.rivals
    assert found.name == "codel" and not fifo.is_equal and fifo.is_open
    assert fifo.behind.mean is not None and fifo.behind.half_width is not None
    assert fifo.behind.mean - fifo.behind.half_width < MATERIAL < fifo.behind.mean
    # of two that are as simple as that or less so, nothing would change
    other = chosen({"fifo": contest["codel"], "codel": contest["fifo"]})
    assert other.name == "fifo" and other.open == ()


def test_what_is_out_is_never_called_equal() -> None:
    """The best decides who is out, though a queue of its kind is taken in its place."""
    contest = {"fifo": runs(0.3328), "codel, target 5 ms": runs(0.3005), "codel, target 2 ms": runs(0.3)}
    near = chosen(contest)
    assert near.name == "codel, target 5 ms" and near.best == "codel, target 2 ms"
    assert {rival.name: rival.is_equal for rival in near.rivals} == {
        "fifo": False,
        "codel, target 2 ms": True,
    }


def test_the_worst_aspect_is_one_that_tells_the_queues_apart() -> None:
    calls = Aspect("calls", "call: rating R", "call_r", "more")
    worse: list[Values] = [{"goodput_bps": 0.93e6, "call_r": 93 * 0.94}] * 8
    better: list[Values] = [{"goodput_bps": 1e6, "call_r": 93.0}] * 8
    weights: dict[Kind, float] = {"throughput": 1.0, "calls": 1.0}
    missed: dict[str, tuple[Target, ...]] = {"fifo": (), "codel": ()}
    (fifo,) = choose({"fifo": worse, "codel": better}, (GOODPUT, calls), weights, missed=missed).rivals
    assert fifo.worst is not None and fifo.worst[0] is calls  # 7 % of goodput are not notable, 6 % of R are


# Luck: made-up runs whose true means are known


TRIALS = 900
KINDS: tuple[Kind, ...] = ("throughput", "latency", "pages")
THREE = tuple(Aspect(kind, kind, kind, "more") for kind in KINDS)
NAMES = ("scenario", "fifo", "fq_codel", "codel", "pie")


def drawn(draw: random.Random, means: Mapping[str, float], seeds: int, law: str) -> dict[str, list[Values]]:
    """Runs of queues, with common seeds: users get the mean, times what befell all and what befell each."""

    def noise() -> float:
        return draw.gauss(0, 1) if law == "normal" else 1 - draw.expovariate(1)

    befell = [[draw.gauss(0, 0.3) for _ in range(seeds)] for _ in KINDS]
    return {
        name: [
            {kind: mean * math.exp(befell[at][seed] + 0.5 * noise()) for at, kind in enumerate(KINDS)}
            for seed in range(seeds)
        ]
        for name, mean in means.items()
    }


def lucky(found: Choice, name: str) -> bool:
    """Whether a queue was passed over by a claim that another is better."""
    return found.name != name and (found.is_clear or found.name in NAMES[NAMES.index(name) + 1 :])


@pytest.mark.parametrize("seeds", [3, 8])
@pytest.mark.parametrize("law", ["normal", "skewed"])
def test_of_queues_that_are_as_good_luck_passes_over_the_simplest_in_one_of_twenty(
    seeds: int, law: str
) -> None:
    draw = random.Random(f"{seeds} {law}")
    weights = dict.fromkeys(KINDS, 1.0)
    missed: dict[str, tuple[Target, ...]] = dict.fromkeys(NAMES, ())
    means = dict.fromkeys(NAMES, 1.0)
    wrong = 0
    for _ in range(TRIALS):
        found = choose(drawn(draw, means, seeds, law), THREE, weights, missed=missed)
        wrong += lucky(found, NAMES[0])
    assert wrong / TRIALS <= 0.05


@pytest.mark.parametrize("best", NAMES)
def test_a_queue_that_is_a_little_better_is_seldom_ruled_out(best: str) -> None:
    draw = random.Random(best)
    weights = dict.fromkeys(KINDS, 1.0)
    missed: dict[str, tuple[Target, ...]] = dict.fromkeys(NAMES, ())
    means = dict.fromkeys(NAMES, 1.0) | {best: 1.06}
    wrong = 0
    for _ in range(TRIALS // 3):
        found = choose(drawn(draw, means, 8, "normal"), THREE, weights, missed=missed)
        wrong += lucky(found, best)
    assert wrong / (TRIALS // 3) <= 0.05


def test_a_queue_that_is_much_better_is_taken() -> None:
    draw = random.Random("much")
    weights = dict.fromkeys(KINDS, 1.0)
    missed: dict[str, tuple[Target, ...]] = dict.fromkeys(NAMES, ())
    means = dict.fromkeys(NAMES, 1.0) | {"codel": 4.0}
    contests = [drawn(draw, means, 8, "normal") for _ in range(200)]
    found = [choose(each, THREE, weights, missed=missed) for each in contests]
    assert sum(each.name == "codel" and each.is_clear for each in found) >= 190


def test_an_aspect_that_looks_worse_by_chance_decides_nothing() -> None:
    """Users as a whole fare alike; pages take 12 % longer in the mean, and scatter by half."""
    draw = random.Random("pages")
    spread = [1.0 + 0.5 * (-1) ** seed for seed in range(8)]
    fifo: list[Values] = [{"web.exchange_p50_s": 0.3 * 1.12 * by, "goodput_bps": 1.1e6} for by in spread]
    codel: list[Values] = [
        {"web.exchange_p50_s": 0.3 * by, "goodput_bps": 1e6} for by in draw.sample(spread, 8)
    ]
    found = chosen({"fifo": fifo, "codel": codel})
    assert found.name == "fifo" and not found.is_clear
    steady: list[Values] = [{"web.exchange_p50_s": 0.3 * 1.12, "goodput_bps": 1.1e6} for _ in spread]
    surely = chosen({"fifo": steady, "codel": runs(0.3)})
    assert surely.rivals[0].worst is not None and surely.is_clear


# What weighs more decides


CALL = Aspect("calls", "rating", "call.call_r", "more")
FAIR = Aspect("fairness", "Jain's index", "bulk.jain_index", "more")


def of_calls(rating: float, index: float, goodput_bps: float = 1e6) -> list[Values]:
    return [{"call.call_r": rating, "bulk.jain_index": index, "goodput_bps": goodput_bps}] * 8


def for_calls(contest: Mapping[str, Sequence[Values]], calls: float, fairness: float = 1.0) -> Choice:
    weights: dict[Kind, float] = {"calls": calls, "fairness": fairness, "throughput": 1.0}
    return choose(contest, (CALL, FAIR, GOODPUT), weights, missed=dict.fromkeys(contest, ()))


def test_unfairness_among_downloads_does_not_tip_a_question_about_calls() -> None:
    """Both ratings are those of very satisfied users; the index is a sixth lower."""
    contest = {"fifo": of_calls(91.0, 0.83), "fq_codel": of_calls(93.0, 0.99)}
    found = for_calls(contest, 10.0)
    assert (found.name, found.best, found.is_clear, found.edge) == ("fifo", "fq_codel", False, None)
    (rival,) = found.rivals
    assert rival.is_equal and -0.05 < (rival.behind.mean or 0.0) < -0.02
    assert for_calls(contest, 1.0).name == "fq_codel"


def test_what_is_asked_for_decides_against_all_the_rest() -> None:
    """A notably worse rating is no match for three times the goodput and an even share."""
    contest = {"fifo": of_calls(80.0, 0.99, 3e6), "fq_codel": of_calls(93.0, 0.6, 1e6)}
    assert for_calls(contest, 10.0).name == "fq_codel"
    assert for_calls(contest, 4.0).name == "fifo"


def test_an_aspect_that_weighs_less_must_be_worse_by_as_many_times_more() -> None:
    contest = {"fifo": of_calls(92.0, 0.7), "fq_codel": of_calls(92.0, 0.99)}
    assert for_calls(contest, 5.0, 1.0).name == "fifo"  # 29 % beside 50 %, and 5 % of the whole
    assert for_calls(contest, 5.0, 4.0).name == "fq_codel"  # beside 12.5 %


def test_a_choice_near_a_threshold_is_said_to_be_on_the_edge() -> None:
    for page_s, edge in ((0.328, ("codel", 0.8)), (0.337, ("fifo", 1.25)), (0.31, None), (0.4, None)):
        found = chosen({"fifo": runs(page_s), "codel": runs(0.3)})
        assert found.edge == edge, page_s
        assert found.best == "codel"


def test_what_runs_do_not_tell_apart_is_not_called_alike() -> None:
    near = {"fifo": runs(0.3, spread=0.002, name="a"), "codel": runs(0.3, spread=0.002, name="b")}
    found = chosen(near)
    assert found.tied == ("codel",) and found.is_tie_shown
    (rival,) = found.rivals
    assert rival.is_equal and rival.is_alike
    noisy = {"fifo": runs(0.3, spread=0.3, name="a"), "codel": runs(0.3, spread=0.3, name="b")}
    (rival,) = chosen(noisy).rivals
    assert rival.is_equal and not rival.is_alike
    worse = {"fifo": runs(0.3, spread=0.002, name="a"), "codel": runs(0.6, spread=0.002, name="b")}
    (rival,) = chosen(worse).rivals
    assert not rival.is_equal and not rival.is_alike


def test_what_loses_too_much_is_out_where_another_queue_meets_as_much() -> None:
    contest = {"codel": runs(0.5, 0.4e6), "fifo": runs(1.0)}
    none: dict[str, tuple[Target, ...]] = dict.fromkeys(contest, ())
    weights: dict[Kind, float] = {"pages": 9.0, "throughput": 3.0}
    assert choose(contest, ASPECTS, weights, missed=none).name == "codel"
    better = choose({**contest, "codel": runs(0.5)}, ASPECTS, ALIKE, missed=none, losses={"codel": 0.06})
    assert (better.name, better.outweighs) == ("codel", True)  # in no aspect are users worse off
    found = choose(contest, ASPECTS, weights, missed=none, losses={"codel": 0.06})
    (codel,) = found.rivals
    assert found.name == "fifo" and codel.is_lossy and not codel.is_equal and not found.tied
    both = choose(contest, ASPECTS, weights, missed=none, losses={"codel": 0.06, "fifo": 0.06})
    assert both.name == "codel" and not both.outweighs and not any(rival.is_lossy for rival in both.rivals)
    alone = choose(contest, ASPECTS, ALIKE, missed=none | {"fifo": (BUSY,)}, losses={"codel": 0.06})
    assert alone.name == "codel"  # what loses less misses a target


@pytest.mark.parametrize(
    ("contest", "lost", "taken"),
    [
        # 70 flows at 75 Mbps: what loses less than PIE counts, too, if it loses 5 % or more itself
        ({"fifo": (3.0, 0.8e6), "fq_codel": (1.0, 1e6), "pie": (0.35, 0.46e6)}, (0.025, 0.0585, 0.178), 1),
        ({"fifo": (3.0, 0.8e6), "fq_codel": (1.0, 1e6), "pie": (0.7, 0.9e6)}, (0.025, 0.0585, 0.178), 1),
        # 3 flows at 3 Mbps: three times the loss for a tenth
        ({"fifo": (3.0, 1e6), "fq_codel": (1.0, 1e6), "pie": (0.8, 1e6)}, (0.026, 0.0407, 0.122), 1),
        ({"fifo": (3.0, 1e6), "fq_codel": (1.0, 1e6), "pie": (0.2, 0.9e6)}, (0.026, 0.0407, 0.096), 2),
        # what is below 5 % counts as 5 %: 5.03 % need hardly more than users notice, 7.5 % half as much again
        ({"fifo": (1.2, 1e6), "fq_codel": (1.0, 1e6)}, (0.01, 0.0503), 1),
        ({"fifo": (2.0, 1e6), "fq_codel": (1.0, 1e6)}, (0.01, 0.075), 0),
        ({"fifo": (2.4, 1e6), "fq_codel": (1.0, 1e6)}, (0.01, 0.075), 1),
    ],
)
def test_users_must_fare_better_as_many_times_as_a_queue_loses_more(
    contest: dict[str, tuple[float, float]], lost: tuple[float, ...], taken: int
) -> None:
    heavy = {name: share for name, share in zip(contest, lost, strict=True) if share >= HEAVY_LOSS}
    none: dict[str, tuple[Target, ...]] = dict.fromkeys(contest, ())
    measured = {name: runs(*each) for name, each in contest.items()}
    found = choose(measured, ASPECTS, ALIKE, missed=none, losses=heavy)
    assert found.name == [*contest][taken]
    assert found.outweighs == (found.name in heavy)


@pytest.mark.parametrize(
    ("contest", "lost", "taken"),
    [
        ({"fair_queue": (1.3, 1e6), "llq": (1.0, 1e6)}, (0.045, 0.06), "llq"),
        ({"fair_queue": (1.0, 1e6), "llq": (1.01, 1e6)}, (0.043, 0.05), "fair_queue"),
        ({"llq": (1.01, 1e6), "fair_queue": (1.0, 1e6)}, (0.05, 0.043), "fair_queue"),
        ({"fair_queue": (1.3, 1e6), "llq": (1.0, 1e6)}, (0.032, 0.075), "fair_queue"),
    ],
)
def test_a_loss_hardly_beyond_the_bound_is_no_reason_beside_one_hardly_below(
    contest: dict[str, tuple[float, float]], lost: tuple[float, ...], taken: str
) -> None:
    none: dict[str, tuple[Target, ...]] = dict.fromkeys(contest, ())
    measured = {name: runs(*each) for name, each in contest.items()}
    losses = dict(zip(contest, lost, strict=True))
    assert choose(measured, ASPECTS, ALIKE, missed=none, losses=losses).name == taken


def test_opposite_differences_do_not_cancel_without_a_word() -> None:
    (other,) = chosen({"fifo": runs(1.0, 1e6), "codel": runs(0.8, 0.8e6)}).rivals
    assert abs(other.behind.mean or 0.0) < MATERIAL
    assert (other.loses, other.gains) == ((GOODPUT, PAGE) if other.name == "codel" else (PAGE, GOODPUT))
    (same,) = chosen({"fifo": runs(1.0, 1e6), "codel": runs(0.97, 0.98e6)}).rivals
    assert (same.loses, same.gains) == (None, None)


@pytest.mark.parametrize(
    ("target", "bound"),
    [
        (BUSY, 0.891),
        (QUICK, 22.0),
        (dataclasses.replace(make_target("call_r", 80.0), group="call"), 76.0),
    ],
)
def test_users_notice_a_missed_target_from_a_tenth_on_and_a_call_s_rating_from_half_of_that(
    target: Target, bound: float
) -> None:
    assert noticed(target).bound == pytest.approx(bound)
    assert noticed(target).name == target.name and noticed(target).at_least == target.at_least


def test_where_all_lose_much_those_are_out_that_lose_clearly_more() -> None:
    """With PIE, which loses more than twice as much, pages load faster and transfers take longer."""
    contest = {"fq_codel": runs(1.0), "pie": runs(0.85, 0.9e6)}
    none: dict[str, tuple[Target, ...]] = dict.fromkeys(contest, ())
    assert choose(contest, ASPECTS, ALIKE, missed=none, losses={"fq_codel": 0.07, "pie": 0.08}).name == "pie"
    found = choose(contest, ASPECTS, ALIKE, missed=none, losses={"fq_codel": 0.066, "pie": 0.147})
    assert found.name == "fq_codel" and found.rivals[0].is_lossy and not found.outweighs
