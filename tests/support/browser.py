"""A dashboard of its own, and Chromium to look at it: what the tests in a browser share."""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode, urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Dialog,
    FloatRect,
    Locator,
    Page,
    Position,
    expect,
)

from pages import menu
from pages.session.tables import HEAD_PX, LINE_PX
from tests.support.homes import CACHE, add_scenario, link_cache
from tests.support.places import ROOT

# A busy machine is slow, not wrong.
PATIENCE_S = 240.0
POLL_MS = 100
expect.set_options(timeout=1000 * PATIENCE_S)
# What moves while the server works is drawn in software, sixty times a second: a fifth of a page's load.
LOOK = {"viewport": {"width": 1280, "height": 900}, "reduced_motion": "reduce"}
POSITIONS = "root => root.compileboardView.positions()"
CAMERA = "root => { const { x, y, k } = root.compileboardView.camera; return { x, y, k } }"
HOLDS = """(field, text) =>
  text === [...field.querySelectorAll(".cm-line")].map((line) => line.textContent).join("\\n")"""
# Playwright answers for it.
SOURCES = "http://127.0.0.1:1"
MENU = tuple(menu.PAGES)
# The paths of all pages; the first of the menu is the start page, whose path is empty.
PAGES = ("", *MENU[1:])


@dataclass(frozen=True, slots=True)
class Server:
    """A dashboard of its own: where it listens, and where its runs are."""

    url: str
    home: Path

    def link(self, page: str, **query: str) -> str:
        return f"{self.url}/{page}?{urlencode(query)}"

    def get(self, path: str) -> tuple[dict[str, str], bytes]:
        with urllib.request.urlopen(self.url + path, timeout=PATIENCE_S) as answer:
            return {name.lower(): value for name, value in answer.headers.items()}, answer.read()


@contextmanager
def serving(
    home: Path, *options: str, script: str = "dashboard.py", torch: bool = True, **variables: str
) -> Iterator[Server]:
    """Start the dashboard as a user would, with options of Streamlit's and environment variables, and end it; without
    torch where no run is started.
    """
    if not torch:
        variables["PYTHONPATH"] = str(ROOT / "tests" / "support" / "torchless")
    link_cache(home, CACHE)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port), *options]
    with (home / "server.log").open("wb") as log:
        environment = {**os.environ, "COMPILEBOARD_HOME": str(home), **variables}
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
    base = variables.get("STREAMLIT_SERVER_BASE_URL_PATH", "")
    server = Server("/".join(filter(None, [f"http://127.0.0.1:{port}", base])), home)
    try:
        wait_for(lambda: healthy(server))
        yield server
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def healthy(server: Server) -> bool:
    try:
        return server.get("/_stcore/health")[1] == b"ok"
    except OSError:
        return False


def wait_for(condition: Callable[[], bool], limit_s: float = PATIENCE_S) -> None:
    """For what no page shows: a server that starts, a process that ends."""
    end = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end, f"not within {limit_s} s"
        time.sleep(0.02)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One dashboard for all tests."""
    with serving(tmp_path_factory.mktemp("home")) as server:
        yield server


NewContext = Callable[..., BrowserContext]


class Contexts:
    """Contexts that outlive a test, so that the dashboard's scripts are fetched and compiled once for each look.

    What a visitor leaves behind goes after each test: pages, cookies and storage. A blank page stays, and with it the
    process that has compiled the scripts.
    """

    def __init__(self, chromium: Browser) -> None:
        self.offences: list[str] = []
        self._chromium = chromium
        self._free: dict[str, list[BrowserContext]] = {}
        self._lent: list[tuple[str, BrowserContext]] = []

    def lend(self, **options: object) -> BrowserContext:
        """One that no other session of this test has."""
        look = repr(sorted(options.items()))
        free = self._free.setdefault(look, [])
        context = free.pop() if free else self._made(options)
        self._lent.append((look, context))
        return context

    def take_back(self) -> list[str]:
        """End the sessions of a test; gives what it did that no page may do."""
        for look, context in self._lent:
            for page in context.pages[1:]:
                _forget(context, page)
                page.close()
            context.clear_cookies()
            self._free[look].append(context)
        self._lent.clear()
        offences, self.offences = self.offences, []
        return offences

    def _made(self, options: dict[str, object]) -> BrowserContext:
        context = self._chromium.new_context(**{**LOOK, **options})  # type: ignore[arg-type]
        context.set_default_timeout(1000 * PATIENCE_S)
        context.on("page", self._watch)
        context.on("request", lambda asked: self._request(asked.url))
        open_sources(context.new_page())
        return context

    def _watch(self, page: Page) -> None:
        page.on("dialog", self._dialog)
        page.on("pageerror", lambda error: self.offences.append(f"error: {error}"))
        page.on("console", self._message)

    def _dialog(self, dialog: Dialog) -> None:
        self.offences.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _message(self, message: ConsoleMessage) -> None:
        if "Content Security Policy" in message.text:
            self.offences.append(message.text)

    def _request(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("data", "blob") and parts.hostname != "127.0.0.1":
            self.offences.append(f"request: {url}")


def _forget(context: BrowserContext, page: Page) -> None:
    """Empty the storage of a page's origin."""
    parts = urlsplit(page.url)
    if parts.scheme == "http":
        stored = {"origin": f"{parts.scheme}://{parts.netloc}", "storageTypes": "local_storage,indexeddb,cache_storage"}
        context.new_cdp_session(page).send("Storage.clearDataForOrigin", stored)


