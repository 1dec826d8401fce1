"""Rows of the table of options: the place of the value, and its form on each screen and command."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any, Literal

from core.base.words import number
from core.job.model import FILE_SETTINGS, CompileJob, Model
from core.job.rules import Names, OneOf, Whole
from core.job.text import Reader

# The message of a check; empty if the value is right.
Check = Callable[[Any], str]
# Section, row and column of a form.
Place = tuple[Literal["call", "conditions"], int, int]
LAST: Place = ("conditions", 99, 0)


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag of the command line, named like its option unless it has a name of its own.

    `kind`: a `value`; a `pair`, such as `--training` and `--no-training`; `on` or `off`, which set True or False;
    `several` values, which are repeated. `parse` makes the job's value from what argparse read.
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
    """A field of the form, labelled like its option unless it has a label of its own; `key` ends its widget's key.

    The base class stands for a widget that the pages make themselves.
    """

    key: str = ""
    label: str = ""
    help: str = ""
    at: Place = LAST


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberField(FormField):
    """A whole number within bounds; `example` is shown while there is none."""

    least: int
    most: int
    example: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceField(FormField):
    """A choice of several values by their words; `shown` holds what is displayed in place of a word."""

    values: Mapping[str, Any]
    shown: Mapping[str, str] = field(default_factory=dict)

    def word(self, value: object) -> str:
        """Return the word of a value."""
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
    """An entry of the menu "What if": its label, and values by their words, those of the form by default.

    `field` is the axis that is changed, the option's own by default.
    """

    label: str
    values: Mapping[str, Any] = field(default_factory=dict)
    field: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a job: everything about it except its effect in the worker.

    `path` is its field in `CompileJob`, `help` the text of the command line and of the docs. `read` makes a value from
    text; with `axis` a sweep may change it. `check` returns the problem of a value. `visitors` are the values for
    visitors who may not run code: none, those of a rule, or True for any value, which `core/runs/permission.py` may
    narrow. `compared`: two runs are compared by it; `eager`: it changes the eager side of a run, too.
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
        """Its name on axes, in comparisons and, with hyphens, on the command line."""
        return self.path.rpartition(".")[2]

    @property
    def flag_name(self) -> str:
        """Its flag, with hyphens."""
        named = self.flag.name if self.flag else ""
        return named or f"--{self.name.replace('_', '-')}"

    @property
    def of_file(self) -> bool:
        """True if a model's file may set it."""
        return self.name in FILE_SETTINGS

    @property
    def default(self) -> Any:
        """Its value in a default job."""
        return self.of(CompileJob(Model("sample", "")))

    def of(self, job: CompileJob) -> Any:
        """Return its value in a job."""
        return attrgetter(self.path)(job)

    def alternatives(self) -> Mapping[str, Any]:
        """Return the values of the menu "What if" by their words."""
        if self.what_if and self.what_if.values:
            return self.what_if.values
        return self.form.values if isinstance(self.form, ChoiceField) else {"True": True, "False": False}


def one_of(*values: str | None) -> Check:
    """Return a check that a value is one of a few."""
    words = ", ".join(value for value in values if value)
    return lambda value: "" if value in values else f"`{str(value)[:60]}` is none of {words}"


def within(least: float, most: float, words: str = "") -> Check:
    """Return a check that a number is within bounds; None passes."""
    message = words or f"from {number(least)} to {number(most)}"
    return lambda value: "" if value is None or least <= value <= most else message
