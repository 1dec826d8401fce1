"""Planted faults in whole models are refused whatever lies beside them; other ways of computing are accepted.

Both copies of a model run eagerly in this process. In the second copy, `_other` is True, so that it computes
with a fault or in another way.
"""

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from core.analysis.results import difference_words, results_of
from core.job import CompileJob, CompileOptions, Model
from core.report import Call
from core.worker.calls import make_calls
from core.worker.load import ModelCopy
from tests.support.sample import one_in

CODE = """
import torch
import torch.nn.functional as F
_other = False
D = torch.{dtype}
MIN = torch.finfo(D).min
generator = torch.Generator().manual_seed(0)
def rand(*shape):
    return torch.randn(*shape, generator=generator).to(D)
def causal(fill):
    return torch.full((8, 8), fill, dtype=D).triu(1)
{outside}
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.l = torch.nn.Linear(16, 16)
        {init}
    def forward(self, x, extra=None):
        {body}
model = Net().to(D)
inputs = (rand(8, 16), {extra})
training = {training}
"""


def compared(
    tmp_path: Path,
    body: str,
    *,
    dtype: str = "float32",
    training: bool = False,
    outside: str = "",
    init: str = "",
    extra: str = "None",
    backend: str = "inductor",
) -> tuple[str, list[str]]:
    """The outcome of a comparison with the model's other copy, and the words of all differences."""
    path = tmp_path / "model.py"
    body = body.replace("\n", "\n        ")
    path.write_text(
        CODE.format(body=body, dtype=dtype, training=training, outside=outside, init=init or "pass", extra=extra)
    )
    job = CompileJob(Model("file", "model.py"), training=training, compile=CompileOptions(backend=backend))
    eager, other = (ModelCopy(path, job, f"planted_{side}") for side in ("eager", "other"))
    vars(other._module)["_other"] = True
    calls: list[Call] = []
    torch.manual_seed(0)
    make_calls(job, path, eager, other, other.model, lambda _: None, calls.append)
    found = results_of(calls)
    assert found is not None
    return found.outcome, [difference_words(item) for item in (*found.differing, *found.untold)]


