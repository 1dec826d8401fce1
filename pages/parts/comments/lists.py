"""Pinned parts and comments of a run, as lists on its overview."""

from __future__ import annotations

import time

import streamlit as st

from core.base import words as fmt
from core.views import comments as views
from pages.look.text import LONGEST_NAME, plain
from pages.parts.comments.comments import comments_of, link
from pages.session.shown import ShownRun

MOST_THREADS = 50


def pinned_parts(shown: ShownRun) -> None:
    """Draw the pinned parts, each with one figure and a link; nothing without any."""
    view = comments_of(shown)
    if not view.talk.pins:
        return
    st.markdown("**Pinned**")
    for pin in view.talk.pins:
        figure = "not in this log" if view.missing(pin.anchor) else view.figure(pin.anchor)
        link(view, pin.anchor, " · ".join(filter(None, (view.label(pin.anchor), figure))))


def all_threads(shown: ShownRun) -> None:
    """Draw each thread in one line, with a link to what it is about; nothing without comments."""
    view = comments_of(shown)
    if view.problem:
        st.error(plain(view.problem), icon=":material/error:")
    if not view.threads:
        return
    st.markdown(f"**{view.title}**")
    for thread in view.newest[:MOST_THREADS]:
        link(view, thread.first.anchor, f"{view.label(thread.first.anchor)} · {_line(thread)}")
    if len(view.threads) > MOST_THREADS:
        st.caption(f"{fmt.count(len(view.threads) - MOST_THREADS, 'older thread')} not shown")


def _line(thread: views.Thread) -> str:
    """Return the newest comment of a thread in one line."""
    last = next(comment for comment in reversed(thread.comments) if comment.deleted_s is None)
    by = plain(views.author_words(last.by, last.imported))
    resolved = "" if thread.is_open else " · resolved"
    return f"{by}, {fmt.ago(last.at_s, time.time())}: {plain(last.text, LONGEST_NAME)}{resolved}"
