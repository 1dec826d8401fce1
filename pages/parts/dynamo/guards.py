"""Guards by family: their number, the time of checking them, and the time that could be saved."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st
from pandas.io.formats.style import Styler

from core.analysis import GuardFamilyShare, GuardRow
from core.base import words as fmt
from core.report import Compilation, GuardFamily, GuardFilter, Recompile
from pages.look.text import LONGEST_LINE, LONGEST_TEXT, code, one_line, plain
from pages.session.tables import in_words

FAMILIES: dict[GuardFamily, tuple[str, str]] = {
    "tensor": ("Tensor", "inputs and other tensors outside of modules"),
    "shape": ("Shape", "conditions on symbolic sizes"),
    "module": ("Module", "what is reached through `self` or another module: attributes, parameters, buffers"),
    "global": ("Global", "globals, those of torch's own modules among them"),
    "other": ("Other", "torch's settings, and all other values"),
}
# A shorter check cannot be distinguished from that of the cheapest guard.
RESOLUTION_US = 0.005
# Two measurements of the same checks differ by this fraction.
NOISE = 0.03
# Less than this of a call is no reason to leave guards out.
WORTH_US = 1.0
SHARE = st.column_config.ProgressColumn(
    # The bar's own format has two decimals; this one has three digits, as every number has.
    format="%.3g %%",
    min_value=0,
    max_value=100,
    width=120,
    help="Of one check of a copy of the tree, with the way to the values",
)
WIDE = {
    "value": st.column_config.TextColumn(width=280),
    "recompiles": st.column_config.TextColumn(help="The compilations that were made because it failed"),
    "protects": st.column_config.TextColumn(width=280),
}
# So many rows fit without scrolling.
FEW = 14


def check_time(compilation: Compilation) -> str:
    """Describe the time of checking all guards: once with a cold cache by torch, and warm by the worker."""
    if compilation.guard_latency_us is None:
        return "How long checking them takes was not recorded."
    took = fmt.duration_s(compilation.guard_latency_us / 1e6)
    cold = f"Checking all of them once, with a cold cache, took torch {took}"
    if compilation.guard_warm_us is None:
        return f"{cold}; what it costs a call, warm, was not recorded."
    return f"{cold}; warm, as in a later call, it takes {fmt.duration_s(compilation.guard_warm_us / 1e6)}."


def as_printed(compilation: Compilation) -> str:
    """Return a note on the guard count if only the printed tree is known or if it differs; else empty."""
    if compilation.guard_leaves == len(compilation.guards):
        return ""
    if compilation.guard_leaves is not None:
        return (
            f" The tree itself has {fmt.count(compilation.guard_leaves, 'guard')}: torch printed it in another way "
            f"than is read here."
        )
    return " Counted in the printed tree, where a guard that checks several things may stand several times."


def family_table(families: Sequence[GuardFamilyShare], compilation: Compilation) -> pd.DataFrame:
    """Draw one row per family."""
    costs = compilation.guard_costs
    least_us = NOISE * costs.check_us if costs else 0.0
    table = pd.DataFrame(
        {
            "family": [FAMILIES[family.family][0] for family in families],
            "guards": [len(family.rows) for family in families],
            "share": [None if family.share is None else 100 * family.share for family in families],
            "check": [_family_words(family.check_us, least_us) for family in families],
            "recompiles": [len(family.recompiles) for family in families],
        }
    )
    return table if costs else table.drop(columns=["share", "check"])


def _family_words(us: float | None, least_us: float) -> str:
    if us is None:
        return fmt.NOT_RECORDED
    return f"< {fmt.duration_s(least_us / 1e6)}" if us < least_us else fmt.duration_s(us / 1e6)


def families_words(families: Sequence[GuardFamilyShare]) -> str:
    """Describe the guard families."""
    return " · ".join(f"**{name}**: {about}" for name, about in (FAMILIES[found.family] for found in families))


def guard_table(rows: Sequence[GuardRow]) -> Styler | pd.DataFrame:
    """Draw one row per guard, the most expensive first if costs are known."""
    table = pd.DataFrame(
        [
            {
                "kind": one_line(row.guard.kind, LONGEST_LINE),
                "value": one_line(row.guard.source, LONGEST_LINE),
                "check": _seconds(row.guard.check_us),
                "recompiles": ", ".join(f"[{one_line(made, LONGEST_LINE)}]" for made in row.recompiles),
                "protects": row.protects,
                "your line": one_line(_line(row), LONGEST_LINE),
            }
            for row in rows
        ],
        columns=["kind", "value", "check", "recompiles", "protects", "your line"],
    )
    empty = [name for name in ("check", "recompiles") if not table[name].astype(bool).any() or table[name].isna().all()]
    return in_words(table.drop(columns=empty), {"check": _check_words})


def _line(row: GuardRow) -> str:
    where = row.guard.location
    return f"{where.short}  {row.guard.code}" if where else row.guard.code


def how_checked(rows: Sequence[GuardRow]) -> str:
    """Describe what a guard's check time includes, and for how many guards it is unknown."""
    unknown = sum(row.guard.check_us is None for row in rows)
    if unknown == len(rows):
        return "What the check of one guard takes was not recorded."
    rest = f" It was not recorded for {fmt.count(unknown, 'guard')}." if unknown else ""
    return f"A check is that of the guard alone, without the way to its value.{rest}"


