"""Comments: header button, pane beside every page, and lists on *Overview* and *Compare*."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import streamlit as st

from core import Run
from core.base import words as fmt
from core.report import Compilation, Kernel, Schedule
from core.views import comments as views
from core.views.fusion import fusion_schedules
from core.views.fx_graph import GraphStages
from pages import menu
from pages.components.comments.view import CommentsData, Selection, comments_button
from pages.gate.visitor import author, why_no_author
from pages.look.text import LONGEST_TEXT, component_key, plain
from pages.session import actions, url
from pages.session.actions import attempt, toasted
from pages.session.shown import RunView, ShownRun, shown_compilation
from pages.session.url import PAGE, set_state, state_of

OPEN = "open"
# Keys: the comment that is answered or edited, and its action.
WRITING, REPLY, EDIT = "comment-writing", "reply", "edit"
# Key of the text that was refused last.
REFUSED = "comment-refused"
MOST_ELSEWHERE = 30  #: parts with comments listed in the pane
# Threads, and replies in each, that are drawn at first, and the key of how many are; each click draws as many more.
MOST_AT_FIRST = 20  #: threads, and replies of each, drawn in the pane at first
DRAWN = "comments-drawn"
BOX_PX = 90
# Seconds until comments of others appear.
FOLLOW_S = 4.0
# Writes a text: called with its author, and with `text`.
Written = Callable[..., object]
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class RefusedText:
    """A text that could not be written: its form, the text, the reason, and a running number."""

    form: str
    text: str
    why: str
    number: int


def comments(shown: ShownRun | None, place: st.delta_generator.DeltaGenerator) -> None:
    """Draw the shown run's button in `place`, and the pane if it is open; nothing without a run."""
    if shown is None:
        return
    moment = views.talk_moment(shown.run)
    view = comments_of(shown)
    at = _shown(shown, Selection())
    opened = url.asked(url.COMMENTS) == OPEN
    with place:
        data = CommentsData(*view.marks(at), view.talk.open_threads, opened)
        selected = comments_button(data, key="comments", toggle=_toggle)
    if opened:
        with st.container(key="comments-pane", gap="small"):
            _pane(shown, view, selected)
            follow_comments(shown.run, moment)


@st.fragment(run_every=FOLLOW_S)
def follow_comments(run: Run, moment: tuple[int, int] | None) -> None:
    """Rerun the page when the comments on a run have changed since `moment`; typed text stays."""
    if views.talk_moment(run) != moment:
        st.rerun()


def comments_of(shown: ShownRun) -> views.CommentsView:
    """Return the comments of a run."""
    side = RunView(shown, shown.report).side if shown.report is not None else None
    return views.CommentsView.stored(shown.run, side)


def _toggle() -> None:
    url.put(url.COMMENTS, None if url.asked(url.COMMENTS) == OPEN else OPEN)


def _shown(shown: ShownRun, selected: Selection) -> views.Shown:
    """Return the compilation, graph, schedule and kernel that the page shows.

    Graph and kernel come from the view with the selection, the schedule from the URL.
    """
    compilation = shown_compilation(shown.report) if shown.report is not None else None
    if compilation is None:
        return views.Shown()
    source = selected.source
    schedules = fusion_schedules(compilation)
    names = [views.schedule_name(schedule) for schedule in schedules]
    wanted = state_of(url.SCHEDULE) or url.asked(url.SCHEDULE)
    schedule = schedules[names.index(wanted) if wanted in names else 0] if names else None
    return views.Shown(compilation, _graph(compilation, source, schedule), schedule, _kernel(compilation, source))


