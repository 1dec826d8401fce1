"""Homes for the tests of the pages: recorded logs stored as runs, one log that means harm, and one with
measurements.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from benchmarks.graph_view import synthetic_log
from core import Run, Status, open_report
from core.report import Compilation, FxGraph, Report
from core.runs.processes.handles import LOCAL
from core.runs.stored import is_stored
from tests.record import normalised
from tests.support.places import TRACES

CACHE = Path(os.environ.get("COMPILEBOARD_TEST_CACHE", "~/.cache/compileboard-tests")).expanduser()
# A Python that compiles each graph again, though it finds compiled objects.
NO_LOOKUPS = {
    "TORCHINDUCTOR_CACHE_DIR": str(CACHE / "inductor"),
    "TORCHINDUCTOR_FX_GRAPH_CACHE": "0",
    "TORCHINDUCTOR_AUTOGRAD_CACHE": "0",
}
# By a log's digest, the first run with it; filled while reports are shared.
_EARLIER: dict[bytes, Run] = {}
_SHARED: list[bool] = []
CREATED_S = 1_767_225_600.0
RELU = 'relu: "f32[8, 4]cpu" = torch.ops.aten.relu.default(x)'
EXP = 'exp: "f32[8, 4]cpu" = torch.ops.aten.exp.default(relu)'
MUL = 'mul: "f32[8, 4]cpu" = torch.ops.aten.mul.Tensor(relu, exp)'
FILM = {
    "aot_inference_graph": (
        RELU,
        EXP,
        'clone: "f32[8, 4]cpu" = torch.ops.aten.clone.default(exp)',
        'sum_1: "f32[]cpu" = torch.ops.aten.sum.default(clone)',
    ),
    "before_joint_graph": (RELU, EXP, MUL, 'sum_1: "f32[]cpu" = torch.ops.aten.sum.default(mul)'),
    "after_joint_graph": (
        RELU,
        EXP,
        MUL,
        'sum_1: "f32[8]cpu" = torch.ops.aten.sum.dim_IntList(mul, [1])',
    ),
}
IMAGE = "<img src=x onerror=alert(1)>"
# What a log that means harm calls things, control characters among it.
HOSTILE = {
    "Data-dependent branching": f"{IMAGE} [click](http://evil.example/) ![i](http://evil.example/i.png) $x^2$ :home:",
    "Dynamic shape operator": "</script><script>alert(1)</script> `code` **bold** \x7f\u202e\u200b",
    "rescale": "<b onclick=alert(1)>rescale</b>",
    "a tensor becomes a Python number": f"{IMAGE}</script>`[click](http://evil.example/)",
    "model.py": f"{IMAGE}![p](http://evil.example/p.png).py",
}


def add_scenario(home: Path, name: str) -> str:
    """Store a recorded scenario as a run of its own; returns the run's id."""
    report = json.loads((TRACES / name / "report.json").read_bytes())
    job = report["setting"]["job"]
    log = (TRACES / name / "trace.log").read_bytes()
    state = "failed" if report["error"] else "done"
    run = add_run(home, name, log, job=job, state=state, kind="run" if job else "log")
    if job and job["model"]["kind"] == "sample":
        run.write_status(replace(run.status(), title=job["model"]["value"]))
    return run.id


def add_run(home: Path, title: str, log: bytes | None, *, job: dict[str, Any] | None = None, **fields: Any) -> Run:
    """Write a run directory as the store would; `fields` are those of its status."""
    number = len(list((home / "runs").glob("*")))
    run_id = f"20260101-{number:06}-{title}-0000"
    run = Run(run_id, home / "runs" / run_id)
    run.trace_dir.mkdir(parents=True)
    if log is not None:
        (run.trace_dir / "trace.log").write_bytes(log)
    if job is not None:
        (run.path / "job.json").write_text(json.dumps(job))
    defaults = {"state": "done", "created_s": CREATED_S + number, "started_s": CREATED_S, "ended_s": CREATED_S + 3}
    run.write_status(msgspec.convert({**defaults, "title": title, **fields}, Status))
    if log is not None and _SHARED and not run.status().live:
        _bring_report(run, log)
    return run


@contextmanager
def shared_reports() -> Iterator[None]:
    """A run that is added has the stored report of an earlier run with the same log, as on a second visit."""
    _SHARED.append(True)
    yield
    _SHARED.clear()


def _bring_report(run: Run, log: bytes) -> None:
    """Copy what an earlier run has stored, unless its log was changed since; else this run is the next one's."""
    earlier = _EARLIER.get(hashlib.sha256(log).digest())
    if earlier is None or not is_stored(earlier) or earlier.trace_dir.joinpath("trace.log").read_bytes() != log:
        _EARLIER[hashlib.sha256(log).digest()] = run
        return
    for file in (earlier.report_path, *earlier.made_dir.glob("summary-*.json")):
        shutil.copyfile(file, run.made_dir / file.name)


def job_of(name: str) -> dict[str, Any]:
    """The job that a scenario was recorded with."""
    job: dict[str, Any] = json.loads((TRACES / name / "report.json").read_bytes())["setting"]["job"]
    return job


