"""Questions about recorded runs, as users write them, answered by the pages' blocks."""

from pathlib import Path

import pytest

from core.report import as_json
from core.runs.stored import side_of_log
from core.views.answers import MOST_GUARDS
from core.views.blocks import Block, Fold, Picks, Table, Title, words
from core.views.dynamic_shapes import SELECT, dynamic_shapes
from core.views.fixes import FixesView
from core.views.graph_breaks import GraphBreaksView
from core.views.guards import GuardsView
from core.views.kernels.ledger import KernelsView
from core.views.memory import memory
from core.views.numerics import NOT_RECORDED
from core.views.printed import as_data, as_text
from core.views.recompiles import RecompilesView
from core.views.speedup import SpeedupView
from core.views.why import ASK, FORMS, RunAnswer, why
from tests.support.logs import recorded_side
from tests.support.numerics import EXACT, GRAPH, RIGHT, WRONG, numerics_log
from tests.support.places import TRACES

SCENARIOS = sorted(path.parent.name for path in TRACES.glob("*/trace.log"))


def ask(scenario: str, question: str) -> RunAnswer:
    return why(recorded_side(TRACES / scenario / "trace.log"), question)


def text(scenario: str, question: str) -> str:
    return "\n".join(as_text(ask(scenario, question).blocks))


def titles(blocks: tuple[Block, ...]) -> list[str]:
    return [words(block.prose) for block in blocks if isinstance(block, Title)]


@pytest.mark.parametrize(
    ("question", "form"),
    [
        ("why break 1", "break 1"),
        ("Why is there a graph break at line 31?", "break 1"),
        ("break in 'rescale'", "break 1"),
        ("WHAT BROKE THE GRAPH", "break 1"),
        ("why was rescale not compiled", "skipped"),
        ("which frames run eagerly", "skipped"),
        ("why did it fail", "skipped"),
        ("what does torch do at line 31", "line 41"),
        ("model.py:31", "line 41"),
        ("why is line 31 slow", "line 41"),
        ("why kernel 1", "kernel 3"),
        ("which ops are in cpp_fused_mean_0", "kernel 3"),
        ("why is output 0 wrong", "output 0"),
        ("does it differ from eager", "output 0"),
        ("why is it so slow?", "slow"),
        ("what takes so long", "slow"),
        ("why not fuse add mul", "not fuse relu_3 mul_7"),
        ("why is the linear layer unfused", "not fuse relu_3 mul_7"),
        ("why recompile", "recompile 0/3"),
        ("why guards", "guards of 0/1"),
        ("which guards mention x", "guards of 0/1"),
        ("why is s0 dynamic", "dynamic s0"),
        ("dynamic shapes", "dynamic s0"),
        ("why does it need so much memory", "memory"),
        ("peak of 0/0", "memory"),
    ],
)
def test_a_question_has_the_form_of_its_words(question: str, form: str) -> None:
    assert next(each.example for each in FORMS if each.asks.search(question.casefold())) == form


def test_every_form_is_that_of_its_own_example() -> None:
    assert [next(each for each in FORMS if each.asks.search(form.example)) for form in FORMS] == [*FORMS]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_every_form_has_an_answer_in_every_scenario(scenario: str) -> None:
    side = recorded_side(TRACES / scenario / "trace.log")
    for form in FORMS:
        for question in (form.example, form.example.rpartition(" ")[0], f"{form.example} of 7:7/7 x_1 'ü'"):
            answer = why(side, question)
            assert [*as_text(answer.blocks)]
            assert as_json(as_data(answer.blocks))


@pytest.mark.parametrize("question", ["what is the weather", "why", "why linear layer", ""])
def test_any_other_question_lists_the_forms(question: str) -> None:
    answer = ask("graph_break_zoo", question)
    assert (answer.form, titles(answer.blocks)) == ("", [ASK])
    (table,) = as_data(answer.blocks[1:])
    assert table["rows"] == [[form.example, form.words] for form in FORMS]


