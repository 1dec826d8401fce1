"""Advice about settings, caches and dtypes, followed on models that no rule was written for, does what it says."""

import warnings
from typing import Any

import pytest
import torch

from core import CompileJob, CompileOptions, LocalEngine, Model, Report, Runner, Store, open_report
from core.analysis.durations import phase_class
from core.analysis.kernels.ledger import ledger
from core.job import Conditions
from tests.support.foreign_models import HEAD
from tests.support.reports.findings import of
from tests.support.sample import one_in

pytestmark = pytest.mark.torch

MODELS = {
    "gated": (
        "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.both = nn.Linear(8, 16)\n    def forward(self, x):\n"
        "        value, gate = self.both(x).chunk(2, -1)\n        return value * torch.sigmoid(gate)\n"
        "model = M()\ninputs = (R(4, 8),)\n"
    ),
    "convolution": "model = nn.Sequential(nn.Conv1d(4, 8, 3), nn.GELU(), nn.Conv1d(8, 2, 1))\ninputs = (R(2, 4, 9),)\n",
}
# A body with autocast in the compiled function, and the same with autocast around the call.
AUTOCAST = {
    "gated": "value, gate = self.both(x).chunk(2, -1)\n{}return (value * torch.sigmoid(gate)).float().sum()",
    "two layers": "x = torch.tanh(self.both(x))\n{}return self.last(x).float().sum()",
}
WITHIN = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.both, self.last = nn.Linear(8, 16), nn.Linear(16, 2)
    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            {}
model = M()
inputs = (R(4, 8),)
training = True
"""
AROUND = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.both, self.last = nn.Linear(8, 16), nn.Linear(16, 2)
    def forward(self, x):
        {}
net = M()
compiled = torch.compile(net)
with torch.autocast("cpu", dtype=torch.bfloat16):
    loss = compiled(R(4, 8))
loss.backward()
"""
# A value that promotes what follows to float64, and the same in the model's dtype.
PROMOTED = {
    "an array": ("torch.from_numpy(numpy.linspace(0, 1, 64))", ".float()"),
    "a tensor": ("torch.arange(64, dtype=torch.float64)", ".to(torch.float32)"),
}
DOUBLE = "import numpy\nscale = {}\ndef model(x):\n    return torch.tanh(x * scale) + 1\ninputs = (R(64, 64),)\n"
WARM = Conditions(caches="warm")
INT8 = """
class Linear8(nn.Module):
    def __init__(self, wide, out):
        super().__init__()
        self.register_buffer("weight", torch.randint(-99, 99, (out, wide), dtype=torch.int8))
        self.register_buffer("scales", torch.rand(out).bfloat16() / 99)
    def forward(self, x):
        return nn.functional.linear(x, self.weight.to(x.dtype)) * self.scales
class M(nn.Module):
    def __init__(self):
        super().__init__()
        {parts}
    def forward(self, x):
        return {body}
model = M()
inputs = (R({size}).bfloat16(),)
"""
PARTS = {
    "one": ("self.head = Linear8(768, 512)", "torch.tanh(self.head(x))"),
    "two": ("self.up, self.down = Linear8(512, 1024), Linear8(1024, 512)", "self.down(torch.relu(self.up(x)))"),
}
MIXED = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = nn.Linear(512, 1024), nn.Linear(1024, 512)
    def forward(self, x):
        {}y = self.down(torch.relu(self.up(x)))
        return y
model = M(){}
inputs = (R(8, 512){},)
"""
OPAQUE = """
@torch.library.custom_op("followed::{name}", mutates_args=())
def op(x: torch.Tensor) -> torch.Tensor:
    return {body}
@op.register_fake
def _(x):
    return torch.empty_like(x)
