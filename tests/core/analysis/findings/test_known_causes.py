"""The book of causes: each row has a reference, and gives its card for the problem that it describes."""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, get_args

import pytest

from core.analysis.findings import findings
from core.analysis.findings.break_advice import corrected_hints
from core.analysis.findings.dynamo import BY
from core.analysis.findings.finding import CauseKind, KnownCause, book, known_causes
from core.report import (
    Difference,
    EntryPoint,
    FxGraph,
    GraphBreak,
    Guard,
    Payload,
    Place,
    Recompile,
    Report,
    RunError,
    Script,
    Setting,
)
from tests.support.reports.findings import DOUBLES, QUIET, call, failing, frame

ROWS = [row for kind in get_args(CauseKind) for row in known_causes(kind)]
MARKED = "You marked {} as dynamic but your code specialized it to be a constant ({})."
STACK = '\n\nUser stack:\n  File "/home/a/m.py", line 15, in model\n    return x.view(6, 4)\n'
FIXES = "Constraints violated (n)!\nSuggested fixes:\n  _n = Dim('_n', min=1, max=oo)\n  n = 2*_n\n\nThe error above"
ERRORS = {
    MARKED.format("batch", 1): "The dynamic dimension `batch` has size 1 in the sample.",
    MARKED.format("L['x'].size()[0]", 6) + STACK: (
        "The code makes the marked dimension `L['x'].size()[0]` the constant 6, at `m.py:15`."
    ),
    MARKED.format("length", 6): "The code makes the dynamic dimension `length` the constant 6.",
    "Not all values of n = L['x'].size()[1] in the specified range n <= 8 are valid because n was inferred to be a "
    "constant (6).": "The code makes the dynamic dimension `n` the constant 6.",
    "The values of kept = L['mask'].size()[0] and n = L['x'].size()[0] must always be equal.": (
        "The dimensions `kept` and `n` must be equal, and each has a `Dim` of its own."
    ),
    "Not all values of n = L['x'].size()[0] in the specified range satisfy the generated guard L['x'].size()[0] <= 8\n"
    "Suggested fixes:\n  n = Dim('n', max=8)\n": (
        "The code takes only some sizes of the dynamic dimension `n` in the way of the sample."
    ),
    "torch.compile does not support compiling torch.jit.script or torch.jit.freeze models directly.": (
        "`torch.compile` takes no model of `torch.jit`."
    ),
    "A callable function is expected, but <class '__main__.Stage'> is provided.": (
        "`torch.compile` got an object of `__main__.Stage`, which cannot be called."
    ),
    "'function' object has no attribute '__func__'": (
        "A method was expected, and an attribute with its name is a compiled function."
    ),
    "6 not in range [2, 4]": "The sample has size 6 in a dimension that allows 2 to 4.",
    "Could not guard on data-dependent expression Eq(u0, 1).\nCaused by: (_export/non_strict_utils.py:1205)": (
        "A branch decides by a tensor's value, and export keeps one way only."
    ),
    FIXES: "The code ties the dynamic dimension `n` to another one.",
    "There was no fake impl registered for <CustomOpDef(a::b)>. Please use `b.register_fake` to add an fake impl.": (
        "The custom op `a::b` has no fake kernel."
    ),
    "torch.compile with aot_autograd does not currently support double backward": (
        "The code differentiates a gradient of compiled code."
    ),
    'got RuntimeError("When merging two branches\' output in torch.cond,  expected same dim but got 1 and 0.")': (
        "The branches of `torch.cond` return tensors of different kinds."
    ),
    "a::b (with implementation in <module 'm'>): The output of this custom operator (1) must not also be an input": (
        "The custom op `a::b` returns one of its inputs."
    ),
    'Error(s) in loading state_dict for Net:\n\tUnexpected key(s): "_orig_mod.a.weight".': (
        "The state has the names of a compiled module, with `_orig_mod.`."
    ),
    'Error(s) in loading state_dict for OptimizedModule:\n\tMissing key(s) in state_dict: "_orig_mod.weight".': (
        "The compiled module expects names with `_orig_mod.`, and the state has none."
    ),
    "You must implement the jvp function for custom autograd.Function to use it with forward mode AD.": (
        "Forward-mode differentiation reached an `autograd.Function` without `jvp`."
    ),
    "Trying to use forward AD with mm_out that does not support it because it is an out= function": (
        "Inductor's code got a dual tensor of forward-mode differentiation, which its call of `mm_out` cannot take."
    ),
    "Invalid backend: 'inductr', see `torch._dynamo.list_backends()`": "torch knows no backend `inductr`.",
    "Unexpected optimization option epilog_fusion, known options are ['a']": "Inductor has no option `epilog_fusion`.",
    "Unrecognized mode=fast, should be one of: default, lite, max-autotune": "`torch.compile` has no mode `fast`.",
    "torch._inductor.config.triton.cudagraph does not exist": (
        "This torch has no setting `torch._inductor.config.triton.cudagraph`."
    ),
    "Trying to backward through the graph a second time (or directly access saved tensors)": (
        "The code calls the backward of one graph twice."
    ),
    "Inference tensors cannot be saved for backward. Please do not use Tensors": (
        "An input was made in `torch.inference_mode()`, and the backward needs it."
    ),
    "'OptimizedModule' object is not subscriptable": "The code uses a compiled module as a container.",
    "expected Net, got <class 'torch._dynamo.eval_frame.OptimizedModule'>": (
        "The code gets the wrapper of a compiled module where it asks for the module's own class."
    ),
    "Detected recompile when torch.compile stance is 'fail_on_recompile'. filename: 'm.py'": (
        "A call needs a new compilation, and the stance `fail_on_recompile` forbids it."
    ),
    "inductor_cpu_throw_if_integer_div_error, cpp_prefix.h:827, ZeroDivisionError": (
        "Compiled code reports an integer division by zero."
    ),
    "vmap: It looks like you're calling .item() on a Tensor. We don't support vmap over calling .item()": (
        "A function within `torch.vmap` reads a tensor's value as a number."
    ),
    "Multiple dispatch failed for 'torch._ops.aten.mul.Tensor'; all __torch_dispatch__ handlers returned "
    "NotImplemented:": "An op got a subclass of `torch.Tensor` that AOTAutograd can't trace through.",
    "RecursionError: maximum recursion depth exceeded": "Python's limit of recursion was reached.",
    "Cannot generate resume function for generator, coroutine, or async generator": (
        "The compiled function is a coroutine or a generator, and its graph breaks."
    ),
    "Detected that you are using FX to torch.jit.trace a dynamo-optimized function. This is not supported.": (
        "The code calls a compiled function while another tracer traces it."
    ),
    "Error: accessing tensor output of CUDAGraphs that has been overwritten by a subsequent run.": (
        "The code reads an output of a CUDA graph after a later call has overwritten it."
    ),
    "Cannot find a working triton installation.": "Inductor found no Triton, which compiles its code for a GPU.",
    "Found Tesla P100 which is too old to be supported by the triton GPU compiler": (
        "Triton does not support `Tesla P100`."
    ),
    "daemonic processes are not allowed to have children": (
        "The code compiles within a daemonic process, which may start no process."
    ),
    "[Errno 13] Permission denied: '/tmp/torchinductor_a/ab'": ("Inductor can't write or execute files in its cache."),
    "RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation: "
    "[torch.FloatTensor [2, 3]], which is output 0 of Div, is at version 1; expected version 0 instead.": (
        "An in-place op changes a tensor that the backward of `Div` needs."
    ),
    "a view of a leaf Variable that requires grad is being used in an in-place operation.": (
        "An in-place op changes a parameter, or another leaf that requires grad."
    ),
    "It looks like you're trying to call a compiled backward function within vmap/grad/vjp, which isn't supported.": (
        "The code differentiates compiled code within `torch.vmap` or another transform of `torch.func`."
    ),
    "mat1 and mat2 must have the same dtype, but got Half and Float": (
        "A matrix product gets the dtypes `Half` and `Float`."
    ),
    "Encountered input mutation during higher order op tracing for HOP - cond": (
        "A function that a higher-order op captures changes its input in place."
    ),
    "vmap: It looks like you're attempting to use a Tensor in some data-dependent control flow.": (
        "A function within `torch.vmap` decides by a tensor's value."
    ),
    "Trying to backward through a.b.default but no autograd formula was registered. Please use register_autograd": (
        "The custom op `a.b.default` has no backward."
    ),
    "element 0 of tensors does not require grad and does not have a grad_fn": (
        "The code calls a backward, and its inputs have no gradients."
    ),
    "Either mode or options can be specified, but both can't be specified at the same time.": (
        "The code gives `torch.compile` a mode and options, and it takes one of them."
    ),
    "This backward function was compiled with non-empty donated buffers which requires create_graph=False": (
        "The code needs the graph again after a compiled backward, which may have overwritten saved values."
    ),
    "expected size 4==8, stride 1==1 at dim=0\nError in op: torch.ops.a.every.default\nThis error most often comes "
    "from a incorrect fake (aka meta) kernel for a custom op.": (
        "The fake kernel of the op `a.every` returns another size or other strides than the op."
    ),
    "Can't pickle <function Net.forward at 0x7f>: it's not the same object as __main__.Net.forward": (
        "The code pickles the function `Net.forward`, whose name is now that of another object."
    ),
    "Unsupported input type <class 'a.b.Batch'>. Export only supports pytree containers of basic types": (
        "Export takes containers that torch knows, and `Batch` is none of them."
    ),
    "Could not guard on data-dependent expression Eq(u0, 0)\nCaused by: (_refs/__init__.py:4264 in unbind)": (
        "The code loops over a tensor whose length depends on data, and export keeps one length only."
    ),
    "FlexAttention does not support backward on CPU. Please set the input requires_grad to False": (
        "Flex attention has no backward on a CPU."
    ),
    "InferenceMode::is_enabled() && self.is_inference() INTERNAL ASSERT FAILED": (
        "torch fails to trace nested transforms of `torch.func`, with an error of its own."
    ),
    "The differentiated Tensor at index 0 appears to not have been used in the graph.": (
        "The code differentiates a gradient, and autograd finds no way back from it."
    ),
    "Cannot set version_counter for inference tensor": ("Compiled code returns a view of a tensor in inference mode."),
    "non-generator contextlib.contextmanager": (
        "A function without `yield` is decorated with `@contextlib.contextmanager`."
    ),
}
# Beginning of an error, and what the model's file must have.
NEEDED = {"InferenceM": "hessian(f)", "The differ": "torch.compile(f)\ngrad(y, x, create_graph=True)"}
NUMBERS = "off by 0.002 of eager's norm"
ALIAS = Difference("output", False, "aliasing", "memory of input 0", "its own memory")
RESULTS = {
    '@torch.library.custom_op("a::b", mutates_args=())\ndef b(x, out):\n    out.copy_(x)': ("output", "must name it"),
    "y = x.to(torch.bfloat16) + 1": ("output", "emulate_precision_casts"),
    "yield x\n    net.register_full_backward_hook(f)": ("gradient of input 0", "torch._dynamo.reset()"),
    "@torch.compiler.nested_compile_region\n    global held": ("output", "as arguments"),
    "    if left is right:": ("output", "No guard checks `left is right`"),
    "@functools.lru_cache\ndef first():\n    return step\nstep = 1\nstep = 2\n": ("output", "reads `step`"),
    "class Counter:\n    @functools.cache\n    def more(self, by):\n        if by:\n            self.value += by": (
        "output",
        "reads `self.value`",
    ),
    "@functools.cache\ndef pure(n):\n    return n\n": ("output", "if its result depends on more than its arguments"),
    '@custom_op("a::b", mutates_args=("out",))\ndef f(x):\n    y = x.clone()': (
        "output",
        "Inductor drops a `.clone()`",
    ),
    "return torch.linalg.inv(x)": ("output", "nearly singular"),
    "alias.resize_(12)": ("shape of output", "resize a `.clone()`"),
    '@torch.library.custom_op("a::b")\ndef b(x):\n    return x.half()\n@b.register_fake\ndef _(x):\n    '
    "return torch.empty_like(x)": ("output", "torch.empty_like(x, dtype=…)"),
    "torch.nn.TransformerEncoder(layer, 2)\nencode(x, src_key_padding_mask=mask)": ("output", "set_fastpath_enabled"),
    "torch.func.grad(loss)(x)\nclass Rounded(torch.autograd.Function):": ("output", "`x + (f(x) - x).detach()`"),
    "torch.floor_divide(x, width)": ("output", "the floor of a quotient that is already rounded"),
    'interpolate(x, scale_factor=1.3, mode="nearest")': ("output", "Pass `size=(…)`"),
    "x.add_(1)\n    yield base, base[1:]": ("output", "share the memory of `base`"),
}


