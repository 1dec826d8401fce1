"""Links that preview: who gets a run's title, verdict and picture, and that nobody else learns that the run exists."""

import io
from collections.abc import Mapping
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse
from starlette.routing import Route

from core import Store
from core.runs.sharing import preview_token, set_preview
from pages.gate.middleware import Gate
from pages.gate.rules import Rules, Visitor
from pages.session import previews, server
from pages.session.previews import Previews, preview_routes, to_stranger
from tests.support.gates import PUBLIC
from tests.support.homes import add_scenario
from tests.support.loops import run_async

PAGE = "<!doctype html><html><head><title>Streamlit</title></head><body></body></html>"
NOTHING = {"og:site_name": "Compileboard", "og:type": "website", "og:title": "Compileboard"}
HOSTILE = '"><script>alert(1)</script>'


class Tags(HTMLParser):
    """The Open Graph tags of a page, as a chat reads them."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: dict[str, str] = {}
        self.scripts = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.scripts += tag == "script"
        if tag == "meta" and (name := named.get("property")):
            self.tags[name] = named.get("content") or ""


class Board:
    """A dashboard with one run, for visitors from elsewhere; `rules` say who they are."""

    def __init__(self, home: Path, rules: Rules) -> None:
        self.store = Store(home)
        self.run = self.store.open(add_scenario(home, "eager_backend"))
        self.store.rename(self.run, "a run")
        gate = Middleware(Gate, rules=rules, preview=partial(to_stranger, ""))
        page = Route("/{page}", lambda _: HTMLResponse(PAGE, headers={"etag": "old"}))
        self.app = Starlette(routes=[*preview_routes(), page], middleware=[gate, Middleware(Previews)])

    def get(self, path: str, query: str = "") -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of an answer."""
        return run_async(self._get(path, query))

    async def _get(self, path: str, query: str) -> tuple[int, dict[str, str], bytes]:
        sent: list[Mapping[str, Any]] = []

        async def send(message: Mapping[str, Any]) -> None:
            sent.append(message)

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": b"", "more_body": False}

        headers = [(b"host", b"board.example.org"), (b"accept-encoding", b"gzip"), (b"if-none-match", b"old")]
        scope: dict[str, Any] = {
            "type": "http",
            "method": "GET",
            "path": path,
            "raw_path": path.encode(),
            "scheme": "https",
        }
        scope |= {"scheme": "https", "query_string": query.encode(), "headers": headers}
        scope |= {"client": None, "server": None, "root_path": ""}
        await self.app(scope, receive, send)
        answered = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return sent[0]["status"], answered, b"".join(message.get("body", b"") for message in sent[1:])

    def tags(self, query: str) -> dict[str, str]:
        """The tags of a page."""
        return Tags(self.get("/overview", query)[2].decode()).tags


@pytest.fixture
def open_board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Board:
    """A server whose visitors are guests."""
    return served(Board(tmp_path / "home", PUBLIC), monkeypatch)


@pytest.fixture
def closed_board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Board:
    """A server where people sign in, and nobody has."""
    rules = Rules(("*",), code=True, private=False, owner=0, kind_of=lambda _: Visitor.STRANGER)
    return served(Board(tmp_path / "home", rules), monkeypatch)


def served(board: Board, monkeypatch: pytest.MonkeyPatch) -> Board:
    runner = type("Runner", (), {"store": board.store})()
    monkeypatch.setattr(server, "the_runner", lambda: runner)
    return board


def test_a_link_shows_title_verdict_and_picture_to_who_may_open_the_run(open_board: Board) -> None:
    run = open_board.run
    status, headers, body = open_board.get("/overview", f"run={run.id}")
    tags = Tags(body.decode()).tags
    assert (status, headers["cache-control"], "etag" in headers) == (200, "private, no-cache", False)
    assert int(headers["content-length"]) == len(body)
    assert body.decode().startswith("<!doctype html><html><head><title>Streamlit</title><meta")
    assert tags == {
        **NOTHING,
        "og:title": "a run",
        "og:description": tags["og:description"],
        "og:image": f"https://board.example.org/preview/{run.id}.png",
        "og:image:width": "1200",
        "og:image:height": "630",
    }
    assert tags["og:description"].startswith("1 graph, 0 graph breaks")
    status, headers, image = open_board.get(f"/preview/{run.id}.png")
    assert (status, headers["content-type"], Image.open(io.BytesIO(image)).size) == (200, "image/png", (1200, 630))


@pytest.mark.promise("people")
def test_of_a_private_run_a_link_says_what_it_says_of_none(open_board: Board) -> None:
    """A link to a private run previews like a link to a missing run."""
    run = open_board.run
    set_preview(run, allowed=True)
    open_board.store.set_audience(run, "private")
    token = f"&preview={preview_token(run)}"
    assert open_board.tags(f"run={run.id}{token}") == open_board.tags("run=none") == NOTHING
    answers = [open_board.get(f"/preview/{name}.png", token) for name in (run.id, "none")]
    assert [answer[::2] for answer in answers] == [(404, b"Not found")] * 2


def test_a_page_without_a_run_stays_as_it_is(open_board: Board) -> None:
    _, headers, body = open_board.get("/overview")
    assert (body.decode(), headers["etag"]) == (PAGE, "old")


@pytest.mark.promise("people")
def test_no_text_of_a_run_is_markup(open_board: Board) -> None:
    """No text of a run becomes markup in a preview."""
    open_board.store.rename(open_board.run, HOSTILE)
    found = Tags(open_board.get("/overview", f"run={open_board.run.id}")[2].decode())
    assert (found.tags["og:title"], found.scripts) == (HOSTILE, 0)
    assert open_board.tags("run=%22%3E%3Cscript%3E") == NOTHING


@pytest.mark.promise("people")
def test_without_a_role_a_link_previews_with_its_token_alone(closed_board: Board) -> None:
    """Without a role, a link shows title, verdict and picture only with the run's token."""
    run = closed_board.run
    set_preview(run, allowed=True)
    token = preview_token(run)
    closed_board.store.rename(run, HOSTILE)
    status, _, body = closed_board.get("/overview", f"run={run.id}&preview={token}")
    found = Tags(body.decode())
    assert (status, found.tags["og:title"], found.scripts) == (200, HOSTILE, 0)
    assert found.tags["og:image"].endswith(f"/preview/{run.id}.png?preview={token}")
    assert closed_board.get(f"/preview/{run.id}.png", f"preview={token}")[0] == 200
    for query in ("", "preview=", f"preview={token[:-1]}", "preview=x", "preview=%00"):
        for path, named in (("/overview", f"run={run.id}&"), (f"/preview/{run.id}.png", "")):
            assert closed_board.get(path, named + query)[0] == 401, (path, query)
    for path in ("/upload", "/graph/0/all", "/_stcore/stream", "/preview/none.png"):
        assert closed_board.get(path, f"preview={token}")[0] in (401, 404), path
    set_preview(run, allowed=False)
    assert closed_board.get("/overview", f"run={run.id}&preview={token}")[0] == 401


def test_pictures_are_drawn_once_and_few_wait(open_board: Board, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(previews.PICTURES, "waiting", previews.MOST_WAITING)
    assert open_board.get(f"/preview/{open_board.run.id}.png")[0] == 503
