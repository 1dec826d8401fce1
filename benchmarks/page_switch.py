"""Page switch in the browser: from the click in the menu to a page that has settled, with a stored report.

The report is of a transformer of 12 layers. A page has settled with the last change of its document after which nothing
changes for half a second and no script is running. Shadow roots count. What stands inside a canvas does not, since it
is never painted, and neither does what a library that is fetched ahead leaves beside the page. A page that asks the
compiler has settled while it says how long it waits; when the answer is there is told apart. The rounds begin once the
server has nothing to do; torch starts with the first visit to *New run*.
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

# By page: milliseconds until the title is there, until the page has settled, and until what it waited for is there.
Round = dict[str, tuple[float, float, float]]

AIM_MS = 200
FIRST_AIM_MS = 1_000
ROUNDS = 4
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
    """Compile once, then go round all pages; the first round, in which caches fill, is told apart."""
    with temporary_home() as home:
        run = stored_run(home)
        tell("the transformer of 12 layers is compiled")
        with dashboard(home) as server, browser_page() as page:
            page.add_init_script(WATCH)
            page.goto(f"{server.url}/overview?run={run.id}")
            page.wait_for_selector(SETTLED)
            page.get_by_role("heading", level=1).filter(has_text="became").wait_for()
            wait_until_idle(server)
            rounds = [one_round(page) for _ in range(ROUNDS)]
    return results(rounds[0], rounds[1:])


def results(first: Round, later: list[Round]) -> list[Result]:
    """A line a page, then the medians; only the later visits are held to the aim."""
    lines = [
        Result(name, f"first visit {first[name][1]:.0f} ms, then {spread([item[name][1] for item in later], 0, ' ms')}")
        for name in first
    ]
    title, settled = ([statistics.median(item[name][part] for item in later) for name in first] for part in (0, 1))
    return [
        *lines,
        *(
            Result(f"{name}: the compiler's answer", f"first visit {answered:.0f} ms")
            for name, (_, before, answered) in first.items()
            if answered > before
        ),
        _longest({name: settled for name, (_, settled, _) in first.items()}),
        Result("all pages: title shown", spread(title, 0, " ms")),
        at_most("all pages: settled", settled, AIM_MS, 0, " ms"),
    ]


def _longest(first: dict[str, float]) -> Result:
    """Every first visit is held to its aim."""
    name, longest = max(first.items(), key=lambda item: item[1])
    figure = f"{longest:.0f} ms ({name}; median {statistics.median(first.values()):.0f} ms)"
    return Result("all pages: longest first visit", figure, f"≤ {FIRST_AIM_MS} ms", longest <= FIRST_AIM_MS)


def stored_run(home: Path, code: str = MODEL, training: bool | None = None) -> Run:
    """A finished run of a model in a home."""
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


def one_round(page: Page) -> Round:
    """A visit to each page of the menu."""
    found = {}
    for index in range(page.locator(LINKS).count()):
        found[page.locator(LINKS).nth(index).inner_text().splitlines()[-1]] = tuple(page.evaluate(SWITCH, index))
    return found