def failed(message: str) -> Report:
    """A report of a run that a failed compilation ended."""
    error = RunError("call 0: compiled", "UserError", "", message, (), "")
    return replace(failing("UserError", message), graph_breaks=(), error=error)


def differing(what: str, **compiling: object) -> Report:
    """A report of a run whose result has other numbers than eager's."""
    job = {"compile": {"backend": "inductor", **compiling}}
    return replace(QUIET, setting=Setting(job=job), calls=call(Difference(what, False, actual=NUMBERS)))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.rule or row.advice[:20])
def test_a_cause_has_a_reference_and_whole_sentences(row: KnownCause) -> None:
    assert row.reference.startswith("https://")
    for text in filter(None, (row.title, row.reason, row.advice)):
        assert text.endswith(".")
        assert text.count("`") % 2 == 0


@pytest.mark.parametrize(
    "row",
    [*book()["guard"], *book()["break"], *book()["case"], *book()["uncompiled"], *book()["trap"]],
    ids=lambda row: (row.get("words") or row["advice"])[:30],
)
def test_a_cause_of_a_guard_or_a_break_has_a_reference_and_whole_sentences(row: Mapping[str, Any]) -> None:
    assert row.get("reference", "https://").startswith("https://")
    assert row.get("advice", ".").endswith(".")
    assert row.get("by", "size") in BY


