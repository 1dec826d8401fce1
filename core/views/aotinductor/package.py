"""An AOTInductor package: its export, accepted sizes, files with their texts, and runs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from core.analysis import (
    TreeRow,
    difference_words,
    first_line,
    narrower_ranges,
    package_tree,
    ran_outside,
    results_of_run,
)
from core.base import words as fmt
from core.job import BATCH
from core.report import (
    Difference,
    Export,
    ExportedDim,
    Package,
    PackagedFile,
    PackageRun,
    PackageText,
    Payload,
    RangeTrial,
    RunError,
)
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line, plain, prose, sentence

MOST_FILES = 400  #: limit: files of a package
MOST_METADATA = 60  #: lines of a package's metadata
MOST_RESULTS = 200  #: outputs of a package
INDENT = "\u2003"
# File types, most interesting first: the C++ wrapper, then the kernels.
FIRST_KINDS = ("wrapper", "kernels", "metadata")
# Torch's name for compiled code: a digest in base 32.
DIGEST = re.compile(r"\bc[a-z2-7]{50,}\.?")
SHORT_DIGEST = 8
MOST_VALUES = 400  #: inputs and outputs of an exported program
MOST_LINES = 80  #: checks of an exported program
MOST_SHOWN = 60  #: dynamic dimensions, their ranges, and calls at their ends
FEW_SIZES = 6
NO_BREAK = "\u00a0"
FILE_NAME = "model.pt2"
FAILED_STAGES = {"build": "was not built", "load": "could not load it", "call": "could not call it"}


class PackageCode(NamedTuple):
    """A recorded text of a package: its name in the log, title, language, and payload."""

    name: str
    title: str
    language: str
    payload: Payload


@dataclass(frozen=True, slots=True)
class PackageFileView:
    """A file of a package; `code` is its recorded text, None without one."""

    file: PackagedFile
    code: PackageCode | None

    @property
    def title(self) -> str:
        """Name without its folders."""
        return plain(_file_title(self.file), LONGEST_NAME)

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
        return plain(self.package.file or FILE_NAME, LONGEST_NAME)

    @property
    def problem(self) -> str:
        """Message of torch or the compiler; empty if the package was made and stored."""
        return self.package.problem

    @property
    def files(self) -> tuple[PackagedFile, ...]:
        """Shown files."""
        return self.package.files[:MOST_FILES]

    @property
    def tree(self) -> tuple[TreeRow, ...]:
        """Files below their folders."""
        return package_tree(self.files)

    @property
    def rows(self) -> list[dict[str, str]]:
        """The tree as a table; names are indented by their depth."""
        return [
            {"file": INDENT * row.depth + _short(row.name), "kind": row.kind, "size": fmt.bytes_(row.bytes)}
            for row in self.tree
        ]

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
    def metadata(self) -> list[dict[str, str]]:
        """AOTInductor's metadata of the package."""
        return [
            {"metadata": one_line(name, LONGEST_NAME), "value": one_line(value, LONGEST_LINE)}
            for name, value in list(self.package.metadata.items())[:MOST_METADATA]
        ]

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
    def problem(self) -> str:
        """Message of the failure."""
        return self.run.problem

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
    def rows(self) -> list[dict[str, str | None]]:
        """A row per output, compared with eager.

        Rows have a column `told` with the reason if any output differs or is not comparable.
        """
        shown = self.run.differences[:MOST_RESULTS]
        if all(difference.same for difference in self.run.differences):
            return [_output_row(difference) for difference in shown]
        return [_output_row(difference) | {"told": _reason(difference)} for difference in shown]

    @property
    def build(self) -> str:
        """Compiler of the C++ program, and its build time or "built before"; empty without a compiler."""
        run = self.run
        took = "built before" if run.build_s is None else f"built in {fmt.duration_s(run.build_s)}"
        return plain(f"{run.compiler}; {took}", LONGEST_LINE) if run.compiler else ""

    @property
    def command(self) -> str:
        """Command that built the program."""
        return self.run.command

    @property
    def output(self) -> str:
        """Printed output of the program."""
        return self.run.output


def _output_row(difference: Difference) -> dict[str, str | None]:
    return {
        "output": one_line(difference.what, LONGEST_NAME),
        "against eager": {True: "same", False: "differs", None: "not comparable"}[difference.same],
        "largest difference": fmt.number(difference.max_abs),
        "error": None if difference.error is None else fmt.number(difference.error),
    }


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

    guards_title: ClassVar[str] = "Checked before it runs, in torch's words"

    export: Export
    graph: PackageCode | None

    @property
    def call(self) -> str:
        """The call of `torch.export.export`."""
        return self.export.call

    @property
    def problem(self) -> str:
        """Torch's message if the export failed; otherwise empty."""
        return self.export.problem

    @property
    def error(self) -> RunError | None:
        """Torch's message at the user's lines; None if the log names no line."""
        if not self.export.frames:
            return None
        kind, _, message = self.problem.partition(":")
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
    def signature(self) -> list[dict[str, str]]:
        """Inputs and outputs as the program's signature names them."""
        return [
            {
                "name": one_line(value.name, LONGEST_NAME),
                "kind": one_line(value.kind.replace("_", " "), LONGEST_NAME),
                "value": one_line(value.value, LONGEST_NAME),
                "in the model": one_line(value.target, LONGEST_NAME),
            }
            for value in self.export.values[:MOST_VALUES]
        ]

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
    def rows(self) -> list[dict[str, str]]:
        """Calls with other sizes as table rows, with cells in Markdown."""
        return [_trial_row(trial) for trial in self.trials[:MOST_SHOWN]]

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


def _trial_row(trial: RangeTrial) -> dict[str, str]:
    """Return the table row of a trial.

    `skipped` is the reason why the package was not called. If `inputs` is empty, too, the exported program was
    not called either, for the same reason.
    """
    called = bool(trial.inputs) or not trial.skipped
    skipped = plain(trial.skipped, LONGEST_LINE)
    return {
        "size": f"{plain(trial.dim, LONGEST_NAME)} = {fmt.number(trial.size)}".replace(" ", NO_BREAK),
        "range": "within" if trial.inside else "outside",
        "exported program": _outcome(trial.program, trial.program_same) if called else skipped,
        "package": skipped or _outcome(trial.package, trial.package_same),
        "package that checks": "" if trial.checked is None else _outcome(trial.checked, None),
    }


def _outcome(error: str, same: bool | None) -> str:
    """Return torch's error message, otherwise the comparison with eager."""
    if error:
        return code(first_line(error), LONGEST_LINE)
    return {True: "equals eager", False: "differs from eager", None: "runs"}[same]


def _unchecked_words(trials: tuple[RangeTrial, ...]) -> str:
    """Return a warning that the package does not check its input range; empty if no trial showed this."""
    outside = ran_outside(trials)
    if not outside:
        return ""
    sizes = ", ".join(fmt.number(trial.size) for trial in outside[:FEW_SIZES])
    return f"Without checks, the package ran outside of its range ({sizes}) without an error."
