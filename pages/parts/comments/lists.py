"""Pinned parts and comments as lists: of a run on its overview, and of two runs side by side."""

from __future__ import annotations

import time

import streamlit as st

from core import Run
from core.views import comments as views
from pages.look.text import plain
from pages.parts.comments.comments import comments_of, link
from pages.session.shown import ShownRun

MOST_THREADS = 50
# Parts of two runs, and threads on each.
MOST_PARTS = 20
MOST_ON_PART = 3


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
        link(view, thread.first.anchor, f"{view.label(thread.first.anchor)} · {thread.line(time.time())}")
    if len(view.threads) > MOST_THREADS:
        st.caption(views.older_words(len(view.threads) - MOST_THREADS))


def compared_comments(left: ShownRun, right: ShownRun) -> None:
    """Draw what both runs have comments or pins on, the same part of both side by side; nothing without any."""
    sides = (left.run, comments_of(left)), (right.run, comments_of(right))
    parts = views.compared_parts(sides[0][1], sides[1][1])
    if not parts:
        return
    st.header("Comments", anchor=False)
    for anchors in parts[:MOST_PARTS]:
        for column, (run, view), anchor in zip(st.columns(2, gap="medium"), sides, anchors, strict=True):
            if anchor is not None:
                with column, st.container(gap=None):
                    _part(run, view, anchor)
    if len(parts) > MOST_PARTS:
        st.caption(views.elsewhere_words(len(parts) - MOST_PARTS, "the overviews of both runs"))


def _part(run: Run, view: views.CommentsView, anchor: views.Anchor) -> None:
    """Draw the comments on one part of a run, the newest threads only, each with a link to it."""
    threads = view.threads_on(anchor)
    link(view, anchor, views.part_label(view.label(anchor), threads, view.pin_of(anchor) is not None), run)
    for thread in threads[-MOST_ON_PART:]:
        st.caption(thread.line(time.time()))
