"""Names in code use the glossary's words (docs/glossary.md), one for each concept; texts avoid phrases."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
GLOSSARY = ROOT / "docs" / "glossary.md"

EXCEPTED = {
    "SelectiveAcknowledgement": "etherparse's",
    "SelectiveAcknowledgementPermitted": "etherparse's",
    "aqm": "flent's field of a result file",
    "current_qdelay": "RFC 8033's",
    "qdelay_old": "RFC 8033's",
    "bandwidth": "the BBR drafts'",
    "probes_bandwidth": "the BBR drafts'",
    "BANDWIDTH_CHANGE": "Westwood+'s",
    "util": "importlib's",
    "cancelled": "concurrent.futures'",
}
"""Names that others chose, and who."""

MARKS = {
    "HAS_MILD_MARKS",
    "LeavesMarked",
    "MARK",
    "MARKED",
    "MARKING",
    "MARKS_AT",
    "MARK_BY_DEFAULT",
    "MARK_ECNTH",
    "Mark",
    "MarkText",
    "Marked",
    "Marks",
    "admit_marked",
    "after_a_mark",
    "check_mark",
    "count_mark",
    "is_marking",
    "mark_episodes",
    "counts_marks",
    "follow_marks",
    "has_mild_marks",
    "is_marked",
    "mark",
    "ALWAYS_MARK",
    "mark_above",
    "mark_instead",
    "marked",
    "marked_ever",
    "marked_packets",
    "marks_at",
    "may_be_marked",
    "marked_share",
    "marking",
    "marking_above",
    "on_class_mark",
    "marks",
    "marks_by_the_queue",
    "marks_note",
    "no_marks_is_reno",
    "on_mark",
    "on_marks",
    "on_mark_change",
    "parse_mark",
    "pending_marked",
}
"""Names with "mark", which means ECN's: a new one belongs here if it does too."""

ABOUT_MARKS = {
    "python/bufferlab/captured/filled.py",
    "python/bufferlab/captured/fitting.py",
    "python/bufferlab/captured/marks.py",
    "python/bufferlab/captured/paced.py",
    "python/bufferlab/captured/scenario.py",
    "python/bufferlab/kernel/guest/disciplines.py",
    "python/bufferlab/kernel/outcome.py",
    "python/bufferlab/render/advise/reasons.py",
    "python/bufferlab/studies/traffic.py",
}
"""The files in Python that may have a name of the word alone, of which `MARKS` cannot tell the meaning."""

TEXTS = {
    "python": ("py", "toml", "tcl", "csv", "md"),
    "scripts": ("py",),
    "examples": ("toml",),
    "docs/validation": ("csv",),
}
SAID = {
    ("python/bufferlab/studies/everyday.py", "queueing_delay"),  # what users may say
    ("python/bufferlab/studies/everyday.py", "packet_loss"),
    ("python/bufferlab/results/latency/emodel.py", "Packet-loss"),  # G.107's
    ("python/bufferlab/results/latency/emodel.py", "packet-loss"),
}
"""Other words for a wait or a loss, in the files that need them."""

WORDS_FOR_MARKS = {"mark", "marks", "marked", "marking"}
BRITISH = re.compile(
    r"behaviour|colour|favour|neighbour|centre|modell|labell|cancell|(?:util|normal|initial|serial|optim|summar|real)is[ei]"
)
SENTENCE = 5
"""Words that make a test's name a sentence, which may use any word of the language."""

FOLDERS = ("benchmarks", "crates", "docs", "examples", "golden", "python", "scripts", "tests")
SUFFIXES = {".json", ".md", ".py", ".pyi", ".rs", ".sh", ".tcl", ".toml", ".txt", ".yml"}
BETWEEN = r"(?:[\s_]|//[/!]?|#)+"
"""Between the words of a phrase: in names, and where a comment goes on in the next line."""


def _forbidden() -> dict[str, str]:
    """The words that the glossary does not want, and those that it wants instead."""
    glossary = GLOSSARY.read_text(encoding="utf-8").partition("## Phrases")[0]
    rows = [
        [cell.strip() for cell in line.split("|")[1:-1]]
        for line in glossary.splitlines()
        if line.startswith("| ")
    ]
    return {name: word for word, _, names in rows[2:] for name in names.split(", ") if name}


def _words(name: str) -> list[str]:
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)]


def _rust_names(text: str) -> set[str]:
    code = re.sub(r'//.*|"(?:\\.|[^"\\])*"', "", text)
    return set(re.findall(r"[A-Za-z_]\w*", code))


def _python_names(text: str) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                names.add(name)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
    return names