def test_a_graph_break_is_the_card_of_its_page_without_torchs_registry() -> None:
    side = recorded_side(TRACES / "graph_break_zoo" / "trace.log")
    cards = GraphBreaksView(side.report)
    for number, cost in enumerate(cards.costs, 1):
        page = cards.card(number, cost, FixesView.of_side(side)).blocks
        entry = cost.graph_break.registry_id
        shown = [each for each in page if not (isinstance(each, Fold) and words(each.title).startswith(entry))]
        assert as_data(ask("graph_break_zoo", f"why break {number}").blocks) == as_data(shown)
        assert len(shown) == len(page) - 1


@pytest.mark.parametrize(
    "question", ["break at line 31", "why does model.py:31 break", "graph break in rescale", "BREAK 1"]
)
def test_a_question_names_a_graph_break_by_its_line_its_function_or_its_number(question: str) -> None:
    assert as_data(ask("graph_break_zoo", question).blocks) == as_data(ask("graph_break_zoo", "why break 1").blocks)


def test_of_several_graph_breaks_the_most_expensive_is_in_full_and_the_others_in_two_lines() -> None:
    every = [*as_text(ask("graph_break_zoo", "why does the graph break").blocks)]
    heads = [line for line in every if line[:2] in {f"{number}." for number in range(1, 6)}]
    assert len(heads) == 5
    assert len(every) == len([*as_text(ask("graph_break_zoo", "break 1").blocks)]) + 2 * 4


def test_a_graph_break_that_the_run_does_not_have_names_those_that_it_has() -> None:
    assert ask("graph_break_zoo", "break 9").form == ""
    assert text("graph_break_zoo", "break 9") == (
        "No graph break fits. The breaks are 1 at model.py:31, 2 at model.py:20, 3 at model.py:36, 4 at model.py:25, "
        "5 at model.py:41."
    )
    assert text("graph_break_zoo", "break in rescal").endswith("did you mean rescale?")
    assert titles(ask("transformer_block", "break 1").blocks) == [
        "No graph break: Dynamo captured each frame as one graph."
    ]


def test_a_recompile_is_that_of_its_page() -> None:
    view = RecompilesView(recorded_side(TRACES / "recompile_zoo" / "trace.log").report)
    (tree,) = view.trees("0/3")
    assert tree.shown is not None
    page, answer = as_data(view.details(tree.shown)), as_data(ask("recompile_zoo", "why recompile 0/3").blocks)
    assert answer[: len(page)] == page
    assert any(block["kind"] == "listing" and block["language"] == "diff" for block in answer[len(page) :])
    assert as_data(ask("recompile_zoo", "recompile [0/3]?").blocks) == answer


@pytest.mark.parametrize("question", ["recompile of forward", "why does `Zoo.forward` recompile all the time"])
def test_the_recompiles_of_a_function_are_its_tree_and_the_longest_in_full(question: str) -> None:
    lines = text("recompile_zoo", question).splitlines()
    rows = [line.partition("]")[0].rpartition("[")[2] for line in lines if line.startswith(("[0/0]  ", "↳"))]
    assert rows == [f"0/{number}" for number in range(9)]
    assert "[0/6] → [0/7] took 1.82 s" in lines


def test_a_question_names_recompiles_by_the_line_that_needs_the_guard() -> None:
    assert "Failed guard:\n  self.mode == 'sin'" in text("recompile_zoo", "why recompile at line 25")
    assert titles(ask("recompile_zoo", "recompile at line 3").blocks) == titles(
        ask("recompile_zoo", "recompile").blocks
    )


def test_an_unknown_compilation_is_no_answer_and_a_lone_one_has_no_failed_guard() -> None:
    assert text("recompile_zoo", "recompile 0/99").startswith("There is no compilation or function `0/99` in this run")
    assert text("transformer_block", "recompile 0/0").startswith("No guard failed: `0/0`")


