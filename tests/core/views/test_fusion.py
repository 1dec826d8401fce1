"""The fusion of a recorded transformer block in words, with the reasons of its refusals."""

import gzip
from dataclasses import replace
from pathlib import Path

import pytest

from core.analysis.speed import speed
from core.analysis.work import distinct_kernels, newest_compilations, work
from core.base.words import duration_s
from core.graph.model import HULLS
from core.report import DebugFile, EagerCall, Kernel, Payload, SchedulerNode
from core.trace.parsers.build import build_report
from core.views.fusion import INLINED, OUTSIDE, SIGNS, FusionRefusal, FusionView, RefusedPair, fusion_schedules
from core.views.glossary import GLOSSARY
from core.views.graph import GraphFrame
from core.views.progress import evidence
from core.views.tour import TourView
from tests.support.logs import recorded_report
from tests.support.places import ROOT, TRACES
from tests.support.reports.films import reader

INTERMEDIATE_NODES = "intermediate nodes between node1 & node2"


@pytest.fixture(scope="module")
def fusion() -> FusionView:
    log = TRACES / "transformer_block" / "trace.log"
    report = recorded_report(log)
    compilation = report.compilations[0]
    return FusionView(report, compilation, compilation.schedules[0], reader(log, compilation))


def test_the_title_counts_ops_launches_and_kernels(fusion: FusionView) -> None:
    assert fusion.name == "inference 0"
    assert fusion.title == "26 ops → 9 launches of 6 kernels: fusion saves 12.3 % of memory traffic."
    assert fusion.help == (
        f"{GLOSSARY['fusion']} 15 scheduler nodes (1 more without code), 6 fusions; the scheduler tried 2 rounds. "
        f"12.3 % less memory traffic (25.7 MB → 22.6 MB), by fusing scheduler nodes; {INLINED} "
        "Bytes that the scheduler nodes read and write, counted by the same rule before and after fusion. "
        f"{SIGNS}"
    )


def test_without_a_fusion_nothing_became_something_else(fusion: FusionView) -> None:
    schedule = replace(fusion.schedule, rounds=(), after=fusion.schedule.before)
    assert (
        replace(fusion, schedule=schedule).title == "26 ops → 9 launches of 6 kernels: fusion saves no memory traffic."
    )


def test_the_film_goes_from_the_ops_to_the_launches(fusion: FusionView) -> None:
    assert fusion.picture.size() == 27
    assert len(fusion.picture.frames) == 9
    assert fusion.picture.frames[0] == GraphFrame("Ops", "26 ops after decomposition; views are on the edges")
    amounts = (("count", "9 launches", 9 / 15), ("traffic", "22.6 MB moved", 22_565_888 / 25_740_288))
    hulls = "6 kernels; each hull is one launch; no node joined another since"
    assert fusion.picture.frames[-1] == GraphFrame("Kernels", hulls, amounts=amounts)
    assert fusion.picture.caption == "26 ops, 1 copy (computed again, laid out or filled)"


def test_ops_without_a_launch_are_named() -> None:
    log = TRACES / "symbols" / "trace.log"
    report = recorded_report(log)
    compilation = report.compilations[0]
    view = FusionView(report, compilation, compilation.schedules[0], reader(log, compilation))
    assert view.help.endswith(f" 2 ops without a launch: `ge`, `_assert_scalar`. {SIGNS}")


def test_nodes_are_titled_by_their_ops_and_kernels(fusion: FusionView) -> None:
    assert len(fusion.node_titles) == 10
    assert {name: fusion.node_titles[name] for name in ("op6", "op14", "op16")} == {
        "op6": "attention · scaled_dot_product_flash_attention · op6 · getitem",
        "op14": "TransformerBlock · gelu (kernel 3) · op14 · mul, erf, add",
        "op16": "TransformerBlock · add (kernel 4) · op16 · add",
    }


def test_a_refusal_has_torchs_reason_and_the_shared_memory(fusion: FusionView) -> None:
    bound = "fusing could save at most this much traffic (a bound, not a measurement)"
    assert fusion.pair == ("op9_op10_op11_op12", "op16")
    assert fusion.refusal(*fusion.pair) == FusionRefusal(
        "",
        ((1, "intermediate nodes between node1 & node2"),),
        f"They share 1.05 MB of buffers: {bound}.",
        "up · addmm, TransformerBlock · gelu (kernel 3), down · addmm",
    )
    refusal = fusion.refusal(*reversed(fusion.pair))
    assert refusal is not None
    assert refusal.lines == [
        "Others between them need a result of the first, and the second needs theirs.",
        r"Between them: up · addmm, TransformerBlock · gelu \(kernel 3\), down · addmm.",
        "Torch's words in round 1: `intermediate nodes between node1 & node2`",
    ]
    assert fusion.hulls(*fusion.pair) == ("g:op9", "g:op16")
    assert fusion.refusal("op16", "op16") is None
    assert FusionRefusal("", (), "").lines == ["The scheduler recorded no reason for this pair."]
    assert FusionRefusal("a_b", ((2, "c"),), "").lines == [r"a\_b", "Torch's words in round 2: `c`"]


