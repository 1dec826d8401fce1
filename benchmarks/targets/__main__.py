"""python -m benchmarks.targets [TARGET|FILE.py…]: print the outcome of every cross-compiled kernel.

All samples, or the named files, are compiled for the named targets; the default is A100, H100 and MI300X. The
table has one row for each sample and target: kernels, configs that Triton compiled to machine code, messages
of the failed configs, and seconds. The exit code is 1 if a run failed or a kernel has no compiled config, 2
if a target is unknown.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.homes import temporary_home
from core import TARGETS, CompileJob, Conditions, LocalEngine, Model, Report, Runner, Store, open_report, samples
from core.report import Binary

DEFAULT = ("a100", "h100", "mi300x")


@dataclass(frozen=True, slots=True)
class Row:
    """The result of cross-compiling a sample or a file for a target."""

    sample: str
    target: str
    seconds: float
    binaries: tuple[tuple[str, Binary], ...]
    error: str

    @property
    def failed(self) -> list[str]:
        """Return the kernels without any compiled config."""
        return [name for name, binary in self.binaries if not any(not config.error for config in binary.configs)]

    @property
    def words(self) -> str:
        """The row as Markdown."""
        configs = [config for _, binary in self.binaries for config in binary.configs]
        errors = sorted({config.error.splitlines()[0] for config in configs if config.error})
        errors += [f"{name}: {binary.error}" for name, binary in self.binaries if binary.error]
        compiled = sum(not config.error for config in configs)
        message = "; ".join([*([self.error] if self.error else []), *errors])[:200]
        cells = (
            self.sample,
            self.target,
            len(self.binaries),
            f"{compiled} of {len(configs)}",
            message,
            f"{self.seconds:.1f}",
        )
        return f"| {' | '.join(map(str, cells))} |"


def model_of(name: str) -> Model:
    """Return a sample, or a file by its path."""
    return Model("file", str(Path(name).resolve())) if name.endswith(".py") else Model("sample", name)


def generate(runner: Runner, name: str, target: str) -> tuple[Report, Row]:
    """Run a sample for a target, with Dynamo's `allow_rnn`; return its report and its row."""
    start = time.perf_counter()
    conditions = Conditions(dynamo={"allow_rnn": True})
    run = runner.wait(runner.submit(CompileJob(model_of(name), target=target, conditions=conditions)))
    report = open_report(run)
    kernels = (kernel for compilation in report.compilations for kernel in compilation.kernels)
    binaries = tuple((kernel.name, kernel.binary) for kernel in kernels if kernel.binary)
    error = report.error.message.splitlines()[0] if report.error else run.status().reason
    return report, Row(Path(name).stem, target, time.perf_counter() - start, binaries, error)


def main() -> int:
    """Compile all models for all targets, and print the table."""
    models = [name for name in sys.argv[1:] if name.endswith(".py")] or [sample.name for sample in samples()]
    names = [name for name in sys.argv[1:] if not name.endswith(".py")] or DEFAULT
    unknown = [name for name in names if name not in TARGETS]
    if unknown:
        print(f"no target {', '.join(unknown)}; there are {', '.join(TARGETS)}", file=sys.stderr)
        return 2
    print("| sample | target | kernels | configs compiled | in the tool's words | seconds |\n|---|---|---|---|---|---|")
    good, start = True, time.perf_counter()
    with temporary_home() as home:
        store = Store(home)
        engine = LocalEngine(store.cache_dir)
        runner = Runner(store, engine)
        for target in names:
            for model in models:
                _, row = generate(runner, model, target)
                print(row.words, flush=True)
                good = good and not row.error and not row.failed
        engine.close()
    print(f"\n{len(names)} targets, {len(models)} models, {time.perf_counter() - start:.0f} s in all")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
