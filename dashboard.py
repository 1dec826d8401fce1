"""Compileboard's server: `streamlit run dashboard.py`. The pages, behind a gate and security headers."""

import base64
import hashlib
import os
import re
import sys
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from core import CompileboardError
from pages.components.exchange import module_routes
from pages.components.graph.routes import graph_routes
from pages.gate.addresses import Addresses, Ahead, read_theme_once
from pages.gate.greeting import greeting
from pages.gate.middleware import Gate
from pages.gate.people import hide_secrets, the_people
from pages.gate.rules import rules
from pages.session import server
from pages.session.previews import Previews, preview_routes, to_stranger
from pages.session.uploads import agent_route, upload_routes

INDEX = (Path(st.__file__).parent / "static" / "index.html").read_text(encoding="utf-8")
INLINE_SCRIPTS = re.findall(r"<script(?![^>]*\bsrc=)[^>]*>(.*?)</script>", INDEX, re.DOTALL)
HASHES = " ".join(
    f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" for script in INLINE_SCRIPTS
)
# Components' scripts run from blob: URLs; Streamlit's own styles are inline.
POLICY = (
    f"default-src 'self'; script-src 'self' {HASHES} 'wasm-unsafe-eval' blob:; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' ws: wss: data: blob:; worker-src 'self' "
    "blob:; "
    "frame-ancestors 'none'; object-src 'none'; base-uri 'self'; form-action 'self'"
)
HEADERS = {
    b"content-security-policy": POLICY.encode(),
    b"x-frame-options": b"DENY",
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"same-origin",
}


class SecurityHeaders:
    """Middleware that adds the security headers that Streamlit leaves out.

    It is plain ASGI, since it must not buffer responses.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and add the headers to its response."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name.lower() for name, _ in message["headers"]}
                missing = [(name, value) for name, value in HEADERS.items() if name not in present]
                message["headers"] = [*message["headers"], *missing]
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


# Only the owner may read files of the server and of its child processes.
os.umask(0o077)

BASE = st.get_option("server.baseUrlPath") or ""
try:
    PEOPLE = the_people()
except CompileboardError as error:
    sys.exit(f"Compileboard does not start: {error}")
hide_secrets()
read_theme_once()
RULES = rules(PEOPLE.kind if PEOPLE is not None else None)
AGENTS = agent_route(RULES.agents)
app = st.App(
    "pages/app.py",
    lifespan=greeting(
        RULES,
        begin=server.take_up_sweeps,
        announced=server.announced,
        running=AGENTS.running if AGENTS else nullcontext,
    ),
    routes=[
        *(*graph_routes(BASE), *module_routes(BASE), *upload_routes(BASE), *preview_routes(BASE)),
        *([Route(RULES.agents, AGENTS)] if AGENTS else ()),
    ],
    middleware=[
        *(Middleware(SecurityHeaders), Middleware(Ahead)),
        *(Middleware(Gate, rules=RULES, people=PEOPLE, preview=partial(to_stranger, BASE)),),
        *(Middleware(Addresses, base=BASE), Middleware(Previews, base=BASE)),
    ],
)
