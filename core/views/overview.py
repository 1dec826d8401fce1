"""Overview of a run, and its outcome.

`OverviewView` has findings, results, heaviest compilations, output and log. `OutcomeView` has the verdict, the error
and the failures.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from core.analysis.dynamo.compilations import Entry, compilation_tree, flattened
from core.analysis.dynamo.failures import failed_phase, failures
from core.analysis.findings import FIRST, Finding, findings
from core.analysis.findings.calls import printed_lines
from core.analysis.numerics import bisection_words, cure_words, minified_words, nan_words
from core.analysis.repairs.claims import Proof, cures
from core.analysis.results import results
from core.analysis.verdict import doubts, records_dynamo, verdict
from core.analysis.work import lowered_ops
from core.base import words as fmt
from core.graph.fx import source_path
from core.job import CompileJob, Model
from core.job.prepared import checked_script
from core.report import Report, stored
from core.runs.progress import ending_words
from core.runs.status import Status
from core.runs.store import Run
from core.views.blocks import (
    Code,
    Column,
    Drawn,
    Fold,
    Heading,
    Listing,
    PageBlock,
    PageLink,
    Table,
    Text,
    folded,
    paragraph,
    spans,
)
from core.views.job_form import device_words
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line, plain, prose, short
from core.views.numerics import result_blocks
from core.views.progress import WAITING, FailureView, ScriptView, evidence
from core.views.proofs import WITHOUT_EFFECT, tried_words
from core.views.texts import line_in
from core.views.verdict import ended_words, error_title, sentence, title

ENDED_BY_CHOICE = ("cancelled", "interrupted")
# Phases of torch.compile before Inductor, and eager itself.
FIRST_PHASES = ("eager", "capture", "AOTAutograd")
# Findings that an option of Inductor may cure.
CURED = ("results differ", "not compiled: failed", "raised at run time")
CURE = "Use `{change}`, which changes the part of Inductor at fault."
FAULTS = ("failed", "crashed", "timed out", "out of memory")
MOST_FAILURES = 5  #: limit: failures listed on *Overview*
# Parts of torch's messages that differ between equal failures: temporary paths and addresses.
TEMPORARY = re.compile(r"/[^\s'\":,]*(?:tmp|temp)[^\s'\":,]*|\btmp\w{6,}|\b0x[0-9a-f]+", re.IGNORECASE)
HEAVIEST = 5
SHOWN_LINES = 500
LOG_NOTE = (
    "Records of a kind with an empty *shown* cell appear on no page. Download the log on *Runs*, and open it in "
    "tlparse."
)


# Parts that the page draws by hand.
PINNED, FINDING, FAILURE, EVIDENCE, THREADS, HEAVY = "pinned", "finding", "failure", "evidence", "threads", "heavy"


def overview(view: OverviewView, ending: OutcomeView) -> Iterator[PageBlock]:
    """Yield the overview of a run: findings, results, compilations, output and records of the log."""
    yield Drawn(PINNED)
    yield from run_facts(view, ending.status.state == "done")
    yield Drawn(THREADS)
    yield from compilation_facts(view)
    if view.output_lines:
        code = Code("\n".join(view.output_lines[:SHOWN_LINES]), "text")
        yield Fold(spans(view.output_title), (Listing("Printed", code, is_open=True), *paragraph(view.output_left_out)))
    problems = (Text(spans(problem), "warn") for problem in view.log_problems)
    kinds: Table[tuple[str, int]] = Table("log-kinds", view.log_columns, view.log_kinds)
    yield Fold(spans(view.log_title), (*problems, kinds, Text(spans(LOG_NOTE), "quiet")))


def run_facts(view: OverviewView, is_done: bool) -> Iterator[PageBlock]:
    """Yield findings, failures, results, the script, notes, and a line for each page with a result."""
    cards = [Drawn(FINDING, tuple(finding.blocks), (finding, at)) for at, finding in enumerate(view.findings)]
    if not cards and is_done and view.report.error is None:
        yield from paragraph(view.no_findings, "quiet")
    yield from cards[:FIRST]
    yield from folded(fmt.count(len(cards) - FIRST, "more finding"), cards[FIRST:])
    for failure in view.first_failures:
        yield Drawn(FAILURE, tuple(failure.blocks), (failure,))
    yield from paragraph(view.failures_left_out, "quiet")
    yield from result_blocks(view.report)
    script = ScriptView.of(view.report)
    if script is not None:
        yield from script.blocks
    for note in view.report.notes:
        yield from paragraph(plain(note, LONGEST_TEXT), "note")
    yield from paragraph(prose(ended_words(view.report), LONGEST_TEXT), "warn")
    for line in evidence(view.report):
        yield Drawn(EVIDENCE, (Text(spans(f"- {line.text}")),), (line,))


def compilation_facts(view: OverviewView) -> Iterator[PageBlock]:
    """Yield the heaviest compilations, and a link to all of them."""
    yield Heading("Compilations")
    if view.nothing_compiled:
        yield Text(spans(view.nothing_compiled))
        return
    yield Drawn(HEAVY, (view.heavy,))
    yield PageLink("compilations", view.all_compilations)


@dataclass(frozen=True)
class OutcomeView:
    """The end of a run, or its verdict so far; `report` is None without a readable log."""

    recorded_before: ClassVar[str] = "Below is what was recorded before."

    status: Status
    report: Report | None
    run: Run | None = None

    @cached_property
    def crash(self) -> str:
        """The place where the worker crashed or hung, as Markdown; empty if its output does not show it."""
        if self.run is None or self.report is None:
            return ""
        return prose(ending_words(self.run, self.report), LONGEST_TEXT)

    @property
    def is_no_trace(self) -> bool:
        """True for an opened file without any record."""
        ended_log = self.status.kind == "log" and not self.status.live
        return ended_log and self.report is not None and not self.report.kinds

    @property
    def title(self) -> str:
        """The verdict in one sentence, or how the run failed, as Markdown."""
        status, error = self.status, self.report.error if self.report else None
        if status.state == "damaged":
            return "The run is damaged."
        if self.is_no_trace:
            return "This is no torch trace."
        if status.live and status.kind == "log" and not (self.report and self.report.kinds):
            return WAITING
        if status.live or status.state == "done" or status.kind == "log":
            return prose(sentence(verdict(self.report))) if self.report else "This log cannot be read."
        if error is not None and self.report is not None:
            return prose(title(error_title(error, failed_phase(self.report))))
        if status.state in ENDED_BY_CHOICE:
            return f"The run was {status.state}."
        if status.state == "timed out" and self.report and self.report.steps:
            return prose(title(f"the run timed out at the step `{short(self.report.steps[-1])}`"))
        return f"The run ended: {status.state}."

    @property
    def origin(self) -> str:
        """The followed source and the files that were not read, as Markdown; empty for a plain log."""
        return plain(self.status.origin, LONGEST_TEXT)

    @property
    def is_fault(self) -> bool:
        """True if a job failed or its results differ."""
        if self.status.kind == "log":
            return False
        found = results(self.report) if self.report and self.status.state == "done" else None
        return self.status.state in FAULTS or (found is not None and found.outcome == "differs")

    @property
    def asks_where(self) -> bool:
        """True for a fault of an unknown part of torch.compile, which a bisection or a ladder can find.

        An error of the first phases is the same with each later backend, and a bisection has its answer.
        """
        phase = failed_phase(self.report) if self.report else ""
        found = self.report.bisection if self.report else None
        return self.is_fault and phase not in FIRST_PHASES and not (found is not None and found.backend)

    def bisecting(self, job: CompileJob) -> CompileJob | None:
        """Return the job with torch's bisector, which looks for the cause; None if it can't run this job.

        The bisector works in one process. It needs the backend `inductor`, no target, a run that ended by itself, and
        a job that does not bisect already. A ladder of runs can look for the cause of any other run.
        """
        ended = self.status.state in ("done", "failed")
        apt = ended and job.compile.backend == "inductor" and not (job.target or job.bisect)
        return replace(job, bisect=True, measure=False) if apt else None

    @property
    def bisection(self) -> str:
        """The result of torch's bisector, as Markdown; empty if the bisector did not run."""
        found = self.report.bisection if self.report else None
        words = (bisection_words(found), cure_words(found)) if found is not None else ()
        return prose(" ".join(filter(None, words)))

    @property
    def minified(self) -> str:
        """The result of torch's minifier, and the first NaN, as Markdown; empty if there is neither."""
        found = self.report.bisection if self.report else None
        return prose(" ".join(filter(None, (minified_words(found), nan_words(found))))) if found is not None else ""

    @cached_property
    def script(self) -> str:
        """The minified graph as a script that fails by itself; empty if there is none."""
        found = self.report.bisection if self.report else None
        job = self.run.job() if self.run and found is not None and found.reproduces else None
        return checked_script(job, found.script, minified=True) if found is not None and job is not None else ""

    def minified_job(self, job: CompileJob) -> CompileJob:
        """Return the job that compiles the minified graph instead of the model."""
        plain = replace(job, calls=(), sizes={}, marks=(), repairs=(), repairs_of="", bisect=False, measure=False)
        found = self.report.bisection if self.report else None
        return replace(plain, model=Model("code", found.script if found else ""), from_file=None)

    @property
    def ended_by_choice(self) -> bool:
        """True if somebody ended the run."""
        return self.status.state in ENDED_BY_CHOICE

    @property
    def error(self) -> str:
        """The error that ended the run, with its stage and the first paragraph of its explanation.

        As Markdown; empty without an error. The title has the first line of the message, the traceback has the whole
        message.
        """
        error = self.report.error if self.report else None
        if error is None:
            return ""
        field = f", field {code(error.field)}" if error.field else ""
        explanation = error.explanation.partition("\n\n")[0]
        more = f": {prose(explanation, LONGEST_TEXT)}" if explanation else "."
        return f"**{plain(error.type)}** at {code(error.stage)}{field}{more}"

    @property
    def line(self) -> str:
        """The line of the user's code that raised the error, as Markdown; empty if none is known."""
        error = self.report.error if self.report else None
        if error is None or not error.frames:
            return ""
        frame = error.frames[-1]
        return f"{code(frame.text)} in {code(frame.name)} at {code(frame.short)}"

    @property
    def traceback(self) -> str:
        """The whole traceback of the error; empty without one."""
        return self.report.error.traceback if self.report is not None and self.report.error is not None else ""

    @property
    def reason(self) -> str:
        """The reason for the end of the run, as Markdown."""
        return plain(self.status.reason or self.status.state)


