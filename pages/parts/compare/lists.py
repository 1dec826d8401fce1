"""Lists of Dynamo's events in either run: those that both have, and those of one run only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import pandas as pd
import streamlit as st

from core.analysis.comparison import CompilationComparison, Matched, RunComparison
from core.base import words as fmt
from core.report import GraphBreak, Recompile
from pages.look.sizes import TALL
from pages.look.text import LONGEST_LINE, LONGEST_TEXT, one_line
from pages.parts.compare.kernel_table import UNKNOWN

One = TypeVar("One")


def breaks_and_recompiles(found: RunComparison) -> None:
    """Draw each graph break and each recompile of either run."""
    st.header("Graph breaks", anchor=False)
    _listed(found.breaks, "Neither run has a graph break.", _break, "compare-breaks")
    st.header("Recompiles", anchor=False)
    _listed(found.recompiles, "Neither run compiled a frame again.", _recompile, "compare-recompiles")


def _listed(
    pairs: Sequence[Matched[One]], none: str, row: Callable[[Matched[One], One], dict[str, str]], key: str
) -> None:
    rows = [
        {"in": _sides(pair), **row(pair, either)}
        for pair in sorted(pairs, key=lambda pair: pair.both)
        if (either := pair.right or pair.left) is not None
    ]
    if rows:
        st.dataframe(pd.DataFrame(rows), hide_index=True, height="content" if len(rows) < 12 else TALL, key=key)
    else:
        st.write(none)


def _sides(pair: Matched[One]) -> str:
    return "both" if pair.both else "only left" if pair.left is not None else "only right"


def _break(pair: Matched[GraphBreak], either: GraphBreak) -> dict[str, str]:
    return {
        "reason": one_line(either.reason, LONGEST_LINE),
        "line": one_line(either.code, LONGEST_LINE),
        "left": one_line(pair.left.place.short, LONGEST_LINE) if pair.left else UNKNOWN,
        "right": one_line(pair.right.place.short, LONGEST_LINE) if pair.right else UNKNOWN,
        "met": " | ".join(fmt.number(len(side.compilations)) if side else UNKNOWN for side in (pair.left, pair.right)),
    }


def _recompile(pair: Matched[Recompile], either: Recompile) -> dict[str, str]:
    return {
        "reason": one_line(either.reason, LONGEST_LINE),
        "left": _edge(pair.left),
        "right": _edge(pair.right),
        "line": one_line(either.code, LONGEST_LINE),
    }


def _edge(found: Recompile | None) -> str:
    return f"[{found.failed}] → [{found.compilation}]" if found else UNKNOWN


def guards(pair: CompilationComparison) -> None:
    """Draw the guards that only one of the two compilations has."""
    found = pair.guards
    if found is None:
        st.write("The other run has no counterpart of this compilation, so there are no guards to compare.")
        return
    rows = [
        {
            "in": side,
            "kind": one_line(guard.kind, LONGEST_LINE),
            "value": one_line(guard.source, LONGEST_LINE),
            "expression": one_line(guard.expression, LONGEST_TEXT),
        }
        for side, some in (("only left", found.only_left), ("only right", found.only_right))
        for guard in some
    ]
    st.markdown(
        f"{fmt.count(found.both, 'guard')} in both; {fmt.number(len(found.only_left))} only on the left, "
        f"{fmt.number(len(found.only_right))} only on the right."
    )
    st.caption("Addresses of objects, which are others in every process, do not count.")
    if rows:
        st.dataframe(
            pd.DataFrame(rows), hide_index=True, height="content" if len(rows) < 12 else TALL, key="compare-guards"
        )
