"""Previews of links: the HTML of a run's page has the run's title, verdict and picture.

Chats and code hosts read `<meta property="og:…">` without JavaScript. Streamlit serves one document for all
pages, so the tags are added here. A visitor gets the tags of a run if they may open the run, or if the link
has the run's token. A visitor with the token but without a role gets only a small page and the picture. All
other runs have the same tags, so that the tags do not show if a run exists.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from html import escape
from urllib.parse import parse_qs, quote, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core import CompileboardError, Run
from core.views import sharing as views
from pages.gate.middleware import VISITOR, is_page
from pages.gate.rules import Visitor
from pages.gate.visitor import Who, told
from pages.look.palette import HIGH, WIDE
from pages.session import server, url
from pages.session.server import cached

IMAGES = "preview"
MOST_QUERY_CHARS = 4_000  #: the query of a preview link
MOST_PAGE_BYTES = 1_000_000  #: a page that gets preview tags
# Pictures that wait to be drawn; later ones are refused.
MOST_WAITING = 20  #: preview pictures that wait to be drawn
NOTHING = "Compileboard"
NOBODY = Who(Visitor.STRANGER)
# Request headers that would make the answer one without the page's text, or a compressed one.
UNWANTED = (b"accept-encoding", b"if-none-match", b"if-modified-since", b"range")
HEADERS = {"cache-control": "private, no-cache"}
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title} · Compileboard</title>{tags}
<style>body {{ font: 16px/1.5 sans-serif; max-width: 640px; margin: 12vh auto; padding: 0 20px; }}
:root {{ color-scheme: light dark; }}
img {{ max-width: 100%; border-radius: 8px; }}</style></head>
<body><h1>{title}</h1><p>{sentence}</p><p><img src="{image}" alt="The graph of the run"></p><p>{more}</p></body></html>
"""


@dataclass(frozen=True, slots=True)
class PreviewRequest:
    """The run that a request names, with the token of the link, and the address of this server."""

    run_id: str
    token: str
    origin: str
    base: str

    @staticmethod
    def by(scope: Scope, base: str) -> PreviewRequest:
        """Return the run, the token and the server's address from a request for a page or for a picture."""
        query = parse_qs(scope.get("query_string", b"").decode("latin-1")[:MOST_QUERY_CHARS])
        headers = {name.lower(): value.decode("latin-1") for name, value in scope["headers"]}
        scheme = (headers.get(b"x-forwarded-proto") or str(scope["scheme"])).partition(",")[0].strip()
        path = scope["path"].removeprefix(base)
        named = path.removeprefix(f"/{IMAGES}/").removesuffix(".png") if path.startswith(f"/{IMAGES}/") else ""
        return PreviewRequest(
            named or query.get(url.RUN, [""])[0],
            query.get(url.PREVIEW, [""])[0],
            f"{'https' if scheme == 'https' else 'http'}://{headers.get(b'host', '')}",
            base,
        )

    def open(self, visitor: Who = NOBODY) -> Run | None:
        """Return the run if the visitor may open it or the request has the token of its link, otherwise None."""
        return server.previewed_run(self.run_id, self.token, visitor)

    @property
    def image(self) -> str:
        """The address of the run's picture."""
        query = f"?{urlencode({url.PREVIEW: self.token})}" if self.token else ""
        return f"{self.origin}{self.base}/{IMAGES}/{quote(self.run_id, safe='@')}.png{query}"

    def tags(self, card: views.CardView | None) -> str:
        """Return the HTML tags of a preview; they do not tell a hidden run from a missing one."""
        values = {"og:site_name": "Compileboard", "og:type": "website", "og:title": card.title if card else NOTHING}
        if card is not None:
            values |= {"og:description": card.sentence, "og:image": self.image}
            values |= {"og:image:width": str(WIDE), "og:image:height": str(HIGH), "twitter:card": "summary_large_image"}
        return "".join(
            f'<meta {"name" if name.startswith("twitter") else "property"}="{name}" content="{escape(value)}">'
            for name, value in values.items()
        )


class Previews:
    """Middleware behind the gate that adds the tags to pages of a run."""

    def __init__(self, app: ASGIApp, base: str = "") -> None:
        self.app = app
        self._base = _start(base)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and add the preview's tags to a page of a run."""
        wanted = PreviewRequest.by(scope, self._base) if scope["type"] == "http" and scope["method"] == "GET" else None
        if wanted is None or not wanted.run_id:
            await self.app(scope, receive, send)
            return
        visitor = told([value.decode("latin-1") for name, value in scope["headers"] if name == VISITOR.encode()])
        whole = [header for header in scope["headers"] if header[0].lower() not in UNWANTED]
        await self.app({**scope, "headers": whole}, receive, _TaggedResponse(send, wanted, visitor).send)


