"""Where no setting meets all targets: which of them can be had alone, and with which settings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Final, NamedTuple

from bufferlab.render.advise.felt import asked_alone, kept_by_groups
from bufferlab.render.advise.mixes import controls_decide
from bufferlab.render.advise.today import today_name
from bufferlab.render.advise.what_if import is_monotone
from bufferlab.render.advise.words import entry_text, queue_text
from bufferlab.render.words import begun, beside, listed, metric_of, title_text
from bufferlab.results.metrics.metric import FRACTION, MILLISECONDS
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.entry import Entry
from bufferlab.studies.advise.queues import Queue
from bufferlab.studies.advise.sensitivity import Sensitivity
from bufferlab.studies.advise.unmet import (
    Alone,
    Instead,
    Tried,
    alone,
    by_chance,
    instead,
    nearest,
    tried,
)
from bufferlab.studies.choosing.choice import missed_targets
from bufferlab.studies.choosing.closest import off
from bufferlab.studies.choosing.thresholds import LESS, NOTED_LOSS, loses_heavily
from bufferlab.studies.least.lacking import lack
from bufferlab.studies.least.memory import margins_of
from bufferlab.studies.targets import Target, Values, bounds_loss, mean_over_runs

_UNEVEN: Final = 2.0
"""Times as long as in most runs a group waits in the mean, from which on both are said. Our choice."""

_UNSURELY: Final = " (not surely: some between miss it)"

_PRICE: Final = {"utilization": "a utilization of", "wait_mean_ms": "a mean wait of"}
"""What is said of the setting that is nearest to a target: what it costs."""


def contradiction(advice: Advice) -> str:
    """That targets exclude each other, as an addition to a sentence; empty if they do not, or may not."""
    if advice.choice.meets or len(advice.targets) < 2:
        return ""
    if not all(any(_haves(advice, target)) for target in advice.targets):
        return ""
    return f"; they {'seem to ' if advice.is_early else ''}contradict each other here"


def prices(advice: Advice) -> list[str]:
    """Of each of several targets what meets it alone, and what that costs of the others, as a sentence."""
    if advice.choice.meets or len(advice.targets) < 2 or advice.stage == "begun":
        return []
    by_price: dict[str, list[Target]] = {}
    for each in advice.targets:
        by_price.setdefault(_price(advice, each), []).append(each)
    return [f"{_together(advice, those)}: {price}." for price, those in by_price.items()]


def _together(advice: Advice, targets: Sequence[Target]) -> str:
    """Targets that the same setting meets, at the beginning of a sentence."""
    first, *rest = targets
    more = (f"our default, {each}" if advice.needs.is_assumed(each) else str(each) for each in rest)
    return listed([_begun(advice, first), *more])


class _Known(NamedTuple):
    """A setting that was run: one of those that were tried, or what runs today.

    Attributes:
        text: What it is called.
        runs: What its runs measured.
    """

    text: str
    runs: Sequence[Values]


def _price(advice: Advice, target: Target) -> str:
    """What meets a target and is nearest to the others, and what it has of those that it misses."""
    found = _nearest_to_others(advice, target)
    if found is not None:
        return f"{found.text}{_cost(advice, target, found.runs)}"
    perhaps = next(by_chance(advice.entries, target), None)
    if perhaps is None:
        return f"nothing that was tried{_nearest(advice, target)}"
    return f"perhaps {_perhaps(perhaps, target)}{_cost(advice, target, perhaps.runs)}"


def _cost(advice: Advice, target: Target, runs: Sequence[Values]) -> str:
    """What runs have of the other targets that they miss, and a loss that is worth a word."""
    missed = [each for each in missed_targets(runs, advice.targets) if each != target]
    means = ((each, mean_over_runs(each.name, runs).mean) for each in missed)
    texts = [f"{title_text(each)} {each.show_measured(mean, 2)}" for each, mean in means]
    lost = mean_over_runs("loss", runs).mean or 0.0
    if lost >= NOTED_LOSS and not bounds_loss(advice.targets):
        texts.append(f"a loss of {FRACTION.quantity(lost, digits=2)}")
    return f", with {listed(texts)}" if texts else ""


def _nearest_to_others(advice: Advice, target: Target) -> _Known | None:
    """Of what meets a target in the mean, what is nearest to the others; `None` if nothing does.

    A setting is judged by the runs that compared it, which are more than those of its search.
    """
    others = [each for each in advice.targets if each != target]
    compared = {(each.queue.name, each.setting): each.runs for each in advice.entries.values()}
    known = [
        _Known(_text(each), each.runs)
        for entry in advice.entries.values()
        for each in tried(entry)
        if each.runs and compared.get((each.queue.name, each.setting), each.runs) == each.runs
    ]
    able = [each for each in (*known, *_todays(advice)) if not missed_targets(each.runs, [target])]
    return min(able, key=lambda each: off(each.runs, others, advice.site.users).lack, default=None)


def _todays(advice: Advice) -> list[_Known]:
    """What runs today, if somebody said it: it was run, too."""
    now = advice.today
    if now is None or now.default_of is not None or not now.values:
        return []
    return [_Known(f"today's {today_name(now)}", now.values)]


def without_one(advice: Advice) -> str | None:
    """Which targets can be had together if one of several is given up, and with what, as a sentence."""
    if advice.choice.meets or len(advice.targets) < 2:
        return None
    others = "the other" if len(advice.targets) == 2 else "the others"
    given_up = [instead(advice.entries, advice.targets, each, advice.confidence) for each in advice.targets]
    none = f"nothing that was tried meets {others}"
    texts = [
        f"without {_called(advice, each.given_up)}, {text}"
        for each in given_up
        if (text := _meets_rest(each, others))
    ]
    rest = [each.given_up for each in given_up if each.queue is None]
    if not texts:
        return f"Whichever is given up, {none}."
    if rest:
        texts.append(f"without {_called(advice, rest[0]) if len(rest) == 1 else 'any other'}, {none}")
    text = "; ".join(texts)
    return f"{text[:1].upper()}{text[1:]}."


def _called(advice: Advice, target: Target) -> str:
    """A target by name; of our default not how much, as that is less of a queue at its usual delay."""
    if advice.needs.is_assumed(target):
        return f"our default for {title_text(target)}"
    return str(target)


def _meets_rest(found: Instead, others: str) -> str | None:
    """The first setting that is proven to meet all targets but one; or that may, by few runs; or none."""
    if found.queue is None:
        return None
    text = _text(Tried(found.queue, found.setting, ()))
    value = f"{title_text(found.given_up)} {found.given_up.show_measured(found.value, 3)}"
    if found.loss is not None and found.given_up.name == "loss":
        return f"{text} may meet {others}, but lose {FRACTION.quantity(found.loss, digits=2)}"
    if found.loss is not None:
        return f"{text} may meet {others} ({value}), but lose {FRACTION.quantity(found.loss, digits=2)}"
    if found.verdict == "met":
        return f"{text} meets {others} ({value})"
    return f"{text} may meet {others} (not proven; {value})"


def narrower(advice: Advice) -> str | None:
    """That some groups' own packets keep a bound on all waits that the answer misses, as sentences."""
    missed = [check.target for check in advice.answer.checks if not check.met]
    return " ".join(filter(None, (_kept(advice, each) for each in missed))) or None


