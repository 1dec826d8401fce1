"""python -m benchmarks.targets.comparison [SAMPLE|FILE.py…]: compare cross-compiled and GPU code.

On a machine with a GPU that is one of the targets, each model is compiled twice with the same torch: for the
target with the GPU hidden, and on the GPU. The output codes are compared kernel by kernel and wrapper by
wrapper. Only AOT IDs, numbers of debug handles, paths and hashes of paths are normalised. If the codes differ
and the device times paddings, both are compiled again without padding. If the codes are the same then, timed
padding is the only cause. `--attention` adds the calls of `benchmarks.targets.attention_calls`; by default
all samples are compared. `--dynamo allow_rnn=true` sets names of `torch._dynamo.config` on both sides.

Every result is appended to `--results FILE` at once, and stored results are skipped. So with `--limit-s` the
same command can be repeated until it reports that nothing is left. `--only` selects models by a part of their
name. `--table FILE…` prints results as Markdown, on any machine. `--driver` also compares registers and
local memory with the driver's figures for the same kernels.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.homes import temporary_home
from benchmarks.targets.attention_calls import attention_calls
from benchmarks.targets.generated_code import Code, codes, compare
from benchmarks.targets.results import JOBS, TIMED_PADDING, Row, differences, read_rows, table, verdict
from core import TARGETS, CompileJob, Conditions, LocalEngine, Model, Report, Runner, Store, open_report, samples
from core.job import CompileOptions, options_from_text

DEFAULT_VARIANTS = "float32,bfloat16,training"
MEMORY_LIMIT_BYTES = 64 * 1024**3
MAX_DIFFERENCES = 12
NO_PADDING = CompileOptions(options={"shape_padding": False})


@dataclass(frozen=True, slots=True)
class Pair:
    """A model in one variant, compiled both for the target and on the device."""

    name: str
    variant: str
    model: Model
    dynamo: str = ""

    def job(self, **where: Any) -> CompileJob:
        """Return the pair's job; `where` has the target or the device, and other fields of `CompileJob`."""
        fields = {**JOBS[self.variant], **where}
        conditions = Conditions(dynamo=options_from_text(self.dynamo))
        limit = MEMORY_LIMIT_BYTES
        return CompileJob(self.model, measure=False, memory_limit_bytes=limit, conditions=conditions, **fields)


@dataclass(frozen=True, slots=True)
class Bench:
    """Setup that compiles both sides of a pair."""

    runner: Runner
    target: str
    on: str

    def row(self, pair: Pair) -> tuple[Row, list[Code]]:
        """Compile a pair both ways; return the row, and the GPU's code."""
        start = time.perf_counter()
        hidden, failed, timed = self._compile(pair.job(target=self.target))
        used, failed_there, _ = self._compile(pair.job(device="cuda"))
        notes = [f"{where}: {words}" for where, words in (("hidden", failed), ("in use", failed_there)) if words]
        compared = asdict(compare(hidden, used))
        compared["differences"] = compared["differences"][:MAX_DIFFERENCES]
        row = Row(pair.name, pair.variant, self.on, timed=timed, note="; ".join(notes), seconds=0.0, **compared)
        padded = not row.same and any(about.startswith("padding of") for about in timed)
        cause = TIMED_PADDING if padded and self._same_unpadded(pair) else ""
        return replace(row, cause=cause, seconds=round(time.perf_counter() - start, 1)), used

    def _same_unpadded(self, pair: Pair) -> bool:
        hidden, *_ = self._compile(pair.job(target=self.target, compile=NO_PADDING))
        used, *_ = self._compile(pair.job(device="cuda", compile=NO_PADDING))
        return bool(used) and not compare(hidden, used).differences

    def _compile(self, job: CompileJob) -> tuple[list[Code], str, tuple[str, ...]]:
        """Return a run's code, its failure, and its choices that need timing on the device.

        The failure is an empty string if the run succeeded.
        """
        run = self.runner.wait(self.runner.submit(job))
        if run.log_path() is None:
            return [], run.status().reason, ()
        report = open_report(run)
        error = report.error
        words = (
            f"{error.type}: {error.message.splitlines()[0][:160]}" if error and error.message else run.status().reason
        )
        return codes(run, report), words, _timed_choices(report)


def _timed_choices(report: Report) -> tuple[str, ...]:
    choices = [choice for compilation in report.compilations for choice in compilation.target_choices]
    return tuple(dict.fromkeys(choice.about for choice in choices if "timing" in choice.reason))


