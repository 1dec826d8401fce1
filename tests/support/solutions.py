"""Solutions of the exercises as edits of their code: a right one each, and wrong ones that are plausible."""

from __future__ import annotations

from dataclasses import dataclass

from core.job.gallery import exercise

Edit = tuple[str, str]


@dataclass(frozen=True)
class Solutions:
    """The check that the exercise fails as it is, edits that solve it, and edits that do not, each with the check that
    fails then: a part of its sentence.
    """

    fault: str
    right: tuple[Edit, ...]
    wrong: tuple[tuple[str, tuple[Edit, ...]], ...]


def edited(name: str, edits: tuple[Edit, ...]) -> str:
    """The code of an exercise after some edits."""
    code = exercise(name).code
    for old, new in edits:
        assert old in code, (name, old)
        code = code.replace(old, new)
    return code


DELETED_PRINT = ('    print("mean so far", y.mean())\n', "")
DISABLED = (
    ("def model(", "@torch.compiler.disable\ndef hidden("),
    ("\n\n\ninputs", "\n\n\ndef model(x):\n    return hidden(x)\n\n\ninputs"),
)
TOO_EARLY = "    results = graph(*example_inputs)\n    return lambda *inputs: results"
LOOP = """    total = torch.zeros(32)
    for row in range(rows):
        total = total + x[row]
    return torch.exp(-total)"""
BRANCH = """    if x.sum() > 0:
        return y * 2
    return y / 2 - 1"""
ROWS = """    weighted = [x[row] * (row + 1) for row in range(x.shape[0])]
    return torch.stack(weighted).sin()"""
ONE_BLOCK = "            x = block(x)"

SOLUTIONS = {
    "print_inside": Solutions(
        fault="1 graph break. The first at line 7",
        right=(DELETED_PRINT,),
        wrong=(
            ("No op was compiled", (DELETED_PRINT, *DISABLED)),
            ("Results differ", (DELETED_PRINT, (" + x", ""))),
            ("2 graph breaks", (("y.mean())", "y.mean().item())"),)),
        ),
    ),
    "number_from_tensor": Solutions(
        fault="1 graph break. The first at line 8",
        right=(("math.sqrt(x.var().item() + 1e-5)", "torch.sqrt(x.var() + 1e-5)"),),
        wrong=(
            ("Results differ", (("math.sqrt(x.var().item() + 1e-5)", "1.0"),)),
            ("1 graph break", (("math.sqrt(x.var().item() + 1e-5)", "math.sqrt(float(x.var()) + 1e-5)"),)),
        ),
    ),
    "data_branch": Solutions(
        fault="1 graph break. The first at line 7",
        right=((BRANCH, "    return torch.where(x.sum() > 0, y * 2, y / 2 - 1)"),),
        wrong=(
            ("Results differ", ((BRANCH, "    return y * 2"),)),
            ("1 graph break", ((BRANCH, "    return y * 2 if bool(x.sum() > 0) else y / 2 - 1"),)),
            ("1 call made, 2 expected", ((BRANCH, "    return y * 2"), (", (-x.abs(),)]", "]"))),
        ),
    ),
    "counter": Solutions(
        fault="3 recompiles, at most 0",
        right=(("self.step = 0", 'self.register_buffer("step", torch.zeros((), dtype=torch.int64))'),),
        wrong=(
            ("Results differ", (("        self.step += 1\n", ""),)),
            ("3 recompiles", (("self.step = 0", "self.step = 0.0"),)),
        ),
    ),
    "loop_over_number": Solutions(
        fault="3 recompiles, at most 1",
        right=((LOOP, "    return torch.exp(-x[:rows].sum(dim=0))"),),
        wrong=(
            (
                "3 recompiles",
                ((LOOP, "    return torch.exp(-torch.stack([x[row] for row in range(rows)]).sum(dim=0))"),),
            ),
            ("Results differ", ((LOOP, "    return torch.exp(-x.sum(dim=0))"),)),
        ),
    ),
    "batch_sizes": Solutions(
        fault="1 recompile, at most 0",
        right=(("(2, 4, 6, 8)]\n", "(2, 4, 6, 8)]\ntorch._dynamo.mark_dynamic(calls[0][0], 0)\n"),),
        wrong=(
            ("1 recompile", (("(2, 4, 6, 8)]\n", "(2, 4, 6, 8)]\ntorch._dynamo.mark_dynamic(calls[0][0], 1)\n"),)),
            ("Results differ", (("(2, 4, 6, 8)", "(8, 8, 8, 8)"),)),
        ),
    ),
    "size_as_number": Solutions(
        fault="ConstraintViolationError",
        right=((ROWS, "    return (x * torch.arange(1, x.shape[0] + 1)[:, None]).sin()"),),
        wrong=(
            (
                "1 recompile",
                (
                    ("for (x,) in calls:\n    torch._dynamo.mark_dynamic(x, 0)\n", ""),
                    (ROWS, "    return (x * torch.arange(1, x.shape[0] + 1)[:, None]).sin()"),
                ),
            ),
            ("2 recompiles", (("    torch._dynamo.mark_dynamic(x, 0)\n", "    pass\n"),)),
        ),
    ),
    "opaque_op": Solutions(
        fault="3 kernels, at most 1",
        right=(("squared_relu(x + bias)", "(torch.relu(x + bias) ** 2)"),),
        wrong=(
            ("Results differ", (("squared_relu(x + bias)", "torch.relu(x + bias)"),)),
            ("3 kernels", (("* 0.5", "/ 2"),)),
        ),
    ),
    "topk_for_max": Solutions(
        fault="3 kernels, at most 1",
        right=(("torch.topk(scaled, k=1, dim=-1).values", "scaled.amax(dim=-1, keepdim=True)"),),
        wrong=(
            ("3 kernels", (("torch.topk(scaled, k=1, dim=-1).values", "torch.sort(scaled, dim=-1).values[:, -1:]"),)),
            ("Results differ", (("torch.topk(scaled, k=1, dim=-1).values", "scaled.amax()"),)),
        ),
    ),
    "saved_values": Solutions(
        fault="of activations saved for the backward, at most 50.0 kB",
        right=((ONE_BLOCK, "            x = torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False)"),),
        wrong=(
            ("Results differ", (("range(4)", "range(1)"),)),
            ("of activations saved", ((ONE_BLOCK, "            x = block(x).contiguous()"),)),
        ),
    ),
    "backend_once": Solutions(
        fault="Results differ from those of the original code in eager",
        right=((TOO_EARLY, "    return graph.forward"),),
        wrong=(
            ("Results differ", (("lambda *inputs: results", "lambda *inputs: [result + 0 for result in results]"),)),
            ("No op was compiled", (("def model(", 'torch.compiler.set_stance("force_eager")\n\n\ndef model('),)),
        ),
    ),
    "blind_pass": Solutions(
        fault="The model has 2 negations, the lowered graph 2; 2 to remove.",
        right=(("torch.neg", "torch.ops.aten.neg.default"),),
        wrong=(
            ("Results differ", (("torch.neg", "torch.ops.aten.neg.default"), ("(inner.args[0])", "(inner)"))),
            (
                "2 ops captured",
                (
                    ("-torch.sin(x)", "torch.sin(x)"),
                    ("-falling", "falling"),
                ),
            ),
            ("the lowered graph 2", (("torch.neg", "torch.ops.aten.neg"),)),
        ),
    ),
}
