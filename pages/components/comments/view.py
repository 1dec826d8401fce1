"""The button that opens the comments on the selected item; and the marks on items that have comments."""

from collections.abc import Callable
from pathlib import Path

import msgspec

from pages.components.exchange import component, ignore, message

MOST_ID_CHARS = 1_000  #: a selected item's id

_COMPONENT = component(Path(__file__).parent)


class CommentsData(msgspec.Struct, frozen=True):
    """The message to the browser: ids of commented items and of pinned items, number of open threads.

    `open` is True if the comments are shown, so that the browser reports each selection.
    """

    commented: tuple[str, ...]
    pinned: tuple[str, ...]
    count: int
    open: bool


class Selection(msgspec.Struct, frozen=True):
    """The last selection: the page's path, the view's name, and the item's id; None if cleared."""

    page: str = ""
    source: str = ""
    id: str | None = None


def comments_button(data: CommentsData, *, key: str, toggle: Callable[[], None]) -> Selection:
    """Draw the button and return the selection in the page's views; a click calls `toggle`."""
    result = _COMPONENT(
        key=key,
        data=message(data),
        default={"selected": None},
        on_selected_change=ignore,
        on_toggled_change=toggle,
    )
    try:
        selected = msgspec.convert(result.selected or {}, Selection)
    except msgspec.ValidationError:
        return Selection()
    return selected if len(selected.id or "") <= MOST_ID_CHARS else Selection()
