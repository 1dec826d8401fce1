"""Code of users and kernels with colours and links, diffs, and a drawing with a drawer beside it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.report import FxNode, GraphBreak, Kernel, Place, RunError
from core.views.colours import kernel_colours
from core.views.texts import SourceView
from pages.components.code.view import CodePicture, Colours, code_lines, code_view
from pages.components.drawer.view import drawer_edge
from pages.look.palette import TALL
from pages.session import url
from pages.session.shown import RunView, View
from pages.session.url import set_state, state_of


def source_text(view: RunView, path: str = "") -> str:
    """Return the text of a file, by default the user's own; empty if the log does not contain it."""
    return SourceView(view.report, view.text).text(path)


def recorded_files(view: RunView, nodes: Iterable[FxNode]) -> list[str]:
    """Return the logged files that nodes come from, the file with the most nodes first."""
    counts = Counter(places_of(node)[-1].file for node in nodes if places_of(node))
    return sorted((source.path for source in view.report.sources), key=lambda path: -counts[path])


def places_of(node: FxNode) -> tuple[Place, ...]:
    """Return the lines that a node comes from, innermost last."""
    return node.stack or ((node.source,) if node.source else ())


def node_links(nodes: Iterable[FxNode], path: str) -> dict[int, tuple[str, ...]]:
    """Return line of a file → ids of the nodes that the line created, directly or through its calls."""
    links: dict[int, list[str]] = {}
    for node in nodes:
        for line in {place.line for place in places_of(node) if place.file == path}:
            links.setdefault(line, []).append(f"n:{node.name}")
    return {line: tuple(names) for line, names in links.items()}


def line_prefix(view: RunView, path: str) -> str:
    """Return the prefix of the ids of a file's lines: `l` for the user's own file, `l3` for `sources[3]`."""
    paths = [source.path for source in view.report.sources]
    return f"l{paths.index(path) or ''}" if path in paths else "l"


def user_code(
    view: RunView,
    *,
    path: str = "",
    links: Mapping[int, tuple[str, ...]] | None = None,
    colours: Mapping[int, str | tuple[str, ...] | None] | None = None,
    breaks: Iterable[GraphBreak] = (),
    error: RunError | None = None,
) -> CodePicture | None:
    """Return a file, by default the user's, with kernel colours, breaks, error and links; or None."""
    source = SourceView(view.report, view.text)
    path = path or source.path
    text = source.text(path)
    if not text:
        return None
    notes = source.notes(path, breaks, error)
    lines = code_lines(
        text,
        prefix=line_prefix(view, path),
        links=dict(links or {}),
        colours=dict(colours or {}),
        marks=dict.fromkeys(notes, "break"),
        notes=notes,
    )
    return CodePicture(title=path.rsplit("/", 1)[-1], language="python", lines=lines)


def output_code(view: View, kernel: Kernel, user_lines: Mapping[str, int]) -> CodePicture:
    """Return the whole output code that contains a kernel, coloured by kernel.

    The first line and the calls of each kernel link to its FX nodes and to the user's lines (`user_lines`: FX
    node → user's line).
    """
    colours = kernel_colours(view.report)
    links: dict[int, tuple[str, ...]] = {}
    margins: dict[int, Colours] = {}
    for near in [near for near in view.compilation.kernels if near.output_code == kernel.output_code]:
        margins.update(dict.fromkeys(range(near.lines[0], near.lines[1] + 1), colours[near.id]))
        origins = [f"n:{name}" for name in near.origins]
        lines = dict.fromkeys(f"l:{user_lines[name]}" for name in near.origins if name in user_lines)
        for number in {near.lines[0], *near.call_lines}:
            links[number] = (f"k:{near.id}", *origins, *lines)
            margins[number] = colours[near.id]
    text = view.text(kernel.output_code)
    return CodePicture("output code", "python", code_lines(text, prefix="c", links=links, colours=margins))


def diff_view(title: str, diff: str, key: str, left_out: int = 0, height: int = TALL) -> None:
    """Draw a unified diff."""
    code_view(CodePicture(title, "diff", code_lines(diff, prefix="d")), key=key, height=height, channel="diff")
    if left_out:
        st.caption(SourceView.more_lines(left_out))


OFF = "off"
LEFT = "drawer-left"
TAB = "drawer-tab"
KEPT = "drawer-kept"


@contextmanager
def title_row() -> Iterator[DeltaGenerator]:
    """Open a row for the page's title sentence and its selection; yield the container of the sentence."""
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="title-row"):
        yield st.container(gap=None, key="title")


def stage() -> DeltaGenerator:
    """Return the container for a drawing and the drawer beside it."""
    return st.container(horizontal=True, gap=None, key="stage")


def open_button(tab: str, label: str, icon: str) -> None:
    """Draw a button that opens the drawer at a tab, or closes the drawer if this tab is open."""
    opened = url.asked(url.DRAWER) == tab
    st.button(label, icon=icon, key=f"open-{tab}", on_click=_turn, args=(None if opened else tab,), width="content")


@contextmanager
def drawer(beside: DeltaGenerator, tabs: Sequence[str], selected: str | None) -> Iterator[str | None]:
    """Draw the drawer beside a drawing: yield the tab to draw, None if the drawer is closed.

    A selection opens the drawer at the tab that the visitor chose last, otherwise at its first. The close button closes
    it until the next selection.
    """
    tab = _open_tab(tabs, selected)
    if tab is None:
        yield None
        return
    with beside.container(key="drawer", gap="small"):
        drawer_edge()
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            set_state(TAB, tab)
            st.segmented_control("Drawer", tabs, key=TAB, label_visibility="collapsed", on_change=_picked)
            st.button("", icon=":material/close:", key="drawer-close", help="Close", on_click=_close, args=(selected,))
        yield tab


def _open_tab(tabs: Sequence[str], selected: str | None) -> str | None:
    asked = url.asked(url.DRAWER)
    if asked == OFF and selected == state_of(LEFT, selected):
        set_state(LEFT, selected)
        return None
    if asked == OFF:
        url.put(url.DRAWER, None)
    if asked in tabs:
        return asked
    kept = state_of(KEPT)
    return (kept if kept in tabs else tabs[0]) if selected else None


def _turn(tab: str | None) -> None:
    url.put(url.DRAWER, tab)


def _picked() -> None:
    tab = state_of(TAB)
    if tab:
        url.put(url.DRAWER, tab)
        set_state(KEPT, tab)


def _close(selected: str | None) -> None:
    set_state(LEFT, selected)
    url.put(url.DRAWER, OFF if selected else None)
