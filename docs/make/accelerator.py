"""Table of `docs/accelerator.md`: every sample, and named files, run with the backend `accelerator`.

`python -m docs.make.accelerator [FILE…]` compiles all models one after another and rewrites the table, in minutes.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from benchmarks.homes import temporary_home
from benchmarks.table import tell
from core import CompileJob, CompileOptions, LocalEngine, Model, Runner, Store, open_report, samples, sentence, verdict
from core.analysis.pipeline import pipeline_figures, pipelines
from core.analysis.results import results
from core.base.words import number
from core.report import Report
from core.runs.store import Run

MARK = "<!-- Below this line: `python -m docs.make.accelerator`. -->\n"
PAGE = Path(__file__).parents[1] / "accelerator.md"
HEAD = (
    "| model | graphs | segments | ops | bytes | calls | torch instead | results | stays with torch |\n"
    "|---|---|---|---|---|---|---|---|---|\n"
)
LIMIT_S = 1200.0
MOST_REASONS = 3


def main() -> None:
    """Run all models, and write the page."""
    models = [(entry.name, Model("sample", entry.name)) for entry in samples()]
    models += [(f"{Path(path).stem} (transformers)", Model("file", str(Path(path).resolve()))) for path in sys.argv[1:]]
    with temporary_home() as home:
        store = Store(home)
        engine = LocalEngine(store.cache_dir)
        runner = Runner(store, engine)
        rows = [_row(name, runner.wait(runner.submit(_job(name, model)))) for name, model in models]
        engine.close()
    head = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    PAGE.write_text(f"{head}{MARK}\n{HEAD}{''.join(rows)}", encoding="utf-8")


def _job(name: str, model: Model) -> CompileJob:
    settings = {entry.name: dict(entry.torch_compile) for entry in samples()}.get(name, {})
    options = {key: value for key, value in settings.items() if key in ("fullgraph", "dynamic")}
    compile_options = CompileOptions(**options, backend="accelerator")  # type: ignore[arg-type]
    return CompileJob(model, compile=compile_options, measure=False, time_limit_s=LIMIT_S)


def _row(name: str, run: Run) -> str:
    state = run.status().state
    cells = _cells(open_report(run)) if run.log_path() else ["", "", "", "", "", "", state, ""]
    row = f"| {' | '.join([f'`{name}`' if '(' not in name else name, *cells])} |\n"
    tell(row.strip() if state == "done" else f"{row.strip()} {state}: {run.status().reason}")
    return row


def _cells(report: Report) -> list[str]:
    figures = pipeline_figures(report)
    directions = Counter(pipeline.direction for _, pipeline in pipelines(report))
    return [
        ", ".join(f"{number(count)} {direction}" for direction, count in directions.items()) or "none",
        number(figures.segments),
        f"{number(figures.taken)} of {number(figures.ops)}, {figures.ops_share:.0%}",
        f"{figures.bytes_share:.0%}",
        number(figures.calls),
        "; ".join(f"{number(count)}: {reason}" for reason, count in figures.fallbacks.items()) or "0",
        _outcome(report),
        _reasons(report),
    ]


def _outcome(report: Report) -> str:
    compared = results(report)
    return "equal" if compared and compared.outcome == "same" else sentence(verdict(report)).replace("|", "\\|")


def _reasons(report: Report) -> str:
    """Return `MOST_REASONS` refusal reasons, sorted by the bytes that stay with torch, then by ops."""
    size: Counter[str] = Counter()
    ops: Counter[str] = Counter()
    for _, pipeline in pipelines(report):
        for refusal in pipeline.refusals:
            size[refusal.reason] += refusal.written_bytes
            ops[refusal.reason] += 1
    order = sorted(ops, key=lambda reason: (-size[reason], -ops[reason]))
    text = "; ".join(f"{number(ops[reason])}: {reason}" for reason in order[:MOST_REASONS])
    return f"{text}{'; …' if len(order) > MOST_REASONS else ''}".replace("|", "\\|")


if __name__ == "__main__":
    main()
