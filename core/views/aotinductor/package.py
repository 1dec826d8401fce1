"""An AOTInductor package: its export, accepted sizes, files with their texts, and runs."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from core.analysis.aoti import (
    CHECKED,
    CHECKED_FROM,
    KINDS,
    SIDES,
    PackagingStep,
    TreeRow,
    first_line,
    first_text_line,
    package_tree,
    ran_outside,
)
from core.analysis.results import difference_words
from core.base import words as fmt
from core.job import BATCH
from core.report import (
    Difference,
    Export,
    ExportedDim,
    ExportedValue,
    Package,
    PackagedFile,
    PackageRun,
    PackageText,
    Payload,
    RangeTrial,
    RunError,
)
from core.views.blocks import (
    Beside,
    Code,
    Column,
    Drawn,
    Heading,
    InLine,
    Listing,
    PageBlock,
    Table,
    paragraph,
)
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line, plain, prose, sentence

# Parts that the page draws: code, torch's message beside the user's line, a download, and the tree of files.
CODE, NOT_EXPORTED, DOWNLOAD, FILES, FILE_TEXT = "code", "not-exported", "package", "package-files", "file-text"
Read = Callable[[Payload], str]
MOST_FILES = 400  #: limit: files of a package
MOST_METADATA = 60  #: lines of a package's metadata
MOST_RESULTS = 200  #: outputs of a package
INDENT = "↳ "
# File types, most interesting first: the C++ wrapper, then the kernels.
FIRST_KINDS = ("wrapper", "kernels", "metadata")
# Torch's name for compiled code: a digest in base 32.
DIGEST = re.compile(r"\bc[a-z2-7]{50,}\.?")
SHORT_DIGEST = 8
MOST_VALUES = 400  #: inputs and outputs of an exported program
MOST_LINES = 80  #: checks of an exported program
MOST_PROBLEM_LINES = 12  #: lines of a message about a package on the command line
MOST_SHOWN = 60  #: dynamic dimensions, their ranges, and calls at their ends
FEW_SIZES = 6
TRIALS = (
    "Calls with other sizes: each end of the range, and the sizes next to it, were tried with the program and with the "
    "package."
)
FILE_NAME = "model.pt2"
FAILED_STAGES = {"build": "was not built", "load": "could not load it", "call": "could not call it"}


class PackageCode(NamedTuple):
    """A recorded text of a package: its name in the log, title, language, and payload."""

    name: str
    title: str
    language: str
    payload: Payload

    def block(self, part: str, read: Read) -> Drawn:
        """Return the text as a block; `part` is the part of the page that it belongs to."""
        return Drawn(CODE, (Listing(self.title, Code(read(self.payload), self.language)),), (part, self))


@dataclass(frozen=True, slots=True)
class PackageFileView:
    """A file of a package; `code` is its recorded text, None without one."""

    file: PackagedFile
    code: PackageCode | None

    @property
    def title(self) -> str:
        """Name without its folders."""
        return one_line(_file_title(self.file), LONGEST_NAME)

    @property
    def no_text(self) -> str:
        """Size of a file whose text was not recorded."""
        return f"{fmt.bytes_(self.file.bytes)}, without a recorded text."


def _file_title(file: PackagedFile) -> str:
    return _short(file.name.rsplit("/", 1)[-1])


def _short(name: str) -> str:
    """Return a name in one line, with torch's digests cut to 8 characters."""
    return DIGEST.sub(lambda match: f"{match.group()[:SHORT_DIGEST]}…", one_line(name, LONGEST_LINE))


