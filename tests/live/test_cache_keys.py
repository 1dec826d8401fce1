"""Planted differences between two processes: what each does to the cache keys, by torch alone and by the comparison.

Torch alone comes first: it shows whether AOTAutograd's key changes, stays, or the cache is bypassed. Each process ends
where Inductor would generate code: both keys are known by then.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import pytest

from core.analysis.comparison.matching import RunSide
from core.analysis.comparison.run import CachePair, cache_pairs
from core.runs.store import Store
from core.runs.stored import side_of_run
from tests.support.places import ROOT
from tests.support.sample import one_in

pytestmark = pytest.mark.torch
LIMIT_S = 240
PROGRAM = """
import contextlib, json, logging, random, re, sys
import torch, torch._dynamo, torch._functorch.config as fc, torch._inductor.config as ic
import torch._inductor.codecache as codecache
from torch._dynamo.utils import counters
from torch._inductor.custom_graph_pass import CustomGraphPass
from torch._inductor.graph import GraphLowering
import helper

class Pass(CustomGraphPass):
    def __init__(self, name): self.name = name
    def __call__(self, graph): pass
    def uuid(self): return self.name

torch.manual_seed(0)
torch.set_num_threads(2)
x, table, factor, options, mode = torch.ones(4, 8), torch.ones(8), 2.0, {}, contextlib.nullcontext()
layer, wrapped = torch.nn.Linear(8, 8), torch.relu
SETUP

def model(x):
    y = wrapped(layer(x) * factor + helper.SCALE)
    LINE
    return y + table

def no_code(graph):
    raise RuntimeError("no code is generated")

GraphLowering.compile_to_module = no_code

def called():
    with mode, contextlib.suppress(Exception):
        torch.compile(model, **options)(x)
"""
ALONE = """
keys = []
class Keys(logging.Handler):
    def emit(self, record):
        if match := re.match("Autograd graph cache hash details for key (\\\\S+):", record.getMessage()):
            keys.append(match[1])
logger = logging.getLogger("torch._functorch._aot_autograd.autograd_cache")
logger.setLevel(logging.DEBUG)
logger.propagate = False
logger.addHandler(Keys())
called()
print(json.dumps([keys, counters["aot_autograd"]["autograd_cache_bypass"]]))
"""
RECORDED = """
sys.path.insert(0, sys.argv[1])
from core.library.recording import record
with record():
    called()
"""
Effect = Literal["changes", "stays", "bypasses"]


@dataclass(frozen=True)
class Process:
    """A process that compiles the model: code before it, one more line in it, and what is around it."""

    setup: str = ""
    line: str = ""
    helper: str = "SCALE = 2.0"
    folder: str = "checkout"
    variables: dict[str, str] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Plant:
    """A difference from `base`: its effect on the key, and the parts that the comparison names, `kind name`."""

    name: str
    right: Process
    effect: Effect
    named: tuple[str, ...] = ()
    contains: str = ""
    base: Process = Process()


BASE = Process()
# Its own process: a forked one has the addresses of its parent.
TAG = Process("torch.compiler.config.cache_key_tag = repr(lambda: 0)", variables={"TORCH_NOTHING": "1"})
UUID = Process("ic.post_grad_custom_post_pass = Pass('a')")
# A symbolic size changes the graph, its inputs, and what is known of their sources.
SYMBOLIC, PARAMETER = ("call aot_config", "source graph", "input"), ("call aot_config", "source graph", "input")
MARKED = Process("torch._dynamo.mark_dynamic(x, 0)")
ASSUMED = Process("torch._dynamo.config.assume_static_by_default = False")
EIGHT, SEVEN = "torch.tensor([1, 2, 3, 4, 5, 6, 7, 8])", "torch.tensor([1, 2, 3, 4, 5, 6, 7, 9])"
CONSTANTS = Process(line=f"y = y + {SEVEN}")
RANDOM = Process("factor = random.SystemRandom().random() / 10")
DROPOUT = "torch.nn.functional.dropout(y"
DROPPED = Process(line=f"y = {DROPOUT}, 0.5)")
SINES = ("a = y.sin()", "b = y.cos()")
NAMED = Process(line="w = y.sin(); y = w")
ORDERED, REORDERED = (Process(line=f"{first}; {then}; y = a + b") for first, then in (SINES, SINES[::-1]))
OP = """
@torch.library.custom_op("mine::times", mutates_args=())
def times(x: torch.Tensor) -> torch.Tensor:
    return x * {}

