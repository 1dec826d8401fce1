"""FX graphs of recorded runs in words: stages, a graph's title, and the facts of its nodes."""

from dataclasses import replace

from core.report import FxNode, Guard, Symbol, TensorMeta
from core.runs.store import Run
from core.views.fx_graph import FxGraphView, GraphStages, node_rows
from core.views.glossary import GLOSSARY
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.reports.films import reader


def fx_graph(graph_id: str) -> FxGraphView:
    directory = TRACES / "training_step"
    report = recorded_report(directory / "trace.log")
    compilation = report.compilations[0]
    graph = compilation.graph(graph_id)
    assert graph is not None
    nodes_of = reader(directory / "trace.log", compilation)
    return FxGraphView(Run("training_step", directory), report, compilation, graph, nodes_of)


def test_the_stages_go_forward_and_then_backward() -> None:
    stages = GraphStages(fx_graph("dynamo_output_graph").compilation.graphs)

    assert stages.first.id == "dynamo_output_graph"
    assert [(group.label, len(group.graphs), group.starts_lane) for group in stages.groups] == [
        ("Dynamo", 1, False),
        ("pre-grad", 2, False),
        ("joint", 1, False),
        ("forward", 1, False),
        ("post-grad", 2, False),
        ("backward", 1, True),
        ("post-grad", 2, False),
    ]


def test_a_graph_is_titled_by_its_ops_and_its_stage() -> None:
    captured = fx_graph("dynamo_output_graph")

    assert captured.title == "5 ops: captured by Dynamo."
    assert captured.help == f"{GLOSSARY['graph']} This graph has 14 nodes, inputs and outputs included."
    assert captured.first_kernel is None
    unparsed = replace(captured, graph=replace(captured.graph, ops={}))
    assert unparsed.title == "Not parsed: captured by Dynamo."


def test_a_lowered_graph_has_kernels_and_lines() -> None:
    lowered = fx_graph("inductor_post_grad_graph.forward")
    kernel = lowered.first_kernel

    assert kernel is not None
    assert kernel.name == "cpp_fused_native_layer_norm_0"
    assert lowered.own_lines["var_mean"] == 27
    links = {3: ("n:var_mean", f"k:{kernel.id}"), 4: ("n:getitem",)}
    assert {line: lowered.text_links("\ncode")[line] for line in links} == links
    assert {line: lowered.text_links("code")[line + 1] for line in links} == links


def test_a_node_has_all_that_was_recorded_of_it() -> None:
    lowered = fx_graph("inductor_post_grad_graph.forward")
    node = next(node for node in lowered.nodes if node.name == "getitem_1")

    assert lowered.node_rows(node) == {
        "name": "`getitem_1` call_function",
        "target": "`operator.getitem`",
        "value": "`f32[64, 1][1, 1]cpu`",
        "arguments": "`var_mean[1]`",
        "users": "`sub`, `output`",
        "line": "`logits = self.head(F.gelu(self.hidden(self.norm(x))))` at `model.py:27`",
        "module": "`L['self'].norm` `LayerNorm`",
        "kernel": "`cpp_fused_native_layer_norm_0`",
    }


def test_a_symbol_is_distinguished_from_one_whose_name_begins_alike() -> None:
    compilation = recorded_report(TRACES / "recompile_zoo" / "trace.log").compilations[0]
    symbols = (Symbol("s1", "L['x'].size()[0]", "8", ""), Symbol("s12", "L['x'].size()[1]", "9", ""))
    node = FxNode("x", "placeholder", "x", "", (), TensorMeta("f32", ("2*s12", "4")), 1)
    rows = node_rows(replace(compilation, symbols=symbols), [node], node)
    assert rows["symbols"] == "`s12` = `L['x'].size()[1]`, first `9`"