def _graph(compilation: Compilation, source: str, schedule: Schedule | None) -> str:
    """Return the id of the graph in a view, otherwise on the page; empty if there is none."""
    names = [graph.id for graph in compilation.graphs]
    drawn = [name for name in names if source == component_key(f"fx-{compilation.id}-{name}")]
    if state_of(PAGE) == menu.FUSION.name and schedule is not None:
        lowered = compilation.lowered(schedule.direction)
        return lowered.id if lowered is not None else ""
    if drawn or not names or state_of(PAGE) not in (menu.FX_GRAPH.name, menu.OVERVIEW.name):
        return drawn[0] if drawn else ""
    wanted = (state_of(url.GRAPH) or url.asked(url.GRAPH)) if state_of(PAGE) == menu.FX_GRAPH.name else None
    return str(wanted) if wanted in names else GraphStages(compilation.graphs).first.id


def _kernel(compilation: Compilation, source: str) -> Kernel | None:
    """Return the kernel whose code the view shows; for any other view, the selected kernel, or None."""
    for kernel in compilation.kernels:
        own = component_key(f"kernel-{kernel.id}")
        if source in (own, f"{own}-whole", component_key(f"generated-{compilation.id}-{kernel.graph}")):
            return kernel
    selected = (url.selected() or "").removeprefix("k:")
    return next((kernel for kernel in compilation.kernels if kernel.id == selected), None)


def _anchor(shown: ShownRun, view: views.CommentsView, selected: Selection) -> views.Anchor:
    """Return the anchor of the view's selection, else of the URL's selection, else of the run."""
    at = _shown(shown, selected)
    if selected.id is not None and (selected.page or menu.NEW_RUN.name) == state_of(PAGE):
        anchor = view.anchor_at(selected.id, at)
        if anchor is not None:
            return anchor
    linked = at.kernel and url.line_of(at.kernel.id)
    item = f"c:{linked}" if linked else url.selected()
    return (view.anchor_at(item, at) if item else None) or views.Anchor()


def _pane(shown: ShownRun, view: views.CommentsView, selected: Selection) -> None:
    anchor = _anchor(shown, view, selected)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="comments-title"):
        st.markdown(f"**{view.title_of(anchor)}**", width="stretch")
        if not view.problem:
            _pin_button(shown.run, view, anchor)
        st.button("", icon=":material/close:", key="comments-close", help="Close", on_click=_toggle, type="tertiary")
    if view.problem:
        st.error(plain(view.problem, LONGEST_TEXT), icon=":material/error:")
        return
    # The form has a place of its own from the start: a form that moves while a page is drawn loses the focus.
    texts, form, others = (st.container(key=f"comments-{part}", gap="small") for part in ("texts", "form", "others"))
    threads = view.threads_on(anchor)
    with texts:
        _texts(shown.run, view, anchor, threads)
    with form:
        if why := why_no_author():
            st.caption(views.no_author_words(why, threads))
        else:
            _write(shown.run, anchor, bool(threads))
    with others:
        _elsewhere(view, anchor)


def _texts(run: Run, view: views.CommentsView, anchor: views.Anchor, threads: Sequence[views.Thread]) -> None:
    """Draw a part's figure or why the part is missing; then its open and its resolved threads."""
    if missing := view.missing(anchor):
        st.caption(f":material/link_off: {plain(missing)}")
    elif figure := view.figure(anchor):
        st.caption(figure)
    for is_open in (True, False):
        alike = [thread for thread in threads if thread.is_open == is_open]
        for thread in _latest(alike, f"earlier-{is_open}"):
            _thread(run, thread)


def _latest(items: Sequence[Item], key: str) -> Sequence[Item]:
    """Return the newest of some items; draw a button above them that shows more."""
    drawn = state_of(DRAWN, MOST_AT_FIRST)
    if (hidden := len(items) - drawn) > 0:
        _link(views.earlier_label(hidden, MOST_AT_FIRST), key, set_state, DRAWN, drawn + MOST_AT_FIRST)
    return items[-drawn:]


