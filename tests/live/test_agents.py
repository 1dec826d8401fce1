"""Agents and a real compilation, over stdio and HTTP: every tool, and a client that is killed."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from core import Run, Store, open_report
from tests.support.browser import serving, wait_for
from tests.support.homes import CACHE, link_cache
from tests.support.loops import run_async
from tests.support.places import ROOT

pytest.importorskip("mcp", reason="make setup")
pytestmark = [pytest.mark.torch, pytest.mark.long]

CODE = """import torch

def step(x):
    for at in range({ops}):
        x = torch.nn.functional.softmax(x @ x, -1).sin() + at
    return x

def model(x):
    y = x.sin() + 1
    torch._dynamo.graph_break()
    return step(y)

inputs = (torch.randn(8, 8),)
"""
QUICK, SLOW = (CODE.format(ops=ops) for ops in (1, 300))
# A client of the SDK in a process of its own: over stdio it starts the server itself.
CLIENT = """
import asyncio, os, sys
from mcp import Client, StdioServerParameters

target, code = sys.argv[1:]
command = [sys.executable, "-m", "core", "mcp"]
server = StdioServerParameters(command=command[0], args=command[1:], env={**os.environ})

async def main():
    async with Client(target or server) as client:
        await client.call_tool("compile", {"code": code, "options": {"measure": False}}, read_timeout_seconds=600)

asyncio.run(main())
"""
FAILS = """import torch

def model(x):
    return torch.ops.aten.nope(x)

inputs = (torch.randn(8, 8),)
"""
ENDS_S, MOST_GROWN_BYTES = 30.0, 20_000_000


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home with the compiled objects of all tests, and with its own temporary files beside it."""
    (tmp_path / "home").mkdir()
    (tmp_path / "tmp").mkdir()
    link_cache(tmp_path / "home", CACHE)
    return tmp_path / "home"


def environment(home: Path) -> dict[str, str]:
    variables = {"COMPILEBOARD_HOME": str(home), "TMPDIR": str(home.parent / "tmp"), "COMPILEBOARD_MCP": "1"}
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path]), **variables}


@contextmanager
def address(way: str, home: Path) -> Iterator[str]:
    """Where a client connects: a dashboard's route, or empty over stdio."""
    if way == "stdio":
        yield ""
        return
    with serving(home, COMPILEBOARD_MCP="1", TMPDIR=str(home.parent / "tmp")) as server:
        yield f"{server.url}/mcp"


def processes(home: Path, named: str = "") -> list[psutil.Process]:
    """Processes of a home whose command line has a name."""
    of_home = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("COMPILEBOARD_HOME") == str(home) and named in " ".join(process.cmdline()):
                of_home.append(process)
    return of_home


def only_run(home: Path) -> Run | None:
    return next((run for run, _ in Store(home).list()), None)


def compiles_slowly(home: Path) -> bool:
    """True while the second graph of `SLOW` is compiled."""
    run = only_run(home)
    log = run.log_path() if run is not None else None
    assert run is None or run.status().live, run.status()
    return log is not None and run is not None and any(each.kernels for each in open_report(run).compilations)


@pytest.mark.attack("agent 7", "a client is killed during a compilation")
@pytest.mark.parametrize("way", ["stdio", "http"])
def test_a_killed_client_leaves_a_cancelled_run_and_nothing_else(way: str, home: Path) -> None:
    with address(way, home) as url:
        client = subprocess.Popen([sys.executable, "-c", CLIENT, url, SLOW], cwd=ROOT, env=environment(home))
        wait_for(lambda: client.poll() is not None or compiles_slowly(home))
        assert client.poll() is None
        run = only_run(home)
        assert run is not None
        client.kill()
        client.wait()
        wait_for(lambda: not run.status().live, ENDS_S)
        assert run.status().state == "cancelled"
        assert open_report(run).compilations[0].kernels
        if way == "http":
            wait_for(lambda: not [*(home.parent / "tmp").glob("compileboard-*/*")], ENDS_S)
    wait_for(lambda: not processes(home), ENDS_S)
    assert left(home) == []


def left(home: Path) -> list[Path]:
    """Temporary files that are left, without torch's cache of precompiled headers, which all runs share."""
    return [path for path in (home.parent / "tmp").iterdir() if not path.name.startswith("torchinductor_")]


async def every_tool(client: Any, names: list[str]) -> dict[str, Any]:
    """Call each of the tools on runs that it makes itself; return the results by name."""
    results: dict[str, Any] = {}

    async def ended(name: str, **arguments: Any) -> Any:
        """The result of a call that is made again while its run goes on."""
        while True:
            result = await client.call_tool(name, arguments, read_timeout_seconds=60)
            if "next" not in (result.structured_content or {}):
                return result

    async def call(name: str, **arguments: Any) -> Any:
        results[name] = result = await ended(name, **arguments)
        assert not result.is_error, (name, arguments, result)
        return result.structured_content

    run = (await call("compile", code=QUICK, options={"measure": False}))["run"]
    other = (await call("try_fix", run=run, fix=(await call("fixes", run=run))["fixes"][0]["fix"]))["run"]
    broken = await ended("compile", code=FAILS, options={"measure": False})
    await call("bisect", run=broken.structured_content["run"])
    for name in ("verdict", "findings", "graph", "issue"):
        await call(name, run=run)
    await call("runs")
    await call("page", run=run, page="graph_breaks")
    await call("why", run=run, question="break 1")
    await call("graph", run=run, line=5, form="png")
    await call("compare", left=run, right=other)
    judged = await call("check", code=QUICK, options={"measure": False}, budget="[at-most]\ngraph-breaks = 0\n")
    assert (judged["failed"], judged["judgements"][0]["standing"]) == (True, "over")
    if "tune" in names:
        await call("tune", run=run, seconds=1)
    if "open_log" in names:
        await call("open_log", path=f"{os.environ['COMPILEBOARD_HOME']}/runs/{run}/trace")
    return results


@pytest.mark.parametrize("way", ["stdio", "http"])
def test_every_tool_answers_about_a_real_run_and_a_thousand_calls_leave_nothing(
    way: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from mcp import Client, StdioServerParameters

    monkeypatch.setenv("COMPILEBOARD_HOME", str(home))
    args = ["-m", "core", "mcp", "--root", str(home)]
    server = StdioServerParameters(command=sys.executable, args=args, env=environment(home), cwd=str(ROOT))

    async def work() -> None:
        async with Client(url or server) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            results = await every_tool(client, names)
            assert sorted(results) == sorted(names)
            run = results["compile"].structured_content["run"]
            (process,) = processes(home, "core mcp" if way == "stdio" else "streamlit run")
            before = (0, 0)
            for part in range(2):
                for _ in range(50):
                    group = [client.call_tool("verdict", {"run": run}) for _ in range(10)]
                    assert not any(result.is_error for result in await asyncio.gather(*group))
                now = (process.num_fds(), process.memory_info().rss)
                assert part == 0 or now[0] <= before[0] + 8
                assert part == 0 or now[1] <= before[1] + MOST_GROWN_BYTES
                before = now

    with address(way, home) as url:
        run_async(work())
    wait_for(lambda: not processes(home), ENDS_S)
    assert left(home) == []
