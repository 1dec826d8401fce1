"""Screenshots of a Hugging Face transformers model: its graph and its fusion.

`python -m docs.make.real_models` takes them again; it needs `transformers` and takes minutes.
"""

from __future__ import annotations

from benchmarks.homes import PROJECT, temporary_home
from benchmarks.server import browser_page, dashboard
from core import CompileJob, LocalEngine, Model, Runner, Store, open_report
from docs.make.screenshots import shot

MODEL = PROJECT / "benchmarks" / "real_models" / "llama.py"
PAGES = {"real-llama-graph-light": "fx_graph", "real-llama-fusion-light": "fusion"}
LIMIT_S = 900.0


def main() -> None:
    """Compile the model, and take its pictures."""
    with temporary_home() as home:
        store = Store(home)
        engine = LocalEngine(store.cache_dir)
        job = CompileJob(Model("file", str(MODEL)), measure=False, time_limit_s=LIMIT_S)
        runner = Runner(store, engine)
        run = runner.wait(runner.submit(job))
        engine.close()
        # Parse the large log first, so that the pages open quickly.
        open_report(run)
        with dashboard(home) as server, browser_page(1440, 900) as page:
            page.emulate_media(color_scheme="light")
            for name, path in PAGES.items():
                shot(page, f"{server.url}/{path}?run={run.id}", name)


if __name__ == "__main__":
    main()
