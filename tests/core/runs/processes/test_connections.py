"""Connections that never send a whole header are closed, others stay, and one address has so many of them."""

import asyncio
import resource
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import pytest
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from core.runs.processes import servers
from core.runs.processes.servers import limited
from tests.support.loops import run_async
from tests.support.places import ROOT

Opened = tuple[asyncio.StreamReader, asyncio.StreamWriter]
HALF, REST = b"GET / HTTP/1.1\r\nHost: x\r\n", b"\r\n"
POST = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab"


async def app(scope: dict[str, object], receive: Callable[[], Awaitable[object]], send: Callable[..., object]) -> None:
    """Answer once the body is complete."""
    while (message := await receive()).get("more_body"):  # type: ignore[attr-defined]
        assert message
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})  # type: ignore[misc]
    await send({"type": "http.response.body", "body": b"ok"})  # type: ignore[misc]


@asynccontextmanager
async def served() -> AsyncIterator[Callable[[bytes], Awaitable[Opened]]]:
    """Serve the app with limits, and yield a function that opens a connection and sends bytes."""

    class Limited(H11Protocol): ...

    # The second call changes nothing, as for a class that a server of this process has limited.
    limited(Limited)
    limited(Limited)
    config = uvicorn.Config(app, port=0, http=Limited, lifespan="off", log_level="critical", timeout_keep_alive=600)
    server = uvicorn.Server(config)
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    writers = []

    async def opened(data: bytes) -> Opened:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(data)
        writers.append(writer)
        return reader, writer

    yield opened
    for writer in writers:
        writer.close()
    await asyncio.gather(*(writer.wait_closed() for writer in writers), return_exceptions=True)
    server.should_exit = server.force_exit = True
    await task


async def is_closed(opened: Opened) -> bool:
    """Wait until a connection ends without a response."""
    try:
        return await opened[0].read() == b""
    except ConnectionError:
        return True


async def answer(opened: Opened, data: bytes) -> bytes:
    """Send the rest of a request, and return the end of its response."""
    opened[1].write(data)
    return (await opened[0].readuntil(b"ok"))[-2:]


@pytest.mark.promise("web")
def test_a_half_open_connection_is_closed_and_others_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection without a whole header within 10 s is closed, at the workers' port, too."""

    async def check() -> None:
        async with served() as opened:
            sending, idle = await opened(POST), await opened(HALF)
            assert await answer(idle, REST) == b"ok"
            for data in (b"", HALF):
                assert await is_closed(await opened(data))
            used = await opened(HALF)
            assert await answer(used, REST) == b"ok"
            used[1].write(HALF)
            assert await is_closed(used)
            assert await answer(sending, b"cd") == b"ok"
            assert await answer(idle, HALF + REST) == b"ok"

    monkeypatch.setattr(servers, "HEADER_S", 0.5)
    run_async(check())


@pytest.mark.promise("web")
def test_an_address_has_so_many_half_open_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    """One address has at most 100 connections without a whole header."""

    async def check() -> None:
        async with served() as opened:
            idle = await opened(HALF + REST)
            await idle[0].readuntil(b"ok")
            oldest, *kept = [await opened(HALF) for _ in range(4)]
            assert await is_closed(oldest)
            assert await answer(await opened(HALF), REST) == b"ok"
            assert [await answer(each, REST) for each in kept[1:]] == [b"ok"] * 2
            assert await answer(idle, HALF + REST) == b"ok"

    monkeypatch.setattr(servers, "MOST_HALF_OPEN", 3)
    run_async(check())


@pytest.mark.promise("web")
def test_a_server_may_open_more_files_than_its_shell_says() -> None:
    """The server may open as many files as the system allows."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    code = (
        "import resource as r; r.setrlimit(r.RLIMIT_NOFILE, (256, r.getrlimit(r.RLIMIT_NOFILE)[1]));"
        "from core.runs.processes.servers import limit_half_open as limit;"
        "limit(); print(r.getrlimit(r.RLIMIT_NOFILE)[0])"
    )
    printed = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert int(printed) == min(servers.MOST_FILES, hard)
