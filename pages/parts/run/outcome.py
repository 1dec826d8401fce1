"""The outcome of a run: its end, its compilations, and how much of its log was read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from core import NO_RECORD, sentence, verdict
from core.analysis import Entry, Failure, compilation_tree, failures, flattened, lowered_ops
from core.base import words as fmt
from core.graph import source_path
from core.report import Compilation, Report, RunError
from pages import menu
from pages.components.code.view import code_view
from pages.look.sizes import SHORT, TALL
from pages.look.text import LONGEST_LINE, LONGEST_NAME, LONGEST_TEXT, code, one_line, plain, prose
from pages.parts.code import user_code
from pages.session import url
from pages.session.navigate import go_to
from pages.session.shown import Shown
from pages.session.tables import in_words, newly_picked
from pages.session.view import RunView

ENDED_BY_CHOICE = ("cancelled", "interrupted")
SHOWN_WHOLE = 8
MOST_FAILURES = 5
HEAVIEST = 5
# Counted as in the title and the chip: ops that Inductor lowers.
OPS = "post-grad ops"
FORMS: dict[str, Callable[[Any], str]] = {OPS: fmt.number, "kernels": fmt.number, "compile time": fmt.duration_s}


def outcome(here: Shown) -> None:
    """Draw why a run failed, with the user's own lines first and the raw traceback folded."""
    error = here.report.error if here.report else None
    if here.is_no_trace:
        st.error(prose(NO_RECORD), icon=":material/error:")
    if here.status.state == "done" and error is not None:
        _error(error)
    if here.status.state == "done" or here.going:
        return
    if here.problem:
        st.error(plain(here.problem), icon=":material/error:")
    if error is not None:
        _error(error)
    elif here.status.state in ENDED_BY_CHOICE:
        st.info("What was recorded until then is below.", icon=":material/info:")
    else:
        st.error(plain(here.status.reason or here.status.state), icon=":material/error:")
    tail = here.run.output_tail()
    if tail:
        with st.expander("The worker's last words", expanded=error is None):
            st.code(tail, language=None, height=SHORT if tail.count("\n") > SHOWN_WHOLE else "content")


def _error(error: RunError) -> None:
    """Draw the place of an error, and the rest of its message, whose first line is in the title."""
    field = f", field {code(error.field)}" if error.field else ""
    more = f": {prose(error.explanation, LONGEST_TEXT)}" if error.explanation else "."
    st.error(f"**{plain(error.type)}** at {code(error.stage)}{field}{more}", icon=":material/error:")
    with st.expander("The whole traceback"):
        st.code(error.traceback, language="pytb", height=SHORT)


def headline(here: Shown) -> str:
    """Draw the first line of the overview: the verdict, or how the run failed."""
    error = here.report.error if here.report else None
    if here.status.state == "damaged":
        return "The run is damaged."
    if here.is_no_trace:
        return "This is no torch trace."
    if here.going or here.status.state == "done" or here.status.kind == "log":
        return _verdict(here.report) if here.report else "This log cannot be read."
    if error is not None:
        line = f" on line {error.frames[-1].line} of your code" if error.frames else ""
        said = prose(error.message.strip().partition("\n")[0].rstrip("."), LONGEST_LINE)
        return f"The run failed{line}: {plain(error.type, LONGEST_NAME)}{said and f': {said}'}."
    if here.status.state in ENDED_BY_CHOICE:
        return f"The run was {here.status.state}."
    return f"The run ended: {here.status.state}."


def _verdict(report: Report) -> str:
    """Return the verdict as Markdown; its failures and differences contain names from the user's code."""
    found = verdict(report)
    differs = found.result is not None and found.result.outcome == "differs"
    named = found.failures or found.ended or differs
    return prose(sentence(found), LONGEST_TEXT) if named else sentence(found)


def not_compiled(view: RunView) -> None:
    """Draw each failed compilation and each frame that runs eagerly, with torch's reason and its folded traceback."""
    found = failures(view.report)
    # The cards of the findings show the reason of the first failure of each kind.
    told = {failure.kind: failure.compilation for failure in reversed(found)}
    for failure in found[:MOST_FAILURES]:
        if told[failure.kind] != failure.compilation:
            _failure(failure)
        with st.expander(f"torch's error for \\[{plain(failure.compilation)}\\], in full"):
            st.code(_error_text(view, view.report.compilation(failure.compilation)), language="pytb", height=SHORT)
    if len(found) > MOST_FAILURES:
        st.caption(f"{fmt.number(len(found) - MOST_FAILURES)} more among the compilations.")


