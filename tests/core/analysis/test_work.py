"""What became of ops and traffic, in numbers and in words."""

import ast
from dataclasses import replace

import pytest

from core import load_text
from core.analysis.verdict import verdict
from core.analysis.work import (
    Traffic,
    Work,
    distinct_kernels,
    frame_of,
    traffic_of,
    work,
)
from core.report import (
    Buffer,
    Compilation,
    Frame,
    FxGraph,
    Kernel,
    KernelCall,
    Payload,
    Report,
    Schedule,
    SchedulerNode,
    Setting,
)
from core.report.model import Language
from core.views.header import verdict_facts
from core.views.verdict import counted_words, saved_words, sentence, traffic_words, work_words
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.reports.findings import frame as quiet_frame

FRAME = Frame("/m.py", 1, "forward")
TARGETS = {
    "torch.ops.aten.addmm.default": 2,
    "torch.ops.aten.reshape.default": 3,
    "torch.ops.aten.add.Tensor": 4,
    "torch.ops.higher_order.cond": 1,
    "operator.getitem": 1,
}


def graph(direction: str = "inference", targets: dict[str, int] = TARGETS) -> FxGraph:
    return FxGraph(f"g.{direction}", "inductor_post_grad_graph", direction, 0, Payload(0, 0), {}, targets)  # type: ignore[arg-type]


def kernel(name: str, *lines: int, extern: bool = False) -> Kernel:
    suffix = f"#{lines[0]}" if extern else ""
    language: Language = "extern" if extern else "cpp"
    return Kernel(
        id=f"0/0.inference.{name}{suffix}",
        name=name,
        direction="inference",
        language=language,
        extern=extern,
        category="",
        graph="",
        origins=(),
        nodes=(),
        lines=(1, 2),
        calls=tuple(map(KernelCall, lines)),
        stacks=(),
        output_code=Payload(0, 0),
    )


KERNELS = (kernel("cpp_fused_add_0", 3, 9, 12), kernel("mm", 5, extern=True), kernel("mm", 7, extern=True))


def scheduler_node(name: str, size: int, at_most: bool = False) -> SchedulerNode:
    bound = ("arg0",) if at_most else ()
    return SchedulerNode(
        name, "SchedulerNode", (name,), (), (("arg0", size),), (), (), None, "cpu", at_most=bound, iterations=1
    )


def schedule(before: int, after: int, at_most: bool = False, subgraph: str = "", one_count: bool = True) -> Schedule:
    nodes = [(scheduler_node("op0", size, at_most),) for size in (before, after)]
    return Schedule(0, "inference", nodes[0], nodes[1], (), (BUFFER,), {}, subgraph, one_count)


BUFFER = Buffer("arg0", "float32", ("10",), ("1",), True, False)


def compilation(name: str, *schedules: Schedule, graphs: tuple[FxGraph, ...] = (graph(),)) -> Compilation:
    kernels = tuple(replace(item, id=f"{name}.{item.id}") for item in KERNELS)
    return Compilation(name, FRAME, (), 1, "ok", "", graphs, (), None, (), schedules, kernels)


def said(*compilations: Compilation) -> tuple[str, ...]:
    report = Report(Setting(), compilations)
    facts = verdict_facts(verdict(report))
    return (sentence(verdict(report)), work_words(work(report)), *(f"{fact.value} {fact.label}" for fact in facts))


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Traffic(1000, 877, False), "12.3 % less memory traffic (1.00 kB → 877 B)"),
        (Traffic(1000, 877, True), "12.3 % less memory traffic (at most 1.00 kB → at most 877 B)"),
        (Traffic(1000, 1040, False), "4.00 % more memory traffic (1.00 kB → 1.04 kB)"),
        (Traffic(1000, 1000, False), "1.00 kB of memory traffic, unchanged"),
        (Traffic(0, 0, False), "0 B of memory traffic, unchanged"),
    ],
)
def test_traffic_is_less_or_more_and_a_bound_is_called_one(found: Traffic, words: str) -> None:
    assert traffic_words(found) == words


def test_a_title_has_ops_and_kernels_and_the_evidence_counts_views_and_launches() -> None:
    assert said(compilation("0/0", schedule(1000, 877))) == (
        "0 graphs, 0 graph breaks, 7 ops fused into 2 kernels.",
        "7 ops (and 4 views) fused into 5 launches of 2 kernels",
        "0 graphs",
        "7 post-grad ops → 2 kernels",
        "−12.3 % memory traffic",
    )


def test_kernels_are_distinct_functions_whatever_calls_them() -> None:
    assert distinct_kernels(KERNELS) == 2


