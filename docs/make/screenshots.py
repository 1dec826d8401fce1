"""Screenshots in docs/screenshots that README and the tour show.

`python -m docs.make.screenshots` takes them again.
"""

from __future__ import annotations

from dataclasses import replace

from playwright.sync_api import Page

from benchmarks.graph_view import WATCH_GRAPH
from benchmarks.homes import PROJECT, temporary_home
from benchmarks.server import SETTLED, browser_page, dashboard
from core import CompileJob, LocalEngine, Model, Runner, Store

SHOTS = PROJECT / "docs" / "screenshots"
# Name of the picture, with the theme as its ending → page and query.
PAGES = {
    "new-run-light": "?run={block}",
    "overview-light": "overview?run={block}",
    "fusion-light": "fusion?run={block}",
    "graph-breaks-zoo-light": "graph_breaks?run={zoo}",
    "forward-and-backward-light": "partition?run={training}",
    "kernels-h100-light": "kernels?run={h100}",
    "passes-dark": "passes?run={training}&chapter=joint&frame=1",
    "kernels-dark": "kernels?run={block}",
}
UNFOLD = "() => window.graphView().folds.all(true)"
DRAWN_MS = 1500
TOOL_MS = 12_000


def main() -> None:
    """Compile the samples, start the dashboard and take every picture."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    with temporary_home() as home:
        runs = _runs(Store(home))
        with dashboard(home) as server, browser_page(1440, 900) as page:
            page.add_init_script(WATCH_GRAPH)
            for name, query in PAGES.items():
                page.emulate_media(color_scheme="dark" if name.endswith("-dark") else "light")
                shot(page, f"{server.url}/{query.format(**runs)}", name)
            _graphs(page, server.url, runs)


def _runs(store: Store) -> dict[str, str]:
    """Return the ids of the runs that the pictures show."""
    engine = LocalEngine(store.cache_dir)
    runner = Runner(store, engine)
    gpt = CompileJob(Model("sample", "small_gpt"))
    block = CompileJob(Model("sample", "transformer_block"))
    jobs = {
        "zoo": CompileJob(Model("sample", "graph_break_zoo")),
        "gpt": gpt,
        "training": replace(gpt, training=True),
        "h100": replace(block, target="h100"),
        "block": block,
    }
    runs = {name: runner.wait(runner.submit(job)).id for name, job in jobs.items()}
    engine.close()
    return runs


def _graphs(page: Page, url: str, runs: dict[str, str]) -> None:
    """Take pictures of a GPT folded and unfolded, and of the levels down to machine code."""
    page.emulate_media(color_scheme="light")
    shot(page, f"{url}/fx_graph?run={runs['gpt']}", "gpt-folded")
    page.evaluate(UNFOLD)
    page.wait_for_timeout(DRAWN_MS)
    page.screenshot(path=SHOTS / "gpt-unfolded.png")
    shot(page, f"{url}/kernel?run={runs['h100']}", "ladder", TOOL_MS)


def shot(page: Page, url: str, name: str, wait_ms: int = DRAWN_MS) -> None:
    """Open a page, wait until it is drawn, and save a picture of it."""
    page.goto(url)
    page.wait_for_selector(SETTLED, timeout=60_000)
    page.wait_for_timeout(wait_ms)
    page.screenshot(path=SHOTS / f"{name}.png")


if __name__ == "__main__":
    main()
