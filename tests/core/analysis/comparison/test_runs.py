"""Two runs held against each other: recorded logs, and literal reports of them with one thing changed."""

import json
from dataclasses import replace
from typing import Any

import pytest

from core.analysis.comparison.matching import RunSide, SourceDifference
from core.analysis.comparison.run import KeyDifference, RunComparison, cache_pairs, compare_runs
from core.report import CacheEvent, Call, Difference, Load, MemoryUse, Payload, Report, Setting, SideTimes
from core.views.comparison import comparison_sentence, differences_line, seconds_words
from tests.record import SCENARIOS
from tests.support.logs import recorded_side
from tests.support.places import TRACES


def side(name: str) -> RunSide:
    return recorded_side(TRACES / name / "trace.log")


def asked(found: RunSide, **fields: Any) -> RunSide:
    """The run with other fields of its job."""
    setting = found.report.setting
    return replace(found, report=replace(found.report, setting=replace(setting, job={**(setting.job or {}), **fields})))


def timed(found: RunSide, compiled_s: float, eager_s: float = 2e-3) -> RunSide:
    """The run with a steady state of so many seconds, two percent of noise on each."""
    noise = [1 + 0.01 * ((7 * at) % 5 - 2) for at in range(24)]
    timing = SideTimes(
        {"eager": tuple(eager_s * one for one in noise), "compiled": tuple(compiled_s * one for one in noise[::-1])}
    )
    return replace(found, report=replace(found.report, timing=timing))


def compared(left: RunSide, right: RunSide) -> tuple[RunComparison, str]:
    found = compare_runs(left, right)
    return found, comparison_sentence(found)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_run_does_not_differ_from_itself(name: str) -> None:
    found, words = compared(side(name), side(name))
    assert words.startswith("No difference: ")
    assert (found.options, found.sources or ()) == ((), ())
    assert [figure.name for figure in found.figures if figure.differs] == []
    assert all(graph.same for pair in found.compilations for graph in pair.graphs)
    assert all(pair.both for pair in found.breaks)
    assert all(pair.both for pair in found.recompiles)
    assert {pair.differs for item in found.compilations if item.kernels for pair in item.kernels.pairs} <= {()}


def test_the_sentence_shows_what_the_right_run_has_more_and_less_of() -> None:
    zoo, words = compared(side("graph_break_zoo"), side("transformer_block"))
    assert [pair.right for pair in zoo.breaks] == [None] * len(zoo.breaks)
    assert words.startswith("5 graph breaks gone, 8 fewer graphs, ")
    _, back = compared(side("transformer_block"), side("graph_break_zoo"))
    assert back.startswith("5 new graph breaks, 8 more graphs, ")


def test_a_backend_that_generates_no_kernel_is_compared_by_its_graphs() -> None:
    _, words = compared(side("transformer_block"), side("eager_backend"))
    assert "no kernels on the right" in words.lower()


def test_repairs_are_reported_in_words() -> None:
    block = side("transformer_block")
    repaired = asked(block, repairs=[["keep_tensor:17", "capture_scalars"], ["print:4"]])
    assert [(item.name, item.left, item.right) for item in compare_runs(block, repaired).options] == [
        ("repairs", "", "keep tensor at line 17, capture scalars, print at line 4")
    ]


def test_other_options_that_change_nothing_are_said_to() -> None:
    block = side("transformer_block")
    options = {**(block.report.setting.job or {})["compile"], "options": {"epilogue_fusion": False}}
    found, words = compared(block, asked(block, compile=options))
    assert [(item.name, item.left, item.right) for item in found.options] == [("options.epilogue_fusion", "", "False")]
    assert words == "Options differ, but breaks, graphs, guards and kernels are the same."


def test_what_an_older_log_does_not_hold_was_as_it_is_by_default() -> None:
    block = side("transformer_block")
    new: dict[str, Any] = {
        "conditions": {"threads": None, "stance": "default", "caches": "objects"},
        "rival": None,
        "marks": [],
    }
    assert compare_runs(block, asked(block, **new)).options == ()
    assert compare_runs(block, asked(block, from_file=("training",))).options == ()
    threads = compare_runs(block, asked(block, conditions={"threads": 1})).options
    assert [(item.name, item.left, item.right) for item in threads] == [("threads", "2", "1")]