"""
BODIES = {"squashed": "x / (1 + x.abs())", "normed": "x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6)"}
AROUND_OP = "def model(x):\n    return torch.sin({}) + 1\ninputs = (R(16, 32),)\n"


@pytest.fixture(scope="module")
def here(engine: LocalEngine, tmp_path_factory: pytest.TempPathFactory) -> Runner:
    return Runner(Store(tmp_path_factory.mktemp("settings")), engine)


def recorded(here: Runner, code: str, **fields: object) -> Report:
    job = CompileJob(Model("code", HEAD + code), measure=False, **fields)  # type: ignore[arg-type]
    run = here.wait(here.submit(job))
    assert run.status().state == "done", run.output_tail()
    return open_report(run)


def kernels(report: Report) -> list[str]:
    return [kernel.name for compilation in report.compilations for kernel in compilation.kernels]


def moved_bytes(report: Report) -> int:
    """Bytes that the generated kernels read and write."""
    rows = (row for compilation in report.compilations for row in ledger(report, compilation))
    return sum((row.bytes_read or 0) + (row.bytes_written or 0) for row in rows)


def dtypes(report: Report) -> set[str]:
    return {row.dtype for compilation in report.compilations for row in ledger(report, compilation)}


@pytest.mark.parametrize("code", one_in(2, MODELS.values()), ids=MODELS)
def test_without_the_mode_that_needs_cuda_nothing_is_skipped_and_kernels_are_the_same(here: Runner, code: str) -> None:
    asked = recorded(here, code, compile=CompileOptions(mode="reduce-overhead"))
    (skipped,) = of(asked, "CUDA graphs skipped")
    assert "leave out `mode='reduce-overhead'`" in skipped.advice
    followed = recorded(here, code)
    assert of(followed, "CUDA graphs skipped") == []
    assert kernels(followed) == kernels(asked)


@pytest.mark.parametrize("code", one_in(2, MODELS.values()), ids=MODELS)
def test_a_warm_start_takes_the_graph_from_the_caches(here: Runner, code: str) -> None:
    warm = recorded(here, code, conditions=WARM)
    assert {(event.cache, event.outcome) for event in warm.caches} == {("fx_graph", "hit"), ("aotautograd", "hit")}
    assert any(phase_class(phase.name) == "dynamo" for phase in warm.phases)


@pytest.mark.long
@pytest.mark.parametrize("body", AUTOCAST.values(), ids=AUTOCAST)
def test_autocast_around_the_call_lets_the_cache_take_the_graph(here: Runner, body: str) -> None:
    within = recorded(here, WITHIN.format(body.format(" " * 12)), conditions=WARM)
    (bypassed,) = of(within, "cache bypassed")
    assert "around the compiled call" in bypassed.advice
    followed = recorded(here, AROUND.format(body.format(" " * 8)), conditions=WARM)
    assert of(followed, "cache bypassed") == []
    assert ("aotautograd", "hit") in {(event.cache, event.outcome) for event in followed.caches}


@pytest.mark.long
@pytest.mark.parametrize(("value", "converted"), PROMOTED.values(), ids=PROMOTED)
def test_no_kernel_computes_in_float64_once_the_value_has_the_models_dtype(
    here: Runner, value: str, converted: str
) -> None:
    assert dtypes(recorded(here, DOUBLE.format(value))) == {"float64"}
    assert dtypes(recorded(here, DOUBLE.format(value + converted))) == {"float32"}


@pytest.mark.long
@pytest.mark.parametrize("name", BODIES)
def test_a_custom_op_that_is_written_with_torchs_ops_is_fused(here: Runner, name: str) -> None:
    opaque = OPAQUE.format(name=name, body=BODIES[name]) + AROUND_OP.format("op(x * 2)")
    assert f"torch.ops.followed.{name}.default" in kernels(recorded(here, opaque))
    written = AROUND_OP.format(BODIES[name].replace("x", "y")).replace("    return", "    y = x * 2\n    return")
    assert len(kernels(recorded(here, written))) == 1


@pytest.mark.long
@pytest.mark.parametrize("name", PARTS)
def test_int8_weights_are_no_longer_converted_once_the_input_has_three_dimensions(here: Runner, name: str) -> None:
    (parts, body), wide = PARTS[name], 768 if name == "one" else 512
    report = recorded(here, INT8.format(parts=parts, body=body, size=f"2, {wide}"))
    (found,) = of(report, "weights converted")
    labels = [row.label for compilation in report.compilations for row in ledger(report, compilation)]
    assert sum("to_copy" in label for label in labels) == len(PARTS[name][0].split("Linear8")) - 1
    assert "with three dimensions" in found.advice
    followed = recorded(here, INT8.format(parts=parts, body=body, size=f"1, 2, {wide}"))
    assert of(followed, "weights converted") == []
    assert any("_weight_int8pack_mm" in kernel for kernel in kernels(followed))


@pytest.mark.long
def test_weights_that_are_converted_once_are_not_converted_at_each_call(here: Runner) -> None:
    within = MIXED.format("with torch.autocast('cpu', dtype=torch.bfloat16):\n            ", "", "")
    (found,) = of(recorded(here, within), "weights converted")
    assert found.title.startswith("4 parameters and buffers are converted at each call")
    assert "Convert the weights once" in found.advice
    assert of(recorded(here, MIXED.format("", ".bfloat16()", ".bfloat16()")), "weights converted") == []


EXPORTED = """
class M(nn.Module):
    def __init__(self):
        super().__init__()
        {parts}
    def forward(self, x):
        return {body}
{name} = torch.export.Dim("{name}", max=16)
program = torch.export.export(M(), (R({size}, {rest}),), dynamic_shapes={{"x": {{0: {name}}}}})
print(tuple(program.module()(R(5, {rest})).shape))
"""
EXPORTS = {
    "pooled": {
        "parts": "self.conv, self.head = nn.Conv1d(3, 4, 3), nn.Linear(4, 2)",
        "body": "self.head(torch.relu(self.conv(x)).mean(-1).view(x.shape[0], 4))",
        "name": "samples",
        "rest": "3, 9",
    },
    "sequence": {
        "parts": "self.norm = nn.LayerNorm(8)",
        "body": "self.norm(x.reshape(x.shape[0], 8) * 2)",
        "name": "rows",
        "rest": "2, 4",
    },
}


@pytest.mark.parametrize("parts", EXPORTS.values(), ids=EXPORTS)
def test_a_sample_of_size_two_keeps_the_dimension_dynamic(here: Runner, parts: dict[str, str]) -> None:
    runs = []
    for size in (1, 2):
        job = CompileJob(Model("code", HEAD + EXPORTED.format(size=size, **parts)), measure=False)
        runs.append(here.wait(here.submit(job)))
    (found,) = of(open_report(runs[0]), "sample size")
    assert (f"`{parts['name']}` has size 1" in found.title, "size there is 2 or more" in found.advice) == (True, True)
    assert (runs[1].status().state, of(open_report(runs[1]), "sample size")) == ("done", [])
    assert "(5, " in runs[1].output_tail()


BAGS = {
    "EmbeddingBag": ("nn.EmbeddingBag(50, 8, mode='mean')", "self.table(ids)"),
    "Embedding and mean": ("nn.Embedding(50, 8)", "self.table(ids).mean(1)"),
}
BAG = (
    "class M(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.table = {}\n"
    "    def forward(self, ids):\n        return torch.tanh({})\n"
    "model = M()\ninputs = (torch.randint(0, 50, (6, 7)),)\n"
)
# What takes any layout, so that a `.contiguous()` before it is a copy for nothing.
LAYOUTS = {
    "a result": "return x.transpose(1, 2){}",
    "attention": "h = x.view(2, 8, 4, 16).transpose(1, 2){}\n    return ATTEND(h, h, h)",
}
LAYOUT = "ATTEND = nn.functional.scaled_dot_product_attention\ndef model(x):\n    {}\ninputs = (R(2, 8, 64),)\n"
REFUSED = {
    "three dimensions": ("R(2, 8, 16), R(2, 8, 16), R(2, 8, 16)", "to be 4 dimensional"),
    "a shorter value": ("R(2, 4, 8, 16), R(2, 4, 8, 16), R(2, 4, 8, 12)", "same last dimension"),
}
ATTENTION = "def model(q, k, v):\n    return nn.functional.scaled_dot_product_attention(q, k, v)\ninputs = ({})\n"


@pytest.mark.long
def test_an_embedding_and_a_mean_are_generated_where_a_bag_is_a_fallback(here: Runner) -> None:
    bag, mean = (kernels(recorded(here, BAG.format(*parts))) for parts in BAGS.values())
    assert any("embedding_bag" in name for name in bag)
    assert len(mean) == 1
    assert mean[0].startswith("cpp_fused")


@pytest.mark.parametrize("code", MODELS.values(), ids=MODELS)
def test_without_the_mode_lite_inductor_generates_kernels(here: Runner, code: str) -> None:
    lite = kernels(recorded(here, code, compile=CompileOptions(mode="lite")))
    assert all(name.startswith(("aten.", "torch.ops.", "extern_kernels.")) for name in lite)
    assert any(name.startswith("cpp_fused") for name in kernels(recorded(here, code)))


@pytest.mark.parametrize("body", one_in(2, LAYOUTS.values()), ids=LAYOUTS)
def test_a_contiguous_whose_result_no_matmul_reads_is_a_copy_that_goes(here: Runner, body: str) -> None:
    copied, direct = (recorded(here, LAYOUT.format(body.format(call))) for call in (".contiguous()", ""))
    assert moved_bytes(copied) > moved_bytes(direct)


@pytest.mark.long
@pytest.mark.parametrize(("inputs", "reason"), REFUSED.values(), ids=REFUSED)
def test_the_fused_kernel_alone_says_why_it_refuses_an_attention(here: Runner, inputs: str, reason: str) -> None:
    code = ATTENTION.format(inputs)
    (found,) = of(recorded(here, code), "attention decomposed")
    assert "sdpa_kernel(torch.nn.attention.SDPBackend.FLASH_ATTENTION)" in found.advice
    names: dict[str, Any] = {}
    exec(HEAD + code, names)
    flash = torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.FLASH_ATTENTION)
    with flash, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        with pytest.raises(RuntimeError, match="No available kernel"):
            names["model"](*names["inputs"])
    assert any(reason in str(warning.message) for warning in warned), [str(warning.message) for warning in warned]


# A backend whose callable takes one list, and what takes separate arguments instead.
BOXED = {
    "a list": ("def run(args):\n        return gm(*args)", "def run(*args):\n        return gm(*args)"),
    "a pair": ("def run(x, scale=None):\n        return gm(*x)", "def run(*x):\n        return gm(*x)"),
}
BACKEND = "import torch\ndef own(gm, example_inputs):\n    {}\n    return run\n"
THREE = "def model(x, y, z):\n    return torch.sin(x) * y + z\ninputs = (R(4), R(4), R(4))\n"


@pytest.mark.parametrize(("boxed", "separate"), BOXED.values(), ids=BOXED)
def test_a_callable_of_a_backend_that_takes_separate_arguments_runs(here: Runner, boxed: str, separate: str) -> None:
    runs = []
    for body in (boxed, separate):
        options = CompileOptions(backend="own", backend_code=BACKEND.format(body))
        job = CompileJob(Model("code", HEAD + THREE), measure=False, compile=options)
        runs.append(here.wait(here.submit(job)))
    (found,) = of(open_report(runs[0]), "backend raised")
    assert "as separate arguments: `def run(*args)`" in found.advice
    assert (runs[1].status().state, of(open_report(runs[1]), "backend raised")) == ("done", [])
