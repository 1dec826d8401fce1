"""Repairs of recompiles: edits where the file gives its model what varies."""

from dataclasses import replace

import pytest

from core.analysis.dynamo.recompiles import local_names
from core.analysis.repairs.offers import (
    dynamic_spares,
    newest_reasons,
    repair_of,
    repaired,
    repairs_of_recompile,
    together,
)
from core.job.gallery import sample
from core.report import Guard, Place, Recompile, Report
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.reports.findings import QUIET, frame

STORM = recorded_report(TRACES / "recompile_zoo" / "trace.log")
ZOO = sample("recompile_zoo").path.read_text(encoding="utf-8")
HEAD = "import torch\n\n\ndef model(x, n=1):\n    return x * n\n\n\n"

# What a rule makes of what stands behind `model`.
EDITS = {
    ("mark_dynamic:x:0", "calls = [(a, 1), (b, 2)]\n"): (
        "calls = [(a, 1), (b, 2)]\ntorch._dynamo.mark_dynamic(calls[0][0], 0)\n"
    ),
    ("mark_dynamic:x:1", 'inputs = {"x": a}\n'): 'inputs = {"x": a}\ntorch._dynamo.mark_dynamic(inputs["x"], 1)\n',
    ("mark_dynamic:ids:1", 'calls = [{"ids": make(n), "k": 1} for n in (2, 3)]\n'): (
        'calls = [{"ids": make(n), "k": 1} for n in (2, 3)]\ntorch._dynamo.mark_dynamic(calls[0]["ids"], 1)\n'
    ),
    ("mark_dynamic:x:0", "calls = [a, b]\n"): "calls = [a, b]\ntorch._dynamo.mark_dynamic(calls[0], 0)\n",
    ("tensor_argument:n", "calls = [(a, n) for n in (2, 3)]\n"): ("calls = [(a, torch.tensor(n)) for n in (2, 3)]\n"),
    ("mark_dynamic:x:0", "inputs = a"): "inputs = a\ntorch._dynamo.mark_dynamic(inputs, 0)\n",
    ("mark_dynamic:x:0", "def calls():\n    for a in b:\n        yield a, 1\n"): (
        "def calls():\n    for a in b:\n        torch._dynamo.mark_dynamic(a, 0)\n        yield a, 1\n"
    ),
    ("tensor_argument:n", "calls = [(a, 1), (a, k), (a, 0.1)]\n"): (
        "calls = [(a, torch.tensor(1)), (a, torch.tensor(k)), (a, torch.tensor(0.1, dtype=torch.float64))]\n"
    ),
    ("tensor_global:G", "G = 1\ninputs = a\n"): "G = torch.tensor(1)\ninputs = a\n",
    ("one_dtype:x:1:float32", "calls = [(a, 1), (b, 1)]\n"): "calls = [(a, 1), (b.to(torch.float32), 1)]\n",
    ("one_grad:x:1", "calls = [(a, 1), (b[0], 1)]\n"): "calls = [(a, 1), (b[0].detach(), 1)]\n",
    ("pad_list:x", "calls = [([a],), ([a, a, b],)]\n"): (
        "calls = [([a, torch.zeros_like(a), torch.zeros_like(a)],), ([a, a.clone(), b],)]\n"
    ),
}
COUNTER = (
    "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.seen = 0\n\n"
    "    def forward(self, x):\n        self.seen += 1\n        return {}\n"
)
# What is not written out, or not known to be the model's.
LEFT = (
    ("mark_dynamic:y:0", "inputs = a\n"),
    ("tensor_argument:n", "calls = [(a,), (a, 2)]\n"),
    ("tensor_argument:n", "calls = make()\n"),
    ("tensor_argument:n", "def model(x, n):\n    return x[n + 1]\n\n\ncalls = [(a, 2)]\n"),
    ("tensor_argument:n", "model = lambda x, n: x[: int(n * 4)]\ncalls = [(a, 0.5)]\n"),
    ("tensor_argument:n", "calls = [(*a, 2)]\n"),
    ("tensor_global:G", "G = 1\nG += 1\n"),
    ("tensor_global:G", "G = compute()\n"),
    ("tensor_global:G", "G, *others = 1, 2\n"),
    ("one_dtype:x:1:int8", "calls = [(a, 1), (b, 1)]\n"),
    ("one_dtype:x:0:float32", "def calls():\n    for a in b:\n        yield a, 1\n"),
    ("one_dtype:x:0:float32", "calls = [(a, n) for n in b]\n"),
    ("mark_dynamic:ids:0", 'calls = [{"other": a}]\n'),
    ("one_grad:x:1", "calls = [(a, 1), (a + b, 1)]\n"),
    ("pad_list:x", "calls = [([1],), ([1, 2],)]\n"),
    ("pad_list:x", "calls = [([a],), (b,)]\n"),
    ("flag_attribute:mode", "class M:\n    def f(self):\n        self.mode = 'a'\n        return self.mode\n"),
)


