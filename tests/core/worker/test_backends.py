"""What is recorded of a backend, and that torch and the backend go on as if nobody watched."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch._dynamo.exc import BackendCompilerFailed
from torch._dynamo.testing import CompileCounter

from core.report import BackendNode, Executions, Invocation
from core.report.records import Record
from core.report.records.compilation import ExecutionsRecord
from tests.support.work import calls_of

# Torch's own modules warn of each other while they are imported.
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
X, W = torch.ones(4, 8), torch.full((8, 8), 0.5)


def product(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    return torch.relu(x @ w) + 1


@contextmanager
def watched() -> Iterator[list[Record]]:
    """What is recorded within."""
    from core.worker.backends.watch import watching_backends

    torch._dynamo.reset()
    said: list[Record] = []
    with watching_backends(said.append, lambda: True):
        yield said


def invocations(said: list[Record]) -> list[Invocation]:
    return [record for record in said if isinstance(record, Invocation)]


def executions(said: list[Record]) -> ExecutionsRecord:
    (found,) = (record for record in said if isinstance(record, ExecutionsRecord))
    return found


def call(index: int, function: Callable[..., Any], *given: Any) -> Any:
    from core.worker.backends.watch import marking_call

    with marking_call(index):
        return function(*given)


def test_what_a_backend_was_given_is_recorded_as_it_was() -> None:
    given: list[Any] = []

    def mine(graph: Any, inputs: Any) -> Any:
        given.append((graph.code, len(inputs), [(node.name, node.op) for node in graph.graph.nodes]))
        return graph.forward

    with watched() as said:
        assert torch.equal(torch.compile(product, backend=mine)(X, W), product(X, W))
    (made,) = invocations(said)
    assert [(made.code, len(made.inputs), [(node.name, node.op) for node in made.nodes])] == given
    assert (made.backend, made.inputs, made.returned, made.problem) == (
        *("mine", ("f32[4, 8]", "f32[8, 8]"), "method `forward`", ""),
    )
    assert made.nodes[2] == BackendNode(
        "matmul", "call_function", "operator.matmul", "(l_x_, l_w_)", "{}", ("relu",), "f32[4, 8]"
    )
    assert (made.left_out, made.seconds > 0) == (0, True)


def test_two_calls_are_one_invocation_and_two_executions_and_another_size_is_a_second() -> None:
    counter = CompileCounter()
    with watched() as said:
        function = torch.compile(product, backend=counter)
        for index, rows in enumerate((4, 4, 6)):
            call(index, function, torch.ones(rows, 8), W)
        for _ in range(3):
            function(X, W)
    found = executions(said)
    assert counter.frame_count == len(invocations(said)) == 2
    assert [(one.compilation, one.number, one.call, one.outputs) for one in found.executions] == [
        ("0/0", 0, 0, ("f32[4, 8]",)),
        ("0/0", 1, 1, ("f32[4, 8]",)),
        ("0/1", 0, 2, ("f32[6, 8]",)),
    ]
    assert [(total.compilation, total.calls, total.measured) for total in found.totals] == [
        ("0/0", 2, 0),
        ("0/1", 1, 3),
    ]
    assert invocations(said)[1].nodes[1].value == "f32[s77, 8]"


def test_inductor_is_known_by_its_name() -> None:
    from torch._dynamo.eval_frame import get_compiler_fn

    from core.worker.backends.watch import INDUCTOR, backend_name

    assert backend_name(get_compiler_fn(torch._TorchCompileInductorWrapper("default", None, None))) == INDUCTOR
    assert backend_name(get_compiler_fn(INDUCTOR)) == INDUCTOR


def test_a_backend_that_a_stance_forces_is_reported_and_its_code_is_found_again() -> None:
    with watched() as said, torch.compiler.set_stance("default", force_backend="eager"):
        function = torch.compile(product)
        assert torch.equal(function(X, W), function(X, W))
    assert [made.backend for made in invocations(said)] == ["eager"]
    assert executions(said).totals[0].measured == 2


def test_gradients_go_through_what_aot_autograd_returns() -> None:
    x = X.clone().requires_grad_()
    with watched() as said:
        result = call(0, torch.compile(product, backend="aot_eager"), x, W)
        result.sum().backward()
    expected = X.clone().requires_grad_()
    product(expected, W).sum().backward()
    assert x.grad is not None
    assert expected.grad is not None
    assert torch.equal(x.grad, expected.grad)
    assert [(one.call, one.outputs, one.problem) for one in executions(said).executions] == [(0, ("f32[4, 8]",), "")]


def test_what_takes_its_arguments_as_a_list_is_given_a_list_and_may_empty_it() -> None:
    from core.worker.backends.watch import ExecutionWatch, describe_graph

    graph = torch.fx.symbolic_trace(product)

    def boxed(inputs: list[Any]) -> Any:
        values = list(inputs)
        inputs.clear()
        return [graph(*values)]

    boxed._boxed_call = True  # type: ignore[attr-defined]
    watch = ExecutionWatch()
    function = watch.watched("0/0", boxed, describe_graph(graph).outputs)
    inputs = [X, W]
    (result,) = call(0, function, inputs)
    assert (function._boxed_call, inputs) == (True, [])  # type: ignore[attr-defined]
    assert torch.equal(result, product(X, W))
    told = watch.record()
    assert told is not None
    assert told.executions[0].inputs == ("f32[4, 8]", "f32[8, 8]")


def test_what_a_backend_raises_is_reported_with_its_line() -> None:
    def raising(graph: Any, inputs: Any) -> Any:
        return torch.ones(2) @ torch.ones(3)

    with watched() as said, pytest.raises(BackendCompilerFailed, match="raising"):
        torch.compile(product, backend=raising)(X, W)
    (made,) = invocations(said)
    assert made.problem.startswith("raised RuntimeError: inconsistent tensor size")
    assert made.place == (__file__, raising.__code__.co_firstlineno + 1)
    assert executions_of(said) == 0


def executions_of(said: list[Record]) -> int:
    return sum(isinstance(record, ExecutionsRecord) for record in said)


def test_what_cannot_be_called_is_reported() -> None:
    with watched() as said, pytest.raises(BackendCompilerFailed, match="did not return callable"):
        torch.compile(product, backend=lambda graph, inputs: graph.code)(X, W)
    (made,) = invocations(said)
    assert made.problem.startswith("returned '\\n\\n\\n")
    assert made.problem.endswith("which cannot be called")


def test_a_result_that_is_not_the_graphs_is_reported() -> None:
    from core.worker.backends.watch import describe_graph, output_problem

    given: list[Any] = []

    def mine(graph: Any, inputs: Any) -> Any:
        given.append(describe_graph(graph).outputs)
        return graph.forward

    value = torch.compile(product, backend=mine)(X, W)
    results = (value, (value, value), (value.double(),), (value[1:],), (None,), (value + 1,))
    assert [output_problem(given[0], result) for result in results] == [
        "returned f32[4, 8], where the graph returns 1 value in a tuple",
        "returned 2 values, where the graph returns 1",
        "returned f64[4, 8] for output 0 (`add`), where the graph has f32[4, 8]",
        "returned f32[3, 8] for output 0 (`add`), where the graph has f32[4, 8]",
        "returned None for output 0 (`add`), where the graph has f32[4, 8]",
        "",
    ]


def test_an_error_while_it_runs_is_reported_and_raised() -> None:
    def run(*_: Any) -> Any:
        raise ValueError("not now")

    with watched() as said, pytest.raises(ValueError, match="not now"):
        call(0, torch.compile(product, backend=lambda graph, _: run), X, W)
    assert [one.problem for one in executions(said).executions] == ["raised ValueError: not now"]


def test_only_the_first_executions_are_reported_in_full_and_all_are_counted() -> None:
    from core.worker.backends.watch import MOST_EXECUTIONS

    with watched() as said:
        function = torch.compile(product, backend="eager")
        for index in range(MOST_EXECUTIONS + 6):
            call(index, function, X, W)
    found = executions(said)
    assert len(found.executions) == MOST_EXECUTIONS
    (total,) = found.totals
    assert total == Executions("0/0", MOST_EXECUTIONS + 6, 0, total.seconds)


def test_watching_an_execution_costs_one_call() -> None:
    from core.worker.backends.watch import ExecutionWatch

    def nothing(*_: Any) -> None:
        pass

    watched = ExecutionWatch().watched("0/0", nothing, ())
    assert calls_of(lambda: [watched(X, W) for _ in range(1_000)]) <= 2 * 1_000 + 10


def test_nothing_is_replaced_once_nobody_watches() -> None:
    from torch._dynamo.output_graph import OutputGraph

    before = OutputGraph.call_user_compiler
    with watched():
        assert OutputGraph.call_user_compiler is not before
    assert OutputGraph.call_user_compiler is before


def test_what_a_file_has_compiled_is_known_from_what_it_has_not() -> None:
    from core.worker.backends.selection import is_compiled

    module = torch.nn.ReLU()
    in_place = torch.nn.ReLU()
    in_place.compile(backend="eager")
    models: dict[str, Any] = {
        "function": product,
        "module": module,
        "disabled": torch.compiler.disable(product),
        "compiled function": torch.compile(product, backend="eager"),
        "compiled module": torch.compile(module, backend="eager"),
        "module that has compiled itself": in_place,
    }
    assert [name for name, model in models.items() if is_compiled(model)] == [
        "compiled function",
        "compiled module",
        "module that has compiled itself",
    ]


def test_parts_that_a_file_compiles_by_themselves_are_named_and_the_whole_is_reported_to_be_compiled() -> None:
    from core.worker.backends.selection import compiled_parts, parts_words

    part = torch.nn.Tanh()
    whole = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Sequential(part))
    assert compiled_parts(whole) == []
    part.compile(backend="eager")
    assert compiled_parts(whole) == ["1.0"]
    assert compiled_parts(product) == []
    assert parts_words(["0", "1.0"]) == (
        "The file compiles `0`, `1.0` by themselves. This run compiles the whole model, with them inlined."
    )
