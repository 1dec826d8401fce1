"""The server's runner, sweep runner and torch environment, and the limited caches of all sessions.

`theme` is the visitor's; `cached_figure` caches a figure for all sessions.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import wraps
from inspect import signature
from typing import ParamSpec, TypeVar

import streamlit as st

from core import CompileboardError, Environment, Run, Runner, Store, SweepRunner, limits_of, open_engine
from core.views import runs, sharing
from pages.gate.people import the_people
from pages.gate.rules import code_allowed
from pages.gate.visitor import Who, maker_of, may_bring_code, require_gate, who
from pages.look.charts import go
from pages.look.palette import Theme


def runner() -> Runner:
    """Return the server's runner; stop a page that is served without the gate."""
    require_gate()
    return the_runner()


def open_run(run_id: str) -> Run:
    """Return a stored run that this visitor may open, otherwise StoreError as for a missing one."""
    store = runner().store
    run = store.open(run_id)
    if not who().may_open(run, maker_of(run)):
        raise store.missing(run_id)
    return run


def previewed_run(run_id: str, token: str, visitor: Who) -> Run | None:
    """Return a stored run if a visitor may open it or `token` is the token of its link, otherwise None."""
    try:
        run = the_runner().store.open(run_id)
    except CompileboardError:
        return None
    return run if visitor.may_open(run, maker_of(run)) or sharing.may_preview(run, token) else None


@st.cache_resource(show_spinner=False)
def the_runner() -> Runner:
    """Return the server's runner, for threads that belong to no visitor."""
    store = Store()
    allowed = code_allowed()
    limits = limits_of(os.environ, allowed)
    engine, people = open_engine(store, allowed), the_people()
    if people is None:
        return Runner(store, engine, code_allowed=may_bring_code, limits=limits, tries=allowed)
    return Runner(store, engine, code_allowed=may_bring_code, limits=limits, rate_of=people.rate, tries=allowed)


def sweeps() -> SweepRunner:
    """Return the server's sweep runner; stop a page that is served without the gate."""
    require_gate()
    return the_sweeps()


@st.cache_resource(show_spinner=False)
def the_sweeps() -> SweepRunner:
    """Return the server's sweep runner, for threads of no visitor; it resumes earlier sweeps."""
    found = SweepRunner(the_runner(), trusted=code_allowed)
    found.resume_interrupted()
    return found


def take_up_sweeps() -> None:
    """Resume the sweeps of the previous server, before the first visit."""
    with suppress(CompileboardError):
        the_sweeps()


@contextmanager
def announced(url: str) -> Iterator[None]:
    """Publish the server's address in its store, and apply the store's retention, in this context."""
    ended = threading.Event()
    with ExitStack() as stack:
        stack.callback(ended.set)
        with suppress(CompileboardError):
            store = Store()
            threading.Thread(target=runs.keep_retaining, args=(store.home, ended), daemon=True).start()
            stack.enter_context(store.announced(url))
        yield


@st.cache_resource
def _environment() -> Future[Environment]:
    """Query torch's environment and build the precompiled header, in a thread; return the future."""

    def ask() -> Environment:
        engine = the_runner().engine
        found = engine.environment()
        if found.compiler:
            engine.warm_up()
        return found

    return ThreadPoolExecutor(1).submit(ask)


def environment() -> Environment | None:
    """Return versions, devices and backends of torch here, or on the nodes; None before it started."""
    future = _environment()
    if not future.done():
        return None
    engine = the_runner().engine
    # Nodes come and go, and the engine knows those that are ready. The node of this machine has no name.
    has_nodes = any(engine.nodes("cpu"))
    try:
        known = future.result()
    except CompileboardError as error:
        if not has_nodes:
            return Environment(problem=str(error))
        _environment.clear()
        return None
    return engine.environment() if has_nodes else known


Parameters = ParamSpec("Parameters")
Answer = TypeVar("Answer")
# A flame chart of a thousand phases takes 2 MB.
MOST_KEPT = 32  #: cached results of each kind, for all sessions


def cached(
    says: str | bool = False, *, seconds: float | None = None
) -> Callable[[Callable[Parameters, Answer]], Callable[Parameters, Answer]]:
    """Cache the newest results of a function for all sessions; callers must not change the results.

    Arguments whose names begin with `_` are not part of the key. `says` is shown while a result is computed; results
    expire after `seconds`. Results of a run that is `going` are not cached, since more will be recorded.
    """

    def keep(function: Callable[Parameters, Answer]) -> Callable[Parameters, Answer]:
        kept: Callable[..., Answer] = st.cache_resource(max_entries=MOST_KEPT, show_spinner=says, ttl=seconds)(function)
        names = tuple(signature(function).parameters)

        @wraps(function)
        def answer(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Answer:
            going = any(getattr(arg, "going", False) is True for arg in args)
            # By name, since Streamlit inspects the function's signature for each positional argument of each call.
            return function(*args, **kwargs) if going else kept(**dict(zip(names, args, strict=False)), **kwargs)

        return answer

    return keep


def theme() -> Theme:
    """Return the visitor's theme."""
    return "dark" if st.context.theme.type == "dark" else "light"


def cached_figure(make: Callable[[], go.Figure], *what: str | int | None) -> go.Figure:
    """Return the figure that `make` returns, cached for all sessions by `what`."""
    return _figure(what, make)


@cached()
def _figure(what: tuple[str | int | None, ...], _make: Callable[[], go.Figure]) -> go.Figure:
    return _make()
