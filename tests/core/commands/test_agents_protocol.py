"""The server of agents as a client of the SDK sees it, over stdio."""

import asyncio
import json
import os
import subprocess
import sys
from base64 import b64decode
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from core import Run, Runner, Store, SweepRunner
from core.commands.agents import server
from core.commands.agents.server import MOST_CALLS, Agents
from core.commands.agents.session import AgentSession
from core.commands.agents.tools import TOOLS
from core.views.agents import PROMPTS
from core.views.markdown import CONTROL
from tests.record_outputs import recorded_home, run_id
from tests.support.engines import PromptEngine
from tests.support.homes import add_run, hostile_log, record
from tests.support.loops import MOST_S, run_async
from tests.support.places import ROOT

pytest.importorskip("mcp", reason="make setup")

MOST_LIST_CHARS = 16_000
WAIT_S = 60.0
Ask = Callable[[Callable[[Any], Coroutine[Any, Any, Any]]], Any]
COMMAND = [sys.executable, "-m", "core", "mcp"]


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    with recorded_home() as folder:
        (folder / "runs" / run_id(folder, "graph_break_zoo") / "model.py").write_text("model = abs\n")
        yield folder


@asynccontextmanager
async def client(home: Path, mode: str = "auto") -> AsyncIterator[Any]:
    from mcp import Client, StdioServerParameters

    environment = {**os.environ, "COMPILEBOARD_HOME": str(home), "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    server = StdioServerParameters(
        command=COMMAND[0], args=[*COMMAND[1:], "--root", str(home)], env=environment, cwd=str(ROOT)
    )
    async with Client(server, mode=mode, read_timeout_seconds=WAIT_S) as connected:
        yield connected


