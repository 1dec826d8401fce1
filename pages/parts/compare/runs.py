"""Runs and ranks to compare: choice of the right run, cached comparisons, and groups of ranks.

Runs of the same model are offered first. A what-if run has the shown run's job with changed options.
"""

import subprocess
from collections.abc import Sequence
from functools import partial

import streamlit as st

from core import Comparable, CompileJob, Environment
from core.views import ranks as rank_views
from core.views import runs as lists
from core.views import speedup
from core.views.compare import CompareView
from core.views.job_form import JobForm
from core.views.pairs import KernelPairsView
from core.views.sweep import WhatIfMenu
from pages import menu
from pages.gate.visitor import may_bring_code
from pages.look.palette import MAX_CHARS
from pages.look.text import LONGEST_LINE, one_line
from pages.parts.run.submit import job_again, retarget, run_of
from pages.session import server, url
from pages.session.actions import attempt
from pages.session.downloads import comparison_download
from pages.session.header import page_title
from pages.session.runs import named_runs, runs_by_id, runs_like
from pages.session.server import cached
from pages.session.shown import RunView, ShownRun, open_view
from pages.session.url import pressed

TYPED = "another option"


def other_runs(view: RunView) -> tuple[Comparable, ...]:
    """Return the ended runs of the same model that are listed for this visitor; see `runs_like`."""
    return runs_like(view.run, view.shown.status.title, view.job)


def labels(candidates: Sequence[Comparable]) -> dict[str, str]:
    """Return each run's unique label in the list of right sides: settings, time and end of id."""
    return {listed.id: _label(listed) for listed in runs_by_id(other.run.id for other in candidates)}


def any_runs(view: RunView) -> dict[str, str]:
    """Return id → label of the runs to choose from: ranks, runs of the model, others, the URL's."""
    ranks = {other.id: lists.rank_label(other) for other in view.run.other_ranks()}
    named = {listed.id: _label(listed) for listed in named_runs()}
    asked = url.asked(url.OTHER)
    there = open_view(asked) if asked and asked not in named and asked not in ranks else None
    if there is not None:
        named |= {listed.id: _label(listed) for listed in runs_by_id([there.run.id])}
    alike = labels(other_runs(view))
    named = {run_id: label for run_id, label in named.items() if not view.run.is_same_run(run_id)}
    return {**ranks, **alike, **named}


def picked_other(names: dict[str, str], first: str | None) -> str | None:
    """Return the id of the right run, by default that of the URL, else `first`; None if none is picked."""
    url.read(url.OTHER, names, first)
    picked: str | None = url.state_of(url.OTHER)
    return picked


def hour_price() -> float:
    """Return the price of a device-hour that the visitor enters; 0 by default."""
    return st.number_input(speedup.HOUR_PRICE, 0.0, help=speedup.HOUR_PRICE_HELP, width=200)


def choice(view: RunView, names: dict[str, str], right: RunView | None = None) -> None:
    """Let the visitor pick the right run, swap both runs, change an option, and export the comparison."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown("**Right**", width="content")
        other_id = _pick_other(names)
        if other_id:
            swapped = {url.RUN: other_id, url.OTHER: view.run.id}
            st.page_link(menu.COMPARE.script, label="Swap", icon=":material/swap_horiz:", query_params=swapped)
        what_if(view)
        if right is not None:
            comparison_download(view.run, right.run)


def _pick_other(names: dict[str, str]) -> str | None:
    chosen: str | None = st.selectbox(
        "Right",
        list(names),
        key=url.OTHER,
        format_func=lambda name: names.get(name, name),
        placeholder=CompareView.no_choice,
        label_visibility="collapsed",
    )
    url.write(url.OTHER)
    return chosen


def right_or_retarget(view: RunView, names: dict[str, str]) -> None:
    """Let the visitor pick the right run, or run the job for another target."""
    with st.container(horizontal=True, vertical_alignment="center"):
        _pick_other(names)
        retarget(view)


def newest_other(view: RunView, names: dict[str, str]) -> str | None:
    """Return the id of the default right run: another rank, or a run of the model; None without."""
    ranks = view.run.other_ranks()
    if ranks:
        return ranks[0].id
    alike = other_runs(view)
    target = view.job.target if view.job else ""
    same = [other for other in alike if other.job is None or other.job.target == target]
    return next((other.run.id for other in (*same, *alike) if other.run.id in names), None)


def _label(listed: lists.ListedRun) -> str:
    return one_line(f"{listed.label} · {listed.id[-4:]}", LONGEST_LINE)


def compare_view(left: RunView, right: RunView) -> CompareView:
    """Return all differences of two runs."""
    return _compared(_ids(left, right), left, right)


@cached("Comparing")
def _compared(ids: tuple[str, ...], _left: RunView, _right: RunView) -> CompareView:
    return CompareView(_left.side, _right.side, (_left.shown.status.node, _right.shown.status.node))


def kernel_pairs_view(left: RunView, compile_id: str, right: RunView) -> KernelPairsView | None:
    """Return the kernels of two runs' compilation in pairs; None if the right run lacks the compilation."""
    return _kernels((*_ids(left, right), compile_id), left, right)


