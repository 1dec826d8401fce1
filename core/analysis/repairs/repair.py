"""Repair: edits of the user's file, in words and as a diff, with an id to recreate it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from inspect import CO_VARARGS
from typing import Literal

from core.analysis.repairs.source import Edit, UserCode

# Effect on the model's results: they should stay the same, may change, or change.
Risk = Literal["", "may change", "changes"]
# A rule's name and its arguments: lines, names and dtypes, never code.
REPAIR_ID = re.compile(r"[a-z_]{1,40}(?::\w{1,80}){1,32}", re.ASCII)

# Parameters of rules that take a number.
NUMBERS = ("line", "index", "call")


@dataclass(frozen=True, slots=True)
class CodeFix:
    """Result of a rule for a file: prose with code in backticks, the reason, the edits.

    `risk` is the risk of changed results, `doubt` its reason. `settings` are names of `torch._dynamo.config` to set.
    """

    words: str
    why: str
    edits: tuple[Edit, ...]
    risk: Risk = ""
    doubt: str = ""
    settings: tuple[str, ...] = ()


# The arguments only select a part of the file: all text that a rule writes comes from the file or the rule itself.
Rule = Callable[..., CodeFix | None]


@dataclass(frozen=True, slots=True)
class Repair:
    """A fix of one file: `id` is its rule with arguments, `diff` a unified diff of the file."""

    id: str
    fix: CodeFix
    diff: str

    @property
    def stacks(self) -> bool:
        """True if it can be combined with others: it must not change results for certain, nor leave a graph break."""
        return self.fix.risk != "changes" and not self.id.startswith("disable:")


def fix_of(rules: dict[str, Rule], code: UserCode, repair: str) -> CodeFix | None:
    """Return a repair's edits of a file by id; None if the id does not fit this file."""
    if not REPAIR_ID.fullmatch(repair):
        return None
    name, *arguments = repair.split(":")
    rule = rules.get(name)
    if rule is not None and rule.__code__.co_flags & CO_VARARGS:
        return rule(code, *arguments)
    wanted = rule.__code__.co_varnames[1 : rule.__code__.co_argcount] if rule else ()
    numbers = all(value.isdecimal() for name, value in zip(wanted, arguments, strict=False) if name in NUMBERS)
    return rule(code, *arguments) if rule is not None and len(wanted) == len(arguments) and numbers else None