@pytest.fixture(scope="module")
def ask(home: Path) -> Iterator[Ask]:
    """Runs a coroutine function with the one client that the tests share which neither end it nor choose its mode."""
    ready: Future[tuple[Any, asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    async def connect() -> None:
        ended = asyncio.Event()
        try:
            async with client(home) as connected:
                ready.set_result((connected, asyncio.get_running_loop(), ended))
                await ended.wait()
        except BaseException as error:
            if ready.done():
                raise
            ready.set_exception(error)

    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(asyncio.run, connect())
        connected, loop, ended = ready.result(WAIT_S)
        yield lambda work: asyncio.run_coroutine_threadsafe(work(connected), loop).result(MOST_S)
        loop.call_soon_threadsafe(ended.set)
        running.result(WAIT_S)


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_the_list_of_tools_is_short_and_says_what_each_does(mode: str, home: Path, ask: Ask) -> None:
    async def listed(connected: Any) -> Any:
        return await connected.list_tools()

    async def listed_by_another() -> Any:
        async with client(home, mode) as connected:
            return await listed(connected)

    result = ask(listed) if mode == "auto" else run_async(listed_by_another())
    text = json.dumps(result.model_dump(mode="json", by_alias=True, exclude_none=True), ensure_ascii=False)
    assert len(text) <= MOST_LIST_CHARS
    assert CONTROL.search(text) is None
    assert [tool.name for tool in result.tools] == [tool.name for tool in TOOLS]
    for tool, row in zip(result.tools, TOOLS, strict=True):
        hints = tool.annotations
        assert (hints.read_only_hint, hints.destructive_hint, hints.open_world_hint) == (
            not (row.runs or row.writes),
            row.runs,
            row.runs,
        )
        assert tool.input_schema["type"] == "object"


def calls(home: Path) -> list[tuple[str, dict[str, Any], bool]]:
    """A call of each tool, and whether it is an error; none of them compiles anything."""
    run, other = run_id(home, "graph_break_zoo"), run_id(home, "measured")
    answers: list[tuple[str, dict[str, Any]]] = [
        *((name, {"run": run}) for name in ("verdict", "findings", "fixes", "issue", "graph")),
        ("runs", {"search": "is:ended"}),
        ("why", {"run": run, "question": "break 1"}),
        ("page", {"run": run, "page": "graph_breaks"}),
        ("compare", {"left": run, "right": other}),
        ("check", {"run": run, "budget": "[at-most]\ngraph-breaks = 0\n"}),
        ("open_log", {"path": str(next((home / "runs" / run / "trace").glob("*.log")))}),
    ]
    errors: list[tuple[str, dict[str, Any]]] = [
        ("compile", {"sample": "no such sample"}),
        ("compile", {"file": "/etc/passwd"}),
        ("compile", {"unknown": 1}),
        ("try_fix", {"run": run, "fix": "no such fix"}),
        ("tune", {"run": run_id(home, "foreign")}),
        ("bisect", {"run": run_id(home, "foreign")}),
        ("verdict", {"run": "../../etc"}),
        ("page", {"run": run, "page": "no such page"}),
        ("page", {"run": run, "page": "guards", "most_chars": 10}),
        ("no such tool", {}),
    ]
    return [*((name, given, False) for name, given in answers), *((name, given, True) for name, given in errors)]


def test_every_tool_can_be_called(home: Path, ask: Ask) -> None:
    async def called(connected: Any) -> None:
        schemas = {tool.name: tool.output_schema for tool in (await connected.list_tools()).tools}
        for name, arguments, is_error in calls(home):
            # The client checks data against the schema of the tool.
            result = await connected.call_tool(name, arguments)
            assert bool(result.is_error) is is_error, (name, arguments, result)
            assert is_error or schemas.get(name) is None or result.structured_content is not None
            (content,) = result.content
            if is_error:
                assert [*json.loads(content.text)] == ["error"]
            elif result.structured_content is not None:
                assert json.loads(content.text) == result.structured_content

    ask(called)
    assert {name for name, _, _ in calls(home)} >= {tool.name for tool in TOOLS}


def test_a_graph_is_a_picture_of_bounded_size(home: Path, ask: Ask) -> None:
    arguments = {"run": run_id(home, "measured"), "line": 30, "hops": 20, "form": "png"}

    text, image = ask(lambda connected: connected.call_tool("graph", arguments)).content
    picture = b64decode(image.data)
    width, height = (int.from_bytes(picture[at : at + 4], "big") for at in (16, 20))
    assert (picture[:8], image.mime_type) == (b"\x89PNG\r\n\x1a\n", "image/png")
    assert 100 < max(width, height) <= 1_296
    assert json.loads(text.text)["graph"]


def test_prompts_and_resources_can_be_read(home: Path, ask: Ask) -> None:
    run = run_id(home, "graph_break_zoo")

    async def read(connected: Any) -> None:
        assert {each.name for each in (await connected.list_prompts()).prompts} == {*PROMPTS}
        for name in PROMPTS:
            message = (await connected.get_prompt(name, {"file": "model.py\u202e"})).messages[0]
            assert message.content.text.endswith('File: "model.py\\\\u202e"')
        assert len((await connected.list_resource_templates()).resource_templates) == 4
        (content,) = (await connected.read_resource(f"compileboard://runs/{run}")).contents
        assert json.loads(content.text)["run"] == run

    ask(read)


def test_hostile_names_come_back_without_control_characters(home: Path, ask: Ask) -> None:
    run = add_run(home, "hostile", hostile_log(), kind="log").id

    async def read(connected: Any) -> str:
        results = [await connected.call_tool(name, {"run": run}) for name in ("verdict", "findings", "fixes")]
        return "".join(json.dumps(each.model_dump(mode="json"), ensure_ascii=False) for each in results)

    assert CONTROL.search(ask(read)) is None


def test_hundreds_of_calls_are_answered(home: Path, ask: Ask) -> None:
    run = run_id(home, "eager_backend")

    async def call(connected: Any) -> int:
        answered = 0
        for _ in range(30):
            group = [connected.call_tool("verdict", {"run": run}) for _ in range(10)]
            answered += sum(not each.is_error for each in await asyncio.gather(*group))
        return answered

    assert ask(call) == 300


def started(home: Path) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "COMPILEBOARD_HOME": str(home)}
    return subprocess.Popen(COMMAND, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE)


INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}


