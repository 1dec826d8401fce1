"""python -m benchmarks.target_comparison [SAMPLE…]: is the code generated without the GPU the code generated with it?

On a machine with a GPU that is one of the targets, each sample is compiled twice with the same torch: for the target, with the
GPU hidden, and on the GPU. The output codes are compared kernel by kernel and wrapper by wrapper; AOT IDs, paths and hashes
of paths are the only text that is replaced. Prints a Markdown table, then each difference. `--json FILE` keeps the figures,
and `--driver` compares registers, local and shared memory with what the driver says of the same kernels, too.
"""

from __future__ import annotations

import argparse
import difflib
import json
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.homes import temporary_home
from core import TARGETS, CompileJob, LocalEngine, Model, Report, Run, Runner, Store, load_text, open_report, samples

# What differs between any two runs: the counter of compiled graphs, and where a run's files and the caches lie.
UNSTABLE = (
    (re.compile(r"^# AOT ID: .*$", re.MULTILINE), "# AOT ID"),
    (re.compile(r"/[\w./-]*/(?=(?:model|[a-z0-9]{20,})\.py)"), "/"),
    (re.compile(r"\bc[a-z0-9]{50,}\.py"), "x.py"),
)
KERNEL = re.compile(r"^(\w+) = async_compile\.triton\('\w+', '''(.*?)'''", re.MULTILINE | re.DOTALL)
JOBS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("float32", {}),
    ("bfloat16", {"dtype": "bfloat16"}),
    ("training", {"training": True}),
)
MAX_DIFF_LINES = 40


@dataclass(frozen=True, slots=True)
class Code:
    """The generated code of one graph: its kernels by name, and the wrapper around them."""

    graph: str
    kernels: dict[str, str]
    wrapper: str


@dataclass(frozen=True, slots=True)
class Row:
    """One sample in one variant: how much of the code is the same, and what is not."""

    sample: str
    variant: str
    graphs: int
    kernels: int
    same_kernels: int
    same_wrappers: int
    note: str
    differences: tuple[str, ...]

    @property
    def words(self) -> str:
        """The row as Markdown."""
        kernels, wrappers = f"{self.same_kernels} of {self.kernels}", f"{self.same_wrappers} of {self.graphs}"
        return f"| {self.sample} | {self.variant} | {kernels} | {wrappers} | {self.note} |"


def codes(run: Run, report: Report) -> list[Code]:
    """The output codes of a run in the order in which they were generated, normalised."""
    log = run.log_path()
    assert log is not None
    found: dict[tuple[int, str], Code] = {}
    for item in report.compilations:
        for kernel in item.kernels:
            direction = kernel.id.removeprefix(f"{item.id}.").split(".")[0]
            key = kernel.output_code.offset, f"{item.id} {direction}"
            if key not in found:
                found[key] = code(key[1], load_text(log, kernel.output_code))
    return [found[key] for key in sorted(found)]


def code(graph: str, text: str) -> Code:
    """One output code, taken apart."""
    for pattern, stable in UNSTABLE:
        text = pattern.sub(stable, text)
    return Code(graph, dict(KERNEL.findall(text)), KERNEL.sub(r"\1", text))


def compare(sample: str, variant: str, hidden: list[Code], used: list[Code], note: str) -> Row:
    """Two runs of a sample, graph by graph; code that only one of them has counts as different."""
    kernels = same_kernels = same_wrappers = 0
    differences = []
    pairs = paired(hidden, used)
    for graph, ours, theirs in pairs:
        for name in dict.fromkeys([*theirs.kernels, *ours.kernels]):
            same = ours.kernels.get(name) == theirs.kernels.get(name)
            kernels, same_kernels = kernels + 1, same_kernels + same
            if not same:
                differences.append(
                    _difference(f"{graph} {name}", ours.kernels.get(name, ""), theirs.kernels.get(name, ""))
                )
        same_wrappers += ours.wrapper == theirs.wrapper
        if ours.wrapper != theirs.wrapper:
            differences.append(_difference(f"{graph} wrapper", ours.wrapper, theirs.wrapper))
    return Row(sample, variant, len(pairs), kernels, same_kernels, same_wrappers, note, tuple(differences))