def test_only_the_newest_compilation_of_a_frame_counts_and_the_evidence_names_it() -> None:
    first, again = compilation("0/0", schedule(500, 500)), compilation("0/1", schedule(1000, 900))
    assert said(first, again, compilation("1/0", schedule(1000, 700))) == (
        "0 graphs, 0 graph breaks, 14 ops fused into 3 kernels.",
        "14 ops (and 8 views) fused into 10 launches of 3 kernels in the newest compilation of each frame",
        "0 graphs",
        "14 post-grad ops → 3 kernels (newest compilations)",
        "−20.0 % memory traffic",
    )


def test_forward_and_backward_of_one_compilation_are_summed_and_named() -> None:
    both = compilation("0/0", schedule(10, 10), graphs=(graph("forward"), graph("backward")))
    assert work_words(work(Report(Setting(), (both,)))) == (
        "14 ops (and 8 views) of forward and backward fused into 5 launches of 2 kernels"
    )


def test_branches_are_left_out_of_the_traffic_and_that_is_reported() -> None:
    found = traffic_of([schedule(100, 90), schedule(40, 10, subgraph="true_graph_0"), schedule(9, 9, subgraph="f")])
    assert found == Traffic(100, 90, False, subgraphs=2)
    assert counted_words(found).endswith("; 2 subgraphs (branches, loop bodies) left out.")
    branches = compilation("0/0", schedule(100, 90), schedule(9, 1, subgraph="true_graph_0"))
    assert saved_words(work(Report(Setting(), (branches,))).traffic) == (
        "10.0 % less memory traffic outside of branches and loops"
    )


def test_a_log_whose_fused_nodes_were_counted_otherwise_has_no_traffic_to_compare() -> None:
    report = Report(Setting(), (compilation("0/0", schedule(66, 327, one_count=False)),))
    found = verdict(report)
    assert (found.work.traffic, found.work.uneven) == (None, True)
    assert sentence(found) == "0 graphs, 0 graph breaks, 7 ops fused into 2 kernels."
    assert [fact.value for fact in verdict_facts(found) if fact.label == "memory traffic"] == ["not comparable"]


@pytest.mark.parametrize(("after", "chip"), [(877, "−12.3 %"), (1040, "+4.00 %")])
def test_the_chip_says_the_same_number_as_the_evidence(after: int, chip: str) -> None:
    found = verdict(Report(Setting(), (compilation("0/0", schedule(1000, after)),)))
    assert [fact.value for fact in verdict_facts(found) if fact.label == "memory traffic"] == [chip]
    assert saved_words(found.work.traffic).startswith(chip.strip("−+"))


def test_a_run_without_graphs_says_nothing_of_kernels() -> None:
    nothing = work(Report(Setting()))
    assert nothing == Work(None, 0, None, 0, None, False, 0, ())
    assert work_words(nothing) == ""
    assert work_words(replace(nothing, ops=3)) == ""


def call_sites(code: str) -> tuple[set[str], int]:
    """The kernels that an output code calls, and how often, read as Python."""
    tree = ast.parse(code)
    called = [ast.unparse(node.func).removesuffix(".run") for node in ast.walk(tree) if isinstance(node, ast.Call)]
    made = [node for node in tree.body if isinstance(node, ast.Assign) and "async_compile." in ast.unparse(node.value)]
    defined = {ast.unparse(node.targets[0]) for node in made}
    kernels = [
        name for name in called if name in defined or name.startswith(("extern_kernels.", "aten.", "torch.ops."))
    ]
    return set(kernels), len(kernels)


@pytest.mark.parametrize(
    "scenario", ["transformer_block", "training_step", "control_flow", "graph_break_zoo", "foreign"]
)
def test_kernels_and_calls_are_those_that_the_output_code_makes(scenario: str) -> None:
    log = TRACES / scenario / "trace.log"
    for compilation in recorded_report(log).compilations:
        for output_code in {kernel.output_code for kernel in compilation.kernels}:
            ours = [kernel for kernel in compilation.kernels if kernel.output_code == output_code]
            told = distinct_kernels(ours), sum(len(kernel.calls) for kernel in ours)
            names, calls = call_sites(load_text(log, output_code))
            assert told == (len(names), calls)


def test_a_graph_of_compiled_autograd_is_no_frame_of_its_own() -> None:
    ids = ("0/1", "!8/2/1", "!9/2/2", "1:!3/0/0", "0")
    assert [frame_of(quiet_frame(name)) for name in ids] == ["0", "2", "2", "1:0", "0"]