LINES = {
    ("GB0170", "while x.sum() < 9:", "m.py"): "`torch.while_loop`",
    ("GB0170", "if (x > 0).all():", "m.py"): "`torch.where`",
    ("GB0098", "torch.manual_seed(3)", "m.py"): "Seed before the call",
    ("GB0124", "lo = a.item()", "/lib/torch/nn/init.py"): "initializes a weight",
    ("GB0036", "return F.ctc_loss(", "/lib/torch/nn/modules/loss.py"): "from the log-probabilities",
    ("GB0375", "y = f(dual)", "m.py"): "`torch.func.jvp(f, (x,), (v,))`",
    ("GB0208", "rv = reductor(4)", "/lib/python3.11/copy.py"): "`.clone()`",
    ("GB9316", "if chosen == id(made):", "m.py"): "Compare objects with `is`",
    ("GB0294", "z = np.interp(y, a, b)", "m.py"): "before or after the compiled function",
    ("GB0007", "m = torch.sparse_coo_tensor(i, v)", "m.py"): "sparse tensors",
    ("GB0124", "f = 1.0 / float(self.num_batches_tracked)", "/lib/torch/nn/modules/batchnorm.py"): "`momentum=None`",
    ("GB0055", "h = torch.autograd.functional.hessian(f, x)", "m.py"): "`torch.func.hessian(f)(x)`",
    ("GB0007", "p = pack_padded_sequence(x, n)", "m.py"): "packed sequences",
    ("GB0247", "torch.mul(x, 2, out=out)", "m.py"): "make `out` in the result's size",
    ("GB0142", "with self.lock:", "/lib/python3.11/functools.py"): "Read the property once",
    ("GB0264", "self.weight = Parameter(", "/lib/torch/nn/modules/linear.py"): "create it in `__init__`",
    ("GB5976", "if x.data_ptr() == y.data_ptr():", "m.py"): "write `x is y`",
    ("GB4695", "return scripted(x)", "m.py"): "call the original module",
    ("GB0207", "sorted(parts, key=total)", "m.py"): "`torch.argsort`",
    ("GB0090", "n = torch.nested.nested_tensor([a, b])", "m.py"): "`layout=torch.jagged`",
    ("GB0016", "return padded(n)", "m.py"): "`layout=torch.jagged`",
    ("GB0090", "y = torch.ops.a.b(x)", "m.py"): "no kernel for fake tensors",
    ("GB0291", "if log.isEnabledFor(10):", "m.py"): "Ask for the level once",
    ("GB0007", "torch.set_num_threads(1)", "m.py"): "a setting of the whole process",
    ("GB0208", "with torch.random.fork_rng():", "m.py"): "Enter the context manager around the call",
    ("GB0099", "optimizer.step(closure)", "m.py"): "leaves the step of this optimizer to eager",
    ("GB0055", "Y = torch.ops.quantized.linear(", "/lib/torch/ao/nn/quantized/modules/linear.py"): "packed weights",
    ("GB0208", "n = torch.get_num_threads()", "m.py"): "call it before the compiled function",
    ("GB0125", "x = x.requires_grad_()", "m.py"): "Set `requires_grad` outside",
    ("GB9999", "logging.warning(text)", "m.py"): "ignore_logging_functions.add(logging.warning)",
    ("GB0124", 'text = f"{x.mean():.2f}"', "m.py"): "The text needs the tensor's value",
}
GUARDS = {
    "6 <= x.size()[0]": "dimension 0 of `x` is on the other side of a size condition",
    "G['box'].last is None": "If the code sets it later, set it before the first call",
    "mask is None": "Pass a value that changes nothing",
    "reduce.keywords['how'] == 'sum'": "the partial function `reduce` has another `how`",
    "GLOBAL_STATE changed: num_threads": "Call `torch.set_num_threads` once",
    "GLOBAL_STATE changed: deterministic_algorithms": "Call `torch.use_deterministic_algorithms` once",
    "GLOBAL_STATE changed: default_dtype": "Call `torch.set_default_dtype` once",
    "GLOBAL_STATE changed: allow_tf32": "Call `torch.set_float32_matmul_precision` once",
    "GLOBAL_STATE changed: torch_function": "Set it once, before the first call",
    "2 <= x.size()[0]": "dimension 0 of `x` has size 0 or 1 in some calls",
    "(x.size()[0] % 2) != 0": "dimension 0 of `x` is on the other side of a size condition",
    "len(self._modules['parts']._modules) != 3": "changed its number of modules",
    "set.__contains__(s, 'a')": "the set `s` sometimes has 'a' and sometimes doesn't",
    "tensor 'x' rank mismatch. expected 2, actual 3": "Reshape it to one rank",
    "tensor 'x' dtype mismatch. expected Float, actual Half": "Use one dtype",
    "tensor 'x' dispatch key set mismatch. expected DispatchKeySet(CPU, AutogradCPU), actual DispatchKeySet(CPU)": (
        "in inference mode for some calls"
    ),
    "tensor 'x' dispatch key set mismatch. expected DispatchKeySet(CPU), actual DispatchKeySet(CPU, AutogradCPU)": (
        "in inference mode for some calls"
    ),
    "tensor 'x' dispatch key set mismatch. expected DispatchKeySet(CPU), actual DispatchKeySet(CUDA)": (
        "another kind of tensor"
    ),
    "not seen": "The code fills it",
    "list(dict.keys(d))[1] == 'b'": "the dictionary `d` has other keys",
    "len(self.state[list(dict.keys(self.state))[0]]) != 0": "one more compilation is expected",
    "Unexpected recompilation: runtime guards failed even though they passed": "before the threads start",
    "Cache line invalidated because L['___stack0'] got deallocated": "remove the graph break",
    "___stack0 == 3": "Keep the tensor, without the graph break",
    "___check_obj_id(f, 140), type=<class 'function'>": "Each function has its own compilation",
    "___check_obj_id(m, 140), type=<class 'm.Mode'>": "Each member of `Mode` needs a compilation",
    "___check_obj_id(m, 140), type=<class 'm.Other'>": "create it once, before the first call",
}
ENUM = "class Mode(enum.IntEnum):\n    A = 1\n"


