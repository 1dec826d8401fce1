"""Views of a run for other people: a bug report, a link preview, and the judgement of a budget.

A bug report has the form of PyTorch's issue template, as Markdown and as a ZIP with its files. A judgement
has the form of text lines, Markdown, JUnit XML, or annotations for GitHub.
"""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from core.analysis.budget import Culprit, Judgement
from core.analysis.comparison.run import RunComparison
from core.analysis.interval import Interval
from core.analysis.numerics import bisection_words, minified_words, nan_words
from core.analysis.results import ending_words as end_sentence
from core.analysis.results import excuse_words, results, results_words
from core.analysis.verdict import verdict
from core.base.errors import CompileboardError, StoreError
from core.base.words import agree, bytes_, count, number
from core.job import CompileJob, job_to_json
from core.job.prepared import checked_script
from core.report import Call, Place, Problem, Report, Setting
from core.runs.doctor import collected_environment, is_torch_here
from core.runs.progress import ending_words
from core.runs.sharing import ImportedRuns, may_preview, preview_token, set_preview
from core.runs.status import Status
from core.runs.store import Run
from core.runs.stored import is_stored, open_graph, open_report
from core.views import wire
from core.views.colours import kernel_colours
from core.views.fx_graph import FxGraphView, GraphStages
from core.views.header import facts_line, first_compilation
from core.views.markdown import (
    CONTROL,
    LONGEST_LINE,
    LONGEST_NAME,
    WORD_JOINER,
    code,
    fence_of,
    one_line,
    plain,
    prose,
    table,
)
from core.views.scrub import KINDS, NOTHING, Scrubber, read_log
from core.views.verdict import sentence
from core.views.verdict import title as short_title

__all__ = ["BudgetView", "CardView", "issue_of", "may_preview", "preview_token", "set_preview"]

# GitHub takes 65,536 characters; the two longest parts share them.
MAX_PART_CHARS = 25_000  #: the script and the error in a bug report, each
MAX_LOG_BYTES = 64 * 1024**2  #: limit: a log in the ZIP of a bug report
# Where GitHub makes a link of a text whose markup is escaped.
LINKED = re.compile(r"(?<=[@#])(?=\w)|(?<=\bGH)(?=\\?-\d)", re.IGNORECASE)
# Frames of the process that ran the model, which no reader of the report has.
OUR_FRAMES = re.compile(r'^  File "[^"\n]*/core/worker/[^"\n]*", line .*\n(?:    .*\n)*', re.MULTILINE)
NOT_HERE = "The run's torch is not installed here. Add what `python -m torch.utils.collect_env` prints where it ran."
NOT_COLLECTED = "`python -m torch.utils.collect_env` could not be run here. Add what it prints."
FILES = {
    "issue.md": "the report, to paste into an issue",
    "script.py": "a script that shows the failure by itself; it needs torch alone",
    "model.py": "the model's file, as the run had it",
    "job.json": "all settings of the run; `python -m core run job.json` repeats it",
    "trace.log": "the log of TORCH_TRACE, for tlparse or `python -m core open`",
}
README = "README.txt"


def issue_of(run: Run) -> IssueView:
    """Return the bug report about a stored run; raises StoreError for an imported log, which has no job."""
    job = run.job()
    if job is None:
        raise StoreError(f"{run.id} is an imported log: it has no job to report about")
    report = open_report(run) if run.log_path() else None
    return IssueView(run, job, run.status(), report, run.code())