@cache
def _names() -> dict[str, Path]:
    """Each name that is not excepted, and a file that has it."""
    names: dict[str, Path] = {}
    for folder, suffix, read in (("crates", ".rs", _rust_names), ("python", ".py", _python_names)):
        for path in sorted((ROOT / folder).rglob(f"*{suffix}")):
            names |= dict.fromkeys(read(path.read_text()) - EXCEPTED.keys(), path.relative_to(ROOT))
    return {name: names[name] for name in sorted(names) if len(_words(name)) < SENTENCE}


def test_names_use_the_glossary_s_words() -> None:
    forbidden = _forbidden()
    assert forbidden["acknowledgement"].startswith("acknowledgment")
    pattern = re.compile(f" ({'|'.join(forbidden)})s? ")
    found = ((path, name, pattern.search(f" {' '.join(_words(name))} ")) for name, path in _names().items())
    wrong = [f"{path}: {name}: say {forbidden[bad[1]]!r}, not {bad[1]!r}" for path, name, bad in found if bad]
    assert not wrong, "\n".join(wrong)


def test_spelling_is_american() -> None:
    wrong = [f"{path}: {name}" for name, path in _names().items() if BRITISH.search(name.lower())]
    assert not wrong, "\n".join(wrong)


def test_a_mark_is_ecn_s() -> None:
    wrong = [
        f"{path}: {name}: if it is about ECN, add it to MARKS"
        for name, path in _names().items()
        if WORDS_FOR_MARKS & set(_words(name)) and name.lstrip("_") not in MARKS
    ]
    assert not wrong, "\n".join(wrong)


def test_a_mark_without_another_word_is_in_a_file_about_ecn() -> None:
    having = {
        str(path.relative_to(ROOT))
        for folder in ("python", "scripts")
        for path in (ROOT / folder).rglob("*.py")
        if any(name.lstrip("_") in WORDS_FOR_MARKS for name in _python_names(path.read_text()))
    }
    assert having == ABOUT_MARKS, "if it is about ECN, add the file to ABOUT_MARKS"


def test_titles_axes_columns_and_texts_say_wait_and_loss() -> None:
    """Everywhere in Python and in what it reads, as in names."""
    words = [word for word, meant in _forbidden().items() if meant in {"wait", "loss"}]
    assert {"queueing delay", "loss rate"} <= set(words)
    pattern = re.compile("|".join(word.replace(" ", "[ _-]?") for word in words), re.IGNORECASE)
    found = {
        (str(path.relative_to(ROOT)), match[0])
        for folder, suffixes in TEXTS.items()
        for suffix in suffixes
        for path in (ROOT / folder).rglob(f"*.{suffix}")
        for match in pattern.finditer(path.read_text())
    }
    assert found == SAID


def _phrases() -> dict[str, str]:
    """Each phrase, and what to write instead."""
    table = GLOSSARY.read_text(encoding="utf-8").partition("## Phrases")[2]
    rows = [line.split("|")[1:-1] for line in table.splitlines() if line.startswith("| ")][2:]
    return {phrase.strip(): instead.strip() for avoid, instead in rows for phrase in avoid.split(",")}


def _pattern(phrases: dict[str, str]) -> re.Pattern[str]:
    """Any of the phrases; not within a word, and not behind the backslash of an escape such as a tab's."""
    either = "|".join(BETWEEN.join(phrase.split()) for phrase in phrases)
    return re.compile(rf"(?<![a-z\\])(?:{either})(?![a-z])", re.IGNORECASE)


def _files() -> Iterator[Path]:
    for folder in FOLDERS:
        yield from (path for path in sorted((ROOT / folder).rglob("*")) if path.suffix in SUFFIXES)
    yield from (path for path in sorted(ROOT.glob("*")) if path.suffix in SUFFIXES or path.name == "Makefile")


def test_no_text_has_a_phrase_of_the_glossary_s_list() -> None:
    phrases = _phrases()
    pattern = _pattern(phrases)
    wrong = []
    for path in _files():
        text = path.read_text(encoding="utf-8")
        for found in [] if path == GLOSSARY else pattern.finditer(text):
            line = text.count("\n", 0, found.start()) + 1
            phrase = " ".join(re.findall("[a-z]+", found[0].lower()))
            wrong.append(f"{path.relative_to(ROOT)}:{line}: {phrase!r}: write {phrases[phrase]}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        ("it ran in vein.", True),
        ("/// it ran in\n    /// vein", True),
        ("def ran_in_vein() -> None:", True),
        ("in veins, or again in a vein", False),
        (r"a tab, and \in vein", False),
    ],
)
def test_a_phrase_is_found_in_prose_names_and_across_lines(text: str, is_found: bool) -> None:
    assert bool(_pattern({"in vein": ""}).search(text)) == is_found