@cached("Comparing")
def _kernels(ids: tuple[str, ...], _left: RunView, _right: RunView) -> KernelPairsView | None:
    return KernelPairsView.of(_left.side, ids[-1], _right.side)


def _ids(left: RunView, right: RunView) -> tuple[str, ...]:
    return left.run.id, str(left.report.log_bytes), right.run.id, str(right.report.log_bytes)


def what_if(of: ShownRun | RunView) -> None:
    """Offer to change an option of the job; draw nothing if the job may not run again here."""
    job = job_again(of)
    if job is None:
        return
    with st.popover("What if…", icon=":material/alt_route:", help=WhatIfMenu.help):
        label = st.selectbox("Option", [*MENU, TYPED], key="what-if-option")
        right_job = _typed(job) if label == TYPED else _chosen(job, label)
        if pressed("Run and compare", type="primary", key="what-if-run", disabled=right_job is None) and right_job:
            _compare_with(right_job)


def _chosen(job: CompileJob, label: str) -> CompileJob | None:
    choices = MENU[label](job)
    word = st.selectbox("New value", list(choices), key=f"what-if-{label}")
    return choices.get(word or "")


def _typed(job: CompileJob) -> CompileJob | None:
    """Draw a field for options in the form of sweep axes; return the changed job, if any."""
    menu = _menu(job)
    text = st.text_area(
        "Fields",
        key="what-if-fields",
        placeholder=menu.fields_example,
        help=menu.fields_help,
        height=84,
        max_chars=MAX_CHARS,
        label_visibility="collapsed",
    )
    return attempt(lambda: menu.changed_job(text))


def _compare_with(job: CompileJob) -> None:
    """Show a run of the job on the right: a finished run of the same job, or a new one."""
    run = run_of(job)
    if run is not None:
        url.put(url.OTHER, run.id)
        st.rerun()


def _menu(job: CompileJob) -> WhatIfMenu:
    return WhatIfMenu(job, lambda: _backends(job))


def _backends(job: CompileJob) -> list[str]:
    return JobForm(server.environment() or Environment(), job, server.runner().limits, may_bring_code()).backends


def _choices(label: str, job: CompileJob) -> dict[str, CompileJob]:
    return _menu(job).choices(label)


# The jobs that an option makes of a job, by the option's label.
MENU = {label: partial(_choices, label) for label in WhatIfMenu.labels}


def ranks_view(view: RunView, run_ranks: rank_views.RunRanks) -> rank_views.RanksView | None:
    """Return the ranks in groups; None while another process reads their logs."""
    key = (view.run.path.name, len(run_ranks.ranks))
    if not run_ranks.is_quick and _reader(key, run_ranks).poll() is None:
        return None
    return _ranks(key, view, run_ranks)


@cached("Comparing the ranks")
def _ranks(key: tuple[str, int], _view: RunView, _run_ranks: rank_views.RunRanks) -> rank_views.RanksView:
    return _run_ranks.view()


@cached()
def _reader(key: tuple[str, int], _run_ranks: rank_views.RunRanks) -> subprocess.Popen[bytes]:
    return _run_ranks.start_reading()


@st.fragment(run_every=1.0)
def wait_for_ranks(view: RunView, run_ranks: rank_views.RunRanks) -> None:
    """Show how many logs another process has read, and rerun the page when it is done."""
    if ranks_view(view, run_ranks) is not None:
        st.rerun()
    page_title(run_ranks.reading)
    read, words = run_ranks.progress
    st.progress(read, text=words)


def compare_link(run_ranks: rank_views.RunRanks, difference: rank_views.DifferenceView) -> None:
    """Draw a link to the comparison of the two ranks of a difference."""
    st.page_link(
        menu.COMPARE.script,
        label=f"Compare {' with '.join(difference.names)}",
        icon=menu.COMPARE.icon,
        query_params=run_ranks.link(difference),
    )
