"""What searches promise, on many made-up links of which the truth is known."""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Callable

import pytest

from bufferlab.studies.least import Goal, Least, Run, check
from bufferlab.studies.least.candidates import CHECK_SEEDS
from bufferlab.studies.least.memory import Memory
from bufferlab.studies.targets import Target, Values, make_target

from .problems import BUSY, QUICK, Noise, Problem, none, normal, saturating, skewed, solve

UPPER = 2000
PLAN = Goal((BUSY,), 1, UPPER)


def flat(size: int) -> float:
    """A hair below what is asked for, with any buffer: the hardest to tell."""
    del size
    return 0.99 - 1e-9


def straight(knee: float) -> Callable[[int], float]:
    return lambda size: 0.99 + 0.02 * math.log(size / knee)


def sunk(knee: float, low: float, high: float) -> Callable[[int], float]:
    """Saturating, but too little again within an interval."""
    smooth = saturating(knee)
    return lambda size: smooth(size) - (0.01 if low <= size <= high else 0.0)


def drawn(number: int) -> Problem:
    """Some link: a least size from 2 to 1500, one of four shapes, some scatter."""
    draw = random.Random(f"problem {number}")
    knee = math.exp(draw.uniform(math.log(2), math.log(1500)))
    shape = draw.choice((saturating(knee), straight(knee), sunk(knee, 2 * knee, 4 * knee), flat))
    return Problem(
        {"utilization": shape},
        draw.choice((normal, skewed)),
        {"utilization": math.exp(draw.uniform(math.log(1e-4), math.log(5e-3)))},
        number,
    )


def most(chance: float, of: int) -> float:
    """The share that is not exceeded with 97.5 % if each happens with a chance."""
    return chance + 1.96 * math.sqrt(chance * (1 - chance) / of)


def test_what_is_confirmed_is_true() -> None:
    problems = [drawn(number) for number in range(500)]
    answers = [(problem, solve(PLAN, problem.run)) for problem in problems]
    confirmed = [(problem, each) for problem, each in answers if each.confirmed]
    false = [each for problem, each in confirmed if not problem.meets(each.closest, PLAN.targets)]
    assert len(confirmed) > 300
    assert len(false) / len(answers) <= most(0.05, len(answers))
    assert all(each.confidence >= 0.95 and each.size == each.closest for _, each in confirmed)
    assert all(each.confidence <= 0.975 for _, each in answers if not each.confirmed)


@pytest.mark.parametrize("runs", [20, 60, 300])
def test_runs_are_bounded(runs: int) -> None:
    """Whatever the scatter; with few runs the answer is larger, and as sure."""
    goal = dataclasses.replace(PLAN, runs=runs)
    answers = [(problem, solve(goal, problem.run)) for problem in map(drawn, range(100, 160))]
    assert max(each.runs for _, each in answers) <= runs + 200
    false = [each for problem, each in answers if each.confirmed and not problem.meets(each.closest, (BUSY,))]
    assert len(false) / len(answers) <= most(0.05, len(answers))


@pytest.mark.parametrize("noise", [normal, skewed])
def test_a_link_that_misses_by_a_hair_is_seldom_said_to_meet(noise: Noise) -> None:
    """With every size the chance to be confirmed is what was allowed: the worst case."""
    answers = [
        solve(PLAN, Problem({"utilization": flat}, noise, {"utilization": 1e-3}, number).run)
        for number in range(150)
    ]
    assert sum(each.confirmed for each in answers) / len(answers) <= most(0.05, len(answers))


@pytest.mark.parametrize("noise", [normal, skewed])
@pytest.mark.parametrize(("shape", "spread"), [(saturating, 5e-4), (straight, 1e-3)])
def test_the_answer_is_hardly_larger_than_the_truth(
    shape: Callable[[float], Callable[[int], float]], spread: float, noise: Noise
) -> None:
    """Where one run misleads by 5 % of the size, as a standard deviation, which runs suffice for."""
    near, count = 0, 100
    for number in range(count):
        knee = math.exp(random.Random(number).uniform(math.log(2), math.log(1500)))
        problem = Problem({"utilization": shape(knee)}, noise, {"utilization": spread}, number)
        truth, found = problem.least(PLAN), solve(PLAN, problem.run)
        assert truth is not None and found.confirmed
        near += truth <= found.closest <= truth * 1.1 + 1
    assert near / count >= 0.95


