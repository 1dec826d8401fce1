"""`python -m core open`: a log in the dashboard by one command."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, expect

from core import Store
from tests.support.browser import PATIENCE_S, headline
from tests.support.places import ROOT, TRACES

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("more", [[], ["--follow"]])
def test_a_log_opens_in_the_dashboard_by_one_command(page: Page, tmp_path: Path, more: list[str]) -> None:
    home, log = tmp_path / "home", tmp_path / "trace.log"
    log.write_bytes((TRACES / "foreign" / "trace.log").read_bytes())
    command = [sys.executable, "-m", "core", "open", str(log), "--no-browser", *more]
    environment = {**os.environ, "COMPILEBOARD_HOME": str(home)}
    with subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        (run,) = [run for run, _ in Store(home).list()]
        assert (urlsplit(address).path, urlsplit(address).query) == ("/overview", f"run={run.id}")
        page.goto(address)
        expect(headline(page)).to_contain_text("6 graphs")
        # A second log is opened in the dashboard that listens already, and the command ends.
        again = subprocess.run([*command[:6]], cwd=ROOT, env=environment, capture_output=True, text=True, check=True)
        second = urlsplit(again.stdout.strip())
        assert second.netloc == urlsplit(address).netloc
        page.goto(again.stdout.strip())
        expect(headline(page)).to_contain_text("6 graphs")
        process.send_signal(signal.SIGINT)
        assert process.wait(PATIENCE_S) == 0
    assert run.status().state == "done"


def test_a_path_without_a_log_starts_no_dashboard(tmp_path: Path) -> None:
    environment = {**os.environ, "COMPILEBOARD_HOME": str(tmp_path / "home")}
    command = [sys.executable, "-m", "core", "open", str(tmp_path / "none.log"), "--no-browser"]
    ended = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (3, "")
    assert "none.log cannot be read: No such file or directory" in ended.stderr