def test_the_server_answers_and_ends_with_its_client(home: Path) -> None:
    server = started(home)
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
    server.stdin.flush()
    result = json.loads(server.stdout.readline())["result"]
    maps = Path(f"/proc/{server.pid}/maps")
    has_torch = maps.exists() and "libtorch" in maps.read_text()
    server.stdin.close()
    server.wait(WAIT_S)
    server.stdout.close()
    assert result["serverInfo"]["name"] == "compileboard"
    assert (server.returncode, has_torch) == (0, False)


def test_the_server_loads_no_torch() -> None:
    code = "import sys, core.commands.agents.server as s; s.Agents(lambda _: None); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_sigterm_ends_the_server_though_its_client_waits(home: Path) -> None:
    server = started(home)
    assert server.stdin is not None
    assert server.stdout is not None
    server.stdin.write(json.dumps(INITIALIZE).encode() + b"\n")
    server.stdin.flush()
    server.stdout.readline()
    server.terminate()
    assert server.wait(60) == 130
    server.stdin.close()
    server.stdout.close()


def test_without_the_sdk_the_command_says_how_to_install_it(home: Path) -> None:
    code = (
        "import sys, importlib.util as u; find = u.find_spec; "
        "u.find_spec = lambda name, *a: None if name == 'mcp' else find(name, *a); "
        "from core.commands.main import main; sys.exit(main(['mcp']))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, "pip install 'compileboard[mcp]'" in done.stderr) == (2, True)


def in_process(home: Path, work: Callable[[Any, PromptEngine], Coroutine[Any, Any, Any]]) -> Any:
    """Run a coroutine with a client of a server whose runs a fake executes."""

    async def run() -> Any:
        from mcp import Client

        engine = PromptEngine(hold_after=0)
        runner = Runner(Store(home), engine)
        session = AgentSession(runner.store, lambda: runner, lambda: SweepRunner(runner), (home,))
        async with asyncio.timeout(WAIT_S), Client(Agents(lambda _: session).server) as connected:
            return await work(connected, engine)

    return run_async(run())


def test_a_cancelled_call_cancels_its_run(home: Path) -> None:
    async def work(connected: Any, engine: PromptEngine) -> None:
        call = asyncio.create_task(connected.call_tool("compile", {"sample": "mlp"}))
        while not engine.started:
            await asyncio.sleep(0.01)
        call.cancel()
        while engine.started[0].status().state != "cancelled":
            await asyncio.sleep(0.01)

    in_process(home, work)


def test_a_call_reports_the_steps_of_its_run(home: Path) -> None:
    messages: list[str] = []

    async def progress(_: float, __: float | None, message: str | None) -> None:
        messages.append(message or "")

    async def work(connected: Any, engine: PromptEngine) -> Any:
        arguments = {"sample": "mlp"}
        call = asyncio.create_task(connected.call_tool("compile", arguments, progress_callback=progress))
        while not engine.started:
            await asyncio.sleep(0.01)
        run = engine.started[0]
        run.trace_dir.mkdir(exist_ok=True)
        step = record("compileboard_step", {"schema": 1, "name": "call 0\u202e"})
        (run.trace_dir / "trace.log").write_bytes(step * 2)
        while not messages:
            await asyncio.sleep(0.05)
        engine.end(run)
        return await call

    result = in_process(home, work)
    assert {*messages} == {"call 0"}
    assert json.loads(result.content[0].text)["state"] == "done"


def logs_a_step(run: Run) -> None:
    run.trace_dir.mkdir(exist_ok=True)
    (run.trace_dir / "trace.log").write_bytes(record("compileboard_step", {"schema": 1, "name": "call 0"}))


def test_a_run_that_takes_longer_than_a_call_goes_on_for_the_same_call(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "MOST_WAIT_S", 0.3)

    async def work(connected: Any, engine: PromptEngine) -> list[dict[str, Any]]:
        async def answer(name: str, **arguments: Any) -> dict[str, Any]:
            return json.loads((await connected.call_tool(name, arguments)).content[0].text)  # type: ignore[no-any-return]

        first = await answer("compile", sample="mlp")
        (run,) = engine.started
        logs_a_step(run)
        again = await answer("compile", sample="mlp")
        others = [await answer(name, run=run.id) for name in ("verdict", "findings", "fixes")]
        budget = "[at-most]\ngraph-breaks = 0\n"
        others += [await answer("check", budget=budget, **of) for of in ({"run": run.id}, {"sample": "mlp"})]
        monkeypatch.setattr(server, "MOST_WAIT_S", WAIT_S)
        last = asyncio.create_task(answer("compile", sample="mlp"))
        await asyncio.sleep(0.3)
        assert not last.done()
        engine.end(run)
        assert engine.started == [run]
        return [first, again, *others, await last]

    first, again, *others, last = in_process(home, work)
    for each in (first, again, *others):
        assert (each["state"], each["verdict"], "made again" in each["next"]) == (
            "running",
            "The run has not ended.",
            True,
        )
        assert "judgements" not in each
    assert (first["step"], again["step"]) == ("", "call 0")
    assert (last["state"], "next" in last) == ("done", False)


def test_a_trial_that_takes_longer_than_a_call_goes_on_for_the_same_call(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "MOST_WAIT_S", 0.3)

    async def work(connected: Any, engine: PromptEngine) -> list[dict[str, Any]]:
        run = run_id(home, "graph_break_zoo")
        known = json.loads((await connected.call_tool("fixes", {"run": run})).content[0].text)
        arguments = {"run": run, "fix": known["fixes"][0]["fix"]}
        early = [await connected.call_tool("try_fix", arguments)]
        (trial,) = engine.started
        logs_a_step(trial)
        early.append(await connected.call_tool("try_fix", arguments))
        engine.end(trial)
        last = await connected.call_tool("try_fix", arguments)
        assert engine.started == [trial]
        return [json.loads(result.content[0].text) for result in (*early, last)]

    *early, last = in_process(home, work)
    for each in early:
        assert (each["run"], each["state"], "made again" in each["next"]) == (last["run"], "running", True)
    assert ("outcome" in last, "next" in last) == (True, False)


def test_a_call_that_waits_again_cancels_its_run_when_it_is_cancelled(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "MOST_WAIT_S", 0.3)

    async def work(connected: Any, engine: PromptEngine) -> None:
        await connected.call_tool("compile", {"sample": "mlp"})
        monkeypatch.setattr(server, "MOST_WAIT_S", WAIT_S)
        call = asyncio.create_task(connected.call_tool("compile", {"sample": "mlp"}))
        await asyncio.sleep(0.3)
        call.cancel()
        while engine.started[0].status().state != "cancelled":
            await asyncio.sleep(0.01)

    in_process(home, work)


def test_more_calls_at_once_than_allowed_are_refused(home: Path) -> None:
    async def work(connected: Any, engine: PromptEngine) -> None:
        calls = [asyncio.create_task(connected.call_tool("compile", {"sample": "mlp"})) for _ in range(MOST_CALLS)]
        while not engine.started:
            await asyncio.sleep(0.01)
        refused = await connected.call_tool("runs", {})
        assert "too many tool calls" in refused.content[0].text
        for call in calls:
            call.cancel()
        while (await connected.call_tool("runs", {})).is_error or any(
            status.live for _, status in Store(home).list() if status.title == "mlp"
        ):
            await asyncio.sleep(0.1)

    in_process(home, work)