@dataclass(frozen=True, slots=True)
class PackageView:
    """The contents of a package: files as a tree, their recorded texts, and AOTInductor's metadata."""

    package: Package
    texts: tuple[PackageText, ...]

    @property
    def title(self) -> str:
        """Name of the package's file."""
        return one_line(self.package.file or FILE_NAME, LONGEST_NAME)

    @property
    def files(self) -> tuple[PackagedFile, ...]:
        """Shown files."""
        return self.package.files[:MOST_FILES]

    @property
    def tree(self) -> tuple[TreeRow, ...]:
        """Files below their folders."""
        return package_tree(self.files)

    def blocks(self, read: Read) -> Iterator[PageBlock]:
        """Yield the files of the package, next to the text of the chosen file."""
        if self.package.problem:
            yield Listing("Message", Code(self.package.problem, "text"), is_open=True)
        if not self.files:
            return
        first = self.file(None)
        text = (first.code.block("package", read),) if first.code else ()
        metadata = [*self.package.metadata.items()][:MOST_METADATA]
        files = (
            InLine((Heading(self.title), Drawn(DOWNLOAD))),
            Drawn(FILES, (self.tree_table,), (self.tree_table,)),
            *paragraph(self.more_files, "quiet"),
            *((Table("metadata", METADATA_COLUMNS, metadata),) if metadata else ()),
            *paragraph(self.constants, "quiet"),
        )
        yield Beside(files, (Drawn(FILE_TEXT, text, (self,)),), shares=(2, 3))

    @property
    def tree_table(self) -> Table[TreeRow]:
        """The tree as a table; names are indented by their depth."""
        return Table(FILES, FILE_COLUMNS, self.tree)

    @property
    def more_files(self) -> str:
        """Number of files that the tree leaves out; empty for none."""
        return not_shown(self.package.left_out + len(self.package.files) - len(self.files), "more file")

    def file(self, name: str | None) -> PackageFileView:
        """Return a file by name; by default the first with a recorded text, the wrapper before others."""
        file = next((file for file in self.files if file.name == name), None) or self._first
        return PackageFileView(file, self._code(file))

    @property
    def _first(self) -> PackagedFile:
        readable = [file for file in self.files if self._code(file) is not None]
        by_kind = (file for kind in FIRST_KINDS for file in readable if file.kind == kind)
        return next(by_kind, None) or next(iter(readable), self.files[0])

    def _code(self, file: PackagedFile) -> PackageCode | None:
        texts = (text for text in self.texts if text.part == "file" and text.name == file.name)
        return next((PackageCode(text.name, _file_title(file), text.language, text.text) for text in texts), None)

    @property
    def constants(self) -> str:
        """Number of parameters and buffers, and the package's digest."""
        package = self.package
        digest = f" SHA-256 {code(package.sha256, LONGEST_NAME)}" if package.sha256 else ""
        return f"{fmt.count(package.constants, 'parameter or buffer', 'parameters and buffers')} in it.{digest}"


@dataclass(frozen=True, slots=True)
class PackageRunView:
    """A package run by `user`: its outputs compared with eager, or the message of the failure."""

    user: str
    run: PackageRun

    @property
    def failure(self) -> str:
        """Stage that failed, as a sentence; empty if the package ran."""
        stage = FAILED_STAGES.get(self.run.stage, "did not run it")
        return plain(f"{self.user} {stage}.") if self.run.problem else ""

    @property
    def results(self) -> str:
        """Outputs compared with eager, in a sentence."""
        return plain(sentence(results_of_run(self.run)), LONGEST_TEXT)

    @property
    def duration(self) -> str:
        """Seconds of loading and of the first call."""
        loaded, first = fmt.duration_s(self.run.load_s), fmt.duration_s(self.run.call_s)
        threads = f", on {fmt.count(self.run.threads, 'thread')}" if self.run.threads else ""
        return f"Loaded in {loaded}; the first call took {first}{threads}."

    @property
    def blocks(self) -> Iterator[PageBlock]:
        """The outputs compared with eager, or the error message."""
        if self.failure:
            yield from paragraph(self.failure, "bad")
            yield Listing("Message", Code(self.run.problem, "text"), is_open=True)
            return
        yield from paragraph(self.results)
        yield from paragraph(self.duration, "quiet")
        if self.run.differences:
            yield self.outputs

    @property
    def outputs(self) -> Table[Difference]:
        """A row per output, compared with eager; the reason if any output differs or is not comparable."""
        return Table("outputs", OUTPUT_COLUMNS, self.run.differences[:MOST_RESULTS])

    @property
    def build_blocks(self) -> Iterator[PageBlock]:
        """The build command of the program in C++, and what the program printed."""
        yield from paragraph(self.build, "quiet")
        for title, text in (("Build command", self.run.command), ("What the program printed", self.run.output)):
            if text:
                yield Listing(title, Code(text, "text"), is_open=True)

    @property
    def build(self) -> str:
        """Compiler of the C++ program, and its build time or "built before"; empty without a compiler."""
        run = self.run
        took = "built before" if run.build_s is None else f"built in {fmt.duration_s(run.build_s)}"
        return plain(f"{run.compiler}; {took}", LONGEST_LINE) if run.compiler else ""


