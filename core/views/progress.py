"""State of a run: its wait, its current work, and its results at the end.

It covers queued runs, followed logs, outlines of large logs, and runs in the archive. The results are a line
for each page, the failures, and the calls of a script.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from core.analysis.durations import compile_seconds, compile_time_s, phase_totals
from core.analysis.dynamo.failures import Failure, failure_sentence, failures, frame_names
from core.analysis.dynamo.recompiles import recompiled
from core.analysis.kernels.kernel import kernel_names
from core.analysis.numerics import numerics, numerics_sentence
from core.analysis.verdict import graph_count, verdict
from core.base import words as fmt
from core.base.errors import CompileboardError
from core.base.files import regular
from core.report import Call, Compilation, EntryPoint, Report, Script, stored
from core.runs.index.database import RunIndex
from core.runs.people import ReachedLimit
from core.runs.progress import Progress, RankCounts, progress, rank_counts
from core.runs.remote import bring_back, is_away, remote_archive
from core.runs.retention import trim
from core.runs.runner import Wait
from core.runs.store import Run
from core.runs.stored import open_outline, open_summary
from core.views.blocks import Code, Column, Heading, Listing, PageBlock, Table, Text, paragraph, spans
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line, plain, prose
from core.views.numerics import NOT_COMPARED
from core.views.speedup import EXECUTIONS, seen_words, speed_title
from core.views.verdict import (
    break_count_words,
    recompile_words,
    saved_words,
    strides_words,
    summary_breaks,
    uncompiled_words,
    work_words,
)

# After so long without a byte, torch does something that it does not log.
QUIET_S = 5.0
WAITING = "No record was written yet."
MOST_ROWS = 200  #: limit: compilations in the outline of a large log
# Seconds after which a fetch that failed is tried again.
AGAIN_S = 30.0


def followed_words(run: Run, report: Report | None, now_s: float) -> str:
    """Return the counts recorded so far, and torch's current work or the time since the last record.

    With several ranks, the counts and the last record are those of all ranks.
    """
    so_far = progress(report)
    if len(run.ranks()) > 1:
        return _all_ranks_words(rank_counts(run), so_far, now_s)
    if not so_far.log_bytes:
        return f"{WAITING} Start the script with TORCH_TRACE set to the followed directory."
    log = run.log_path()
    status = regular(log) if log is not None else None
    counts = _counts(so_far.compilations, so_far.graphs, so_far.log_bytes)
    return _so_far_words(counts, _now_words(status.st_mtime, so_far, now_s) if status is not None else "")


def _all_ranks_words(ranks: RankCounts, so_far: Progress, now_s: float) -> str:
    counts = [fmt.count(ranks.ranks, "rank"), *_counts(ranks.compilations, ranks.graphs, ranks.log_bytes)]
    return _so_far_words(counts, _now_words(ranks.written_s, so_far, now_s))


def _counts(compilations: int | None, graphs: int | None, log_bytes: int) -> list[str]:
    counted = [] if compilations is None or graphs is None else [(compilations, "compilation"), (graphs, "graph")]
    return [*(fmt.count(number, noun) for number, noun in counted), fmt.bytes_(log_bytes)]


def _so_far_words(counts: Sequence[str], now: str) -> str:
    return " ".join(filter(None, (f"So far: {', '.join(counts)}.", now)))


def _now_words(written_s: float, so_far: Progress, now_s: float) -> str:
    if now_s - written_s > QUIET_S:
        return f"Last written {fmt.duration_s(float(round(now_s - written_s)))} ago."
    return f"Now {so_far.words}." if so_far.words else ""


@dataclass(frozen=True, slots=True)
class OutlineView:
    """Outline of a log from its index and small records.

    `title` has the counts and the compile time in one sentence. `failure` has the compilations that failed, empty
    if none failed. `rows` are the slowest compilations, and `note` has the number of the others.
    """

    title: str
    failure: str
    rows: tuple[dict[str, str | int | float | None], ...]
    note: str

    @staticmethod
    def of(report: Report) -> OutlineView:
        """Return the outline as shown on the page; `report` is made by `core.trace.parsers.build`."""
        return OutlineView(_title(report), plain(failure_sentence(failures(report))), _rows(report), _note(report))


def _title(report: Report) -> str:
    parts = (
        f"{fmt.count(graph_count(report), 'graph')} in {fmt.count(len(report.compilations), 'compilation')}",
        break_count_words(len(report.graph_breaks), report.break_record),
        recompile_words(len(recompiled(report)), report),
        f"{fmt.duration_s(compile_time_s(report))} of compile time",
    )
    return ", ".join(parts) + "."


def _rows(report: Report) -> tuple[dict[str, str | int | float | None], ...]:
    names, seconds = frame_names(report), compile_seconds(report)
    slowest = sorted(report.compilations, key=lambda compilation: -seconds.get(compilation.id, 0.0))
    return tuple(
        {
            "compilation": f"[{compilation.id}]",
            "function": one_line(names.get(compilation.id, ""), LONGEST_LINE),
            "status": compilation.status,
            "seconds": seconds.get(compilation.id),
            "ops": compilation.graph_op_count,
        }
        for compilation in slowest[:MOST_ROWS]
    )


def _note(report: Report) -> str:
    left_out = max(0, len(report.compilations) - MOST_ROWS)
    more = f"{fmt.count(left_out, 'faster compilation')} not listed. " if left_out else ""
    return f"{more}Graphs, guards and kernels follow once the whole log is read; this page updates itself."


def outline_view(run: Run) -> OutlineView | None:
    """Return the outline of a large log that is being read; None until an outline is stored."""
    return open_outline(run, OutlineView)


class Fetch:
    """A thread that fetches the files of a run; `problem` is the reason for a failure, otherwise empty."""

    def __init__(self, index: RunIndex, run: Run) -> None:
        self.problem = ""
        self.done_bytes = self.total_bytes = 0
        self._index, self._run = index, run
        self._ended_s: float | None = None
        threading.Thread(target=self._fetch, daemon=True).start()

    @property
    def is_over(self) -> bool:
        """True once a fetch has ended; a failed fetch counts as ended only after `AGAIN_S` seconds."""
        return self._ended_s is not None and (not self.problem or time.monotonic() - self._ended_s > AGAIN_S)

    @property
    def part(self) -> float:
        """Fetched share of the bytes, from 0 to 1."""
        return self.done_bytes / self.total_bytes if self.total_bytes else 0.0

    @property
    def words(self) -> str:
        """The progress as text."""
        if not self.total_bytes:
            return "Fetching the files of this run from the archive…"
        done, total = fmt.bytes_(self.done_bytes), fmt.bytes_(self.total_bytes)
        return f"Fetching the files of this run from the archive: {done} of {total}"

    @property
    def stored_words(self) -> str:
        """Figures of the run from its stored summary; empty without one."""
        summary = open_summary(self._run, stored_alone=True)
        if summary is None:
            return ""
        parts = (
            seen_words(summary.speed) if summary.speed else "",
            fmt.count(summary.graphs, "graph"),
            summary_breaks(summary),
            fmt.count(summary.recompiles, "recompile") if summary.recompiles is not None else "",
            fmt.count(summary.kernels, "kernel") if summary.kernels is not None else "",
            f"torch {summary.torch}" if summary.torch else "",
            summary.device,
        )
        return " · ".join(filter(None, parts))

    @staticmethod
    def is_needed(run: Run) -> bool:
        """Return True if files of a run are only in the archive."""
        return is_away(run)

    def _fetch(self) -> None:
        try:
            bring_back(self._run, self._progress)
            self._index.update([self._run.path.name])
            if (archive := remote_archive(self._index.store)) is not None:
                trim(self._index, archive)
        except CompileboardError as error:
            self.problem = str(error)
        self._ended_s = time.monotonic()

    def _progress(self, done_bytes: int, total_bytes: int) -> None:
        self.done_bytes, self.total_bytes = done_bytes, total_bytes


def waiting_words(wait: Wait, engine: str = "") -> str:
    """Return what a queued run waits for, as plain text; `engine` is the engine's address."""
    if wait.node_for:
        reason = one_line(wait.reason, LONGEST_LINE) or "none answers now"
        of = f" of {one_line(engine, LONGEST_NAME)}" if engine else ""
        return f"Waiting for a node{of} with {one_line(wait.node_for, LONGEST_NAME)}: {reason}…"
    if wait.earlier:
        return f"Waiting for {fmt.count(wait.earlier, 'earlier run')}…"
    if wait.is_blocked:
        return "Waiting for another server that measures on this device…"
    if wait.is_elsewhere:
        return "Waiting in the queue of another server…"
    if wait.starts.startswith("torch"):
        return f"Starting {one_line(wait.starts, LONGEST_LINE)}, once…"
    return f"Waiting for {one_line(wait.starts, LONGEST_LINE)}…" if wait.starts else "Starting…"