def test_all_refused_pairs_are_listed_with_the_bytes_at_stake(fusion: FusionView) -> None:
    norm1, norm2 = "norm1 · layer_norm (kernel 1)", "norm2 · layer_norm, add (kernel 2)"
    assert [row[:-1] for row in fusion.refusals.texts(fusion.refusals.rows).rows] == [
        ("1.05 MB", "K2 with K4", "intermediate nodes", f"{norm2} with TransformerBlock · add (kernel 4)"),
        ("524 kB", "K1 with K2", "intermediate nodes", f"{norm1} with {norm2}"),
        ("524 kB", "K1 with K4", "intermediate nodes", f"{norm1} with TransformerBlock · add (kernel 4)"),
    ]
    assert {row[-1] for row in fusion.refusals.texts(fusion.refusals.rows).rows} == {INTERMEDIATE_NODES}
    assert fusion.refusal_counts == r"Refusals of all rounds: 24 × intermediate nodes between node1 \& node2."
    none = replace(fusion, schedule=replace(fusion.schedule, rounds=()))
    assert (none.refusals.rows, none.refusal_counts) == ([], "The scheduler refused no pair of nodes.")


def test_a_pair_without_an_equal_access_is_listed_last_with_no_bytes_at_stake(fusion: FusionView) -> None:
    first, second = (node.name for node in fusion.schedule.after[:2])
    row = RefusedPair((first, second), 262_144, "no shared data")
    assert not row.saves
    assert fusion.refusals.columns[0].text(row) == "0 B"


def test_no_launch_lies_between_itself_and_another(tmp_path: Path) -> None:
    log = tmp_path / "trace.log"
    log.write_bytes(gzip.decompress((ROOT / "tests/launches/network.log.gz").read_bytes()))
    report = build_report(log)
    compilation = next(each for each in report.compilations if each.schedules)
    view = FusionView(report, compilation, compilation.schedules[0], reader(log, compilation))
    refusal = view.refusal(*view.pair)
    assert refusal is not None
    assert refusal.between == (
        "layers.0 · cat, layers.0.msg · addmm, layers.0 · threshold_backward, relu +1 (kernel 3), layers.0.upd · addmm"
    )


def test_buffers_that_are_read_in_another_order_promise_no_saving() -> None:
    log = TRACES / "target_h100" / "trace.log"
    report = recorded_report(log)
    compilation = report.compilations[0]
    view = FusionView(report, compilation, compilation.schedules[1], reader(log, compilation))
    refusal = view.refusal("op0_op1", "op4")
    assert refusal is not None
    assert refusal.shared == (
        "None to save: both access 2.56 kB of the same buffers, but other parts or in another order."
    )
    assert refusal.between == ""


def test_the_kinds_of_two_nodes_explain_a_refusal_with_their_ops(fusion: FusionView) -> None:
    assert fusion.refusal("op4", "op16") == FusionRefusal(
        "op4 (addmm) is an extern kernel: nothing can be fused into a library call.",
        (),
        "They share no buffer.",
    )


def test_an_item_is_found_by_its_node_and_by_its_kernel(fusion: FusionView) -> None:
    kernel = fusion.kernel("s:op0")
    assert kernel is not None
    assert [fusion.kernel(item) for item in ("g:op0", f"k:{kernel.id}", "s:nowhere", None)] == [
        kernel,
        kernel,
        None,
        None,
    ]


def test_the_ir_of_an_op_and_of_a_kernel_is_torchs_text_of_that_node() -> None:
    report = recorded_report(TRACES / "transformer_block" / "trace.log")
    (compilation,) = report.compilations
    schedule = compilation.schedules[0]
    fused = next(node for node in schedule.after if len(node.nodes) > 1)
    texts = {
        "ir_pre_fusion.txt": "op0: SchedulerNode\nop0.writes = []\n\n\nop1: SchedulerNode\n",
        "ir_post_fusion.txt": f"op0: SchedulerNode\n\n\n{fused.name}: FusedSchedulerNode\nclass body\n",
    }
    files = tuple(DebugFile("0/0", 0, name, Payload(at, 1)) for at, name in enumerate(texts))
    view = FusionView(replace(report, debug_files=files), compilation, schedule, lambda _: ())

    def read(payload: Payload) -> str:
        return list(texts.values())[payload.offset]

    assert view.ir("n:op0", read) == "op0: SchedulerNode\nop0.writes = []"
    assert view.ir(f"k:{fused.kernel}", read) == f"{fused.name}: FusedSchedulerNode\nclass body"
    assert FusionView(report, compilation, schedule, lambda _: ()).ir("n:op0", read) == ""
    assert view.ir(None, read) == ""