@dataclass(frozen=True)
class IssueView:
    """A bug report about an ended run.

    `report` is None if the run has no log. `code` is the model's file, empty if it is not stored.
    """

    run: Run
    job: CompileJob
    status: Status
    report: Report | None
    code: str
    collect: Callable[[], str] = collected_environment

    @property
    def title(self) -> str:
        error = self.report.error if self.report else None
        if error is not None:
            message = one_line(error.message.strip().partition("\n")[0], LONGEST_LINE)
            return ": ".join(filter(None, (f"{self.call} raises {error.type}", message)))
        if self.report is not None and self.status.state == "done":
            outcome = results(self.report)
            return f"{self.call}: {outcome.outcome if outcome else 'results were not compared'}"
        return f"{self.call}: the process {self.status.state}"

    @property
    def call(self) -> str:
        """The call of torch.compile."""
        return self.job.compile.as_call()

    @property
    def script(self) -> str:
        """Standalone script: torch's minified graph if it reproduces the failure, else the model's file."""
        bisection = self.report.bisection if self.report else None
        if bisection is not None and bisection.reproduces:
            return checked_script(self.job, bisection.script, minified=True)
        return checked_script(self.job, self.code)

    @property
    def markdown(self) -> str:
        """The report as Markdown, with the headings of PyTorch's issue template."""
        parts = [
            f"# {unlinked(plain(self.title))}",
            "### 🐛 Describe the bug",
            *self._facts(),
            fenced(self.script, "python"),
            "### Error logs",
            fenced(self._error, "") if self._error else "No error was recorded.",
            "### Versions",
            *self._versions(),
        ]
        return "\n\n".join(parts) + "\n"

    @property
    def _error(self) -> str:
        if self.report is not None and self.report.error is not None:
            return OUR_FRAMES.sub("", self.report.error.traceback) or self.report.error.message
        return "" if self.status.state == "done" else f"{self.status.reason}\n{self.run.output_tail()}".strip()

    def _facts(self) -> Iterator[str]:
        if self.report is None:
            yield f"The run ended: {self.status.state}."
            return
        yield unlinked(prose(sentence(verdict(self.report))))
        yield unlinked(plain(facts_line(self.report)))
        if ending := ending_words(self.run, self.report):
            yield unlinked(prose(ending))
        if self.report.bisection is not None:
            words = (bisection_words, minified_words, nan_words)
            yield from (unlinked(prose(text)) for write in words if (text := write(self.report.bisection)))

        settings = ", ".join(self.job.differences())
        if settings:
            yield f"Settings: {code(settings)}"

    def _versions(self) -> Iterator[str]:
        """Yield the versions, by torch's collect_env if it is the run's, and the device and CPUs."""
        setting = self.report.setting if self.report else Setting()
        here = is_torch_here(setting.torch)
        collected = self.collect() if here else ""
        if collected:
            yield fenced(collected, "")
        else:
            recorded = {"PyTorch": setting.torch, "Python": setting.python}
            yield fenced("\n".join(f"{name} version: {recorded[name] or 'not recorded'}" for name in recorded), "")
            yield NOT_COLLECTED if here else NOT_HERE
        device = f"Device of the run: {unlinked(plain(setting.device or self.job.device))}"
        yield f"{device}, CPUs: {setting.cpus or 'not recorded'}, threads of torch: {setting.threads or 'not recorded'}"

    def as_zip(self, scrubber: Scrubber = NOTHING) -> bytes:
        """Return a ZIP of the report, script, model's file, job and small enough trace, without secrets."""
        buffer = io.BytesIO()
        log = self.run.log_path()
        is_small = log is not None and log.stat().st_size <= MAX_LOG_BYTES
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(README, self._contents(scrubber, log if is_small else None))
            archive.writestr("issue.md", scrubber.text(self.markdown))
            archive.writestr("script.py", scrubber.text(self.script))
            archive.writestr("model.py", scrubber.text(self.code))
            archive.writestr("job.json", scrubber.document(job_to_json(self.job).decode()))
            if log is not None and is_small:
                archive.writestr("trace.log", scrubber.log(read_log(log)).encode("utf-8", "surrogateescape"))
        return buffer.getvalue()

    def _contents(self, scrubber: Scrubber, log: Path | None) -> str:
        """Return a text with the files in the ZIP, the missing log, and the kinds of replaced texts."""
        lines = [f"{name}: {FILES[name]}" for name in FILES if name != "trace.log" or log]
        left_out = self.run.log_path() if log is None else None
        if left_out is not None:
            lines.append(f"The log of TORCH_TRACE has {bytes_(left_out.stat().st_size)} and is not in this file.")
        elif log is None:
            lines.append("The run wrote no log of TORCH_TRACE.")
        kinds = [kind for kind in KINDS if any(secret.kind == kind for secret in scrubber.secrets)]
        if kinds:
            lines.append(f"Replaced by placeholders: {', '.join(kinds)}.")
        return "\n".join(lines) + "\n"


def unlinked(markdown: str) -> str:
    """Return Markdown in which GitHub makes no link of a mention, an issue's number or an address."""
    return LINKED.sub(WORD_JOINER, markdown)