@pytest.fixture(scope="session")
def contexts(chromium: Browser) -> Contexts:
    """The contexts of this process of tests."""
    return Contexts(chromium)


@pytest.fixture
def new_context(contexts: Contexts) -> Iterator[NewContext]:
    """Sessions with nothing in common; none may ask another host, open a dialog, break the policy or raise."""
    yield contexts.lend
    assert contexts.take_back() == []


@pytest.fixture
def page(new_context: NewContext) -> Page:
    """One page in a session of its own."""
    return new_context().new_page()


@pytest.fixture(scope="session")
def transformer(server: Server) -> str:
    """The recorded transformer block, stored."""
    return add_scenario(server.home, "transformer_block")


@pytest.fixture(scope="session")
def training(server: Server) -> str:
    """The recorded training step, stored."""
    return add_scenario(server.home, "training_step")


def expect_code(field: Locator, text: str) -> None:
    """Wait until an editor holds a text that is short enough to be drawn in full."""
    deadline = time.monotonic() + PATIENCE_S
    # The editor is found again each time: a rerun may draw another one.
    while not field.evaluate(HOLDS, text):
        assert time.monotonic() < deadline, field.inner_text()
        field.page.wait_for_timeout(POLL_MS)


def open_sources(page: Page) -> None:
    """Open a blank page whose server is the repository, so that a script may import any module of it."""
    page.route(f"{SOURCES}/**", lambda route: route.fulfill(path=ROOT / urlsplit(route.request.url).path[1:]))
    page.route(f"{SOURCES}/", lambda route: route.fulfill(content_type="text/html", body="<!doctype html>"))
    page.goto(f"{SOURCES}/")


def go(page: Page, url: str) -> None:
    page.goto(url)
    settle(page)


def settle(page: Page) -> None:
    """Wait until the server has drawn the page."""
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()
    expect(page.locator('[data-testid="stSkeleton"]')).to_have_count(0)
    expect(page.locator('[data-testid="stException"]')).to_have_count(0)


def through_the_menu(page: Page, server: Server, **query: str) -> Iterator[str]:
    """Every page of a run, one after the other by its link: the dashboard's scripts are not loaded again for each.

    The menu leads to an entry's first pane, and the row of panes to the others; a drill-down is opened by its address.
    """
    go(page, server.link("compilations", **query))
    entries = (*menu.ENTRIES[1:], menu.ENTRIES[0])
    for entry in entries:
        for shown in entry.pages:
            path = "" if shown is menu.NEW_RUN else shown.name
            if shown in entry.drill_downs:
                go(page, server.link(path, **query))
            elif shown is entry.panes[0]:
                page.locator(f"a[data-testid='stSidebarNavLink'][href='{server.url}/{path}']").dispatch_event("click")
            else:
                page.locator(f".st-key-panes a[href*='{path}']:visible").dispatch_event("click")
            page.wait_for_url(re.compile(rf"^{re.escape(server.url)}/{path}(\?|$)"))
            settle(page)
            yield path


def link_to(page: Page, title: str) -> Locator:
    """The link with this title in the menu or in the row of panes, whatever its count."""
    links = page.locator("[data-testid='stSidebarNavLink'], .st-key-panes a:visible")
    return links.filter(has=page.get_by_text(title, exact=True))


def headline(page: Page) -> Locator:
    return page.get_by_role("heading", level=1)


def run_id(page: Page) -> str:
    found = re.search(r"run=([^&]+)", page.url)
    assert found is not None
    return found.group(1)


def click_row(page: Page, key: str, row: int, x: float = 60) -> None:
    """Click on a row of a table, which is drawn on a canvas and looks where the mouse is: not quicker than a hand."""
    table = page.locator(f".st-key-{key} [data-testid='stDataFrame']")
    table.scroll_into_view_if_needed()
    at: Position = {"x": x, "y": HEAD_PX + LINE_PX * (row + 0.5)}
    table.hover(position=at)
    page.wait_for_timeout(100)
    table.click(position=at, delay=50)


def opened(page: Page, url: str, at: int = 0) -> Locator:
    """Go to a page and wait until a graph stands there; gives its view."""
    go(page, url)
    view = page.locator(".view").nth(at)
    # From afar, boxes are painted on a canvas.
    expect(view.locator("[data-id], .far-surface:not([hidden])").first).to_be_attached()
    view.scroll_into_view_if_needed()
    return view


def item(view: Locator, id_: str) -> Locator:
    return view.locator(f"[data-id='{id_}']")


def box(locator: Locator) -> FloatRect:
    found = locator.bounding_box()
    assert found is not None
    return found
