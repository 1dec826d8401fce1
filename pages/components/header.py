"""The header of every page: which run, which compilation, where it stands, and the verdict in chips."""

from __future__ import annotations

import time
from collections.abc import Sequence

import streamlit as st

from core import NO_RECORD, Run, Status, Verdict, verdict
from core.analysis import (
    Failure,
    Results,
    Speed,
    compared_words,
    failure_counts,
    failures,
    results_words,
    target_words,
)
from core.report import Report
from pages.components import format as fmt
from pages.components import state
from pages.components.chips import Chip, Tone, chips
from pages.components.keys import page_keys
from pages.components.speed_words import ratio_words
from pages.components.text import code, one_line, plain, prose
from pages.components.work_chips import work_chips

TONES: dict[str, Tone] = {
    "done": "ok",
    "running": "live",
    "queued": "live",
    "failed": "bad",
    "crashed": "bad",
    "damaged": "bad",
    "timed out": "bad",
    "out of memory": "bad",
    "cancelled": "warn",
    "interrupted": "warn",
}


def header() -> None:
    """Draw the pickers and the chips; the one place where run and compilation are switched."""
    runs = {run.id: label(run, status) for run, status in state.named()}
    asked = st.query_params.get(state.RUN)
    if asked and asked not in runs and asked != st.session_state.get(state.RUN):
        st.warning(f"There is no run {code(asked, 80)} here; it may have been deleted.", icon=":material/link_off:")
    state.from_url(state.RUN, runs, None)
    with st.container(horizontal=True, vertical_alignment="center", key="header"):
        st.selectbox(
            "Run",
            list(runs),
            key=state.RUN,
            format_func=lambda run_id: runs.get(run_id, run_id),
            placeholder="No run chosen: pick a sample, or an earlier run here",
            label_visibility="collapsed",
            width=430,
        )
        here = state.shown()
        if here is not None and here.report is not None:
            _compilation_picker(here.report)
    state.to_url(state.RUN, state.COMPILATION)
    ids = [item.id for item in here.report.compilations] if here is not None and here.report is not None else []
    page_keys(lambda pressed: _step(ids, pressed), key="page-keys")
    if here is not None:
        opened = chips(_chips(here), key="header-chips")
        if opened:
            st.switch_page(opened, query_params=state.link())


def label(run: Run, status: Status) -> str:
    """One run in one line, which never changes: the browser shows a chosen option's label as it first was."""
    made = time.localtime(status.created_s)
    today = made[:3] == time.localtime()[:3]
    return one_line(
        f"{status.title or run.id} · {time.strftime('%H:%M:%S' if today else '%Y-%m-%d %H:%M:%S', made)}", 90
    )


def _compilation_picker(report: Report) -> None:
    ids = [item.id for item in report.compilations]
    if not ids:
        return
    names = {item.id: f"[{item.id}] {one_line(item.frame.name or 'frame', 40)}" for item in report.compilations}
    preferred = state.compilation(report)
    state.from_url(state.COMPILATION, ids, preferred.id if preferred else ids[0])
    st.selectbox(
        "Compilation",
        ids,
        key=state.COMPILATION,
        format_func=lambda compile_id: names.get(compile_id, compile_id),
        label_visibility="collapsed",
        width=250,
        help="A compilation of one Python frame, as PyTorch numbers it: [frame/compilation].",
    )


def _step(ids: list[str], pressed: str) -> None:
    """`[` and `]`: the compilation before or after the chosen one."""
    by = {"[": -1, "]": 1}.get(pressed, 0)
    chosen = st.session_state.get(state.COMPILATION)
    if by and chosen in ids:
        st.session_state[state.COMPILATION] = ids[min(max(ids.index(chosen) + by, 0), len(ids) - 1)]


def _chips(here: state.Shown) -> list[Chip]:
    status = here.status
    items = [
        Chip(
            "no trace" if here.is_no_trace else status.state,
            tone=_tone(here),
            page="run/overview.py",
            tooltip=status.reason,
        )
    ]
    items += [Chip(text, tone="quiet") for text in _setting(here)]
    if here.report is None or here.is_no_trace:
        return items
    words = target_words(here.report)
    if words:
        items.append(Chip("not run", words.removesuffix("; not run"), "warn", "graphs/kernels.py", words))
    return [*items, *failure_chips(failures(here.report)), *verdict_chips(verdict(here.report))]


