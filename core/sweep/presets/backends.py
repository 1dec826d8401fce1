"""Backends: each one that torch lists, its result for the model, its last stage, or why it cannot run here.

Short descriptions of torch's backends; other backends have their own description or none.
"""

from __future__ import annotations

from dataclasses import replace

from core.accelerator.backends import SHIPPED
from core.base.machine import Environment
from core.base.words import agree, count, number
from core.job import CompileJob
from core.sweep.model import Axis
from core.sweep.presets.preset import (
    Answer,
    BackendFact,
    Plan,
    Preset,
    Question,
    Stop,
    broken,
    ended,
    faster,
    label,
    listed,
    quickest,
    reason,
    speed_words,
)
from core.sweep.store import SweepRow

FALLBACK = ("eager", "aot_eager", "inductor")
ABOUT = {
    "inductor": "AOTAutograd, then Inductor: graph passes, fusion, generated C++ or Triton kernels",
    "eager": "runs Dynamo's graph op by op, as eager does",
    "eager_noexcept": "as eager, and turns what the graph raises into an error of Dynamo's",
    "eager_debug": "runs Dynamo's graph op by op, and checks each op against its schema",
    "pre_dispatch_eager": "traces Dynamo's graph once more before dispatch, prints it, and runs it op by op",
    "accelerator": "AOTAutograd with core ATen; what it has kernels for runs as programs in C++, the rest op by op",
    "aot_eager": "AOTAutograd with the min-cut partitioner; its graphs are run op by op",
    "aot_eager_default_partitioner": "AOTAutograd with the default partitioner; its graphs are run op by op",
    "aot_eager_decomp_partition": "AOTAutograd with Inductor's decompositions and partitioner; run op by op",
    "aot_eager_decomp_partition_crossref": "as aot_eager_decomp_partition, with each custom op checked against its "
    "fake implementation",
    "aot_eager_decomp_partition_with_mode": "as aot_eager_decomp_partition within a mode, which must be given to it: "
    "not for direct use",
    "invoke_subgraph": "AOTAutograd, with forward and backward each wrapped as a subgraph for an outer trace",
    "cudagraphs": "AOTAutograd, then CUDA graphs of its graphs, op by op; without a CUDA device they run as they are",
    "ts": "TorchScript of Dynamo's graph",
    "aot_ts": "AOTAutograd, then TorchScript of its graphs",
    "openxla": "AOTAutograd, then XLA; needs torch_xla",
    "openxla_eval": "XLA, without AOTAutograd: inference alone; needs torch_xla",
    "tvm": "Apache TVM; needs apache-tvm",
    "dynamo_minifier_backend": "looks for the smallest graph that fails to compile; torch calls it by itself: not for "
    "direct use",
    "dynamo_accuracy_minifier_backend": "looks for the smallest graph with wrong results; torch calls it by itself: "
    "not for direct use",
    "relu_compile_error_TESTING_ONLY": "fails to compile a graph with a relu: for torch's own tests",
    "relu_runtime_error_TESTING_ONLY": "makes a relu raise when it runs: for torch's own tests",
    "relu_accuracy_error_TESTING_ONLY": "makes a relu give wrong numbers: for torch's own tests",
    "non_leaf_compile_error_TESTING_ONLY": "fails to compile a graph with an input that is no leaf: for torch's own "
    "tests",
}
FOR_TESTS = "TESTING_ONLY"


def plan(base: CompileJob, environment: Environment) -> Plan:
    """Return a cell per backend. Mode and options are left out, since only Inductor accepts them."""
    names = environment.backends or FALLBACK
    ordered = sorted(names, key=lambda name: (FOR_TESTS in name, name))
    plain = replace(base.with_settings(mode=None, options=None), target="", rival=None)
    return Plan(plain, (Axis("backend", tuple(ordered)),))


def answer(question: Question) -> Answer:
    """Return how many backends run, if their results equal eager's, and which is faster than eager."""
    rows = question.rows
    facts = tuple(fact(row, question.environment) for row in rows)
    done, failed = ended(rows), broken(rows)
    return Answer(
        sentence="; ".join(_sentence(rows, done, failed)) + "." if done or failed else "",
        notes=_notes(facts),
        columns={
            "what it does": tuple(backend.does for backend in facts),
            "stops after": tuple(backend.stops for backend in facts),
            "cannot run here": tuple(backend.reason for backend in facts),
        },
        facts=facts,
    )


def fact(row: SweepRow, environment: Environment | None) -> BackendFact:
    """Return the known facts about a row's backend."""
    entries = environment.entries if environment else ()
    entry = next((entry for entry in entries if entry.name == row.at[0]), None)
    return BackendFact(
        name=row.at[0],
        does=ABOUT.get(row.at[0]) or (SHIPPED[row.at[0]].words if row.at[0] in SHIPPED else ""),
        stops=stop(row),
        runs=row.state == "done",
        reason=reason(row) if row in broken([row]) else "",
        tags=entry.tags if entry else (),
        place=entry.place if entry else "",
    )


def stop(row: SweepRow) -> Stop:
    """Return the last stage that a row's log contains."""
    if row.kernels or "inductor_post_grad_graph" in row.stages:
        return "code generation"
    if any(stage.startswith("aot_") for stage in row.stages):
        return "AOTAutograd"
    return "Dynamo" if "dynamo_output_graph" in row.stages else ""


def _sentence(rows: tuple[SweepRow, ...], done: tuple[SweepRow, ...], failed: tuple[SweepRow, ...]) -> list[str]:
    tried = len(done) + len(failed)
    so_far = " so far" if tried < len(rows) else ""
    among = (
        f"{number(len(done))} of {count(tried, 'backend')}{so_far} {agree(len(done), 'runs', 'run')} this model here"
    )
    unlike = [label(row) for row in done if row.results == "differs"]
    parts = [among]
    if failed:
        parts.append(f"{number(len(failed))} cannot")
    if unlike:
        parts.append(f"results differ from eager's with {listed(unlike)}")
    elif done and all(row.results in ("same", "other strides") for row in done):
        moved = [label(row) for row in done if row.results == "other strides"]
        parts.append("all results are eager's" + (f", with other strides from {listed(moved)}" if moved else ""))
    return parts + _speed(done)


def _speed(done: tuple[SweepRow, ...]) -> list[str]:
    """Return the fastest of the backends that are clearly faster than eager."""
    timed = [row for row in done if row.ratio is not None and not row.disturbed]
    ahead = [row for row in timed if faster(row)]
    if not timed:
        return []
    if not ahead:
        return ["none is clearly faster than eager"]
    best = quickest(ahead)
    return (
        [f"{label(best)} is the fastest, {speed_words(best)}"]
        if best is not None
        else [f"faster than eager are {listed([label(row) for row in ahead])}"]
    )


def _notes(facts: tuple[BackendFact, ...]) -> tuple[str, ...]:
    where = [
        f"{words}: {listed([backend.name for backend in facts if backend.runs and backend.stops == stage], 30)}."
        for stage, words in (
            ("Dynamo", "Only Dynamo's graph is in the log of"),
            ("AOTAutograd", "AOTAutograd's graphs too, and no generated code"),
            ("code generation", "Generated code"),
        )
        if any(backend.runs and backend.stops == stage for backend in facts)
    ]
    return tuple(where)


BACKENDS = Preset(
    "backends",
    "Backends",
    "What does each of torch's backends do with this model, where does it stop, and which run here?",
    plan,
    answer,
    fields=("backend",),
)