def test_a_line_of_the_users_code_is_a_difference_of_sources() -> None:
    block = side("transformer_block")

    def text(payload: Any) -> str:
        return block.text(payload).replace("eval()", "train()") if payload == source else block.text(payload)

    source = block.report.sources[0].payload
    found, words = compared(block, replace(block, text=text))
    (only,) = found.sources or ()
    assert isinstance(only, SourceDifference)
    assert (only.left, only.diff.added, only.diff.removed) == ("model.py", 1, 1)
    assert words == "Source differs, but breaks, graphs, guards and kernels are the same."


def test_how_much_faster_it_is_is_in_the_sentence_with_its_bounds() -> None:
    block = side("transformer_block")
    found, words = compared(timed(block, 1e-3), timed(block, 0.8e-3))
    assert found.times is not None
    assert found.times.faster
    assert words == "The right run is 1.25× faster (1.23–1.27)."
    assert differences_line(found) == (
        "Options, source, breaks, graphs, guards and kernels are the same; 1.25× faster (1.23–1.27)."
    )
    assert compared(timed(block, 0.8e-3), timed(block, 1e-3))[1] == "The right run is 1.25× slower (1.23–1.27)."


def test_times_of_a_busy_machine_are_no_figures() -> None:
    block = recorded_side(TRACES / "transformer_block" / "trace.log")
    quiet, busy = timed(block, 1e-3), timed(block, 1e-3)
    assert busy.report.timing is not None
    timing = replace(busy.report.timing, load=Load(others=0.9))
    figures = compare_runs(quiet, replace(busy, report=replace(busy.report, timing=timing))).figures
    words = {figure.name: (figure.left is None, figure.right, figure.right_words) for figure in figures}
    reason = "not measurable: the machine was busy while it was measured"
    for name in ("compiled call", "eager call", "faster than eager"):
        assert words[name] == (False, None, reason)


def test_a_machine_that_has_become_slower_is_no_difference() -> None:
    block = side("transformer_block")
    found, words = compared(timed(block, 1e-3), timed(block, 3e-3, eager_s=6e-3))
    assert words.startswith("No difference: ")
    assert "; no difference in speed seen (" in differences_line(found)
    assert found.times is not None
    assert not found.times.faster
    assert seconds_words(found.times).startswith("1.00 ms and 3.00 ms a call; eager itself was 0.333× (")


def test_a_machine_that_has_become_slower_hides_no_difference() -> None:
    block = side("transformer_block")
    found, words = compared(timed(block, 1e-3), timed(block, 6e-3, eager_s=6e-3))
    assert found.times is not None
    assert (found.times.drifted, found.times.slower) == (True, True)
    assert found.times.interval == found.times.against_eager
    assert words == "The right run is 2.00× slower (1.97–2.03)."
    assert differences_line(found).partition("; ")[2] == (
        "2.00× slower (1.97–2.03); compared by speedup over eager, because eager itself took different times."
    )


def test_seconds_alone_are_compared_where_eager_is_not_the_same_work() -> None:
    block = side("transformer_block")
    found = compare_runs(timed(block, 1e-3), asked(timed(block, 0.5e-3, eager_s=1e-3), dtype="bfloat16")).times
    assert found is not None
    assert (found.eager, found.against_eager, found.faster) == (None, None, True)
    assert "eager does different work in both, so drift of the machine is unknown" in seconds_words(found)


def test_a_run_that_a_device_timed_is_held_by_the_wall_against_one_that_none_did() -> None:
    block = timed(side("transformer_block"), 1e-3)
    timing = block.report.timing
    assert timing is not None
    of_device = {**timing.sides, "compiled": tuple(s / 2 for s in timing.sides["compiled"])}
    wall = replace(timing, sides=of_device, walls=timing.sides, clock="its own events")
    found = compare_runs(block, replace(block, report=replace(block.report, timing=wall))).times
    assert found is not None
    assert (found.left.compiled_s, found.faster) == (found.right.compiled_s, False)


def test_with_few_samples_nothing_is_claimed() -> None:
    block = side("transformer_block")
    few = replace(block, report=replace(block.report, timing=SideTimes({"eager": (1.0,) * 4, "compiled": (1.0,) * 4})))
    assert differences_line(compare_runs(few, few)).endswith("; speed unknown: too few samples to say.")
    assert compare_runs(few, block).times is None