def silent_words(name: str) -> str:
    """Return a note on a node that stopped answering."""
    counts = "a run that it has started counts as running until its time limit"
    return f"{one_line(name, LONGEST_NAME)} does not answer: {counts}"


def answers_words(name: str) -> str:
    """Return a note on a node that answers after a silence."""
    return f"{one_line(name, LONGEST_NAME)} answers again"


def live_words(words: str) -> str:
    """Return the current work of a live run as a title with a capital letter, or that the worker starts."""
    return f"{words[:1].upper()}{words[1:]}…" if words else "Starting the worker…"


def measuring_words(words: str) -> str:
    """Return a note on the current measurement of a run that already has its verdict."""
    return f"{live_words(words)} The numbers appear when it is done."


def count_words(so_far: Progress, elapsed_s: float, last_s: float | None = None) -> str:
    """Return the elapsed time and the counts of a live run, with torch's current phase, as Markdown.

    `last_s` are the seconds of the last finished run of the model, None without one.
    """
    last = "" if last_s is None else f", last time {fmt.duration_s(last_s)}"
    parts = [
        f"{fmt.duration_s(round(elapsed_s, 1))}{last}",
        fmt.count(so_far.compilations, "compilation"),
        fmt.count(so_far.graphs, "graph"),
        fmt.count(so_far.kernels, "kernel"),
        *(code(phase.name, LONGEST_NAME) for phase in so_far.now[-1:]),
    ]
    return " · ".join(parts)


