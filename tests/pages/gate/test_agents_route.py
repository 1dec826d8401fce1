"""The route for agents behind the gate: who may call which tool, and what a call may not do."""

import json
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.routing import Route

from core import CompileJob, Model, Run, Runner, Store
from core.commands.agents.tools import TOOLS
from pages.gate.middleware import VISITOR, Gate
from pages.gate.rules import Rules
from pages.gate.visitor import Who, told
from tests.record_outputs import recorded_home, run_id
from tests.support.engines import PromptEngine
from tests.support.gates import MINE, PUBLIC
from tests.support.loops import run_async

pytest.importorskip("mcp", reason="make setup")

PATH = "/mcp"
# A server whose owner is not the user of the tests, as the kernel names them.
OF_ANOTHER = replace(MINE, agents=PATH, owner=-2)
SAMPLES = replace(PUBLIC, agents=PATH, owner=-2)
LOOKING = replace(OF_ANOTHER, code=False)
TOKEN = {"Authorization": f"Bearer {MINE.secret}"}


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    with recorded_home() as folder:
        yield folder


@contextmanager
def served(home: Path, rules: Rules, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[str, list[CompileJob]]]:
    """The address of a server with the route behind a gate, and the jobs that agents queue."""
    from core import AgentRoute

    monkeypatch.setenv("COMPILEBOARD_ALLOW_CODE", "1" if rules.code else "0")
    # As the server's: outside of a page, nobody may bring code to its runner.
    runner = Runner(Store(home), PromptEngine(), code_allowed=lambda: False)
    jobs = list[CompileJob]()

    def admit(job: CompileJob, visitor: Who) -> Run:
        jobs.append(job)
        return runner.admit(job, visitor.name)

    route = AgentRoute(lambda: runner, lambda request: told(request.headers.getlist(VISITOR)), admit)

    @asynccontextmanager
    async def lifespan(_: Any) -> Any:
        async with route.running():
            yield

    app = Gate(Starlette(routes=[Route(PATH, route)], lifespan=lifespan), rules)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_level="error", lifespan="on"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield f"http://127.0.0.1:{listening.getsockname()[1]}{PATH}", jobs
        server.should_exit = True
        thread.join(10)


def connected(
    url: str, headers: dict[str, str], work: Callable[[Any], Coroutine[Any, Any, Any]], mode: str = "auto"
) -> Any:
    """Run a coroutine with a client of the SDK; `legacy` is the protocol's revision of 2025."""

    async def run() -> Any:
        import httpx2
        from mcp import Client
        from mcp.client.streamable_http import streamable_http_client

        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(url, http_client=http), mode=mode) as client,
        ):
            return await work(client)

    return run_async(run())


def posted(url: str, body: bytes, **headers: str) -> tuple[int, bytes]:
    """Status and body of a request of a program."""
    host = url.removeprefix("http://").removesuffix(PATH)
    connection = HTTPConnection(host, timeout=10)
    sent = {"content-type": "application/json", "accept": "application/json, text/event-stream", **headers}
    connection.request("POST", PATH, body, {name.replace("_", "-"): value for name, value in sent.items()})
    answer = connection.getresponse()
    status, content = answer.status, answer.read()
    connection.close()
    return status, content


