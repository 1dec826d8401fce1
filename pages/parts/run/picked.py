"""Actions on the runs that are selected in the table: rename, tag, note, pin, open, download, compare, delete."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from core import MOST_NAME_CHARS, MOST_NOTE_CHARS, Run
from core.base import words as fmt
from core.views import runs as lists
from pages import menu
from pages.gate.visitor import ANOTHERS, who
from pages.look.sizes import MAX_LINE_CHARS
from pages.look.text import LONGEST_TEXT, plain
from pages.parts.audience import run_audience
from pages.parts.run.measure import measure_picked
from pages.session import actions, url
from pages.session.actions import attempt, toasted
from pages.session.downloads import html_download, log_download, report_download
from pages.session.navigate import go_to
from pages.session.presses import pressed
from pages.session.runs import show_run
from pages.session.shown import open_shown
from pages.session.state import held

NAME_PX, TAGS_PX = 260, 200


def picked_run(listed: lists.ListedRun) -> None:
    """Draw why a run is damaged, and the fields that its owner may change."""
    run, status = listed.pair
    if status.state == "damaged":
        st.error(plain(status.reason, LONGEST_TEXT), icon=":material/error:")
    if not who().owns(status.by):
        return
    name, tags, note, pinned = (f"{field}-{run.id}" for field in ("name", "tags", "note", "pin"))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            "Name",
            run.name(),
            key=name,
            placeholder=status.title,
            max_chars=MOST_NAME_CHARS,
            width=NAME_PX,
            on_change=lambda: attempt(lambda: actions.rename(run, held(name)), toasted),
        )
        st.text_input(
            "Tags",
            " ".join(listed.entry.tags),
            key=tags,
            placeholder="Words, such as: nightly",
            max_chars=MAX_LINE_CHARS,
            width=TAGS_PX,
            on_change=lambda: attempt(lambda: actions.tag(run, held(tags)), toasted),
        )
        st.text_input(
            "Note",
            run.note(),
            key=note,
            placeholder="Note on the run",
            max_chars=MOST_NOTE_CHARS,
            on_change=lambda: attempt(lambda: actions.annotate(run, held(note)), toasted),
        )
        run_audience(run)
        st.toggle(
            "Pinned",
            listed.entry.pinned,
            key=pinned,
            help="A pinned run cannot be deleted.",
            on_change=lambda: attempt(lambda: actions.pin(run, held(pinned)), toasted),
        )


def downloads_of(listed: lists.ListedRun) -> None:
    """Draw the buttons that open a run, download its files, and measure it again."""
    run, status = listed.pair
    if pressed("Open", key=f"open-{run.id}", type="primary", icon=":material/open_in_new:"):
        show_run(run.id)
    log_download(run)
    if status.state == "damaged":
        return
    report_download(run)
    html_download(run)
    if (shown := open_shown(run.id)) is not None:
        measure_picked(shown)


def compare_button(left: lists.ListedRun, right: lists.ListedRun) -> None:
    """Draw the button that compares two runs."""
    if pressed("Compare", key="compare-runs", type="primary", icon=menu.COMPARE.icon):
        go_to(menu.COMPARE, {url.RUN: left.id, url.OTHER: right.id})


def delete_button(picked: Sequence[lists.ListedRun]) -> None:
    """Draw a button that deletes the visitor's own runs, except live and pinned ones."""
    own = [listed for listed in picked if who().owns(listed.status.by)]
    deletable = [listed.run for listed in own if not (listed.status.live or listed.entry.pinned)]
    with st.popover(
        f"Delete {fmt.count(len(deletable), 'run')}",
        icon=":material/delete:",
        disabled=not deletable,
        help=None if own else ANOTHERS,
    ):
        st.write("Deleted runs cannot be brought back.")
        st.button("Delete for good", key="delete-runs", type="primary", on_click=_delete, args=tuple(deletable))


def _delete(*runs: Run) -> None:
    attempt(lambda: actions.delete(*runs), toasted)