def paired(hidden: list[Code], used: list[Code]) -> list[tuple[str, Code, Code]]:
    """The codes of the same graph: a backward is compiled with its forward for a target, and at its first call on the GPU."""
    sides: list[dict[tuple[str, int], Code]] = []
    for found in (hidden, used):
        seen: Counter[str] = Counter()
        sides.append({})
        for item in found:
            sides[-1][item.graph, seen[item.graph]] = item
            seen[item.graph] += 1
    empty = Code("", {}, "")
    keys = dict.fromkeys([*sides[1], *sides[0]])
    return [(key[0], sides[0].get(key, empty), sides[1].get(key, empty)) for key in keys]


def _difference(title: str, hidden: str, used: str) -> str:
    lines = list(
        difflib.unified_diff(hidden.splitlines(), used.splitlines(), "GPU hidden", "GPU in use", "", "", 1, "")
    )
    return "\n".join([title, *lines[:MAX_DIFF_LINES]])


def compiled(runner: Runner, job: CompileJob) -> tuple[list[Code], str]:
    """The codes of one run, and how it failed if it did."""
    run = runner.wait(runner.submit(job))
    if run.log_path() is None:
        return [], run.status().reason
    report = open_report(run)
    error = report.error
    found = f"{error.type}: {error.message.splitlines()[0][:160]}" if error and error.message else run.status().reason
    return codes(run, report), found


def row(runner: Runner, target: str, sample: str, variant: str) -> tuple[Row, list[Code]]:
    """Compile one sample both ways."""
    fields = dict(JOBS)[variant]
    model = Model("sample", sample)
    hidden, failed = compiled(runner, CompileJob(model, target=target, measure=False, **fields))
    used, failed_there = compiled(runner, CompileJob(model, device="cuda", measure=False, **fields))
    notes = [f"{where}: {words}" for where, words in (("hidden", failed), ("in use", failed_there)) if words]
    return compare(sample, variant, hidden, used, "; ".join(notes)), used


def matching_target(name: str) -> str:
    """The target that a device's name says it is."""
    named = [key for key, target in TARGETS.items() if target.title.split()[-1] in name]
    if not named:
        sys.exit(f"{name or 'no GPU'}: this command needs a GPU that is one of {', '.join(TARGETS)}")
    return named[0]


def driver_rows(target: str, found: dict[str, str]) -> list[dict[str, object]]:
    """What the driver says of kernels that it loads, and what the tools say without it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "kernels.json"
        path.write_text(json.dumps(found))
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.driver_figures", str(path)],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    rows: list[dict[str, object]] = json.loads(done.stdout)
    return rows


def main() -> int:
    """Compare, print, and say by the exit code whether all is the same."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.target_comparison")
    parser.add_argument("samples", nargs="*", default=[])
    parser.add_argument("--variants", default="float32,bfloat16,training")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--driver", action="store_true")
    arguments = parser.parse_args()
    rows, kernels, start = [], {}, time.perf_counter()
    with temporary_home() as home:
        store = Store(home)
        engine = LocalEngine(store.cache_dir)
        environment = engine.environment()
        device = environment["devices"].get("cuda", "")
        target = matching_target(device)
        print(f"{device}, torch {environment['torch']}, Python {environment['python']}\n")
        print("| sample | variant | kernels the same | wrappers the same | |\n|---|---|---|---|---|")
        for variant in arguments.variants.split(","):
            for name in arguments.samples or [sample.name for sample in samples()]:
                found, used = row(Runner(store, engine), target, name, variant)
                rows.append(found)
                kernels.update(
                    {
                        f"{name}.{variant}.{item.graph}.{key}": text
                        for item in used
                        for key, text in item.kernels.items()
                    }
                )
                print(found.words, flush=True)
        engine.close()
    for found in rows:
        for difference in found.differences:
            print(f"\n### {found.sample}, {found.variant}: {difference}")
    figures = driver_rows(target, kernels) if arguments.driver else []
    if figures:
        agree = sum(item["driver"] == item["tools"] for item in figures)
        print(f"\nregisters, local memory, shared memory as the driver says: {agree} of {len(figures)} configs")
        print("\n".join(str(item) for item in figures if item["driver"] != item["tools"]))
    if arguments.json:
        arguments.json.write_text(json.dumps({"rows": [asdict(item) for item in rows], "driver": figures}, indent=1))
    print(f"\n{time.perf_counter() - start:.0f} s in all")
    return int(any(item.differences for item in rows))


if __name__ == "__main__":
    sys.exit(main())