@pytest.mark.parametrize("knee", [1.5, 2, 37, 1000, 1999])
def test_without_noise_the_answer_is_exact_to_the_resolution(knee: float) -> None:
    problem = Problem({"utilization": saturating(knee)}, none)
    found = solve(PLAN, problem.run)
    assert found.confirmed and found.confidence == 1.0
    assert math.ceil(knee) <= found.closest <= math.ceil(knee) * 1.1
    assert found.beyond is not None and found.beyond < knee
    assert found.runs < 40


def test_the_same_seeds_give_the_same_answer() -> None:
    def answer() -> Least:
        return solve(PLAN, drawn(3).run)

    first, second = answer(), answer()
    assert first.closest == second.closest and first.checks == second.checks
    assert first.values == second.values and first.curve().equals(second.curve())


def test_other_seeds_are_other_runs() -> None:
    seen: list[set[int]] = []
    for first_seed in (1, 50_000):
        found = solve(Goal((BUSY,), 1, UPPER, first_seed=first_seed), drawn(3).run)
        seen.append({seed for size in found.memory.sizes for seed in found.memory.seeds(size)})
    assert seen[0].isdisjoint(seen[1])


@pytest.mark.parametrize("runs", [100, 300, 20_000])
def test_no_candidate_is_checked_by_runs_that_were_seen_before(runs: int) -> None:
    """Each candidate's checks have seeds of their own, whatever was seen at other sizes."""
    goal = Goal((BUSY,), 1, UPPER, runs=runs)
    problem = Problem({"utilization": straight(100)}, skewed, {"utilization": 0.05}, 2)
    checked: dict[int, set[Run]] = {}
    asked: set[Run] = set()

    def measure(run: Run) -> Values:
        part = (run.seed - goal.first_seed) // CHECK_SEEDS
        assert run not in asked
        asked.add(run)
        if part:
            checked.setdefault(part, set()).add(run)
        return problem.run(run)

    solve(goal, measure)
    sizes = [{run.size for run in each} for each in checked.values()]
    assert len(sizes) > 1
    assert all(len(each) == 1 for each in sizes[:-1])  # beside the last others are shown to miss


def test_a_target_that_the_least_size_meets_gives_that() -> None:
    found = solve(PLAN, Problem({"utilization": saturating(0.5)}, skewed, {"utilization": 1e-3}).run)
    assert (found.size, found.confirmed, found.beyond) == (1, True, None)


def test_a_scan_that_misleads_at_the_lower_end_is_mended() -> None:
    """Two lucky runs of one packet; the truth is 500."""
    problem = Problem({"utilization": saturating(500)}, normal, {"utilization": 2e-4})

    def measure(run: Run) -> Values:
        return {"utilization": 0.995} if run.size == 1 and run.seed <= 2 else problem.run(run)

    found = solve(PLAN, measure)
    assert found.confirmed and 500 <= found.closest <= 550


def test_a_target_that_is_met_nowhere_says_what_comes_closest() -> None:
    problem = Problem({"utilization": lambda size: 0.9 + 0.00004 * size}, skewed, {"utilization": 1e-3})
    found = solve(PLAN, problem.run)
    assert (found.size, found.confirmed, found.confidence) == (None, False, 0.0)
    assert (found.closest, found.conflict) == (UPPER, (BUSY,))


def test_the_largest_size_is_confirmed_though_the_scan_had_bad_luck_there() -> None:
    problem = Problem({"utilization": saturating(1500)}, normal, {"utilization": 2e-4})

    def measure(run: Run) -> Values:
        unlucky = run.size == UPPER and run.seed <= 2
        return {"utilization": 0.9895 + 0.0003 * run.seed} if unlucky else problem.run(run)

    found = solve(PLAN, measure)
    assert found.confirmed and found.closest >= 1500


@pytest.mark.parametrize("noise", [normal, skewed])
def test_an_answer_that_proves_too_safe_is_brought_nearer(noise: Noise) -> None:
    """The runs that choose had bad luck and point to 140; the truth is 100, as those that check say."""
    problem = Problem({"utilization": saturating(100)}, noise, {"utilization": 2e-4})

    def measure(run: Run) -> Values:
        unlucky = 0.003 if run.seed < CHECK_SEEDS else 0.0
        return {"utilization": problem.run(run)["utilization"] - unlucky}  # type: ignore[operator]

    found = solve(PLAN, measure)
    assert found.confirmed and 100 <= found.closest <= 115
    assert found.beyond is not None and found.beyond < 100


