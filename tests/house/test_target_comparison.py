"""The comparison of the code for a target with that of the device: what is compared, what is kept, and its tables."""

import json
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks.targets.attention_calls import attention_calls
from benchmarks.targets.comparison import Pair, pairs
from benchmarks.targets.generated_code import Code, CodeComparison, code, compare
from benchmarks.targets.results import TIMED_PADDING, Row, differences, read_rows, table, verdict
from core import Model

OUTPUT = """# AOT ID: ['{counter}_inference']
triton_poi_0 = async_compile.triton('triton_poi_0', '''
# {path}/model.py
{body}
''', device_str='cuda')
call(triton_poi_0)
"""


def row(name: str, variant: str, same: int, **fields: object) -> Row:
    values = {"on": "a device", "graphs": 1, "kernels": 2, "same_kernels": same, "same_wrappers": int(same == 2)}
    values |= {"timed": (), "note": "", "seconds": 1.0, "differences": () if same == 2 else ("0/0 wrapper\n-a\n+b",)}
    return Row(name, variant, **{**values, **fields})  # type: ignore[arg-type]


def test_only_counters_and_paths_are_replaced_before_comparing() -> None:
    ours = code("0/0", OUTPUT.format(counter=3, path="/tmp/a/runs", body="x = 1"))
    theirs = code("0/0", OUTPUT.format(counter=5, path="/home/b", body="x = 1"))
    assert compare([ours], [theirs]) == CodeComparison(1, 1, 1, 1, ())
    other = code("0/0", OUTPUT.format(counter=3, path="/tmp/a/runs", body="x = 2"))
    found = compare([ours], [other])
    assert (found.same_kernels, found.same_wrappers, len(found.differences)) == (0, 1, 1)


def test_numbers_of_debug_handles_are_counters_and_their_kernels_are_not() -> None:
    handles = ["# [Provenance debug handles] triton_poi_0:{}", "    # [Provenance debug handles] extern_kernels.mm:{}"]
    here, there = ("\n".join(line.format(number) for line in handles) for number in (3, 41))
    assert code("0/0", here) == code("0/0", there)
    assert code("0/0", here) != code("0/0", there.replace("poi_0", "poi_1"))


def test_pairs_that_differ_by_timed_padding_alone_are_counted_apart() -> None:
    timed = {"timed": ("padding of mm [3, 4] by [4, 5]",), "cause": TIMED_PADDING}
    rows = [row("bert", "float32", 2), row("vit", "float32", 1, **timed), row("gnn", "float32", 1)]
    rows.append(row("gpt2", "float32", 0, graphs=0, kernels=0))
    assert verdict(rows) == "1 of 3 pairs the same, 1 differ by timed padding alone, 1 otherwise"
    assert "cause: timed padding alone" in differences(rows).splitlines()


def test_settings_of_dynamo_are_those_of_both_sides() -> None:
    (pair,) = pairs(["mlp"], False, ["float32"], "allow_rnn=true")
    for job in (pair.job(target="h200"), pair.job(device="cuda")):
        assert job.conditions.dynamo == {"allow_rnn": True}


def test_code_of_one_side_alone_counts_as_different() -> None:
    found = compare([], [Code("0/0", {"k": "text"}, "wrapper")])
    assert (found.graphs, found.kernels, found.same_kernels, found.same_wrappers) == (1, 1, 0, 0)


def test_results_are_read_back_and_a_line_that_was_cut_off_is_not_done(tmp_path: Path) -> None:
    kept = [row("bert", "float32", 2), row("bert", "bfloat16", 1, timed=("padding of mm",))]
    path = tmp_path / "results.jsonl"
    path.write_text("\n".join(json.dumps(asdict(item)) for item in kept) + '\n{"name": "gpt2", "va')
    assert read_rows(path) == kept
    assert read_rows(tmp_path / "nothing") == []


def test_the_table_has_a_line_for_each_model_and_one_for_all() -> None:
    rows = [row("bert", "float32", 2), row("bert", "bfloat16", 1), row("gpt2", "float32", 0, graphs=0, kernels=0)]
    assert table(rows).splitlines() == [
        "|  | float32 | bfloat16 |",
        "| --- | --- | --- |",
        "| `bert` | 2 of 2, 1 of 1 | 1 of 2, 0 of 1 |",
        "| `gpt2` | no code in either |  |",
        "| **together** | **2 of 2, 1 of 1** | **1 of 2, 0 of 1** |",
    ]


def test_what_differs_is_reported_with_what_the_device_times() -> None:
    rows = [row("bert", "float32", 2), row("bert", "bfloat16", 1, timed=("padding of mm [3, 4] by [4, 5]",))]
    assert differences(rows).splitlines() == [
        "### bert, bfloat16: 1 of 2, 0 of 1",
        "timed there: padding of mm [3, 4] by [4, 5]",
        "0/0 wrapper",
        "-a",
        "+b",
    ]


def test_files_samples_and_calls_of_attention_are_compared_in_each_variant(tmp_path: Path) -> None:
    path = str(tmp_path / "mine.py")
    assert pairs(["mlp", path], False, ["float32", "training"]) == [
        Pair("mlp", "float32", Model("sample", "mlp")),
        Pair("mine", "float32", Model("file", path)),
        Pair("mlp", "training", Model("sample", "mlp")),
        Pair("mine", "training", Model("file", path)),
    ]
    found = pairs([], True, ["float32"])
    assert [pair.name for pair in found] == [call.name for call in attention_calls()]
    assert {pair.model.kind for pair in found} == {"code"}


def test_every_call_of_attention_has_a_name_of_its_own_and_is_python() -> None:
    calls = attention_calls()
    assert len({call.name for call in calls}) == len(calls)
    for call in calls:
        compile(call.file, call.name, "exec")


@pytest.mark.parametrize("variant", ["float32", "bfloat16", "training", "bfloat16 training"])
def test_a_pair_is_a_job_for_the_target_and_one_on_the_device(variant: str) -> None:
    pair = Pair("mlp", variant, Model("sample", "mlp"))
    hidden, used = pair.job(target="h200"), pair.job(device="cuda")
    assert (hidden.target, hidden.device, used.target, used.device) == ("h200", "cpu", "", "cuda")
    assert (hidden.dtype, hidden.training) == (used.dtype, used.training)
