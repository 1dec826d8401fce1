"""Table of options: the row type `Option`, and the rows of the torch.compile call and its inputs.

A row has a command line flag, a form field, and a rule: the values for visitors who may not run custom code.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from operator import attrgetter
from typing import Any, Literal

from core.base.words import number
from core.job.arguments import DTYPES
from core.job.model import FILE_SETTINGS, MODES, CompileJob, Model, OptionValue
from core.job.targets import TARGETS
from core.job.text import (
    DYNAMIC,
    Reader,
    arguments_from_text,
    arguments_problem,
    dynamic,
    flag,
    flag_or_none,
    options_from_text,
    several,
    whole,
    whole_or_none,
    word,
    word_or_none,
)

# The message of a check; empty if the value is valid.
Check = Callable[[Any], str]
# Section, row and column of a form.
Place = tuple[Literal["call", "conditions"], int, int]
LAST: Place = ("conditions", 99, 0)
MOST_NAMES_CHARS = 4_000  #: names in one option, where code is not allowed


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag of the command line, named like its option by default.

    `kind`: a `value`; a `pair`, such as `--training` and `--no-training`; `on` or `off`, which set True or False;
    `several` values, by a repeated flag. `parse` converts argparse's value to the job's value.
    """

    group: str
    name: str = ""
    kind: Literal["value", "pair", "on", "off", "several"] = "value"
    metavar: str | None = None
    type: Callable[[str], Any] | None = None
    choices: Sequence[str] | None = None
    parse: Callable[[Any], Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FormField:
    """A field of the form, labelled like its option by default; `key` is the end of its widget's key.

    The base class is for fields that `core/views/job_form.py` creates itself.
    """

    key: str = ""
    label: str = ""
    help: str = ""
    at: Place = LAST


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberField(FormField):
    """A whole number within bounds; `example` is shown in the empty field."""

    least: int
    most: int
    example: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceField(FormField):
    """A choice of one of several values.

    `values` maps a word to a value; `shown` maps a word to a different display text.
    """

    values: Mapping[str, Any]
    shown: Mapping[str, str] = field(default_factory=dict)

    def word(self, value: object) -> str:
        words = (word for word, entry in self.values.items() if type(entry) is type(value) and entry == value)
        return next(words, str(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchField(FormField):
    """A switch with the values on and off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextField(FormField):
    """A line of text, or several lines; `parse` raises JobError."""

    write: Callable[[Any], str]
    parse: Callable[[str], Any]
    example: str = ""
    lines: bool = False


@dataclass(frozen=True, slots=True)
class WhatIf:
    """An entry of the "What if" menu: its label, and a mapping from words to values.

    Without values, the menu has the values of the option's `ChoiceField`, or True and False. `field` is the sweep
    axis that the entry changes, by default the option itself.
    """

    label: str
    values: Mapping[str, Any] = field(default_factory=dict)
    field: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a job: all its data except its effect in the worker.

    `path` is its field in `CompileJob`, and `help` its text for the command line and the docs. `read` converts
    text to a value. `axis` is True if a sweep may change the option. `check` returns an error message for an
    invalid value. `compared` is True if a comparison of two runs includes the option; `eager` is True if the
    option changes a run's eager side, too.

    `visitors` restricts the values for visitors who may not run code. False permits only the default, True any
    value, and a rule only the values that `holds` accepts. `core/runs/permission.py` restricts some options
    further.
    """

    path: str
    help: str
    read: Reader = str
    axis: bool = False
    check: Check | None = None
    flag: Flag | None = None
    form: FormField | None = None
    what_if: WhatIf | None = None
    visitors: bool | Whole | OneOf | Names = False
    compared: bool = True
    eager: bool = True

    @property
    def name(self) -> str:
        """Return the option's name on axes and in comparisons."""
        return self.path.rpartition(".")[2]

    @property
    def flag_name(self) -> str:
        """Return the option's flag on the command line, with hyphens."""
        named = self.flag.name if self.flag else ""
        return named or f"--{self.name.replace('_', '-')}"

    @property
    def of_file(self) -> bool:
        """Return True if a model's file may set the option."""
        return self.name in FILE_SETTINGS

    @property
    def default(self) -> Any:
        """Return the option's value in a default job."""
        return self.of(CompileJob(Model("sample", "")))

    def of(self, job: CompileJob) -> Any:
        """Return the option's value in a job."""
        return attrgetter(self.path)(job)

    def alternatives(self) -> Mapping[str, Any]:
        """Return label → value of the option's entries in the "What if" menu."""
        if self.what_if and self.what_if.values:
            return self.what_if.values
        return self.form.values if isinstance(self.form, ChoiceField) else {"True": True, "False": False}


def one_of(*values: str | None) -> Check:
    """Return a check that a value is one of several."""
    words = ", ".join(value for value in values if value)
    return lambda value: "" if value in values else f"`{str(value)[:60]}` is none of {words}"


def within(least: float, most: float, words: str = "") -> Check:
    """Return a check that a number is within bounds; the value None is allowed."""
    message = words or f"from {number(least)} to {number(most)}"
    return lambda value: "" if value is None or least <= value <= most else message


@dataclass(frozen=True, slots=True)
class Whole:
    """An integer from `least` to `most`."""

    least: int
    most: int

    def holds(self, value: OptionValue) -> bool:
        """Return True if the value is an integer within the bounds; False for a bool."""
        return type(value) is int and self.least <= value <= self.most

    def words(self) -> str:
        """Return the valid values as text."""
        return f"a whole number from {self.least} to {self.most}"


@dataclass(frozen=True, slots=True)
class OneOf:
    """A choice of a few values, of the same type."""

    values: tuple[OptionValue, ...]

    def holds(self, value: OptionValue) -> bool:
        """Return True if the value is one of the choices, and of their type: 1 is not True."""
        return any(type(value) is type(choice) and value == choice for choice in self.values)

    def words(self) -> str:
        """Return the valid values as text."""
        return f"one of {', '.join(map(str, self.values))}"


@dataclass(frozen=True, slots=True)
class Names:
    """Names separated by spaces, all of them in `listed`; any names if `listed` is empty."""

    listed: tuple[str, ...] = ()

    def holds(self, value: OptionValue) -> bool:
        """Return True if the value consists only of such names."""
        if not isinstance(value, str) or len(value) > MOST_NAMES_CHARS:
            return False
        return all(NAME.fullmatch(name) and (not self.listed or name in self.listed) for name in value.split(" "))

    def words(self) -> str:
        """Return the valid values as text."""
        return f"names of {', '.join(self.listed)}" if self.listed else "names of ops"


NAME = re.compile(r"[a-z0-9_.-]{1,100}")
FLAG = OneOf((False, True))


COMPILE = "the call of torch.compile"
INPUTS = "the inputs"
TORCH_COMPILE = "[torch.compile](https://docs.pytorch.org/docs/stable/generated/torch.compile.html)"
LONGEST_REGION_NAME = 200  #: characters of the name of a compiled region
MOST_RECOMPILES = 2**31 - 1  #: limit: the recompile limit of a call of torch.compile
FLOATING = ("float32", "bfloat16", "float16", "float64")


def _lines(typed: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in typed.splitlines() if line.strip())


def _variable(value: str | None) -> str:
    return "" if value is None or value.isidentifier() else f"`{value[:60]}` is no name of a variable"


def _region_name(value: str | None) -> str:
    return "" if value is None or len(value) <= LONGEST_REGION_NAME else f"at most {LONGEST_REGION_NAME} characters"


# An option of the compiled side alone, which sweeps change and visitors choose.
compiled_option = partial(Option, axis=True, visitors=True, eager=False)
compiled_switch = partial(compiled_option, read=flag)
CALL: tuple[Option, ...] = (
    compiled_option(
        "compile.mode",
        "one of torch's sets of Inductor options",
        read=word_or_none,
        check=one_of(None, *MODES),
        flag=Flag(COMPILE, choices=MODES),
        form=ChoiceField(
            at=("call", 0, 1),
            values={mode: None if mode == MODES[0] else mode for mode in MODES},
            help="`reduce-overhead` replays CUDA graphs; `max-autotune` times several kernels for matmul and "
            f"convolution and keeps the best. {TORCH_COMPILE}",
        ),
        what_if=WhatIf("mode"),
    ),
    compiled_option(
        "compile.dynamic",
        "dynamic shapes from the start, or never",
        read=dynamic,
        flag=Flag(COMPILE, kind="pair"),
        form=ChoiceField(
            at=("call", 0, 2),
            values=DYNAMIC,
            help="Automatic: sizes are fixed at first, and a size that changed becomes a symbol in the recompile. "
            "Always: symbols from the start.",
        ),
        what_if=WhatIf("dynamic"),
    ),
    compiled_option(
        "compile.backend",
        "a name that torch lists, a built-in backend, or a callable of the model's file or of another file",
        flag=Flag(COMPILE, metavar="NAME|FILE.py[:NAME]"),
        form=FormField(at=("call", 0, 0)),
        what_if=WhatIf("backend"),
    ),
    compiled_switch(
        "compile.fullgraph",
        "fail at the first graph break",
        flag=Flag(COMPILE, kind="pair"),
        form=SwitchField(at=("call", 1, 2), help="Raise an error at the first graph break instead of running eagerly."),
        what_if=WhatIf("fullgraph"),
    ),
    Option(
        "compile.options",
        "Inductor options",
        flag=Flag(COMPILE, metavar="NAME=VALUE,…", parse=options_from_text),
        form=FormField(
            at=("call", 2, 0),
            key="inductor",
            help="Inductor options as `torch.compile(options={…})` takes them: name=value, separated by commas. Not "
            "together with a mode. Empty: as the file says; `none`: none of them, whatever it says.",
        ),
        visitors=True,
        eager=False,
    ),
    compiled_switch(
        "compile.disable",
        "make torch.compile a no-op",
        flag=Flag(COMPILE, kind="pair"),
        form=SwitchField(at=("conditions", 4, 0), help="`torch.compile(disable=True)`: the model runs eagerly."),
    ),
    compiled_option(
        "compile.recompile_limit",
        "compilations of a frame in this call of torch.compile before it runs eagerly (torch 2.13)",
        read=whole_or_none,
        check=within(0, MOST_RECOMPILES, "a whole number from 0 up"),
        flag=Flag(COMPILE, type=int),
        form=NumberField(
            at=("conditions", 4, 2),
            least=0,
            most=MOST_RECOMPILES,
            label="recompile limit",
            help="Compilations of a frame before it runs eagerly. Empty: `torch._dynamo.config.recompile_limit` "
            "(torch 2.13).",
        ),
    ),
    compiled_switch(
        "compile.isolate_recompiles",
        "count the recompiles of this call of torch.compile by themselves (torch 2.13)",
        flag=Flag(COMPILE, kind="pair"),
        form=SwitchField(
            at=("conditions", 4, 1),
            label="isolate recompiles",
            help="Do not count recompiles of other calls of torch.compile on the same function (torch 2.13).",
        ),
    ),
    Option(
        "compile.shapes_spec",
        "a variable of the model's file with a torch.fx.experimental.dynamic_spec.ShapesSpec (torch 2.13)",
        read=word_or_none,
        axis=True,
        check=_variable,
        flag=Flag(COMPILE, metavar="VARIABLE"),
        form=TextField(
            at=("conditions", 5, 0),
            write=lambda name: name or "",
            parse=word_or_none,
            label="shapes spec",
            example="SPEC",
            help="A variable of the model's file with a `ShapesSpec`: the dynamic dimensions of its arguments (2.13).",
        ),
        eager=False,
    ),
    Option(
        "compile.name",
        "the name of the compiled region in torch's debug metadata (torch 2.13)",
        check=_region_name,
        flag=Flag(COMPILE, name="--region-name", metavar="NAME"),
        form=TextField(
            at=("conditions", 5, 1),
            key="region",
            write=lambda name: name or "",
            parse=word_or_none,
            label="region name",
            help="`torch.compile(name=…)`: the name of the compiled region in torch's debug metadata (torch 2.13).",
        ),
        visitors=True,
        eager=False,
    ),
    Option(
        "dtype",
        "cast model and inputs, such as bfloat16",
        read=word_or_none,
        axis=True,
        check=one_of(None, *(name for name in DTYPES.values() if "float" in name)),
        flag=Flag(INPUTS),
        form=ChoiceField(
            at=("call", 0, 3),
            values={"as it is": None, **{name: name for name in FLOATING}},
            help="Casts the model and its floating inputs first.",
        ),
        what_if=WhatIf("dtype"),
        visitors=True,
    ),
    Option(
        "training",
        "compile and run the backward too",
        read=flag_or_none,
        axis=True,
        flag=Flag(COMPILE, kind="pair"),
        form=SwitchField(
            at=("call", 1, 3),
            help="Also run the backward: AOTAutograd traces a joint graph and partitions it.",
        ),
        what_if=WhatIf("training", {"training": True, "inference": False}),
        visitors=True,
    ),
    Option(
        "device",
        "the device that the model runs on",
        axis=True,
        flag=Flag(COMPILE),
        form=FormField(
            at=("call", 1, 0),
            label="generate for",
            help="A device of this machine runs the compiled model. For any other device, code is generated and "
            "compiled to machine code, but not run.",
        ),
        visitors=True,
        compared=False,
    ),
    Option(
        "target",
        "generate code for an accelerator that need not be present",
        read=word,
        axis=True,
        check=one_of("", *TARGETS),
        flag=Flag(COMPILE, choices=tuple(TARGETS)),
        what_if=WhatIf("generated for"),
        visitors=True,
        compared=False,
    ),
    Option(
        "calls",
        "inputs, such as 'f32[8, 64], 2.0'; repeat",
        read=several,
        axis=True,
        flag=Flag(INPUTS, name="--call", kind="several", metavar="ARGS", parse=tuple),
        form=TextField(
            at=("call", 3, 0),
            write="\n".join,
            parse=_lines,
            lines=True,
            example="f32[8, 64]\nf32[16, 64], 2.0, flag=True\ni64[8, 128] < 1000",
            help="One call per line, in torch's notation. Empty: the inputs of the code. Two calls with different "
            "shapes show a recompile.",
        ),
        visitors=True,
    ),
    Option(
        "arguments",
        "arguments of a script",
        check=arguments_problem,
        form=TextField(
            at=("call", 3, 1),
            label="arguments of a script",
            write=shlex.join,
            parse=arguments_from_text,
            example="--epochs 2",
            help="`sys.argv` of code that defines no `model`: such code is run as a script, unchanged.",
        ),
    ),
    Option(
        "seed",
        "the seed of the random inputs",
        read=whole,
        axis=True,
        check=within(0, 2**63 - 1, "a whole number from 0 up"),
        flag=Flag(INPUTS, type=int),
        form=NumberField(at=("call", 1, 1), least=0, most=2**31),
        visitors=True,
    ),
)