@pytest.mark.parametrize("noise", [none, normal, skewed])
@pytest.mark.parametrize("most_packets", [50, 90])
def test_targets_in_conflict_have_no_answer(noise: Noise, most_packets: int) -> None:
    """A hundred packets keep the link busy, but they wait too long."""
    goal = Goal((BUSY, QUICK), 1, UPPER)
    truth = {"utilization": saturating(100), "wait_mean_ms": lambda size: 20.0 * size / most_packets}
    for number in range(10):
        spread = {"utilization": 3e-4, "wait_mean_ms": 0.3}
        found = solve(goal, Problem(truth, noise, spread, number).run)
        assert (found.size, found.confirmed, found.confidence) == (None, False, 0.0)
        assert found.conflict == (QUICK,)
        assert 100 <= found.closest <= 115


@pytest.mark.parametrize(
    ("noise", "most_packets"),
    [(none, 100.5), (none, 105), (normal, 110), (skewed, 110), (normal, 125), (skewed, 125)],
)
def test_a_narrow_window_between_two_targets_is_found(noise: Noise, most_packets: float) -> None:
    goal = Goal((BUSY, QUICK), 1, UPPER)
    truth = {"utilization": saturating(100), "wait_mean_ms": lambda size: 20.0 * size / most_packets}
    for number in range(10):
        spread = {"utilization": 3e-4, "wait_mean_ms": 0.3}
        found = solve(goal, Problem(truth, noise, spread, number).run)
        assert found.confirmed and 100 <= found.closest <= most_packets


@pytest.mark.parametrize("noise", [normal, skewed])
@pytest.mark.parametrize("most_packets", [102, 104])
def test_an_answer_in_a_window_that_is_hard_to_see_is_right_or_unsure(
    noise: Noise, most_packets: int
) -> None:
    """What no number of runs could tell is not said to be impossible, save seldom."""
    goal = Goal((BUSY, QUICK), 1, UPPER)
    truth = {"utilization": saturating(100), "wait_mean_ms": lambda size: 20.0 * size / most_packets}
    none_found = 0
    for number in range(20):
        spread = {"utilization": 3e-4, "wait_mean_ms": 0.3}
        found = solve(goal, Problem(truth, noise, spread, number).run)
        assert not found.confirmed or 100 <= found.closest <= most_packets
        assert 96 <= found.closest <= 108
        none_found += found.size is None
    assert none_found <= 8


@pytest.mark.parametrize("noise", [none, normal, skewed])
def test_sizes_on_a_hump_between_those_of_the_scan_are_found(noise: Noise) -> None:
    """As synchronized flows with an ample buffer leave the link idle: only about 150 to 300 packets do."""
    truth = {"utilization": lambda size: 1.0 - 0.01 * (math.log(size / 210.0) / math.log(1.4)) ** 2}
    for number in range(10):
        found = solve(PLAN, Problem(truth, noise, {"utilization": 5e-4}, number).run)
        assert found.confirmed and 150 <= found.closest <= 172


def test_a_hump_too_low_gives_its_top() -> None:
    truth = {"utilization": lambda size: 0.985 - 0.01 * (math.log(size / 210.0) / math.log(1.4)) ** 2}
    found = solve(PLAN, Problem(truth, normal, {"utilization": 5e-4}).run)
    assert found.size is None and 160 <= found.closest <= 280


def test_larger_sizes_that_miss_again_are_reported() -> None:
    problem = Problem({"utilization": sunk(30, 300, 700)}, skewed, {"utilization": 5e-4})
    found = solve(PLAN, problem.run)
    assert found.confirmed and 30 <= found.closest <= 34
    assert found.islands == (437,)  # of the scan's sizes the one within


def test_runs_without_a_value_miss() -> None:
    """A transfer that did not end has no completion time, though others' mean is good."""
    target = make_target("wait_mean_ms", 20.0)

    def measure(run: Run) -> Values:
        return {"wait_mean_ms": None if run.size < 100 and run.seed % 3 == 0 else 10.0 + run.seed % 5}

    found = solve(Goal((target,), 1, UPPER), measure)
    assert found.confirmed and 100 <= found.closest <= 112
    assert all(check.lacking == 0 for check in found.checks)