def test_a_branch_is_drawn_without_the_ops_around_it() -> None:
    log = TRACES / "control_flow" / "trace.log"
    report = recorded_report(log)
    compilation = report.compilations[0]
    branch = next(schedule for schedule in compilation.schedules if schedule.subgraph == "true_graph_0")
    view = FusionView(report, compilation, branch, reader(log, compilation))
    labels = [node.label for node in view.picture.model.nodes]
    assert labels == ["abs", "add"]
    assert [node.id for node in view.picture.model.nodes] == ["n:true_graph_0/abs_1", "n:true_graph_0/add"]


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (2, "(1 call of ATen ops, about 45.1 MB), the launches move about 50.0 % less: 22.6 MB."),
        (1, "(1 call of ATen ops, about 22.6 MB), the launches move about as much: 22.6 MB."),
        (0.5, "(1 call of ATen ops, about 11.3 MB), the launches move about 100 % more: 22.6 MB."),
    ],
)
def test_the_help_has_the_traffic_against_eagers_calls(fusion: FusionView, factor: float, words: str) -> None:
    after = fusion.schedule.bytes_after
    assert after is not None
    calls = (EagerCall("aten.gelu.default", ("mul",), round(after * factor)),)
    view = replace(fusion, schedule=replace(fusion.schedule, eager_calls=calls))
    assert f" Compared with eager instead {words}" in view.help


def test_launches_and_what_is_outside_of_them_add_up_to_a_call() -> None:
    log = TRACES / "measured" / "trace.log"
    report = recorded_report(log)
    compilation = report.compilations[0]
    view = FusionView(report, compilation, compilation.schedules[0], reader(log, compilation))
    steady = speed(report.timing)
    assert steady is not None
    times = next(overlay for overlay in view.picture.model.overlays if overlay.name == "time")
    inside_s = sum(filter(None, times.values))
    *_, (_, call, of_call), (name, outside, of_outside) = view.picture.frames[-1].amounts
    assert steady.compiled_s * (1 - of_outside / of_call) == pytest.approx(inside_s)
    assert name == f"of the call {OUTSIDE}"
    rest = f"{duration_s(steady.compiled_s - inside_s)} outside kernels"
    assert (call, outside) == (f"{duration_s(steady.compiled_s)} a call", rest)
    assert f"one by one, {duration_s(inside_s)} together; a call takes {call[:-7]}, {outside[:-16]} of it" in view.help


@pytest.mark.parametrize("scenario", sorted(path.parent.name for path in TRACES.glob("*/trace.log")))
def test_all_pages_count_the_ops_launches_and_kernels_of_the_drawing(scenario: str) -> None:
    log = TRACES / scenario / "trace.log"
    report = recorded_report(log)
    counted = work(report)
    ops: list[str] = []
    launched: list[Kernel] = []
    for compilation in newest_compilations(report):
        kernels = {kernel.id: kernel for kernel in compilation.kernels}
        for schedule in fusion_schedules(compilation):
            if schedule.subgraph:
                continue
            model = FusionView(report, compilation, schedule, reader(log, compilation)).picture.model
            ops += [node.id for node in model.nodes if "@" not in node.id]
            hulls = [group for group in model.groups if group.kind in HULLS]
            launched += [kernels[link[2:]] for group in hulls for link in group.links if link.startswith("k:")]
    if scenario == "foreign":
        # Its kernels are C++, and torch's provenance tracking was off.
        assert launched == []
        return
    assert (len(launched), distinct_kernels(launched)) == (counted.calls, counted.kernels or 0)
    assert len(ops) == (counted.ops if launched else 0)
    if launched:
        words = f"{counted.ops} {'op' if counted.ops == 1 else 'ops'} "
        launches = f"{'1 launch' if counted.calls == 1 else f'{counted.calls} launches'} of {counted.kernels} kernel"
        stops = {stop.name: stop.facts for stop in TourView.of(report, lambda *_: ()).stops}
        facts = (stops["Inductor"][0], *(line.text for line in evidence(report) if line.page == "kernels"))
        for text in facts:
            assert text.startswith(words)
            assert launches in text
        assert stops["Kernels"][0].startswith(launches)


def test_two_launches_of_equal_code_are_not_one_kernel(fusion: FusionView) -> None:
    gelu, add = (next(node for node in fusion.schedule.after if node.name == name) for name in ("op14", "op16"))

    def renamed(nodes: tuple[SchedulerNode, ...]) -> tuple[SchedulerNode, ...]:
        return tuple(replace(node, kernel=gelu.kernel) if "op16" in node.nodes else node for node in nodes)

    kernels = tuple(
        replace(kernel, calls=(*kernel.calls, *kernel.calls)) if kernel.id == gelu.kernel else kernel
        for kernel in fusion.compilation.kernels
    )
    assert add.kernel != gelu.kernel
    twice = replace(
        fusion,
        schedule=replace(fusion.schedule, before=renamed(fusion.schedule.before), after=renamed(fusion.schedule.after)),
        compilation=replace(fusion.compilation, kernels=kernels),
    )
    refusal, once = (view.refusal("op14", "op16") for view in (twice, replace(twice, compilation=fusion.compilation)))
    assert refusal is not None
    assert once is not None
    assert refusal.because == "The scheduler tries only pairs that share a buffer; these two share none."
    assert once.because == "Both are already in one kernel: one function with their loops in sequence."
