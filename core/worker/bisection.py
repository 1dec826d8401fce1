"""Bisection of a run that fails or differs, its minified graph, and the first node that makes a NaN.

Torch's CompilerBisector compiles the same calls again in each trial. Torch's minifier reduces the graph,
which is written as a model's file.
"""

import gc
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from torch._dynamo.debug_utils import NNModuleToString, cast_to_fp64, clone_inputs_retaining_gradness
from torch._dynamo.utils import same
from torch._functorch.fx_minifier import minifier
from torch._inductor.compiler_bisector import BACKENDS, BisectionResult, CompilerBisector, ConfigChange
from torch.fx import GraphModule, Interpreter, Node
from torch.utils._pytree import tree_leaves

from core.base.decoder import toml_as
from core.base.errors import JobError
from core.base.words import count
from core.job import CompileJob, Conditions, Model
from core.job.model import inductor_mitigations
from core.job.prepared import checked_script
from core.report import Bisection, Call, Difference
from core.worker.backends.selection import INDUCTOR, Compiler, compiled_side, compiler_of, is_compiled
from core.worker.caches import lookups
from core.worker.calls import make_calls
from core.worker.load import ModelCopy, first_line, node_line
from core.worker.numerics import CALLS, ITS_OWN, CapturedGraph, captured_graphs, quiet_compilation
from core.worker.record import silence

OTHER_BACKEND = "torch's CompilerBisector replaces the backend, so it bisects runs with the backend inductor alone"
NOT_REPRODUCED = "compiled once more, the model neither fails nor differs"
OUT_OF_TIME = "the run's time limit was near"
MAX_WHAT_CHARS = 2_000  #: the bisector's result or error
DIFFERS = "differs"
# That of torch._dynamo.config.repro_tolerance.
TOLERANCE = 1e-3
MAX_SCRIPT_CHARS = 200_000  #: limit: a minified script; of a longer one only the reason is recorded
MAX_NAN_LINE_CHARS = 500  #: the node with the first NaN, and its line
#: elements of an input whose values a minified script contains, if random values do not reproduce the failure
MOST_INLINE = 64
BLANK_LINES = re.compile(r"\n\s*\n(\s*\n)*")
# A graph of an earlier compilation, without the model's file, would hide the cause; compiled objects are found by their
# own source.
NO_LOOKUPS = {"TORCHINDUCTOR_FX_GRAPH_CACHE": "0", "TORCHINDUCTOR_AUTOGRAD_CACHE": "0"}
ALONE = "no graph of Dynamo, compiled alone, fails or differs"
TOO_LONG = "the minified graph is too long for a script"
SCRIPT = toml_as(Path(__file__).with_name("bisection.toml"), dict[str, str])["script"]


class ComparedCompilation:
    """A trial on fresh model copies; its call returns True if all compiled results equal eager's.

    Strides are not compared. An error of torch counts as a difference. Raises OutOfTimeError after `until_s`,
    and JobError.
    """

    def __init__(self, job: CompileJob, original: Path, path: Path, until_s: float) -> None:
        self._job = replace(job, numerics="", measure=False)
        self._original, self._path, self._until_s = original, path, until_s
        self.count = 0

    def cured(self) -> str:
        """Return the first options of Inductor with which all results equal eager's; empty if there are none."""
        plain = self._job
        try:
            for options in inductor_mitigations(plain.device):
                self._job = plain.with_settings(mode=None, options={**(plain.compile.options or {}), **options})
                if self():
                    return repr(self._job.compile.options)
        except OutOfTimeError:
            pass
        finally:
            self._job = plain
        return ""

    def __call__(self) -> bool:
        if time.monotonic() > self._until_s:
            raise OutOfTimeError
        self.count += 1
        torch.compiler.reset()
        try:
            return not any(
                difference.same is False and difference.kind != "strides" for difference in self._differences()
            )
        except JobError:
            raise
        except Exception:
            return False

    def _differences(self) -> Iterator[Difference]:
        eager = ModelCopy(self._original, self._job, "compileboard_eager")
        compiled = ModelCopy(self._path, self._job, "compileboard_model")
        calls: list[Call] = []
        function = compiled_side(self._job, compiled)
        make_calls(self._job, self._original, eager, compiled, function, lambda _: None, calls.append)
        return (difference for call in calls for difference in call.differences)