@pytest.mark.parametrize("value", [None, math.nan])
def test_a_metric_that_no_run_has_is_met_nowhere(value: float | None) -> None:
    found = solve(PLAN, lambda _run: {"utilization": value})
    (check,) = found.checks
    assert (found.size, found.confirmed, check.met, check.confidence) == (None, False, False, 0.0)
    assert (check.mean, check.lacking) == (None, check.runs)


def test_a_busy_time_of_all_is_confirmed_by_many_runs() -> None:
    """Runs never exceed a utilization of 100 %, so that scatter cannot tell how rare a miss is."""

    def measure(run: Run) -> Values:
        draw = random.Random(f"{run.size} {run.seed}")
        used = 1.0 if draw.random() < run.size / 100 else 0.995 + 0.004 * draw.random()
        return {"utilization": used, "wait_mean_ms": draw.random()}

    found = solve(Goal((make_target("utilization", 1.0),), 1, UPPER), measure)
    (check,) = found.checks
    assert found.confirmed and found.closest >= 90
    assert check.saturated and not check.identical and check.half_width is None
    assert 0.95**check.runs <= 0.025
    assert 0.95 <= found.confidence < 0.99


@pytest.mark.parametrize(("count", "least"), [(3, 0.125), (8, 0.5**8)])
def test_few_runs_are_no_surer_than_a_sign_test(count: int, least: float) -> None:
    """Runs that hardly scatter, or give one value, leave as much doubt as tosses of a coin do."""
    target = make_target("utilization", 0.99)
    for scatter in (0.0, 1e-6):
        memory, seeds = Memory([target]), range(count)
        used = [0.995 + scatter * seed for seed in seeds]
        memory.add({Run(5, seed): {"utilization": used[seed], "loss": 0.01 * seed} for seed in seeds})
        assert check(memory, 5, target, seeds).confidence == 1 - least


def test_runs_that_differ_late_are_random_after_all() -> None:
    """All runs of the scan are alike, as if nothing were random; of later seeds every third is worse."""
    problem = Problem({"utilization": saturating(100)}, none)

    def measure(run: Run) -> Values:
        worse = 0.001 if run.seed > CHECK_SEEDS and run.seed % 3 == 0 else 0.0
        return {"utilization": problem.run(run)["utilization"] - worse}  # type: ignore[operator]

    found = solve(PLAN, measure)
    assert found.confirmed and found.confidence < 1.0
    assert found.checks[0].runs > 2 and not found.checks[0].identical
    assert 104 <= found.closest <= 115


@pytest.mark.parametrize(("knee", "size", "conflict"), [(30, 40, ()), (60, None, (BUSY,))])
def test_bounds_may_be_the_same(knee: float, size: int | None, conflict: tuple[Target, ...]) -> None:
    problem = Problem({"utilization": saturating(knee)}, normal, {"utilization": 1e-4})
    found = solve(Goal((BUSY,), 40, 40), problem.run)
    assert (found.size, found.closest, found.conflict) == (size, 40, conflict)
    assert found.confirmed == (size is not None)


def test_the_nearest_of_those_that_miss_alike_is_reported() -> None:
    """No size keeps the loss, which is least with the largest; the few runs of a small one looked good."""
    lossless = make_target("loss", 0.005)
    goal = Goal((BUSY, lossless), 1, UPPER)
    truth = {
        "utilization": saturating(30),
        "loss": lambda size: 0.16 if 10 < size < 0.9 * UPPER else 0.14,
    }
    found = solve(goal, Problem(truth, normal, {"utilization": 3e-4, "loss": 0.002}, 1).run)
    assert found.size is None
    assert found.conflict == (lossless,)
    assert found.closest == UPPER


@pytest.mark.parametrize("number", range(8))
def test_a_hump_that_many_runs_confirm_is_not_forgotten(number: int) -> None:
    """Loss is kept from 400 to 900 packets, with much scatter; larger ones lose more again."""
    kept = make_target("loss", 0.02)
    goal = Goal((BUSY, kept), 1, UPPER)

    def lost(size: int) -> float:
        return 0.017 if 400 <= size <= 900 else 0.035 if size < 400 else 0.07

    truth = {"utilization": saturating(30), "loss": lost}
    found = solve(goal, Problem(truth, skewed, {"utilization": 3e-4, "loss": 0.008}, number).run)
    assert found.closest <= 900
    surest = min(found.memory.sizes, key=found.memory.chance)
    if found.size is None:  # then no size with as many runs met in the mean
        assert len(found.memory.seeds(surest)) < 16 or not found.memory.meets_all(surest)
