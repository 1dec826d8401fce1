"""Compilations and Bytecode pages: compilations as a tree, and a function before and after Dynamo."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from core.analysis.dynamo.compilations import (
    NAMED,
    Entry,
    Instruction,
    Share,
    alike,
    compilation_tree,
    flattened,
    instructions,
    resume_compilations,
    share,
)
from core.analysis.dynamo.failures import frame_names
from core.analysis.kernels.ledger import fusion_schedules
from core.base import words as fmt
from core.base.decoder import converted, decoded_object
from core.graph.fx import source_path
from core.report import Compilation, Payload, Report
from core.report.records.compilation import BytecodeRecord
from core.views.blocks import (
    NOTHING_PICKED,
    Beside,
    Code,
    Column,
    Data,
    Drawn,
    Heading,
    InLine,
    Listing,
    PageBlock,
    PageLink,
    Pane,
    Panes,
    Picks,
    Search,
    Table,
    Title,
    paragraph,
    spans,
)
from core.views.glossary import GLOSSARY
from core.views.markdown import INDENT, LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line, plain, prose
from core.views.verdict import break_count_words, recompile_words

# Names: the table, which the page draws with bars, and a text in functions or ids.
TREE, FUNCTION = "compilations-table", "function"
# Tones and marks of a status, as in the header.
TONES = {"failed": "bad", "over the limit": "warn", "given up": "warn", "not finished": "warn"}
MARKS = {"bad": "■ ", "warn": "◆ "}

RESUMES = "resume function after a graph break"
# The reason why there is no Python code, by the presence of a decompiler (None: not recorded).
WITHOUT_PYTHON = {
    True: "Not decompiled: the call ended before the run reached it.",
    False: "Not decompiled: `depyf` is not installed beside torch. Install it and run again.",
    None: "Not decompiled: this log does not contain Python code. A run here with `depyf` records it.",
}
MOST_RUNS = 60  #: entries of the order of execution
BRANCHES = {"frame": "", "resume": "↳ ", "recompile": "↻ "}
MEANINGS = {
    "ok": "compiled",
    "empty": "nothing to compile: Dynamo captured no op. The function runs as Python, and functions that it calls are "
    "compiled separately",
    "failed": "it failed with an error",
    "over the limit": "the frame is over the recompile limit: calls that fit no compiled code run eagerly",
    "given up": "Dynamo cannot trace it, and the frame runs eagerly",
    "not finished": "the log ends before it does",
}


@dataclass(frozen=True, slots=True)
class BytecodeListing:
    """A listing of instructions, a line each.

    `notes` and `source_lines` are by line of the listing, counted from 1. `calls_graph` are the lines that call a
    compiled graph rather than a resume function.
    """

    text: str
    notes: Mapping[int, str]
    calls_graph: frozenset[int]
    source_lines: Mapping[int, int]


# Names: the selected form of the code, and the parts that the page draws.
FORM, LISTINGS, PYTHON = "listing", "listings", "python"


def bytecode(
    report: Report, compilation: Compilation | None, read: Callable[[Payload], str], picks: Picks = NOTHING_PICKED
) -> Iterator[PageBlock]:
    """Yield a function's bytecode before and after Dynamo, and the same as decompiled Python."""
    view = BytecodeView(report, compilation, read) if compilation is not None else None
    if view is None or not view.is_recorded:
        yield Title(spans("No bytecode of this compilation"))
        yield from paragraph(view.why_none if view is not None else "Nothing was compiled.")
        return
    yield Title(spans(view.title), GLOSSARY["bytecode"])
    data = Data("bytecode", lambda: f"{view.original}\n{view.modified}")
    links = tuple(view.links)
    if links:
        yield InLine(links)
    if view.without_python:
        yield InLine((*paragraph(view.without_python, "quiet"), data))
        yield from view.listing_blocks()
        return
    forms = (Pane("bytecode", "bytecode", view.listing_blocks), Pane("decompiled", "decompiled", view.python_blocks))
    yield Panes(FORM, "Show as", forms, (data,))


