"""The one runner of this server, that of its sweeps, and what torch can do here."""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

import streamlit as st

from core import CompileboardError, Environment, Runner, Store, SweepRunner, limits_of, open_engine
from pages.gate.rules import code_allowed
from pages.gate.visitor import may_bring_code, require_gate


def runner() -> Runner:
    """The one runner of this server; a page that a server shows past the gate ends here."""
    require_gate()
    return the_runner()


@st.cache_resource(show_spinner=False)
def the_runner() -> Runner:
    """The same, for threads that belong to no visitor."""
    store = Store()
    limits = limits_of(os.environ, code_allowed())
    return Runner(store, open_engine(store), code_allowed=may_bring_code, limits=limits)


def sweeps() -> SweepRunner:
    """The one runner of this server's sweeps; a page that a server shows past the gate ends here."""
    require_gate()
    return the_sweeps()


@st.cache_resource(show_spinner=False)
def the_sweeps() -> SweepRunner:
    """The same, for threads that belong to no visitor; it takes up what a server before this one has left."""
    found = SweepRunner(the_runner(), trusted=code_allowed)
    found.resume_interrupted()
    return found


def take_up_sweeps() -> None:
    """Go on with the sweeps that the server before this one has left, before anybody visits."""
    with suppress(CompileboardError):
        the_sweeps()


@st.cache_resource
def _environment() -> Future[Environment]:
    """Asks torch what it can do and has the precompiled header built, while the page is already there."""

    def ask() -> Environment:
        engine = the_runner().engine
        found = engine.environment()
        if found.compiler:
            engine.warm_up()
        return found

    return ThreadPoolExecutor(1).submit(ask)


def environment() -> Environment | None:
    """Versions, devices and backends of torch here; None while torch is still starting, `problem` if it cannot."""
    future = _environment()
    if not future.done():
        return None
    try:
        return future.result()
    except CompileboardError as error:
        return Environment(problem=str(error))