@dataclass(frozen=True)
class FindingView:
    """A finding: title, reason and advice as Markdown, the page with its evidence, and the change to try.

    `proof` is the result of the change's trial; None if there was none.
    """

    finding: Finding
    proof: Proof | None = None

    @property
    def title(self) -> str:
        """The event and its cost."""
        return prose(self.finding.title, LONGEST_TEXT)

    @property
    def reason(self) -> str:
        """The reason, in torch's terms."""
        return prose(self.finding.reason, LONGEST_TEXT)

    @property
    def advice(self) -> str:
        """The advice: a change that avoids the event."""
        return prose(self.finding.advice, LONGEST_TEXT)

    @property
    def change(self) -> str:
        """The proposed change as code; empty if there is none, and for a fix of the code."""
        proposal = self.finding.proposal
        return proposal.words if proposal is not None and not proposal.repairs else ""

    @property
    def help(self) -> str:
        """The change to try, as Markdown; empty if there is none."""
        return code(self.change) if self.change else prose(self.finding.proposal.words if self.finding.proposal else "")

    @property
    def tried(self) -> str:
        """The result of the change's trial; empty without one."""
        return tried_words(self.proof)

    @property
    def is_idle(self) -> bool:
        """True if a trial showed that the change is no advice."""
        return self.proof is not None and self.proof.is_without_effect

    @property
    def blocks(self) -> Iterator[PageBlock]:
        """Yield title, reason, advice, change, and the result of its trial; advice without effect is folded."""
        change = (Listing("The change to try", Code(self.change), is_open=True),) if self.change else ()
        advice = (*paragraph(self.advice), *change, *paragraph(self.tried))
        shown = folded(WITHOUT_EFFECT, advice) if self.is_idle else advice
        yield Fold(spans(self.title), (*paragraph(self.reason), *shown), is_open=True)

    def missing_device(self, kind: str) -> str:
        """Return the reason why the change can't be tried without a device of this kind, as Markdown."""
        return device_words(code(self.change), kind)

    def job(self, job: CompileJob) -> CompileJob:
        """Return a job with the proposed change."""
        return self.finding.proposal.applied(job) if self.finding.proposal is not None else job


