"""A model's file as a script that compares compiled with eager by itself."""

from __future__ import annotations

import re

from core.job.model import CompileJob

HAS_INPUTS = re.compile(r"^inputs\s*=", re.MULTILINE)
CHECK = """

if __name__ == "__main__":
    import copy

    from torch.utils._pytree import tree_leaves

    def tensors(values):
        return [value for value in tree_leaves(values) if isinstance(value, torch.Tensor)]

    def call(function, inputs):
        torch.manual_seed({seed})
        if isinstance(inputs, dict):
            outputs = function(**inputs)
        else:
            outputs = function(*inputs) if isinstance(inputs, (tuple, list)) else function(inputs)
        return tensors((outputs, inputs))
{training}
    mine = copy.deepcopy(inputs)
    expected = {call}(copy.deepcopy({model}), mine)
    actual = {call}({compiled}, inputs)
    torch.testing.assert_close(actual, expected, equal_nan=True)
"""
TRAINING = """
    def train(function, inputs):
        results = call(function, inputs)
        wanted = [value for value in tensors(inputs) if value.requires_grad and value.is_leaf]
        wanted += list(function.parameters()) if isinstance(function, torch.nn.Module) else []
        total = sum(value.sum() for value in results if value.requires_grad and value.grad_fn is not None)
        gradients = torch.autograd.grad(total, wanted, allow_unused=True)
        return results + [gradient for gradient in gradients if gradient is not None]
"""


def checked_script(job: CompileJob, code: str, minified: bool = False) -> str:
    """Return a script that fails by itself where compiled fails or differs: the code, and a comparison with eager.

    Only the code if it has no `inputs` of its own, or if the job has other calls or a target. `minified` code has its
    model and inputs under the usual names.
    """
    text = code.rstrip() + "\n"
    if job.target or not HAS_INPUTS.search(text) or (job.calls and not minified):
        return text
    name = "model" if minified else job.model.name
    backend = f"{job.compile.backend_code.rstrip()}\n\n\n" if job.compile.backend_code else ""
    compiled = job.compile.as_call().replace("torch.compile(model", f"torch.compile({name}", 1)
    check = CHECK.format(
        seed=job.seed,
        training=TRAINING if job.training else "",
        call="train" if job.training else "call",
        model=name,
        compiled=compiled,
    )
    return f"{backend}{text}{check}"