def resized(*sources: str, later: int | None = None) -> Report:
    """A frame that was compiled again for another size, which its tensors share; `later` is None for a symbol."""
    first, again = (
        tuple(Guard("TENSOR_MATCH", source, f"check_tensor({source}, size=[{size}, 8])", 1) for source in sources)
        for size in (50, later)
    )
    reason = f"tensor '{local_names(sources[0])}' size mismatch at index 0. expected 50, actual 70"
    frames = frame("0/0", guards=first), frame("0/1", guards=again)
    return replace(QUIET, compilations=frames, recompiles=(Recompile("0/1", "0/0", reason),))


def of_reason(text: str, reason: str, own_calls: bool = True) -> list[str]:
    """The repairs of a guard's reason that is not one of sizes."""
    return ids(text, replace(QUIET, recompiles=(Recompile("0/2", "0/1", reason),)), own_calls)


def ids(text: str, report: Report, own_calls: bool = True) -> list[str]:
    """The repairs of each recompile of a report."""
    reasons = newest_reasons(report.recompiles)
    return [repair.id for reason in reasons for repair in repairs_of_recompile(text, report, reason, own_calls)]


@pytest.mark.parametrize(("repair", "rest"), EDITS)
def test_a_rule_edits_what_the_model_is_given(repair: str, rest: str) -> None:
    assert repaired(HEAD + rest, [[repair]]) == HEAD + EDITS[repair, rest]


@pytest.mark.parametrize(("repair", "rest"), LEFT)
def test_a_rule_leaves_what_is_not_written_out(repair: str, rest: str) -> None:
    assert repair_of(HEAD + rest, repair) is None


def test_an_attribute_that_counts_becomes_a_buffer_that_no_checkpoint_holds() -> None:
    code = HEAD + COUNTER.format("x * self.seen")
    assert of_reason(code, "self._modules['c'].seen == 1") == [
        "buffer_attribute:seen",
        "setting:allow_unspec_int_on_nn_module",
    ]
    assert repaired(code, [["buffer_attribute:seen"]]) == code.replace(
        "self.seen = 0", 'self.register_buffer("seen", torch.tensor(0), persistent=False)'
    )


@pytest.mark.parametrize("use", ["x[self.seen]", "x if self.seen > 2 else -x", "x.view(self.seen, -1)"])
def test_an_attribute_whose_number_python_needs_has_the_setting_alone(use: str) -> None:
    code = HEAD + COUNTER.format(use)
    assert of_reason(code, "self.seen == 1") == ["setting:allow_unspec_int_on_nn_module"]


@pytest.mark.parametrize(
    "reason", ["how == 'a'", "up == True", "len(d) != 1", "GLOBAL_STATE changed: grad_mode ", "self.training == True"]
)
def test_what_must_be_compiled_twice_has_no_repair(reason: str) -> None:
    assert of_reason(HEAD + COUNTER.format("x"), reason) == []


def test_every_recompile_of_the_zoo_has_a_repair() -> None:
    reasons = newest_reasons(STORM.recompiles)
    found = [repair for reason in reasons for repair in repairs_of_recompile(ZOO, STORM, reason)]
    assert [repair.id for repair in found] == [
        "mark_dynamic:x:0",
        "tensor_argument:power",
        "tensor_argument:scale",
        "one_dtype:x:4:float32",
        "one_grad:x:5",
        "pad_list:extras",
        "flag_attribute:mode",
        "tensor_global:GLOBAL_OFFSET",
    ]
    assert [repair.id for repair in found if not repair.stacks] == ["one_dtype:x:4:float32", "one_grad:x:5"]
    mended = repaired(ZOO, [[repair.id for repair in together(ZOO, tuple(found))]])
    assert "y = torch.where(self.mode, x.sin(), x.cos())\n" in mended
    assert "model.mode, GLOBAL_OFFSET = torch.tensor(True), torch.tensor(1)\n" in mended
    assert "torch.tensor(3), torch.tensor(0.75, dtype=torch.float64), [extra, extra.clone()]  # list" in mended


KEEPS = """import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = {}

    def forward(self, x, *, scale: float = 1.0) -> torch.Tensor:
        y = x * scale
        self.seen[id(x)] = y.sum().item()
        return y if scale else x


model = Net()
"""
OUTSIDE = """    @torch.compiler.disable(recursive=False)
    def forward(self, x, *, scale: float=1.0) -> torch.Tensor:
        result, number = self.compiled_forward(x, scale=scale)
        self.seen[id(x)] = number.item()
        return result

    def compiled_forward(self, x, *, scale: float = 1.0) -> tuple[torch.Tensor, torch.Tensor]:
        y = x * scale
        number = y.sum().detach()
        return (y if scale else x), number
"""


def test_a_number_is_stored_under_an_identity_after_the_compiled_code() -> None:
    reason = Recompile("0/1", "0/0", "___check_obj_id(x, 7), type=<class 'torch.Tensor'>", location=Place("m.py", 11))
    assert ids(KEEPS, replace(QUIET, recompiles=(reason,))) == ["store_after:11"]
    at, end = KEEPS.index("    def forward"), KEEPS.index("\n\nmodel")
    assert repaired(KEEPS, [["store_after:11"]]) == KEEPS[:at] + OUTSIDE + KEEPS[end:]


