"""`python -m core open`: a log in the dashboard by one command."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import psutil
import pytest
from playwright.sync_api import Page, expect

from core import Store
from tests.support.browser import PATIENCE_S, headline
from tests.support.places import ROOT, TRACES
from tests.support.sample import one_in

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("interrupted_as_in_a_terminal")]


@contextmanager
def opened(home: Path, log: Path, *more: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The running command and the address that it prints; it is ended whatever happens."""
    command = [sys.executable, "-m", "core", "open", str(log), "--no-browser", *more]
    environment = {**os.environ, "COMPILEBOARD_HOME": str(home)}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process, process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(PATIENCE_S)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of another program."""
    path = tmp_path / "trace.log"
    path.write_bytes((TRACES / "foreign" / "trace.log").read_bytes())
    return path


@pytest.mark.parametrize("more", one_in(2, [[], ["--follow"]]))
def test_a_log_opens_in_the_dashboard_by_one_command(page: Page, tmp_path: Path, log: Path, more: list[str]) -> None:
    with opened(tmp_path / "home", log, *more) as (process, address):
        (run,) = [run for run, _ in Store(tmp_path / "home").list()]
        assert (urlsplit(address).path, urlsplit(address).query) == ("/overview", f"run={run.id}")
        page.goto(address)
        expect(headline(page)).to_contain_text("6 graphs")
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) == 0
    assert run.status().state == "done"


def test_a_second_log_opens_in_the_dashboard_that_listens_already(tmp_path: Path, log: Path) -> None:
    with opened(tmp_path / "home", log) as (_, address), opened(tmp_path / "home", log) as (second, again):
        assert second.wait(PATIENCE_S) == 0
        assert urlsplit(again).netloc == urlsplit(address).netloc
        assert urlsplit(again).query != urlsplit(address).query


@pytest.mark.long
def test_several_processes_are_one_dashboard(tmp_path: Path) -> None:
    """One token opens all, also a process that was started again after its end; all end together."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "core", "dashboard", "--no-browser", "--processes", "2", "--port", str(port)]
    environment = {**os.environ, "COMPILEBOARD_HOME": str(tmp_path / "home")}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        first, second, with_token = (process.stdout.readline().strip() for _ in range(3))
        assert (first, second) == (f"http://127.0.0.1:{port}", f"http://127.0.0.1:{port + 1}")
        stranger = {"X-Forwarded-For": "192.0.2.1", "Accept": "text/html"}
        token = with_token.removeprefix(f"{first}/")
        statuses = [
            httpx.get(f"{each}/{query}", headers=stranger).status_code
            for each in (first, second)
            for query in ("", token)
        ]
        assert statuses == [403, 303, 403, 303]
        psutil.Process(process.pid).children()[0].kill()
        killed = f"the dashboard on port {port} has ended with exit code -9, and is started again"
        assert process.stdout.readline().strip() == killed
        assert again(f"{first}/{token}", stranger) == 303
        servers = psutil.Process(process.pid).children()
        process.terminate()
        assert process.wait(PATIENCE_S) == 0
        assert psutil.wait_procs(servers, PATIENCE_S)[1] == []


def again(url: str, headers: dict[str, str]) -> int:
    """The status of the first answer of a server that starts."""
    end_s = time.monotonic() + PATIENCE_S
    while True:
        try:
            return httpx.get(url, headers=headers).status_code
        except httpx.TransportError:
            assert time.monotonic() < end_s
            time.sleep(0.1)


def test_a_path_without_a_log_starts_no_dashboard(tmp_path: Path) -> None:
    environment = {**os.environ, "COMPILEBOARD_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-m", "core", "open", str(tmp_path / "none.log"), "--no-browser"]
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (3, "")
    assert "none.log cannot be read: No such file or directory" in ended.stderr