TRIANGLE = "torch.ones(8, 8, dtype=torch.bool).triu(1)"
# What a model has beside a fault: code for the file, for `__init__`, the second input, and the mask.
BESIDE = {
    "nothing": ("", "", "None", "0.0"),
    "a mask as buffer": ("", "self.register_buffer('mask', causal(MIN))", "None", "self.mask"),
    "a mask as input": ("", "", "causal(MIN)", "extra"),
    "a mask as global": ("MASK = causal(MIN)", "", "None", "MASK"),
    "a mask from a scalar": (
        "",
        "self.register_buffer('low', torch.tensor(MIN))",
        "None",
        f"torch.zeros(8, 8, dtype=x.dtype).masked_fill({TRIANGLE}, self.low)",
    ),
    "a mask as constant": ("", "", "None", "causal(MIN).to(x.dtype)"),
    "a mask of -inf": ("", "self.register_buffer('mask', causal(float('-inf')))", "None", "self.mask"),
    "a mask of -1e4": ("", "self.register_buffer('mask', causal(-1e4))", "None", "self.mask"),
    "timestamps as input": (
        "",
        "",
        "torch.rand(8, generator=generator) * 1e9 + 1.7e12",
        "0 * torch.sin(extra / 1e12).to(x.dtype)[:, None]",
    ),
    "a large global": ("LARGE = torch.tensor([1e30, 2e30])", "", "None", "0.0"),
    "a large attribute": ("", "self.large = torch.tensor([3e37])", "None", "0.0"),
    "a large parameter": ("", "self.far = torch.nn.Parameter(torch.tensor([6e4, 5e4]))", "None", "0 * self.far[0]"),
}
ATTENTION = "a = ((self.l(x) @ x.T) / {} + m).softmax(-1)\n"
FAULTS = {
    "the scale of attention": f"{ATTENTION.format('(1.0 if _other else 4.0)')}return a @ x",
    "the size of an output": f"{ATTENTION.format(4.0)}return a @ x * (1.05 if _other else 1.0)",
    "the sign of an output": f"{ATTENTION.format(4.0)}return a @ x * (-1 if _other else 1)",
    "a lost row": f"{ATTENTION.format(4.0)}y = a @ x\nif _other: y = torch.cat([y[:3], 0 * y[3:4], y[4:]])\nreturn y",
    "a lost bias": f"{ATTENTION.format(4.0)}return a @ (x @ self.l.weight.T + (0 if _other else self.l.bias))",
    "unmasked scores": "s = self.l(x) @ x.T * (1.1 if _other else 1.0)\nreturn s + m",
    "the eps of a norm": f"{ATTENTION.format(4.0)}return F.layer_norm(a @ x, (16,), eps=0.1 if _other else 1e-5)",
    "a swap of rows": f"{ATTENTION.format(4.0)}y = a @ x\nreturn y[[1, 0, 2, 3, 4, 5, 6, 7]] if _other else y",
    "a loss": f"{ATTENTION.format(4.0)}return (a @ x).square().mean() * (1.1 if _other else 1.0)",
    "a gradient": f"{ATTENTION.format(4.0)}y = a @ x\nreturn y.detach() + (y - y.detach()) * (1.2 if _other else 1)",
}
# Results far below 1, which a tolerance for numbers of order one would accept.
TINY = {
    "a tiny loss": "return self.l(x).square().mean() * 1e-16 * (3 if _other else 1)",
    "a product of probabilities": "return self.l(x).softmax(-1).prod(-1) * (1000 if _other else 1)",
    "a tiny variance": "return (1e-9 * self.l(x)).var(0) * (1.5 if _other else 1)",
    "a second moment": "g = 1e-7 * self.l(x)\nreturn g, g * g * (2 if _other else 1)",
    "a tiny row": "y = self.l(x)\nreturn torch.cat([y[:7], 1e-12 * y[7:] * (1.5 if _other else 1)])",
    "a tiny column": "y = self.l(x)\nreturn torch.cat([y[:, :15], 1e-9 * y[:, 15:] * (2 if _other else 1)], 1)",
    "a number": "return (1e-20 * self.l(x).square().mean()).item() * (3 if _other else 1)",
    "a number beyond float32": "return 1e-60 * self.l(x).square().mean().item() * (3 if _other else 1)",
    "a huge number": "return 1e60 * self.l(x).square().mean().item() * (3 if _other else 1)",
    "scattered small elements": "y = self.l(x)\nreturn torch.where(y > 0, 1e4 * y, 1e-4 * y * (1.5 if _other else 1))",
    "a tiny gradient": "y = 1e-12 * self.l(x).mean()\nreturn y.detach() + (y - y.detach()) * (2 if _other else 1)",
}


def planted() -> Iterator[tuple[str, str, str, bool]]:
    """Fault, companion, dtype, and whether the model trains."""
    for fault, beside in itertools.product(FAULTS, BESIDE):
        yield fault, beside, "float32", fault == "a gradient"
    for fault, dtype in itertools.product(FAULTS, ("float64", "float16", "bfloat16")):
        yield fault, "a mask as buffer", dtype, fault != "a lost row"
    for fault, beside in itertools.product(TINY, ("nothing", "a mask as buffer", "timestamps as input")):
        yield fault, beside, "float32", "gradient" in fault
    for fault in TINY:
        yield fault, "a large global", "float64", "number" not in fault


@pytest.mark.parametrize(("fault", "beside", "dtype", "training"), one_in(5, planted()))
def test_a_planted_fault_differs_whatever_lies_beside_it(
    tmp_path: Path, fault: str, beside: str, dtype: str, training: bool
) -> None:
    outside, init, extra, mask = BESIDE[beside]
    body = f"m = {mask}\n{ {**FAULTS, **TINY}[fault] }"
    found = compared(tmp_path, body, dtype=dtype, training=training, outside=outside, init=init, extra=extra)
    assert found[0] == "differs", found