@dataclass(frozen=True)
class BytecodeView:
    """The bytecode of a compilation; `read_text` returns a payload of the log."""

    report: Report
    compilation: Compilation
    read_text: Callable[[Payload], str]

    @property
    def is_recorded(self) -> bool:
        """True if the log has any bytecode of the compilation."""
        return self.compilation.bytecode is not None

    @property
    def why_none(self) -> str:
        """Reason why there is no bytecode."""
        if self.compilation.status in ("failed", "empty") and self.compilation.graph_op_count is None:
            return "Dynamo did not rewrite this function: it runs unchanged."
        return "The bytecode was not recorded. Compileboard runs record it; torch logs it only for resume functions."

    @property
    def title(self) -> str:
        """Numbers of instructions before and after Dynamo, of called graphs and resume functions."""
        name = plain(self._names[self.compilation.id], LONGEST_NAME)
        before, after = instructions(self.original), self._modified
        counts = f"{fmt.count(len(before), 'instruction')} became {fmt.number(len(after))}"
        graphs = len({row.graph for row in after if row.graph})
        resumes = len({row.resume for row in after if row.resume})
        calls = [f"{fmt.count(graphs, 'compiled graph')}"] if graphs else []
        calls += [f"{fmt.count(resumes, 'resume function')}"] if resumes else []
        called = f", with calls of {' and '.join(calls)}." if calls else "."
        return f"\\[{self.compilation.id}\\] {name}: {counts}{called}"

    @property
    def original(self) -> str:
        """Listing before Dynamo; empty if it was not recorded."""
        return self._texts["original"]

    @property
    def modified(self) -> str:
        """Listing after Dynamo; empty if it was not recorded."""
        return self._texts["modified"]

    @property
    def python(self) -> dict[str, str]:
        """Side (`original`, `modified`) → decompiled Python, if recorded."""
        record = self._record
        sides = {"original": record.original_python, "modified": record.modified_python} if record else {}
        return {side: text for side, text in sides.items() if text}

    @property
    def without_python(self) -> str:
        """Reason why there is no decompiled Python; empty if there is some."""
        record = self._record
        return "" if record and record.decompiler else WITHOUT_PYTHON[record.has_decompiler if record else None]

    def listing_blocks(self) -> Iterator[PageBlock]:
        """Yield both listings."""
        listings = {"Original": self.original_listing, "Modified by Dynamo": self.modified_listing}
        codes = {title: Code(each.text, "text", notes=tuple(each.notes.items())) for title, each in listings.items()}
        yield Drawn(LISTINGS, tuple(Listing(title, code) for title, code in codes.items()), (self,))

    def python_blocks(self) -> Iterator[PageBlock]:
        """Yield both sides as decompiled Python, the decompiler, and the parts that it could not read."""
        decompiler = plain(self._record.decompiler if self._record else "", LONGEST_NAME)
        note = f"Decompiled from the bytecode by {decompiler}: the same computation in generated Python."
        yield from paragraph(note, "quiet")
        reason = self._record.not_decompiled if self._record else ""
        yield from paragraph(f"It could not read all: {plain(reason, LONGEST_LINE)}" if reason else "", "warn")
        if self.python:
            listings = tuple(Listing(f"{side}, decompiled", Code(text)) for side, text in self.python.items())
            yield Drawn(PYTHON, listings, (self.python,))

    @property
    def in_user_file(self) -> bool:
        """True if the function is in the user's file."""
        return self.compilation.frame.file == source_path(self.report)

    @property
    def links(self) -> Iterator[PageLink]:
        """Links to the recorded graph, and to the resume functions that the modified code calls."""
        if self.compilation.graphs and any(row.graph for row in self._modified):
            yield PageLink("fx_graph", "The graph")
        called = [compilation for row in self._modified for compilation in self._resumes.get(row.resume, ())]
        for compile_id in dict.fromkeys(compilation.id for compilation in called):
            label = f"[{compile_id}] {one_line(self._names[compile_id], LONGEST_NAME)}"
            yield PageLink("bytecode", label, {"compilation": compile_id})

    @property
    def original_listing(self) -> BytecodeListing:
        """Listing before Dynamo."""
        return _listing(self.original, {}, None)

    @property
    def modified_listing(self) -> BytecodeListing:
        """Listing after Dynamo; instructions that it adds have no source line here."""
        notes = {name: self._resume_note(compilations) for name, compilations in self._resumes.items()}
        return _listing(self.modified, notes, self.compilation.frame.line)

    def _resume_note(self, compilations: tuple[Compilation, ...]) -> str:
        if not compilations:
            return f"{RESUMES}, never compiled"
        names = [f"[{compilation.id}] {self._names[compilation.id]}" for compilation in compilations]
        return f"resumes in {', '.join(names)}"

    @cached_property
    def _record(self) -> BytecodeRecord | None:
        """Bytecode record of a Compileboard run; None if there is none, as in an imported log."""
        bytecode = self.compilation.bytecode
        content = decoded_object(self.read_text(bytecode.record)) if bytecode is not None and bytecode.record else None
        return converted(content, BytecodeRecord) if content else None

    @cached_property
    def _texts(self) -> dict[str, str]:
        """Listings by side, from the run's own record if there is one, otherwise from torch's log."""
        if self._record is not None:
            return {"original": self._record.original, "modified": self._record.modified}
        bytecode = self.compilation.bytecode
        sides = {"original": bytecode.original, "modified": bytecode.modified} if bytecode is not None else {}
        texts = {side: self.read_text(payload) if payload else "" for side, payload in sides.items()}
        return {"original": "", "modified": "", **texts}

    @cached_property
    def _modified(self) -> tuple[Instruction, ...]:
        return instructions(self.modified)

    @cached_property
    def _names(self) -> Mapping[str, str]:
        return frame_names(self.report)

    @cached_property
    def _resumes(self) -> Mapping[str, tuple[Compilation, ...]]:
        return resume_compilations(self.report, self.compilation)


