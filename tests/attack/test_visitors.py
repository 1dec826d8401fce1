"""Guests of a public server who mean harm to each other's runs, and to the server's memory."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import psutil
import pytest

from core import Axis, CompileJob, Model, Run, Store, SweepStore, new_sweep
from core.runs.processes.handles import process_handle
from pages.gate.rules import known_as
from tests.attack.web import ask
from tests.support.browser import Server, serving
from tests.support.homes import add_run, job_of
from tests.support.loops import run_async
from tests.support.session import session

ANN, BOB = "a" * 32, "b" * 32


@pytest.fixture(scope="module")
def public(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    hosts: dict[str, Any] = {"STREAMLIT_SERVER_ALLOWED_HOSTS": "board.example.org 127.0.0.1"}
    with serving(tmp_path_factory.mktemp("public"), torch=False, COMPILEBOARD_ALLOW_CODE="0", **hosts) as server:
        yield server


@pytest.fixture
def anns(public: Server) -> Iterator[tuple[Run, psutil.Process]]:
    """A run of Ann's that goes, and the process that would be ended with it."""
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as process:
        handle = process_handle(psutil.Process(process.pid))
        going = {"state": "running", "handle": handle, "ended_s": None}
        run = add_run(public.home, "anns", None, job=job_of("transformer_block"), by=known_as(ANN), **going)
        yield run, psutil.Process(process.pid)
        process.kill()
        process.wait()
    Store(public.home).delete(run)


def cancels(server: Server, run: Run, cookie: str) -> None:
    """Press Cancel as a guest, whether or not it can be pressed."""
    port = server.url.rpartition(":")[2]
    headers = {"X-Forwarded-For": "10.0.0.1", "Cookie": f"compileboard-{port}-visitor={cookie}"}

    async def press() -> None:
        async with session(server.url, headers) as tab:
            await tab.visit("overview", run=run.id)
            await tab.press("cancel")

    run_async(press())


@pytest.mark.promise("people")
@pytest.mark.parametrize("cookie", [BOB, "", "owner"])
def test_a_guest_does_not_cancel_anothers_run(public: Server, anns: tuple[Run, psutil.Process], cookie: str) -> None:
    """A visitor cannot cancel another visitor's run."""
    cancels(public, anns[0], cookie)
    assert anns[1].status() != psutil.STATUS_ZOMBIE


def test_a_guest_cancels_their_own_run(public: Server, anns: tuple[Run, psutil.Process]) -> None:
    cancels(public, anns[0], ANN)
    assert anns[1].wait(20) is not None or not anns[1].is_running()


def resumes(server: Server, sweep_id: str, cookie: str, button: str) -> None:
    """Press Resume as a guest, by the name that the button has for who may press it."""
    port = server.url.rpartition(":")[2]

    def headers(name: str) -> dict[str, str]:
        return {"X-Forwarded-For": "10.0.0.1", "Cookie": f"compileboard-{port}-visitor={name}"}

    async def press() -> None:
        async with session(server.url, headers(ANN)) as makers, session(server.url, headers(cookie)) as tab:
            await makers.visit("sweep", sweep=sweep_id)
            await tab.visit("sweep", sweep=sweep_id)
            tab.widgets.setdefault(button, makers.widgets[button])
            await tab.press(button)

    run_async(press())


@pytest.mark.promise("people")
@pytest.mark.attack("feature 1", "a sweep of another visitor's, resumed over the WebSocket")
@pytest.mark.parametrize("cookie", [BOB, "", "owner"])
def test_a_guest_does_not_resume_anothers_sweep(public: Server, cookie: str) -> None:
    """A visitor cannot resume another visitor's sweep."""
    store = Store(public.home)
    sweeps = SweepStore(store)
    job = CompileJob(Model("sample", "mlp"), measure=False)
    asked = new_sweep(job, (Axis("seed", (1, 2)),))
    sweep = sweeps.create(replace(asked, by=known_as(ANN), runs=("", ""), reason="cancelled"))
    before = [run.id for run, _ in store.list()]
    resumes(public, sweep.id, cookie, "resume-sweep-False")
    after = sweeps.open(sweep.id)
    assert ([run.id for run, _ in store.list()], after.runs, after.handle) == (before, ("", ""), "")
    sweeps.delete(sweep.id)


@pytest.mark.promise("logs")
def test_nothing_is_brought_into_the_memory_of_the_server(public: Server) -> None:
    """Streamlit's own upload route, which stores files in memory, is closed."""
    own = (("Origin", public.url), ("Content-Length", "0"))
    for path in ("/_stcore/upload_file/session/file", "/%5fstcore/upload_file/session/file"):
        assert ask(public, path, "PUT", own) == 404
