"""Bytes that scheduler nodes move, against an own count of the places that their index expressions touch."""

import json
import math
import random
from collections.abc import Callable, Iterator
from dataclasses import asdict
from itertools import product
from typing import Any

import pytest

# Torch warns while it imports and compiles, of what is its own to mend.
pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore")]
torch = pytest.importorskip("torch")

from torch import Tensor, nn  # noqa: E402

from tests.support.sample import one_in  # noqa: E402

Record = dict[str, Any]
Snapshot = dict[str, Any]
AFFINE = ("sin", "add", "slice", "sum", "softmax", "cat", "flip", "expand")
OPS = (*AFFINE, "turn", "rows", "gather", "pad")


class EnoughError(Exception):
    """Stops a compilation behind the scheduler, before code is generated."""


class NoModules:
    def of(self, _graph: Any) -> dict[str, Any]:
        return {}


def scheduled(model: Callable[..., Any], *inputs: Tensor) -> tuple[Record, Snapshot]:
    """The record of one graph's schedule, and its unfused nodes' loops as torch has them."""
    import torch._inductor.config as config

    from core.worker.recorders.scheduler import ScheduleRecorder

    records: list[Record] = []
    loops: Snapshot = {}
    recorder = ScheduleRecorder(lambda said: records.append(json.loads(json.dumps(asdict(said)))), NoModules())  # type: ignore[arg-type]

    def before(nodes: list[Any]) -> list[Any]:
        loops.update(snapshot(nodes))
        return recorder.before_fusion(nodes)

    def after(nodes: list[Any]) -> list[Any]:
        recorder.after_fusion(nodes)
        raise EnoughError

    torch._dynamo.reset()
    with (
        torch.no_grad(),
        config.patch(_pre_fusion_custom_pass=lambda nodes: before(nodes), _post_fusion_custom_pass=after),
        pytest.raises(Exception, match="EnoughError"),
    ):
        torch.compile(model, dynamic=False)(*inputs)
    return records[0], loops


def snapshot(nodes: list[Any]) -> Snapshot:
    """Reads and writes of each node with loops, as (buffer, places), and the buffers that it needs."""
    from torch._inductor.loop_body import MemoryUsageType
    from torch._inductor.virtualized import V

    stores = (MemoryUsageType.STORE, MemoryUsageType.STORE_REDUCTION)
    found: Snapshot = {"outputs": set(V.graph.get_output_names())}
    for node in nodes:
        body = getattr(node, "_body", None)
        usage = body.memory_usage if body else {}
        found[node.get_name()] = {
            "reads": [touched(body, entry) for entry in usage.get(MemoryUsageType.LOAD, ())],
            "writes": [touched(body, entry) for kind in stores for entry in usage.get(kind, ())],
            "needs": {str(dep.name) for dep in node.read_writes.reads},
        }
    return found


def touched(body: Any, entry: Any) -> tuple[str, set[int]]:
    """Every place that an index expression touches, by trying all iterations; none that depends on data."""
    import sympy

    index = body.indexing_exprs[entry.index_name]
    ranges = {symbol: int(size) for symbol, size in body.var_ranges.items()}
    if index.free_symbols - set(ranges):
        return entry.buffer_name, set()
    torchs = {
        "FloorDiv": lambda a, b: a // b,
        "ModularIndexing": lambda x, step, size: x // step % size,
        "PythonMod": lambda a, b: a % b,
    }
    place = sympy.lambdify(list(ranges), index, modules=[torchs, "math"])
    return entry.buffer_name, {int(place(*point)) for point in product(*map(range, ranges.values()))}


def program(seed: int, ops: tuple[str, ...]) -> Callable[..., tuple[Tensor, ...]]:
    """A random function of two matrices and row numbers."""
    rng = random.Random(seed)
    steps = [(rng.choice(ops), rng.random(), rng.random(), rng.random()) for _ in range(rng.randint(3, 7))]

    def model(x: Tensor, y: Tensor, rows: Tensor) -> tuple[Tensor, ...]:
        values = [x, y]
        for op, one, other, how in steps:
            first, second = (values[int(part * len(values))] for part in (one, other))
            values.append(applied(op, first, second, rows, how))
        return values[-1], values[-2] * 2

    return model