def keeper() -> dict[str, Any]:
    """The fields of a status that say that the run's owner is alive: this very process."""
    return {"handle": LOCAL.local_handle(), "ended_s": None}


def hostile_log() -> bytes:
    """The graph-break zoo with names that would be markup, scripts and links, were they not shown as text."""
    return normalised((TRACES / "graph_break_zoo" / "trace.log").read_bytes(), HOSTILE)


def measured_log(compiled_s: float = 1e-3, pairs: int = 12, **fields: Any) -> bytes:
    """The transformer block with a steady state of 2 ms eager against what is given; `fields` are those of a newer
    record.
    """
    sides = {"eager": ([2e-3, 2.1e-3, 1.9e-3, 2e-3] * 3)[:pairs], "compiled": [compiled_s] * pairs}
    data = {"schema": 1, "sides": sides, "warm_up": 4, "calls_per_sample": 10, **fields}
    return (TRACES / "transformer_block" / "trace.log").read_bytes() + record("compileboard_timing", data)


def record(name: str, data: Any, **compile_id: int) -> bytes:
    """One record of a worker's own, as torch would write it."""
    return line({"artifact": {"name": name, "encoding": "json"}, **compile_id}, json.dumps(data))


def line(header: dict[str, Any], payload: str) -> bytes:
    """One record of any kind."""
    md5 = hashlib.md5(payload.encode(), usedforsecurity=False).hexdigest()
    text = payload.replace("\n", "\n\t")
    return f"V0101 00:00:00.000000 1 record.py:30] {json.dumps({**header, 'has_payload': md5})}\n\t{text}\n".encode()


def layers_log(count: int = 1000) -> bytes:
    """One graph of about `count` nodes in layers that are alike, with their modules."""
    return synthetic_log(count)


def film_log() -> bytes:
    """A graph at three stages: a clone goes and a mul comes, then the sum is taken over a dimension."""
    compile_id = {"frame_id": 0, "frame_compile_id": 0, "attempt": 0}
    first, *later = FILM.items()
    joint = (line({"artifact": {"name": stage}, **compile_id}, _graph_text(lines)) for stage, lines in later)
    return line({first[0]: {}, **compile_id}, _graph_text(first[1])) + b"".join(joint)


def _graph_text(lines: tuple[str, ...]) -> str:
    """A graph as torch prints it: one input, and the last line's value returned."""
    head = ["class GraphModule(torch.nn.Module):", '    def forward(self, x: "f32[8, 4]"):']
    last = lines[-1].partition(":")[0]
    return "\n".join([*head, *(f"        {line}" for line in lines), f"        return ({last},)"])


def chain_log(count: int) -> bytes:
    """A log that holds one graph: `count` times relu."""
    lines = ["class GraphModule(torch.nn.Module):", '    def forward(self, x0: "f32[8]"):']
    lines += [f'        x{i + 1}: "f32[8]" = torch.relu(x{i})' for i in range(count)]
    payload = "\n".join([*lines, f"        return (x{count},)"])
    return line({"dynamo_output_graph": {"sizes": {}}, "frame_id": 0, "frame_compile_id": 0}, payload)


def chain(home: Path, count: int) -> tuple[Run, Report, Compilation, FxGraph]:
    """A run with that log, its report and its graph."""
    run = add_run(home, "chain", chain_log(count), kind="log")
    report = open_report(run)
    compilation = report.compilations[0]
    return run, report, compilation, compilation.graphs[0]


def ceilings() -> dict[str, Any]:
    """A record of a machine's ceilings."""
    return {
        "schema": 1,
        "device": "a CPU",
        "threads": 2,
        "bandwidths": [
            {"level": "L3 cache", "bytes": 32_000_000, "bytes_s": 1e12},
            {"level": "memory", "bytes": None, "bytes_s": 1e11},
        ],
        "flops_s": {"float32": 1e14},
        "measured_s": 1.0,
        "how": "by hand",
    }  # fmt: skip


NOT_LOGS = {
    "empty": b"",
    "no log": b"hello\nworld\n",
    "binary": bytes(range(256)) * 64,
    "wrong encoding": "V1121 überall\n".encode("utf-16"),
    "one record": b'V0101 00:00:00.000000 1 a.py:1] {"dynamo_start": {"stack": []}, "frame_id": 0, '
    b'"frame_compile_id": 0}\n',
    "clashing ids": b'V0101 00:00:00.000000 1 a.py:1] {"dynamo_start": {}, "frame_id": 0, "frame_compile_id": 0}\n' * 5,
    "json bomb": b"V0101 00:00:00.000000 1 a.py:1] {" + b'"a": {' * 20_000 + b"\n",
    "no sense": b'V0101 00:00:00.000000 1 a.py:1] {"compilation_metrics": [1, {}], "frame_id": "x"}\n',
    "hostile": hostile_log(),
}


def link_cache(home: Path, cache: Path) -> None:
    """Let a home use a cache of compiled objects that outlives it."""
    cache.mkdir(parents=True, exist_ok=True)
    home.mkdir(parents=True, exist_ok=True)
    if not (home / "cache").is_symlink():
        shutil.rmtree(home / "cache", ignore_errors=True)
        (home / "cache").symlink_to(cache, target_is_directory=True)
