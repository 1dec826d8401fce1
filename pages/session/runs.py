"""Runs and sweeps that are listed for this visitor, and navigation to one of them."""

import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import streamlit as st

from core import Comparable, CompileboardError, CompileJob, Run, StoreError, Sweep, SweepStanding
from core.views import progress
from core.views import runs as views
from core.views.sweep import SweepView
from pages import menu
from pages.gate.rules import Visitor
from pages.gate.visitor import who
from pages.session import server, url
from pages.session.url import go_to

KNOWN_S = 5.0
# Runs in a menu of names; older ones are found on the page Runs.
MOST_NAMED = 200  #: limit: runs in a menu of names
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
    """Return a page of the listed runs that match a search text, with current states."""
    view = run_lists().search(text, page, _viewer())
    return replace(view, runs=_visible(view.runs))


def models_of(text: str) -> dict[str, int]:
    """Return model → number of its ended runs that this visitor sees and that match a search text."""
    return run_lists().models(text, _viewer())


def runs_of_model(model: str, most: int, text: str) -> tuple[tuple[views.ListedRun, ...], int]:
    """Return a model's newest ended runs that match a search text, and the number of all such runs."""
    listed, total = run_lists().of_model(model, most, text, _viewer())
    return _visible(listed), total


def _viewer() -> views.Viewer | None:
    """Return this visitor as the viewer of lists of runs; None for the owner, who sees all runs."""
    visitor = who()
    if visitor.kind is Visitor.OWNER:
        return None
    kind = visitor.kind
    return views.Viewer(visitor.name, of_guests=kind is Visitor.ONLOOKER, own_only=kind is Visitor.STRANGER)


def _visible(listed: Iterable[views.ListedRun]) -> tuple[views.ListedRun, ...]:
    """Return the runs that are listed for this visitor according to the current files of the runs."""
    visitor = who()
    return tuple(each for each in listed if visitor.sees(each.run, each.status.by))


def _openable(run_id: str) -> views.ListedRun | None:
    """Return a run by its id; None if this visitor may not open it, or if there is no such run."""
    listed = run_lists().shown(run_id)
    return listed if listed is not None and who().may_open(listed.run, listed.status.by) else None


def last_took_s(job: CompileJob) -> float | None:
    """Return the seconds of the newest finished run of the same model; None if there is none."""
    title = job.title()
    listed = run_lists().last_done((title,), _viewer()).get(title)
    return listed.status.took_s if listed is not None else None


def named_runs() -> list[views.ListedRun]:
    """Return the newest listed runs for a menu of names, and the shown one; states may be old."""
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
    """Return the newest runs for visitors with the same rights, cached until `moment` changes."""
    return _run_lists().newest(MOST_NAMED, whose)


def runs_of(titles: Iterable[str]) -> tuple[views.ListedRun, ...]:
    """Return the newest listed runs with these titles."""
    return _visible(run_lists().of_titles(titles, _viewer()))


def last_runs(titles: Iterable[str]) -> dict[str, views.ListedRun]:
    """Return title → newest finished run, sweep cells excluded, with a summary read quickly."""
    newest_done = run_lists().last_done(titles, _viewer())
    newest = {title: listed for title, listed in newest_done.items() if _visible([listed])}
    complete, _ = summarised(tuple(newest.values()))
    return dict(zip(newest, complete, strict=True))


def runs_by_id(run_ids: Iterable[str]) -> tuple[views.ListedRun, ...]:
    """Return the runs with these ids that this visitor may open."""
    return tuple(filter(None, map(_openable, run_ids)))


def newest_of(fingerprint: str) -> views.ListedRun | None:
    """Return the newest listed run with this job fingerprint, and its current state; None without one."""
    listed = run_lists().newest_of(fingerprint, _viewer())
    return listed if listed is not None and _visible([listed]) else None


def runs_like(run: Run, title: str, job: CompileJob | None) -> tuple[Comparable, ...]:
    """Return the ended runs of the same model listed for this visitor, those of its fixes first."""
    visitor = who()
    candidates = run_lists().comparable(run, title, job, _viewer())
    return tuple(each for each in candidates if visitor.sees(each.run, each.status.by))