def test_two_nodes_have_torchs_reason_why_they_are_not_fused() -> None:
    assert text("transformer_block", "why not fuse op16 with op9").splitlines() == [
        "`op16` and `op9` are not fused, in [0/0] inference 0",
        "- TransformerBlock · add (kernel 4) · op16 · add",
        "- norm2 · layer_norm, add (kernel 2) · op9 and 3 more · add, var_mean, add, var_mean, sub, rsqrt",
        "- Others between them need a result of the first, and the second needs theirs.",
        "- Between them: up · addmm, TransformerBlock · gelu (kernel 3), down · addmm.",
        "- Torch's words in round 1: `intermediate nodes between node1 & node2`",
        "They share 1.05 MB of buffers: fusing could save at most this much traffic (a bound, not a measurement).",
    ]


def test_two_nodes_that_torch_never_compared_have_the_launches_between_them() -> None:
    lines = text("transformer_block", "not fuse op14 op16").splitlines()
    assert lines[-2:] == [
        "- The scheduler tries only pairs that share a buffer; these two share none.",
        "- Between them: down · addmm.",
    ]


@pytest.mark.parametrize(
    "names", ["mul_6 add_6", "cpp_fused_gelu_view_2 cpp_fused_add_view_3", "gelu add_6", "op14 op16", "erf and add_6"]
)
def test_a_node_is_named_as_in_any_graph_or_by_its_kernel(names: str) -> None:
    assert "- Between them: down · addmm." in text("transformer_block", f"why aren't {names} fused?")


def test_a_module_or_an_op_names_its_launches() -> None:
    lines = text("transformer_block", "why are norm2 and scaled_dot_product_flash_attention not fused").splitlines()
    assert (
        lines[1] == "- norm2 · layer_norm, add (kernel 2) · op9 and 3 more · add, var_mean, add, var_mean, sub, rsqrt"
    )
    assert "extern kernel" in lines[3]


def test_a_matmul_of_a_library_comes_with_what_can_fuse_into_it() -> None:
    assert text("transformer_block", "why not fuse gelu with addmm_2").splitlines()[-2:] == [
        "- op13 (addmm) is an extern kernel: nothing can be fused into a library call.",
        "- Templates, such as those of `max-autotune`, can fuse the ops after a matmul.",
    ]


def test_fused_nodes_and_nodes_of_two_graphs_are_recognised() -> None:
    assert text("transformer_block", "not fuse erf mul_6").splitlines() == [
        "`erf` and `mul_6` are fused, in [0/0] inference 0",
        "- TransformerBlock · gelu (kernel 3) · op14 · mul, erf, add",
    ]
    assert titles(ask("training_step", "not fuse sum_3 mm_1").blocks) == [
        "`sum_3` and `mm_1` are in different graphs: [0/0] forward 0 and [0/0] backward 0"
    ]


def test_a_name_that_no_graph_has_offers_similar_ones() -> None:
    assert text("transformer_block", "not fuse mul_66 op14").endswith(
        "did you mean mul_6 or mul_5 or mul_4 or mul_3 or mul_2?"
    )
    assert ask("transformer_block", "why kernel 99").form == ""
    assert text("transformer_block", "why kernel 99") == ("There is no kernel `99` in this run; there are 1, 2, 3, 4")


def test_a_kernel_has_its_cost_its_ops_and_why_it_ends() -> None:
    side = recorded_side(TRACES / "measured" / "trace.log")
    answer = ask("measured", "why kernel 3")
    ledger, ops = (block for block in answer.blocks if isinstance(block, Table))
    rows = KernelsView.load(side.report, side.report.compilations[0], side.text).rows
    assert [row.id for row in ledger.rows] == [row.id for row in rows if row.name == "cpp_fused_gelu_view_2"]
    code = "x = x + self.down(F.gelu(self.up(self.norm2(x))))"
    assert as_data([ops])[0]["rows"] == [["mul_4, mul_5, erf, add_5, mul_6", "model.py:47", code, "L['self']"]]
    fixed = "is an extern kernel: nothing can be fused into a library call."
    assert text("measured", "why kernel 3").splitlines()[-2:] == [
        f"- Before it: up · addmm · op13 · addmm. op13 (addmm) {fixed}",
        f"- After it: down · addmm · op15 · addmm. op15 (addmm) {fixed}",
    ]
    by_name = as_data(ask("measured", "what is `cpp_fused_gelu_view_2`").blocks)
    assert by_name == as_data(answer.blocks)


