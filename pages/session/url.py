"""State of this visitor: query parameters, session state, clicks, and navigation between pages.

Streamlit reports a click in one script run only. A rerun by a poll or by another widget may end that script
run before it comes to the button. `press` therefore stores the click until `taken` returns it.
"""

from collections.abc import Collection, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any, NoReturn

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from core.views.selection import is_op
from pages import menu


def state_of(name: str, default: Any = None) -> Any:
    """Return a value of the session state; `default` if there is none."""
    return st.session_state.get(name, default)


def set_state(name: str, value: Any) -> None:
    """Store a value under a name; a widget with this key gets the value when it is drawn."""
    st.session_state[name] = value


# The run, the compilation and the selected op of every page; the op's graph; and an item of the page that is no op.
RUN, COMPILATION, SELECT, OF, ITEM = "run", "compilation", "select", "of", "item"
DRAWER, COLOUR = "drawer", "colour"
# The token of a link that previews.
PREVIEW = "preview"
# Whether the comments are open.
COMMENTS = "comments"
# The shown part of a page; `frame` is a film's frame on the page Passes, and a Python frame on Compile time.
SAMPLE, FILTER, AGAIN = "sample", "filter", "again"
# Runs page: table or chart over time, the page of the table, and the model, the number and the axis of the chart.
SHOWN_AS, LIST_PAGE, MODEL, METRIC, AXIS = "shown_as", "list_page", "model", "metric", "axis"
LISTING = "listing"
# Artifacts page: the record, and the compilation, kind and text that choose among the records.
RECORD, RECORDS_OF, KIND, RECORD_SEARCH = "record", "records_of", "kind", "record_text"
# Timeline page: the selected area.
AREA = "area"
# Options page: the search.
OPTION = "option"
# Exercises page: the exercise.
EXERCISE = "exercise"
# Tour page: the stop.
STOP = "stop"
GRAPH, CHAPTER, FRAME, JOINT = "graph", "chapter", "frame", "joint"
# The aspect in which two runs are compared.
ASPECT = "aspect"
SCHEDULE, FUSION = "schedule", "fusion"
KERNEL, VIEW, TARGET, WHOLE, LINE, OTHER = "kernel", "view", "target", "whole", "line", "other"
SWEEP, MEASURE = "sweep", "measure"
# Backend page: the left and the right pane, and the selected reported table and text.
PANE, BESIDE, TABLE, TEXT = "pane", "beside", "table", "text"
# Accelerator page: the segment, and its step.
SEGMENT, STATION = "segment", "station"
# AOTInductor page: the step, and the package's file.
STEP, FILE = "step", "file"


def read(name: str, valid: Collection[str], default: str | None) -> None:
    """Set a widget's value in the session state before the widget is drawn.

    Values are tried in this order: a new value in the URL, the widget's current value, the last value, `default`.

    `bind="query-params"` would write the widget's labels to the URL. A widget forgets its value when the page
    changes, so the last value is stored separately.
    """
    asked, remembered = st.query_params.get(name), st.session_state.get(f"url-{name}")
    if asked in valid and asked != remembered:
        st.session_state[name] = asked
    elif st.session_state.get(name) not in valid:
        st.session_state[name] = remembered if remembered in valid else default


def peek(name: str) -> str | None:
    """Return what `read` will make the value of a widget, if it is valid."""
    requested, remembered = st.query_params.get(name), st.session_state.get(f"url-{name}")
    return requested if requested and requested != remembered else st.session_state.get(name) or remembered


def write(*names: str) -> None:
    """Write the values of widgets to the URL, as one entry of the browser's history.

    Call it after the widgets are drawn. It also restores the values after the menu has emptied the URL.
    """
    state_of = {name: st.session_state.get(name) for name in names}
    for name, value in state_of.items():
        st.session_state[f"url-{name}"] = value
    if any(st.query_params.get(name) != value for name, value in state_of.items()):
        st.query_params.update({name: value for name, value in state_of.items() if value is not None})


def asked(name: str) -> str | None:
    """Return a query parameter of the URL; None if it is missing."""
    return st.query_params.get(name)


def number(name: str) -> int | None:
    """Return a query parameter as a number; None unless it is a number of at most seven digits."""
    text = asked(name) or ""
    return int(text) if text.isdecimal() and len(text) < 8 else None


def line_of(kernel: str) -> int | None:
    """Return the line of generated code in the URL, `40@KERNEL`; None without a line of this kernel."""
    line, _, of_kernel = (asked(LINE) or "").partition("@")
    return int(line) if of_kernel == kernel and line.isdecimal() and len(line) < 8 else None


def put(name: str, value: str | None) -> None:
    """Set a query parameter of the URL, or remove it."""
    if value and st.query_params.get(name) != value:
        st.query_params[name] = value
    elif not value:
        st.query_params.pop(name, None)


def put_state(name: str, key: str) -> None:
    """Write the value of a widget to a query parameter, as the widget's callback."""
    put(name, str(st.session_state[key]))


# State: the op that was selected last, as run, compilation, item and graph; and the page's part of the op.
OP, PART = "selected-op", "page-part"
# State: the selected op at all stages, None without one.
SAME = "same-op"


def selected() -> str | None:
    """Return the item that was picked on this page, otherwise the page's part of the selected op."""
    return asked(ITEM) or state_of(PART)