def _listing(text: str, resume_notes: Mapping[str, str], added_at: int | None) -> BytecodeListing:
    rows = instructions(text)
    notes = {number: resume_notes.get(row.resume, RESUMES) for number, row in enumerate(rows, 1) if row.resume}
    notes |= {number: "the compiled graph" for number, row in enumerate(rows, 1) if row.graph}
    before = (None, *(row.line for row in rows))
    lines = [_line(row, row.line != line) for row, line in zip(rows, before, strict=False)]
    return BytecodeListing(
        "\n".join(lines) or "It was not recorded.",
        notes,
        frozenset(number for number in notes if not rows[number - 1].resume),
        {number: row.line for number, row in enumerate(rows, 1) if row.line and row.line != added_at},
    )


def _line(row: Instruction, first: bool) -> str:
    """Return a line of the listing: new line number, offset up to Python 3.12, op and argument."""
    line = row.line if first and row.line else ""
    return f"{line:>4} {row.offset:>4} {row.op:<14} {row.about}".rstrip()


TreeRow = tuple[int, Entry]


def compilations(
    report: Report, compilation: Compilation | None = None, picks: Picks = NOTHING_PICKED
) -> Iterator[PageBlock]:
    """Yield the compilations of a run as a tree, and the facts of one."""
    view = CompilationsView(report)
    yield Title(spans(view.title), GLOSSARY["compilation"])
    if not report.compilations:
        yield from paragraph("torch.compile captured no frame, or the log holds none.")
        return
    yield InLine((*paragraph(view.totals, "quiet"), Data("compilations", view.entries)))
    yield from paragraph(view.execution_order, "quiet")
    rows = view.matches(picks.text(FUNCTION))
    table = Table(TREE, view.columns(rows), rows)
    search = [Search(FUNCTION, "a function or an id …")] if view.hides_similar else []
    details = tuple(view.details(compilation)) if compilation is not None else ()
    yield Beside((*search, Drawn(TREE, (table,), (table,))), details, shares=(4, 1))


