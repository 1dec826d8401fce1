"""Views of a segment's program, of the program's file, and of changes between two runs.

`ProgramView` has the entries, the passes and the memory plan. `ProgramFileView` has the sections, and their
bytes with the meaning of each row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

from core.accelerator.program.dump import MOST_ROWS, ROW_BYTES, DumpRow, dump
from core.accelerator.program.file import HEAD, ProgramFile, open_program
from core.accelerator.program.program import PASSES
from core.analysis.pipeline import (
    PipelineChange,
    moved_ops,
    pipeline_changes,
    pipelines,
    refusal_counts,
)
from core.analysis.results import results
from core.base import words as fmt
from core.code.diff import TextDiff, diff_texts
from core.report import Crossing, FileSection, FxNode, Pipeline, PipelineSegment, ProgramBuffer, ProgramEntry, Report
from core.views.blocks import Block, Code, Column, Listing, Table, paragraph
from core.views.markdown import LONGEST_NAME, one_line, prose, quoted, sentence, short
from core.views.verdict import disturbed_words

ENDS = ("argument", "result")
AND_THEN = "Elementwise steps in the same loop, or behind a product while its block is in the cache"
MOST_ENTRIES = 2_000  #: instructions of a program in a table
MOST_BUFFERS = 2_000  #: buffers of a program in a table
MOST_DRAWN = 2_000  #: temporaries of a program in the drawing
NEAR = 2.5
DURING_CALLS = "during these calls"
KINDS = ("input", "constant", "temporary", "output")
PLACES = {"input": "input ", "output": "output ", "temporary": "arena + ", "constant": "constants + "}
# The effect of each pass, as in docs/program-format.md.
EFFECTS = {
    "fold-constants": "computes values that depend only on constants",
    "drop-no-ops": "removes views, which become strides, and copies that change no layout",
    "drop-dead-code": "removes entries that no result needs",
    "fuse-products": "fuses elementwise ops into the preceding matmul, while its block is in the cache",
    "fuse-elementwise": "fuses chains of elementwise instructions into one loop",
    "plan-memory": "places all temporaries in one arena, by their lifetimes",
}
CHECKSUMS = {
    True: ", which its bytes still have",
    False: ", which **its bytes do not have**: the file was damaged",
    None: ", which the runtime checks when it loads the file",
}


@dataclass(frozen=True, slots=True)
class ArenaRectangle:
    """A rectangle of the arena chart: a temporary from its first to its last instruction.

    `base` is the temporary's offset in bytes, `words` are the lines of its hover text.
    """

    buffer: ProgramBuffer
    base: int
    words: tuple[str, ...]


@dataclass(frozen=True)
class ProgramView:
    """The program of a segment."""

    no_passes: ClassVar[str] = "The log does not contain the program between the passes."
    passes_help: ClassVar[str] = "Each pass with the program entries after it, as `cb_run --print-graph` prints them"
    first_pass: ClassVar[str] = "Before the first pass there is nothing to compare with."
    no_change: ClassVar[str] = "This pass changed nothing here."

    segment: PipelineSegment

    @property
    def entries(self) -> tuple[ProgramEntry, ...]:
        """Inputs, instructions and results of the program."""
        return self.segment.entries

    @property
    def words(self) -> str:
        """Number of ops, inputs and instructions of the program."""
        segment = self.segment
        inputs = sum(entry.op == "argument" for entry in segment.entries)
        work = sum(entry.op not in ENDS for entry in segment.entries)
        sizes = ", for each set of sizes that it meets; this is the first" if segment.dynamic else ""
        return (
            f"{fmt.count(len(segment.nodes), 'op')} of the graph became {fmt.count(inputs, 'input')}, "
            f"{fmt.count(work, 'instruction')} and 1 result{sizes}. A click selects the node and its line."
        )

    def blocks(self, nodes: Mapping[str, FxNode]) -> Iterator[Block]:
        """Yield instructions, passes, memory plan and sections; `nodes` are the graph's nodes by name."""
        yield from paragraph(self.words, "quiet")
        yield self.instructions(nodes)
        yield from paragraph(self.left_out_entries, "quiet")
        for index in range(len(self.passes)):
            yield from paragraph(prose(self.pass_words(index)), "quiet")
        if self.passes:
            yield Listing(f"after {self.passes[-1][0]}", Code(self.pass_text(-1), "text"))
        yield from paragraph(self.memory, "quiet")
        yield self.buffers
        yield from paragraph(self.left_out_buffers, "quiet")
        yield self.sections

    def instructions(self, nodes: Mapping[str, FxNode]) -> Table[tuple[int, ProgramEntry]]:
        """Return one row per entry of the program; `nodes` are the graph's nodes by name."""

        def names(row: tuple[int, ProgramEntry]) -> str:
            return ", ".join(name for name in row[1].nodes if name in nodes)

        def lines(row: tuple[int, ProgramEntry]) -> str:
            code = dict.fromkeys(nodes[name].code for name in row[1].nodes if name in nodes and nodes[name].code)
            return " · ".join(code)

        columns: tuple[Column[tuple[int, ProgramEntry]], ...] = (
            *ENTRY_COLUMNS[:2],
            Column("nodes", names, help="Nodes of the graph that the instruction computes", width=110),
            *ENTRY_COLUMNS[2:],
            Column("your line", lines, width=220),
        )
        return Table("program", columns, [*enumerate(self.entries[:MOST_ENTRIES])])

    @property
    def left_out_entries(self) -> str:
        """Number of entries without a row; empty if there are none."""
        return _left_out(len(self.entries) - MOST_ENTRIES, "instruction")

    @property
    def passes(self) -> list[tuple[str, int]]:
        """Each pass with the number of program entries after it; empty if the log does not have them."""
        return [(step.name, step.entries) for step in self.segment.passes]

    @property
    def strongest_pass(self) -> int:
        """Index of the pass that removed the most entries."""
        removed = [before.entries - after.entries for before, after in pairwise(self.segment.passes)]
        return removed.index(max(removed)) + 1 if removed else 0

    def pass_text(self, index: int) -> str:
        """Return the program after a pass."""
        return self.segment.passes[index].text

    def pass_words(self, index: int) -> str:
        """Return the effect of a pass, and the number of entries before and after it."""
        steps = self.segment.passes
        step, ran = steps[index], {step.name for step in steps}
        off = [name for name in PASSES if name not in ran]
        left_out = f" Switched off: {', '.join(off)}." if off else ""
        if not index:
            return f"The program as it was lowered, {fmt.count(step.entries, 'entry', 'entries')}.{left_out}"
        effect = f" {EFFECTS[step.name]}" if step.name in EFFECTS else ""
        counts = f"{fmt.count(steps[index - 1].entries, 'entry', 'entries')} became {fmt.number(step.entries)}"
        return f"{quoted(step.name)}{effect}: {counts}.{left_out}"

    def pass_diff(self, index: int) -> tuple[str, TextDiff] | None:
        """Return the change of a pass with its title; None for the first pass."""
        if not index:
            return None
        before, after = self.segment.passes[index - 1 : index + 1]
        diff = diff_texts(before.text, after.text, short(before.name), short(after.name))
        return f"{fmt.count(diff.removed, 'line')} out, {fmt.number(diff.added)} in", diff

    @property
    def temporaries(self) -> list[ProgramBuffer]:
        """Buffers that live only within a call."""
        return [buffer for buffer in self.segment.buffers if buffer.kind == "temporary"]

    @property
    def memory(self) -> str:
        """Return the size of the temporaries and of their arena, in words."""
        segment = self.segment
        words = memory_words(segment)
        if not segment.temporary_bytes:
            return "This program needs no memory but its inputs, its constants and its outputs."
        if not segment.arena_bytes:
            return sentence(f"{words}: the pass that plans memory is switched off")
        part = fmt.percent(segment.arena_bytes / segment.temporary_bytes)
        saved = (
            f"{part} of that, because temporaries reuse freed memory"
            if segment.arena_bytes < segment.temporary_bytes
            else "no less: all are needed at once"
        )
        drawn = "A rectangle is a temporary from its first instruction to its last."
        return f"{sentence(f'{words}, {saved}')} {drawn}"

    @property
    def buffers(self) -> Table[ProgramBuffer]:
        """A row per buffer: inputs, constants, temporaries, outputs."""
        ordered = sorted(self.segment.buffers, key=lambda buffer: (_kind_index(buffer), buffer.first))
        return Table("buffers", BUFFER_COLUMNS, ordered[:MOST_BUFFERS])

    @property
    def left_out_buffers(self) -> str:
        """Number of buffers without a row; empty if there are none."""
        return _left_out(len(self.segment.buffers) - MOST_BUFFERS, "buffer")

    @property
    def arena(self) -> list[ArenaRectangle]:
        """The largest temporaries with their offsets: in the arena, or stacked if there is no memory plan."""
        largest = sorted(self.temporaries, key=lambda buffer: -buffer.bytes)[:MOST_DRAWN]
        placed, top = [], 0
        for buffer in sorted(largest, key=lambda buffer: buffer.first):
            base = top if buffer.place is None else buffer.place
            placed.append(ArenaRectangle(buffer, base, self._buffer_words(buffer, base)))
            top += buffer.bytes
        return placed

    def _buffer_words(self, buffer: ProgramBuffer, base: int) -> tuple[str, ...]:
        place = "memory of its own" if buffer.place is None else f"from byte {fmt.exact(base)} of the arena on"
        first, last = self.instruction_label(buffer.first), self.instruction_label(buffer.last)
        return f" {fmt.bytes_(buffer.bytes)}", place, f"from {first}", f"to {last}"

    @property
    def sections(self) -> Table[FileSection]:
        """A row per section of the file, from the log."""
        return Table("sections", SECTION_COLUMNS, self.segment.sections)

    @property
    def arena_marks(self) -> dict[str, int]:
        """Marks for the arena's size, and for the sum of the temporaries if it fits into the chart."""
        arena, alone = self.segment.arena_bytes, self.segment.temporary_bytes
        marks = {f"arena {fmt.bytes_(arena)}": arena} if arena else {}
        near = arena < alone <= NEAR * arena
        return {**marks, f"each by itself {fmt.bytes_(alone)}": alone} if near else marks

    @property
    def left_out_temporaries(self) -> str:
        """Return a text with the number of drawn temporaries; empty if all temporaries are drawn."""
        too_many = len(self.temporaries) > MOST_DRAWN
        return f"The {fmt.number(MOST_DRAWN)} largest are drawn." if too_many else ""

    def instruction_label(self, index: int) -> str:
        """Return the number of an instruction and its op."""
        entry = self.entries[index] if 0 <= index < len(self.entries) else None
        return short(f"{index} {entry.op}" if entry else fmt.exact(index))