@pytest.mark.parametrize("reason", GUARDS)
def test_a_guard_gets_the_cause_of_the_book(reason: str) -> None:
    report = replace(QUIET, compilations=(frame("0/0"), frame("0/1")), recompiles=(Recompile("0/1", "0/0", reason),))
    (found,) = [each for each in findings(report, source=ENUM) if each.rule == "recompiles"]
    assert GUARDS[reason] in f"{found.title} {found.advice}"


@pytest.mark.parametrize(("source", "fills"), [("seen.append(1)", True), ("seen.copy()", False)])
def test_a_list_that_the_code_fills_is_filled_outside(source: str, fills: bool) -> None:
    reasons = (Recompile("0/1", "0/0", "len(seen) == 1"),)
    report = replace(QUIET, compilations=(frame("0/0"), frame("0/1")), recompiles=reasons)
    (found,) = [each for each in findings(report, source=source) if each.rule == "recompiles"]
    assert ("The code fills it" in found.advice) == fills


@pytest.mark.parametrize("row", book()["skip"], ids=lambda row: row["pattern"])
def test_a_skipped_frame_says_where_torch_could_not_go_on(row: Mapping[str, Any]) -> None:
    report = failing("Unsupported", f"no\n\n*** another graph break occurred: ***\n\n{row['pattern']}\n")
    assert row["reason"] in findings(report)[0].reason