@dataclass(frozen=True)
class CompilationsView:
    """The compilations of a run."""

    report: Report

    @cached_property
    def entries(self) -> tuple[Entry, ...]:
        """Tree of the compilations."""
        return tuple(compilation_tree(self.report))

    @property
    def title(self) -> str:
        """Number of compilations by function."""
        return prose(tree_sentence(self.entries), LONGEST_TEXT)

    @property
    def totals(self) -> str:
        """Sums over all compilations."""
        entries = [entry for _, entry in self._all]
        parts = [
            fmt.count(sum(entry.ops for entry in entries), "captured op"),
            fmt.count(sum(entry.kernels for entry in entries), "kernel"),
            break_count_words(len(self.report.graph_breaks), self.report.break_record),
            recompile_words(sum(entry.recompiles for entry in entries), self.report),
        ]
        seconds = [entry.seconds for entry in entries if entry.seconds is not None]
        took = f", {fmt.duration_s(sum(seconds))} of compile time" if seconds else ""
        return f"Total: {', '.join(parts)}{took}."

    @property
    def execution_order(self) -> str:
        """Order in which compiled code was executed: "[0/0] × 2, [1/0]"; empty if torch did not log it."""
        runs = self.report.graph_runs
        shown = [f"[{plain(run.compilation)}]{f' × {fmt.number(run.count)}' if run.count > 1 else ''}" for run in runs]
        more = [f"{fmt.number(len(runs) - MOST_RUNS)} more"] if len(runs) > MOST_RUNS else []
        return f"Executed in this order: {', '.join([*shown[:MOST_RUNS], *more])}." if runs else ""

    @property
    def hides_similar(self) -> bool:
        """True if the table shows only the first of several similar frames."""
        return len(self._times) < len(self.entries)

    def matches(self, text: str) -> list[TreeRow]:
        """Return the compilations that match a text, or one of each similar frame, with depths."""
        wanted = text.strip().lower()
        rows = [(depth, entry) for depth, entry in self._all if wanted in f"[{entry.id}] {entry.name}".lower()]
        first = [entry for entry in self.entries if entry.id in self._times]
        return (rows if wanted else []) or list(flattened(first))

    def columns(self, rows: Sequence[TreeRow]) -> tuple[Column[TreeRow], ...]:
        """Return the columns of the tree, whose help has the meaning of each status in these rows."""
        return (
            Column("function", self._function, help="↳ resume function after a graph break, ↻ recompile", width=212),
            Column("id", lambda row: f"[{row[1].id}]", help="As PyTorch numbers it: [frame/compilation]", width=48),
            Column("status", _status, help=meanings([entry.status for _, entry in rows]), width=100),
            *NUMBER_COLUMNS,
        )

    def heading(self, compilation: Compilation) -> str:
        """Return the id and the function of a compilation."""
        return f"[{compilation.id}] {one_line(self._entry(compilation).name, LONGEST_NAME)}"

    def details(self, compilation: Compilation) -> Iterator[PageBlock]:
        """Yield the facts of a compilation, and links to the pages that show more of it."""
        entry = self._entry(compilation)
        place = code(compilation.frame.short) or "Its place was not recorded"
        yield Heading(self.heading(compilation))
        yield from paragraph(f"{place}: {MEANINGS[entry.status]}.")
        yield from paragraph(plain(compilation.error, LONGEST_LINE), "bad" if entry.status == "failed" else "warn")
        yield from paragraph(_restarts(compilation), "quiet")
        pages = {
            "fx_graph": bool(compilation.graphs),
            "fusion": bool(fusion_schedules(compilation)),
            "kernels": bool(compilation.kernels),
            "guards": bool(compilation.guards),
            "bytecode": compilation.bytecode is not None,
            "graph_breaks": bool(entry.breaks),
            "recompiles": bool(entry.recompiles) or entry.kind == "recompile",
        }
        for page in (page for page, has_content in pages.items() if has_content):
            yield PageLink(page, picks={"compilation": compilation.id})
        lines = [one_line(f"{frame.file}:{frame.line} in {frame.name}", LONGEST_LINE) for frame in compilation.stack]
        yield Listing("User stack", Code("\n".join(lines), "text"))

    def _entry(self, compilation: Compilation) -> Entry:
        return next(entry for _, entry in self._all if entry.id == compilation.id)

    def _function(self, row: TreeRow) -> str:
        depth, entry = row
        times = self._times.get(entry.id, 1)
        more = f" × {fmt.number(times)}" if times > 1 else ""
        return f"{INDENT * depth}{BRANCHES[entry.kind]}{one_line(entry.brief, LONGEST_NAME)}{more}"

    @cached_property
    def _all(self) -> list[TreeRow]:
        return list(flattened(self.entries))

    @cached_property
    def _times(self) -> dict[str, int]:
        return dict(alike(self.entries))