def _kept(advice: Advice, target: Target) -> str | None:
    """The same of one bound: "Packets of call keep 12 ms: their 99th percentile wait is 0.18 ms"."""
    kept = kept_by_groups(advice.answer, target, advice.site.users)
    if not kept:
        return None
    waits = listed([_own_wait(advice, target, group, mean) for group, mean in kept.items()])
    return (
        f"Packets of {listed(list(kept))} keep {target.show(target.bound)}: their {title_text(target)} is "
        f"{waits}. {asked_alone(target, next(iter(kept)))}."
    )


def _own_wait(advice: Advice, target: Target, group: str, mean: float) -> str:
    """A group's wait; where few runs make most of its mean, what it is in the others."""
    every = [run.get(f"{group}.{target.name}") for run in advice.answer.runs]
    waits = [each for each in every if each is not None]
    usual, late = median(waits), sum(target.margin(each) < 0 for each in waits)
    if mean <= _UNEVEN * usual and not late:
        return target.show_measured(mean, 2)
    usually, whole = (target.show_measured(each, 2) for each in (usual, mean))
    text = f"{usually} in most of {len(waits)} runs, {whole} in their mean"
    shared = "" if advice.sharing is None else ", as one may share a long flow's queue by chance"
    return f"{text}{shared}"


def helps(advice: Advice) -> str | None:
    """What would meet the targets that the answer misses: a sentence for each of several, and for traffic."""
    texts = []
    if len(advice.targets) > 1:
        texts += [f"{_begun(advice, target)}: {_who(advice, target)}." for target in advice.targets]
    queue = advice.answer.queue
    shown = controls_decide(advice) is not None  # the first lines have it
    eased = [
        text
        for each in advice.sensitivity
        if not (shown and each.is_of_control) and (text := _eased(queue, each)) is not None
    ]
    if is_hopeless(advice):
        texts.append(f"Other traffic does not help: {', '.join(each.brief for each in advice.sensitivity)}.")
    if eased:
        texts.append(f"{'All met' if texts else 'Met'} with {', or '.join(eased)}.")
    return " ".join(texts) or None


def _begun(advice: Advice, target: Target) -> str:
    """A target at the beginning of a sentence; of our default, by which of its values queues are judged."""
    if not advice.needs.is_assumed(target):
        return begun(str(target), target)
    held = {entry.checks[advice.targets.index(target)].target for entry in advice.entries.values()}
    usual = [f" ({each.show(each.bound)} at a usual delay)" for each in held if each.bound != target.bound]
    return f"Our default, {target}{''.join(usual)}"