@pytest.mark.parametrize("line", LINES, ids=lambda line: line[1])
def test_a_break_gets_the_cure_of_the_book_for_its_line(line: tuple[str, str, str]) -> None:
    kind, code, file = line
    broken = GraphBreak("no", "", (), "", kind, Place(file, 3), code, (), ("0/0",))
    assert LINES[line] in findings(replace(QUIET, graph_breaks=(broken,)))[0].advice


def test_an_exception_in_a_trace_is_named_and_one_that_eager_raises_too_is_the_codes() -> None:
    context = "raised exception AttributeError(\"'Net' object has no attribute 'linn'\")"
    broken = GraphBreak("Observed exception", "", (), context, "GB0088", Place("m.py", 3), "", (), ("0/0",))
    report = replace(QUIET, graph_breaks=(broken,))
    error = RunError("running the script", "AttributeError", "", "'Net' object has no attribute 'linn'", (), "")
    assert "Dynamo met `AttributeError: 'Net' object has no attribute 'linn'` while" in findings(report)[0].advice
    assert "`torch.compile` is not the cause" in findings(replace(report, error=error))[0].advice


@pytest.mark.parametrize("message", ERRORS)
def test_an_error_of_the_book_has_one_card_with_its_values(message: str) -> None:
    found = findings(failed(message), source=NEEDED.get(message[:10], ""))
    assert [finding.title for finding in found] == [ERRORS[message]]
    assert "{" not in f"{found[0].reason}{found[0].advice}"


