"""The fork servers of this machine: none waits for another, each is waited for while it lives, and its last words are
told.

Their process is a script that listens as soon as a file with its backend's name is there.
"""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from core import CompileJob, LocalEngine, Model, Runner, Store, WorkerError
from core.runs.engine.queues import Assignment

WAIT_S = 120.0
SERVER = """
import json, sys, time
from pathlib import Path

folder, backend = Path(sys.argv[1]), "".join(sys.argv[2:])
(folder / f"begun {backend}").touch()
while not (folder / f"go {backend}").exists():
    time.sleep(0.01)
print(json.dumps({"type": "Ready"}), flush=True)
for line in sys.stdin:
    print(json.dumps({"type": "ProbeResult", "environment": {"torch": "2.x"}}), flush=True)
"""


class Servers:
    """An engine whose fork servers are scripts."""

    def __init__(self, folder: Path, script: str) -> None:
        path = folder / "server.py"
        path.write_text(script)
        self._folder = folder
        self.engine = LocalEngine(folder / "cache", (sys.executable, str(path), str(folder)))

    def let(self, backend: str) -> None:
        (self._folder / f"go {backend}").touch()

    def has_begun(self, backend: str) -> bool:
        return (self._folder / f"begun {backend}").exists()

    @property
    def store(self) -> Store:
        return Store(self._folder / "home")

    def run(self, target: str = "") -> Assignment:
        return Assignment(self.store.create(CompileJob(Model("sample", "mlp"))), target)


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Callable[[str], Servers]]:
    made = []

    def make(script: str) -> Servers:
        made.append(Servers(tmp_path, script))
        return made[-1]

    yield make
    for servers in made:
        servers.engine.close()


@pytest.fixture
def servers(make: Callable[[str], Servers]) -> Servers:
    return make(SERVER)


def told(task: Callable[[], object]) -> tuple[threading.Thread, list[str]]:
    """A task in a thread of its own, and how it failed."""
    words: list[str] = []

    def work() -> None:
        try:
            task()
        except WorkerError as error:
            words.append(str(error))

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread, words


def test_one_fork_server_is_asked_while_another_starts(servers: Servers) -> None:
    run = servers.run("h100")
    starting, _ = told(lambda: servers.engine.prepare(run))
    servers.let("")
    asking, _ = told(servers.engine.environment)
    asking.join(WAIT_S)
    assert (asking.is_alive(), starting.is_alive()) == (False, True)
    assert [servers.engine.lacks(run), servers.engine.lacks(servers.run())] == ["torch for CUDA", ""]
    servers.let("cuda")
    starting.join(WAIT_S)
    assert servers.engine.lacks(run) == ""


def test_an_environment_is_probed_again_after_a_probe_without_a_result(make: Callable[[str], Servers]) -> None:
    failed = """print(json.dumps({"type": "FailureMessage", "why": "no result"}), flush=True)"""
    servers = make(SERVER.replace("for line in sys.stdin:", f"sys.stdin.readline()\n{failed}\nfor line in sys.stdin:"))
    servers.let("")
    with pytest.raises(WorkerError, match="no result"):
        servers.engine.environment()
    assert servers.engine.environment().torch == "2.x"


def test_closing_the_engine_ends_the_wait_for_a_server(servers: Servers) -> None:
    starting, words = told(lambda: servers.engine.prepare(servers.run("mi300x")))
    while not servers.has_begun("hip"):
        starting.join(0.01)
    servers.engine.close()
    starting.join(WAIT_S)
    assert words == ["the server has ended"]


def test_a_run_whose_server_ends_while_torch_starts_is_interrupted(servers: Servers) -> None:
    run = Runner(servers.store, servers.engine).submit(CompileJob(Model("sample", "mlp")))
    deadline = time.monotonic() + WAIT_S
    while not servers.has_begun(""):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    servers.engine.close()
    while run.status().live:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    assert (run.status().state, run.status().reason) == ("interrupted", "the server has ended")


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("import no_such_torch", "ModuleNotFoundError: No module named 'no_such_torch'"),
        ("import sys; sys.exit(3)", "its process ended with exit code 3"),
        ("""print('{"type": "FailureMessage", "why": "needs a compiler"}')""", "needs a compiler"),
    ],
)
def test_a_server_that_cannot_start_says_why(make: Callable[[str], Servers], script: str, words: str) -> None:
    failing = make(script)
    with pytest.raises(WorkerError) as error:
        failing.engine.prepare(failing.run())
    assert str(error.value).endswith(words)


DYING = """
import json, os, sys
from pathlib import Path

folder = Path(sys.argv[1])
print(json.dumps({"type": "Ready"}), flush=True)
for line in sys.stdin:
    with (folder / "requests").open("a") as requests:
        requests.write("x")
    if (folder / "requests").stat().st_size <= int((folder / "deaths").read_text()):
        os._exit(1)
    print(json.dumps({"type": "StartMessage", "pid": os.getpid()}), flush=True)
"""


def test_a_run_starts_on_a_new_fork_server_if_the_first_died(make: Callable[[str], Servers], tmp_path: Path) -> None:
    servers = make(DYING)
    (tmp_path / "deaths").write_text("1")
    servers.engine.start(servers.run(), lambda: None)
    assert (tmp_path / "requests").read_text() == "xx"


def test_a_run_is_started_again_once_and_never_if_it_is_running(make: Callable[[str], Servers], tmp_path: Path) -> None:
    servers, begun = make(DYING), make(DYING).run()
    (tmp_path / "deaths").write_text("9")
    begun.run.write_status(replace(begun.run.written_status(), state="running"))
    for assignment, requests in ((servers.run(), "xx"), (begun, "xxx")):
        with pytest.raises(WorkerError, match="the fork server ended; try again"):
            servers.engine.start(assignment, lambda: None)
        assert (tmp_path / "requests").read_text() == requests
