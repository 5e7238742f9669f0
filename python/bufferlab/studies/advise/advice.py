"""The answer of `advise`, as an object and as a document, whose keys docs/advise.md explains."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from bufferlab import _core, display
from bufferlab.configure import Allowed, Configuration, configuration
from bufferlab.errors import InputError
from bufferlab.files import make_folder, write_whole
from bufferlab.studies.advise.absent import Absent
from bufferlab.studies.advise.beyond import Beyond
from bufferlab.studies.advise.elsewhere import Spoiled
from bufferlab.studies.advise.entry import Entry, Site, Smaller, superseded
from bufferlab.studies.advise.halved import Half
from bufferlab.studies.advise.hashed import sharing_text
from bufferlab.studies.advise.llq import priority_calls, rests_on
from bufferlab.studies.advise.nearest_alone import NearestAlone
from bufferlab.studies.advise.needs import Needs
from bufferlab.studies.advise.queues import Queue
from bufferlab.studies.advise.sensitivity import Broken, Sensitivity, Shaken
from bufferlab.studies.advise.today import Today
from bufferlab.studies.advise.unmet import unmet_document
from bufferlab.studies.advise.unmixed import Unmixed
from bufferlab.studies.choosing.choice import LOOKS, Choice, Rival, choose, losses_of, standing
from bufferlab.studies.choosing.objectives import Aspect, Kind
from bufferlab.studies.least import Least, Verdict, checks_to_dicts, verdicts
from bufferlab.studies.settling import ShortRuns
from bufferlab.studies.targets import Target, Values, mean_over_runs, values_document
from bufferlab.studies.words import is_llq

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from bufferlab._scenario_types import ResolvedScenario
FORMAT: Final = "bufferlab-advice"
FORMAT_VERSION: Final = 1

Stage = Literal["begun", "first", "tuned", "final"]
"""How far it is: buffers searched, but no other queue tried; each queue tried; every queue's own setting
searched, too; and what would change it."""


@dataclass(frozen=True, eq=False, repr=False)
class Advice(display.Displayed):
    """Which queue, how large, what it costs, how sure.

    Attributes:
        site: Where it is for.
        resolved: The scenario, with its own queue.
        targets: What shall be met.
        confidence: With which.
        aspects: What the scenario's users feel.
        weights: How much each kind of aspect weighs.
        needs: What was asked for, and where that comes from.
        entries: What was tried, by name.
        choice: Which of them to take, and why not the others.
        stage: How far it is.
        sensitivity: What would change it.
        changes: How many changes of the traffic there are to try.
        others: Equal queues that were tried in the same changes, since one of them misses a target there.
        apart: The queues that keep flows apart, where those are taken first of equals.
        is_sturdy: Whether the answer was taken as the first of those that miss a target in fewest changes.
        breaks: In how many it does, if it was.
        absent: What a queue would do that was not to choose from; `None` where it was, or was not tried.
        half: What half of the answer's buffer does; `None` where the answer is no buffer or misses.
        plain: A FIFO with the answer's buffer, where the answer is LLQ; else `None`.
        today: What the link runs now, beside the answer; `None` if nobody said it.
        unmixed: What it comes to with the most frequent control of a mix alone; `None` where there is no mix.
        nearest_alone: Where nothing meets the targets, what is nearest to them with that control alone;
            `None` where something meets, there is no mix, or it was not tried.
        beyond: By name of a queue, where each target that none of its buffers met is met for itself.
        elsewhere: What users wait for or lose mostly at another link, once it has come to its end.
        assumed: What the scenario takes for granted.
        warnings: What the reader should know.
        short_runs: Why the runs may be too short to judge the answer; `None` if they are not.
        start_measured: Whether BBR's start may still be in what was measured, with the answer's buffer.
        runs: How many runs it took.
        left_out: What would have refined a quick answer, and was left out as its time was over.
        is_doubted: Whether the scenario need not be the link's, so that all is of the simulation alone.
        finished: Whether it came to its end; Ctrl-C ends it with the best answer so far.
    """

    site: Site
    resolved: ResolvedScenario
    targets: tuple[Target, ...]
    confidence: float
    aspects: tuple[Aspect, ...]
    weights: Mapping[Kind, float]
    needs: Needs
    entries: Mapping[str, Entry]
    choice: Choice
    stage: Stage
    sensitivity: tuple[Sensitivity, ...] = ()
    changes: int = 0
    others: Mapping[str, Shaken] = dataclasses.field(default_factory=dict)
    apart: frozenset[str] = frozenset()
    is_sturdy: bool = False
    breaks: int = 0
    absent: Absent | None = None
    half: Half | None = None
    plain: Half | None = None
    today: Today | None = None
    unmixed: Unmixed | None = None
    nearest_alone: NearestAlone | None = None
    beyond: Mapping[str, tuple[Beyond, ...]] = dataclasses.field(default_factory=dict)
    elsewhere: tuple[Spoiled, ...] = ()
    assumed: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    short_runs: ShortRuns | None = None
    start_measured: bool = False
    runs: int = 0
    left_out: tuple[str, ...] = ()
    is_doubted: bool = False
    finished: bool = False

    @property
    def answer(self) -> Entry:
        """The queue and setting to take."""
        return self.entries[self.choice.name]

    @property
    def rests_on(self) -> list[str]:
        """What the answer rests on if it is LLQ."""
        return rests_on(self.answer.queue.name, self.answer.queue.table, self.resolved, self.site.link)

    @property
    def sharing(self) -> str | None:
        """That flows may share a queue of the answer by chance, as a sentence."""
        queue = self.answer.queue
        first = priority_calls(self.resolved, self.site.link) if is_llq(queue.name) else []
        names = {each["name"] for each in first}
        return sharing_text(queue.table, [each for each in self.site.users if each.name not in names])

    @property
    def is_early(self) -> bool:
        """Whether only usual delays were tried, and buffers down to the first that was confirmed."""
        return self.stage in {"begun", "first"}

    @property
    def met(self) -> bool:
        """Whether the answer meets all targets with the confidence that was asked for."""
        return self.choice.meets and self.answer.confidence >= self.confidence

    @property
    def is_too_short(self) -> bool:
        """Whether the runs may be too short to judge the answer itself: how sure it is is not known then."""
        return self.short_runs is not None and not self.short_runs.under

    @property
    def tied(self) -> tuple[str, ...]:
        """The equal queues between which other traffic would decide and has not; none once it has."""
        has_decided = self.is_sturdy or (self.finished and bool(self.sensitivity))
        return () if has_decided or not self.changes else self.choice.tied

    @property
    def outlasted(self) -> dict[str, tuple[Broken, ...]]:
        """Equal queues that were not taken since they miss targets in these changes, the answer in fewer."""
        those = self.others.items() if self.is_sturdy else ()
        return {name: each.broken for name, each in those if len(each.broken) > self.breaks}

    def verdicts(self, entry: Entry) -> dict[Target, Verdict]:
        """What is known of each target with a queue."""
        known = verdicts(entry.checks, entry.confidence, self.confidence)
        return {each.target: verdict for each, verdict in zip(entry.checks, known, strict=True)}

    def configuration(
        self, platform: str = "linux", device: str | None = None, *, shape: bool = False
    ) -> Configuration:
        """What to type for the answer.

        Args:
            platform: For what: linux, openwrt, routeros, junos, ios-xe, ios-xr, nx-os.
            device: The interface whose output it is; default a usual name.
            shape: Hold the rate by a shaper, since the interface itself is faster.

        Raises:
            InputError: There is no such platform, or it cannot take the answer's values.
        """
        return self.configuration_of(self.answer, platform, device, shape=shape)

    def configuration_of(
        self, entry: Entry, platform: str, device: str | None = None, *, shape: bool = False
    ) -> Configuration:
        """What to type for any entry."""
        return configuration(
            f"{self.site.rate_bps} bps",
            entry.table,
            f"{entry.whole_packets} packets",
            platform=platform,
            device=device,
            shape=shape,
            packet=f"{self.site.packet_bytes} B",
        )

    def choice_with(self, times: float) -> Choice:
        """What would be taken if the thresholds of what is material and notable were larger by a factor.

        Args:
            times: The factor.
        """
        missed = {each.name: each.missed for each in self.choice.rivals}
        contest = {name: entry.values for name, entry in self.entries.items()}
        return choose(
            contest,
            self.aspects,
            self.weights,
            missed={self.choice.name: self.choice.missed, **missed},
            times=times,
            looks=len(LOOKS),
            sturdy=[self.choice.name] if self.is_sturdy else (),
            standing=standing(contest, self.site.rtt_ms, self.targets, self.site.users),
            losses=losses_of(contest, self.targets, self.site.users),
            apart=self.apart,
            superseded=superseded(self.entries.values()),
        )

    def best_fifo(self) -> Entry | None:
        """The buffer that the search took for a plain FIFO queue, if one was tried."""
        found = [entry for entry in self.entries.values() if entry.queue.table == {"discipline": "fifo"}]
        return found[0] if found else None

    def searched_buffer(self) -> Entry | None:
        """Whose buffer was searched: the answer's, or that of the FIFO which many routers have alone."""
        for entry in (self.answer, self.best_fifo()):
            if entry is not None and entry.buffers is not None:
                return entry
        return None

    def to_dict(
        self, *, platform: str = "linux", device: str | None = None, shape: bool = False
    ) -> dict[str, Any]:
        """The document.

        Args:
            platform: For what the lines are that are to be typed.
            device: The interface whose output it is; default a usual name.
            shape: Hold the rate by a shaper.
        """
        answer = self.answer
        return {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "version": _core.engine_version,
            "name": self.site.name,
            "link": self.site.link,
            "rate_bps": self.site.rate_bps,
            "rtt_ms": self.site.rtt_ms,
            "packet_bytes": self.site.packet_bytes,
            "allowed": _allowed(self.site.allowed),
            "resolved": self.resolved,
            "groups": [dataclasses.asdict(each) for each in self.site.users],
            "rules": dict(self.site.rules),
            "targets": [str(each.target) for each in answer.checks],
            "targets_from": self.needs.targets_from,
            "floor": None if self.needs.floor is None else str(self._held_to(self.needs.floor)),
            "weights_from": self.needs.weights_from,
            "confidence_wanted": self.confidence,
            "stage": self.stage,
            "finished": self.finished,
            "queue": answer.queue.name,
            "setting": answer.queue.show(answer.setting),
            "buffer": self.site.buffer(answer.packets),
            "meets": self.met,
            "confidence": answer.confidence,
            "undecided": list(self.choice.open),
            "tied": list(self.tied),
            "checks": checks_to_dicts(answer.checks, answer.confidence, self.confidence),
            "aspects": [
                {
                    "kind": each.kind,
                    "title": each.title,
                    "metric": each.metric,
                    "weight": self.weights[each.kind],
                }
                for each in self.aspects
            ],
            "queues": [self._entry(entry) for entry in self.entries.values()],
            "sensitivity": [_sensitivity(answer.queue, each) for each in self.sensitivity],
            "outlasted": {name: list(map(_broken, those)) for name, those in self.outlasted.items()},
            "absent": None if self.absent is None else self.absent.to_dict(),
            "half": None if self.half is None else self.half.to_dict(),
            "plain": None if self.plain is None else self.plain.to_dict(),
            "today": None if self.today is None else self.today.to_dict(),
            "unmixed": None if self.unmixed is None else self.unmixed.to_dict(),
            "nearest_alone": None if self.nearest_alone is None else self.nearest_alone.to_dict(),
            "beyond": {name: [_alone(each) for each in those] for name, those in self.beyond.items()},
            **unmet_document(self.entries, self.targets, self.beyond, self.confidence, met=self.choice.meets),
            "elsewhere": [dataclasses.asdict(each) for each in self.elsewhere],
            "configuration": self._configuration(platform, device, shape=shape),
            "assumed": list(self.assumed),
            "warnings": [*self.notes, *filter(None, [self.sharing]), *self.rests_on],
            "short_runs": None if self.short_runs is None else self.short_runs._asdict(),
            "runs": self.runs,
            "left_out": list(self.left_out),
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """What the runs may not tell, as clauses."""
        return (*self.warnings, *([] if self.short_runs is None else [str(self.short_runs)]))

    def _held_to(self, target: Target) -> Target:
        """A target as the answer was held to it: less is asked of a usual setting."""
        return self.answer.checks[self.targets.index(target)].target

    def _configuration(self, platform: str, device: str | None, *, shape: bool) -> dict[str, Any] | None:
        """What to type, if the platform can take it."""
        try:
            return self.configuration(platform, device, shape=shape).to_dict()
        except InputError:
            return None

    def _entry(self, entry: Entry) -> dict[str, Any]:
        rival = next((each for each in self.choice.rivals if each.name == entry.name), None)
        names = dict.fromkeys(name for values in entry.values for name in values)
        shaken = self.others.get(entry.name)
        means = {name: entry.mean(name) for name in names}
        return {
            "queue": entry.queue.name,
            "discipline": entry.table,
            "setting": entry.queue.show(entry.setting),
            "buffer": self.site.buffer(entry.packets),
            "checks": checks_to_dicts(entry.checks, entry.confidence, self.confidence),
            "confidence": entry.confidence,
            "identical": entry.identical,
            "missed": [str(each) for each in (self.choice if rival is None else rival).missed],
            **_behind(rival),
            "least_behind": None if entry.least_behind is None else entry.least_behind.mean,
            "least_behind_ci95": None if entry.least_behind is None else entry.least_behind.half_width,
            "least_broken": entry.broken,
            "smaller_than": None if entry.smaller is None else _smaller(entry.smaller),
            "seeds": len(entry.values),
            "what_ifs": None if shaken is None else [_what_if(each) for each in shaken.changed],
            **values_document(means),
            "searched": None if entry.least is None else _searched(entry.queue, entry.least),
        }

    def save(
        self,
        folder: str | PathLike[str],
        *,
        document: Mapping[str, Any] | None = None,
        text: str | None = None,
    ) -> list[Path]:
        """Write `advice.json`, `advice.txt`, `advice.png` and `advice.svg` into a folder.

        Args:
            folder: The folder.
            document: What the first has, such as `to_dict(platform="junos")`; default `to_dict()`.
            text: What the second has; default what `print` shows.

        Raises:
            OutputError: They cannot be written.
        """
        directory = Path(folder)
        make_folder(directory)
        written = json.dumps(document or self.to_dict(), indent=2, ensure_ascii=False)
        return [
            write_whole(directory / "advice.json", f"{written}\n"),
            write_whole(directory / "advice.txt", f"{self if text is None else text}\n"),
            *display.save_figure(self.figure(), directory / "advice"),
        ]

    def figure(self) -> Figure:
        """What the buffers that were tried do, and what each queue does to users."""
        return display.figure(self)

    def __repr__(self) -> str:
        return f"<Advice {self.site.name!r}: {self.choice.name}>"


def _allowed(allowed: Allowed | None) -> dict[str, Any] | None:
    """What the platform takes."""
    if allowed is None:
        return None
    return {
        "platform": allowed.platform,
        "least_packets": allowed.least,
        "most_packets": allowed.most,
        "most": allowed.bound.shown,
        "source": allowed.bound.source,
    }


def _behind(rival: Rival | None) -> dict[str, Any]:
    """How an entry compares with the answer; nothing for the answer itself."""
    if rival is None:
        return {"behind": None, "behind_ci95": None, "equal": None, "worst": None}
    worst = None if rival.worst is None else {"metric": rival.worst[0].metric, "behind": rival.worst[1]}
    return {
        "behind": rival.behind.mean,
        "behind_ci95": rival.behind.half_width,
        "equal": rival.is_equal,
        "alike": rival.is_alike,
        "worst": worst,
    }


def _searched(queue: Queue, found: Least) -> dict[str, Any]:
    """The course of a search: what each setting gave."""
    return {
        "knob": queue.knob,
        "runs": found.runs,
        "lower": found.lower,
        "upper": found.upper,
        "found": found.size,
        "settings": [
            {
                "setting": size,
                "runs": len(found.memory.values(size)),
                "meets": found.memory.meets_all(size),
                **_means(found.memory.values(size)),
            }
            for size in found.memory.sizes
        ],
    }


def _means(runs: Sequence[Values]) -> dict[str, Any]:
    """Means over runs of every value, and of how many, where it is not all."""
    names = dict.fromkeys(name for run in runs for name in run)
    document = values_document({name: mean_over_runs(name, runs) for name in names})
    return {key: document[key] for key in ("values", "values_runs")}


def _alone(each: Beyond) -> dict[str, Any]:
    return {"target": str(each.target), "packets": each.size, "meets": each.is_met, "runs": each.runs}


def _broken(each: Broken) -> dict[str, Any]:
    return {"change": each.change, "target": str(each.target), "value": each.value}


def _sensitivity(queue: Queue, each: Sensitivity) -> dict[str, Any]:
    size = None if each.least is None else each.least.size
    return _what_if(each) | {
        "least_packets": size if queue.knob == "limit" else None,
        "least_setting": None if size is None else queue.show(size),
    }


def _what_if(each: Sensitivity) -> dict[str, Any]:
    return {
        "title": each.title,
        "holds": each.holds,
        "missed": [str(target) for target in each.missed],
        "is_supposed": each.is_supposed,
        "values": dict(each.values),
    }


def mean_values(runs: Sequence[Values]) -> Values:
    """Means over runs of every value."""
    means: Values = _means(runs)["values"]
    return means


def _smaller(found: Smaller) -> dict[str, Any]:
    """The buffer that was searched, in place of which a smaller one is taken."""
    return {
        "packets": found.former,
        "utilization": found.used,
        "wait_mean_ms": found.wait_ms,
        "behind": found.behind.mean,
        "behind_ci95": found.behind.half_width,
        "is_eased": found.is_eased,
    }
