"""MLX beside torch: functions of a run, or the recording that ships, with lazy graphs as boxes."""

from dataclasses import replace

from core import Report
from core.report import Difference, LazyNode, Neighbour, PortedFunction, Setting, SideTimes
from core.views.blocks import Heading
from core.views.neighbours import (
    FUNCTION_COLUMNS,
    MOST_FUNCTIONS,
    MOST_NODES,
    LazyBox,
    MlxView,
    boxes,
    mlx_recording,
    neighbours,
)
from tests.support.tables import text_of

SIN_COS = PortedFunction(
    name="sin + cos",
    torch="torch.sin(x) + torch.cos(x)",
    mlx="mx.sin(x) + mx.cos(x)",
    inputs="f32[512, 512]",
    differences=(Difference("output", True, dtype="float32"),),
    graph=(LazyNode("Sin"), LazyNode("Cos"), LazyNode("Add", (0, 1))),
    compiled_graph=(LazyNode("CompiledSinCosAdd"),),
    built_bytes=0,
    computed_bytes=1_048_576,
    built_s=1e-4,
    computed_s=2e-2,
    times=SideTimes({"eager": (2e-3,), "compiled": (1e-3,), "mlx": (3e-3,), "mlx compiled": (4e-3,)}),
)
WRONG = replace(SIN_COS, differences=(Difference("output", False, "shape", "[2]", "[3]"),), times=None)


def of(*functions: PortedFunction) -> MlxView:
    mlx = Neighbour(name="MLX", call="mlx.core.compile(function)", version="0.32.4" * bool(functions), ported=functions)
    return MlxView(Report(Setting(run="a run"), neighbours=(mlx,)))


def without(**fields: object) -> MlxView:
    mlx = Neighbour(name="MLX", call="mlx.core.compile(function)", **fields)  # type: ignore[arg-type]
    return MlxView(Report(Setting(run="a run"), neighbours=(mlx,)))


def test_functions_of_a_run_are_reported_as_its_own() -> None:
    view = of(SIN_COS, WRONG)
    assert view.heading == "MLX: 1 of 2 functions equal torch's"
    assert view.origin == "Compared in this run with MLX 0\\.32\\.4, on the CPU."
    assert [column.text(view.functions[0]) for column in FUNCTION_COLUMNS] == [
        *("sin + cos", "torch.sin(x) + torch.cos(x)", "mx.sin(x) + mx.cos(x)", "equals torch"),
        *("3 primitives pending, 0 B, 100 µs", "0 primitives pending, 1.05 MB, 20.0 ms", "1 primitive"),
        *("2.00 ms", "1.00 ms", "3.00 ms", "4.00 ms"),
    ]
    assert FUNCTION_COLUMNS[3].text(view.functions[1]) == "shape of output: [2] in eager, [3] in MLX"
    page = [*neighbours(view.report)]
    assert view.heading in [block.text for block in page if isinstance(block, Heading)]
    assert "CompiledSinCosAdd" in text_of(page)


def test_without_mlx_the_recording_is_shown_with_its_date_and_versions() -> None:
    view, found = without(missing=("mlx",)), mlx_recording()
    assert view.heading == "MLX: 4 of 4 functions equal torch's, as recorded"
    assert view.origin.startswith(
        'MLX is not installed here: `pip install "mlx[cpu]"`. These figures were recorded on '
    )
    assert view.origin.endswith(", and not by this run.")
    for text in (found.date, found.mlx, found.machine):
        assert text in view.origin.replace("\\", "")


def test_mlx_that_crashed_is_not_said_to_be_missing() -> None:
    crashed = without(version="0.32.4", stage="process", problem="its process crashed: signal 4 (Illegal instruction)")
    assert crashed.origin.startswith("MLX did not run here: its process crashed\\: signal 4 \\(Illegal")


def test_the_recording_shows_that_nothing_is_computed_before_eval() -> None:
    assert mlx_recording().functions[0].name == "sin + cos"
    for function in mlx_recording().functions:
        constants = sum(node.name == "Broadcast" for node in function.graph)
        assert function.graph
        assert function.left == 0
        assert function.built_bytes <= 4 * constants < function.computed_bytes
        assert len(function.compiled_graph) < len(function.graph)


def test_a_lazy_graph_is_boxes_in_columns_below_its_input() -> None:
    assert boxes(SIN_COS.graph) == [
        LazyBox("x", 0, 0, ()),
        LazyBox("Sin", 1, 0, (0,)),
        LazyBox("Cos", 1, 1, (0,)),
        LazyBox("Add", 2, 0, (1, 2)),
    ]
    assert [box.name for box in boxes(SIN_COS.compiled_graph)] == ["x", "CompiledSinCosAdd"]


def test_a_graph_of_a_log_is_bounded_and_reads_only_what_stands_before_it() -> None:
    endless = replace(SIN_COS, graph=(LazyNode("A", (0, 7, -3)), *(LazyNode("B" * 500, (0,)),) * 1_000))
    found = boxes(endless.graph)
    assert len(found) == MOST_NODES + 1
    assert found[1].reads == (0,)
    assert len(found[2].name) < 50
    assert len(of(*(SIN_COS,) * 1_000).functions) == MOST_FUNCTIONS