def shorter_wait(advice: Advice) -> str | None:
    """What waits much less than what is closest to targets that nothing meets, and what it loses by that."""
    answer = advice.answer
    waits, lost = _wait_and_loss(answer)
    less = [
        each
        for each in advice.entries.values()
        if _wait_and_loss(each)[0] <= LESS * waits and not loses_heavily(_wait_and_loss(each)[1], ())
    ]
    if advice.choice.meets or not less:
        return None
    other = min(less, key=lambda each: _wait_and_loss(each)[1])
    shorter, loss = _wait_and_loss(other)
    wait, losses = beside(MILLISECONDS, shorter, waits), beside(FRACTION, loss, lost, digits=2)
    return f"{entry_text(other)}, has a mean wait of {wait}, and loses {losses}."


def _wait_and_loss(entry: Entry) -> tuple[float, float]:
    """The mean wait, ms, and the loss with the common seeds."""
    return entry.mean("wait_mean_ms").mean or 0.0, entry.mean("loss").mean or 0.0


def is_hopeless(advice: Advice) -> bool:
    """Whether the targets are missed in all changes of the traffic, too, by every setting that was tried."""
    changes = advice.sensitivity
    return bool(changes) and not any(each.holds or (each.least and each.least.size) for each in changes)


def _haves(advice: Advice, target: Target) -> Iterator[Entry]:
    """The queues of which some setting meets a target in the mean."""
    found = alone(advice.entries, advice.targets, target, advice.beyond)
    yield from (each.entry for each in found if each.does)
    at = advice.targets.index(target)
    for entry in advice.entries.values():
        if entry.least is None and entry.checks[at].met:
            yield entry


def _who(advice: Advice, target: Target) -> str:
    """Which settings of which queues meet a target alone."""
    found = alone(advice.entries, advice.targets, target, advice.beyond)
    have = [_where(each, target, is_named=len(found) > 1) for each in found if each.does]
    if not have:
        perhaps = next(by_chance(advice.entries, target), None)
        return (
            f"by none{_nearest(advice, target)}"
            if perhaps is None
            else f"perhaps {_perhaps(perhaps, target)}"
        )
    lacking = [queue_text(each.entry.queue) for each in found if not each.does]
    return f"{', '.join(have)}; not {', '.join(lacking)}" if lacking else ", ".join(have)


def _where(each: Alone, target: Target, *, is_named: bool) -> str:
    """Where a queue meets a target: "fifo up to 20 packets"."""
    queue = each.entry.queue
    name = queue_text(queue) if is_named else ""
    if each.larger is not None:  # a call is worse again with much more
        about = f"about {queue.show(each.larger.size)}"
        return (f"{name} from {about} on" if is_monotone(target) else f"{name} at {about}").lstrip()
    return entry_text(each.entry) if each.entry.least is None else _range(name, each)


def _range(name: str, each: Alone) -> str:
    """The sizes of a queue that met a target in the mean."""
    sizes, show, met = each.sizes, each.entry.queue.show, each.met
    between = sizes.index(met[-1]) - sizes.index(met[0]) + 1 - len(met)
    if len(met) == len(sizes):
        text = "at all settings"
    elif met[-1] == sizes[-1]:
        text = f"from {show(met[0])} on"
    elif met[0] == sizes[0]:
        text = f"up to {show(met[-1])}{'' if between else f' (not with {show(sizes[len(met)])})'}"
    else:
        text = f"from {show(met[0])} to {show(met[-1])}"
    return f"{name} {text}{_UNSURELY if between else ''}".lstrip()


def _perhaps(each: Tried, target: Target) -> str:
    """What misses a target in the mean, maybe by chance: "fifo, 1334 packets (0.54 %)"."""
    return f"{_text(each)} ({target.show_measured(each.mean(target), 2)})"


def _nearest(advice: Advice, target: Target, *, is_priced: bool = True) -> str:
    """What comes nearest to a target that nothing meets, and at which price where there is room for that."""
    best = nearest(advice.entries, target)
    known = [*([] if best is None else [_Known(_text(best), best.runs)]), *_todays(advice)]
    found = min(known, key=lambda each: lack(target, margins_of(each.runs, target)), default=None)
    if found is None:
        return ""
    name = "utilization" if target.metric.name.startswith("wait_") else "wait_mean_ms"
    metric, mean = metric_of(name), mean_over_runs(name, found.runs).mean
    price = (
        ""
        if mean is None or not is_priced
        else f", with {_PRICE[name]} {metric.unit.quantity(mean, digits=3)}"
    )
    value = target.show_measured(mean_over_runs(target.name, found.runs).mean, 3)
    return f" (nearest: {value}, {found.text}{price})"


def _text(each: Tried) -> str:
    """A queue with its setting."""
    return f"{queue_text(each.queue)}, {each.queue.show(each.setting)}"


def _eased(queue: Queue, each: Sensitivity) -> str | None:
    """Where the targets would be met."""
    if each.holds:
        return each.brief
    if each.least is None or each.least.size is None:
        return None
    return f"{each.brief} and about {queue.show(each.least.size)}"