class OverviewView:
    """Overview of a run with a report, and the output of its code."""

    def __init__(self, report: Report, output: str = "", source: str = "", proofs: tuple[Proof, ...] = ()) -> None:
        """Store the report, the run's output, the text of the model's file, and results of trials."""
        self.report, self.output, self.source, self.proofs = report, output, source, proofs

    @property
    def no_findings(self) -> str:
        """A sentence for a run without findings, which names what its log does not record."""
        if records_dynamo(self.report):
            return "No issues found."
        return "No issues found in this dump, which has no graph breaks, guards or recompiles."

    @cached_property
    def findings(self) -> tuple[FindingView, ...]:
        """The findings, the most important ones first."""
        shown = {proof.key: proof for proof in self.proofs}
        return tuple(
            FindingView(finding, shown.get(finding.proposal.key) if finding.proposal else None)
            for finding in map(self._cured, findings(self.report, self.output, self.source))
        )

    def _cured(self, finding: Finding) -> Finding:
        """Return a finding of an error or wrong results with the cure that a trial proved, if there is one."""
        if finding.rule not in CURED:
            return finding
        job, proven = self.report.setting.job or {}, {proof.key for proof in self.proofs if proof.is_proven}
        known = cures((job.get("compile") or {}).get("options") or {}, str(job.get("device", "cpu")))
        cure = next((each for each in known if each.key in proven), None)
        return replace(finding, advice=CURE.format(change=cure.words), proposal=cure) if cure is not None else finding

    @property
    def guilty_line(self) -> str:
        """Id of the line of the user's file that raised the run's error; empty if none is known."""
        error = self.report.error
        line = line_in(error.frames, source_path(self.report)) if error is not None else None
        return f"l:{line}" if line is not None else ""

    @cached_property
    def failures(self) -> list[FailureView]:
        """The failed compilations and the frames that run eagerly."""
        return [FailureView(failure, self.report.compilation(failure.compilation)) for failure in failures(self.report)]

    @property
    def first_failures(self) -> list[FailureView]:
        """The failures that are shown without unfolding, one for each reason."""
        return [replace(group[0], others=len(group) - 1) for group in self._groups[:MOST_FAILURES]]

    @cached_property
    def _groups(self) -> list[list[FailureView]]:
        """Failures grouped by kind and reason; reasons that differ in a temporary name are the same."""
        groups: dict[tuple[str, str], list[FailureView]] = {}
        for view in self.failures:
            groups.setdefault((view.failure.kind, TEMPORARY.sub("", view.failure.reason)), []).append(view)
        return list(groups.values())

    def has_card(self, failure: FailureView) -> bool:
        """Return True if this failure is the first of its kind, so that a finding shows its reason."""
        first = next(each for each in self.failures if each.failure.kind == failure.failure.kind)
        return first.failure.compilation == failure.failure.compilation

    @property
    def failures_left_out(self) -> str:
        """The number of failures beyond `first_failures`; empty if there are none."""
        more = sum(map(len, self._groups[MOST_FAILURES:]))
        return f"{fmt.number(more)} more on *Compilations*." if more > 0 else ""

    @property
    def is_doubtful(self) -> bool:
        """True if the times are unreliable, so that they should be measured again."""
        return bool(doubts(self.report))

    @property
    def nothing_compiled(self) -> str:
        """A sentence for a run or a log without compilations; empty if there is a compilation."""
        if self.report.compilations:
            return ""
        if self.report.setting.job is not None:
            return "torch.compile compiled nothing: no frame was captured."
        return "The log contains no compilation."

    @cached_property
    def heaviest(self) -> list[Entry]:
        """The heaviest compilations."""
        entries = [entry for _, entry in flattened(compilation_tree(self.report))]
        lowered = _lowered_ops(self.report)
        weight = {entry.id: (lowered.get(entry.id) or 0, entry.ops, entry.seconds or 0.0) for entry in entries}
        return sorted(entries, key=lambda entry: weight[entry.id], reverse=True)[:HEAVIEST]

    @property
    def heavy(self) -> Table[Entry]:
        """The heaviest compilations; the ops are those that Inductor lowers, as in the title and the chip."""
        lowered = _lowered_ops(self.report)
        columns: tuple[Column[Entry], ...] = (
            Column("id", lambda entry: f"[{entry.id}]"),
            Column("function", lambda entry: one_line(entry.name, LONGEST_NAME)),
            Column("post-grad ops", lambda entry: lowered.get(entry.id), fmt.number),
            Column("kernels", lambda entry: entry.kernels, fmt.number),
            Column("compile time", lambda entry: entry.seconds, fmt.duration_s),
            Column("status", lambda entry: entry.status),
        )
        return Table("compilations", columns, self.heaviest)

    @property
    def all_compilations(self) -> str:
        """The label of the link to all compilations."""
        total = sum(1 for _ in flattened(compilation_tree(self.report)))
        return f"All {fmt.number(total)} compilations" if total > HEAVIEST else "More details"

    @property
    def missing_code(self) -> str:
        """A sentence in place of the model's code, as Markdown."""
        path = source_path(self.report)
        where = f" Its frames name {code(path)}." if path else ""
        return f"The log does not contain the code.{where} Compileboard runs record it."

    @cached_property
    def output_lines(self) -> list[str]:
        """Each line of the output once, with its count."""
        return [
            one_line(f"{line.place}: {line.text}" if line.place else line.text, LONGEST_TEXT)
            + (f"  ({fmt.count(line.count, 'time')})" if line.count > 1 else "")
            for line in printed_lines(self.output)
        ]

    @property
    def output_title(self) -> str:
        """The number of lines of the output."""
        return f"The output: {fmt.count(len(self.output_lines), 'different line')}"

    @property
    def output_left_out(self) -> str:
        """The number of lines that are not shown; empty if all lines are shown."""
        more = len(self.output_lines) - SHOWN_LINES
        return f"{fmt.number(more)} more lines in the run's `output.txt`." if more > 0 else ""

    @property
    def log_title(self) -> str:
        """The size of the log, and the number of its records and problems."""
        problems = sum(problem.count for problem in self.report.problems)
        size, records = fmt.bytes_(self.report.log_bytes), fmt.count(sum(self.report.kinds.values()), "record")
        return f"The log: {size}, {records}" + (f", {fmt.count(problems, 'problem')}" if problems else "")

    @property
    def log_problems(self) -> list[str]:
        """The kinds of records that cannot be read, as Markdown."""
        return [
            f"{plain(problem.what)}: {fmt.count(problem.count, 'time')}, first at byte "
            f"{fmt.number(problem.first_offset)}"
            for problem in self.report.problems
        ]

    @property
    def log_kinds(self) -> list[tuple[str, int]]:
        """Each kind of record with its count, the most frequent ones first."""
        return sorted(self.report.kinds.items(), key=lambda kind: -kind[1])

    @property
    def log_columns(self) -> tuple[Column[tuple[str, int]], ...]:
        """Columns of kinds of records."""
        unparsed = self.report.unparsed
        return (
            Column("kind", lambda kind: one_line(kind[0], LONGEST_LINE)),
            Column("records", lambda kind: kind[1], fmt.number),
            Column("shown", lambda kind: _shown(kind[1], unparsed.get(kind[0], 0))),
        )


@stored
def _lowered_ops(report: Report) -> dict[str, int | None]:
    return {compilation.id: lowered_ops(compilation) for compilation in report.compilations}


def _shown(records: int, unparsed: int) -> str:
    if not unparsed:
        return "yes"
    return "" if unparsed >= records else f"{fmt.number(records - unparsed)} of them"