def test_a_kernel_number_belongs_to_the_named_graph() -> None:
    assert " in [0/0] backward 0: " in titles(ask("training_step", "why kernel 1 of the backward").blocks)[0]
    assert " in [0/0] forward 0: " in titles(ask("training_step", "why kernel 1").blocks)[0]


def test_a_kernel_without_number_or_name_is_the_most_expensive_and_unused_words_are_named() -> None:
    answer = ask("measured", "which kernel is slowest")
    assert titles(answer.blocks)[0].startswith("up · addmm in [0/0] inference 0: 1.44 ms")
    assert [*as_text(answer.blocks)][-1] == "Words without a use here: `slowest`."
    assert text("graph_break_zoo", "why break 1 in heaven").endswith("Words without a use here: `heaven`.")
    assert "without a use" not in text("recompile_zoo", "why does forward recompile")


def test_a_misspelt_op_offers_the_op() -> None:
    assert "did you mean layer_norm or " in text("transformer_block", "why is layernorm not fused")
    assert text("transformer_block", "not fuse layernorm gelu").startswith("There is no op, scheduler node or kernel")


def test_a_line_of_another_file_is_named_without_its_folders() -> None:
    assert titles(ask("foreign", "line 12 of script.py").blocks)[0].startswith("`script.py:12`: ")
    assert text("transformer_block", "line 47 of nowhere.py").startswith("`nowhere.py:47`: nothing was recorded")


def test_a_run_without_kernels_says_why() -> None:
    assert titles(ask("eager_backend", "why not fuse relu_1 and mul_2").blocks) == ["This run has no kernel"]
    assert titles(ask("eager_backend", "why kernel 1").blocks) == ["This run has no kernel"]
    assert titles(ask("eager_backend", "why not fuse").blocks) == ["This run has no kernel"]


def test_a_line_has_its_ops_kernels_breaks_and_guards() -> None:
    answer = ask("transformer_block", "what does torch do at line 47")
    assert titles(answer.blocks) == ["`model.py:47`: 23 ops, 5 kernels"]
    (ops,) = (block for block in answer.blocks if isinstance(block, Table))
    assert {row.line for row in ops.rows} == {"model.py:47"}
    gelu = next(row for row in ops.rows if row.launch == "gelu (kernel 3)")
    assert gelu.nodes == ["mul_4", "mul_5", "erf", "add_5", "mul_6"]
    assert "1 graph break" in titles(ask("graph_break_zoo", "line 31").blocks)[0]
    assert "recompile" in titles(ask("recompile_zoo", "line 26").blocks)[0]


def test_a_line_without_a_record_names_lines_nearby() -> None:
    lines = text("transformer_block", "line 20 of model.py").splitlines()
    assert lines[:2] == ["`model.py:20`: nothing was recorded", "`super().__init__()`"]
    assert lines[2].endswith("Lines nearby with ops: 27, 28, 29, 30, 46.")


def test_results_are_compared_with_eager_and_an_answer_says_what_was_not_recorded() -> None:
    lines = text("measured", "why is output 0 wrong").splitlines()
    assert lines[0].startswith("Compared with eager: same (1 input, ")
    assert lines[-1] == NOT_RECORDED