def _pin_button(run: Run, view: views.CommentsView, anchor: views.Anchor) -> None:
    pin = view.pin_of(anchor)
    if anchor.part == "run" or not (author() or pin):
        return
    st.button(
        "Unpin" if pin else "Pin",
        icon=":material/keep_off:" if pin else ":material/keep:",
        key="comments-pin",
        type="tertiary",
        help=views.pin_help(pin),
        disabled=author() is None,
        on_click=_do,
        args=(run, "unpin" if pin else "pin", lambda by: views.pin_part(run, by, anchor, pin is None)),
    )


def _thread(run: Run, thread: views.Thread) -> None:
    """Draw a thread; a resolved one is folded, unless the visitor is writing in it."""
    first = thread.first
    is_written = any(state_of(WRITING) in ((comment.id, REPLY), (comment.id, EDIT)) for comment in thread.comments)
    if thread.is_open or is_written:
        place = st.container(border=True, gap="small", key=f"thread-{first.id}")
    else:
        place = st.expander(thread.resolved_words, key=f"resolved-{first.id}")
    with place:
        texts, form = st.container(key=f"texts-{first.id}", gap="small"), st.container(key=f"answer-{first.id}")
    with texts:
        if is_written and not thread.is_open:
            st.caption(thread.resolved_words)
        _comment(run, first, thread)
        for comment in _latest(thread.replies, f"earlier-{first.id}"):
            _comment(run, comment, thread)
    with form:
        if state_of(WRITING) == (first.id, REPLY) and author() is not None:
            reply = partial(views.add_comment, run, anchor=first.anchor, reply_to=first.id)
            _form(run, f"reply-form-{first.id}", "Reply", reply)


def _comment(run: Run, comment: views.Comment, thread: views.Thread) -> None:
    words = [f"**{plain(views.author_words(comment.by, comment.imported))}**", fmt.ago(comment.at_s, time.time())]
    if comment.edited_s is not None and comment.deleted_s is None:
        words.append("edited")
    st.caption(" · ".join(words))
    if state_of(WRITING) == (comment.id, EDIT):
        edit = partial(views.edit_comment, run, comment_id=comment.id)
        _form(run, f"edit-form-{comment.id}", "Save", edit, comment.text)
        return
    st.markdown(views.body(comment.text) if comment.deleted_s is None else "*Deleted*")
    if (by := author()) is not None:
        with st.container(horizontal=True, gap="small"):
            _changes(run, comment, thread, by)


def _changes(run: Run, comment: views.Comment, thread: views.Thread, by: views.Author) -> None:
    """Draw the buttons that change a comment; the first comment also has the buttons of its thread."""
    if comment is thread.first:
        _link("Reply", f"reply-{comment.id}", set_state, WRITING, (comment.id, REPLY))
        what = "resolve" if thread.is_open else "reopen"
        settle = partial(views.resolve_comment, run, comment_id=comment.id, resolved=thread.is_open)
        _link(what.capitalize(), f"{what}-{comment.id}", _do, run, what, settle)
    if comment.deleted_s is None and by.may_change(comment):
        _link("Edit", f"edit-{comment.id}", set_state, WRITING, (comment.id, EDIT))
        delete = partial(views.delete_comment, run, comment_id=comment.id)
        _link("Delete", f"delete-{comment.id}", _do, run, "delete", delete)


def _write(run: Run, anchor: views.Anchor, is_talked_about: bool) -> None:
    hint = "Another comment on it" if is_talked_about else "Write a comment"
    _form(run, "comment-form", "Comment", partial(views.add_comment, run, anchor=anchor), hint=hint)


