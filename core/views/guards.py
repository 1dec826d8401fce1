"""Guards page: families, check times and filters of a compilation's guards, and each guard in full."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from core.analysis.dynamo.recompiles import GuardFamilyShare, GuardRow, guard_families, guard_rows, mentions
from core.base import words as fmt
from core.report import Compilation, GuardFamily, GuardFilter, Report
from core.views.blocks import (
    NOTHING_PICKED,
    Beside,
    Code,
    Column,
    Data,
    InLine,
    Listing,
    PageBlock,
    Picks,
    Search,
    Table,
    Title,
    paragraph,
    spans,
)
from core.views.glossary import GLOSSARY
from core.views.markdown import LONGEST_LINE, LONGEST_TEXT, code, one_line, plain, prose

__all__ = ["FAMILY", "GUARD", "GUARD_COLUMNS", "MENTIONED", "GuardsView", "guards"]

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


# Names of selections: a family, a guard, and a text that guards mention.
FAMILY, GUARD, MENTIONED = "families", "guard-table", "guard"


def guards(report: Report, compilation: Compilation, picks: Picks = NOTHING_PICKED) -> Iterator[PageBlock]:
    """Yield the guards of a compilation: families, filters, a table, and a selected guard in full."""
    view = GuardsView(report, compilation)
    if not compilation.guards:
        yield Title(spans("No guard was recorded for this compilation"))
        yield from paragraph(prose(compilation.error))
        return
    yield Title(spans(view.title), GLOSSARY["guard"])
    yield from paragraph(view.check_time, "quiet")
    families = Table(FAMILY, view.family_columns, view.families, pick="Select a family to list its guards.")
    yield Beside((families, *paragraph(view.family_meanings, "quiet")), tuple(view.filters))
    yield InLine((Search(MENTIONED, "a variable, TENSOR_MATCH, a file …"), Data("guards", compilation.guards)))
    rows = view.matches(picks.row(FAMILY, view.families), picks.text(MENTIONED))
    yield Table(GUARD, GUARD_COLUMNS, rows, pick="Select a guard to read it in full.")
    yield from paragraph(view.table_note(rows), "quiet")
    chosen = picks.row(GUARD, rows)
    if chosen is not None:
        yield from view.details(chosen)


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
    def family_columns(self) -> tuple[Column[GuardFamilyShare], ...]:
        """Columns of the table of families; without measured times there is neither share nor check time."""
        costs = self.compilation.guard_costs
        least_us = NOISE * costs.check_us if costs else 0.0
        measured: tuple[Column[GuardFamilyShare], ...] = (
            Column("share", lambda family: family.share, fmt.percent, SHARE, 120, bar=True),
            Column("check", lambda family: _family_check(family, least_us)),
        )
        return (
            Column("family", lambda family: FAMILIES[family.family][0]),
            Column("guards", lambda family: len(family.rows), fmt.number),
            *(measured if costs else ()),
            Column("recompiles", lambda family: len(family.recompiles), fmt.number),
        )

    @property
    def family_meanings(self) -> str:
        """Meaning of each family."""
        meanings = (FAMILIES[family.family] for family in self.families)
        return " · ".join(f"**{name}**: {meaning}" for name, meaning in meanings)

    def matches(self, family: GuardFamilyShare | None, text: str) -> list[GuardRow]:
        """Return the guards of a family, or all, that mention a text; those of recompiles first."""
        rows = [row for row in (family.rows if family else self.rows) if mentions(row.guard, text)]
        return sorted(rows, key=lambda row: (-len(row.recompiles), -(row.guard.check_us or 0.0)))

    def table_note(self, rows: Sequence[GuardRow]) -> str:
        """Return a note on the guard table: the meaning of *check*, and unknown times."""
        unknown = sum(row.guard.check_us is None for row in rows)
        if unknown == len(rows):
            return "The check time of single guards was not recorded."
        rest = f" Not recorded for {fmt.count(unknown, 'guard')}." if unknown else ""
        return f"*check* is the time of the guard itself, without the access to its value.{rest}"

    def details(self, row: GuardRow) -> Iterator[PageBlock]:
        """Yield a guard in full; texts that torch did not log are left out."""
        guard = row.guard
        calls = {recompile.compilation: recompile.call for recompile in self.report.recompiles}
        recompiles = [f"\\[{plain(name)}\\]{_in_call(calls.get(name))}" for name in row.recompiles]
        heading = f"**{plain(guard.kind)}** on {code(guard.source) or 'no single value'}: {plain(row.protects)}"
        yield from paragraph(heading)
        yield Listing("Guard expression", Code(guard.expression), is_open=True)
        yield from paragraph(f"because of {code(guard.code)} at {code(str(guard.location))}" if guard.code else "")
        yield from paragraph(f"torch's hint: {plain(guard.hint, LONGEST_TEXT)}" if guard.hint else "", "quiet")
        yield from paragraph(f"It failed, so torch compiled {', '.join(recompiles)}." if recompiles else "")

    @property
    def filters(self) -> Iterator[PageBlock]:
        """Guard filters of torch: guards kept, time saved, the mildest call that saves enough, and the method."""
        costs = self.compilation.guard_costs
        if costs is not None and costs.filters:
            saved: Column[GuardFilter] = Column("time saved", lambda choice: _saved(choice, costs.check_us))
            yield Table("filters", (*FILTER_COLUMNS, saved), costs.filters)
        if self.filter_code:
            yield Listing("Filter to try", Code(self.filter_code), is_open=True)
        yield from paragraph(self.filter_note, "quiet")

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


def _family_check(family: GuardFamilyShare, least_us: float) -> str:
    if family.check_us is None:
        return fmt.NOT_RECORDED
    below = family.check_us < least_us
    return f"< {fmt.duration_s(least_us / 1e6)}" if below else fmt.duration_s(family.check_us / 1e6)


def _check_words(seconds: float) -> str:
    """Return the check time of one guard, or the bound below which it is not measurable."""
    if seconds * 1e6 >= RESOLUTION_US:
        return fmt.duration_s(seconds)
    return f"< {fmt.duration_s(RESOLUTION_US / 1e6)}"


def _check_s(row: GuardRow) -> float | None:
    return None if row.guard.check_us is None else row.guard.check_us / 1e6


def _recompiles(row: GuardRow) -> str:
    return ", ".join(f"[{one_line(name, LONGEST_LINE)}]" for name in row.recompiles)


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


GUARD_COLUMNS: tuple[Column[GuardRow], ...] = (
    Column("kind", lambda row: one_line(row.guard.kind, LONGEST_LINE)),
    Column("value", lambda row: one_line(row.guard.source, LONGEST_LINE), width=280),
    Column("check", _check_s, _check_words, optional=True),
    Column("recompiles", _recompiles, help="Compilations caused by its failure", optional=True),
    Column("protects", lambda row: row.protects, width=280),
    Column("source line", lambda row: one_line(_line(row), LONGEST_LINE)),
)
FILTER_COLUMNS: tuple[Column[GuardFilter], ...] = (
    Column("torch.compiler.…", lambda choice: one_line(choice.name, LONGEST_LINE)),
    Column("guards kept", lambda choice: f"{fmt.number(choice.kept)} of {fmt.number(choice.guards)}"),
)
SHARE = "Share of one check of the guard tree, including the access to the values"