def fenced(text: str, language: str) -> str:
    """Return text as a code block of Markdown; only the end of a long text is shown."""
    left_out = len(text) - MAX_PART_CHARS
    shown = (
        text if left_out <= 0 else f"… {number(left_out)} characters before this are left out\n{text[-MAX_PART_CHARS:]}"
    )
    ticks = fence_of(shown)
    return f"{ticks}{language}\n{shown.strip(chr(10))}\n{ticks}"


# The report of a larger log is read by a page, not for a preview; a larger graph is drawn on its page.
LARGEST_LOG_BYTES = 2_000_000  #: limit: a log that is read for a preview
MOST_OPS = 2_000  #: ops of a graph that is drawn for a preview
LINK_HELP = "Links to this run, to copy"
COPY_LINK = "Copy link"
PLAIN_LINK = "This page with what is selected, for people who may open the run."
PRIVATE_LINK = "The run is private, so its links show nothing. *Runs* › *Seen by* changes that."
NO_TOKEN = (
    "Only people who may open the run see the preview of its link. With a token in the link, everybody sees the "
    "preview, but not the run."
)
WITH_TOKEN = (
    "Whoever has this link sees the title, the verdict and the picture of the graph, without signing in; nothing else."
)


@dataclass(frozen=True)
class CardView:
    """The preview of a run: its title and a sentence on its result."""

    run: Run
    title: str
    sentence: str

    @staticmethod
    def of(run: Run) -> CardView:
        """Return the preview of a run; raises CompileboardError."""
        status = run.status()
        title = one_line(run.name() or status.title or run.id, LONGEST_NAME)
        report = _report(run)
        ended = end_sentence(status.state, status.reason, report)
        if report is None or (ended and report.error is None):
            return CardView(run, title, one_line(short_title(ended or status.state)))
        return CardView(run, title, one_line(sentence(verdict(report))))

    @property
    def picture(self) -> wire.GraphData | None:
        """The graph of the heaviest compilation, layers folded; None without a graph or if it is too large."""
        report = _report(self.run)
        compilation = first_compilation(report) if report else None
        if report is None or compilation is None or not compilation.graphs:
            return None
        graph = GraphStages(compilation.graphs).first
        if not graph.ops or graph.calls > MOST_OPS:
            return None
        view = FxGraphView(self.run, report, compilation, graph, lambda each: open_graph(self.run, compilation, each))
        return wire.graph_data(wire.stored(view.picture, kernel_colours(report)))


def _report(run: Run) -> Report | None:
    """Return the report of an ended run if reading it is quick; None otherwise, or without a readable log."""
    log = run.log_path()
    if log is None or run.status().live or not (is_stored(run) or log.stat().st_size <= LARGEST_LOG_BYTES):
        return None
    try:
        return open_report(run)
    except CompileboardError:
        return None


HEADINGS = ("figure", "limit", "value", "standing")
LONGEST_REASON = 300  #: characters of the reason why a limit is exceeded
# A checkout's file is named relative to it, as a code host names it.
ESCAPES = {"%": "%25", "\r": "%0D", "\n": "%0A"}
PROPERTY_ESCAPES = {**ESCAPES, ":": "%3A", ",": "%2C"}