def _reason(difference: Difference) -> str:
    return "" if difference.same else one_line(difference_words(difference), LONGEST_LINE)


def not_shown(count: int, noun: str) -> str:
    """Return the number of things that a list leaves out, in a sentence; empty for none."""
    return f"{fmt.count(count, noun)} not shown." if count else ""


@dataclass(frozen=True, slots=True)
class ExportView:
    """The result of `torch.export.export`: inputs, guards and graph, or torch's message.

    `graph` is the text of the exported program, None if it was not recorded.
    """

    export: Export
    graph: PackageCode | None

    def blocks(self, read: Read) -> Iterator[PageBlock]:
        """Yield the call, then the graph beside the signature and the guards, or torch's message."""
        yield Listing("Call", Code(self.export.call), is_open=True)
        if self.export.problem:
            message = Listing("torch's message", Code(self.export.problem, "text"), is_open=True)
            yield Drawn(NOT_EXPORTED, (message,), (self,))
            return
        guards = Listing("Checked before it runs, in torch's words", Code(self.guards, "text"), is_open=True)
        yield Beside(
            (Heading("The graph, in aten ops"), *((self.graph.block("export", read),) if self.graph else ())),
            (
                Heading("What goes in and out"),
                self.signature,
                *paragraph(self.more_values, "quiet"),
                *((guards,) if self.guards else ()),
            ),
            shares=(3, 2),
        )

    @property
    def error(self) -> RunError | None:
        """Torch's message at the user's lines; None if the log names no line."""
        if not self.export.frames:
            return None
        kind, _, message = self.export.problem.partition(":")
        return RunError("export", kind[:LONGEST_NAME], "", message.strip(), self.export.frames, "")

    @property
    def line(self) -> int | None:
        """Line of the user's code that torch's message names; None without one."""
        return self.error.frames[-1].line if self.error else None

    @property
    def guards(self) -> str:
        """Input checks of the exported program, as torch prints them."""
        return "\n".join(line[:LONGEST_LINE] for line in self.export.guards[:MOST_LINES])

    @property
    def signature(self) -> Table[ExportedValue]:
        """Inputs and outputs as the program's signature names them."""
        return Table("signature", SIGNATURE_COLUMNS, self.export.values[:MOST_VALUES])

    @property
    def more_values(self) -> str:
        """Number of inputs and outputs that the signature leaves out; empty for none."""
        return not_shown(self.export.left_out + max(0, len(self.export.values) - MOST_VALUES), "more value")


@dataclass(frozen=True, slots=True)
class SizesView:
    """The sizes that a package takes: dynamic dimensions, torch's own ranges, and calls at their ends."""

    export: Export
    trials: tuple[RangeTrial, ...]

    @property
    def dims(self) -> list[str]:
        """Requested dynamic dimensions in words, or a note that every size is fixed."""
        dims = [_dim_words(dim) for dim in self.export.dims[:MOST_SHOWN]]
        return dims or ["Every size is fixed to that of the example inputs: a call with another one is refused."]

    @property
    def ranges(self) -> str:
        """`range_constraints` as torch prints them."""
        return "\n".join(line[:LONGEST_LINE] for line in self.export.ranges[:MOST_SHOWN])

    @property
    def blocks(self) -> Iterator[PageBlock]:
        """Requested dynamic dimensions, torch's ranges, and the calls near their ends."""
        for dim in self.dims:
            yield from paragraph(dim, "quiet")
        if self.ranges:
            yield Listing("range_constraints, as torch prints them", Code(self.ranges, "text"), is_open=True)
        if not self.trials:
            return
        yield from paragraph(TRIALS, "quiet")
        yield self.calls
        for advice in self.advice:
            yield from paragraph(advice)
        yield from paragraph(self.checks, "quiet")

    @property
    def calls(self) -> Table[RangeTrial]:
        """Calls with other sizes."""
        return Table("sizes", TRIAL_COLUMNS, self.trials[:MOST_SHOWN])

    @property
    def advice(self) -> list[str]:
        """Narrower ranges, for sizes that the package's own check refuses."""
        return [prose(advice, LONGEST_TEXT) for advice in list(narrower_ranges(self.trials))[:FEW_SIZES]]

    @property
    def checks(self) -> str:
        """Warning about out-of-range sizes that ran unchecked, and how to turn on the input checks.

        Empty if no call was tried with input checks.
        """
        checked = any(trial.checked is not None for trial in self.trials)
        how = "A package checks its inputs if it is loaded with `AOTI_RUNTIME_CHECK_INPUTS=1` in the environment."
        return " ".join(filter(None, (_unchecked_words(self.trials), how if checked else "")))