times.register_fake(lambda x: torch.empty_like(x))
"""
TIMES_2, TIMES_3 = (Process(OP.format(factor), "y = times(y)") for factor in (2, 3))
JOINT = Process("ic.joint_custom_pre_pass = Pass('a')")
DOUBLE = Process("torch.set_default_dtype(torch.float64)")
VERSION = "key = codecache.torch_key(); codecache.torch_key = lambda: b'x' + key; torch.__version__ = '2.99.0'"
PLANTS = (
    Plant("nothing", BASE, "stays"),
    Plant("config", Process("ic.epilogue_fusion = False"), "changes", ("config epilogue_fusion",), "False"),
    Plant(
        "config by a variable",
        Process(variables={"TORCHINDUCTOR_MAX_AUTOTUNE": "1"}),
        "changes",
        ("config max_autotune",),
        "TORCHINDUCTOR_MAX_AUTOTUNE",
    ),
    Plant(
        "functorch config",
        Process("fc.activation_memory_budget = 0.5"),
        "changes",
        ("config activation_memory_budget",),
        "0.5",
    ),
    Plant("key tag", Process("torch.compiler.config.cache_key_tag = 't'"), "changes", ("config cache_key_tag",), "t"),
    Plant("line", Process(line="y = y.cos()"), "changes", ("source graph",), "cos()"),
    Plant("comment", Process(line="# another line"), "stays"),
    Plant("module's constant", Process(helper="SCALE = 3.0"), "changes", ("source graph",), "+ 3.0"),
    Plant("random number", Process("factor = random.random()"), "changes", ("source graph",), "* 0."),
    Plant("shape", Process("x = torch.ones(6, 8)"), "changes", ("input",), "[6, 8]"),
    Plant("stride", Process("x = torch.ones(8, 4).t()"), "changes", ("input",), "stride (1, 4)"),
    Plant(
        "dtype",
        Process("x, layer = x.bfloat16(), layer.bfloat16()"),
        "changes",
        ("input",),
        "bfloat16",
    ),
    Plant("threads", Process("torch.set_num_threads(1)"), "changes", ("environment cpp_runtime_thread_count",), "1"),
    Plant("version", Process(VERSION), "changes", ("version torch", "version torch's source"), "2.99.0"),
    Plant("pass without a uuid", Process("ic.post_grad_custom_post_pass = lambda graph: None"), "bypasses", (), "pass"),
    Plant("another uuid", Process("ic.post_grad_custom_post_pass = Pass('b')"), "changes", ("pass",), "b", UUID),
    Plant("lambda's address", TAG, "changes", ("config cache_key_tag",), "<lambda> at 0x", TAG),
    Plant(
        "lambda in the graph",
        Process("wrapped = lambda y: y + 1; torch._dynamo.allow_in_graph(wrapped)"),
        "bypasses",
        (),
        "<lambda>",
    ),
    Plant("freezing", Process("ic.freezing = True; mode = torch.no_grad()"), "bypasses", (), "freezing"),
    Plant("no grad", Process("mode = torch.no_grad()"), "changes", ("mode grad_enabled",), "False"),
    Plant(
        "deterministic",
        Process("torch.use_deterministic_algorithms(True)"),
        "changes",
        ("mode deterministic", "config deterministic"),
        "True",
    ),
    Plant("matmul", Process("torch.set_float32_matmul_precision('high')"), "changes", ("mode cuda_matmul",), ""),
    Plant("weights", Process("layer = torch.nn.Linear(8, 8)"), "stays"),
    Plant("values of a global", Process("table = torch.rand(8)"), "stays"),
    Plant("another path", Process(folder="elsewhere/of/the/code"), "stays"),
    Plant("hash seed", Process(variables={"PYTHONHASHSEED": "7", "TORCH_NOTHING": "1"}), "stays"),
    Plant("compile threads", Process("ic.compile_threads = 1"), "stays"),
    Plant("requires grad", Process("x = x.requires_grad_()"), "changes", ("input",), "requires_grad True"),
    Plant("frozen weight", Process("layer.requires_grad_(False)"), "changes", ("input",), "requires_grad False"),
    Plant("parameter for a tensor", Process("x = torch.nn.Parameter(x)"), "changes", PARAMETER, "requires_grad True"),
    Plant("offset", Process("x = torch.ones(5, 8)[1:]"), "stays"),
    Plant("memory of another input", Process("table = x[0]"), "stays"),
    Plant("autocast", Process("mode = torch.autocast('cpu')"), "changes", ("mode autocast_state[cpu]",), "bfloat16"),
    Plant("inference mode", Process("mode = torch.inference_mode()"), "changes", ("mode grad_enabled",), "False"),
    Plant("dynamic shapes", Process("options = {'dynamic': True}"), "changes", SYMBOLIC, "s77"),
    Plant("marked size", MARKED, "changes", SYMBOLIC, "s77"),
    Plant(
        "hint of a marked size", Process("x = torch.ones(6, 8); torch._dynamo.mark_dynamic(x, 0)"), "stays", base=MARKED
    ),
    Plant("sizes by Dynamo's config", ASSUMED, "changes", SYMBOLIC, "s77"),
    Plant("tensor of constants", Process(line=f"y = y + {EIGHT}"), "changes", ("source graph",), "7, 8", CONSTANTS),
    Plant("random constant", RANDOM, "changes", ("source graph",), "* 0.", RANDOM),
    Plant("share of dropout", Process(line=f"y = {DROPOUT}, 0.25)"), "changes", ("source graph",), "0.25", DROPPED),
    Plant("seed", Process("torch.manual_seed(5)", f"y = {DROPOUT}, 0.5)"), "stays", base=DROPPED),
    Plant("name of a variable", Process(line="z = y.sin(); y = z"), "changes", ("source graph",), "z = ", NAMED),
    Plant("order of lines", REORDERED, "changes", ("source graph",), "", ORDERED),
    Plant("type of a number", Process("factor = 2"), "changes", ("source graph",), "* 2 "),
    Plant(
        "mode of torch.compile",
        Process("options = {'mode': 'max-autotune'}"),
        "changes",
        ("config max_autotune", "config coordinate_descent_tuning", "config triton.cudagraphs", "call fx_kwargs[cudag"),
        "True",
    ),
    Plant(
        "option of torch.compile",
        Process("options = {'options': {'cpp.simdlen': 1}}"),
        "changes",
        ("config cpp.simdlen",),
        "1",
    ),
    Plant("compiler", Process("ic.cpp.cxx = ('g++-12',)"), "changes", ("config cpp.cxx",), "g++-12"),
    Plant("another pass", Process("ic.joint_custom_pre_pass = Pass('b')"), "changes", ("pass joint",), "b", JOINT),
    Plant("default dtype", DOUBLE, "changes", ("mode default_dtype",), "float64"),
    Plant(
        "body of a custom op",
        Process(OP.format(3), "y = times(y)"),
        "stays",
        base=Process(OP.format(2), "y = times(y)"),
    ),
    Plant("logging", Process(variables={"TORCH_LOGS": "+dynamo"}), "stays"),
    Plant("vector instructions", Process(variables={"ATEN_CPU_CAPABILITY": "default"}), "stays"),
    Plant("Dynamo's config", Process("torch._dynamo.config.recompile_limit = 3"), "stays"),
)


# A process that has imported torch, and forks one for each line: the program's folder, its file and a store.
FORKS = """
import json, os, sys, traceback
sys.path.insert(0, sys.argv[1])
import torch._dynamo, torch._inductor.compile_fx, torch._functorch.aot_autograd
import core.library.recording, core.worker.own_process
for line in sys.stdin:
    folder, program, home, answer = json.loads(line)
    if not (child := os.fork()):
        code = 1
        try:
            sys.path.insert(0, folder)
            os.environ["COMPILEBOARD_HOME"] = home
            sys.stdout = open(answer, "w")
            exec(compile(open(program).read(), program, "exec"), {"__name__": "__main__"})
            sys.stdout.close()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Bench:
    """Runs of the program, each in a process of its own; equal ones of `base` are run once."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._answers: dict[tuple[Process, str], Path] = {}
        self._forks = subprocess.Popen(
            [sys.executable, "-c", FORKS, str(ROOT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def close(self) -> None:
        """End the process that forks."""
        self._forks.communicate(timeout=LIMIT_S)
        assert self._forks.returncode == 0

    def effect(self, plant: Plant) -> Effect:
        """The effect of a difference on AOTAutograd's key, by torch alone."""
        before, _ = self._alone(plant.base)
        after, bypassed = self._alone(plant.right, 1)
        assert len(before) == 1
        return "bypasses" if bypassed else "stays" if before == after else "changes"

    def pair(self, plant: Plant) -> CachePair:
        """AOTAutograd's lookup of both recorded processes."""
        left, right = (self._recorded(process, number) for number, process in enumerate((plant.base, plant.right)))
        return next(pair for pair in cache_pairs(left, right) if pair.cache == "aotautograd")

    def _alone(self, process: Process, number: int = 0) -> Any:
        return json.loads((self._run(process, ALONE, number) / "answer").read_text())

    def _recorded(self, process: Process, number: int) -> RunSide:
        ((stored, _),) = Store(self._run(process, RECORDED, number) / "home").list()
        return side_of_run(stored)

    def _run(self, process: Process, ending: str, number: int) -> Path:
        """Run the program; a null pair is two runs."""
        directory = self._directory / str(len(self._answers))
        if number == 0 and (process, ending) in self._answers:
            return self._answers[process, ending]
        folder = directory / process.folder
        folder.mkdir(parents=True)
        (folder / "helper.py").write_text(process.helper)
        program = PROGRAM.replace("SETUP", process.setup).replace("LINE", process.line or "pass")
        (folder / "program.py").write_text(program + ending)
        paths = [str(path) for path in (folder, folder / "program.py", directory / "home", directory / "answer")]
        if process.variables:
            self._fresh(process, paths)
        else:
            assert self._forks.stdin is not None
            assert self._forks.stdout is not None
            print(json.dumps(paths), file=self._forks.stdin, flush=True)
            assert self._forks.stdout.readline() == "0\n"
        self._answers[process, f"{ending}{number or ''}"] = directory
        return directory

    def _fresh(self, process: Process, paths: list[str]) -> None:
        """Run a program with environment variables, which torch reads when it is imported."""
        variables = {**os.environ, "COMPILEBOARD_HOME": paths[2], **process.variables}
        with Path(paths[3]).open("w") as answer:
            subprocess.run(
                [sys.executable, paths[1], str(ROOT)], env=variables, stdout=answer, timeout=LIMIT_S, check=True
            )


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    made = Bench(tmp_path_factory.mktemp("keys"))
    yield made
    made.close()


@pytest.mark.parametrize("plant", one_in(len(PLANTS), PLANTS), ids=lambda plant: plant.name)
def test_a_planted_difference_is_named_and_no_other(plant: Plant, bench: Bench) -> None:
    assert bench.effect(plant) == plant.effect
    pair = bench.pair(plant)
    assert pair.left is not None
    assert pair.right is not None
    if plant.effect == "bypasses":
        assert (pair.right.outcome, pair.differences) == ("bypass", None)
        assert plant.contains in pair.right.reason
        return
    assert pair.same_key == (plant.effect == "stays")
    differences = pair.differences or ()
    parts = {f"{part.kind} {part.name}" for part in differences}
    assert [part for part in parts if not part.startswith(plant.named)] == []
    assert [name for name in plant.named if not any(part.startswith(name) for part in parts)] == []
    assert plant.contains in "".join(f"{part.right} {part.variable}\n" for part in differences)
