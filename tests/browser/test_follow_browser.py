"""A log that another process writes, followed in a browser: a training script is watched while it is compiled."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from core import Store
from tests.support.browser import PATIENCE_S, Server, go, headline, link_to
from tests.support.places import ROOT

pytestmark = pytest.mark.browser

# It compiles once for each line that it reads.
TRAINING = """import sys

import torch


def step(x, w):
    return ((x @ w).relu() - 1).square().mean()


compiled = torch.compile(step, backend="aot_eager", dynamic=False)
w = torch.ones(8, 4, requires_grad=True)
for line in sys.stdin:
    loss = compiled(torch.ones(int(line), 8), w)
    loss.backward()
    print("done", flush=True)
"""


class Training:
    """A script in a process of its own, which writes a log."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def compile(self, batch: int) -> None:
        """Compile for a batch, and wait for the end of its step."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{batch}\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "done\n"


@contextmanager
def training(folder: Path, trace: Path) -> Iterator[Training]:
    script = folder / "train.py"
    script.write_text(TRAINING)
    environment = {**os.environ, "TORCH_TRACE": str(trace)}
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, str(script)], cwd=ROOT, env=environment, stdin=pipe, stdout=pipe, text=True
    ) as process:
        yield Training(process)
        process.communicate(timeout=PATIENCE_S)


@pytest.mark.long
def test_a_script_is_watched_while_another_process_compiles_it(server: Server, page: Page, tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    go(page, server.url)
    page.get_by_role("tab", name="A trace log").click()
    page.get_by_label("…or a path on this machine").fill(str(trace))
    page.get_by_label("…or a path on this machine").press("Enter")
    page.get_by_role("button", name="Follow while it is being written").click()
    page.wait_for_url("**/overview?run=*")
    expect(headline(page)).to_contain_text("No record was written yet")
    expect(page.locator(".chip", has_text="following …")).to_be_visible()

    with training(tmp_path, trace) as script:
        script.compile(2)
        expect(headline(page)).to_contain_text("1 graph, 0 graph breaks")
        page.reload()
        expect(headline(page)).to_contain_text("1 graph, 0 graph breaks")
        expect(page.locator("[data-testid='stMain']")).to_contain_text("So far: 1 compilation, 1 graph")

        script.compile(3)
        expect(headline(page)).to_contain_text("1 recompile, 2 graphs")

        link_to(page, "Recompiles").click()
        expect(headline(page)).to_contain_text(re.compile("1 recompile|recompiled"))
        script.compile(5)
        expect(headline(page)).to_contain_text(re.compile("2 recompiles|recompiled 2 times"))

    page.get_by_role("link", name="Overview", exact=True).click()
    page.get_by_role("button", name="Stop following").click()
    expect(page.locator(".chip", has_text="done")).to_be_visible()
    expect(headline(page)).to_contain_text("2 recompiles, 3 graphs")
    (followed,) = [run for run, status in Store(server.home).list() if str(trace) in status.origin]
    (source,) = trace.iterdir()
    assert (followed.trace_dir / "opened.log").read_bytes() == source.read_bytes()


def test_ranks_that_appear_while_they_are_followed_can_be_picked(server: Server, page: Page, tmp_path: Path) -> None:
    log = (ROOT / "tests" / "traces" / "foreign" / "trace.log").read_bytes()
    trace = tmp_path / "job"
    trace.mkdir()
    (trace / "dedicated_log_torch_trace_rank_0_x.log").write_bytes(log)
    go(page, server.url)
    page.get_by_role("tab", name="A trace log").click()
    page.get_by_label("…or a path on this machine").fill(str(trace))
    page.get_by_label("…or a path on this machine").press("Enter")
    page.get_by_role("button", name="Follow while it is being written").click()
    expect(headline(page)).to_contain_text("6 graphs")
    (trace / "dedicated_log_torch_trace_rank_7_x.log").write_bytes(log[: len(log) // 2])
    picker = page.locator(".st-key-rank input")
    expect(picker).to_be_visible()
    picker.click()
    page.get_by_role("option", name="rank 7").click()
    page.wait_for_url(re.compile(r"run=[^&]*(%40|@)7"))
    expect(headline(page)).not_to_contain_text("6 graphs")
    page.get_by_role("button", name="Stop following").click()
    expect(page.locator(".chip", has_text="done")).to_be_visible()