def bisection(job: CompileJob, original: Path, path: Path, until_s: float) -> Bisection:
    """Return the part of torch.compile that makes the model fail or differ, and a minified script.

    Torch's bisector and minifier start no trial after `until_s`. Errors are recorded.
    """
    begin = time.monotonic()
    trial = ComparedCompilation(job, original, path, until_s)
    other = job.compile.backend != INDUCTOR
    found = Bisection(problem=OTHER_BACKEND) if other else _bisected(trial)
    found = replace(found, trials=trial.count, seconds=time.monotonic() - begin)
    return replace(found, **_of_graphs(job, path, until_s))


def _of_graphs(job: CompileJob, path: Path, until_s: float) -> dict[str, Any]:
    """Return the fields from Dynamo's graphs, captured again: the minified script and the first NaN.

    After an error, `not_minified` is the only field.
    """
    try:
        with quiet_compilation(), silence(), lookups(Conditions()):
            twin = ModelCopy(path, job, "compileboard_minified")
            if is_compiled(twin.model):
                return {"not_minified": ITS_OWN}
            graphs = captured_graphs(job, twin)
            nan_node, nan_line = first_nan(graphs)
            trial = GraphTrial(job, compiler_of(job, twin), until_s)
            return {"nan_node": nan_node, "nan_line": nan_line, **minified(trial, graphs, path.read_text("utf-8"))}
    except Exception as error:
        return {"not_minified": first_line(error)}


def _bisected(trial: ComparedCompilation) -> Bisection:
    mitigation = ""
    try:
        # A graph from torch's caches would hide the compilation.
        with quiet_compilation(), silence(), lookups(Conditions()):
            if trial():
                return Bisection(problem=NOT_REPRODUCED)
            result = CompilerBisector.do_bisect(trial)
            if result is not None and result.backend == INDUCTOR:
                _end_bisection()
                mitigation = trial.cured()
    except OutOfTimeError:
        return Bisection(problem=OUT_OF_TIME)
    except Exception as error:
        return Bisection(problem=f"{type(error).__name__}: {error}"[:MAX_WHAT_CHARS])
    finally:
        _end_bisection()
    return Bisection() if result is None else replace(_reported(result), mitigation=mitigation)


def _end_bisection() -> None:
    """End torch's bisection, which replaces every backend.

    Torch ends it only when a frame is freed, and an error's traceback may keep that frame alive.
    """
    gc.collect()
    if CompilerBisector.bisection_enabled:
        CompilerBisector.delete_bisect_status()
        CompilerBisector.bisection_enabled = False


def _reported(result: BisectionResult) -> Bisection:
    parts = {part.name: part for part in BACKENDS.get(result.backend, ())}
    part = parts.get(result.subsystem or "")
    if isinstance(part, ConfigChange):
        setting = f"torch._inductor.config.{part.config_field} = {part.config_value!r}"
        return Bisection(backend=result.backend, subsystem=part.name, what=setting)
    return Bisection(
        backend=result.backend,
        subsystem=result.subsystem or "",
        application=result.bisect_number,
        what=(result.debug_info or "")[:MAX_WHAT_CHARS],
    )


class OutOfTimeError(Exception):
    """No time is left for another trial."""


class FreshInputs(list[Any]):
    """Inputs that are copied at each iteration.

    Torch's minifier runs the graph, which may write to its inputs.
    """

    def __iter__(self) -> Iterator[Any]:
        return iter(clone_inputs_retaining_gradness(list(self[:])))