# Two ways to compute the same: for eager, and for the other copy.
SAME = {
    "the order of a sum": ("self.l(x).sum()", "self.l(x).T.flip(0).contiguous().sum()"),
    "a sum by halves": ("self.l(x).sum(-1)", "self.l(x)[:, ::2].sum(-1) + self.l(x)[:, 1::2].sum(-1)"),
    "a product by halves": ("self.l(x) @ x.T", "self.l(x)[:, :8] @ x.T[:8] + self.l(x)[:, 8:] @ x.T[8:]"),
    "a product by sums": ("self.l(x) @ x.T", "(self.l(x)[:, None] * x).sum(-1)"),
    "an unfused linear": ("self.l(x)", "self.l.bias + (self.l.weight @ x.T).T.contiguous()"),
    "a mean that is zero": ("(self.l(x) - self.l(x).mean(0)).mean(0)", "self.l(x).mean(0) - self.l(x).flip(0).mean(0)"),
    "centered sums": ("(self.l(x) - self.l(x).mean()).sum()", "(self.l(x) - self.l(x).sum() / 128).T.sum(0).sum()"),
    "an exact zero": ("self.l(x) - self.l(x)", "self.l(x) - (self.l.bias + (self.l.weight @ x.T).T)"),
    "a large exact zero": (
        "1e5 * self.l(x) - 1e5 * self.l(x)",
        "1e5 * self.l(x) - 1e5 * (self.l.bias + x @ self.l.weight.T)",
    ),
    "sine and cosine": (
        "self.l(x).sin() ** 2 + self.l(x).cos() ** 2",
        "1 - (2 * self.l(x)).cos() / 2 + (2 * self.l(x)).cos() / 2",
    ),
    "a softmax": ("(9 * self.l(x)).softmax(-1)", "(9 * self.l(x)).exp() / (9 * self.l(x)).exp().sum(-1, True)"),
    "a log-softmax": ("self.l(x).log_softmax(-1)", "self.l(x) - self.l(x).logsumexp(-1, True)"),
    "tails of a softmax": (
        "(30 * self.l(x)).softmax(-1)",
        "F.softmax(30 * (self.l(x) - self.l(x).amax(-1, True).detach()), -1)",
    ),
    "a layer norm": (
        "F.layer_norm(self.l(x), (16,))",
        "(self.l(x) - self.l(x).mean(-1, True)) * (self.l(x).var(-1, keepdim=True, correction=0) + 1e-5).rsqrt()",
    ),
    "a layer norm of constant rows": (
        "F.layer_norm(self.l(x)[:, :1].expand(8, 16), (16,))",
        "(self.l(x)[:, :1] - (self.l(x)[:, :1].expand(8, 16) * 0.0625).sum(-1, True)).expand(8, 16) * 1e-5 ** -0.5",
    ),
    "a constant row beside others": (
        "F.layer_norm(torch.cat([self.l(x)[:7], self.l(x)[7:, :1].expand(1, 16)]), (16,))",
        "F.layer_norm(torch.cat([self.l(x)[:7], self.l(x)[7:, :1].expand(1, 16)]).double(), (16,)).to(x.dtype)",
    ),
    "a batch norm": (
        "F.batch_norm(self.l(x), None, None, training=True)",
        "(self.l(x) - self.l(x).mean(0)) * (self.l(x).var(0, correction=0) + 1e-5).rsqrt()",
    ),
    "a GELU": ("F.gelu(self.l(x))", "self.l(x) * 0.5 * (1 + torch.erf(self.l(x) * 0.5 ** 0.5))"),
    "a SiLU": ("F.silu(self.l(x))", "self.l(x) / (1 + (-self.l(x)).exp())"),
    "a sigmoid": ("self.l(x).sigmoid()", "1 / (1 + (-self.l(x)).exp())"),
    "a variance": ("self.l(x).var(0)", "(self.l(x) - self.l(x).mean(0)).square().sum(0) / 7"),
    "a norm": ("self.l(x).norm(dim=-1)", "self.l(x).square().sum(-1).sqrt()"),
    "a product of probabilities": ("self.l(x).softmax(-1).prod(-1)", "self.l(x).log_softmax(-1).sum(-1).exp()"),
    "a tiny loss": ("1e-16 * self.l(x).square().mean()", "(1e-16 / 128) * self.l(x).square().T.sum()"),
    "a cumulative sum": ("self.l(x).cumsum(-1)", "self.l(x) @ torch.ones(16, 16, dtype=x.dtype).triu()"),
    "large values that cancel": ("(self.l(x) + 1e4) - 1e4", "(self.l(x) + 5e3) + 5e3 - 1e4"),
    "scores with a mask": ("self.l(x) @ x.T + causal(MIN)", "(self.l(x)[:, None] * x).sum(-1) + causal(MIN)"),
    "scores with a mask of -1e4": ("self.l(x) @ x.T + causal(-1e4)", "(self.l(x)[:, None] * x).sum(-1) + causal(-1e4)"),
    "attention with a mask": (
        "(self.l(x) @ x.T + causal(MIN)).softmax(-1) @ x",
        "F.scaled_dot_product_attention(self.l(x)[None], x[None], x[None], causal(MIN), scale=1.0)[0]",
    ),
    "a number": ("self.l(x).square().mean().item()", "self.l(x).square().T.sum().item() / 128"),
    "a ratio of timestamps": ("self.l(x) * (1.7e12 / 1.6e12)", "self.l(x) * 1.7e12 / 1.6e12"),
    "wider intermediate values": (
        "self.l(x).relu() * 1.3 + x",
        "((F.linear(x.double(), self.l.weight.double(), self.l.bias.double())).relu() * 1.3 + x).to(x.dtype)",
    ),
}

