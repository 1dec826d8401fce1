"""Kernels: cost of code generation for an H100 over a CPU, and load time of a kernel's page.

The cost is measured by whole runs of the transformer block without measuring, from the start of the worker to
its end. Runs for the two devices alternate, with both fork servers warm. Every pair has another input length,
so that its kernels are not yet compiled; a second run of the pair finds them in the cache. The kernel's page
is opened in the browser from the page Kernels. It is open when its title is shown. It is settled when no tool
runs and nothing changes for half a second. Its tools compile Triton kernels to machine code, C++ kernels to
assembly.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode

from playwright.sync_api import Page

from benchmarks.homes import temporary_home
from benchmarks.page_switch import WATCH
from benchmarks.server import SETTLED, browser_page, dashboard
from benchmarks.table import Result, at_most, spread, tell
from core import CompileJob, LocalEngine, Model, Run, Runner, Store, open_report

TARGET = "h100"
PAIRS = 4
VISITS = 4
PAGE_AIM_MS, LADDER_AIM_MS = 300, 2_000
LAST_RUNGS = {"triton": "ladder", "cpp": "assembly"}
LINK = '[data-testid="stPageLink-NavLink"][href^="kernel?"]'
OPEN = """
async (link) => {
    const running = () => document.querySelector('[data-testid="stApp"]').dataset.testScriptState !== "notRunning"
    const waiting = () => document.querySelector('[class*="st-key-cancel-"]') !== null
    const title = () => document.querySelector('[data-testid="stMain"] h1')?.textContent ?? ""
    const before = title()
    const start = performance.now()
    let settled = start
    let titled = null
    document.querySelector(link).click()
    while (performance.now() - settled < 500) {
        await new Promise(requestAnimationFrame)
        if (titled === null && title() && title() !== before) titled = performance.now() - start
        const busy = titled === null || running() || waiting()
        settled = busy ? performance.now() : Math.max(settled, window.lastChange)
    }
    return [titled, settled - start]
}
"""


@dataclass(frozen=True, slots=True)
class Visits:
    """Load times of one kernel's page, as (ms to the title, ms until settled): the first and later ones."""

    first: tuple[float, float]
    again: list[tuple[float, float]]


def measure() -> list[Result]:
    """Run the jobs, then open their kernels."""
    with temporary_home() as home:
        store = Store(home)
        engine = LocalEngine(home / "cold")
        try:
            runner = Runner(store, engine)
            runs = {
                language: finished_run(runner, target, 64) for language, target in (("cpp", ""), ("triton", TARGET))
            }
            tell("both fork servers are warm")
            costs = cost(runner)
        finally:
            engine.close()
        return [*costs, *pages(home, runs)]


def cost(runner: Runner) -> list[Result]:
    """Return the seconds of runs for the target and for the CPU; the order alternates from pair to pair."""
    results = []
    for again in ("first", "again"):
        pairs = [pair(runner, 65 + index, index % 2 == 1) for index in range(PAIRS)]
        tell(f"{PAIRS} pairs {again}: {', '.join(f'{cpu:.1f} s and {target:.1f} s' for cpu, target in pairs)}")
        words = "kernels compiled anew" if again == "first" else "kernels compiled before"
        results += [
            Result(f"run for the CPU, {words}", spread([cpu for cpu, _ in pairs], 2, " s")),
            Result(f"run for {TARGET}, {words}", spread([target for _, target in pairs], 2, " s")),
            Result(f"{TARGET} over CPU, by pair, {words}", spread([target / cpu for cpu, target in pairs])),
        ]
    return results


def pair(runner: Runner, length: int, target_first: bool) -> tuple[float, float]:
    """Return the seconds of a run for the CPU and of a run for the target."""
    order = (TARGET, "") if target_first else ("", TARGET)
    seconds = {target: run_s(finished_run(runner, target, length)) for target in order}
    return seconds[""], seconds[TARGET]


def finished_run(runner: Runner, target: str, length: int) -> Run:
    """Return a finished run of the transformer block with inputs of [8, length, 256].

    Raises RuntimeError if the run failed.
    """
    model = Model("sample", "transformer_block")
    run = runner.wait(runner.submit(CompileJob(model, calls=(f"f32[8, {length}, 256]",), target=target, measure=False)))
    status = run.status()
    if status.state != "done":
        raise RuntimeError(f"the run for {target or 'the CPU'} ended: {status.reason}\n{run.output_tail(2_000)}")
    return run


def run_s(run: Run) -> float:
    """Return the seconds of a run's worker."""
    status = run.status()
    return (status.ended_s or 0.0) - (status.started_s or 0.0)


def pages(home: Path, runs: dict[str, Run]) -> list[Result]:
    """Return the results of opening each generated kernel of both runs, `1 + VISITS` times each."""
    results = []
    with dashboard(home) as server, browser_page() as page:
        page.add_init_script(WATCH)
        for language, run in runs.items():
            kernels = [
                kernel
                for compilation in open_report(run).compilations
                for kernel in compilation.kernels
                if not kernel.extern
            ]
            visited = [visits(page, server.url, run, kernel.id) for kernel in kernels]
            tell(f"{len(visited)} {language} kernels are opened")
            results += page_results(language, visited)
    return results


def visits(page: Page, url: str, run: Run, kernel: str) -> Visits:
    """Visit a kernel repeatedly from the Kernels page."""
    first, *again = [opened(page, url, run, kernel) for _ in range(1 + VISITS)]
    return Visits(first, again)


def opened(page: Page, url: str, run: Run, kernel: str) -> tuple[float, float]:
    """Return milliseconds from the click to the title, and to the last change."""
    page.goto(f"{url}/kernels?{urlencode({'run': run.id, 'select': f'k:{kernel}'})}")
    page.locator(LINK).wait_for()
    page.wait_for_selector(SETTLED)
    page.wait_for_timeout(500)
    titled, settled = page.evaluate(OPEN, LINK)
    return titled, settled


def page_results(language: str, visited: list[Visits]) -> list[Result]:
    """Return the results, the first kernel's apart: its visit starts torch in the fork server."""
    last = LAST_RUNGS[language]
    return [
        Result(f"{language}: {last} of the very first kernel, torch starting", f"{visited[0].first[1]:.0f} ms"),
        at_most(f"{language}: page open, first", [visit.first[0] for visit in visited[1:]], PAGE_AIM_MS, 0, " ms"),
        at_most(
            f"{language}: {last} settled, first", [visit.first[1] for visit in visited[1:]], LADDER_AIM_MS, 0, " ms"
        ),
        at_most(
            f"{language}: page open, again", [t for visit in visited for t, _ in visit.again], PAGE_AIM_MS, 0, " ms"
        ),
        at_most(
            f"{language}: {last} settled, again",
            [s for visit in visited for _, s in visit.again],
            PAGE_AIM_MS,
            0,
            " ms",
        ),
    ]