def by_cost(rows: Sequence[GuardRow]) -> list[GuardRow]:
    """Sort the guards: first those that caused recompiles, then by check time, longest first."""
    return sorted(rows, key=lambda row: (-len(row.recompiles), -(row.guard.check_us or 0.0)))


def whole_guard(row: GuardRow, recompiles: Sequence[Recompile]) -> None:
    """Draw one guard in full."""
    guard = row.guard
    st.markdown(f"**{plain(guard.kind)}** on {code(guard.source) or 'no single value'}: {plain(row.protects)}")
    st.code(guard.expression, language="python", wrap_lines=True)
    if guard.code:
        st.markdown(f"because of {code(guard.code)} at {code(str(guard.location))}")
    if guard.hint:
        st.caption(f"torch's hint: {plain(guard.hint, LONGEST_TEXT)}")
    if row.recompiles:
        calls = {item.compilation: item.call for item in recompiles}
        made = (f"\\[{plain(name)}\\]{_in_call(calls.get(name))}" for name in row.recompiles)
        st.markdown(f"It failed, so that torch compiled {', '.join(made)}.")


def _in_call(call: int | None) -> str:
    return "" if call is None else f" in call {call}"


def filters(compilation: Compilation) -> None:
    """Draw how much check time torch's own guard filters would save, measured on copies of the tree."""
    costs = compilation.guard_costs
    if costs is None or not costs.filters:
        st.caption("What a `guard_filter_fn` would spare was not recorded.")
        return
    table = pd.DataFrame(
        {
            "torch.compiler.…": [one_line(found.name, LONGEST_LINE) for found in costs.filters],
            "keeps": [f"{fmt.number(found.kept)} of {fmt.number(found.guards)}" for found in costs.filters],
            "spares": [_spared(found, costs.check_us) for found in costs.filters],
        }
    )
    st.dataframe(table, hide_index=True)
    least_us = max(WORTH_US, NOISE * costs.check_us)
    sparing = (found for found in costs.filters if costs.check_us - found.check_us >= least_us)
    mildest = max(sparing, key=lambda found: found.kept, default=None)
    if mildest is not None:
        name = one_line(mildest.name, LONGEST_LINE)
        asked = f'torch.compile(model, options={{"guard_filter_fn": torch.compiler.{name}}})'
        st.code(asked, language="python", wrap_lines=True)
    st.caption(
        f"Measured on copies of the tree without what a filter leaves out; a copy of all takes "
        f"{fmt.duration_s(costs.check_us / 1e6)}{_shortcut(compilation, costs.check_us)}. Torch counts its guards "
        "before they become a tree. Torch's settings and symbolic sizes are checked in every copy, so a filter that "
        "leaves those out spares more. Torch calls all unsafe: where what they leave out changes, old code runs."
    )


def _spared(found: GuardFilter, whole_us: float) -> str:
    spared_us = whole_us - found.check_us
    if spared_us < NOISE * whole_us:
        return "none measured"
    return f"{fmt.duration_s(spared_us / 1e6)}, {fmt.percent(spared_us / whole_us)}"


def _shortcut(compilation: Compilation, copy_us: float) -> str:
    warm_us = compilation.guard_warm_us
    if warm_us is None or warm_us > copy_us * (1 - 2 * NOISE):
        return ""
    return f", where torch's tree takes {fmt.duration_s(warm_us / 1e6)}: it skips modules that did not change"


def _seconds(us: float | None) -> float | None:
    return None if us is None else us / 1e6


def _check_words(seconds: float) -> str:
    return fmt.duration_s(seconds) if seconds * 1e6 >= RESOLUTION_US else f"< {fmt.duration_s(RESOLUTION_US / 1e6)}"
