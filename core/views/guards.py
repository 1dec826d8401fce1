"""Guards of a compilation: families, check times, filters, and each guard in full; texts are Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from core.analysis import GuardFamilyShare, GuardRow, guard_families, guard_rows, mentions
from core.base import words as fmt
from core.report import Compilation, GuardFamily, GuardFilter, Report
from core.views.markdown import LONGEST_LINE, LONGEST_TEXT, code, one_line, plain

__all__ = ["GuardsView"]

FAMILIES: dict[GuardFamily, tuple[str, str]] = {
    "tensor": ("Tensor", "inputs and other tensors outside of modules"),
    "shape": ("Shape", "conditions on symbolic sizes"),
    "number": ("Number", "conditions on symbolic numbers, such as not being NaN"),
    "module": ("Module", "attributes, parameters and buffers of modules"),
    "global": ("Global", "globals, including those of torch's modules"),
    "other": ("Other", "torch settings and all other values"),
}
# A shorter check cannot be distinguished from the cheapest guard's check.
RESOLUTION_US = 0.005
# Two measurements of the same checks differ by this fraction.
NOISE = 0.03
# A smaller fraction of a call is no reason to remove guards.
WORTH_US = 1.0


@dataclass(frozen=True, slots=True)
class GuardDetails:
    """A guard in full.

    A text is empty if torch did not log it. `failures` is empty if the guard never failed.
    """

    heading: str
    expression: str
    reason: str
    hint: str
    failures: str


@dataclass(frozen=True)
class GuardsView:
    """The guards of a compilation."""

    report: Report
    compilation: Compilation

    @property
    def title(self) -> str:
        """Number of guards."""
        return f"{fmt.count(len(self.compilation.guards), 'guard')} must pass to reuse [{self.compilation.id}]."

    @property
    def check_time(self) -> str:
        """Time to check all guards with a cold and with a warm cache.

        Torch measures the cold time, the worker the warm time. A note follows if the number of guards is uncertain.
        """
        return f"{_check_time(self.compilation)}{_count_note(self.compilation)}"

    @cached_property
    def rows(self) -> tuple[GuardRow, ...]:
        """Guards in torch's order."""
        return tuple(guard_rows(self.report, self.compilation))

    @cached_property
    def families(self) -> tuple[GuardFamilyShare, ...]:
        """Guards by family, with check times and recompiles."""
        return tuple(guard_families(self.compilation, self.rows))

    @property
    def family_rows(self) -> list[dict[str, object]]:
        """A row for each family: number of guards, check time, its share in percent, and recompiles.

        Without measured times there is neither share nor check time.
        """
        costs = self.compilation.guard_costs
        least_us = NOISE * costs.check_us if costs else 0.0
        return [
            {
                "family": FAMILIES[family.family][0],
                "guards": len(family.rows),
                **(_family_costs(family, least_us) if costs else {}),
                "recompiles": len(family.recompiles),
            }
            for family in self.families
        ]

    @property
    def family_meanings(self) -> str:
        """Meaning of each family."""
        meanings = (FAMILIES[family.family] for family in self.families)
        return " · ".join(f"**{name}**: {meaning}" for name, meaning in meanings)

    def matches(self, family: GuardFamilyShare | None, text: str) -> list[GuardRow]:
        """Return the guards of a family, or of all families, that mention a text.

        Guards that caused recompiles come first, then guards with the longest check.
        """
        rows = [row for row in (family.rows if family else self.rows) if mentions(row.guard, text)]
        return sorted(rows, key=lambda row: (-len(row.recompiles), -(row.guard.check_us or 0.0)))

    def table(self, rows: Sequence[GuardRow]) -> dict[str, list[object]]:
        """Return the columns of the table of guards, with check times in seconds.

        The columns of check times and recompiles are left out if no guard has any.
        """
        checks = [None if row.guard.check_us is None else row.guard.check_us / 1e6 for row in rows]
        recompiles = [", ".join(f"[{one_line(name, LONGEST_LINE)}]" for name in row.recompiles) for row in rows]
        return {
            "kind": [one_line(row.guard.kind, LONGEST_LINE) for row in rows],
            "value": [one_line(row.guard.source, LONGEST_LINE) for row in rows],
            **({"check": list(checks)} if any(checks) else {}),
            **({"recompiles": list(recompiles)} if any(recompiles) else {}),
            "protects": [row.protects for row in rows],
            "source line": [one_line(_line(row), LONGEST_LINE) for row in rows],
        }

    def check_words(self, seconds: float) -> str:
        """Return the check time of one guard, or the bound below which it is not measurable."""
        if seconds * 1e6 >= RESOLUTION_US:
            return fmt.duration_s(seconds)
        return f"< {fmt.duration_s(RESOLUTION_US / 1e6)}"

    def table_note(self, rows: Sequence[GuardRow]) -> str:
        """Return a note on the guard table: how to select, the meaning of *check*, and unknown times."""
        read = "Select a guard to read it in full."
        unknown = sum(row.guard.check_us is None for row in rows)
        if unknown == len(rows):
            return f"{read} The check time of single guards was not recorded."
        rest = f" Not recorded for {fmt.count(unknown, 'guard')}." if unknown else ""
        return f"{read} *check* is the time of the guard itself, without the access to its value.{rest}"

    def details(self, row: GuardRow) -> GuardDetails:
        """Return a guard in full."""
        guard = row.guard
        calls = {recompile.compilation: recompile.call for recompile in self.report.recompiles}
        recompiles = [f"\\[{plain(name)}\\]{_in_call(calls.get(name))}" for name in row.recompiles]
        return GuardDetails(
            heading=f"**{plain(guard.kind)}** on {code(guard.source) or 'no single value'}: {plain(row.protects)}",
            expression=guard.expression,
            reason=f"because of {code(guard.code)} at {code(str(guard.location))}" if guard.code else "",
            hint=f"torch's hint: {plain(guard.hint, LONGEST_TEXT)}" if guard.hint else "",
            failures=f"It failed, so torch compiled {', '.join(recompiles)}." if recompiles else "",
        )

    @property
    def filter_rows(self) -> list[dict[str, str]]:
        """A row for each guard filter of torch: guards kept and time saved; empty if not measured."""
        costs = self.compilation.guard_costs
        return [
            {
                "torch.compiler.…": one_line(guard_filter.name, LONGEST_LINE),
                "guards kept": f"{fmt.number(guard_filter.kept)} of {fmt.number(guard_filter.guards)}",
                "time saved": _saved(guard_filter, costs.check_us),
            }
            for guard_filter in (costs.filters if costs else ())
            if costs is not None
        ]

    @property
    def filter_code(self) -> str:
        """Call of torch.compile with a guard filter.

        Among the filters that save enough time, it is the one that keeps most guards. Empty if no filter saves enough.
        """
        costs = self.compilation.guard_costs
        if costs is None:
            return ""
        least_us = max(WORTH_US, NOISE * costs.check_us)
        worth = (choice for choice in costs.filters if costs.check_us - choice.check_us >= least_us)
        mildest = max(worth, key=lambda choice: choice.kept, default=None)
        if mildest is None:
            return ""
        name = one_line(mildest.name, LONGEST_LINE)
        return f'torch.compile(model, options={{"guard_filter_fn": torch.compiler.{name}}})'

    @property
    def filter_note(self) -> str:
        """Method by which filters were measured, and their risk; or a note that they were not measured."""
        costs = self.compilation.guard_costs
        if costs is None or not costs.filters:
            return "The time that a `guard_filter_fn` saves was not recorded."
        return (
            f"Measured on copies of the guard tree without the dropped guards; checking a full copy takes "
            f"{fmt.duration_s(costs.check_us / 1e6)}{_shortcut(self.compilation, costs.check_us)}. Torch applies a "
            "filter to all guards, before it builds the tree from them, so the counts may differ from the tree's. "
            "The copies always check guards on torch settings and symbolic sizes. A filter that drops them as well "
            "saves more than measured here. Every filter is unsafe: if a value without a guard changes, the old code "
            "runs anyway."
        )


