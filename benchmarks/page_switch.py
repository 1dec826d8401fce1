"""Page switch in the browser: time from the click in the menu to a settled page, with a stored report.

The report is of a transformer with 12 layers. A page is settled at its last change before half a second
without changes and without a running script. Changes in shadow roots count. Changes in a canvas, and of a
prefetched library's nodes outside the page, do not count. A page that waits for the compiler is settled while
it shows its waiting time; the time until the result is reported separately. The rounds begin when the server
is idle; torch starts with the first visit to *New run*.

Seconds depend on the machine and its load. So each page's time is also given as a multiple of the time of a
Streamlit page with only a title. That page is opened in the same browser, alternately with the rounds.
"""

from __future__ import annotations

import statistics
from pathlib import Path

from playwright.sync_api import Page

from benchmarks.homes import temporary_home
from benchmarks.server import LINKS, SETTLED, browser_page, dashboard, wait_until_idle
from benchmarks.table import Result, at_most, spread, tell
from core import CompileJob, LocalEngine, Model, Run, Runner, Store
from pages.parts.kernel.tool import WAITING

# Page → milliseconds until the title shows, until the page has settled, and until the awaited result shows.
Round = dict[str, tuple[float, float, float]]

# Aim in multiples of the empty page's median.
AIM = 2.0
ROUNDS = 4
EMPTY_APP = "benchmarks/empty_app.py"
MODEL = """
import torch

layer = torch.nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True, norm_first=True)
model = torch.nn.TransformerEncoder(layer, 12, enable_nested_tensor=False)
inputs = (torch.randn(2, 16, 64),)
"""
WATCH = """
window.lastChange = 0
const isOfPage = (node) => {
    const at = node.nodeType === 1 ? node : node.parentElement
    const isDrawn = at?.getRootNode() !== document || at.closest('[data-testid="stApp"]')
    return Boolean(isDrawn) && !at?.closest("canvas, WAITING")
}
const watch = new MutationObserver((records) => {
    if (records.some(({ target }) => isOfPage(target))) window.lastChange = performance.now()
})
const all = { childList: true, subtree: true, characterData: true }
const attach = Element.prototype.attachShadow
Element.prototype.attachShadow = function (options) {
    const root = attach.call(this, options)
    watch.observe(root, all)
    return root
}
watch.observe(document, all)
""".replace("WAITING", f"[class*='st-key-{WAITING}']")
SWITCH = """
async (index) => {
    const running = () => document.querySelector('[data-testid="stApp"]').dataset.testScriptState !== "notRunning"
    const title = () => document.querySelector('[data-testid="stMain"] :is(h1, h3)')?.textContent ?? ""
    const before = title()
    const start = performance.now()
    let done = null
    let titled = null
    document.querySelectorAll('[data-testid="stSidebarNavLink"]')[index].click()
    let settled = null
    const isQuiet = () => done !== null && !running() && performance.now() - Math.max(done, window.lastChange) >= 500
    while (!isQuiet() || document.querySelector("WAITING")) {
        await new Promise(requestAnimationFrame)
        if (settled === null && isQuiet()) settled = Math.max(done, window.lastChange) - start
        if (titled === null && title() && title() !== before) titled = performance.now() - start
        if (done === null && title() !== before && !running()) done = performance.now()
    }
    const answered = Math.max(done, window.lastChange) - start
    settled ??= answered
    return [titled ?? settled, settled, answered]
}
""".replace("WAITING", f"[class*='st-key-{WAITING}']")


def measure() -> list[Result]:
    """Compile once, then visit all pages in rounds; the first round fills caches and is kept apart."""
    with temporary_home() as home:
        run = stored_run(home)
        tell("the transformer of 12 layers is compiled")
        with dashboard(home) as server, dashboard(home, EMPTY_APP) as plain, browser_page() as page:
            page.add_init_script(WATCH)
            beside = page.context.new_page()
            beside.add_init_script(WATCH)
            # A round starts with a click to the first page, so another page must be open before.
            beside.goto(f"{plain.url}/second")
            beside.wait_for_selector(SETTLED)
            page.goto(f"{server.url}/overview?run={run.id}")
            page.wait_for_selector(SETTLED)
            page.get_by_role("heading", level=1).filter(has_text="graph break").wait_for()
            wait_until_idle(server)
            rounds, empty = [], []
            for _ in range(ROUNDS):
                # A background tab draws no frames.
                beside.bring_to_front()
                empty += [settled for _, settled, _ in (*visit_pages(beside).values(), *visit_pages(beside).values())]
                page.bring_to_front()
                rounds.append(visit_pages(page))
    return results(rounds[0], rounds[1:], empty)


def results(first: Round, later: list[Round], empty: list[float]) -> list[Result]:
    """Return one result per page, then the medians, in milliseconds and in multiples of the empty page."""
    base = statistics.median(empty)
    title, settled = ([statistics.median(times[name][part] for times in later) for name in first] for part in (0, 1))
    return [
        Result("an empty page of Streamlit: settled", spread(empty, 0, " ms")),
        *(_of_page(name, first[name][1], [times[name][1] for times in later], base) for name in first),
        *(
            Result(f"{name}: the compiler's answer", f"first visit {answered:.0f} ms")
            for name, (_, before, answered) in first.items()
            if answered > before
        ),
        Result("all pages: title shown", spread(title, 0, " ms")),
        Result("all pages: settled", spread(settled, 0, " ms")),
        at_most("all pages: settled, of an empty page", [settled_ms / base for settled_ms in settled], AIM, 1, " ×"),
        _first_visits({name: settled_ms / base for name, (_, settled_ms, _) in first.items()}),
    ]


def _of_page(name: str, first_ms: float, later_ms: list[float], base_ms: float) -> Result:
    multiples = f"{first_ms / base_ms:.1f} ×, then {statistics.median(later_ms) / base_ms:.1f} ×"
    return Result(name, f"{multiples}; first visit {first_ms:.0f} ms, then {spread(later_ms, 0, ' ms')}")


def _first_visits(multiples: dict[str, float]) -> Result:
    """Return the result of first visits: the median, which has an aim, and the longest."""
    name, longest = max(multiples.items(), key=lambda pair: pair[1])
    middle = statistics.median(multiples.values())
    figure = f"{middle:.1f} × (longest {longest:.1f} ×, {name})"
    return Result("all pages: first visit, of an empty page", figure, f"≤ {AIM:g} ×", middle <= AIM)


def stored_run(home: Path, code: str = MODEL, training: bool | None = None) -> Run:
    """Compile a model's code in a home, and return the finished run; raises RuntimeError if it failed."""
    store = Store(home)
    engine = LocalEngine(store.cache_dir)
    try:
        runner = Runner(store, engine)
        run = runner.wait(runner.submit(CompileJob(Model("code", code), training=training)))
    finally:
        engine.close()
    status = run.status()
    if status.state != "done":
        raise RuntimeError(f"the model did not compile: {status.reason}\n{run.output_tail(2_000)}")
    return run


def visit_pages(page: Page) -> Round:
    """Visit each page of the menu once; return the times by page."""
    times = {}
    for index in range(page.locator(LINKS).count()):
        times[page.locator(LINKS).nth(index).inner_text().splitlines()[-1]] = tuple(page.evaluate(SWITCH, index))
    return times