def test_an_error_that_the_book_lacks_keeps_its_card() -> None:
    assert [finding.rule for finding in findings(failed("something else"))] == ["not compiled: failed"]


@pytest.mark.parametrize("source", RESULTS)
def test_a_result_that_differs_gets_the_advice_of_the_book_for_its_source(source: str) -> None:
    what, advice = RESULTS[source]
    assert advice in findings(differing(what), source=source)[0].advice
    assert advice not in findings(differing(what), source="y = x + 1")[0].advice


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("self.net = self.net.compile()", True),
        ("    return net.compile(backend='eager')", True),
        ("net.compile()", False),
        ("net = torch.compile(net)", False),
        ("word = re.compile('a')", False),
    ],
)
def test_a_call_of_none_is_one_of_the_result_of_compile_where_the_file_takes_it(line: str, named: bool) -> None:
    found = findings(failed("'NoneType' object is not callable"), source=f"import torch\n{line}\n")
    assert ("no result of compile()" in {each.rule for each in found}) == named


OUTER = "with torch.autocast('cpu', dtype=torch.bfloat16):\n    y = f(x)\ny.sum().backward()\n"
INNER = "    with torch.autocast('cpu', enabled=False):\n        return x @ w\n"
COMPILED = "m = torch.compile(net)\n"
LENIENT = "b.load_state_dict(m.state_dict(), strict=False)\n"
NAMED = "for n, p in m.named_parameters():\n    if {}:\n        p.requires_grad = False\n"
DUAL = "with fwAD.dual_level():\n    {}\n"
TRAPS = {
    ("inductor", "relu", f"f = torch.compile(g)\n{DUAL.format('f(fwAD.make_dual(x, v))')}"): "drops the tangent",
    ("inductor", "relu", f"@torch.compile\ndef f(x):\n    pass\n{DUAL.format('d = fwAD.make_dual(x, v); f(1, d)')}"): (
        "drops the tangent"
    ),
    ("eager", "relu", f"f = torch.compile(g)\n{DUAL.format('f(fwAD.make_dual(x, v))')}"): "",
    ("inductor", "relu", f"f = torch.compile(g)\nf(x)\n{DUAL.format('g(fwAD.make_dual(x, v))')}"): "",
    ("aot_eager", "torch.amp._enter_autocast", f"def f(x):\n{INNER}{OUTER}"): "computes in 16 bits",
    ("eager", "torch.amp._enter_autocast", f"def f(x):\n{INNER}{OUTER}"): "",
    ("aot_eager", "relu", f"def f(x):\n{INNER}{OUTER}"): "",
    ("aot_eager", "torch.amp._enter_autocast", f"def f(x):\n{INNER}f(x).sum().backward()\n"): "",
    ("eager", "relu", f"{COMPILED}{LENIENT}"): "loaded with `strict=False`",
    ("eager", "relu", f"{COMPILED}b = torch.compile(b)\n{LENIENT}"): "",
    ("eager", "relu", f"{COMPILED}s = m._orig_mod.state_dict()\n{LENIENT}"): "",
    ("eager", "relu", f"s = a.state_dict()\n{COMPILED}m.load_state_dict(s, strict=False)\n"): "A compiled module loads",
    ("eager", "relu", f"{COMPILED}m.load_state_dict(n.state_dict(), strict=False)\n"): "",
    ("eager", "relu", f"old = dict(net.named_parameters())\n{COMPILED}{NAMED.format('n in old')}"): "among names from",
    ("eager", "relu", COMPILED + NAMED.format('n.startswith("head")')): "by the beginning of their names",
    ("eager", "relu", COMPILED + NAMED.format('"bias" in n')): "",
    ("eager", "relu", f"{COMPILED}m(x)\nnet.a.register_forward_hook(h)\nm(x)\n"): "A hook is registered",
    ("eager", "relu", f"{COMPILED}net.a.register_forward_hook(h)\nm(x)\nm(x)\n"): "",
    ("eager", "cos", "t = torch.arange(n, dtype=torch.bfloat16)\ny = torch.outer(t, f).cos()\n"): "Angles of positions",
    ("eager", "cos", "t = torch.arange(n, dtype=torch.float32)\ny = torch.outer(t, f).cos().bfloat16()\n"): "",
}