def _restarts(compilation: Compilation) -> str:
    if compilation.attempts < 2:
        return ""
    reasons = "; ".join(plain(reason, LONGEST_LINE) for reason in dict.fromkeys(compilation.restart_reasons))
    return f"Traced {fmt.count(compilation.attempts, 'time')}: {reasons or 'torch gives no reason'}."


def meanings(statuses: Sequence[str]) -> str:
    """Return the meaning of each status that is shown."""
    return "; ".join(f"{status}: {meaning}" for status, meaning in MEANINGS.items() if status in statuses)


def _status(row: TreeRow) -> str:
    return MARKS.get(TONES.get(row[1].status, ""), "") + row[1].status


def _count(name: str, value: Callable[[Entry], int], text: str, width: int = 64) -> Column[TreeRow]:
    """Return a column of counts, empty for 0."""
    return Column(name, lambda row: value(row[1]) or None, fmt.number, text, width, optional=True)


COMPILE_TIME = "Compile time, including the backward"
KERNELS = "Distinct kernels of forward and backward, including library functions"
BREAKS = "Graph breaks that this compilation hit; each compilation that hits one counts it"
NUMBER_COLUMNS: tuple[Column[TreeRow], ...] = (
    _count("ops", lambda entry: entry.ops, "What Dynamo captured, by torch's own count"),
    Column("compile time", lambda row: row[1].seconds, fmt.duration_s, COMPILE_TIME, 96, optional=True),
    _count("kernels", lambda entry: entry.kernels, KERNELS),
    _count("breaks", lambda entry: entry.breaks, BREAKS),
    _count("recompiles", lambda entry: entry.recompiles, "How often the frame was compiled again", 80),
)


def tree_sentence(entries: Sequence[Entry]) -> str:
    """Return the compilations in words, with code in backticks: the model, recompiles and helpers."""
    first, later = ([entry for entry in entries if (":" in entry.id) is after] for after in (False, True))
    if first and later:
        more = sum(1 for _ in flattened(later))
        return f"{tree_sentence(first).removesuffix('.')}; {fmt.number(more)} more after `torch.compiler.reset`."
    groups = share(entries)
    total = sum(len(group) for _, group in groups.large) + groups.small
    if not total:
        return "Nothing was compiled."
    if total == 1:
        return f"1 compilation: `{entries[0].name}`{'' if entries[0].ops else ', without a graph'}."
    named = groups.large if len(groups.large) <= NAMED else ()
    parts = [part for name, group in named for part in _function_words(name, group)]
    if len(groups.large) > NAMED:
        parts.append(f"{fmt.number(total - groups.small)} in {fmt.count(len(groups.large), 'function')}")
    parts += _helper_words(groups)
    return f"{fmt.count(total, 'compilation')}: {fmt.word_list(parts)}."


def _function_words(name: str, group: Sequence[Entry]) -> list[str]:
    kinds = Counter(entry.kind for entry in group)
    if kinds["frame"] > 1:
        return [f"`{name}` in {fmt.number(len(group))} of them"]
    parts = [f"`{name}`"]
    if kinds["recompile"]:
        parts.append(f"{fmt.count(kinds['recompile'], 'recompile')} of it")
    if kinds["resume"]:
        parts.append(f"{fmt.count(kinds['resume'], 'resume function')} after its graph breaks")
    return parts


def _helper_words(groups: Share) -> list[str]:
    if not groups.small:
        return []
    if groups.empty == groups.small:
        return [f"{fmt.number(groups.small)} without a graph"]
    empty = f" ({fmt.number(groups.empty)} without a graph)" if groups.empty else ""
    return [f"{fmt.count(groups.small, 'small helper')}{empty}"]