# Pairs of equal formulas; one of each pair is much less accurate in bfloat16.
UNSTABLE = ("a product of probabilities", "tails of a softmax")


def equivalent() -> Iterator[tuple[str, str, bool]]:
    """The two ways, dtype, and whether the model trains."""
    for ways in SAME:
        yield ways, "float32", ways != "a number"
        if ways not in UNSTABLE:
            yield ways, "bfloat16", False
    for ways in tuple(SAME)[:16]:
        yield ways, "float64", False


@pytest.mark.parametrize(("ways", "dtype", "training"), one_in(3, equivalent()))
def test_another_way_to_compute_the_same_is_accepted(tmp_path: Path, ways: str, dtype: str, training: bool) -> None:
    eager, other = SAME[ways]
    body = f"return ({other}) if _other else ({eager})"
    assert compared(tmp_path, body, dtype=dtype, training=training) == ("same", [])


# Drawn alike by both copies, since the backend draws as eager.
DRAWN = {
    "dropout": "F.dropout(self.l(x), 0.3)",
    "dropout of a mask of weights": "F.dropout((self.l(x) @ x.T).softmax(-1), 0.3) @ x",
    "noise": "self.l(x) + torch.randn_like(x)",
    "uniform noise": "self.l(x) + torch.empty_like(x).uniform_(-1, 1)",
    "a random choice": "self.l(x)[torch.randperm(8)]",
    "a draw by probabilities": "self.l(x)[torch.multinomial(x[:, 0].abs(), 4)]",
}


@pytest.mark.parametrize("drawn", DRAWN.values(), ids=DRAWN)
@pytest.mark.parametrize("training", [False, True], ids=["inference", "training"])
def test_random_results_are_judged_with_eagers_numbers(tmp_path: Path, drawn: str, training: bool) -> None:
    """A mean that is zero differs by its rounding alone; a small result that is wrong by a factor differs."""
    zero = f"y = {drawn}\nreturn y, (y - y.mean(0)).{{}}"
    equal = zero.format("mean(0) if _other else (y - y.mean(0)).sum(0) / len(y)")
    assert compared(tmp_path, equal, training=training, backend="aot_eager") == ("same", [])
    for factor in ("1.5", "1000"):
        wrong = zero.format(f"mean(0) + ({factor} if _other else 1) * (1e-5 * y).sum(0)")
        assert compared(tmp_path, wrong, training=training, backend="aot_eager")[0] == "differs"
