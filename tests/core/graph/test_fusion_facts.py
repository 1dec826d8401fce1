"""Facts of launches: what fusing saved, what eager's calls move, who writes what, and what torch refused to fuse."""

import ast
import gzip
import re
from collections import Counter
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

from core.graph.assemble import Refusals
from core.graph.fusion import NO_LINES, fusion_model
from core.graph.launches import fusion_frames, launches, replay
from core.graph.model import Fact, GraphModel, Group, Launch
from core.graph.overlays import run_order
from core.ops.costs import constants
from core.report import Compilation, EagerCall, FxNode, Kernel, Place, Schedule
from core.trace.parsers.build import build_report, load_graph, load_text
from tests.support.places import ROOT, TRACES

INTERMEDIATE = "intermediate nodes between node1 & node2"


class Case:
    """A scheduled graph of a log, drawn."""

    def __init__(self, log: Path, direction: str) -> None:
        self.compilation: Compilation = next(each for each in build_report(log).compilations if each.schedules)
        self.schedule: Schedule = next(each for each in self.compilation.schedules if each.direction == direction)
        graph = self.compilation.lowered(self.schedule.direction)
        assert graph is not None
        nodes = load_graph(log, self.compilation, graph)
        self.nodes: dict[str, FxNode] = {node.name: node for node in nodes}
        self.kernels: dict[str, Kernel] = {kernel.id: kernel for kernel in self.compilation.kernels}
        self.launches: tuple[Launch, ...] = launches(self.schedule, self.nodes, self.kernels)
        self.code = load_text(
            log, next(each for each in self.compilation.kernels if each.direction == direction).output_code
        )

    @property
    def model(self) -> GraphModel:
        return fusion_model(self.schedule, self.nodes, self.kernels)

    def called(self) -> list[str]:
        """The functions of kernels that the wrapper calls, in its order, from its syntax tree."""
        names = {kernel.name for kernel in self.kernels.values()}
        calls = [node for node in ast.walk(ast.parse(self.code)) if isinstance(node, ast.Call)]
        called = sorted((call.lineno, ast.unparse(call.func).removesuffix(".run")) for call in calls)
        return [name for _, name in called if name in names]


