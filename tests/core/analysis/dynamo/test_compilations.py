"""The tree of compilations: what belongs to what, and the sentence that says which of them is the model."""

from dataclasses import replace
from itertools import pairwise

import pytest

from core.analysis.dynamo.compilations import Entry, compilation_tree, flattened
from core.report import Report, Setting
from core.views.compilations import tree_sentence
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.reports.findings import QUIET, frame
from tests.support.reports.generating import GENERATING, HELPERS, MODELS


def shape(entries: tuple[Entry, ...]) -> list[str]:
    return [f"{'  ' * depth}{entry.id} {entry.kind}" for depth, entry in flattened(entries)]


def test_of_28_compilations_it_says_which_are_the_model_and_how_many_are_helpers() -> None:
    entries = compilation_tree(GENERATING)
    assert len(list(flattened(entries))) == len(GENERATING.compilations) == 28
    # 20 of 358 ops are more than a twentieth: what goes on in `generate` is no helper.
    assert tree_sentence(entries) == ("28 compilations: `GPT` in 4 of them and 24 small helpers (16 without a graph).")


def test_what_goes_on_and_what_is_compiled_again_is_below_its_function_and_that_below_its_caller() -> None:
    report = replace(GENERATING, compilations=MODELS)
    assert shape(compilation_tree(report)) == [
        "0/0 frame",
        "  1/0 frame",
        "    2/0 resume",
        "    3/0 frame",
        "      4/0 frame",
        "        4/1 recompile",
        "5/0 frame",
    ]


def test_an_entry_has_the_numbers_of_its_compilation_alone() -> None:
    by_id = {entry.id: entry for _, entry in flattened(compilation_tree(GENERATING))}
    entries = [by_id[number] for number in ("1/0", "4/0", "4/1")]
    told = [(entry.ops, entry.breaks, entry.recompiles, entry.seconds) for entry in entries]
    assert told == [(0, 1, 0, None), (98, 0, 1, 7.5), (102, 0, 0, 5.0)]
    assert (by_id["5/0"].status, by_id["4/1"].status, by_id["14/0"].status) == ("given up", "ok", "empty")


@pytest.mark.parametrize(
    ("scenario", "sentence"),
    [
        ("transformer_block", "1 compilation: `TransformerBlock.forward`."),
        (
            "foreign",
            "3 compilations: `Classifier` and 2 resume functions after its graph breaks; 3 more after "
            "`torch.compiler.reset`.",
        ),
        ("recompile_zoo", "9 compilations: `Zoo`, 7 recompiles of it and 1 without a graph."),
        ("graph_break_zoo", "15 compilations: 9 in 5 functions and 6 without a graph."),
        ("refused", "1 compilation: `model`, without a graph."),
    ],
)
def test_a_recorded_run_is_reported_in_a_sentence(scenario: str, sentence: str) -> None:
    report = recorded_report(TRACES / scenario / "trace.log")
    entries = compilation_tree(report)
    assert tree_sentence(entries) == sentence
    assert sorted(entry.id for _, entry in flattened(entries)) == sorted(found.id for found in report.compilations)


def test_a_break_names_who_called_where_torch_leaves_the_caller_out_of_the_stack() -> None:
    entries = compilation_tree(recorded_report(TRACES / "graph_break_zoo" / "trace.log"))
    assert shape(entries)[:7] == [
        "0/0 frame",
        "  3/0 resume",
        "  6/0 resume",
        "  9/0 resume",
        "  12/0 resume",
        "  1/0 frame",
        "    2/0 resume",
    ]


def test_functions_that_call_each_other_are_below_one_another_once() -> None:
    one, other = MODELS[0], replace(MODELS[1], stack=(MODELS[0].frame, MODELS[1].frame))
    one = replace(one, stack=(other.frame, one.frame))
    assert shape(compilation_tree(replace(QUIET, compilations=(one, other)))) == ["1/0 frame", "  0/0 frame"]


def test_a_resume_function_whose_function_was_not_compiled_is_alone() -> None:
    report = replace(QUIET, compilations=(MODELS[2], frame("3/0", "other")))
    assert shape(compilation_tree(report)) == ["2/0 resume", "3/0 frame"]


def test_below_its_function_an_entry_need_not_name_it_again() -> None:
    by_id = {entry.id: entry.brief for _, entry in flattened(compilation_tree(GENERATING))}
    assert [by_id[number] for number in ("1/0", "2/0", "4/1")] == ["GPT.generate", "after line 2845", "compiled again"]
    (alone, _) = compilation_tree(replace(QUIET, compilations=(MODELS[2], frame("3/0", "other"))))
    assert alone.brief == "generate, after line 2845"


def test_where_nothing_was_compiled_it_says_so() -> None:
    assert compilation_tree(Report(Setting())) == ()
    assert tree_sentence(()) == "Nothing was compiled."


def test_helpers_that_all_captured_nothing_are_reported_as_that() -> None:
    report = replace(GENERATING, compilations=(*MODELS, *HELPERS[-3:]))
    assert tree_sentence(compilation_tree(report)).endswith("and 6 without a graph.")


def test_a_log_may_hold_thousands_of_functions_that_call_each_other() -> None:
    chain = [frame(f"{number}/0", f"f{number}") for number in range(3_000)]
    called = [replace(below, stack=(above.frame, below.frame)) for above, below in pairwise(chain)]
    entries = compilation_tree(replace(QUIET, compilations=(chain[0], *called)))
    depths = [depth for depth, _ in flattened(entries)]
    assert (len(depths), max(depths)) == (3_000, 63)
