"""Eager's calls in AOTAutograd's decomposed graphs, against the ops that eager dispatches when it runs."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402
from torch.nn import functional as F  # noqa: E402
from torch.utils._python_dispatch import TorchDispatchMode  # noqa: E402

from core.ops.costs import op_class  # noqa: E402
from core.report import EagerCall  # noqa: E402

Calls = tuple[EagerCall, ...]


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(32), nn.Linear(32, 64), nn.Linear(64, 32)

    def forward(self, x: Tensor) -> Tensor:
        y = F.gelu(F.gelu(self.up(self.norm(x))))
        return torch.softmax(x + self.down(y), -1)


class Loss(Block):
    def forward(self, x: Tensor) -> Tensor:
        logits = super().forward(x)
        return F.cross_entropy(logits.reshape(-1, 32), torch.arange(16)) + F.mse_loss(F.silu(logits), x.detach())


class Untracked(Block):
    """A part without autograd, whose nodes have autograd's number of the op before them."""

    def forward(self, x: Tensor) -> Tensor:
        y = super().forward(x)
        with torch.no_grad():
            scale = F.gelu(F.gelu(F.gelu(x)))
        return F.gelu(y) * scale


class Heads(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        heads = x.reshape(4, 4, 2, 16).transpose(1, 2)
        mixed = F.scaled_dot_product_attention(heads, heads, heads) + heads.expand(4, 2, 4, 16)
        return F.elu(mixed) * mixed.sigmoid()


class Dispatched(TorchDispatchMode):
    """Names of the ATen ops that run, without views and copies of references."""

    def __init__(self) -> None:
        super().__init__()
        self.ops: Counter[str] = Counter()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if op_class(str(func)) != "view":
            self.ops[str(func)] += 1
        return func(*args, **(kwargs or {}))


def decomposed(model: nn.Module, x: Tensor) -> dict[str, Calls]:
    """The calls in the forward and backward graph of a model, or in its inference graph."""
    from functorch.compile import make_boxed_func
    from torch._dynamo.backends.common import aot_autograd
    from torch._inductor.decomposition import select_decomp_table

    from core.worker.recorders.eager import eager_calls

    found: dict[str, Calls] = {}

    def compiler(name: str) -> Callable[..., Any]:
        def compiled(module: Any, _inputs: Any) -> Any:
            found[name] = eager_calls(module.graph, backward=name == "backward")
            return make_boxed_func(module.forward)

        return compiled

    torch._dynamo.reset()
    backend = aot_autograd(
        fw_compiler=compiler("forward"),
        bw_compiler=compiler("backward"),
        inference_compiler=compiler("inference"),
        decompositions=select_decomp_table(),
    )
    result = torch.compile(model, backend=backend)(x)
    if result.requires_grad:
        result.sum().backward()
    return found


def names(calls: Calls) -> Counter[str]:
    return Counter(call.op for call in calls)


@pytest.mark.parametrize("kind", [Block, Loss, Untracked, Heads])
def test_calls_of_inference_are_those_that_eager_dispatches(kind: type[nn.Module]) -> None:
    torch.manual_seed(0)
    model, x = kind(), torch.randn(4, 4, 32)
    # Autograd's counter goes on from earlier calls of the process: nodes of inference have its last number.
    torch.ones(1, requires_grad=True).sum().backward()
    with torch.no_grad(), Dispatched() as eager:
        model(x)
    with torch.no_grad():
        found = decomposed(model, x)["inference"]
    assert names(found) == eager.ops
    assert len({name for call in found for name in call.nodes}) == sum(len(call.nodes) for call in found)


@pytest.mark.parametrize("kind", [Block, Loss, Untracked, Heads])
def test_calls_of_training_are_those_that_eager_dispatches(kind: type[nn.Module]) -> None:
    torch.manual_seed(0)
    model, x = kind(), torch.randn(4, 4, 32, requires_grad=True)
    with Dispatched() as forward:
        loss = model(x).sum()
    with Dispatched() as backward:
        loss.backward()
    found = decomposed(model, x)
    # The sum and its gradient are outside of the compiled model.
    forward.ops["aten.sum.default"] -= 1
    backward.ops["aten.ones_like.default"] -= 1
    assert names(found["forward"]) == +forward.ops
    assert names(found["backward"]) == +backward.ops


def test_a_node_that_inductor_replaced_in_a_backward_keeps_its_call() -> None:
    """Inductor turns the loss's scatter into a `where` without autograd's number."""
    from core.worker.recorders.eager import eager_calls

    model, x, classes = nn.Linear(8, 4_000), torch.randn(16, 8), torch.arange(16)
    found: list[Calls] = []
    record = lambda graph: found.append(eager_calls(graph, backward=bool(found)))  # noqa: E731
    with torch._inductor.config.patch(post_grad_custom_post_pass=record, force_disable_caches=True):
        torch.compile(lambda x: F.cross_entropy(model(x), classes))(x).backward()
    _, backward = found
    (call,) = (call for call in backward if "nll_loss" in call.op)
    assert any(name.startswith("where_self") for name in call.nodes)


def test_a_call_reads_its_inputs_once_and_writes_its_results() -> None:
    with torch.no_grad():
        calls = decomposed(Block(), torch.randn(4, 4, 32))["inference"]
    by_op = {call.op: call.bytes for call in calls}
    small, wide, word = 4 * 4 * 32, 4 * 4 * 64, 4
    assert by_op["aten.gelu.default"] == 2 * wide * word
    assert by_op["aten.native_layer_norm.default"] == (2 * small + 2 * 32) * word
    assert by_op["aten._softmax.default"] == 2 * small * word
    assert [call.bytes for call in calls if call.op == "aten.addmm.default"] == [
        (small + 32 * 64 + 64 + wide) * word,
        (wide + 64 * 32 + 32 + small) * word,
    ]
    assert by_op["aten.add.Tensor"] == 3 * small * word


def test_an_expanded_dimension_and_a_gather_count_what_they_touch() -> None:
    class Rows(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Embedding(1000, 8)

        def forward(self, x: Tensor) -> Tensor:
            return self.table(torch.arange(4)) + x[:1, :1, :8].expand(1, 4, 8)

    with torch.no_grad():
        calls = decomposed(Rows(), torch.randn(4, 4, 32))["inference"]
    by_op = {call.op: call.bytes for call in calls}
    assert by_op["aten.embedding.default"] == (4 * 8 + 4 * 8) * 4 + 4 * 8
    assert by_op["aten.add.Tensor"] == (4 * 8 + 8 + 4 * 8) * 4


def test_a_scatter_reads_all_of_its_source() -> None:
    class Sums(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.zeros(2, 8).index_add(0, torch.arange(16) % 2, x)

    with torch.no_grad():
        calls = decomposed(Sums(), torch.randn(16, 8))["inference"]
    (added,) = (call for call in calls if "index_add" in call.op)
    assert added.bytes == (16 * 8 + 2 * 2 * 8) * 4 + 16 * 8


def test_several_views_of_one_value_are_read_each_and_the_same_value_once() -> None:
    class Chunks(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            first, second, third = x.sin().chunk(3, -1)
            mixed = torch.addcmul(first, second, third)
            return mixed * mixed.reshape(4, 4)

    with torch.no_grad():
        calls = decomposed(Chunks(), torch.randn(4, 12))["inference"]
    by_op = {call.op: call.bytes for call in calls}
    assert by_op["aten.addcmul.default"] == (3 * 4 * 4 + 4 * 4) * 4
    assert by_op["aten.mul.Tensor"] == 2 * 4 * 4 * 4


@pytest.mark.parametrize("how", ["nearest", "bilinear"])
def test_interpolation_is_one_call_of_eager_and_one_of_its_backward(how: str) -> None:
    class Larger(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return F.interpolate(x.sin(), scale_factor=2, mode=how) * 2

    x = torch.randn(1, 2, 4, 4, requires_grad=True)
    with Dispatched() as forward:
        loss = Larger()(x).sum()
    with Dispatched() as backward:
        loss.backward()
    found = decomposed(Larger(), x)
    assert len(found["forward"]) == (forward.ops - Counter(["aten.sum.default"])).total() == 3
    assert [call.op for call in found["forward"]].count("aten.upsample") == 1
    assert [call.op for call in found["backward"]].count("aten.upsample_backward") == 1
    assert any(op.startswith("aten.upsample") for op in backward.ops)


def test_casts_of_one_line_are_calls_of_their_own() -> None:
    model = nn.Linear(32, 32)
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        with Dispatched() as eager:
            model(torch.randn(4, 32))
        calls = decomposed(model, torch.randn(4, 32))["inference"]
    assert names(calls)["aten._to_copy.default"] == eager.ops["aten._to_copy.default"] == 3


def test_a_triton_kernel_of_the_user_is_a_call() -> None:
    from core.worker.recorders.eager import eager_calls

    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    launch = graph.call_function(torch.ops.higher_order.triton_kernel_wrapper_mutation, kwargs={"kwargs": {"x": x}})
    launch.meta["from_node"] = [x]
    assert [(call.op, call.nodes) for call in eager_calls(graph, backward=False)] == [
        ("triton_kernel_wrapper_mutation", (launch.name,))
    ]
