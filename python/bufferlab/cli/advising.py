"""What `bufferlab advise` does with its options: the answer, and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from bufferlab.cli.answers import Delivery
from bufferlab.cli.common import say
from bufferlab.cli.quick import Quick, load, may_lengthen
from bufferlab.cli.running import delivering, runner_of, say_kept
from bufferlab.cli.several import is_several
from bufferlab.configure import PLATFORMS, configuration, find_platform
from bufferlab.display import save_figure
from bufferlab.errors import InputError
from bufferlab.experiment.simulation import prepare
from bufferlab.render.advise.beware import loses_much
from bufferlab.render.advise.box import Against
from bufferlab.render.advise.head import headline
from bufferlab.render.advise.links import links_headline, links_view
from bufferlab.render.advise.live import watching
from bufferlab.render.advise.typed import Typed
from bufferlab.render.advise.view import advice_view, brief_view
from bufferlab.render.view import View
from bufferlab.render.words import listed
from bufferlab.scenario import Scenario
from bufferlab.studies.advise.advice import Advice
from bufferlab.studies.advise.advising import advise as advise_on
from bufferlab.studies.advise.joint import LinksAdvice, Shaped
from bufferlab.studies.advise.several import advise_links, with_answers
from bufferlab.studies.advise.staying import keeps
from bufferlab.studies.advise.tried import Tried
from bufferlab.studies.heavy import warning
from bufferlab.studies.internet import STACK
from bufferlab.studies.targets import Target
from bufferlab.studies.words import EACH
from bufferlab.units import format_time


def answer_on(
    scenario: Scenario,
    targets: Sequence[Target | str],
    link: str | None,
    asked: Mapping[str, Any],
    deliver: Callable[[Any], None],
    *,
    boxed: bool,
    typed: Typed,
    shaped: Shaped | None,
) -> Advice | LinksAdvice:
    """Answer for a link, or for several; what there is of an answer at Ctrl-C is delivered.

    Args:
        scenario: The scenario.
        targets: What must be met.
        link: The link in question, or several.
        asked: Further arguments of `advise` and `advise_links`.
        deliver: What hands the answer over.
        boxed: Whether the answer so far is shown in a box.
        typed: Where lines are typed.
        shaped: The shapers of a home's line.
    """
    if (heavy := warning(scenario)) is not None:
        say(heavy)
    several = is_several(link)
    shown_on = None if several else typed
    with delivering(deliver), watching(shown_on, boxed=boxed) as shown:
        if several:
            return advise_links(scenario, link or EACH, targets, shaped=shaped, watch=shown, **asked)
        return advise_on(scenario, targets, link=link, watch=shown, **asked)


def advise_captured(
    file: Path,
    capture: str,
    *,
    quick: bool,
    today: str | None,
    is_rate_given: bool,
    against: Against,
    supposed: Mapping[str, Scenario],
) -> None:
    """Answer for the scenario of a capture, with what speaks against it in the answer's box.

    Args:
        file: The scenario.
        capture: What is said to miss the targets: the capture, or the file where the scenario was written.
        quick: Whether the first answer is enough; then the evidence is left out.
        today: What the link runs now, as `advise` takes it.
        is_rate_given: Whether the operator named the link's rate; else it is estimated.
        against: What speaks against the scenario.
        supposed: Scenarios with other controls that may be as true, by what is other in them.
    """
    nothing = Quick(None, None, None, None, None, STACK, {})
    loaded, assumed = load(file, nothing, {}, to="advise on")
    typed = typed_on(None, None, shape=False)
    typed = shaped_by_default(typed, loaded, None, is_estimated=not is_rate_given)
    view = brief_view if quick else advice_view
    deliver = Delivery[Any](
        view=partial(view, typed=typed, against=against), document=Advice.to_dict, as_json=False, plot=None
    )
    runner = runner_of(threads=None, engine="local", ray_address=None, store=None, fresh=False)
    asked: Mapping[str, Any] = {
        "quick": quick,
        "assumed": assumed,
        "today": today,
        "lengthen": may_lengthen(file, {}),
        "supposed": supposed,
        "runner": runner,
    }
    advice = answer_on(loaded, [], None, asked, deliver, boxed=True, typed=typed, shaped=None)
    deliver(advice)
    say_kept(runner)
    check_met(advice, capture)


def delivery(
    typed: Typed, *, several: bool, explain: bool, as_json: bool, plot: Path | None, out: Path | None
) -> Delivery[Any]:
    """What hands over the answer for a link, or for several."""
    of_line: Mapping[str, Any] = {"linklayer": typed.linklayer} if several else {}
    view = partial(links_view if several else advice_view, typed=typed, explain=explain)
    document = partial(
        LinksAdvice.to_dict if several else Advice.to_dict,
        platform=typed.platform,
        device=typed.device,
        shape=typed.shape,
        **of_line,
    )
    save = partial(_save, view=view, document=document)
    return Delivery[Any](
        view=view, document=document, as_json=as_json, plot=plot, out=out, save=save, draw=_draw
    )


def _save(
    advice: Advice | LinksAdvice,
    folder: Path,
    *,
    view: Callable[[Any], View],
    document: Callable[[Any], dict[str, Any]],
) -> list[Path]:
    """Save what is shown: for the platform that was asked for; what to type for several links together."""
    shown: Mapping[str, Any] = {"document": document(advice), "text": view(advice).text()}
    return advice.save(folder, **shown)


def _draw(advice: Advice | LinksAdvice, path: Path) -> list[Path]:
    if isinstance(advice, LinksAdvice):
        return advice.save_figures(path)
    return save_figure(advice.figure(), path)


def answered(scenario: Scenario, advice: Advice | LinksAdvice | Tried) -> Scenario | None:
    """The scenario with the answers in place; `None` where one is not worth running, or there is none yet."""
    if why_none(advice) is not None or isinstance(advice, Tried):
        return None
    links = _links(advice)
    names, run = [link["name"] for link in scenario.links], links[0].resolved["run"]
    # runs may be longer than at first
    length = {"run.duration": format_time(run["duration_ps"]), "run.warmup": format_time(run["warmup_ps"])}
    answers = {names.index(each.site.link): each.answer for each in links}
    return with_answers(prepare(scenario, length), answers)


def why_none(advice: Advice | LinksAdvice | Tried) -> str | None:
    """Why no answer is put in place; `None` if one is."""
    if isinstance(advice, Tried):
        return "there is none yet"
    links = _links(advice)
    at = " at {}" if isinstance(advice, LinksAdvice) else ""
    unmet = [each.site.link for each in links if not each.choice.meets]
    lossy = [each.site.link for each in links if each.choice.meets and loses_much(each)]
    if unmet:
        return f"no setting meets what is asked{at.format(listed(unmet))}"
    if lossy:
        return f"what meets the targets{at.format(listed(lossy))} loses what hardly anybody would accept"
    if isinstance(advice, LinksAdvice) and len(links) < len(advice.wanted):
        missing = set(advice.wanted) - {each.site.link for each in links}
        return f"there is none yet{at.format(listed(sorted(missing)))}"
    return None


def _links(advice: Advice | LinksAdvice) -> tuple[Advice, ...]:
    return advice.links if isinstance(advice, LinksAdvice) else (advice,)


def headline_of(advice: Advice | LinksAdvice) -> str:
    """The answer, or answers, in a sentence."""
    return links_headline(advice) if isinstance(advice, LinksAdvice) else headline(advice)


def answer_in_file(advice: Advice | LinksAdvice) -> str:
    """The same above a scenario that has the answer in place, and what that is where it is not plain."""
    if isinstance(advice, LinksAdvice):
        return headline_of(advice)
    parts = advice.answer.queue.parts
    kept = " The queue below is the change that was tried, not what runs today." if keeps(advice) else ""
    return (
        headline_of(advice)
        + kept
        + (f" The buffer below is that of all {parts} classes." if parts > 1 else "")
    )


def check_met(advice: Advice | LinksAdvice, file: str | None) -> None:
    """End with an error if targets are missed, or what meets them at a link alone is not worth running.

    Raises:
        InputError: They are, or it is not.
    """
    if isinstance(advice, LinksAdvice):
        is_fine = advice.meets
    else:
        is_fine = advice.choice.meets and not loses_much(advice)
    if not is_fine:
        raise InputError(headline_of(advice).rstrip("."), file=file)


def shaped_by_default(
    typed: Typed, scenario: Scenario, link: str | None, *, is_estimated: bool = False
) -> Typed:
    """Where lines are typed, with a shaper where hardly an interface has the link's rate."""
    rates = {
        each["rate_bps"]
        for each in scenario.links
        if each["rate_bps"] and (link is None or each["name"] == link)
    }
    return typed.shaped_by_default(rates.pop(), is_estimated=is_estimated) if len(rates) == 1 else typed


def typed_on(platform: str | None, device: str | None, *, shape: bool) -> Typed:
    """Where lines are typed; what is wrong with it is said before anything is run."""
    typed = Typed(device=device, shape=shape) if platform is None else Typed(platform, device, shape)
    try:
        has_shaper = find_platform(typed.platform).shapes
    except InputError as error:
        raise InputError(
            error.problem, key="--platform", value=error.value, accepted=error.accepted
        ) from None
    if not has_shaper and shape:
        known = ", ".join(name for name, each in PLATFORMS.items() if each.shapes)
        raise InputError("has no shaper that is known here", key="--platform", value=platform, accepted=known)
    try:
        configuration("1 Gbps", "fifo", "100 packets", platform=typed.platform, device=device)
    except InputError as error:
        raise InputError(
            error.problem, key=f"--{error.key}", value=error.value, accepted=error.accepted
        ) from None
    return typed
