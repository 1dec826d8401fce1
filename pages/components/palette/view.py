"""Command palette: a dialog that opens pages, runs, kernels and nodes, and starts actions.

It has two components. The palette with pages, runs and actions is sent with every page. The entries of the shown run
are a separate message in a fragment: they are made when the palette is first opened for the run, and stay
byte-identical over reruns.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import streamlit as st

from pages.components.exchange import browser_value, component_script, ignore, message

HERE = Path(__file__).parent

_PALETTE = st.components.v2.component(
    "compileboard_palette",
    css=(HERE / "view.css").read_text(encoding="utf-8"),
    js=component_script(HERE / "js" / "view.js"),
)
_ENTRIES = st.components.v2.component("compileboard_palette_entries", js=component_script(HERE / "js" / "entries.js"))


class PaletteEntry(msgspec.Struct, frozen=True, array_like=True):
    """An entry of the palette; the browser searches its label first, then its detail."""

    id: str
    label: str
    detail: str = ""


class PaletteAim(msgspec.Struct, frozen=True):
    """A link to a page; `name` is its last query parameter, whose value is the id of the chosen entry.

    An empty `page` is the current page.
    """

    page: str
    name: str
    query: Mapping[str, str] = {}


class PaletteGroup(msgspec.Struct, frozen=True):
    """Entries of one kind that open in the same way; `detail` is the common part of their details.

    Without `aim`, the entries are actions. `left_out` counts the entries of this kind that are not sent.
    """

    kind: str
    title: str
    entries: tuple[PaletteEntry, ...]
    aim: PaletteAim | None = None
    detail: str = ""
    left_out: int = 0


class PaletteData(msgspec.Struct, frozen=True):
    """The message to the browser; `with_run` are the actions that need a second run, each with its link.

    `run` is the shown run, empty without one; the browser may request its entries.
    """

    run: str
    groups: tuple[PaletteGroup, ...]
    with_run: Mapping[str, PaletteAim] = {}


class RunEntriesData(msgspec.Struct, frozen=True):
    """The message to the browser with the entries of a run; empty until they are requested."""

    run: str
    groups: tuple[PaletteGroup, ...] = ()


@dataclass(frozen=True, slots=True)
class PaletteChoice:
    """The user's choice: an action, or a link."""

    action: str
    page: str
    query: Mapping[str, str]


def palette(data: PaletteData, *, key: str, on_choose: Callable[[PaletteChoice], None]) -> None:
    """Draw the palette, initially closed; `on_choose` gets a choice before the page runs again."""

    def chosen() -> None:
        choice = _wanted(browser_value(key, "chosen"))
        if choice is not None:
            on_choose(choice)

    _PALETTE(key=key, data=message(data), on_chosen_change=chosen)


def run_entries(run: str, make: Callable[[], Mapping[str, Any]], *, key: str) -> None:
    """Send the entries of a run, RunEntriesData as built-in types, once the browser requests them."""
    data = make() if browser_value(key, "wanted") == run else msgspec.to_builtins(RunEntriesData(""))
    _ENTRIES(key=key, data=[data], default={"wanted": None}, on_wanted_change=ignore)


def _wanted(chosen: Any) -> PaletteChoice | None:
    """Return the browser's choice; None if there is none or it is invalid."""
    if not isinstance(chosen, Mapping):
        return None
    query = chosen.get("query")
    parts = dict(query) if isinstance(query, Mapping) else {}
    texts = [chosen.get("action", ""), chosen.get("page", ""), *parts.values()]
    if not any(texts) or not all(isinstance(text, str) for text in texts):
        return None
    return PaletteChoice(texts[0], texts[1], parts)
