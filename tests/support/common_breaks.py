"""Small models that stop Dynamo, one for each of thirty kinds of graph break that users meet most.

Which thirty: first what PyTorch's page "Common graph breaks" has, in its order (data-dependent branches and reads,
prints and logging, skipped functions, `torch.compiler.disable`); then what reports of users, of PyTorch's own model
suites and of large model libraries name again and again (`copy.deepcopy`, `.item()` and `.tolist()`, `backward()`,
RNNs, context managers, parameters and tensors made in `forward`, generators, sparse tensors); then what is left of the
kinds that a line or two of a plain model reach with torch on a CPU. Each is written as these pages write theirs.

`BREAKS` has by id the code of a file, and by repair what comes of it.
"""

from core.analysis.repairs.trials import TrialOutcome

Case = tuple[str, dict[str, TrialOutcome]]


def model(*lines: str, above: str = "", inputs: str = "torch.randn(4, 8)") -> str:
    """A file whose `model` has these lines; the first of them is line 11."""
    head = ["import copy", "import json", "import logging", "import math", "import time", "import torch"]
    rest = "\n    ".join(lines)
    return "\n".join([*head, "", f"{above}", "", "def model(x):", f"    {rest}", "", f"inputs = ({inputs},)", ""])


BREAKS: dict[str, Case] = {
    "GB0170": (
        model("y = x.sum()", "if y > 0:", "    z = x + y", "else:", "    z = x - y", "return z"),
        {"where:12": "repaired", "cond:12": "repaired"},
    ),
    "GB0124": (
        model("y = x.abs().mean().item()", "return x / y"),
        {"keep_tensor:11": "repaired", "setting:capture_scalar_outputs": "repaired"},
    ),
    "GB0109": (model("first, *_ = x.mean(0).tolist()", "return x * first"), {"keep_tensor:11": "repaired"}),
    "GB0059": (
        model("x = x * 2", "print('after scaling', x.shape, x.dtype)", "return x.sin()"),
        {"print_op:12:1": "repaired", "eager_only:12": "partly"},
    ),
    "GB0007": (
        model("start = time.perf_counter()", "return x.relu()"),
        {},
    ),
    "GB0008": (
        model("with torch.autograd.set_multithreading_enabled(False):", "    return x.relu()"),
        {},
    ),
    "GB0036": (
        model("rows = torch.nonzero(x.sum(1) > 0)", "return x.sum() + rows.sum()"),
        {"setting:capture_dynamic_output_shape_ops": "repaired"},
    ),
    "GB0033": (
        model("return x * math.exp(-x.abs().sum())"),
        {"torch_math:11": "repaired"},
    ),
    "GB0025": (
        model("x = x.sin()", "torch._dynamo.graph_break()", "return x.cos()"),
        {"remove_break:12": "repaired"},
    ),
    "GB0098": (
        model("return inner(x.sin()).cos()", above="@torch.compiler.disable\ndef inner(t):\n    return t + 1\n"),
        {"undisable:14": "repaired"},
    ),
    "GB0291": (
        model("logger.warning('max %s', x.max())", "return x + 1", above="logger = logging.getLogger(__name__)"),
        {"eager_only:11": "partly"},
    ),
    "GB0142": (
        model("with open('/dev/null') as file:", "    return x + len(file.read())"),
        {},
    ),
    "GB0123": (
        model(
            "loss = (x * weight).square().mean()",
            "loss.backward()",
            "return loss.detach()",
            above="weight = torch.ones(8, requires_grad=True)",
        ),
        {"setting:trace_autograd_ops": "repaired"},
    ),
    "GB9186": (
        model(
            "y = x * weight",
            "(grad,) = torch.autograd.grad(y.sum(), weight)",
            "return grad * 2",
            above="weight = torch.ones(8, requires_grad=True)",
        ),
        {"setting:trace_autograd_ops": "repaired"},
    ),
    "GB0014": (
        model("return rnn(x)[0].tanh()", above="rnn = torch.nn.GRU(8, 8)"),
        {"setting:allow_rnn": "repaired"},
    ),
    "GB4198": (
        model("kept = copy.deepcopy(x)", "return x.relu() + kept"),
        {"clone:11": "repaired"},
    ),
    "GB0206": (model("y = x * 2", "y.requires_grad = True", "return y"), {}),
    "GB0126": (model("y = x.clone()", "y.resize_(2, 16)", "return y + 1"), {}),
    "GB0264": (
        model("scale = torch.nn.Parameter(torch.ones(8))", "return x * scale"),
        {"hoist_tensor:11": "repaired", "setting:graph_break_on_nn_param_ctor": "repaired"},
    ),
    "GB0225": (
        model("weight = torch.ones(8, requires_grad=True)", "return x * weight"),
        {"hoist_tensor:11": "repaired"},
    ),
    "GB0107": (model("return x + torch.empty_like(x).random_(0, 10)"), {}),
    "GB0055": (
        model("return x + torch.rand(8, generator=source)", above="source = torch.Generator().manual_seed(1)"),
        {},
    ),
    "GB7650": (
        model("source.manual_seed(1)", "return x + 1", above="source = torch.Generator()"),
        {},
    ),
    "GB8977": (
        model("class Config:", "    scale = 2", "return x * Config.scale"),
        {"setting:enable_trace_load_build_class": "repaired"},
    ),
    "GB0088": (model("return x + len(f'{x.sum()}')"), {}),
    "GB0156": (
        model("factor = json.loads('{\"scale\": 3}')['scale']", "return x * factor"),
        {"hoist:11": "repaired", "constant:11": "repaired"},
    ),
    "GB0246": (model("return torch.nn.functional.one_hot((x > 0).long()).sum() + x"), {}),
    "GB0569": (model("return x + len(repr(x))"), {}),
    "GB0208": (model("return x + x.storage().size()"), {}),
    "GB0277": (model("return x.to_sparse().to_dense() + 1"), {}),
}