def applied(op: str, x: Tensor, y: Tensor, rows: Tensor, how: float) -> Tensor:
    height, width = min(x.shape[0], y.shape[0]), min(x.shape[1], y.shape[1])
    results: dict[str, Callable[[], Tensor]] = {
        "sin": lambda: x.sin(),
        "add": lambda: x[:height, :width] + y[-height:, -width:],
        "slice": lambda: x[int(how * x.shape[0]) :, :: 1 + int(how * 2)],
        "rows": lambda: x[rows % x.shape[0]],
        "gather": lambda: x.gather(0, (rows % x.shape[0])[:, None].expand(-1, x.shape[1])),
        "sum": lambda: x.sum(int(how * 2), keepdim=True) * y,
        "softmax": lambda: x.softmax(-1),
        "cat": lambda: torch.cat([x[:, :width], y[:, :width]]),
        "flip": lambda: x.flip(int(how * 2)) + 1,
        "turn": lambda: x.T.reshape(x.shape) + x,
        "pad": lambda: nn.functional.pad(x, (1, 0, 0, 2)),
        "expand": lambda: x[:1].expand(5, -1) * 2,
    }
    if op == "sum" and x.shape != y.shape:
        return x.sum(int(how * 2), keepdim=True)
    return results[op]()


def expected(parts: list[str], loops: Snapshot) -> Iterator[tuple[str, str, set[int]]]:
    """Which places of which buffers a kernel of those nodes must read and write, whatever the data."""
    made = {name for part in parts for name, _ in loops[part]["writes"]}
    others = [name for name in loops if name not in parts and name != "outputs"]
    needed = loops["outputs"] | {name for other in others for name in loops[other]["needs"]}
    sides: tuple[tuple[str, Callable[[str], bool]], ...] = (
        ("reads", lambda name: name not in made),
        ("writes", lambda name: name in needed),
    )
    for side, wanted in sides:
        merged: dict[str, set[int]] = {}
        for name, places in (access for part in parts for access in loops[part][side] if wanted(access[0])):
            merged.setdefault(name, set()).update(places)
        yield from ((side, name, places) for name, places in merged.items())


@pytest.mark.parametrize(("seed", "ops"), one_in(4, [(seed, AFFINE if seed % 3 == 0 else OPS) for seed in range(36)]))
def test_a_random_graphs_traffic_is_never_less_than_what_its_indices_touch_and_equal_unless_called_a_bound(
    seed: int, ops: tuple[str, ...]
) -> None:
    inputs = torch.randn(6, 10), torch.randn(6, 10), torch.tensor([0, 3, 3, 5])
    record, loops = scheduled(program(seed, ops), *inputs)
    nodes = [*record["nodes_before"], *record["nodes_after"]]
    sizes = {
        name: (math.prod(map(int, buffer["shape"])), torch.empty(0, dtype=getattr(torch, buffer["dtype"])).itemsize)
        for name, buffer in record["buffers"].items()
    }
    wrong = []
    for node in nodes:
        for side, name, places in expected(node["nodes"], loops):
            whole, item = sizes[name]
            counted = node[side].get(name, 0) / item
            least = len({place for place in places if 0 <= place < whole})
            exact = name not in node["at_most"]
            if not least <= counted <= whole or (exact and counted != least):
                wrong.append((node["name"], side, name, counted, least, whole, exact))
    assert wrong == []
    assert ops == OPS or not any(node["at_most"] for node in nodes)
    before, after = (sum(moved(node) for node in record[f"nodes_{side}"]) for side in ("before", "after"))
    assert after <= before


def moved(node: Record) -> int:
    return sum((*node["reads"].values(), *node["writes"].values()))


def test_a_small_part_of_a_table_is_all_that_an_embedding_reads_alone_and_fused() -> None:
    table, norm = nn.Embedding(40_000, 128), nn.LayerNorm(128)

    def model(tokens: Tensor) -> Tensor:
        left, right = norm(table(tokens)).split(64, -1)
        return left * right

    record, _ = scheduled(model, torch.randint(0, 40_000, (128,)))
    (fused,) = record["nodes_after"]
    # The nodes of the norm between the first and the last are others in torch 2.11.
    first, *_, last = [moved(node) for node in record["nodes_before"]]
    assert (first, last) == (67_072, 101_376)
    assert fused["reads"] == {"arg0_1": 131_072, "arg1_1": 1_024, "arg2_1": 512, "arg3_1": 512}
    assert (list(fused["writes"].values()), fused["at_most"]) == ([32_768], ["arg0_1"])


def test_a_library_call_reads_the_view_that_it_is_given() -> None:
    record, _ = scheduled(lambda wide, w: wide[:64, :64] @ w, torch.randn(1000, 4000), torch.randn(64, 64))
    (product_,) = record["nodes_after"]
    assert (product_["reads"], product_["at_most"]) == ({"arg0_1": 16_384, "arg1_1": 16_384}, [])