def pairs(names: list[str], attention: bool, variants: list[str], dynamo: str = "") -> list[Pair]:
    """Return the pairs to compare: attention calls, files and samples; by default all samples."""
    models = [(call.name, Model("code", call.file)) for call in attention_calls()] if attention else []
    for name in names or ([] if attention else [sample.name for sample in samples()]):
        is_file = name.endswith(".py")
        models.append(
            (Path(name).stem, Model("file" if is_file else "sample", str(Path(name).resolve()) if is_file else name))
        )
    return [Pair(name, variant, model, dynamo) for variant in variants for name, model in models]


def matching_target(name: str) -> str:
    """Return the key of the target that matches a device's name; exits if none matches."""
    named = [key for key, target in TARGETS.items() if target.title.split()[-1] in name]
    if not named:
        sys.exit(f"{name or 'no GPU'}: this command needs a GPU that is one of {', '.join(TARGETS)}")
    return named[0]


def driver_rows(kernels: dict[str, str]) -> list[dict[str, object]]:
    """Return the figures of every kernel config, by the driver and by our tools without the driver."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernels.json"
        path.write_text(json.dumps(kernels))
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.targets.driver_figures", str(path)],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    rows: list[dict[str, object]] = json.loads(done.stdout)
    return rows


def compare_all(left: list[Pair], results: Path, at_once: int, limit_s: float) -> tuple[int, dict[str, str]]:
    """Compare pairs, `at_once` at a time, until `limit_s` has passed, and append each row to the results.

    Return the number of remaining pairs, and the GPU's kernels as name → source.
    """
    deadline = time.monotonic() + limit_s
    kernels: dict[str, str] = {}
    with temporary_home() as home, results.open("a") as file:
        store = Store(home)
        engine = LocalEngine(store.cache_dir)
        environment = engine.environment()
        device = environment.devices.get("cuda", "")
        on = f"{device}, torch {environment.torch}, Python {environment.python}"
        bench = Bench(Runner(store, engine, at_once), matching_target(device), on)
        print(on, flush=True)

        def append_row(pair: Pair) -> bool:
            if time.monotonic() > deadline:
                return False
            row, used = bench.row(pair)
            file.write(json.dumps(asdict(row)) + "\n")
            file.flush()
            kernels.update(_named_kernels(pair, used))
            print(f"{row.seconds:6.1f} s  {row.name}, {row.variant}: {row.words}  {row.note}", flush=True)
            return True

        with ThreadPoolExecutor(at_once) as pool:
            done = sum(pool.map(append_row, left))
        engine.close()
    return len(left) - done, kernels


def _named_kernels(pair: Pair, used: list[Code]) -> dict[str, str]:
    return {
        f"{pair.name}.{pair.variant}.{code.graph}.{name}": text for code in used for name, text in code.kernels.items()
    }


def arguments() -> argparse.Namespace:
    """Return the arguments of the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.targets.comparison")
    parser.add_argument("names", nargs="*", default=[], metavar="SAMPLE|FILE.py")
    parser.add_argument("--attention", action="store_true")
    parser.add_argument("--only", default="", metavar="PART_OF_A_NAME")
    parser.add_argument("--variants", default=DEFAULT_VARIANTS)
    parser.add_argument("--dynamo", default="", metavar="NAME=VALUE,…")
    parser.add_argument("--results", type=Path, default=Path("target_comparison.jsonl"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--limit-s", type=float, default=float("inf"))
    parser.add_argument("--table", type=Path, nargs="+")
    parser.add_argument("--driver", action="store_true")
    return parser.parse_args()


def main() -> int:
    """Compare the remaining pairs and print the results; exit with 0 if all are the same."""
    chosen = arguments()
    if not chosen.table:
        candidates = pairs(chosen.names, chosen.attention, chosen.variants.split(","), chosen.dynamo)
        wanted = [pair for pair in candidates if chosen.only in pair.name]
        there = {(row.name, row.variant) for row in read_rows(chosen.results)}
        left = [pair for pair in wanted if (pair.name, pair.variant) not in there]
        remaining, kernels = compare_all(left, chosen.results, chosen.jobs, chosen.limit_s) if left else (0, {})
        print(f"{remaining} of {len(wanted)} left")
        if chosen.driver:
            _print_driver(driver_rows(kernels))
    rows = [row for path in chosen.table or [chosen.results] for row in read_rows(path)]
    print(f"\n{table(rows)}\n\n{verdict(rows)}\n\n{differences(rows)}")
    return int(not all(row.same for row in rows))


def _print_driver(figures: list[dict[str, object]]) -> None:
    agree = sum(figure["driver"] == figure["tools"] for figure in figures)
    print(f"\nregisters and local memory as the driver says: {agree} of {len(figures)} configs")
    print("\n".join(str(figure) for figure in figures if figure["driver"] != figure["tools"]))


if __name__ == "__main__":
    sys.exit(main())