def starting_words(nodes: Sequence[str]) -> str:
    """Return why the first run waits while torch has not started; `nodes` are the engine's nodes."""
    if nodes:
        return "torch is starting in the background."
    return "No node is ready yet: none has connected, or torch is starting there."


def reached_words(reached: ReachedLimit) -> str:
    """Return the reached limit with its used and maximum amount, and when there is room again."""
    used, most = reached.used, reached.most
    match reached.name:
        case "runs an hour":
            words = f"{fmt.number(int(used))} of {fmt.count(int(most), 'run')} an hour for one person"
        case "seconds an hour":
            words = f"executed {fmt.duration_s(used)} of {fmt.duration_s(most)} an hour for one person"
        case "runs at once":
            words = f"{fmt.number(int(used))} of {fmt.count(int(most), 'run')} at once for one person"
        case "queue":
            words = f"{fmt.number(int(used))} of {fmt.count(int(most), 'run')} in the queue of this server"
    return f"{words}; the next {at_words(reached)}" if reached.until_s is not None else words


def at_words(reached: ReachedLimit) -> str:
    """Return the time at which there is room again, by the server's clock; empty if it is unknown."""
    return "" if reached.until_s is None else time.strftime("at %H:%M", time.localtime(reached.until_s + 59))


NOT_SEEN = "not seen"
NOTHING = (
    "The script compiled nothing. To compile a callable of the file, name it and its inputs: `FILE.py:NAME`, with "
    "`inputs = (…)` in the file."
)


class Evidence(NamedTuple):
    """A result of a run in one line of Markdown, and the name of the page that shows it."""

    page: str
    text: str


@stored
def evidence(report: Report) -> tuple[Evidence, ...]:
    """Return a line for each page that has a result of this run."""
    return (*_dynamo(report), *_graphs(report), *_performance(report))


