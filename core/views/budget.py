"""A budget's judgement of a model: lines, Markdown for a pull request, JUnit XML, and annotations for GitHub."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from core.analysis.budget import Culprit, Judgement
from core.base.words import agree, count, number
from core.report import Place
from core.views.markdown import CONTROL, LONGEST_NAME, code, one_line, plain

HEADINGS = ("figure", "limit", "value", "standing")
LONGEST_REASON = 300
# A checkout's file is named relative to it, as a code host names it.
ESCAPES = {"%": "%25", "\r": "%0D", "\n": "%0A"}
PROPERTY_ESCAPES = {**ESCAPES, ":": "%3A", ",": "%2C"}


@dataclass(frozen=True, slots=True)
class BudgetView:
    """The judgements of the runs of one model; `comparison` is their difference from the baseline in a sentence."""

    name: str
    judgements: tuple[Judgement, ...]
    comparison: str = ""

    @property
    def failed(self) -> bool:
        """True if the model is not within its budget."""
        return any(judgement.failed for judgement in self.judgements)

    @property
    def title(self) -> str:
        """The result in one sentence, as plain text."""
        over = sum(judgement.failed for judgement in self.judgements)
        undecided = sum(judgement.standing == "undecided" for judgement in self.judgements)
        name, limits = one_line(self.name, LONGEST_REASON), count(len(self.judgements), "limit")
        sentence = f"{name} is within its budget of {limits}"
        if over:
            sentence = f"{name} is not within its budget: {number(over)} of {limits} {agree(over, 'fails', 'fail')}"
        return f"{sentence}; {number(undecided)} {agree(undecided, 'is', 'are')} undecided" if undecided else sentence

    @property
    def lines(self) -> list[str]:
        """The title, a table, and the lines that are over a limit, as plain text."""
        rows = [HEADINGS, *map(_cells, self.judgements)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
        table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        details = [
            f"{_cells(judgement)[0]}: {detail}" for judgement in self.judgements for detail in _details(judgement)
        ]
        return [f"{self.title}.", *(f"  {line}".rstrip() for line in table), *details, *filter(None, [self.comparison])]

    @property
    def markdown(self) -> str:
        """The same for a pull request."""
        head = [f"**{plain(self.title)}.**", "", f"| {' | '.join(HEADINGS)} |", "|---|---|---|---|"]
        rows = [f"| {' | '.join(map(plain, _cells(judgement)))} |" for judgement in self.judgements]
        details = [
            f"- {plain(judgement.name)}: {_as_code(culprit.place)}{plain(culprit.reason, LONGEST_REASON)}"
            for judgement in self.judgements
            for culprit in judgement.culprits
        ]
        reasons = [f"- {plain(judgement.name)}: {plain(judgement.reason)}" for judgement in _with_reason(self)]
        notes = [*reasons, *details, *(f"- {plain(sentence)}" for sentence in [self.comparison] if sentence)]
        return "\n".join([*head, *rows, *([""] if notes else []), *notes]) + "\n"

    @property
    def junit(self) -> bytes:
        """A test suite of JUnit's form, with a case for each limit; an undecided one is skipped."""
        standings = [judgement.standing for judgement in self.judgements]
        suite = ET.Element(
            "testsuite",
            name=_xml(self.name),
            tests=str(len(standings)),
            failures=str(sum(judgement.failed for judgement in self.judgements)),
            skipped=str(standings.count("undecided")),
        )
        for judgement in self.judgements:
            case = ET.SubElement(suite, "testcase", classname=_xml(self.name), name=_xml(judgement.name))
            value = f"{judgement.value}, {judgement.limit}"
            if judgement.failed:
                failure = ET.SubElement(case, "failure", message=_xml(f"{judgement.standing}: {value}"))
                failure.text = _xml("\n".join(_details(judgement)))
            elif judgement.standing == "undecided":
                ET.SubElement(case, "skipped", message=_xml(f"{value}: {judgement.reason}"))
        written: bytes = ET.tostring(suite, encoding="utf-8", xml_declaration=True)
        return written + b"\n"

    @property
    def annotations(self) -> list[str]:
        """Workflow commands of GitHub: an error at each line that is over a limit, a warning for what is undecided."""
        return [line for judgement in self.judgements for line in self._annotations(judgement)]

    def _annotations(self, judgement: Judgement) -> Iterator[str]:
        title = _escaped(f"{self.name}: {judgement.name}", PROPERTY_ESCAPES)
        if judgement.standing == "undecided":
            yield f"::warning title={title}::{_escaped(f'{judgement.value}, {judgement.limit}: {judgement.reason}')}"
        if not judgement.failed:
            return
        value = " ".join(filter(None, (f"{judgement.value}, {judgement.limit}.", judgement.reason)))
        for culprit in judgement.culprits or (Culprit(None, ""),):
            place = culprit.place
            where = f"file={_escaped(_path(place), PROPERTY_ESCAPES)},line={place.line}," if place else ""
            yield f"::error {where}title={title}::{_escaped(f'{value} {culprit.reason}'.strip())}"

    @property
    def data(self) -> dict[str, Any]:
        """All of it for JSON."""
        return {"failed": self.failed, **{field.name: getattr(self, field.name) for field in fields(self)}}


def _cells(judgement: Judgement) -> tuple[str, ...]:
    cells = (judgement.name, judgement.limit, judgement.value, judgement.standing)
    return tuple(one_line(cell, LONGEST_NAME) for cell in cells)


def _with_reason(view: BudgetView) -> list[Judgement]:
    return [judgement for judgement in view.judgements if judgement.reason]


def _details(judgement: Judgement) -> Iterator[str]:
    """Yield why a limit is not kept or undecided, and each line of code that counts, as plain text."""
    if judgement.reason:
        yield one_line(judgement.reason, LONGEST_REASON)
    for culprit in judgement.culprits:
        place = f"{_path(culprit.place)}:{culprit.place.line}: " if culprit.place else ""
        yield one_line(f"{place}{culprit.reason}", LONGEST_REASON)


def _as_code(place: Place | None) -> str:
    return f"{code(f'{_path(place)}:{place.line}')} " if place else ""


def _path(place: Place) -> str:
    """Return a file's path, relative to the current directory if it is below it."""
    path, here = Path(place.file), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _escaped(text: str, escapes: dict[str, str] = ESCAPES) -> str:
    return "".join(escapes.get(letter, letter) for letter in text)


def _xml(text: str) -> str:
    """Return a text without the characters that XML does not have."""
    return CONTROL.sub("�", text)
