"""The server's message at its start: its address, and the secret for users whom the kernel cannot tell apart."""

from __future__ import annotations

import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import streamlit as st

from pages.gate.housekeeping import housekeeping
from pages.gate.middleware import TOKEN
from pages.gate.rules import Rules
from pages.gate.terminal import print_once

ANYWHERE = ("", "0.0.0.0", "::")


def greeting(
    rules: Rules, begin: Callable[[], object] = lambda: None
) -> Callable[[Any], AbstractAsyncContextManager[None]]:
    """Return a lifespan of the app that prints the addresses once the port is known.

    It also calls `begin` then, and returns memory to the system as long as the app runs.
    """

    @asynccontextmanager
    async def greet(_app: Any) -> AsyncIterator[None]:
        print(words(rules, _url()), flush=True)
        print_once()
        threading.Thread(target=begin, daemon=True).start()
        async with housekeeping():
            yield

    return greet


def words(rules: Rules, url: str, kernel_knows: bool = sys.platform == "linux") -> str:
    """Return the addresses, with the secret if a user may need it."""
    secret = f"{url}/?{TOKEN}={rules.secret}"
    if not (rules.code or rules.private):
        return f"\n  Compileboard: {url}\n  As its owner, who may delete all runs: {secret}\n"
    if rules.private and kernel_knows:
        return f"\n  Compileboard: {url}\n  As another user of this machine: {secret}\n"
    return f"\n  Compileboard: {secret}\n  Who has this address may run code as you.\n"


def _url() -> str:
    scheme = "https" if st.get_option("server.sslCertFile") else "http"
    address = st.get_option("server.address") or ""
    host = "localhost" if address in ANYWHERE else f"[{address}]" if ":" in address else address
    base = (st.get_option("server.baseUrlPath") or "").strip("/")
    return f"{scheme}://{host}:{st.get_option('server.port')}" + (f"/{base}" if base else "")