def _dynamo(report: Report) -> Iterator[Evidence]:
    if report.graph_breaks:
        yield Evidence("graph_breaks", break_count_words(len(report.graph_breaks), report.break_record))
    if count := len(recompiled(report)):
        yield Evidence("recompiles", fmt.count(count, "recompile"))
    if calls := verdict(report).uncompiled_calls:
        yield Evidence("recompiles", uncompiled_words(calls))
    guards = sum(len(compilation.guards) for compilation in report.compilations)
    if guards:
        where = " in all compilations together" if len(report.compilations) > 1 else ""
        yield Evidence("guards", f"{fmt.count(guards, 'guard')}{where}, checked before compiled code is reused")


def _graphs(report: Report) -> Iterator[Evidence]:
    summary = verdict(report)
    work = summary.work
    stages = {graph.stage for compilation in report.compilations for graph in compilation.graphs}
    if stages:
        yield Evidence("fx_graph", f"{fmt.count(len(stages), 'graph stage')}, from Dynamo to Inductor")
    if summary.captures:
        yield Evidence("compilations", f"{fmt.count(summary.captures, 'capture')} by compiled autograd")
    if work.traffic is not None or work.uneven:
        unchanged = "memory traffic not comparable" if work.uneven else "memory traffic unchanged"
        yield Evidence("fusion", f"Fusion: {saved_words(work.traffic) or unchanged}")
    kernels = [(kernel, compilation) for compilation in report.compilations for kernel in compilation.kernels]
    if kernels:
        largest, compilation = max(kernels, key=lambda pair: (not pair[0].extern, len(pair[0].origins)))
        most = f"the largest fusion is {plain(kernel_names(compilation)[largest.id], LONGEST_NAME)}"
        yield Evidence("kernels", f"{work_words(work)}; {most}")


def _performance(report: Report) -> Iterator[Evidence]:
    summary = verdict(report)
    totals = phase_totals(report)
    if totals:
        slowest = f"{plain(totals[0].name, LONGEST_NAME)} took {fmt.duration_s(totals[0].self_s)} of self time"
        cost = f"{fmt.duration_s(compile_time_s(report))} of compile time"
        yield Evidence("compile_time", f"{cost}; {slowest}")
    if summary.speed is not None:
        yield Evidence("speedup", speed_title(summary.speed, summary.break_even).removesuffix("."))
    if strides := strides_words(summary):
        yield Evidence("speedup", strides)
    errors = numerics(report)
    if errors is not None:
        yield Evidence("numerics", plain(numerics_sentence(errors).removesuffix("."), LONGEST_TEXT))


@dataclass(frozen=True)
class FailureView:
    """A failed compilation, or a frame that runs eagerly; `compilation` is None if the report lacks it.

    `others` counts the further failures with the same reason.
    """

    failure: Failure
    compilation: Compilation | None
    others: int = 0

    @property
    def failed(self) -> bool:
        """True if the compilation failed; False if the frame runs eagerly."""
        return self.failure.kind == "failed"

    @property
    def text(self) -> str:
        """The compilation, torch's reason and the consequence, as Markdown."""
        place = f" at {code(self.failure.place.short)}" if self.failure.place.file else ""
        name = f"\\[{plain(self.failure.compilation)}\\] {code(self.failure.frame)}{place}"
        others = f" {fmt.count(self.others, 'more', 'more')} for the same reason." if self.others else ""
        return f"{name}: **{prose(self.failure.reason, LONGEST_TEXT)}**; {self.failure.consequence}.{others}"

    @property
    def blocks(self) -> Iterator[PageBlock]:
        """Yield the failure, and torch's error."""
        yield Text(spans(self.text), "bad" if self.failed else "warn")
        if self.failed:
            yield Listing("torch's error, in full", Code(self.message, "text"))

    @property
    def traceback_title(self) -> str:
        """The title of torch's own message, as Markdown."""
        return f"torch's error for \\[{plain(self.failure.compilation)}\\], in full"

    @property
    def message(self) -> str:
        """torch's error message without its traceback, or a note that it was not recorded."""
        return (self.compilation.error if self.compilation is not None else "") or "It was not recorded."