class _TaggedResponse:
    """A response that is buffered if it is a page, and sent with the tags once it is complete."""

    def __init__(self, send: Send, wanted: PreviewRequest, visitor: Who) -> None:
        self._send, self._wanted, self._visitor = send, wanted, visitor
        self._start: Message | None = None
        self._body = b""

    async def send(self, message: Message) -> None:
        if message["type"] == "http.response.start" and is_page(message["headers"]) and message["status"] == 200:
            self._start = message
        elif self._start is None or message["type"] != "http.response.body":
            await self._send(message)
        else:
            self._body += message.get("body", b"")
            if not message.get("more_body") or len(self._body) > MOST_PAGE_BYTES:
                await self._finish(self._start, bool(message.get("more_body")))

    async def _finish(self, start: Message, more: bool) -> None:
        tags = await run_in_threadpool(_tags, self._wanted, self._visitor)
        body = self._body.replace(b"</head>", f"{tags}</head>".encode(), 1)
        dropped = (b"content-length", b"etag", b"last-modified", b"cache-control")
        headers = [header for header in start["headers"] if header[0].lower() not in dropped]
        length = [] if more else [(b"content-length", str(len(body)).encode())]
        private = (b"cache-control", HEADERS["cache-control"].encode())
        await self._send({**start, "headers": [*headers, private, *length]})
        await self._send({"type": "http.response.body", "body": body, "more_body": more})
        self._start = None


def _tags(wanted: PreviewRequest, visitor: Who) -> str:
    run = wanted.open(visitor)
    return wanted.tags(_card(run) if run is not None else None)


def _card(run: Run) -> views.CardView | None:
    log = run.log_path()
    files = [path.stat().st_mtime_ns if path and path.exists() else 0 for path in (log, run.path / "status.json")]
    try:
        return _made(run.id, tuple(files), run.name(), run)
    except (CompileboardError, OSError):
        return None


@cached()
def _made(run_id: str, changed_ns: tuple[int, ...], name: str, _run: Run) -> views.CardView:
    """Return the preview of a run, made again when its log, its status or its name changes."""
    return views.CardView.of(_run)


def preview_routes(base: str = "") -> list[Route]:
    """Return the route of pictures below `base` for whoever may open the run or has its token."""
    start = _start(base)

    async def picture(request: Request) -> Response:
        wanted = PreviewRequest.by(request.scope, start)
        run = await run_in_threadpool(wanted.open, told(request.headers.getlist(VISITOR)))
        return await PICTURES.answer(run)

    return [Route(f"{start}/{IMAGES}/{{name}}", picture)]


async def to_stranger(base: str, scope: Scope, sign_in: str) -> Response | None:
    """Return the preview of a run for a visitor without a role; None unless the link has a valid token.

    `sign_in` is the address of the sign-in, empty if this server has no sign-in.
    """
    start = _start(base)
    wanted = PreviewRequest.by(scope, start)
    if not (wanted.run_id and wanted.token):
        return None
    run = await run_in_threadpool(wanted.open)
    if run is None:
        return None
    if scope["path"].startswith(f"{start}/{IMAGES}/"):
        return await PICTURES.answer(run)
    card = await run_in_threadpool(_card, run)
    if card is None:
        return None
    more = f'<a href="{escape(sign_in)}">Sign in to open the run</a>' if sign_in else "The run is not public."
    texts = {"title": escape(card.title), "sentence": escape(card.sentence), "image": escape(wanted.image)}
    return HTMLResponse(PAGE.format(**texts, tags=wanted.tags(card), more=more), headers=HEADERS)


class _Pictures:
    """Pictures of runs, drawn one at a time; `waiting` counts the requests in progress."""

    def __init__(self) -> None:
        self.waiting = 0
        self._drawing = threading.Lock()

    async def answer(self, run: Run | None) -> Response:
        """Return the picture of a run; an error if there is no run to see, or if too many pictures wait."""
        if run is None:
            return PlainTextResponse("Not found", 404, {"cache-control": "no-store"})
        if self.waiting >= MOST_WAITING:
            return PlainTextResponse("Too many pictures at the moment; try again soon.", 503)
        self.waiting += 1
        try:
            image = await run_in_threadpool(self._drawn, run)
        finally:
            self.waiting -= 1
        return Response(image, headers={"cache-control": "private, max-age=300"}, media_type="image/png")

    def _drawn(self, run: Run) -> bytes:
        card = _card(run) or views.CardView(run, NOTHING, "")
        with self._drawing:
            return _png(run.id, card.title, card.sentence, card)


PICTURES = _Pictures()


@cached()
def _png(run_id: str, title: str, sentence: str, _card: views.CardView) -> bytes:
    # Pillow takes 4 MB of the server: imported with the first preview.
    from pages.look.card import card_png

    return card_png(title, sentence, _card.picture)


def _start(base: str) -> str:
    return f"/{base.strip('/')}" if base.strip("/") else ""
