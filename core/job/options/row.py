"""Row type of the table of options: a field of a job, its form on pages and commands, and its rule for visitors.

A rule holds for visitors who may not run code of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Literal

from core.base.words import number
from core.job.model import FILE_SETTINGS, CompileJob, Model, OptionValue
from core.job.text import Reader

# The message of a check; empty if the value is valid.
Check = Callable[[Any], str]
# Section, row and column of a form.
Place = tuple[Literal["call", "conditions"], int, int]
LAST: Place = ("conditions", 99, 0)
MOST_NAMES_CHARS = 4_000


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
    """A choice of several values by their words; `shown` maps a word to a different display text."""

    values: Mapping[str, Any]
    shown: Mapping[str, str] = field(default_factory=dict)

    def word(self, value: object) -> str:
        """Return the word for a value."""
        words = (word for word, entry in self.values.items() if type(entry) is type(value) and entry == value)
        return next(words, str(value))


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchField(FormField):
    """On or off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextField(FormField):
    """A line of text, or several lines; `parse` raises JobError."""

    write: Callable[[Any], str]
    parse: Callable[[str], Any]
    example: str = ""
    lines: bool = False


@dataclass(frozen=True, slots=True)
class WhatIf:
    """An entry of the "What if" menu: its label, and its values by their words, by default those of the form.

    `field` is the sweep axis that it changes, by default the option itself.
    """

    label: str
    values: Mapping[str, Any] = field(default_factory=dict)
    field: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a job: all its data except its effect in the worker.

    `path` is its field in `CompileJob`, `help` its text for the command line and the docs. `read` converts text to a
    value; with `axis`, a sweep may change it. `check` returns an error message for a value. `visitors` are the
    permitted values for visitors who may not run code: none, those of a rule, or True for any value, which
    `core/runs/permission.py` may restrict. `compared` is True if two runs are compared by it; `eager` is True if it
    changes a run's eager side, too.
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
        """Return its name on axes, in comparisons and, with hyphens, on the command line."""
        return self.path.rpartition(".")[2]

    @property
    def flag_name(self) -> str:
        """Return its flag, with hyphens."""
        named = self.flag.name if self.flag else ""
        return named or f"--{self.name.replace('_', '-')}"

    @property
    def of_file(self) -> bool:
        """Return True if a model's file may set it."""
        return self.name in FILE_SETTINGS

    @property
    def default(self) -> Any:
        """Return its value in a default job."""
        return self.of(CompileJob(Model("sample", "")))

    def of(self, job: CompileJob) -> Any:
        """Return its value in a job."""
        return attrgetter(self.path)(job)

    def alternatives(self) -> Mapping[str, Any]:
        """Return the values in the "What if" menu by their words."""
        if self.what_if and self.what_if.values:
            return self.what_if.values
        return self.form.values if isinstance(self.form, ChoiceField) else {"True": True, "False": False}


def one_of(*values: str | None) -> Check:
    """Return a check that a value is one of several."""
    words = ", ".join(value for value in values if value)
    return lambda value: "" if value in values else f"`{str(value)[:60]}` is none of {words}"


def within(least: float, most: float, words: str = "") -> Check:
    """Return a check that a number is within bounds; None passes."""
    message = words or f"from {number(least)} to {number(most)}"
    return lambda value: "" if value is None or least <= value <= most else message


@dataclass(frozen=True, slots=True)
class Whole:
    """An integer from `least` to `most`."""

    least: int
    most: int

    def holds(self, value: OptionValue) -> bool:
        """Return True if the value is such an integer; True and False are not."""
        return type(value) is int and self.least <= value <= self.most

    def words(self) -> str:
        """Return the valid values as text."""
        return f"a whole number from {self.least} to {self.most}"


@dataclass(frozen=True, slots=True)
class OneOf:
    """A choice of a few values, of the same type."""

    values: tuple[OptionValue, ...]

    def holds(self, value: OptionValue) -> bool:
        """Return True if the value is one of them; 1 is not True."""
        return any(type(value) is type(choice) and value == choice for choice in self.values)

    def words(self) -> str:
        """Return the valid values as text."""
        return f"one of {', '.join(map(str, self.values))}"


@dataclass(frozen=True, slots=True)
class Names:
    """Names separated by spaces: those in `listed`, or any names if that is empty."""

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
