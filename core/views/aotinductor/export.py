"""An export of a model: the program's signature and guards, its sizes, and calls with other sizes."""

from __future__ import annotations

from dataclasses import dataclass

from core.analysis import first_line, narrower_ranges, ran_outside
from core.base import words as fmt
from core.job import BATCH
from core.report import Export, ExportedDim, RangeTrial, RunError
from core.views.aotinductor.package import PackageCode, not_shown
from core.views.markdown import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line, plain, prose

MOST_VALUES = 400
MOST_LINES = 80
MOST_SHOWN = 60
FEW_SIZES = 6
NO_BREAK = "\u00a0"


@dataclass(frozen=True, slots=True)
class ExportView:
    """The result of `torch.export.export`: the program with its inputs, sizes and guards, or torch's message."""

    export: Export
    graph: PackageCode | None

    @property
    def call(self) -> str:
        """The call of `torch.export.export`."""
        return self.export.call

    @property
    def problem(self) -> str:
        """Torch's message if there is no program."""
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
        """Checks before the program runs, in torch's words."""
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
        """Requested dynamic dimensions, or that every size is fixed."""
        dims = [_dim_words(dim) for dim in self.export.dims[:MOST_SHOWN]]
        return dims or ["Every size is fixed to that of the example inputs: a call with another one is refused."]

    @property
    def ranges(self) -> str:
        """`range_constraints` as torch prints them."""
        return "\n".join(line[:LONGEST_LINE] for line in self.export.ranges[:MOST_SHOWN])

    @property
    def rows(self) -> list[dict[str, str]]:
        """Calls with other sizes, as a table of Markdown."""
        return [_trial_row(trial) for trial in self.trials[:MOST_SHOWN]]

    @property
    def advice(self) -> list[str]:
        """Narrower ranges, for sizes that the package's own check refuses."""
        return [prose(advice, LONGEST_TEXT) for advice in list(narrower_ranges(self.trials))[:FEW_SIZES]]

    @property
    def checks(self) -> str:
        """Sizes outside of the range that the package ran without checks, and how a package checks."""
        checked = any(trial.checked is not None for trial in self.trials)
        how = "A package checks its inputs if it is loaded with `AOTI_RUNTIME_CHECK_INPUTS=1` in the environment."
        return " ".join(filter(None, (_unchecked_words(self.trials), how if checked else "")))


def _dim_words(dim: ExportedDim) -> str:
    names = (at if at == BATCH else f"inputs.{at}" for at in dim.at[:MOST_SHOWN])
    where = ", ".join(code(name, LONGEST_NAME) for name in names)
    return f"{code(dim.text, LONGEST_LINE)} at {where}, {fmt.number(dim.size)} in the example"


def _trial_row(trial: RangeTrial) -> dict[str, str]:
    """Return one row of the trials; if the program was called, `skipped` is about the package only."""
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
