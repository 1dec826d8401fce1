"""Screenshots in docs/screenshots: every page with the transformer block, light and dark, and some others.

`python -m docs.make.screenshots` takes them again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from playwright.sync_api import Page

from benchmarks.graph_view import WATCH_GRAPH
from benchmarks.homes import PROJECT, temporary_home
from benchmarks.server import SETTLED, browser_page, dashboard
from core import CompileJob, CompileOptions, LocalEngine, Model, Runner, Store

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
MORE = {
    "graph-breaks-zoo": "graph_breaks?run={zoo}",
    "recompiles-zoo": "recompiles?run={recompiles}",
    "compilations-zoo": "compilations?run={zoo}",
    "bytecode-zoo": "bytecode?run={zoo}",
    "dynamic-shapes": "dynamic_shapes?run={recompiles}&compilation=0/1",
    "passes": "passes?run={training}&chapter=joint&frame=1",
    "forward-and-backward": "partition?run={training}",
    "kernels-h100": "kernels?run={h100}",
    "targets": "targets?run={h100}&other={mi300x}",
    "backend": "backend?run={registry}",
    "compare": "compare?run={gpt}&other={dynamic}",
    "compare-graphs": "compare?run={gpt}&other={dynamic}&aspect=graphs",
}
SELECTED = "graph=inductor_post_grad_graph.inference&select=n:addmm_2"
UNFOLD = "() => window.graphView().folds.all(true)"
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
DRAWN_MS = 1500
TOOL_MS = 12_000


def main() -> None:
    """Compile the samples, start the dashboard and take every picture."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    with temporary_home() as home:
        runs = _runs(Store(home))
        with dashboard(home) as server, browser_page(1440, 900) as page:
            page.add_init_script(WATCH_GRAPH)
            for theme in THEMES:
                page.emulate_media(color_scheme=theme)
                for name, path in PAGES.items():
                    more = f"&{SELECTED}" if name == "fx-graph" else ""
                    shot(page, f"{server.url}/{path}?run={runs['block']}{more}", f"{name}-{theme}")
                for name, query in MORE.items():
                    shot(page, f"{server.url}/{query.format(**runs)}", f"{name}-{theme}")
            _graphs(page, server.url, runs)


def _runs(store: Store) -> dict[str, str]:
    """Return the ids of the runs that the pictures show."""
    engine = LocalEngine(store.cache_dir)
    runner = Runner(store, engine)
    gpt = CompileJob(Model("sample", "small_gpt"))
    block = CompileJob(Model("sample", "transformer_block"))
    jobs = {
        "zoo": CompileJob(Model("sample", "graph_break_zoo")),
        "recompiles": CompileJob(Model("sample", "recompile_zoo")),
        "gpt": gpt,
        "training": replace(gpt, training=True),
        "registry": replace(block, compile=CompileOptions(backend="registry")),
        "dynamic": replace(gpt, compile=CompileOptions(dynamic=True)),
        "h100": replace(block, target="h100"),
        "mi300x": replace(block, target="mi300x"),
        "block": block,
    }
    runs = {name: runner.wait(runner.submit(job)).id for name, job in jobs.items()}
    engine.close()
    return runs


def _graphs(page: Page, url: str, runs: dict[str, str]) -> None:
    """Take pictures of a GPT folded and unfolded, and of the ladder down to machine code."""
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