LIST = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).encode()


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_tools_are_listed_and_called_with_the_token(mode: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_id(home, "graph_break_zoo")

    async def work(client: Any) -> tuple[list[str], dict[str, Any], bool]:
        listed = [tool.name for tool in (await client.list_tools()).tools]
        verdict = await client.call_tool("verdict", {"run": run})
        compiled = await client.call_tool("compile", {"code": "model = abs"})
        return listed, verdict.structured_content, bool(compiled.is_error)

    with served(home, OF_ANOTHER, monkeypatch) as (url, jobs):
        listed, verdict, is_error = connected(url, TOKEN, work, mode)
    assert listed == [tool.name for tool in TOOLS if not tool.is_local]
    assert verdict["run"] == run
    assert (is_error, [job.model for job in jobs]) == (False, [Model("code", "model = abs")])


@pytest.mark.attack("agent 1", "no token, a wrong one, another's cookie")
@pytest.mark.parametrize(
    "headers",
    [{}, {"authorization": "Bearer wrong"}, {"authorization": MINE.secret}, {"cookie": f"compileboard={MINE.secret}"}],
)
def test_without_the_token_a_server_of_code_answers_nothing(
    headers: dict[str, str], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(home, OF_ANOTHER, monkeypatch) as (url, _):
        status, body = posted(url, LIST, **headers)
    assert status == 403
    assert b"tools" not in body


@pytest.mark.attack("agent 1", "agent 6", "an onlooker compiles")
@pytest.mark.parametrize("tool", ["compile", "try_fix", "bisect"])
def test_an_onlooker_reads_and_starts_nothing(tool: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_id(home, "graph_break_zoo")
    given = {"compile": {"sample": "mlp"}, "try_fix": {"run": run, "fix": "x"}, "bisect": {"run": run}}[tool]

    async def work(client: Any) -> tuple[bool, bool]:
        read = await client.call_tool("verdict", {"run": run})
        return bool(read.is_error), bool((await client.call_tool(tool, given)).is_error)

    with served(home, LOOKING, monkeypatch) as (url, jobs):
        assert connected(url, {}, work) == (False, True)
    assert jobs == []


@pytest.mark.attack("agent 6", "agent 2", "a guest sends code, files, options that name files")
@pytest.mark.parametrize(
    "given",
    [
        {"code": "import os"},
        {"file": "/etc/passwd.py"},
        {"sample": "mlp", "options": {"backend": "/tmp/x.py"}},
        {"sample": "mlp", "options": {"rival_code": "/tmp/x.py"}},
        {"sample": "mlp", "options": {"options": "cpp.cxx=/bin/sh"}},
    ],
)
def test_where_code_is_forbidden_a_guest_runs_none(
    given: dict[str, Any], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work(client: Any) -> bool:
        return bool((await client.call_tool("compile", given)).is_error)

    with served(home, SAMPLES, monkeypatch) as (url, jobs):
        assert connected(url, {"Host": "board.example.org"}, work)
    assert jobs == []


@pytest.mark.attack("agent 2", "a run that is private to another")
def test_a_private_run_of_another_is_not_listed_and_not_opened(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(home)
    private = store.open(run_id(home, "measured"))
    private.write_status(replace(private.status(), by="somebody"))
    store.set_audience(private, "private")

    async def work(client: Any) -> tuple[str, bool]:
        listed = await client.call_tool("runs", {"most_chars": 100_000})
        return listed.content[0].text, bool((await client.call_tool("verdict", {"run": private.id})).is_error)

    with served(home, SAMPLES, monkeypatch) as (url, _):
        listed, is_error = connected(url, {"Host": "board.example.org"}, work)
    assert private.id not in listed
    assert is_error


@pytest.mark.attack("agent 5", "a foreign page, a foreign host, a form")
@pytest.mark.parametrize(
    ("headers", "wanted"),
    [
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"host": "evil.example"}, 400),
        ({"content_type": "text/plain"}, 400),
        ({"content_type": "application/x-www-form-urlencoded"}, 400),
    ],
)
def test_a_foreign_page_cannot_call_a_tool(
    headers: dict[str, str], wanted: int, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(home, OF_ANOTHER, monkeypatch) as (url, _):
        status, body = posted(url, LIST, authorization=f"Bearer {MINE.secret}", **headers)
    assert status in (wanted, 415)
    assert b"inputSchema" not in body


@pytest.mark.attack("agent 4", "huge and malformed requests")
def test_a_huge_or_malformed_request_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bodies = [b"x" * 2_000_000, b"{", b"[" * 100_000, b"null", b'{"jsonrpc": "2.0", "id": 1, "method": "x"}']
    with served(home, OF_ANOTHER, monkeypatch) as (url, _):
        for body in bodies:
            status, _ = posted(url, body, authorization=f"Bearer {MINE.secret}")
            assert status < 500
        assert posted(url, LIST, authorization=f"Bearer {MINE.secret}")[0] == 200


def test_only_the_route_for_agents_needs_no_origin() -> None:
    from tests.support.gates import ASKED

    asked = replace(ASKED, method="POST", path=PATH, origins=())
    assert replace(MINE, agents=PATH).refusal(asked) is None
    refused = [replace(MINE, agents=path).refusal(replace(asked, path="/upload")) for path in (PATH, "")]
    assert [each and each.status for each in (*refused, MINE.refusal(asked))] == [403, 403, 403]


def called(name: str, arguments: str) -> bytes:
    """A request that calls a tool with arguments in JSON."""
    call = f'{{"name": "{name}", "arguments": {arguments}}}'
    return f'{{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {call}}}'.encode()


@pytest.mark.attack("agent 4", "arguments that are deep, huge, of other types, or numbers that no machine has")
@pytest.mark.parametrize(
    "arguments",
    [
        '{"run": ' + "[" * 90 + "]" * 90 + "}",
        '{"run": ' + "[" * 20_000 + "]" * 20_000 + "}",
        '{"run": "' + "../" * 100_000 + '"}',
        '{"run": "x", "first": 1e999}',
        '{"run": "x", "first": ' + "9" * 4_000 + "}",
        '{"run": "x", "\\u0000\\u202e": 1}',
        '{"run": "\\ud800"}',
        "[]",
        "null",
    ],
)
def test_odd_arguments_are_refused_and_the_next_call_is_answered(
    arguments: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(home, OF_ANOTHER, monkeypatch) as (url, _):
        status, body = posted(url, called("findings", arguments), authorization=f"Bearer {MINE.secret}")
        assert (status < 500, b"Traceback" in body, "\u202e" in body.decode()) == (True, False, False)
        assert status >= 400 or b'"isError":true' in body or b'"error":{' in body
        assert posted(url, LIST, authorization=f"Bearer {MINE.secret}")[0] == 200


@pytest.mark.attack("agent 7", "clients that never read their answers, and streams that stay open")
def test_clients_that_never_read_do_not_keep_others_waiting(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = run_id(home, "graph_break_zoo")
    body = called("page", json.dumps({"run": run, "page": "guards", "most_chars": 200_000}))
    head = "content-type: application/json\r\naccept: application/json, text/event-stream\r\n"
    with served(home, OF_ANOTHER, monkeypatch) as (url, _):
        host, _, port = url.removeprefix("http://").removesuffix(PATH).partition(":")
        silent = []
        for method, sent in [*[("POST", body)] * 20, *[("GET", b"")] * 20]:
            client = socket.create_connection((host, int(port)))
            secret = f"authorization: Bearer {MINE.secret}\r\ncontent-length: {len(sent)}\r\n"
            client.sendall(f"{method} {PATH} HTTP/1.1\r\nhost: {host}:{port}\r\n{head}{secret}\r\n".encode() + sent)
            silent.append(client)
        # The calls of the same visitor end, although nobody reads their answers, and leave room for others.
        verdict, deadline = called("verdict", json.dumps({"run": run})), time.monotonic() + 20
        while b'"isError":true' in posted(url, verdict, authorization=f"Bearer {MINE.secret}")[1]:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        for client in silent:
            client.close()


@pytest.mark.attack("agent 7", "streams of events that are kept open")
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_no_stream_is_kept_open_without_a_call(method: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with served(home, SAMPLES, monkeypatch) as (url, _):
        connection = HTTPConnection(url.removeprefix("http://").removesuffix(PATH), timeout=5)
        accept = {"accept": "text/event-stream", "mcp-protocol-version": "2025-11-25", "host": "board.example.org"}
        connection.request(method, PATH, headers=accept)
        answer = connection.getresponse()
        assert (answer.status, answer.read(), answer.headers["allow"]) == (405, b"", "POST")
        connection.close()