def _check_time(compilation: Compilation) -> str:
    if compilation.guard_latency_us is None:
        return "The check time was not recorded."
    took = fmt.duration_s(compilation.guard_latency_us / 1e6)
    cold = f"Checking all guards took {took} with a cold cache"
    if compilation.guard_warm_us is None:
        return f"{cold}; the time with a warm cache was not recorded."
    return f"{cold}, and {fmt.duration_s(compilation.guard_warm_us / 1e6)} with a warm one."


def _count_note(compilation: Compilation) -> str:
    """Return a note if the number of guards in the tree is unknown, or differs; otherwise empty."""
    if compilation.guard_leaves == len(compilation.guards):
        return ""
    if compilation.guard_leaves is not None:
        return (
            f" The tree has {fmt.count(compilation.guard_leaves, 'guard')}: Compileboard does not know this print "
            "format of torch."
        )
    return " Counted in the printed tree, where a guard with several checks may appear several times."


def _family_costs(family: GuardFamilyShare, least_us: float) -> dict[str, object]:
    share = None if family.share is None else 100 * family.share
    if family.check_us is None:
        return {"share": share, "check": fmt.NOT_RECORDED}
    below = family.check_us < least_us
    check = f"< {fmt.duration_s(least_us / 1e6)}" if below else fmt.duration_s(family.check_us / 1e6)
    return {"share": share, "check": check}


def _line(row: GuardRow) -> str:
    place = row.guard.location
    return f"{place.short}  {row.guard.code}" if place else row.guard.code


def _in_call(call: int | None) -> str:
    return "" if call is None else f" in call {call}"


def _saved(guard_filter: GuardFilter, all_us: float) -> str:
    saved_us = all_us - guard_filter.check_us
    if saved_us < NOISE * all_us:
        return "none measured"
    return f"{fmt.duration_s(saved_us / 1e6)}, {fmt.percent(saved_us / all_us)}"


def _shortcut(compilation: Compilation, copy_us: float) -> str:
    warm_us = compilation.guard_warm_us
    if warm_us is None or warm_us > copy_us * (1 - 2 * NOISE):
        return ""
    return f", where torch's tree takes {fmt.duration_s(warm_us / 1e6)}: it skips modules that did not change"
