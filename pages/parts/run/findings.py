"""Links of the overview beside its findings: one line for each page with a result for this run."""

from __future__ import annotations

from collections.abc import Iterator

import streamlit as st

from core import verdict
from core.analysis import (
    compile_time_s,
    difference_words,
    ended_words,
    kernel_words,
    phase_totals,
    results,
    saved_words,
)
from core.analysis.kernels import kernel_names
from core.analysis.numerics import numerics, numerics_sentence
from core.base import words as fmt
from core.report import Report
from core.views.speed_words import speed_title
from pages import menu
from pages.look.text import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, plain, prose
from pages.session import url

Line = tuple[menu.Page, str]
SHOWN_DIFFERENCES = 5


def evidence(report: Report) -> None:
    """Draw how the run was made, then one line and link for each page with a result."""
    for note in report.notes:
        st.info(plain(note, LONGEST_TEXT), icon=":material/info:")
    ended = ended_words(report)
    if ended:
        st.warning(prose(ended, LONGEST_TEXT), icon=":material/memory:")
    for page, text in _lines(report):
        st.page_link(page.script, label=text, icon=page.icon, query_params=url.link(), width="stretch")


def result_note(report: Report) -> None:
    """Draw the differences from eager, or why results could not be compared; nothing if all are the same."""
    found = results(report)
    if found is None or found.outcome in ("same", "other strides"):
        return
    differs = found.outcome == "differs"
    told = list(dict.fromkeys(map(difference_words, found.told)))
    more = f"; and {fmt.number(len(told) - SHOWN_DIFFERENCES)} more" if len(told) > SHOWN_DIFFERENCES else ""
    text = "; ".join(told[:SHOWN_DIFFERENCES]) + more
    title = "Compiled differs from eager" if differs else "Not comparable with eager"
    (st.error if differs else st.warning)(f"**{title}.** {prose(text, LONGEST_TEXT)}", icon=":material/difference:")
    if differs:
        st.page_link(
            menu.NUMERICS.script,
            label="Which of the two is right, and from which node on",
            icon=menu.NUMERICS.icon,
            query_params=url.link(),
        )


def _lines(report: Report) -> Iterator[Line]:
    yield from _dynamo(report)
    yield from _graphs(report)
    yield from _performance(report)


def _dynamo(report: Report) -> Iterator[Line]:
    for found in report.graph_breaks[:1]:
        places = fmt.count(len(report.graph_breaks), "graph break")
        yield menu.GRAPH_BREAKS, f"{places}; the first: {prose(found.reason, LONGEST_LINE)}"
    for recompile in report.recompiles[:1]:
        first = plain(recompile.reason.split("\n")[0], LONGEST_LINE)
        yield menu.RECOMPILES, f"\\[{recompile.compilation}\\] was compiled again: {first}"
    guards = sum(len(compilation.guards) for compilation in report.compilations)
    if guards:
        all_of = ", all compilations together" if len(report.compilations) > 1 else ""
        yield menu.GUARDS, f"{fmt.count(guards, 'guard')} must hold to use the code again{all_of}"


def _graphs(report: Report) -> Iterator[Line]:
    found = verdict(report).work
    stages = {graph.stage for compilation in report.compilations for graph in compilation.graphs}
    if stages:
        yield (
            menu.FX_GRAPH,
            f"{fmt.count(len(stages), 'stage')} of the graph, from Dynamo to Inductor",
        )
    if found.nodes_before:
        nodes = f"{fmt.count(found.nodes_before, 'scheduler node')} became {fmt.number(found.nodes_after)}"
        saved = saved_words(found.traffic)
        yield menu.FUSION, nodes + (f", {saved}" if saved else "")
    kernels = [(kernel, compilation) for compilation in report.compilations for kernel in compilation.kernels]
    if kernels:
        biggest, owner = max(kernels, key=lambda pair: (not pair[0].extern, len(pair[0].origins)))
        most = f"the most ops are in {plain(kernel_names(owner)[biggest.id], LONGEST_NAME)}"
        yield menu.KERNELS, f"{kernel_words(found)}; {most}"


def _performance(report: Report) -> Iterator[Line]:
    found = verdict(report)
    totals = phase_totals(report.phases)
    if totals:
        slowest = f"{plain(totals[0].name, LONGEST_NAME)} took {fmt.duration_s(totals[0].self_s)} by itself"
        cost = f"{fmt.duration_s(compile_time_s(report.phases))} of compile time"
        yield menu.COMPILE_TIME, f"{cost}; {slowest}"
    if found.speed is not None:
        yield menu.SPEEDUP, speed_title(found.speed, found.break_even).removesuffix(".")
    compared = numerics(report)
    if compared is not None:
        yield menu.NUMERICS, plain(numerics_sentence(compared).removesuffix("."), LONGEST_TEXT)