def test_an_input_with_many_guards_names_the_first_and_counts_the_others() -> None:
    compilation = recorded_report(TRACES / "recompile_zoo" / "trace.log").compilations[0]
    node = FxNode("l_x_", "placeholder", "L_x_", "", (), None, 1)
    for count, more in ((8, ""), (9, " and 1 more"), (20, " and 12 more")):
        guards = tuple(Guard("K", "L['x']", str(number), 1) for number in range(count))
        rows = node_rows(replace(compilation, guards=guards), [node], node)
        assert rows["guards"] == ", ".join(f"`K {number}`" for number in range(8)) + more
    assert node_rows(replace(compilation, guards=()), [node], node)["guards"] == "none that names it"
    assert "guards" not in node_rows(compilation, [node], replace(node, op="output"))


def test_many_users_are_counted() -> None:
    compilation = recorded_report(TRACES / "recompile_zoo" / "trace.log").compilations[0]
    node = FxNode("x", "placeholder", "x", "", (), None, 1)
    users = [FxNode(f"u{number}", "call_function", "f", "x", ("x",), None, 1) for number in range(14)]
    named = ", ".join(f"`u{number}`" for number in range(12))
    assert node_rows(compilation, [node, *users], node)["users"] == f"{named} and 2 more"
    assert node_rows(compilation, [node, *users[:12]], node)["users"] == named


def test_each_lowered_graph_has_torchs_script_and_the_others_have_the_first() -> None:
    forward, backward = (fx_graph(f"inductor_post_grad_graph.{name}").runnable for name in ("forward", "backward"))
    assert forward is not None
    assert backward is not None
    assert forward.offset < backward.offset
    assert fx_graph("dynamo_output_graph").runnable == forward
    captured = fx_graph("dynamo_output_graph")
    without = replace(captured, report=replace(captured.report, debug_files=()))
    assert without.runnable is None


def test_a_graph_whose_script_is_missing_does_not_get_that_of_another() -> None:
    lowered = fx_graph("inductor_post_grad_graph.forward")
    files = tuple(file for file in lowered.report.debug_files if file.text != lowered.runnable)
    assert len(files) == len(lowered.report.debug_files) - 1
    assert replace(lowered, report=replace(lowered.report, debug_files=files)).runnable is None


def test_a_script_to_edit_has_no_paths_of_the_machine_that_wrote_it() -> None:
    written = "\nimport os\nos.environ['TORCH_TRACE'] = '/t'\nos.environ['TRITON_CACHE_DIR'] = '/c'\nimport torch\n"
    assert FxGraphView.edited_script(written) == (
        "import os\n# os.environ['TORCH_TRACE'] = '/t'\n# os.environ['TRITON_CACHE_DIR'] = '/c'\nimport torch\n"
    )


def test_a_node_knows_what_it_came_from_and_what_it_became() -> None:
    text = '{"postToPre": {"permute": ["linear"]}, "preToPost": {"linear": ["permute", "addmm"], "odd": 3}}'
    lowered, captured = fx_graph("inductor_post_grad_graph.forward"), fx_graph("dynamo_output_graph")
    assert lowered.mapped_nodes(text, "permute") == {"came from": "`linear`"}
    assert captured.mapped_nodes(text, "linear") == {"became": "`permute`, `addmm`"}
    assert captured.mapped_nodes(text, "odd") == lowered.mapped_nodes("no JSON", "permute") == {}


def test_the_map_of_nodes_is_that_of_the_graphs_direction() -> None:
    forward, backward = (fx_graph(f"inductor_post_grad_graph.{name}").node_map for name in ("forward", "backward"))
    assert forward is not None
    assert backward is not None
    assert forward.offset < backward.offset
    assert fx_graph("dynamo_output_graph").node_map == forward
    assert fx_graph("aot_joint_graph").node_map is None


def test_only_the_forward_graph_has_aotautograds_metadata() -> None:
    compilation = fx_graph("dynamo_output_graph").compilation
    logged = {graph.id: fx_graph(graph.id).metadata for graph in compilation.graphs}
    assert {graph_id for graph_id, text in logged.items() if text is not None} == {"aot_forward_graph"}
    assert logged["aot_forward_graph"] == compilation.aot_metadata[0].text