def test_iterations_are_those_of_the_loops_and_not_the_size_of_a_table() -> None:
    table = nn.Embedding(20_000, 128)
    record, _ = scheduled(lambda tokens: torch.relu(table(tokens)) + 1, torch.randint(0, 20_000, (64,)))
    (node,) = record["nodes_after"]
    assert (node["iterations"], node["origins"]) == (64 * 128, ["embedding", "relu", "add"])


@pytest.mark.parametrize("heads", [8, 2])
def test_attention_on_the_cpu_has_the_flops_of_its_two_products_in_each_head_of_the_queries(heads: int) -> None:
    def model(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=heads != 8)

    keys = torch.randn(2, heads, 48, 32)
    record, _ = scheduled(model, torch.randn(2, 8, 64, 32), keys, keys.clone())
    assert [node["flops"] for node in record["nodes_after"] if node["flops"]] == [4 * 2 * 8 * 64 * 48 * 32]


@pytest.mark.parametrize(
    ("model", "shapes"),
    [
        (torch.mm, [(5, 7), (7, 3)]),
        (lambda x, w: torch.relu(x) @ w, [(2, 3, 5, 7), (7, 3)]),
        (torch.bmm, [(4, 5, 7), (4, 7, 3)]),
        (torch.baddbmm, [(4, 5, 3), (4, 5, 7), (4, 7, 3)]),
        (nn.functional.linear, [(6, 5), (7, 5), (7,)]),
        (nn.functional.conv2d, [(2, 6, 9, 9), (4, 6, 3, 3)]),
        (lambda x, w: nn.functional.conv2d(x, w, stride=2, padding=1, groups=2), [(2, 6, 9, 9), (4, 3, 3, 3)]),
        (lambda x, w: nn.functional.conv_transpose2d(x, w, stride=2), [(2, 6, 9, 9), (6, 4, 3, 3)]),
        (nn.functional.conv1d, [(2, 6, 9), (4, 6, 3)]),
    ],
)
def test_flops_of_a_library_call_are_what_torch_counts_when_it_makes_the_call(
    model: Callable[..., Any], shapes: list[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    from torch._inductor.fx_utils import count_flops_fx

    from core.worker.recorders import scheduler

    counted: list[tuple[int | None, int | None]] = []
    formula = scheduler._counted

    def both(call: Any) -> int | None:
        counted.append((formula(call), count_flops_fx(call)))
        return counted[-1][0]

    monkeypatch.setattr(scheduler, "_counted", both)
    scheduled(model, *map(torch.randn, shapes))
    assert counted
    assert all(ours and ours == theirs for ours, theirs in counted), counted


def test_rows_added_to_a_table_are_read_and_written_and_the_rest_of_it_is_not() -> None:
    def model(table: Tensor, rows: Tensor, values: Tensor) -> Tensor:
        return table.index_add_(0, rows, values)

    record, _ = scheduled(model, torch.zeros(1000, 64), torch.randint(0, 1000, (16,)), torch.randn(16, 64))
    (node, *_) = [node for node in record["nodes_after"] if "Scatter" in node["ops"]]
    assert sorted(node["reads"].values()) == [16 * 8, 16 * 64 * 4, 16 * 64 * 4]
    assert list(node["writes"].values()) == [16 * 64 * 4]


def test_what_a_library_call_changed_in_place_is_read_by_the_next_kernel() -> None:
    def model(x: Tensor, index: Tensor) -> Tensor:
        return torch.zeros(4, 64).scatter_reduce(0, index, x, "prod").relu()

    record, _ = scheduled(model, torch.randn(50, 64), torch.randint(0, 4, (50, 64)))
    (relu,) = [node for node in record["nodes_after"] if node["origins"] == ["relu"]]
    assert moved(relu) == 2 * 4 * 64 * 4


def test_a_row_that_is_changed_in_place_and_then_multiplied_moves_as_that_row() -> None:
    def model(x: Tensor, w: Tensor) -> Tensor:
        x[2].mul_(3)
        return x @ w

    record, _ = scheduled(model, torch.randn(100, 64), torch.randn(64, 64))
    row, matrix = 64 * 4, 100 * 64 * 4
    assert [moved(node) for node in record["nodes_after"]] == [2 * row, 2 * matrix + 64 * 64 * 4]


def test_a_view_made_by_a_library_call_moves_nothing() -> None:
    record, _ = scheduled(lambda x: torch.view_as_real(torch.fft.fft(x)).sum(), torch.randn(8, 16))
    views = [node for node in record["nodes_after"] if node["origins"] == ["view_as_real"]]
    assert [moved(node) for node in views if node["kind"].startswith("Extern")] == [0] * len(views)
