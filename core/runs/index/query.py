"""Search text for runs, converted to SQL conditions.

Example: `model:gpt2 device:cuda torch:2.13 is:failed tag:x since:2026-11-01 speedup:>1.2 free words`. A term
with `-` before it excludes runs. Values are SQL parameters; the SQL itself consists of the literals below.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from typing import get_args

from core.runs.status import State

Value = str | int | float
MOST_CHARS = 1_000  #: limit: a search for runs
MOST_TERMS = 20  #: limit: terms of a search for runs
TERM = re.compile(r'(-?)(?:([A-Za-z]+):)?("[^"]*"|\S+)')
BOUND = re.compile(r"(<=|>=|<|>|=)?(\d{1,15}(?:\.\d{1,15})?)")
AGE = re.compile(r"(\d{1,5})([hdw])")
HOURS = {"h": 1, "d": 24, "w": 168}
OWNER = "owner"
# Column with text → a run matches if the text contains the value.
TEXTS = {"model": "model", "device": "device", "target": "target", "inputs": "inputs"}
# Column with a number → a run matches if the number is within the bound, as in `speedup:>1.2`.
NUMBERS = {
    "breaks": "breaks",
    "recompiles": "recompiles",
    "graphs": "graphs",
    "kernels": "kernels",
    "speedup": "speedup",
    "compile": "compile_s",
    "took": "took_s",
    "size": "size_bytes",
    "memory": "memory_bytes",
    "comments": "comments",
}
SORTS = {**NUMBERS, "created": "created_s"}
NEWEST_FIRST = "created_s DESC, id DESC"


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition in SQL, and the values of its parameters."""

    sql: str
    values: tuple[Value, ...] = ()


STATES = {state.replace(" ", "-"): state for state in get_args(State)}
IS: dict[str, Condition] = {
    **{word: Condition("state = ?", (state,)) for word, state in STATES.items()},
    **{word: Condition("speed = ?", (word,)) for word in ("faster", "slower", "unclear")},
    "same": Condition("outcome = 'same'"),
    "differs": Condition("outcome = 'differs'"),
    "live": Condition("live"),
    "ended": Condition("NOT live"),
    "pinned": Condition("pinned"),
    "log": Condition("kind = 'log'"),
    "cell": Condition("cell"),
    "archived": Condition("archived = 'away'"),
}


@dataclass(frozen=True, slots=True)
class Viewer:
    """A visitor for whom runs are listed: own runs, runs for all, and runs without a chosen audience.

    Runs without a chosen audience are listed if a signed-in person or the server's owner created them; with
    `of_guests`, all of them are listed. With `own_only`, only the visitor's own runs are listed.
    """

    name: str = ""
    of_guests: bool = False
    own_only: bool = False

    @property
    def condition(self) -> Condition:
        """SQL condition that is true for the runs listed for this visitor."""
        own = Condition("(author = ? AND author != '')", (self.name,))
        if self.own_only:
            return own
        unchosen = "audience = ''" if self.of_guests else "audience = '' AND (author = '' OR instr(author, '@'))"
        return Condition(f"({own.sql} OR audience = 'all' OR ({unchosen}))", own.values)


@dataclass(frozen=True, slots=True)
class RunQuery:
    """Conditions that a run must meet, and the order of the runs.

    `problems` are messages about terms that are invalid or left out.
    """

    conditions: tuple[Condition, ...] = ()
    order: str = NEWEST_FIRST
    problems: tuple[str, ...] = ()

    @staticmethod
    def of(text: str, now_s: float | None = None) -> RunQuery:
        """Return the query of a search text; invalid filters are searched as words."""
        now_s = time.time() if now_s is None else now_s
        conditions, problems, order = [], [], NEWEST_FIRST
        terms = TERM.findall(text[:MOST_CHARS])
        for minus, key, quoted in terms[:MOST_TERMS]:
            value = quoted.strip('"')
            try:
                if key.lower() == "sort":
                    order = _order(value)
                    continue
                condition = _condition(key.lower(), value, now_s)
            except ValueError as error:
                problems.append(str(error))
                condition = _words(f"{key}:{value}" if key else value)
            conditions.append(Condition(f"NOT {condition.sql}", condition.values) if minus else condition)
        if len(terms) > MOST_TERMS or len(text) > MOST_CHARS:
            problems.append(f"only the first {MOST_TERMS} terms of {MOST_CHARS} characters are searched")
        return RunQuery(tuple(conditions), order, tuple(problems))

    def also(self, sql: str, *values: Value) -> RunQuery:
        """Return the query with one more condition, in SQL with parameters."""
        return RunQuery((*self.conditions, Condition(sql, values)), self.order, self.problems)

    def visible(self, viewer: Viewer | None) -> RunQuery:
        """Return the query limited to the runs that are listed for a viewer; unlimited if `viewer` is None."""
        return self if viewer is None else self.also(viewer.condition.sql, *viewer.condition.values)

    @property
    def where(self) -> Condition:
        """All conditions joined by AND; a condition on an unknown number is false, even if negated."""
        sql = " AND ".join(f"coalesce({condition.sql}, 0)" for condition in self.conditions)
        return Condition(sql or "1", tuple(value for condition in self.conditions for value in condition.values))


