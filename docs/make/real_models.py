"""Screenshots of real models: three models of a library, compiled, and their overview, graph and fusion.

`python -m docs.make.real_models` takes them again; it needs `transformers`, and minutes.
"""

from __future__ import annotations

from benchmarks.homes import PROJECT, temporary_home
from benchmarks.server import browser_page, dashboard
from core import CompileJob, LocalEngine, Model, Runner, Store, open_report
from docs.make.screenshots import shot

MODELS = PROJECT / "benchmarks" / "real_models"
PAGES = {"overview": "overview", "graph": "fx_graph", "fusion": "fusion"}
LIMIT_S = 900.0


def main() -> None:
    """Compile each model, and take its three pictures, light and wide, dark and small."""
    with temporary_home() as home:
        store = Store(home)
        engine = LocalEngine(store.cache_dir)
        runner = Runner(store, engine)
        jobs = {
            path.stem: CompileJob(Model("file", str(path)), measure=False, time_limit_s=LIMIT_S)
            for path in sorted(MODELS.glob("*.py"))
        }
        runs = {name: runner.wait(runner.submit(job)).id for name, job in jobs.items()}
        engine.close()
        for run in runs.values():
            # Read the large log before its pages are opened.
            open_report(store.open(run))
        with dashboard(home) as server, browser_page(1440, 900) as page:
            for name, run in runs.items():
                for title, path in PAGES.items():
                    page.emulate_media(color_scheme="light")
                    page.set_viewport_size({"width": 1440, "height": 900})
                    shot(page, f"{server.url}/{path}?run={run}", f"real-{name}-{title}-light")
                    page.emulate_media(color_scheme="dark")
                    page.set_viewport_size({"width": 1280, "height": 720})
                    shot(page, f"{server.url}/{path}?run={run}", f"real-{name}-{title}-dark")


if __name__ == "__main__":
    main()