def summarised(listed: Sequence[views.ListedRun]) -> tuple[tuple[views.ListedRun, ...], bool]:
    """Return the runs with the summaries that are read in a moment, and True if any are still missing."""
    return run_lists().with_summaries(listed, MADE_WITHIN_S)


def show_run(run_id: str, page: menu.Page = menu.OVERVIEW) -> None:
    """Go to a run, by default to its overview."""
    st.session_state.pop(url.COMPILATION, None)
    go_to(page, {url.RUN: run_id})


MOST_LISTED = 100  #: limit: sweeps that the page lists


@dataclass(frozen=True, slots=True)
class ShownSweep:
    """A sweep as it was at `read_s` of the monotonic clock.

    `changed_ns` is the last time that a cell started or ended.
    """

    view: SweepView
    changed_ns: int
    read_s: float

    @property
    def standing(self) -> SweepStanding:
        """State and progress of the sweep."""
        return self.view.standing

    @property
    def left_s(self) -> float | None:
        """The estimated seconds left, minus the time since the estimate; None if there is no estimate."""
        left_s = self.standing.left_s
        return None if left_s is None else max(0.0, left_s - (time.monotonic() - self.read_s))

    @property
    def waits(self) -> str:
        """Reason why the first queued cell has not started; empty if no cell is queued."""
        queued = next((row.run for row in self.view.rows if row.state == "queued"), None)
        if queued is None:
            return ""
        try:
            runner = server.runner()
            return progress.waiting_words(runner.waits_for(runner.store.open(queued)))
        except StoreError:
            return ""

    @property
    def moment(self) -> str:
        """A value that changes when the charts have new data."""
        settled = [row.run for row in self.view.rows if row.settled]
        return " ".join([self.view.sweep.id, *settled])

    @property
    def own(self) -> bool:
        """True if this visitor may change the sweep."""
        return who().owns(self.view.sweep.by)


def shown_sweep() -> str | None:
    """Return the id of the sweep in the URL; None if there is none."""
    return url.asked(url.SWEEP)


def open_sweep(sweep_id: str) -> ShownSweep | None:
    """Return the current sweep by its id; None if this visitor can open no such sweep."""
    runner = server.sweeps()
    try:
        changed_ns = runner.store.changed_ns(sweep_id)
        sweep = runner.store.open(sweep_id)
        if not who().may_open(sweep, sweep.by):
            return None
        rows = runner.rows(sweep)
        standing = runner.standing(sweep, rows)
        name = runner.store.name(sweep_id) or sweep.title
        view = SweepView(sweep, rows, standing, name, server.environment)
        return ShownSweep(view, changed_ns, time.monotonic())
    except CompileboardError:
        return None


def open_search(job: CompileJob | None) -> ShownSweep | None:
    """Return the search in the URL, otherwise the newest one for the model of a job; None without one."""
    wanted = shown_sweep()
    of_model = (sweep.id for sweep in listed_sweeps() if job is not None and sweep.base.model == job.model
                and sweep.budget_s is not None)  # fmt: skip
    return open_sweep(wanted or next(of_model, ""))


def is_as_shown(shown: ShownSweep) -> bool:
    """Return True if a sweep's files have not changed since it was drawn; reads no rows."""
    runner = server.sweeps()
    try:
        changed = runner.store.changed_ns(shown.view.sweep.id) != shown.changed_ns
    except StoreError:
        return False
    live = [row for row in shown.view.rows if row.run and not row.settled]
    return (
        not changed
        and runner.is_executing(shown.view.sweep) == shown.standing.live
        and all(_state(row.run) == row.state for row in live)
    )


def _state(run_id: str) -> str:
    """Return the state of a run; empty if the run is gone."""
    try:
        return server.runner().store.open(run_id).standing().state
    except StoreError:
        return ""


def listed_sweeps() -> list[Sweep]:
    """Return the sweeps that are listed for this visitor, newest first."""
    visitor = who()
    return [sweep for sweep in server.sweeps().store.list() if visitor.sees(sweep, sweep.by)][:MOST_LISTED]


def show_sweep(sweep_id: str, page: menu.Page = menu.SWEEP) -> None:
    """Go to the page of a sweep."""
    go_to(page, url.link(**{url.SWEEP: sweep_id}) if page is menu.FASTER else {url.SWEEP: sweep_id})