ENTRY_COLUMNS: tuple[Column[tuple[int, ProgramEntry]], ...] = (
    Column("", lambda row: row[0], fmt.number, width=40),
    Column("op", lambda row: row[1].op, width=95),
    Column("makes", lambda row: ", ".join(row[1].outputs), width=165),
    Column("of", lambda row: ", ".join(row[1].inputs), width=165),
    Column("and then", lambda row: "; ".join(row[1].steps), help=AND_THEN, width=200),
)


def _kind_index(buffer: ProgramBuffer) -> int:
    return KINDS.index(buffer.kind) if buffer.kind in KINDS else len(KINDS)


def _place(buffer: ProgramBuffer) -> str:
    return "" if buffer.place is None else f"{PLACES.get(buffer.kind, '')}{fmt.exact(buffer.place)}"


BUFFER_COLUMNS: tuple[Column[ProgramBuffer], ...] = (
    Column("buffer", lambda buffer: one_line(buffer.name, LONGEST_NAME)),
    Column("kind", lambda buffer: one_line(buffer.kind, LONGEST_NAME)),
    Column("bytes", lambda buffer: buffer.bytes, fmt.bytes_),
    Column("place", _place),
    Column("from instruction", lambda buffer: buffer.first, fmt.number),
    Column("to instruction", lambda buffer: buffer.last, fmt.number),
)