@pytest.fixture(scope="module", params=["forward", "backward"])
def network(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Case:
    """A graph network of three layers, in training: gathers, concatenations, scatters, and cells of a GRU."""
    log = tmp_path_factory.mktemp("network") / "trace.log"
    log.write_bytes(gzip.decompress((ROOT / "tests/launches/network.log.gz").read_bytes()))
    return Case(log, request.param)


def facts(model: GraphModel) -> dict[str, dict[str, object]]:
    return {group.id: {fact.name: fact.value for fact in group.facts} for group in model.groups}


def test_each_call_of_the_wrapper_is_a_launch_in_its_order(network: Case) -> None:
    order = run_order(network.launches, network.kernels)
    drawn = sorted(order, key=order.__getitem__)
    assert [network.kernels[network.launches[place].kernel].name for place in drawn] == network.called()
    numbers = {each["launch"] for each in facts(network.model).values() if "launch" in each}
    assert numbers == {f"{at} of {len(drawn)}" for at in range(1, len(drawn) + 1)}


def test_a_loop_that_reads_nothing_computes_nothing_but_constants(network: Case) -> None:
    fixed = constants(network.nodes)
    for launch in network.launches:
        for name, node in launch.owner.items():
            if node.runs and not node.reads:
                assert name in fixed or name in launch.fills
    drawn = Counter(node.id.partition("@")[0] for node in network.model.nodes)
    assert {f"n:{name}" for launch in network.launches for name in launch.members} == drawn.keys()


@pytest.mark.parametrize("network", ["forward"], indirect=True)
def test_a_kernel_that_only_fills_memory_is_not_named_after_the_ops_that_read_it(network: Case) -> None:
    zeros = next(group for group in network.model.groups if group.badge == "5")
    assert (zeros.label, zeros.detail) == ("layers · zeros", "about 1 % of time by bytes · 2 ops")
    labels = [node.label for node in network.model.nodes[zeros.first : zeros.last]]
    assert labels == ["full", "fill for index_put"]
    assert facts(network.model)[zeros.id]["eager"] == "1 call: zeros"
    nodes = network.model.nodes
    read = [
        (nodes[edge.target].label, edge.bytes) for edge in network.model.edges if "fill" in nodes[edge.source].label
    ]
    assert read == [("index_put", 50 * 16 * 4)] * 3


def test_an_op_without_a_kernel_says_who_writes_its_memory(network: Case) -> None:
    bare = [group for group in network.model.groups if group.detail.startswith("no kernel")]
    titles = {launch.id for launch in network.launches if not launch.kernel}
    assert {group.id for group in bare} == titles
    for group in bare:
        assert (group.label, group.detail) == ("cat", "no kernel: others write it in place · 1 op")
        writers = str(facts(network.model)[group.id]["written in place by"])
        parts = {name for node in network.schedule.before if f"g:{node.name}" == group.id for name, _ in node.reads}
        kernels = {node.kernel for node in network.schedule.before if parts & {name for name, _ in node.writes}}
        named = {each.badge for each in network.model.groups if set(each.links) & {f"k:{kernel}" for kernel in kernels}}
        assert {f"kernel {badge}" for badge in named} == set(re.findall(r"kernel \d+", writers))


def test_a_call_in_place_has_its_scheduler_node(network: Case) -> None:
    (scatter,) = (kernel for kernel in network.kernels.values() if kernel.name == "aten.scatter_reduce_.two"
                  and kernel.direction == network.schedule.direction)  # fmt: skip
    (node,) = (node for node in network.schedule.before if node.ops == ("ScatterFallback",))
    assert (node.kernel, scatter.nodes) == (scatter.id, (node.name,))
    assert scatter.bytes_read == sum(size for _, size in node.reads)
    (hull,) = (group for group in network.model.groups if group.id == f"g:{node.name}")
    assert hull.label.removesuffix(" (backward)") == "scatter_reduce"


def test_each_step_counts_the_nodes_that_run_and_ends_with_the_launches(network: Case) -> None:
    frames = fusion_frames(network.schedule, network.nodes, network.kernels)
    steps = [frame for frame in frames if frame.title.startswith("Fusion")]
    (before,) = (frame for frame in frames if frame.title == "Scheduler nodes")
    idle = sum(node.kind == "NopKernelSchedulerNode" for node in network.schedule.before)
    assert before.units == len(network.schedule.before) - idle
    assert before.detail.endswith(f"; {idle} idle nodes left out")
    assert [frame.units for frame in steps] == [before.units - at for at in range(1, len(steps) + 1)]
    joined = replay(network.schedule, network.launches)[1]
    assert (steps[-1].units or 0) - sum(joined) + len(joined) == frames[-1].units == len(network.called())
    assert frames[-1].detail.endswith(f", but {idle} without a kernel")


def test_each_step_says_how_many_bytes_less_it_moves(network: Case) -> None:
    frames = [frame for frame in fusion_frames(network.schedule, network.nodes, network.kernels) if frame.moved]
    for earlier, later in pairwise(frames):
        if later.title.startswith("Fusion") and earlier.title != "Eager":
            less = (earlier.moved or 0) - (later.moved or 0)
            assert later.detail.endswith(" less" if less > 0 else " more" if less < 0 else "as many bytes")


def test_equal_layers_are_one_stack_that_counts_the_missed_fusions_in_it(network: Case) -> None:
    (stack,) = (group for group in network.model.groups if group.kind == "stack")
    missed = str(facts(network.model)[stack.id]["not fused inside"])
    pairs = missed.partition(" ")[0]
    assert (stack.label, stack.detail) == ("Layer", f"× 3, similar, {pairs} refused")
    assert "pairs in 3 layers: " in missed


def group(name: str, kind: str, parent: int, first: int, last: int) -> Group:
    return Group(name, name, "× 2" if kind == "stack" else "", kind, parent, first, last, last - first)  # type: ignore[arg-type]


def test_a_refused_pair_of_each_layer_is_counted_on_the_stack_and_once_on_each_layer() -> None:
    groups = (
        group("layers", "stack", -1, 0, 4),
        group("layers.0", "module", 0, 0, 2),
        group("g:a", "launch", 1, 0, 1),
        group("g:b", "launch", 1, 1, 2),
        group("layers.1", "module", 0, 2, 4),
        group("g:c", "launch", 4, 2, 3),
        group("g:d", "launch", 4, 3, 4),
    )
    pairs = {(0, 1): (1024, INTERMEDIATE), (2, 3): (1024, INTERMEDIATE), (0, 2): (64, "no shared data")}
    places = {"g:a": 0, "g:b": 1, "g:c": 2, "g:d": 3}
    drawn = Refusals(pairs).inside(GraphModel((), (), groups), places).groups
    assert drawn[0].detail == "× 2, 2 refused"
    assert drawn[0].facts == (Fact("not fused inside", "2 pairs in 2 layers: 1.02 kB × 2"),)
    assert [drawn[at].facts for at in (1, 4)] == [(Fact("not fused inside", "1 pair: 1.02 kB"),)] * 2
    named = [replace(each, label=label) for each, label in zip(drawn, "..ab.ab", strict=True)]
    hulls = [named[at] for at in (2, 3, 5, 6)]
    most = Refusals(pairs).largest(hulls)
    assert (most.text, most.value, most.ids) == ("2 equal ones, first: a with b", "1.02 kB at stake", ("g:a", "g:b"))
    assert Refusals({}).largest([]).value == "none"


def transformer(**changes: object) -> Case:
    case = Case(TRACES / "transformer_block" / "trace.log", "inference")
    case.schedule = replace(case.schedule, **changes)  # type: ignore[arg-type]
    return case


def test_a_launch_names_its_modules_and_lines_and_an_op_its_line() -> None:
    model = transformer().model
    own = facts(model)
    assert (own["g:op9"]["spans"], own["g:op9"]["lines"]) == ("self, norm2", "model.py:46–47")
    code = "x = x + self.down(F.gelu(self.up(self.norm2(x))))"
    assert (own["g:op13"]["module"], own["g:op13"]["lines"]) == ("up (Linear)", f"model.py:47: {code}")
    erf = next(node for node in model.nodes if node.id == "n:erf")
    assert erf.tooltip.splitlines()[0] == f"model.py:47: {code}"


def test_a_shared_constant_has_no_line_in_the_launches_that_read_it() -> None:
    case = transformer()
    name = next(name for launch in case.launches if launch.id == "g:op14" for name in launch.members)
    elsewhere = Place("/site-packages/loss.py", 9)
    case.nodes[name] = replace(case.nodes[name], target="torch.ops.aten.full.default", inputs=(), source=elsewhere)
    assert str(facts(case.model)["g:op14"]["lines"]).startswith("model.py:47")


def test_a_model_without_a_line_of_its_own_says_why_and_names_its_module() -> None:
    case = transformer()
    case.nodes = {name: replace(node, source=None, stack=()) for name, node in case.nodes.items()}
    own = facts(case.model)["g:op13"]
    assert (own["module"], own["lines"]) == ("up (Linear)", NO_LINES)


def test_a_module_that_is_only_a_number_has_its_class_unlike_a_kernels_number() -> None:
    modules = transformer().schedule.modules
    numbered = {name: each._replace(path=each.path.replace("'].up", "'].0")) for name, each in modules.items()}
    assert "Linear 0 · addmm" in [group.label for group in transformer(modules=numbered).model.groups]


def test_savings_by_fusion_and_against_eagers_calls_are_apart() -> None:
    gelu = ("mul_4", "mul_5", "erf", "add_5", "mul_6")
    calls = (*(EagerCall(f"aten.{name}.default", (name,), 2_097_152) for name in gelu),)
    model = transformer(eager_calls=calls).model
    own = facts(model)["g:op14"]
    assert own["fusion saved"] == "nothing: lowering made one scheduler node of its 5 ops"
    gelu_launch = next(group for group in model.groups if group.id == "g:op14")
    assert gelu_launch.detail == "about 8 % of time by bytes · about 6.29 MB less than eager · 5 ops"
    assert own["eager"] == "5 calls: mul_4, mul_5, erf +2"
    assert own["against eager"] == "about 6.29 MB less: 10.5 MB by its calls, 4.19 MB here"
    assert facts(model)["g:op9"]["fusion saved"] == "2.11 MB: 4 scheduler nodes in one kernel"
    assert "fusion saved" not in facts(model)["g:op13"]
    chips = {each.name: (each.value, each.ids) for each in model.largest}
    assert chips["saved most by fusion"] == ("2.11 MB", ("g:op9",))
    assert chips["saved most against eager"] == ("about 6.29 MB", ("g:op14",))


def test_a_call_of_eager_in_several_launches_has_no_saving() -> None:
    model = transformer(eager_calls=(EagerCall("aten.both.default", ("erf", "add_6"), 8_000_000),)).model
    assert [each["eager"] for each in facts(model).values() if "eager" in each and "launch" in each] == [
        "1 call: both, in part"
    ] * 2
    assert not any("against eager" in each for each in facts(model).values())


def test_without_fusions_and_refusals_the_buttons_say_so() -> None:
    case = transformer()
    before = replace(case.schedule, after=case.schedule.before, rounds=())
    model = fusion_model(before, case.nodes, case.kernels)
    none = {each.name: (each.value, each.text, each.ids) for each in model.largest if not each.ids}
    assert none == {
        "saved most by fusion": ("nothing", "no nodes were fused", ()),
        "largest missed fusion": ("none", "torch refused no pair", ()),
    }
    assert fusion_frames(before, case.nodes, case.kernels)[-1].detail.endswith("each hull is one launch")


def test_the_largest_missed_fusion_is_one_that_could_save_bytes() -> None:
    case = transformer()
    apart = tuple(
        replace(each, rejected=tuple((first, second, "no shared data") for first, second, _ in each.rejected))
        for each in case.schedule.rounds
    )
    largest = transformer(rounds=apart).model.largest[-1]
    assert (largest.name, largest.value) == ("largest missed fusion", "none that saves bytes")


def test_a_fusion_names_its_module_and_the_loops_of_an_op_that_has_several() -> None:
    case = Case(TRACES / "transformer_block" / "trace.log", "inference")
    frames = fusion_frames(case.schedule, case.nodes, case.kernels)
    details = [frame.detail for frame in frames]
    loops = "norm1: var_mean (loop 1 of 3) with var_mean (loop 2 of 3): 4.10 kB less"
    assert {loops, "norm2: var_mean (loop 3 of 3) with sub, add, rsqrt +1: 1.05 MB less"} < {*details}
    at = details.index(loops)
    again = [node.id for node in case.model.nodes for pair in pairwise(node.joins) if pair[1] == (at, pair[0][1])]
    changed = [node.id for node in case.model.nodes for pair in pairwise(node.joins) if pair[1][0] == at]
    assert again == changed == ["n:var_mean"]
