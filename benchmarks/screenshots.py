"""The screenshots in docs/screenshots: every page with the transformer block, light and dark, and two that show more.

`python -m benchmarks.screenshots` takes them again.
"""

from __future__ import annotations

from typing import Literal

from playwright.sync_api import Page

from benchmarks.homes import PROJECT, temporary_home
from benchmarks.server import SETTLED, browser_page, dashboard
from core import CompileJob, LocalEngine, Model, Run, Runner, Store

SHOTS = PROJECT / "docs" / "screenshots"
PAGES = {
    "new-run": "",
    "overview": "overview",
    "runs": "runs",
    "graph-breaks": "graph_breaks",
    "guards": "guards",
    "recompiles": "recompiles",
    "fx-graph": "fx_graph",
    "fusion": "fusion",
    "kernels": "kernels",
    "compile-time": "compile_time",
    "speedup": "speedup",
}
SELECTED = "graph=inductor_post_grad_graph.inference&select=n:addmm_2"
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
DRAWN_MS = 1500


def main() -> None:
    """Compile the samples, start the dashboard and take every picture."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    with temporary_home() as home:
        store = Store(home)
        engine = LocalEngine(store.cache_dir)
        runner = Runner(store, engine)
        zoo, recompiles, block = (
            _ran(runner, name) for name in ("graph_break_zoo", "recompile_zoo", "transformer_block")
        )
        engine.close()
        with dashboard(home) as server, browser_page(1440, 900) as page:
            for theme in THEMES:
                page.emulate_media(color_scheme=theme)
                for name, path in PAGES.items():
                    more = f"&{SELECTED}" if name == "fx-graph" else ""
                    _shot(page, f"{server.url}/{path}?run={block.id}{more}", f"{name}-{theme}")
                _shot(page, f"{server.url}/graph_breaks?run={zoo.id}", f"graph-breaks-zoo-{theme}")
                _shot(page, f"{server.url}/recompiles?run={recompiles.id}", f"recompiles-zoo-{theme}")


def _ran(runner: Runner, name: str) -> Run:
    return runner.wait(runner.submit(CompileJob(Model("sample", name))))


def _shot(page: Page, url: str, name: str) -> None:
    page.goto(url)
    page.wait_for_selector(SETTLED, timeout=60_000)
    page.wait_for_timeout(DRAWN_MS)
    page.screenshot(path=SHOTS / f"{name}.png")


if __name__ == "__main__":
    main()