def failure_chips(found: Sequence[Failure]) -> list[Chip]:
    """What was not compiled: an error is red, a frame that runs eagerly is a warning."""
    counts = failure_counts(found)
    reasons = {failure.kind: f"[{failure.compilation}] {failure.reason}" for failure in reversed(found)}
    return [
        Chip(counts[kind], tone="bad" if kind == "failed" else "warn", page="run/overview.py", tooltip=reasons[kind])
        for kind in counts
    ]


def _tone(here: state.Shown) -> Tone:
    """The colour of how a run ended: one that is done is no success where a compilation failed."""
    failed = here.report is not None and any(item.kind == "failed" for item in failures(here.report))
    return "bad" if failed or here.is_no_trace else TONES.get(here.status.state, "")


def _setting(here: state.Shown) -> list[str]:
    job = here.job
    torch = here.report.setting.torch if here.report else ""
    parts = [job.device, *job.differences()] if job else ["opened log"] if here.status.kind == "log" else []
    return [one_line(part, 80) for part in (*parts, f"torch {torch}" if torch else "") if part]


def verdict_chips(found: Verdict) -> list[Chip]:
    """The verdict, each number with the page that shows where it comes from."""
    captured: Tone = "ok" if found.graphs else ""
    items = [
        Chip(fmt.number(found.graphs), "graph" if found.graphs == 1 else "graphs", page="graphs/fx_graph.py"),
        Chip(
            fmt.number(found.breaks),
            "graph break" if found.breaks == 1 else "graph breaks",
            "warn" if found.breaks else captured,
            "dynamo/graph_breaks.py",
            f"Places where Dynamo stopped; met {fmt.count(found.breaks_met, 'time')}" if found.breaks else "",
        ),
        Chip(
            fmt.number(found.recompiles),
            "recompile" if found.recompiles == 1 else "recompiles",
            "warn" if found.recompiles else captured,
            "dynamo/recompiles.py",
        ),
    ]
    items += work_chips(found.work)
    if found.speed is not None:
        items.append(_speed_chip(found.speed))
    if found.result is not None:
        items.append(_result_chip(found.result))
    return items


def _speed_chip(found: Speed) -> Chip:
    """The ratio in its tone: what was measured on a busy machine is neither good nor bad."""
    claimed: Tone = "ok" if found.faster else "warn" if found.slower else ""
    text = (
        ratio_words(found.interval)
        if found.clear or found.interval is None
        else f"none seen, {ratio_words(found.interval)}"
    )
    tooltip = "Eager over compiled, steady state, median with its 99 % interval"
    if found.disturbed:
        return Chip(text, "speedup, disturbed", "warn", "performance/speedup.py", f"{tooltip}; {found.disturbed}")
    return Chip(text, "speedup", claimed, "performance/speedup.py", tooltip)


def _result_chip(found: Results) -> Chip:
    tones: dict[str, Tone] = {"same": "ok", "differs": "bad", "not comparable": "warn"}
    compared = compared_words(found.compared)
    told = results_words(found) or (f"Compared with eager: {compared}" if compared else "")
    return Chip(found.outcome, "result", tones[found.outcome], "performance/speedup.py", one_line(told, 300))


def empty(what: str) -> None:
    """The state of a page before there is a run: what would be here, and how to get it."""
    st.subheader(what)
    st.write("Choose an earlier run above, or make one.")
    st.page_link("run/new_run.py", label="New run", icon=":material/add:")


def require_report(what: str) -> tuple[state.Shown, Report]:
    """The shown run and its report; a page that cannot go on says why and stops."""
    here = state.shown()
    if here is None:
        empty(what)
        st.stop()
    if here.report is None or here.is_no_trace:
        _without_report(here, what)
        st.stop()
    return here, here.report


def _without_report(here: state.Shown, what: str) -> None:
    if here.reading:
        wait_for_reading(here.run)
        return
    st.subheader(what)
    if here.status.live:
        st.info("The run is still going. Its progress is on the overview.", icon=":material/hourglass_top:")
    else:
        nothing = prose(NO_RECORD) if here.is_no_trace else "The run recorded nothing."
        st.error(plain(here.problem or here.status.reason, 400) or nothing)
    st.page_link("run/overview.py", label="Overview", icon=":material/summarize:", query_params=state.link())


@st.fragment(run_every=1.0)
def wait_for_reading(run: Run) -> None:
    """While another process reads a large log: say so, and go on once it has."""
    here = state.open_shown(run.id)
    if here is None or not here.reading:
        st.rerun()
    log = run.log_path()
    st.title("Reading the log…", anchor=False)
    st.write(f"It has {fmt.bytes_(log.stat().st_size if log else None)}; this is done once, in a process of its own.")