def _dim_words(dim: ExportedDim) -> str:
    names = (at if at == BATCH else f"inputs.{at}" for at in dim.at[:MOST_SHOWN])
    where = ", ".join(code(name, LONGEST_NAME) for name in names)
    return f"{code(dim.text, LONGEST_LINE)} at {where}, {fmt.number(dim.size)} in the example"


def _of_program(trial: RangeTrial) -> str:
    """Return the outcome of the exported program; without inputs, the reason why it was not called."""
    called = bool(trial.inputs) or not trial.skipped
    return _outcome(trial.program, trial.program_same) if called else one_line(trial.skipped, LONGEST_LINE)


def _outcome(error: str, same: bool | None) -> str:
    """Return torch's error message, otherwise the comparison with eager."""
    if error:
        return one_line(first_line(error), LONGEST_LINE)
    return {True: "equals eager", False: "differs from eager", None: "runs"}[same]


def _unchecked_words(trials: tuple[RangeTrial, ...]) -> str:
    """Return a warning that the package does not check its input range; empty if no trial showed this."""
    outside = ran_outside(trials)
    if not outside:
        return ""
    sizes = ", ".join(fmt.number(trial.size) for trial in outside[:FEW_SIZES])
    return f"Without checks, the package ran outside of its range ({sizes}) without an error."


FILE_COLUMNS: tuple[Column[TreeRow], ...] = (
    Column("file", lambda row: INDENT * row.depth + _short(row.name)),
    Column("kind", lambda row: row.kind),
    Column("size", lambda row: row.bytes, fmt.bytes_),
)
METADATA_COLUMNS: tuple[Column[tuple[str, str]], ...] = (
    Column("metadata", lambda pair: one_line(pair[0], LONGEST_NAME)),
    Column("value", lambda pair: one_line(pair[1], LONGEST_LINE)),
)
OUTPUT_COLUMNS: tuple[Column[Difference], ...] = (
    Column("output", lambda difference: one_line(difference.what, LONGEST_NAME)),
    Column("against eager", lambda each: {True: "same", False: "differs", None: "not comparable"}[each.same]),
    Column("largest difference", lambda difference: difference.max_abs, fmt.number),
    Column("error", lambda difference: difference.error, fmt.number),
    Column("told", _reason, optional=True),
)
SIGNATURE_COLUMNS: tuple[Column[ExportedValue], ...] = (
    Column("name", lambda value: one_line(value.name, LONGEST_NAME)),
    Column("kind", lambda value: one_line(value.kind.replace("_", " "), LONGEST_NAME)),
    Column("value", lambda value: one_line(value.value, LONGEST_NAME)),
    Column("in the model", lambda value: one_line(value.target, LONGEST_NAME)),
)
TRIAL_COLUMNS: tuple[Column[RangeTrial], ...] = (
    Column("size", lambda trial: f"{one_line(trial.dim, LONGEST_NAME)} = {fmt.number(trial.size)}"),
    Column("range", lambda trial: "within" if trial.inside else "outside"),
    Column("exported program", _of_program),
    Column("package", lambda trial: one_line(trial.skipped) or _outcome(trial.package, trial.package_same)),
    Column("package that checks", lambda trial: "" if trial.checked is None else _outcome(trial.checked, None)),
)


def export_lines(export: Export) -> Iterator[str]:
    yield export.call
    if export.problem:
        yield from (f"  {line}" for line in export.problem.splitlines()[:MOST_PROBLEM_LINES])
        yield from (f"  at {frame.short} in {frame.name}: {frame.text}" for frame in export.frames)
        return
    yield f"  {fmt.count(export.nodes, 'op')} in {fmt.duration_s(export.seconds)}"
    for dim in export.dims:
        yield f"  {dim.text} at {', '.join(f'inputs.{at}' for at in dim.at)}, {fmt.number(dim.size)} in the example"
    yield from (f"  {line}" for line in (*export.ranges, *export.guards))