@pytest.mark.parametrize(
    ("text", "with_text"),
    [
        ("model = Net()", "model = Other(Net())"),
        ("y = x * scale", "x = y = x * scale"),
        ("id(x)", "y.shape"),
        ("id(x)", "name(x)"),
        ("y.sum().item()", "float(y.sum())"),
        ("y = x * scale", "y = x * len(self.seen)"),
        ("y = x * scale", "if scale > 2:\n            return x\n        y = x"),
        ("    def forward", "    @torch.no_grad()\n    def forward"),
        ("*, scale: float", "*more, scale: float"),
        ("forward(", "step("),
    ],
)  # fmt: skip
def test_a_number_that_something_needs_within_the_forward_stays_there(text: str, with_text: str) -> None:
    code = KEEPS.replace(text, with_text)
    line = next(number for number, row in enumerate(code.split("\n"), 1) if "self.seen[" in row)
    assert repair_of(KEEPS, "store_after:11") is not None
    assert repair_of(code, f"store_after:{line}") is None


def test_a_repair_that_may_change_results_says_when() -> None:
    found = [
        repair for reason in newest_reasons(STORM.recompiles) for repair in repairs_of_recompile(ZOO, STORM, reason)
    ]
    number = "If Python code uses the number, such as for a size or an `if`, it must accept a tensor."
    assert {repair.id: (repair.fix.risk, repair.fix.doubt) for repair in found} == {
        "mark_dynamic:x:0": ("", ""),
        "tensor_argument:power": ("may change", number),
        "tensor_argument:scale": ("may change", number),
        "one_dtype:x:4:float32": ("changes", "Calls with another dtype then run in float32."),
        "one_grad:x:5": ("changes", "It then has no gradient."),
        "pad_list:extras": ("may change", "Correct only if the tensors are summed."),
        "flag_attribute:mode": ("may change", "Both branches are computed, and must have the same shape and dtype."),
        "tensor_global:GLOBAL_OFFSET": ("may change", "Only for ops that accept a tensor here."),
    }


def test_a_keyword_is_named_by_itself() -> None:
    code = 'import torch\nmodel = make()\ncalls = [{"ids": f(n)} for n in (2, 3)]\n'
    assert ids(code, resized("L['kwargs']['ids']")) == ["mark_dynamic:ids:0"]


def test_a_file_whose_calls_are_not_made_is_not_edited_there() -> None:
    assert ids(ZOO, STORM, own_calls=False) == ["flag_attribute:mode", "tensor_global:GLOBAL_OFFSET"]


def test_dynamic_shapes_spare_what_varies_in_size_or_is_a_number() -> None:
    assert [reason.reason for reason in newest_reasons(STORM.recompiles) if dynamic_spares(STORM, reason)] == [
        "tensor 'x' size mismatch at index 0. expected 8, actual 12", "power == 2", "scale == 0.5",
    ]  # fmt: skip


def test_a_size_or_a_number_that_stays_a_constant_has_neither_a_mark_nor_dynamic_shapes() -> None:
    constant = resized("L['x']", later=70)
    (reason,) = constant.recompiles
    assert (ids(ZOO, constant), dynamic_spares(constant, reason)) == ([], False)
    assert not dynamic_spares(QUIET, Recompile("0/1", "0/0", "n == 4"))


def test_a_reason_that_no_rule_knows_has_no_repair() -> None:
    assert of_reason(ZOO, "___check_type_id(L['x'], 1)") == []
    assert of_reason(ZOO, "tensor 'x' dtype mismatch. expected Float, got") == []


def test_all_dimensions_that_hang_together_are_marked_in_one_repair() -> None:
    code = "import torch\n\n\ndef model(h, batch):\n    return h\n\n\ncalls = [(a, b), (c, d)]\n"
    tied = resized("L['h']", "L['batch']")
    (repair,) = ids(code, tied)
    assert repair == "mark_dynamic:h:0:batch:0"
    assert repaired(code, [[repair]]) == (
        f"{code}torch._dynamo.mark_dynamic(calls[0][0], 0)\ntorch._dynamo.mark_dynamic(calls[0][1], 0)\n"
    )
    assert ids(code, resized("L['h']", "L['d']['x']")) == ids(code, tied, own_calls=False) == []


def test_a_positional_argument_of_a_library_model_is_marked_by_its_place() -> None:
    code = "import torch\n\nmodel = torch.nn.Sequential(torch.nn.ReLU())\ncalls = [(a,), (b,)]\n"
    (repair,) = ids(code, resized("L['args'][0]"))
    assert repair == "mark_dynamic:0:0"
    assert repaired(code, [[repair]]) == f"{code}torch._dynamo.mark_dynamic(calls[0][0], 0)\n"