def test_results_that_differ_come_with_their_distance_from_float64_and_the_first_node(tmp_path: Path) -> None:
    log = tmp_path / "trace.log"
    log.write_bytes(numerics_log(("output[0]", EXACT), ("output[1]", WRONG), ("loss", RIGHT), graph=GRAPH))
    side = side_of_log(log)
    answer = why(side, "why is output 1 wrong")
    results, nodes = (block for block in answer.blocks if isinstance(block, Table))
    assert [row.what for row in results.rows] == ["output[1]"]
    assert [row.node.name for row in nodes.rows] == ["gelu"]
    lines = [*as_text(answer.blocks)]
    assert "Compiled is wrong in output[1]: off by 0.500 of the norm in float64, eager by 1.00e-7." in lines
    assert any(line.startswith("2 of 4 nodes differ, first `gelu`") for line in lines)
    every = next(block for block in why(side, "what is wrong").blocks if isinstance(block, Table))
    assert [row.what for row in every.rows] == ["output[1]", "loss", "output[0]"]


def test_the_costs_begin_with_the_speedup_and_the_most_expensive_findings() -> None:
    side = recorded_side(TRACES / "measured" / "trace.log")
    answer = ask("measured", "why is it slow")
    assert titles(answer.blocks) == ["1.29× faster than eager (1.27–1.30), pays off after 600–660 calls."]
    lines = [*as_text(answer.blocks)]
    assert SpeedupView(side.report).title in lines[1]
    kernels = KernelsView.load(side.report, side.report.compilations[0], side.text)
    assert kernels.title in "\n".join(lines)
    assert next(block.rows for block in answer.blocks if isinstance(block, Table)) == kernels.rows[:5]


def test_an_unmeasured_run_says_how_to_measure_it() -> None:
    assert "`python -m core measure RUN` times" in text("transformer_block", "why slow")


def test_a_failed_run_has_its_error_and_what_helps() -> None:
    lines = text("refused", "why was it not compiled").splitlines()
    assert lines[0] == "Dynamo failed: Unsupported: Call to `torch._dynamo.graph_break()`."
    assert any(line.strip() == "torch.compile(model)" for line in lines)
    assert titles(ask("transformer_block", "skipped").blocks) == [
        "No graph break: Dynamo captured each frame as one graph."
    ]


def test_guards_that_mention_a_word_come_with_the_first_of_them_in_full() -> None:
    side = recorded_side(TRACES / "recompile_zoo" / "trace.log")
    compilation = next(each for each in side.report.compilations if each.id == "0/1")
    view = GuardsView(side.report, compilation)
    blocks = why(side, "which guards of 0/1 mention x").blocks
    rows = view.matches(None, "x")
    (table,) = (block for block in blocks if isinstance(block, Table))
    assert [*table.rows] == rows[:MOST_GUARDS]
    assert words(blocks[0].prose) == view.title  # type: ignore[union-attr]
    assert as_data(blocks)[-len(as_data(view.details(rows[0]))) - 1 : -1] == as_data(view.details(rows[0]))


def test_a_symbol_is_shown_as_on_its_page() -> None:
    side = recorded_side(TRACES / "recompile_zoo" / "trace.log")
    compilation = next(each for each in side.report.compilations if len(each.symbols) > 1)
    name = compilation.symbols[1].name
    page = dynamic_shapes(side.report, compilation, None, Picks(texts={SELECT: name}))
    assert as_data(why(side, f"why is {name} dynamic in {compilation.id}").blocks) == as_data(page)
    unknown = "\n".join(as_text(why(side, f"dynamic s999 of {compilation.id}").blocks))
    assert "no symbol `s999`" in unknown
    assert name in unknown


def test_memory_is_answered_by_its_page() -> None:
    side = recorded_side(TRACES / "measured" / "trace.log")
    page = as_data(memory(side.report, side.report.compilations[0], side.text))
    assert as_data(why(side, "memory").blocks) == page


@pytest.mark.parametrize("question", ["guards of 7/7", "memory of 7/7", "dynamic 7/7"])
def test_an_unknown_compilation_is_named_with_those_of_the_run(question: str) -> None:
    answer = text("measured", question)
    assert "no compilation `7/7`" in answer
    assert "0/0" in answer
