"""Time from the click to the verdict, over `TORCH_TRACE=… python script.py` plus `tlparse`.

The run and the script call the same model: once eager, once compiled, then eager and compiled alternately for
1.5 s. The verdict is final when the results are compared. The measured numbers follow later. The time until
the numbers is reported, too, and so is the script's time without measuring. The run and the script never
overlap. Both find compiled C++ objects in the cache. The FX graph and AOTAutograd caches are off in both,
since otherwise a second log would contain no compilation. The server is warm: its fork server has imported
torch, as for every run except the first.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page

from benchmarks.homes import compile_environment, temporary_home
from benchmarks.server import SETTLED, browser_page, dashboard
from benchmarks.table import Result, at_most, spread, tell
from core import sample

NAME = "transformer_block"
PAIRS = 5
AIM = 0.35
MEASURING_S = 1.5
LIMIT_MS = 120_000
SETTLES_MS = 1_000
SCRIPT = """
import time

import torch

from model import inputs, model

with torch.no_grad():
    compiled = torch.compile(model)
    print((model(*inputs) - compiled(*inputs)).abs().max())
    times = {model: [], compiled: []}
    start = time.perf_counter()
    while time.perf_counter() - start < MEASURING_S:
        for function, seconds in times.items():
            before = time.perf_counter()
            function(*inputs)
            seconds.append(time.perf_counter() - before)
    print([sorted(seconds)[len(seconds) // 2] for seconds in times.values()])
"""


def measure() -> list[Result]:
    """Measure the click and the script alternately, after one run of each to fill the cache."""
    with temporary_home() as home, dashboard(home) as server, browser_page() as page:
        page.goto(server.url)
        with tempfile.TemporaryDirectory() as folder:
            by_click(page)
            by_script(Path(folder) / "first")
            pairs = []
            for index in range(PAIRS):
                pairs.append((by_click(page), by_script(Path(folder) / str(index))))
                tell(f"{pairs[-1][0][0]:.1f} s by click, {sum(pairs[-1][1]):.1f} s by script and tlparse")
    return results(pairs)


def results(pairs: list[tuple[tuple[float, float], tuple[float, float]]]) -> list[Result]:
    """Return the results of pairs of ((verdict s, numbers s) by click, (script s, tlparse s))."""
    both = [script + parse for _, (script, parse) in pairs]
    verdicts, numbers = [verdict for (verdict, _), _ in pairs], [number for (_, number), _ in pairs]
    unmeasured = [seconds - MEASURING_S for seconds in both]
    return [
        Result("click to verdict", spread(verdicts, 2, " s")),
        Result("click to measured numbers", spread(numbers, 2, " s")),
        Result("TORCH_TRACE=… python script.py", spread([script for _, (script, _) in pairs], 2, " s")),
        Result("tlparse", spread([parse for _, (_, parse) in pairs], 2, " s")),
        at_most("click to verdict over script and tlparse, by pair", _over(verdicts, both), AIM),
        Result("the same, the script without its measuring", spread(_over(verdicts, unmeasured))),
        Result("click to numbers over script and tlparse, by pair", spread(_over(numbers, both))),
    ]


def _over(numerators: list[float], denominators: list[float]) -> list[float]:
    return [numerator / denominator for numerator, denominator in zip(numerators, denominators, strict=True)]


def by_click(page: Page) -> tuple[float, float]:
    """Click the sample's button; return the seconds until the verdict, and until the run is done."""
    page.get_by_role("link", name="New run").first.click()
    button = page.locator(f".st-key-compile-{NAME} button")
    button.wait_for()
    page.wait_for_selector(SETTLED)
    # Wait for the card's last result: the card then grows, and a click could miss the button.
    page.wait_for_timeout(SETTLES_MS)
    start = time.perf_counter()
    button.click()
    page.get_by_role("heading", level=1).filter(has_text="graph break").wait_for(timeout=LIMIT_MS)
    verdict_s = time.perf_counter() - start
    page.locator(".chip", has_text="done").wait_for(timeout=LIMIT_MS)
    return verdict_s, time.perf_counter() - start


def by_script(folder: Path) -> tuple[float, float]:
    """Return the seconds of the script in its own process, and of tlparse over its log."""
    folder.mkdir()
    shutil.copy(sample(NAME).path, folder / "model.py")
    (folder / "script.py").write_text(SCRIPT.replace("MEASURING_S", str(MEASURING_S)), encoding="utf-8")
    environment = {
        **compile_environment(),
        "TORCH_TRACE": str(folder / "trace"),
        "TORCHINDUCTOR_FX_GRAPH_CACHE": "0",
        "TORCHINDUCTOR_AUTOGRAD_CACHE": "0",
    }
    script_s = _seconds([sys.executable, "script.py"], folder, environment)
    log = max((folder / "trace").glob("*.log"), key=lambda path: path.stat().st_size)
    tlparse = str(Path(sys.executable).parent / "tlparse")
    return script_s, _seconds([tlparse, str(log), "-o", "report", "--no-browser"], folder, environment)


def _seconds(command: list[str], folder: Path, environment: dict[str, str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    return time.perf_counter() - start