OF_TRAPS = {row.get("rule", "results may differ") for row in book()["trap"]}


@pytest.mark.parametrize(("backend", "target", "source"), TRAPS)
def test_a_script_in_a_known_trap_has_a_card(backend: str, target: str, source: str) -> None:
    script = Script((), 0, 1.0, entries=(EntryPoint("f", Place("m.py", 7), backend),), calls=(1,))
    graph = FxGraph("0/0", "dynamo_output_graph", "forward", 0, Payload(0, 0), {}, targets={target: 1})
    report = replace(QUIET, script=script, compilations=(frame("0/0", graphs=(graph,)),))
    titles = [each.title for each in findings(report, source=source) if each.rule in OF_TRAPS]
    words = TRAPS[backend, target, source]
    assert len(titles) == bool(words)
    assert all(words in title for title in titles)


def test_a_torch_that_leaves_dual_tensors_to_eager_drops_no_tangent() -> None:
    source = next(source for backend, _, source in TRAPS if backend == "inductor")
    script = Script((), 0, 1.0, entries=(EntryPoint("f", Place("m.py", 7), "inductor"),), calls=(1,))
    graph = FxGraph("0/0", "dynamo_output_graph", "forward", 0, Payload(0, 0), {}, targets={"torch.tanh": 1})
    kept = GraphBreak("Attempted to wrap a dual tensor input", "", (), "", "GB0375", Place("m.py", 3), "", (), ("0/0",))
    report = replace(QUIET, script=script, compilations=(frame("0/0", graphs=(graph,)),), graph_breaks=(kept,))
    assert "results may differ" not in {each.rule for each in findings(report, source=source)}