class GraphTrial:
    """Compilation and comparison of a graph; its outcome is an error's type, `differs`, or empty.

    `best` is the smallest graph so far that has the wanted outcome, with its inputs.
    """

    def __init__(self, job: CompileJob, compiler: Compiler, until_s: float) -> None:
        self.job, self.until_s = job, until_s
        self._compiler = compiler
        self.wanted = ""
        self.best: tuple[GraphModule, Sequence[Any]] | None = None

    def plain_job(self) -> CompileJob:
        """Return the job of a standalone file, which defines both the model and its inputs."""
        return replace(self.job, model=Model("code", ""), calls=(), sizes={}, marks=(), dtype=None)

    def __call__(self, graph: GraphModule, inputs: Sequence[Any]) -> bool:
        """Return True if the graph has the wanted outcome; for torch's minifier."""
        if time.monotonic() > self.until_s:
            raise OutOfTimeError
        if self.outcome(graph, inputs) != self.wanted:
            return False
        if self.best is None or ops_of(graph) < ops_of(self.best[0]):
            self.best = deepcopy(graph), tuple(inputs)
        return True

    def outcome(self, model: Callable[..., Any], inputs: Sequence[Any]) -> str:
        """Return the outcome of a compiled call: an error's type, `differs`, or empty if it equals eager's.

        The outcome is also empty if the graph fails in eager or its results are random.
        """
        torch.compiler.reset()
        options = self.job.compile
        try:
            expected, again = self._results(model, inputs), self._results(model, inputs)
            if not same(expected, again, equal_nan=True):
                return ""
        except Exception:
            return ""
        try:
            compiled = torch.compile(
                deepcopy(model),
                dynamic=options.dynamic,
                backend=self._compiler,
                mode=options.mode,
                options=options.options,
            )
            actual = self._results(compiled, inputs)
        except Exception as error:
            return type(error).__name__
        is_same = same(expected, actual, self._reference(model, inputs), equal_nan=True, tol=TOLERANCE)
        return "" if is_same else DIFFERS

    def _results(self, function: Callable[..., Any], inputs: Sequence[Any]) -> list[torch.Tensor]:
        """Return the results of a call with copied inputs; in training, the gradients of the inputs too."""
        values = clone_inputs_retaining_gradness(inputs)
        results = [value for value in tree_leaves(function(*values)) if isinstance(value, torch.Tensor)]
        differentiable = [value for value in results if value.requires_grad]
        if not self.job.training or not differentiable:
            return results
        torch.autograd.backward([value.sum() for value in differentiable])
        read = [value for value in values if isinstance(value, torch.Tensor) and value.grad is not None]
        return [*results, *(value.grad for value in read if value.grad is not None)]

    def _reference(self, model: Any, inputs: Sequence[Any]) -> list[torch.Tensor] | None:
        try:
            return self._results(*cast_to_fp64(deepcopy(model), clone_inputs_retaining_gradness(inputs)))
        except Exception:
            return None


def minified(trial: GraphTrial, graphs: Sequence[CapturedGraph], code: str) -> dict[str, Any]:
    """Return the fields of a `Bisection` for the first of Dynamo's graphs that fails or differs by itself.

    If the script alone does not fail, the model's `code` is put before it, since that code may change torch.
    """
    for captured in graphs:
        trial.wanted = "" if captured.reason else trial.outcome(captured.graph, captured.inputs)
        if trial.wanted:
            return _smallest(trial, captured, code)
    return {"not_minified": ALONE}


def _smallest(trial: GraphTrial, captured: CapturedGraph, code: str) -> dict[str, Any]:
    trial.best = captured.graph, captured.inputs
    try:
        minifier(captured.graph, FreshInputs(captured.inputs), trial, dump_state=lambda *_: None)
    except OutOfTimeError:
        pass
    except Exception as error:
        return {"not_minified": first_line(error)}
    graph, inputs = trial.best
    title = f"Graph [{captured.compilation}], minified by torch from {count(ops_of(captured.graph), 'op')}."
    scripts = [script_of(graph, inputs, title, trial.job.seed, inline) for inline in (0, MOST_INLINE)]
    # Random values may fail here, where the process is warm, and not in a process of their own.
    alone = [text for text in dict.fromkeys(scripts) if _reproduces(trial, text)] or scripts[-1:]
    after_code = f"{code.rstrip()}\n\n\n{alone[0]}"
    script = next((text for text in (*alone, after_code) if _fails_alone(trial, text)), "")
    reproduces, script = bool(script), script or alone[-1]
    if len(script) > MAX_SCRIPT_CHARS:
        return {"not_minified": TOO_LONG}
    return {
        "script": script,
        "ops": ops_of(graph),
        "captured_ops": ops_of(captured.graph),
        "outcome": trial.wanted,
        "reproduces": reproduces,
    }