@dataclass(frozen=True, slots=True)
class BudgetView:
    """The judgements of one model's runs; `comparison` is a sentence on the baseline, empty without one."""

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
        """The title, a table, the reasons, the lines of code that count, and the comparison, as plain text."""
        rows = [HEADINGS, *map(_cells, self.judgements)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
        table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        details = [
            f"{_cells(judgement)[0]}: {detail}" for judgement in self.judgements for detail in _details(judgement)
        ]
        return [f"{self.title}.", *(f"  {line}".rstrip() for line in table), *details, *filter(None, [self.comparison])]

    @property
    def markdown(self) -> str:
        """The title, a table, the reasons, the lines of code that count, and the comparison, as Markdown."""
        head = [f"**{plain(self.title)}.**", "", table(HEADINGS, map(_cells, self.judgements))]
        details = [
            f"- {plain(judgement.name)}: {_as_code(culprit.place)}{plain(culprit.reason, LONGEST_REASON)}"
            for judgement in self.judgements
            for culprit in judgement.culprits
        ]
        with_reason = (judgement for judgement in self.judgements if judgement.reason)
        reasons = [f"- {plain(judgement.name)}: {plain(judgement.reason)}" for judgement in with_reason]
        notes = [*reasons, *details, *(f"- {plain(sentence)}" for sentence in [self.comparison] if sentence)]
        return "\n".join([*head, *([""] if notes else []), *notes]) + "\n"

    @property
    def junit(self) -> bytes:
        """A test suite in JUnit's format, with a case for each limit; an undecided limit is a skipped case."""
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
        """Workflow commands of GitHub: an error per line of a failed limit, undecided as a warning."""
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
        """All fields and `failed`, for JSON."""
        return {"failed": self.failed, **{field.name: getattr(self, field.name) for field in fields(self)}}


def _cells(judgement: Judgement) -> tuple[str, ...]:
    cells = (judgement.name, judgement.limit, judgement.value, judgement.standing)
    return tuple(one_line(cell, LONGEST_NAME) for cell in cells)


def _details(judgement: Judgement) -> Iterator[str]:
    """Yield the reason of a judgement, and each line of code that counts, as plain text."""
    if judgement.reason:
        yield one_line(judgement.reason, LONGEST_REASON)
    for culprit in judgement.culprits:
        place = f"{_path(culprit.place)}:{culprit.place.line}: " if culprit.place else ""
        yield one_line(f"{place}{culprit.reason}", LONGEST_REASON)


def _as_code(place: Place | None) -> str:
    return f"{code(f'{_path(place)}:{place.line}')} " if place else ""


def _path(place: Place) -> str:
    """Return a file's path, relative to the current directory if the file is below that directory."""
    path, here = Path(place.file), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _escaped(text: str, escapes: dict[str, str] = ESCAPES) -> str:
    return "".join(escapes.get(letter, letter) for letter in text)


def _xml(text: str) -> str:
    """Return a text without the characters that XML does not have."""
    return CONTROL.sub("�", text)


def changed_words(path: Path) -> str:
    """Return that a user changed an installed file, and what replaces it."""
    return f"{path} was changed; `--force` replaces it"


def archived_words(path: Path, runs: int) -> str:
    """Return the number of runs in an archive, and its size."""
    return f"{path}: {count(runs, 'run')}, {bytes_(path.stat().st_size)}"


def imported_words(imported: ImportedRuns) -> str:
    """Return the numbers of runs that an import added, and of those that were already here."""
    known = f", {count(len(imported.known), 'run')} already here" if imported.known else ""
    return f"{count(len(imported.added), 'run')} added{known}"


# Figures that a change must not raise.
NOT_MORE = ("graph breaks", "recompiles")


def result_problems(report: Report) -> tuple[str, str]:
    """Return the reason why results fail a check, and a doubt about results that pass; empty without."""
    accuracy = results(report)
    if accuracy is None:
        return "nothing was compared with eager", ""
    if accuracy.outcome == "differs":
        return f"results differ from eager: {results_words(accuracy)}", ""
    if accuracy.outcome != "same":
        return "", f"results are {accuracy.outcome}: {results_words(accuracy)}"
    return "", "; ".join(excuse_words(accuracy)).replace("`", "")


def worse_on_the_right(comparison: RunComparison) -> Iterator[str]:
    """Yield each reason why the right run of a comparison fails a check."""
    if comparison.failures[1] and not comparison.failures[0]:
        yield f"on the right {comparison.failures[1]}"
    if comparison.results[1] == "differs":
        yield "results differ from eager on the right"
    for figure in map(comparison.figure, NOT_MORE):
        if (figure.right or 0) > (figure.left or 0):
            yield f"{figure.name}: {figure.words(figure.left)} → {figure.words(figure.right)}"


def slow_words(faster: Interval | None, than: str, least: float) -> str:
    """Return the reason why a speed fails a check for at least a ratio; empty if it passes."""
    if faster is None:
        return "the speed was not measured, or is not comparable"
    if faster.high >= least:
        return ""
    bounds = f"{number(faster.low)}–{number(faster.high)}"
    return f"{number(faster.middle)}× as fast as {than} ({bounds}), at least {number(least)}× required"


def unread_words(problem: Problem) -> str:
    """Return a kind of record that could not be read, and the number of records."""
    return f"could not read: {problem.what}, {count(problem.count, 'time')}"


def raised_words(call: Call) -> str:
    """Return a call that raised, with the first line of its error."""
    return f"call {call.index} raised: {call.raised.splitlines()[0]}"
