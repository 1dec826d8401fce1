"""The parts of the page Timeline: the tracks, the kernels' table, and adding a profile."""

from __future__ import annotations

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.base import words as fmt
from core.views import timeline as views
from pages import menu
from pages.components.flame.view import (
    MOST_SPANS,
    FlameArea,
    FlameLegend,
    FlameName,
    FlameOwner,
    FlamePicture,
    FlameSpan,
    flame,
)
from pages.components.upload.view import upload
from pages.look.palette import SLICES, TALL
from pages.session import server, url
from pages.session.actions import attempt
from pages.session.server import cached
from pages.session.shown import RunView
from pages.session.tables import columns, in_words, newly_picked
from pages.session.url import go_to, press, taken

KERNEL = "kernel"
IDLE_FORMS = {"idle": fmt.duration_s, "share": fmt.percent, "gaps": fmt.number}
IDLE_COLUMNS = columns({}, {"while": "medium"})
AREA_FORMS = {"slices": fmt.number, "total": fmt.duration_s, "self": fmt.duration_s, "share": fmt.percent}
AREA_COLUMNS = columns(views.AreaView.column_help, {"slice": 240, "kind": 90, "kernel": 120})
FORMS = {"slices": fmt.number, "total": fmt.duration_s, "each": fmt.duration_s}
COLUMNS = columns(views.TimelineView.column_help, {"kernel": 260})


def open_timeline(view: RunView) -> views.TimelineView | None:
    """Return the run's profile joined to its log; None if it has none, or it cannot be read."""
    stamp = views.timeline_stamp(view.run)
    return None if stamp is None else attempt(lambda: _view(view.run.id, stamp, view))


@cached("Reading the profile")
def _view(run_id: str, stamp: int, _view: RunView) -> views.TimelineView | None:
    return views.timeline_view(_view.run, _view.report)


def add_profile(view: RunView) -> None:
    """Offer to upload a profile beside the run's log."""
    if view.going:
        st.caption(views.LIVE)
        return
    most_bytes = server.runner().limits.upload_bytes
    upload(most_bytes, key="profile", on_stored=partial(press, "profile"), profile_of=view.run.id)
    if taken("profile") is not None:
        go_to(menu.TIMELINE, url.link())


def timeline(view: RunView, profile: views.TimelineView) -> None:
    """Draw the tracks; a kernel's link opens it."""
    picture = _picture(view.run.id, views.timeline_stamp(view.run) or 0, profile)
    wanted = url.selected() or ""
    choice = flame(
        picture,
        key=f"timeline-{view.run.id}",
        on_open=partial(press, "timeline"),
        selected=wanted if wanted[:2] == "s:" else None,
        area=profile.area_of(url.asked(url.AREA)),
        areas=True,
    )
    if choice.selected:
        url.select(choice.selected)
    link, owner = taken("timeline") or ("", "")
    if link == KERNEL:
        _open_kernel(profile, owner)
    st.caption(profile.track_words)
    if choice.area is None:
        url.put(url.AREA, None)
    else:
        _area(view, profile, choice.area)


def _area(view: RunView, profile: views.TimelineView, place: FlameArea) -> None:
    """Draw the sums over a selected area; a click on a slice with a kernel opens the kernel."""
    area = profile.area(place)
    url.put(url.AREA, area.area.text)
    st.header("Selected area", anchor=False)
    st.write(area.title)
    left, right = st.columns([3, 2], gap="medium")
    with left:
        if not area.rows:
            st.write(area.no_slice)
            return
        table = in_words(pd.DataFrame(area.rows), AREA_FORMS)
        height = TALL if len(area.rows) > 12 else "auto"
        key = f"timeline-area-{view.run.id}"
        chosen = newly_picked(table, area.kernel_ids, key, height=height, column_config=AREA_COLUMNS)
        if area.note:
            st.caption(area.note)
        if chosen:
            _open_kernel(profile, chosen)
    with right:
        idle_table(area.idle_rows)


def idle_table(rows: list[dict[str, object]]) -> None:
    """Draw idle time by its cause."""
    if not rows:
        return
    st.dataframe(in_words(pd.DataFrame(rows), IDLE_FORMS), hide_index=True, column_config=IDLE_COLUMNS)


@cached()
def _picture(run_id: str, stamp: int, _profile: views.TimelineView) -> FlamePicture:
    return timeline_picture(_profile)


def timeline_picture(profile: views.TimelineView) -> FlamePicture:
    """Return the slices of a profile as a chart of time; the longest if there are too many."""
    spans = profile.spans(MOST_SPANS)
    names = {(span.label, span.kind): at for at, span in enumerate({(s.label, s.kind): s for s in spans}.values())}
    owners = {kernel: at for at, kernel in enumerate(dict.fromkeys(span.kernel for span in spans))}
    return FlamePicture(
        noun="slice",
        spans=tuple(
            FlameSpan(
                id=f"s:{span.number}",
                name=names[span.label, span.kind],
                owner=owners[span.kernel],
                begin_us=round(span.start_us),
                length_us=max(1, round(span.length_us)),
                own_us=max(1, round(span.length_us)),
                row=span.row,
                thread=0,
            )
            for span in spans
        ),
        names=tuple(FlameName(label, kind, (KERNEL,)) for label, kind in names),
        owners=tuple(_owner(profile, kernel, spans) for kernel in owners),
        rows=profile.rows,
        threads=0,
        length_us=round(profile.joined.profile.length_us),
        legend={kind: FlameLegend(colour.light, colour.dark, colour.label) for kind, colour in SLICES.items()},
        links={KERNEL: menu.KERNEL.title},
    )


def _owner(profile: views.TimelineView, kernel_id: str, spans: list[Any]) -> FlameOwner:
    kernel = profile.kernel(kernel_id)
    whole_s = sum(span.length_us for span in spans if span.kernel == kernel_id) / 1e6
    return FlameOwner(kernel_id, kernel.name if kernel else views.OTHER, whole_s, (KERNEL,) if kernel else ())


def kernel_table(profile: views.TimelineView) -> None:
    """Draw the kernels with slices; a click opens the kernel."""
    rows = profile.kernel_rows
    if not rows:
        st.write(profile.no_kernels)
        return
    table = in_words(pd.DataFrame(rows), FORMS)
    height = TALL if len(rows) > 12 else "auto"
    chosen = newly_picked(table, profile.kernel_ids, "timeline-kernels", height=height, column_config=COLUMNS)
    if profile.kernel_note:
        st.caption(profile.kernel_note)
    if chosen:
        _open_kernel(profile, chosen)


def _open_kernel(profile: views.TimelineView, kernel_id: str) -> None:
    compilation = profile.compilation_of(kernel_id)
    go_to(menu.KERNEL, url.link(**{url.KERNEL: kernel_id, url.COMPILATION: compilation}))