def script_of(graph: GraphModule, inputs: Sequence[Any], title: str, seed: int, inline: int) -> str:
    """Return a graph and its inputs as a model's file.

    Inputs with more than `inline` elements, and inputs that are not contiguous, are random, with their shapes
    and strides.
    """
    text = NNModuleToString.convert(graph).replace("from torch.nn import *", "").strip()
    text = BLANK_LINES.sub("\n\n", text)
    return SCRIPT.format(
        title=title, seed=seed, graph=text, inputs=", ".join(_value(value, inline) for value in inputs)
    )


def _value(value: Any, inline: int) -> str:
    if not isinstance(value, torch.Tensor):
        return repr(int(value) if isinstance(value, torch.SymInt) else value)
    grad = ".requires_grad_()" if value.requires_grad else ""
    if value.numel() <= inline and value.is_contiguous():
        return (
            f"torch.tensor({value.detach().cpu().tolist()!r}, dtype={value.dtype}, device={str(value.device)!r}){grad}"
        )
    shape, strides = tuple(map(int, value.shape)), tuple(map(int, value.stride()))
    return f"rand_strided({shape}, {strides}, {value.dtype}, {str(value.device)!r}){grad}"


def _reproduces(trial: GraphTrial, script: str) -> bool:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "minified.py"
        path.write_text(script, encoding="utf-8")
        try:
            loaded = ModelCopy(path, trial.plain_job(), "compileboard_script")
            ((inputs, _),) = loaded.calls()
        except Exception:
            return False
        return trial.outcome(loaded.model, inputs) == trial.wanted


def _fails_alone(trial: GraphTrial, script: str) -> bool:
    """Return True if a script has the wanted outcome in a fresh process.

    That process lacks the changes that the model's file made to torch. False if the time is up.
    """
    checked = checked_script(trial.job, script, minified=True)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "minified.py"
        path.write_text(checked, encoding="utf-8")
        environment = {**os.environ, **NO_LOOKUPS}
        command, left_s = [sys.executable, str(path)], trial.until_s - time.monotonic()
        try:
            ended = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=max(1.0, left_s),
                cwd=folder,
                env=environment,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False
    wanted = ("in assert_close", "AssertionError: ") if trial.wanted == DIFFERS else (trial.wanted,)
    return ended.returncode != 0 and all(text in ended.stderr for text in wanted)


def ops_of(graph: GraphModule) -> int:
    """Return the number of calls in a graph."""
    return sum(node.op in CALLS for node in graph.graph.nodes)


def first_nan(graphs: Sequence[CapturedGraph]) -> tuple[str, str]:
    """Return the first node that makes a NaN in eager from inputs without NaN, and its source line.

    Both are empty if there is no such node.
    """
    for captured in graphs:
        finder = NanFinder(captured.graph)
        if captured.reason:
            continue
        with torch.no_grad(), torch.compiler.set_stance("force_eager"):
            finder.run(*clone_inputs_retaining_gradness(captured.inputs))
        if finder.node is not None:
            return f"{finder.node.name} = {finder.node.target}"[:MAX_NAN_LINE_CHARS], node_line(finder.node)[
                :MAX_NAN_LINE_CHARS
            ]
    return "", ""


class NanFinder(Interpreter):
    """Interpreter that runs a graph and stores the first node that makes a NaN from inputs without NaN."""

    def __init__(self, graph: GraphModule) -> None:
        super().__init__(graph)
        self.node: Node | None = None

    def run_node(self, n: Node) -> Any:
        """Run a node and return its value; store the node if it is the first that makes a NaN."""
        value = super().run_node(n)
        made = self.node is None and n.op in CALLS and any(_nans(value))
        if made and not any(any(_nans(self.env[read])) for read in n.all_input_nodes):
            self.node = n
        return value


def _nans(value: Any) -> Iterator[bool]:
    tensors = (leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor) and leaf.is_floating_point())
    return (bool(tensor.isnan().any()) for tensor in tensors)
