"""A comparison's answer in a few sentences: the queue, what is undecided, and what users would notice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from bufferlab.render.advise.felt import NOTICED, SHORTER, contrast, share_text
from bufferlab.render.advise.reasons import long_wait, much_lost, starving
from bufferlab.render.words import asked, listed, of_classes_text, title_text
from bufferlab.studies.choosing.choice import Choice, Rival
from bufferlab.studies.choosing.order import keeps_apart, place, reason_of
from bufferlab.studies.choosing.thresholds import HEAVY_LOSS, is_standing, notable
from bufferlab.studies.compare.comparison import Comparison, Measured
from bufferlab.studies.contenders import LLQ_CLASSES, word_and_buffer
from bufferlab.studies.targets import Target, mean_over_runs
from bufferlab.studies.words import FIFO, OWN, is_llq
from bufferlab.units import packets_text

MOST_NAMED: Final = 3
"""Undecided queues that are named; of more, how many there are."""

MOST_TRADES: Final = 2
"""Groups of which it is said with which queue they would fare better."""

_SAME: Final = 1e-6
"""A difference of less than this share is rounding."""

_HEAVY: Final = f"{HEAVY_LOSS * 100:g} %"
"""A loss that hardly anybody would accept."""


def answer(comparison: Comparison) -> str:
    """The queue to run and why, what more seeds may change, and what users would notice of another one."""
    choice = comparison.choice
    if choice is None:
        return "No queue can be recommended: no packet was measured."
    if not choice.rivals:
        return f"Only {comparison.called(choice.name)} was run: there is nothing to choose from."
    lost = _lost(comparison, choice)
    parts = [_taken(comparison, choice, is_lossy=lost is not None)]
    parts += [] if lost is None else [f"{lost} with it."]
    parts += [text for text in _spoilt(comparison, choice) if text is not None]
    return " ".join([*parts, *_undecided(comparison, choice), *_noticed(comparison, choice)])


def buffer_text(entry: Measured) -> str:
    """A queue's buffer; of LLQ that of each of its classes, as `--queues` has it: "2 × 126 packets"."""
    is_of_classes = is_llq(word_and_buffer(entry.name)[0])
    if not is_of_classes or entry.packets is None or entry.packets % LLQ_CLASSES:
        return entry.buffer
    return of_classes_text(LLQ_CLASSES, entry.packets // LLQ_CLASSES)


def _taken(comparison: Comparison, choice: Choice, *, is_lossy: bool) -> str:
    """The queue, and why, in a sentence."""
    queue = _called(comparison, choice.name)
    if not comparison.is_founded:
        begin = "No queue is clearly better than" if is_lossy else _verb(comparison, choice)
        return f"{begin} {queue}: {_unfounded(comparison, choice)}{_preferred(comparison, choice)}."
    if not choice.meets:
        missed = ", ".join(_missed_text(comparison.entries[choice.name], each) for each in choice.missed)
        return (
            f"No queue meets all targets: {queue} misses the fewest: {missed}{_of_those(comparison, choice)}."
        )
    # what hardly anybody would accept is no advice to run it
    begin = "The best of these is" if is_lossy else _verb(comparison, choice)
    return f"{begin} {queue}: {_why(comparison, choice)}."


def _missed_text(entry: Measured, target: Target) -> str:
    """What a queue has of a target that it misses: "99th percentile wait 36 ms (asked 20 ms)"."""
    mean = entry.mean(target.name).mean
    if mean is None:
        return f"{title_text(target)} has no value"
    return asked(target, mean)


def _verb(comparison: Comparison, choice: Choice) -> str:
    """What to do with it: keep what is there, run what is better than some, or take the first of equals."""
    verb = "keep" if choice.name == OWN else "run" if comparison.is_founded else "take"
    if len(choice.open) > MOST_NAMED or not (comparison.is_founded or _are_alike(choice)):
        return f"For now {verb}"
    return verb.capitalize()


def _are_alike(choice: Choice) -> bool:
    """Whether the runs show that users fare alike under all queues."""
    return all(rival.is_alike for rival in choice.rivals)


def _why(comparison: Comparison, choice: Choice) -> str:
    if (alone := _alone(choice)) is not None:
        return alone
    if choice.is_clear and not choice.open:
        return f"users fare better than under every other queue{_of_those_left(choice)}"
    queues = f"no other of {len(choice.rivals) + 1} queues{_of_those_left(choice)}"
    return f"{queues} is clearly better for these users ({_runs(comparison)}){_preferred(comparison, choice)}"


def _called(comparison: Comparison, name: str) -> str:
    """A queue by its name and its buffer: "the scenario's fifo, 256 packets"."""
    word, _ = word_and_buffer(name)
    queue = comparison.kind(name)
    word = f"the scenario's {queue}" if word == OWN else queue
    entry = comparison.entries[name]
    return f"{word}, {buffer_text(entry) if queue == FIFO else _limit_text(entry, comparison)}"


def _limit_text(entry: Measured, comparison: Comparison) -> str:
    """The buffer of a queue in which packets need not wait that long: "limit 1 s (1667 packets)"."""
    if entry.packets is not None:
        return buffer_text(entry)
    if entry.time_ms is None:  # of a rule, or in bytes
        return f"limit {entry.buffer}"
    packets = round(comparison.site.packets_of_ms(entry.time_ms))
    return f"limit {entry.buffer} ({packets_text(packets)})"


def _lost(comparison: Comparison, choice: Choice) -> str | None:
    """A loss of the recommended queue that hardly anybody would accept."""
    loss = mean_over_runs("loss", comparison.entries[choice.name].values).mean
    return much_lost(loss, comparison.needs.targets)


def _spoilt(comparison: Comparison, choice: Choice) -> Iterator[str | None]:
    """What else speaks against the queue, as sentences: who starves, and that packets wait long."""
    entry, site = comparison.entries[choice.name], comparison.site
    yield starving(site.users, entry.mean)
    remedy = "advise --max-delay bounds it"
    yield long_wait(entry.mean("wait_mean_ms").mean, site.rtt_ms, comparison.needs.targets, remedy=remedy)


def _alone(choice: Choice) -> str | None:
    """Why there was nothing to choose from, as a clause."""
    meeting = [rival for rival in choice.rivals if not rival.missed]
    if not meeting:
        return "it alone meets all targets"
    if all(rival.is_lossy for rival in meeting):
        return f"every other queue{_of_meeting(choice)} loses {_HEAVY} or more"
    return None


def _of_those_left(choice: Choice) -> str:
    """Among which other queues it was chosen, where some miss a target or lose much."""
    meeting = _of_meeting(choice)
    if not any(rival.is_lossy for rival in choice.rivals if not rival.missed):
        return meeting
    return f"{meeting} {'and' if meeting else 'that'} loses less than {_HEAVY}"


def _of_meeting(choice: Choice) -> str:
    """Which of the other queues are meant, where some miss a target."""
    return " that meets all targets" if any(rival.missed for rival in choice.rivals) else ""


def _of_those(comparison: Comparison, choice: Choice) -> str:
    """How the queue stands among those that miss no more."""
    if choice.best == choice.name:
        return ", and of those users fare best under it"
    return f"; of those users fare as well under {comparison.called(choice.best)}"


def _unfounded(comparison: Comparison, choice: Choice) -> str:
    """Why nothing speaks for another queue, as a clause."""
    queues = len(choice.rivals) + 1
    if not _are_alike(choice):
        return f"{_runs_do(comparison)} not tell the {queues} queues apart"
    if (better := _slightly_better(comparison, choice)) is not None:
        return f"{better}, less than {NOTICED}"
    return f"users fare alike under all {queues} queues, to within {NOTICED}"


def _slightly_better(comparison: Comparison, choice: Choice) -> str | None:
    """Which of equal queues is surely better than others all the same; `None` if none is."""
    best = min(choice.rivals, key=lambda rival: rival.behind.mean or 0.0)
    if _is_sure(best, -1):
        return f"{comparison.called(best.name)} is better by {share_text(best.behind)}"
    worse = max(choice.rivals, key=lambda rival: rival.behind.mean or 0.0)
    return (
        f"{comparison.called(worse.name)} is worse by {share_text(worse.behind)}"
        if _is_sure(worse, 1)
        else None
    )


def _is_sure(rival: Rival, sign: int) -> bool:
    """Whether users surely fare worse with a queue than with the chosen one; better, for a sign of -1."""
    mean, half_width = rival.behind.mean, rival.behind.half_width
    return mean is not None and half_width is not None and sign * mean > max(half_width, _SAME)


def _runs(comparison: Comparison) -> str:
    count = len(comparison.seeds)
    return f"{count} runs" if count > 1 else "one run"


def _runs_do(comparison: Comparison) -> str:
    """What begins the clause that they do not do something."""
    return f"{_runs(comparison)} {'do' if len(comparison.seeds) > 1 else 'does'}"


def _preferred(comparison: Comparison, choice: Choice) -> str:
    """Why it is taken before others that are as good, or may be, to go on with; of what is kept, nothing."""
    as_good = [each for each in choice.rivals if each.name in {*choice.equals, *choice.open}]
    usual = [each for each in as_good if place(each.name) < place(choice.name)]
    quick = [each.name for each in usual if not each.is_standing]
    if not as_good or choice.name == OWN:
        return ""
    if usual and not quick:
        return f", and {SHORTER}"
    if quick and not keeps_apart(choice.name):
        return ""
    others = quick or [each.name for each in as_good]
    return f", and {reason_of(choice.name, choice.name, map(comparison.kind, others))}"


def _undecided(comparison: Comparison, choice: Choice) -> Iterator[str]:
    """Which queues more runs may take in its place."""
    found = [rival for rival in choice.rivals if rival.is_open]
    if not found:
        return
    named: dict[str, list[str]] = {}
    for rival in found:
        named.setdefault(_open_text(comparison, choice, rival), []).append(comparison.called(rival.name))
    texts = [f"{listed(names)} ({text})" for text, names in [*named.items()][:MOST_NAMED]]
    left = sum(map(len, [*named.values()][MOST_NAMED:]))
    yield f"Undecided: {', '.join(texts)}{f' and {left} more' if left else ''}; more --seeds may tell."


def _open_text(comparison: Comparison, choice: Choice, rival: Rival) -> str:
    """How an undecided queue stands so far: "better by 1 ± 5 %, but voice: loss 3 %, not 1 %"."""
    mean, half_width = rival.behind.mean or 0.0, rival.behind.half_width
    word = "worse" if mean > 0 else "better"
    if half_width is None and abs(mean) < _SAME:
        word, text = "as good", "as good so far"
    else:
        text = f"{word} by {share_text(rival.behind)}"
    if (half_width or 0.0) >= 1.0:
        text += " in the mean of runs that differ by more"
    if rival.worst is not None and rival.worst[1] > notable(rival.worst[0], comparison.weights):
        chosen = comparison.entries[choice.name]
        most = contrast(rival.worst[0], comparison.entries[rival.name], chosen)
        text += f", most in {most}" if word == "worse" else f", but {most}"
    return text


def _noticed(comparison: Comparison, choice: Choice) -> Iterator[str]:
    """What a group would surely gain with another queue, and what another one loses by that."""
    chosen = comparison.entries[choice.name]
    trades: dict[str, str] = {}
    for rival in choice.rivals:
        if rival.gains is None or rival.is_lossy or len(rival.missed) > len(choice.missed):
            continue
        gained = contrast(rival.gains, comparison.entries[rival.name], chosen)
        lost = "" if rival.loses is None else contrast(rival.loses, comparison.entries[rival.name], chosen)
        group = rival.gains.title.partition(":")[0]
        trades.setdefault(
            group, f"{comparison.called(rival.name)} has {gained}{f', but {lost}' if lost else ''}"
        )
    if trades:
        yield f"Users would notice: {'; '.join([*trades.values()][:MOST_TRADES])}."


def apart_text(comparison: Comparison) -> str | None:
    """Under which queues packets wait long in the mean and users do not feel it; `None` if there are none."""
    names = [
        comparison.called(each.name)
        for each in comparison.entries.values()
        if keeps_apart(comparison.kind(each.name))
        and (wait_ms := each.mean("wait_mean_ms").mean) is not None
        and is_standing(wait_ms, comparison.site.rtt_ms, ())
        and comparison.choice is not None
        and each.name in {comparison.choice.name, *comparison.tied}
    ]
    if not names:
        return None
    return (
        f"under {listed(names)} the mean wait is that of flows that fill their own queues; "
        "each flow has one, and who sends little does not wait behind others"
    )


def equal_text(comparison: Comparison) -> str | None:
    """The queues that are as good, and how that is known; `None` if there are none."""
    choice = comparison.choice
    if choice is None or not choice.tied:
        return None
    tied = listed([*map(comparison.called, choice.tied)])
    if choice.is_tie_shown:
        return f"{tied}, to within {NOTICED}"
    return f"{tied}: {_runs_do(comparison)} not tell them apart ({NOTICED})"