@dataclass(frozen=True, slots=True)
class ScriptView:
    """The run of a script; `script` has the exit code and the entry points, `calls` the recorded calls.

    `unseen` is True if torch compiled outside the recorded calls: a library called the code in a way of its own.
    """

    script: Script
    calls: tuple[Call, ...]
    unseen: bool = False

    @classmethod
    def of(cls, report: Report) -> ScriptView | None:
        """Return the view of a report; None if the report has no script, or if the script has not ended."""
        if report.script is None:
            return None
        return cls(report.script, report.calls, any(item.call is None for item in report.compilations))

    @property
    def title(self) -> str:
        """The exit code, the number of entry points and calls, and the time."""
        script = self.script
        made = f"{fmt.count(len(script.entries), 'compiled callable')}, {self._calls_words(sum(script.calls))}"
        return f"Exit code {script.exit_code} after {fmt.duration_s(script.seconds)}: {made}."

    @property
    def note(self) -> str:
        """Reason why nothing is compared, or advice for a script that compiled nothing."""
        return NOT_COMPARED if self.script.entries or self.unseen else NOTHING

    @property
    def left_out(self) -> str:
        """Number of calls without a record; empty if all calls have a record."""
        more = sum(self.script.calls) - len(self.calls)
        if more <= 0:
            return ""
        return f"{fmt.count(more, 'call')} more, without a row: nested in another call, or after the first 2,000."

    @property
    def blocks(self) -> Iterator[PageBlock]:
        """Yield the result of the script, its entry points and its recorded calls."""
        yield Heading("Script")
        yield Text(spans(f"{self.title} {self.note}"))
        calls: Column[tuple[EntryPoint, int]] = (
            Column("calls", lambda counted: self._calls_words(counted[1]))
            if self.unseen
            else Column("calls", lambda counted: counted[1], fmt.number)
        )
        callable_: Column[Call] = Column("callable", lambda call: one_line(self._name(call.entry), LONGEST_NAME))
        if self.counted:
            yield Table("script-entries", (*ENTRY_COLUMNS, calls), self.counted)
        if self.calls:
            yield Table("script-calls", (CALL_COLUMNS[0], callable_, *CALL_COLUMNS[1:]), self.calls)
        yield from paragraph(self.left_out, "quiet")

    def _calls_words(self, calls: int) -> str:
        return f"calls {NOT_SEEN}" if self.unseen and not calls else fmt.count(calls, "call")

    @property
    def counted(self) -> list[tuple[EntryPoint, int]]:
        """Entry points with their numbers of calls, as far as a damaged log has both."""
        return list(zip(self.script.entries, self.script.calls, strict=False))

    def _name(self, number: int | None) -> str:
        entries = self.script.entries
        return entries[number].name if number is not None and 0 <= number < len(entries) else ""


def _place_words(entry: EntryPoint) -> str:
    return f"{entry.place.short} (by {entry.library.short})" if entry.library else entry.place.short


ENTRY_COLUMNS: tuple[Column[tuple[EntryPoint, int]], ...] = (
    Column("callable", lambda counted: one_line(counted[0].name, LONGEST_NAME)),
    Column("torch.compile at", lambda counted: one_line(_place_words(counted[0]), LONGEST_NAME)),
    Column("backend", lambda counted: one_line(counted[0].backend, LONGEST_NAME)),
    Column("options", lambda counted: one_line(counted[0].options, LONGEST_LINE)),
)
CALL_COLUMNS: tuple[Column[Call], ...] = (
    Column("call", lambda call: call.index, fmt.number),
    Column("inputs", lambda call: one_line(call.inputs, LONGEST_LINE)),
    Column("time", lambda call: fmt.duration_s(call.compiled_s)),
    Column("execution", lambda call: EXECUTIONS[call.how]),
    Column("compilations", lambda call: call.compilations, fmt.number),
    Column("stance", lambda call: one_line(call.stance, LONGEST_NAME) or "default"),
    Column("raised", lambda call: one_line(call.raised, LONGEST_LINE)),
)