def _failure(failure: Failure) -> None:
    place = f" at {code(failure.place.short)}" if failure.place.file else ""
    name = f"\\[{plain(failure.compilation)}\\] {code(failure.frame)}{place}"
    words = f"{name}: **{prose(failure.reason, LONGEST_TEXT)}**; {failure.consequence}."
    if failure.kind == "failed":
        st.error(words, icon=":material/error:")
    else:
        st.warning(words, icon=":material/block:")


def _error_text(view: RunView, compilation: Compilation | None) -> str:
    if compilation is None or compilation.error_text is None:
        return (compilation.error if compilation else "") or "It was not recorded."
    return view.text(compilation.error_text)


def compilations(report: Report) -> None:
    """Draw the heaviest compilations; a click opens the graph, and a page shows all compilations."""
    st.header("Compilations", anchor=False)
    if not report.compilations:
        st.write(nothing_compiled(report))
        return
    rows = [entry for _, entry in flattened(compilation_tree(report))]
    lowered = {compilation.id: lowered_ops(compilation) for compilation in report.compilations}
    weight = {entry.id: (lowered.get(entry.id) or 0, entry.ops, entry.seconds or 0.0) for entry in rows}
    heavy = sorted(rows, key=lambda entry: weight[entry.id], reverse=True)[:HEAVIEST]
    table = in_words(pd.DataFrame([_row(entry, lowered.get(entry.id)) for entry in heavy]), FORMS)
    opened = newly_picked(table, heavy, "compilations", width="stretch")
    if opened is not None:
        go_to(menu.FX_GRAPH, url.link(**{url.COMPILATION: opened.id}))
    page = menu.COMPILATIONS
    several = len(rows) > len(heavy)
    label = f"All {fmt.number(len(rows))}; these have the most ops" if several else "More of each"
    st.page_link(page.script, label=label, icon=page.icon, query_params=url.link())


def nothing_compiled(report: Report) -> str:
    """Return the reason why there is no compilation, as far as the log shows it."""
    if report.setting.job is not None:
        return "torch.compile compiled nothing: no frame was captured."
    return "The log holds no compilation."


def _row(entry: Entry, ops: int | None) -> dict[str, object]:
    return {
        "id": f"[{entry.id}]",
        "function": one_line(entry.name, LONGEST_NAME),
        OPS: ops,
        "kernels": entry.kernels,
        "compile time": entry.seconds,
        "status": entry.status,
    }


def model_code(view: RunView) -> None:
    """Draw the compiled code, with graph breaks marked."""
    report = view.report
    picture = user_code(view, breaks=report.graph_breaks, error=report.error)
    st.header("The model", anchor=False)
    if picture is None:
        path = source_path(report)
        where = f" Its frames name {code(path)}." if path else ""
        st.write(f"The log does not hold the code.{where} Runs made here record it.")
        return
    code_view(picture, key="overview-code", height=TALL)


def _shown(records: int, unparsed: int) -> str:
    if not unparsed:
        return "yes"
    return "" if unparsed >= records else f"{fmt.number(records - unparsed)} of them"


def what_was_read(report: Report) -> None:
    """Draw the parts of the log that the report uses: record kinds that are read, not read, and unreadable."""
    problems = sum(problem.count for problem in report.problems)
    title = f"The log: {fmt.bytes_(report.log_bytes)}, {fmt.count(sum(report.kinds.values()), 'record')}"
    with st.expander(title + (f", {fmt.count(problems, 'problem')}" if problems else "")):
        for problem in report.problems:
            first = fmt.number(problem.first_offset)
            st.warning(f"{plain(problem.what)}: {fmt.count(problem.count, 'time')}, first at byte {first}")
        rows = [
            {
                "kind": one_line(kind, LONGEST_LINE),
                "records": count,
                "shown": _shown(count, report.unparsed.get(kind, 0)),
            }
            for kind, count in sorted(report.kinds.items(), key=lambda item: -item[1])
        ]
        st.dataframe(pd.DataFrame(rows, columns=["kind", "records", "shown"]), hide_index=True, height=SHORT)
        st.caption(
            "Kinds that are not shown stay in the log, which can be downloaded on the page Runs and opened in tlparse."
        )