@pytest.mark.parametrize(
    ("expression", "named"),
    [
        (DOUBLES.format(40000), True),
        (DOUBLES.format(40), False),
        (DOUBLES.format(40000).replace("float64", "float32"), False),
        (DOUBLES.format(40000).replace("___from_numpy(L['x'])", "L['x']"), False),
    ],
)
def test_large_doubles_of_numpy_are_named(expression: str, named: bool) -> None:
    report = replace(QUIET, compilations=(frame("0/0", guards=(Guard("TENSOR_MATCH", "L['x']", expression, 1),)),))
    titles = [each.title for each in findings(report) if each.rule == "float64 inputs"]
    assert titles == ["Arrays of NumPy are passed in float64: `x`."] * named


def test_memory_that_dropout_shares_in_eager_only_is_a_known_cause() -> None:
    report = replace(QUIET, calls=call(ALIAS))
    assert "Do the in-place op on the input itself" in findings(report, source="dropout(x, 0.5, False)")[0].advice


WITHOUT = [{"backend": "eager"}, {"options": {"emulate_precision_casts": True}}]


@pytest.mark.parametrize("compiling", WITHOUT, ids=["eager", "with the option"])
def test_rounding_is_no_cause_without_inductor_or_with_its_option(compiling: dict[str, object]) -> None:
    report = differing("output", **compiling)
    assert "emulate_precision_casts" not in findings(report, source="x.to(torch.bfloat16)")[0].advice


def test_a_hint_of_the_book_is_replaced_by_its_advice() -> None:
    hint = "Avoid calling the function `Random.shuffle`."
    broken = GraphBreak("skipped", "", (hint,), "", "", Place("m.py", 3), "", (), ("0/0",))
    (words,) = corrected_hints(broken)
    assert re.match(r"Dynamo can't trace `random\.shuffle`: ", words)
    (words,) = corrected_hints(replace(broken, hints=("Avoid calling the function `Optimizer.zero_grad`.",)))
    assert words.startswith("Dynamo does not trace `Optimizer.zero_grad`: call it before or after")


@pytest.mark.parametrize(
    ("name", "words"), [("ContextVar.get", "`ContextVar.get`"), ("type.now", "the class's method `now`")]
)
def test_a_call_to_avoid_is_moved_out(name: str, words: str) -> None:
    hint = f"Avoid calling `{name}` in your code."
    broken = GraphBreak("no", "", (hint,), "", "", Place("m.py", 3), "", (), ("0/0",))
    assert corrected_hints(broken)[0].startswith(f"Dynamo can't trace {words}: call it before or after")


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("y = F.dropout(net(x), 0.5)\nmodel.eval()", True),
        ("y = F.dropout(net(x), 0.5, training=self.training)\nmodel.eval()", False),
        ("y = F.dropout(net(x), 0.5)", False),
    ],
)
def test_dropout_in_evaluation_is_named_where_random_numbers_differ(source: str, named: bool) -> None:
    report = replace(QUIET, calls=call(Difference("output", None, reason="the call draws random numbers")))
    (found,) = findings(report, source=source)
    assert ("`training=self.training`" in found.advice) == named


@pytest.mark.parametrize(
    ("source", "actual", "words"),
    [
        ("torch.reciprocal(x + zeros)", "3 of 4 elements are NaN or infinite on one side alone", "the sign of a zero"),
        ("mask.min(dim=0)", "1 of 4 elements differ", "`.to(torch.int32)`"),
    ],
)
def test_a_difference_of_single_elements_has_the_cause_of_its_op(source: str, actual: str, words: str) -> None:
    job = {"compile": {"backend": "inductor"}}
    different = replace(QUIET, setting=Setting(job=job), calls=call(Difference("output", False, actual=actual)))
    assert words in findings(different, source=source)[0].advice
