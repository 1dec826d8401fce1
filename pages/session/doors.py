"""What a visitor may set off. Every change to the store goes through here, and each door asks who is there first."""

from __future__ import annotations

from typing import BinaryIO

import streamlit as st

from core import CompileboardError, CompileJob, Run
from core.tools import Request
from core.tools import forget as forget_answer
from pages.gate.visitor import Who, who
from pages.look.text import plain
from pages.session import server


def submit(job: CompileJob) -> Run:
    """Queue a job; raises CompileboardError."""
    visitor = who()
    visitor.require_change()
    return server.runner().submit(job, visitor.name)


def start_tool(run: Run, request: Request) -> Run:
    """Ask about a kernel of a run; raises CompileboardError."""
    visitor = who()
    visitor.require_change()
    return server.runner().start_tool(run, request, visitor.name)


def add_log(name: str, file: BinaryIO, visitor: Who | None = None) -> Run:
    """Store a log from elsewhere, for who visits the page or is named; raises CompileboardError."""
    visitor = visitor or who()
    visitor.require_change()
    return server.the_runner().add_log(name, file, visitor.name)


def cancel(run: Run) -> None:
    """End a run, as the callback of a button: says itself why not."""
    try:
        who().require_own(run)
        server.runner().cancel(run)
    except CompileboardError as error:
        st.toast(plain(str(error), 300))


def delete(run: Run) -> None:
    """Remove a run for good; raises CompileboardError."""
    who().require_own(run)
    server.runner().store.delete(run)


def forget(run: Run, request: Request) -> None:
    """Remove an answer, so that it can be asked again; raises CompileboardError."""
    who().require_change()
    forget_answer(run, request)