def trial_words(trial: RangeTrial) -> str:
    """Return the outcome of a call with another size, in words."""
    call = f"{trial.dim} = {fmt.number(trial.size)}, {'within' if trial.inside else 'outside of'} its range"
    if trial.skipped and not trial.inputs:
        return f"{call}: {trial.skipped}"
    outcomes = [f"the exported program {_trial_outcome(trial.program, trial.program_same)}"]
    outcomes += [trial.skipped or f"the package {_trial_outcome(trial.package, trial.package_same)}"]
    if trial.checked is not None:
        outcomes += [f"with {CHECKED} it {_trial_outcome(trial.checked, None) if trial.checked else 'runs, too'}"]
    return f"{call}: {'; '.join(outcomes)}"


def narrower_ranges(trials: Sequence[RangeTrial]) -> Iterator[str]:
    """Yield advice on a range for each size that the export allows and the package's own check rejects."""
    for trial in trials:
        least = CHECKED_FROM.search(trial.checked or "") if trial.inside else None
        if least is None or int(least[1]) <= trial.size:
            continue
        most = max(candidate.size for candidate in trials if candidate.dim == trial.dim and candidate.inside)
        narrower = f"`{trial.dim}={least[1]}..{most}`" if most > int(least[1]) else f"a range from {least[1]} on"
        yield (
            f"The package's own check begins at {trial.dim} = {least[1]}, above the range's {fmt.number(trial.size)}: "
            f"give {narrower}, or leave {CHECKED} off"
        )


def _trial_outcome(error: str, same: bool | None) -> str:
    if error:
        return f"says {first_text_line(error)}"
    return {True: "equals eager", False: "differs from eager", None: "was not compared"}[same]


def package_lines(package: Package) -> Iterator[str]:
    name = package.file or "package"
    if package.files:
        yield f"{name}: {fmt.bytes_(package.bytes)}, compiled in {fmt.duration_s(package.seconds)}"
    for file in package.files:
        yield f"  {fmt.bytes_(file.bytes):>10}  {KINDS[file.kind]:<15}  {file.name}"
    if package.left_out:
        yield f"  and {fmt.count(package.left_out, 'more file', 'more files')}"
    yield from (f"  {line}" for line in package.problem.splitlines()[:MOST_PROBLEM_LINES])


def run_lines(run: PackageRun) -> Iterator[str]:
    built = f", built in {fmt.duration_s(run.build_s)}" if run.build_s is not None else ""
    took = f"loaded in {fmt.duration_s(run.load_s)}, first call {fmt.duration_s(run.call_s)}{built}"
    yield f"{SIDES[run.user]}: {took if not run.problem else f'not run ({run.stage})'}"
    yield from (f"  {line}" for line in run.problem.splitlines()[:MOST_PROBLEM_LINES])
    if run.differences and not run.problem:
        yield f"  {results_of_run(run)}"


def step_words(step: PackagingStep) -> str:
    """Return the outcome of a step of packaging: first line of a failure, or counts and results."""
    record = step.record
    if record is None:
        return "not recorded" if step.id == "export" else "not reached"
    if isinstance(record, PackageRun):
        return first_line(record.problem) or results_of_run(record)
    if step.state == "failed":
        return first_line(record.problem)
    if isinstance(record, Package):
        return f"{fmt.bytes_(record.bytes)}, {fmt.count(len(record.files) + record.left_out, 'file')}"
    dims = f", {fmt.count(len(record.dims), 'dynamic dimension')}" if record.dims else ""
    return f"{fmt.count(record.nodes, 'op')}{dims}"


def results_of_run(run: PackageRun) -> str:
    """Return how a package's outputs compare with eager, and the C++ outputs with the Python outputs."""
    wrong = [difference for difference in run.differences if difference.same is not True]
    outputs = fmt.count(len(run.differences), "output")
    outcome = (
        "; ".join(map(difference_words, wrong))
        or f"{outputs} {fmt.agree(len(run.differences), 'equals', 'equal')} eager"
    )
    bits = {True: ", bit by bit what Python returned", False: ", not bit by bit what Python returned", None: ""}
    return outcome + bits[run.same_bits]