def _left_out(count: int, noun: str) -> str:
    return f"{fmt.count(count, f'more {noun}')} not shown." if count > 0 else ""


@dataclass(frozen=True)
class ProgramFileView:
    """An open program file of a segment."""

    program_help: ClassVar[str] = "For `cb_run`, and for any program that links the runtime"
    c_help: ClassVar[str] = "The same program as one C file, which needs no runtime: `cb_run --emit-c NAME` writes it"

    segment: PipelineSegment
    file: ProgramFile

    @staticmethod
    def too_large(most_bytes: int) -> str:
        """Return the message for a file that is larger than a download may be."""
        return f"It is larger than {fmt.bytes_(most_bytes)}: `python -m core pipeline` writes it."

    @classmethod
    def open(cls, directory: Path, segment: PipelineSegment) -> ProgramFileView:
        """Open the file in a run's directory; raises CompileboardError."""
        return cls(segment, open_program(directory, segment.file))

    @property
    def words(self) -> str:
        """Size of the file and of its constants."""
        constants = self.segment.constant_bytes
        part = f", {fmt.bytes_(constants)} of it constants" if constants else ""
        return (
            f"{fmt.bytes_(self.size)}{part}: the program as it is after its passes, which `cb_run` loads and runs "
            "without torch and without Python."
        )

    @property
    def size(self) -> int:
        """Bytes of the file."""
        return self.file.size

    @property
    def data(self) -> bytes:
        return self.file.at(0, self.file.size)

    @property
    def as_c(self) -> bytes | None:
        """The same program as C; None if it was not written."""
        return self.file.as_c()

    @property
    def sections(self) -> dict[str, int]:
        """Bytes of each section, the header first."""
        return {part.name: part.bytes for part in self.file.parts}

    def section_words(self, name: str) -> str:
        """Return as Markdown a section's position, and whether its bytes match their checksum."""
        if name == HEAD:
            return "The header with the table of the sections. Numbers are little-endian."
        section = self.file.part(name)
        state = CHECKSUMS[self.file.is_as_written(name)]
        return f"From byte {fmt.exact(section.offset)} on, CRC32C `{crc_text(section.checksum)}`{state}."

    def stretches(self, name: str) -> tuple[int, str]:
        """Return the number of stretches (pages of the dump) of a section, and their description."""
        count = max(1, -(-self._rows(name) // MOST_ROWS))
        return count, f"Which of {fmt.count(count, 'stretch', 'stretches')} of {fmt.number(MOST_ROWS)} rows"

    def _rows(self, name: str) -> int:
        return -(-self.file.part(name).bytes // ROW_BYTES)

    def dump(self, name: str, stretch: int) -> tuple[str, list[tuple[int, int, str]]]:
        """Return a title and the rows of one stretch of a section; raises CompileboardError.

        A row is (row number, offset in the file, text of its bytes with their meaning).
        """
        first = stretch * MOST_ROWS
        rows = dump(self.file, name, first)
        title = (
            f"{name}, rows {fmt.number(first + 1)} to {fmt.number(first + len(rows))} of {fmt.number(self._rows(name))}"
        )
        return title, [(first + at, row.offset, _line(row)) for at, row in enumerate(rows, 1)]

    def empty_words(self, name: str) -> str:
        """Return why a section has no bytes; empty if it has some."""
        if self.file.part(name).bytes:
            return ""
        return "It is empty: the program has no constants." if name == "constants" else "It is empty."


def crc_text(value: int) -> str:
    """Return a checksum as eight hexadecimal digits."""
    return (value % 2**32).to_bytes(4, "big").hex()


def _line(row: DumpRow) -> str:
    """Return a line of the dump: `00000040  89 43 42 …  ·CB…  meaning`."""
    halves = (row.data[:8].hex(" "), row.data[8:].hex(" "))
    text = "".join(chr(byte) if 32 <= byte < 127 else "·" for byte in row.data)
    return f"{row.offset.to_bytes(4, 'big').hex()}  {halves[0]:<23}  {halves[1]:<23}  {text:<16}  {row.words}".rstrip()


SECTION_COLUMNS: tuple[Column[FileSection], ...] = (
    Column("section", lambda section: one_line(section.name, LONGEST_NAME)),
    Column("from byte", lambda section: section.offset, fmt.exact),
    Column("bytes", lambda section: section.bytes, fmt.bytes_),
    Column("CRC32C", lambda section: crc_text(section.checksum)),
)


@dataclass(frozen=True, slots=True)
class AcceleratorChanges:
    """Two runs on the accelerator, the earlier one first."""

    times_note: ClassVar[str] = "Times are of two processes, one after the other: no difference of them is claimed."

    before: Report
    after: Report

    @property
    def words(self) -> str:
        """Number of ops that moved between torch and the accelerator."""
        moved = moved_ops(self.before, self.after).values()
        left = sum(max(0, after - before) for before, after in moved)
        joined = sum(max(0, before - after) for before, after in moved)
        parts = [f"{fmt.count(left, 'op')} went back to torch"] if left else []
        parts += [f"{fmt.count(joined, 'op')} came to the accelerator"] if joined else []
        return f"{' and '.join(parts)}." if parts else "Each op runs where it ran before."

    @property
    def figures(self) -> Table[PipelineChange]:
        """A row per number of the two runs."""
        return Table("pipeline-changes", CHANGE_COLUMNS, pipeline_changes(self.before, self.after))

    @property
    def moved(self) -> Table[tuple[str, tuple[int, int]]]:
        """A row per op that torch runs more or less often than before."""
        return Table("pipeline-moved", MOVED_COLUMNS, [*moved_ops(self.before, self.after).items()])


CHANGE_COLUMNS: tuple[Column[PipelineChange], ...] = (
    Column("", lambda change: change.name),
    Column("before", lambda change: change.before),
    Column("now", lambda change: change.after),
    Column("difference", lambda change: change.difference),
)
MOVED_COLUMNS: tuple[Column[tuple[str, tuple[int, int]]], ...] = (
    Column("with torch", lambda row: one_line(row[0], LONGEST_NAME)),
    Column("before", lambda row: row[1][0], fmt.number),
    Column("now", lambda row: row[1][1], fmt.number),
)


def pipeline_sentence(report: Report, compilation: str = "") -> str:
    """Return a sentence: how much of the run, or of one compilation, the accelerator runs."""
    selected = [pipeline for id_, pipeline in pipelines(report) if compilation in ("", id_)]
    if not selected:
        return "The accelerator received no graph."
    segments = [segment for pipeline in selected for segment in pipeline.segments if not segment.problem]
    ops, calls = sum(len(segment.nodes) for segment in segments), sum(pipeline.calls for pipeline in selected)
    entries, size = sum(len(s.entries) for s in segments), sum(s.file_bytes for s in segments)
    compared = results(report)
    outcome = {
        None: "",
        "same": ", equal to eager",
        "other strides": ", equal to eager but for strides",
        "differs": ", and the results differ from eager's",
    }
    equality = outcome.get(compared.outcome if compared else None, ", which could not be compared with eager")
    placed = (
        f"{fmt.number(ops)} of {fmt.count(calls, 'op')} in {fmt.count(len(segments), 'segment')} on the accelerator"
    )
    return f"{placed}: {fmt.count(entries, 'program entry', 'program entries')}, {fmt.bytes_(size)}{equality}."


def pipeline_lines(report: Report, entries: bool = True) -> Iterator[str]:
    """Yield all pipeline records, one per line; `entries` adds the program entries."""
    crossings = {(crossed.compilation, crossed.direction, crossed.segment): crossed for crossed in report.crossings}
    if disturbed := disturbed_words((crossing.load for crossing in report.crossings), DURING_CALLS):
        yield f"{disturbed}: times are not reliable"
    for compilation, pipeline in pipelines(report):
        took = ", ".join(f"{stage} {fmt.duration_s(seconds)}" for stage, seconds in pipeline.times_s.items())
        yield f"[{compilation}] {pipeline.direction}: {fmt.count(pipeline.calls, 'op')}; {took}"
        yield from _refusal_lines(pipeline)
        for segment in pipeline.segments:
            yield from _segment_lines(segment)
            yield from _entry_lines(segment) if entries else ()
            if crossing := crossings.get((compilation, pipeline.direction, segment.name)):
                yield from _crossing_lines(crossing)


def _refusal_lines(pipeline: Pipeline) -> Iterator[str]:
    """Yield one line per reason for ops that stay with torch."""
    for reason, names in refusal_counts(pipeline).items():
        ops, first = len(names), ", ".join(names[:4]) + " …" * (len(names) > 4)
        yield f"  {fmt.count(ops, 'op')} {fmt.agree(ops, 'stays', 'stay')} with torch: {reason} ({first})"


def _segment_lines(segment: PipelineSegment) -> Iterator[str]:
    across = f"{fmt.bytes_(segment.input_bytes)} in, {fmt.bytes_(segment.output_bytes)} out"
    if segment.problem:
        yield f"  {segment.name}: {fmt.count(len(segment.nodes), 'op')}, {across}; runs in torch: {segment.problem}"
        return
    inputs = sum(entry.op == "argument" for entry in segment.entries)
    work = sum(entry.op not in ENDS for entry in segment.entries)
    entries = f"{fmt.count(inputs, 'input')}, {fmt.count(work, 'instruction')} and 1 result"
    yield f"  {segment.name}: {fmt.count(len(segment.nodes), 'op')}; {entries}; {across}"
    constants = f"{fmt.bytes_(segment.constant_bytes)} of constants"
    yield f"    file {segment.file}: {fmt.bytes_(segment.file_bytes)}, {constants}"
    yield f"    {memory_words(segment)}"
    stages = ", ".join(f"{stage} {fmt.duration_s(seconds)}" for stage, seconds in segment.times_s.items())
    yield f"    {stages}"
    changed = ", ".join(f"{step.name} {fmt.number(step.entries)}" for step in segment.passes)
    yield f"    program entries after each pass: {changed}"


def _entry_lines(segment: PipelineSegment) -> Iterator[str]:
    for index, entry in enumerate(segment.entries):
        steps = f" {{ {'; '.join(entry.steps)} }}" if entry.steps else ""
        targets = f"{', '.join(entry.outputs)} = " if entry.outputs else ""
        yield f"    {index:>3}  {targets}{entry.op}({', '.join(entry.inputs)}){steps}"


def memory_words(segment: PipelineSegment) -> str:
    """Return the memory of a program's temporaries, in words."""
    if not segment.temporary_bytes:
        return "no temporaries"
    alone = fmt.bytes_(segment.temporary_bytes)
    if not segment.arena_bytes:
        return f"temporaries of {alone}, each with memory of its own"
    return f"temporaries of {alone} in an arena of {fmt.bytes_(segment.arena_bytes)}"


def _crossing_lines(crossing: Crossing) -> Iterator[str]:
    if crossing.calls:
        inside_s, outside_s = (
            crossing.runtime_s / crossing.calls,
            (crossing.call_s - crossing.runtime_s) / crossing.calls,
        )
        copies = f", {fmt.count(crossing.copies, 'input')} copied" if crossing.copies else ", nothing copied"
        words = f"{fmt.duration_s(inside_s)} each in the runtime and {fmt.duration_s(outside_s)} beside it{copies}"
        yield f"    {fmt.count(crossing.calls, 'call')} across the ABI: {words}"
    yield from (f"    {line}" for line in fallback_lines(crossing))


def fallback_lines(crossing: Crossing) -> Iterator[str]:
    """Yield how often torch ran a segment instead, one line per reason."""
    for reason, times in crossing.fallbacks.items():
        yield f"torch ran it {fmt.count(times, 'time')}: {reason}"
