"""Runs that are listed for this visitor, and navigation to a run."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace

import streamlit as st

from core import Comparable, CompileJob, Run
from core.views import runs as views
from pages import menu
from pages.gate.rules import Visitor
from pages.gate.visitor import who
from pages.session import server, url
from pages.session.navigate import go_to

KNOWN_S = 5.0
# Runs in a menu of names; older ones are found on the page Runs.
MOST_NAMED = 200
# Limits for one drawing of a page; the rest is made in the next one.
MADE_WITHIN_S = 0.3


def run_lists() -> views.RunLists:
    """Return the lists of the server's store; stop a page that is served without the gate."""
    server.runner()
    return _run_lists()


@st.cache_resource(show_spinner=False)
def _run_lists() -> views.RunLists:
    index = server.the_runner().index
    threading.Thread(target=index.fill, daemon=True).start()
    return views.RunLists(index)


def searched_runs(text: str, page: int) -> views.RunListView:
    """Return a page of the runs that are listed for this visitor and match a search text, with current states."""
    view = run_lists().search(text, page, _viewer())
    return replace(view, runs=_visible(view.runs))


def models_of(text: str) -> dict[str, int]:
    """Return the models of the ended runs that are listed here and match a search text, with their numbers."""
    return run_lists().models(text, _viewer())


def runs_of_model(model: str, most: int, text: str) -> tuple[tuple[views.ListedRun, ...], int]:
    """Return the newest listed runs of a model that match a search text, and the number of all."""
    listed, total = run_lists().of_model(model, most, text, _viewer())
    return _visible(listed), total


def _viewer() -> views.Viewer | None:
    """Return for whom the runs of this visitor are listed; None for all runs."""
    visitor = who()
    if visitor.kind is Visitor.OWNER:
        return None
    kind = visitor.kind
    return views.Viewer(visitor.name, of_guests=kind is Visitor.ONLOOKER, own_only=kind is Visitor.STRANGER)


def _visible(listed: Iterable[views.ListedRun]) -> tuple[views.ListedRun, ...]:
    """Return the runs that this visitor sees in lists, by what their directories say now."""
    visitor = who()
    return tuple(each for each in listed if visitor.sees(each.run, each.status.by))


def _openable(run_id: str) -> views.ListedRun | None:
    """Return a run by its id if this visitor may open it; None if not, or if there is none."""
    listed = run_lists().shown(run_id)
    return listed if listed is not None and who().may_open(listed.run, listed.status.by) else None


def last_took_s(job: CompileJob) -> float | None:
    """Return the seconds of the newest finished run of the same model; None if there is none."""
    title = job.title()
    listed = run_lists().last_done((title,), _viewer()).get(title)
    return listed.status.took_s if listed is not None else None


def named_runs() -> list[views.ListedRun]:
    """Return the newest listed runs for a menu of names, with states that may be some seconds old.

    The shown run is included, no matter how old it is, if this visitor may open it.
    """
    lists, store = run_lists(), server.runner().store
    moment = store.runs_dir.stat().st_mtime_ns, int(time.monotonic() / KNOWN_S), lists.index.updates
    known = _visible(_known(moment=moment, whose=_viewer()))
    asked = {st.query_params.get(url.RUN), st.session_state.get(url.RUN), st.session_state.get(f"url-{url.RUN}")}
    wanted = asked - {listed.id for listed in known} - {None}
    shown = [listed for run_id in wanted if (listed := _openable(str(run_id))) is not None]
    # A rank stands for its run.
    paths = {listed.run.path for listed in shown}
    kept = [*(listed for listed in known if listed.run.path not in paths or listed.id in asked), *shown]
    return sorted(kept, key=lambda listed: listed.status.created_s, reverse=True)


@st.cache_resource(max_entries=20, show_spinner=False)
def _known(moment: tuple[int, int, int], whose: views.Viewer | None) -> tuple[views.ListedRun, ...]:
    """Return the newest runs of some visitors, cached for all sessions for some seconds, or until the store changes."""
    return _run_lists().newest(MOST_NAMED, whose)


def runs_of(titles: Iterable[str]) -> tuple[views.ListedRun, ...]:
    """Return the newest listed runs with these titles."""
    return _visible(run_lists().of_titles(titles, _viewer()))


def last_runs(titles: Iterable[str]) -> dict[str, views.ListedRun]:
    """Return the newest finished run of each title, sweep cells excluded, with its summary if that is read quickly."""
    newest_done = run_lists().last_done(titles, _viewer())
    newest = {title: listed for title, listed in newest_done.items() if _visible([listed])}
    complete, _ = summarised(tuple(newest.values()))
    return dict(zip(newest, complete, strict=True))


def runs_by_id(run_ids: Iterable[str]) -> tuple[views.ListedRun, ...]:
    """Return the runs with these ids that this visitor may open."""
    return tuple(filter(None, map(_openable, run_ids)))


def newest_of(fingerprint: str) -> views.ListedRun | None:
    """Return the newest listed run with a job's fingerprint, with its current state; None if there is none."""
    listed = run_lists().newest_of(fingerprint, _viewer())
    return listed if listed is not None and _visible([listed]) else None


def runs_like(run: Run, title: str, job: CompileJob | None) -> tuple[Comparable, ...]:
    """Return the ended runs of the same model that are listed for this visitor, newest first."""
    visitor = who()
    candidates = run_lists().comparable(run, title, job, _viewer())
    return tuple(each for each in candidates if visitor.sees(each.run, each.status.by))


def summarised(listed: Sequence[views.ListedRun]) -> tuple[tuple[views.ListedRun, ...], bool]:
    """Return the runs with their summaries, as many as are read in a moment, and True if some are still missing."""
    return run_lists().with_summaries(listed, MADE_WITHIN_S)


def show_run(run_id: str, page: menu.Page = menu.OVERVIEW) -> None:
    """Go to a run, by default to its overview."""
    st.session_state.pop(url.COMPILATION, None)
    go_to(page, {url.RUN: run_id})
