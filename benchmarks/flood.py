"""Health of the server while each text field of each page gets a message of the maximum size.

A message has 8 MB from the owner of a server that runs visitors' code, 256 kB from a guest of a server that
does not. The health is requested every 50 ms. The slowest response per page has an aim, and is shown beside
the slowest one without a flood.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from streamlit.proto.Element_pb2 import Element
from streamlit.proto.WidgetStates_pb2 import WidgetState

from benchmarks.homes import temporary_home
from benchmarks.table import Result, tell
from pages.gate.middleware import MOST_BYTES, MOST_BYTES_WITHOUT_CODE
from tests.attack.flooding import BAITS, FIELDS, Health, edited, editors, ids, pages_of, typed
from tests.attack.talk import Visitor, talking
from tests.support.browser import Server, serving
from tests.support.homes import add_run, add_scenario

AIM_S = 1.0
OVERHEAD_BYTES = 20_000
GUEST = {"X-Forwarded-For": "198.51.100.7"}
# User code of the maximum message size, and texts that are hard for Python's parser.
CODES = ("x = 1\n", "f(1, 2)\n", "# a comment\n", *BAITS)


@dataclass(frozen=True, slots=True)
class FloodResult:
    """A page with the slowest health responses in seconds, without a flood and with one.

    `fields` counts its text fields. `worst` names the field and the text of the slowest response, empty if the
    page has no fields.
    """

    path: str
    fields: int
    quiet_s: float
    slowest_s: float
    worst: str = ""


def measure() -> list[Result]:
    """Flood every page of a server that runs visitors' code, then of a server that does not."""
    with temporary_home() as home:
        owned = flood(home, MOST_BYTES, {}, "1")
    with temporary_home() as home:
        guest = flood(home, MOST_BYTES_WITHOUT_CODE, GUEST, "0")
    return [*results("owner", owned), *results("guest", guest)]


def flood(home: Path, most_bytes: int, headers: dict[str, str], code: str) -> list[FloodResult]:
    """Start a server, and fill each field of each page, in messages of at most `most_bytes`."""
    run = add_scenario(home, "transformer_block")
    code_run = add_run(home, "own", None, job=pasted_job()).id
    with serving(home, COMPILEBOARD_ALLOW_CODE=code) as server, talking(server, **headers) as visitor:
        pages = list(pages_of(visitor, run))
        if code == "1":
            pages.insert(1, ("code", f"again={code_run}", pages[0][2]))
        return [flood_page(server, visitor, *page, most_bytes - OVERHEAD_BYTES) for page in pages]


def pasted_job() -> dict[str, object]:
    """Return a job of pasted code with a pasted backend, so that New run shows both editors."""
    backend = {"backend": "mine", "backend_code": "def mine(graph, inputs):\n    return graph\n"}
    return {"model": {"kind": "code", "value": "model = abs\ninputs = (1,)\n"}, "compile": backend}


def flood_page(server: Server, visitor: Visitor, path: str, query: str, script: str, most_bytes: int) -> FloodResult:
    """Return the slowest health response of one page; only one field has a text at a time."""
    visitor.page(query, page_script_hash=script)
    with Health(server) as quiet:
        drawn = visitor.page(query, page_script_hash=script)
    flooded = FloodResult(path or "new run", len(ids(drawn, FIELDS)) + len(editors(drawn)), quiet.slowest_s, 0.0)
    for state, name in floods(drawn, most_bytes):
        with Health(server) as health:
            visitor.page(query, state, page_script_hash=script)
        if health.slowest_s > AIM_S:
            tell(f"{flooded.path}: {name}: {health.slowest_s:.1f} s")
        if health.slowest_s > flooded.slowest_s:
            flooded = FloodResult(flooded.path, flooded.fields, flooded.quiet_s, health.slowest_s, name)
    tell(
        f"{flooded.path}: {flooded.fields} fields, {flooded.quiet_s:.2f} s, {flooded.slowest_s:.2f} s ({flooded.worst})"
    )
    return flooded


def floods(drawn: list[Element], most_bytes: int) -> Iterator[tuple[WidgetState, str]]:
    """Yield each text in each field as a widget state, and a name for the combination."""
    for field in ids(drawn, FIELDS):
        for bait in BAITS:
            yield typed(field, "f32[1]" + bait * (most_bytes // len(bait.encode()))), f"{field[40:70]} {bait!r}"
    for editor in editors(drawn):
        for bait in CODES:
            # A newline takes two bytes in JSON.
            size = len(bait.encode("unicode_escape"))
            yield edited(editor, bait * (most_bytes // size)), f"{editor[40:70]} {bait!r}"


def results(who: str, pages: list[FloodResult]) -> list[Result]:
    """Return one result for each page that has a field."""
    return [
        Result(
            f"{who}: {page.path}, {page.fields} fields",
            f"{page.slowest_s:.2f} s ({page.quiet_s:.2f} s without)",
            f"≤ {AIM_S:g} s",
            page.slowest_s <= AIM_S,
        )
        for page in pages
        if page.fields
    ]