def _condition(key: str, value: str, now_s: float) -> Condition:
    """Return the condition of a term; raises ValueError for an unknown filter or an invalid value."""
    if not key:
        return _words(value)
    if key not in FILTERS:
        raise ValueError(f"`{key}:` is no filter, and is searched as a word; filters are {', '.join(FILTERS)}, sort")
    return FILTERS[key](value, now_s)


def _words(value: str) -> Condition:
    return Condition("instr(words, ?)", (value.casefold(),))


def _contains(column: str, value: str, now_s: float) -> Condition:
    return Condition(f"instr({column}, ?)", (value.casefold(),))


def _torch(value: str, now_s: float) -> Condition:
    """Return the condition for a torch version or its first parts: `2.1` matches 2.1.2 but not 2.13."""
    prefix = torch_key(value)
    return Condition("substr(torch, 1, ?) = ?", (len(prefix), prefix))


def torch_key(version: str) -> str:
    """Return a torch version with a full stop after each part, so that versions compare by whole parts."""
    return f"{version.replace('+', '.')}."


def _is(value: str, now_s: float) -> Condition:
    try:
        return IS[value.lower()]
    except KeyError:
        raise ValueError(f"`is:{value}` is unknown; there are {', '.join(IS)}") from None


def _tag(value: str, now_s: float) -> Condition:
    return Condition("instr(tags, ?)", (f" {value.casefold()} ",))


def _author(value: str, now_s: float) -> Condition:
    return Condition("author = ?", ("" if value == OWNER else value,))


def _bound(column: str, value: str, now_s: float) -> Condition:
    match = BOUND.fullmatch(value)
    if match is None:
        raise ValueError(f"`{value}` is no bound, such as `>1.2` or `0`")
    return Condition(f"{column} {match[1] or '='} ?", (float(match[2]),))


def _date(sign: str, value: str, now_s: float) -> Condition:
    """Return the condition for a date, from midnight in local time, or for an age such as `7d`."""
    age = AGE.fullmatch(value)
    if age is not None:
        return Condition(f"created_s {sign} ?", (now_s - int(age[1]) * HOURS[age[2]] * 3600.0,))
    try:
        day = date.fromisoformat(value)
        return Condition(f"created_s {sign} ?", (datetime(day.year, day.month, day.day).timestamp(),))
    except (ValueError, OverflowError):
        raise ValueError(f"`{value}` is no date such as 2026-11-01, and no age such as 12h, 7d or 2w") from None


def _order(value: str) -> str:
    """Return the SQL order: largest first, or smallest first with `-`; unknown numbers come last."""
    column = SORTS.get(value.removeprefix("-").lower())
    if column is None:
        raise ValueError(f"runs are not sorted by `{value}`; there are {', '.join(SORTS)}")
    return f"{column} IS NULL, {column} {'ASC' if value.startswith('-') else 'DESC'}, {NEWEST_FIRST}"


FILTERS: dict[str, Callable[[str, float], Condition]] = {
    **{key: partial(_contains, column) for key, column in TEXTS.items()},
    "torch": _torch,
    "is": _is,
    "tag": _tag,
    "author": _author,
    "since": partial(_date, ">="),
    "before": partial(_date, "<"),
    **{key: partial(_bound, column) for key, column in NUMBERS.items()},
}
