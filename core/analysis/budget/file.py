"""File of a budget, `compileboard.toml`: limits by the names of the figures of a comparison.

    results = "same"

    [at-most]
    graph-breaks = 0
    compiled-call = "2 ms"

    [at-least]
    speedup = 1.2

    [more-than-baseline]
    kernels = 0
    compiled-call = "5 %"

    [model.transformer_block.at-most]
    kernels = 5

The tables of a model replace the limits of the same names for this model alone.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from core.analysis.comparison.figures import COUNTS, MEASURED, Unit
from core.base.errors import JobError

Kind = Literal["at most", "at least", "more than the baseline"]

MORE: Kind = "more than the baseline"
SPEEDUP = "speedup"
FIGURES: dict[str, Unit] = {name: unit for name, (_, unit) in (COUNTS | MEASURED).items()} | {SPEEDUP: "×"}
# Eager is what compiled code is compared with: its own numbers are no success or failure of torch.compile.
UNLIMITED = ("eager memory at the peak", "eager call")
TABLES: dict[str, Kind] = {
    "at-most": "at most",
    "at-least": "at least",
    "more-than-baseline": MORE,
}
MODEL, RESULTS, SAME = "model", "results", "same"
TOP = (RESULTS, MODEL, *TABLES)
SCALES: dict[Unit, dict[str, float]] = {
    "s": {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0},
    "B": {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30},
}
QUANTITY = re.compile(r"(\d+(?:\.\d+)?) ?([^\d\s]*)")
PERCENT = "%"


@dataclass(frozen=True, slots=True)
class Limit:
    """A limit on a figure, in its unit (s, B, ×, or none); a share of the baseline's value if `relative`."""

    figure: str
    kind: Kind
    value: float
    relative: bool = False


@dataclass(frozen=True, slots=True)
class Budget:
    """All limits on a model; `results` is True if the results must equal eager's."""

    limits: tuple[Limit, ...]
    results: bool = False


def read_budget(text: str, model: str = "") -> Budget:
    """Return the budget of a model from the text of a file; raises JobError with the place of a mistake."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise JobError("budget", f"not valid TOML: {error}") from None
    _check_names(tables, TOP, "")
    models = tables.pop(MODEL, {})
    if not isinstance(models, dict):
        raise JobError(f"budget.{MODEL}", "must be tables, one for each model")
    results, limits = _limits(tables, "")
    own: tuple[bool | None, dict[tuple[str, Kind], Limit]] = (None, {})
    for name, table in models.items():
        if not isinstance(table, dict):
            raise JobError(f"budget.{MODEL}.{name}", "must be a table")
        _check_names(table, (RESULTS, *TABLES), f"{MODEL}.{name}.")
        of_model = _limits(table, f"{MODEL}.{name}.")
        own = of_model if name == model else own
    chosen = results if own[0] is None else own[0]
    budget = Budget(tuple((limits | own[1]).values()), bool(chosen))
    if not budget.limits and not budget.results:
        raise JobError("budget", f"has no limit for this model; its tables are {', '.join(TABLES)}")
    return budget


def _limits(tables: Mapping[str, Any], where: str) -> tuple[bool | None, dict[tuple[str, Kind], Limit]]:
    """Return what is required of the results, None if nothing is said, and the limits by figure and kind."""
    limits = {}
    for table, kind in TABLES.items():
        entries = tables.get(table, {})
        if not isinstance(entries, dict):
            raise JobError(f"budget.{where}{table}", "must be a table")
        allowed = {name.replace(" ", "-"): name for name in FIGURES if name not in UNLIMITED}
        _check_names(entries, tuple(allowed), f"{where}{table}.")
        for name, value in entries.items():
            figure = allowed[name]
            limits[figure, kind] = _limit(figure, kind, value, f"budget.{where}{table}.{name}")
    required = tables.get(RESULTS)
    if required not in (None, SAME, ""):
        raise JobError(f"budget.{where}{RESULTS}", f'must be "{SAME}", or "" for no requirement')
    return (None if required is None else required == SAME), limits


def _limit(figure: str, kind: Kind, value: object, where: str) -> Limit:
    unit = FIGURES[figure]
    if figure == SPEEDUP and kind != "at least":
        raise JobError(where, "a speedup is limited in [at-least]")
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise JobError(where, "must be a number, or text with a unit")
    match = QUANTITY.fullmatch(str(value))
    if match is None:
        raise JobError(where, f"must be a number of 0 or more, with a unit if it has one: {value!r} is not")
    amount, suffix = float(match[1]), match[2]
    if kind == MORE:
        if suffix == PERCENT:
            return Limit(figure, kind, amount / 100, relative=True)
        if unit == "s":
            raise JobError(where, 'times are compared as shares: "5 %"')
    elif kind == "at least" and unit == "s":
        raise JobError(where, "times are limited in [at-most]")
    scales = {"": 1.0} if not suffix else SCALES.get(unit, {})
    if suffix not in scales:
        known = ", ".join(SCALES.get(unit, {})) or "none"
        raise JobError(where, f"has no unit {suffix!r}; its units: {known}")
    value = amount * scales[suffix]
    if kind == "at least" and not value:
        raise JobError(where, "must be above 0")
    return Limit(figure, kind, int(value) if value.is_integer() else value)


def _check_names(table: Mapping[str, Any], allowed: tuple[str, ...], where: str) -> None:
    for name in table:
        if name not in allowed:
            near = difflib.get_close_matches(name[:100], allowed, 1, 0.5)
            meant = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(allowed)}"
            raise JobError(f"budget.{where}{name[:100]}", f"is unknown{meant}")