def select(item_id: str | None, graph: str = "") -> bool:
    """Write a selection to the URL, for reloads and colleagues: an op is selected on all pages.

    `graph` is the graph of the op, empty if the page does not know it. None forgets the op, too. Return True if the
    selected op is another one: a page that is already drawn is to be drawn again.
    """
    if item_id is not None and not is_op(item_id):
        pick(item_id)
        return False
    put(ITEM, None)
    before = asked(SELECT)
    if item_id is None:
        set_state(OP, None)
    elif item_id in (before, state_of(PART)):
        return False
    else:
        set_state(OP, (state_of(RUN), state_of(COMPILATION), item_id, graph))
    set_state(PART, item_id)
    put(SELECT, item_id)
    put(OF, graph)
    return before != item_id


def pick(item_id: str | None) -> None:
    """Write an item to the URL that is of this page alone; the selected op stays selected."""
    put(ITEM, item_id if item_id != state_of(PART) else None)


def link(**more: str) -> dict[str, str]:
    """Return the query parameters of a link to another page of the shown run and, if none in `more`, op."""
    if more.get(SELECT) and more[SELECT] == state_of(PART):
        del more[SELECT]
    kept = {name: str(st.query_params[name]) for name in (RUN, COMPILATION, SELECT, OF) if name in st.query_params}
    is_elsewhere = more.get(COMPILATION, kept.get(COMPILATION)) != kept.get(COMPILATION)
    if state_of(SAME) is None or SELECT in more or is_elsewhere:
        kept = {name: value for name, value in kept.items() if name not in (SELECT, OF)}
    if st.session_state.get(RUN):
        kept[RUN] = str(st.session_state[RUN])
    return {**kept, **more}


# The view of a graph, written by the browser alone.
LOOK = "look"
# Keys: the current page, stored by `app.py`; a navigation within it, until the browser has the new URL; and the URLs of
# the last two script runs, at their start and end; the browser may have any of them.
PAGE, WAY, URLS = "page", "way", "urls"


@dataclass(frozen=True, slots=True)
class _Way:
    """A navigation within a page, from its latest URLs to another."""

    page: str
    left: tuple[dict[str, str], ...]
    wanted: dict[str, str]


def menu_pages() -> dict[str, list[st.Page]]:
    """Return the pages of the menu by section, as copies, since Streamlit marks the page that it opens."""
    return {section: [copy(page) for page in pages] for section, pages in _menu_pages().items()}


@st.cache_resource(show_spinner=False)
def _menu_pages() -> dict[str, list[st.Page]]:
    """Return the pages of the menu by section; the files are looked up once for all sessions."""
    sections: dict[str, list[st.Page]] = {}
    for entry in menu.ENTRIES:
        first, *others = entry.pages
        opened = st.Page(first.script, title=entry.title, icon=first.icon, default=first is menu.NEW_RUN)
        hidden = [st.Page(other.script, title=other.title, icon=other.icon, visibility="hidden") for other in others]
        sections.setdefault(first.section, []).extend([opened, *hidden])
    return sections


def page_link(page: menu.Page, label: str = "", **more: str) -> None:
    """Draw a link to a page of the shown run; without a label, it has the page's title."""
    st.page_link(page.script, label=label or page.title, icon=page.icon, query_params=link(**more))


def go_to(page: menu.Page, query: Mapping[str, str]) -> NoReturn:
    """Open a page with these query parameters; the page may be the current page.

    The path of the current page stays the same, and the browser may still send a request with the old URL.
    `arrive` then applies the new query parameters.
    """
    if page.name != state_of(PAGE):
        st.switch_page(page.script, query_params=dict(query))
    # An earlier URL of the wanted run may also be the URL on arrival.
    earlier = (each for each in state_of(URLS, ()) if each.get(RUN) != query.get(RUN))
    set_state(WAY, _Way(page.name, (*earlier, _without_look()), dict(query)))
    st.rerun()


def keep_url() -> None:
    """Store the URL as the request had it; call it again after the page is drawn, which may write it."""
    set_state(URLS, (*state_of(URLS, ()), _without_look())[-4:])


def arrive(page: str) -> None:
    """Apply the pending navigation before the page is drawn.

    The navigation is pending as long as requests have an old URL: the browser may learn the page's last change of its
    URL after the request that navigates. It ends with another URL or page, or if the visitor goes back in the
    browser's history.
    """
    way: _Way | None = state_of(WAY)
    context = get_script_run_ctx()
    back = context is not None and context.is_history_navigation
    if way is not None and way.page == page and _without_look() in way.left and not back:
        st.query_params.from_dict(way.wanted)
    else:
        set_state(WAY, None)
        keep_url()


def _without_look() -> dict[str, str]:
    return {name: value for name, value in st.query_params.to_dict().items() if name != LOOK}


# Key of the click that no page has taken yet: the page, the shown run, the button or view, and what was clicked.
PRESS = "press"


def pressed(label: str, *, key: str, **look: Any) -> bool:
    """Draw a button; return True once after a click, unless another page or run is shown by then.

    Do not use it for a button that deletes something: the selection may change after the click, so such a button needs
    a callback with the items to delete.
    """
    st.button(label, key=key, on_click=press, args=(key,), **look)
    return taken(key) is not None


def press(key: str, clicked: Any = True) -> None:
    """Store a click, as the callback of a button or of a part of a view."""
    set_state(PRESS, (*_place(), key, clicked))


def taken(key: str) -> Any:
    """Return the stored click on a button or view, once, unless another page or run is shown; or None."""
    if state_of(PRESS) is None or state_of(PRESS)[:-1] != (*_place(), key):
        return None
    *_, clicked = state_of(PRESS)
    set_state(PRESS, None)
    return clicked


def drop_press() -> None:
    """Delete a click that no button or view has taken; call it after the page is drawn."""
    set_state(PRESS, None)


def _place() -> tuple[Any, Any]:
    return state_of(PAGE), state_of(RUN)