def test_the_sentence_names_the_side_whose_results_differ_from_eagers() -> None:
    block = side("transformer_block")
    call = Call(0, "f32[8, 4]", 1.0, 1.0, (Difference("output", False),))
    wrong = replace(block, report=replace(block.report, calls=(call,)))
    assert compared(block, wrong)[1] == "Results differ from eager on the right."
    assert compared(wrong, block)[1] == "Results differ from eager on the left."
    assert compared(wrong, wrong)[1].startswith("No difference: ")


def test_an_empty_log_has_nothing_to_compare() -> None:
    block = side("transformer_block")
    empty = replace(block, report=Report(replace(block.report.setting, job=None)))
    found = compare_runs(block, empty)
    assert [(item.left, item.right) for item in found.compilations] == [("0/0", "")]
    assert found.sources is None


def test_another_peak_of_memory_is_a_difference() -> None:
    block = side("transformer_block")
    left, right = (
        replace(block, report=replace(block.report, memory=(MemoryUse("compiled", peak_bytes=peak),)))
        for peak in (4_000_000, 3_000_000)
    )
    found, words = compared(left, right)
    figure = found.figure("memory at the peak")
    assert (figure.words(figure.left), figure.words(figure.right), figure.differs) == ("4.00 MB", "3.00 MB", True)
    assert words == "Memory at the peak differs."


def looked_up(key: str, *components: str, **inputs: dict[str, str]) -> RunSide:
    """A run with one lookup in AOTAutograd's cache."""
    texts = [json.dumps({"components": components}), json.dumps(inputs)]
    event = CacheEvent("aotautograd", "miss", "0/0", key, "", Payload(0, 1), Payload(1, 1))
    return RunSide(Report(Setting(), caches=(event,)), lambda payload: texts[payload.offset], lambda *_: ())


def test_keys_differ_in_the_parts_whose_hashes_differ() -> None:
    tensor = "TensorMetadata(dtype=torch.float32, shape=torch.Size([{0}, 8]), stride=({0}, 1), storage_bytes={0})"
    left = looked_up(
        "a",
        "[h1] gm: GraphModule()\n\n    y = x * 2.0;  x = None\n",
        "[h2] inductor_config[max_autotune]: False",
        "[h3] inductor_config[cpp.threads]: -1",
        f"[h4] example_inputs[0]: {tensor.format(4)}",
        "[h5] autograd_config: \ufffd",
        settings={"debug": "False", "level": "1"},
        environment={},
    )
    right = looked_up(
        "b",
        "[i1] gm: GraphModule()\n\n    y = x * 3.0;  x = None\n",
        "[i2] inductor_config[max_autotune]: True",
        "[h3] inductor_config[cpp.threads]: another text",
        f"[i4] example_inputs[0]: {tensor.format(6)}",
        "[i5] autograd_config: \ufffd",
        settings={"debug": "False", "level": "2"},
        environment={"TORCHINDUCTOR_MAX_AUTOTUNE": "1"},
    )
    (pair,) = cache_pairs(left, right)
    assert pair.differences == (
        KeyDifference("source", "graph", "y = x * 2.0", "y = x * 3.0"),
        KeyDifference("config", "max_autotune", "False", "True", "TORCHINDUCTOR_MAX_AUTOTUNE"),
        KeyDifference("input", "input 0", "shape torch.Size([4, 8])", "shape torch.Size([6, 8])"),
        KeyDifference("config", "level", "1", "2"),
    )


def test_constants_are_named_where_the_text_of_the_graph_is_equal() -> None:
    left, right = (
        looked_up(key, f"[{key}] gm: GraphModule()", graph={"_tensor_constant0": key, "training": "t"}) for key in "ab"
    )
    (pair,) = cache_pairs(left, right)
    assert pair.differences == (KeyDifference("constant", "_tensor_constant0", "a", "b"),)


def test_a_log_without_the_parts_of_a_key_and_equal_keys_blame_nothing() -> None:
    same, bare = looked_up("a", "[h1] gm: x"), looked_up("b")
    assert [pair.differences for pair in cache_pairs(same, same)] == [()]
    assert [pair.differences for pair in cache_pairs(same, bare)] == [None]
