"""Megabytes for every field that takes text, and what they cost everybody else: how long the server's health takes."""

import json
import threading
import time
from collections.abc import Iterator

from streamlit.proto.Element_pb2 import Element
from streamlit.proto.WidgetStates_pb2 import WidgetState

from tests.attack.talk import Visitor, is_finished
from tests.attack.web import ask
from tests.support.browser import Server

FIELDS = ("text_input", "text_area")
BAITS = ("<1", "[", "1,2,…,", "seed=1\n", "a=", "9")
# A parser whose time grows with the square of the text takes longer than is allowed for this many bytes, too: each
# field takes one bait at full length, and the others at this.
MANY_BYTES = 400_000


class Health:
    """How long the server takes to say that it is well, while something else goes on."""

    def __init__(self, server: Server) -> None:
        self.slowest_s = 0.0
        self._server = server
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._ask)

    def __enter__(self) -> "Health":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _ask(self) -> None:
        while not self._over.is_set():
            began_s = time.monotonic()
            assert ask(self._server, "/_stcore/health") == 200
            self.slowest_s = max(self.slowest_s, time.monotonic() - began_s)
            time.sleep(0.05)


def ids(elements: list[Element], kinds: tuple[str, ...] = ()) -> list[str]:
    """The widgets of a page, of these kinds if any are named."""
    inner = [(kind, getattr(element, kind)) for element in elements if (kind := element.WhichOneof("type") or "")]
    found = [str(getattr(item, "id", "")) for kind, item in inner if not kinds or kind in kinds]
    return [name for name in dict.fromkeys(found) if name.startswith("$$ID")]


def drawn_pages(visitor: Visitor, run: str) -> list[tuple[str, str, list[Element]]]:
    """The query of each page, its script, and what it draws; the start page with a sample's form in its dialog."""
    return [
        (query, script, visitor.page(query, page_script_hash=script)) for _, query, script in pages_of(visitor, run)
    ]


def pages_of(visitor: Visitor, run: str) -> Iterator[tuple[str, str, str]]:
    """The path of each page, a query for it, and its script."""
    visitor.rerun()
    told = visitor.until(is_finished)
    (navigation,) = (message.navigation for message in told if message.WhichOneof("type") == "navigation")
    queries = {"": "sample=mlp", "compare": f"run={run}&other={run}"}
    for page in navigation.app_pages:
        path = page.url_pathname
        yield path, queries.get(path, f"run={run}"), page.page_script_hash


def editors(elements: list[Element]) -> list[str]:
    """The code editors of a page."""
    found = [element.bidi_component for element in elements if element.WhichOneof("type") == "bidi_component"]
    return [item.id for item in found if item.component_name.endswith("compileboard_code_editor")]


def only_run(server: Server) -> str:
    """The one run in the store."""
    (found,) = (path.name for path in (server.home / "runs").iterdir() if not path.name.startswith("."))
    return found


def baits(number: int, most_bytes: int) -> Iterator[str]:
    """Yield all baits for the field of this number: one has the full length of a frame, the others are shorter."""
    longest = number % len(BAITS)
    for place, bait in enumerate(BAITS):
        size = most_bytes if place == longest else min(most_bytes, MANY_BYTES)
        yield bait * (size // len(bait.encode()))


def typed(field: str, text: str) -> WidgetState:
    """The state of a text field with a text."""
    return WidgetState(id=field, string_value=text)


def edited(editor: str, text: str) -> WidgetState:
    """The state of a code editor with a text."""
    return WidgetState(id=editor, json_value=json.dumps({"text": text}))