def _form(run: Run, key: str, label: str, write: Written, text: str = "", *, hint: str = "") -> None:
    """Draw a text field, and the button that writes its text; Ctrl+Enter does the same as the button."""
    last: RefusedText | None = state_of(REFUSED)
    refused = last if last is not None and last.form == key else None
    # A refused text is the first one of a new field, since the browser clears the field that was submitted.
    field = f"{key}-text{refused.number if refused else ''}"
    # Streamlit knows a container by its key, so an edited comment keeps what is typed when another appears above it.
    with st.container(key=f"{key}-place"):
        with st.form(key, clear_on_submit=True, border=False):
            st.text_area(
                label,
                refused.text if refused else text,
                key=field,
                height=BOX_PX,
                max_chars=views.MOST_COMMENT_CHARS,
                label_visibility="collapsed",
                placeholder=hint,
            )
            st.form_submit_button(label, on_click=_submit, args=(run, key, label, write, field))
        if refused:
            st.error(plain(refused.why, LONGEST_TEXT), icon=":material/error:")


def _submit(run: Run, form: str, label: str, write: Written, field: str) -> None:
    """Write the text of a field, as a callback, or keep it there with the reason."""
    text, writing, before = str(state_of(field) or ""), state_of(WRITING), state_of(REFUSED)
    set_state(WRITING, None)
    set_state(REFUSED, None)

    def refuse(words: str) -> None:
        set_state(WRITING, writing)
        set_state(
            REFUSED, RefusedText(form, text, f"{words[:1].upper()}{words[1:]}", 1 + (before.number if before else 0))
        )

    attempt(lambda: actions.comment(run, label.lower(), lambda by: write(by, text=text)), refuse)


def _do(run: Run, what: str, change: Callable[[views.Author], object]) -> None:
    """Change the comments of a run, as a callback, and show a refusal in a toast."""
    attempt(lambda: actions.comment(run, what, change), toasted)


def _link(label: str, key: str, action: Callable[..., None], *args: object) -> None:
    st.button(label, key=key, type="tertiary", on_click=action, args=args)


def _elsewhere(view: views.CommentsView, anchor: views.Anchor) -> None:
    """Draw links to the other parts with open threads."""
    others = dict.fromkeys(thread.first.anchor for thread in view.threads if thread.is_open)
    others.pop(anchor, None)
    if not others:
        return
    st.caption("Elsewhere in this run")
    for other in list(others)[:MOST_ELSEWHERE]:
        link(view, other, views.part_label(view.label(other), view.threads_on(other)))
    if len(others) > MOST_ELSEWHERE:
        st.caption(views.elsewhere_words(len(others) - MOST_ELSEWHERE, "Overview"))


def link(view: views.CommentsView, anchor: views.Anchor, label: str, run: Run | None = None) -> None:
    """Draw a link to the page of a part of a run, by default the shown one, with its comments."""
    target = view.target(anchor)
    page = menu.PAGES[target.page]
    of_run = {url.RUN: run.id} if run is not None else url.link()
    query = {**of_run, **{url.COMMENTS: OPEN}, **target.query}
    st.page_link(page.script, label=label, icon=page.icon, query_params=query, width="stretch")


MOST_THREADS = 50  #: threads listed on *Overview*
# Parts of two runs, and threads on each.
MOST_PARTS = 20  #: parts with comments listed on *Compare*
MOST_ON_PART = 3  #: threads on each part listed on *Compare*


def pinned_parts(shown: ShownRun) -> None:
    """Draw the pinned parts, each with one figure and a link; nothing without pins."""
    view = comments_of(shown)
    if not view.talk.pins:
        return
    st.markdown("**Pinned**")
    for pin in view.talk.pins:
        figure = "not in this log" if view.missing(pin.anchor) else view.figure(pin.anchor)
        link(view, pin.anchor, " · ".join(filter(None, (view.label(pin.anchor), figure))))


def all_threads(shown: ShownRun) -> None:
    """Draw each thread in one line, with a link to its part; nothing without comments."""
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
    """Draw the parts with comments or pins in either run, both runs side by side."""
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
    """Draw a link to one part of a run, and its newest threads, a line each."""
    threads = view.threads_on(anchor)
    link(view, anchor, views.part_label(view.label(anchor), threads, view.pin_of(anchor) is not None), run)
    for thread in threads[-MOST_ON_PART:]:
        st.caption(thread.line(time.time()))
