"""vLLM's calls in words and rows."""

from typing import Any, TypeGuard

from core.report import Report
from core.views.blocks import Block, Table, flat
from core.views.printed import as_text
from core.views.vllm import VllmView, vllm
from tests.support.logs import report_of
from tests.support.vllm import LOG, artifact

VLLM = VllmView(report_of(LOG))


def is_table(block: Block, name: str) -> TypeGuard[Table[Any]]:
    return isinstance(block, Table) and block.name == name


def tables() -> dict[str, tuple[tuple[str, ...], ...]]:
    found = [block for block in flat(vllm(VLLM.report, str)) if isinstance(block, Table)]
    return {table.name: table.texts(table.rows).rows for table in found}


def test_the_title_counts_compilations_calls_and_distinct_subgraphs() -> None:
    assert VLLM.title == "4 piecewise compilations in 3 calls of vLLM: 3 subgraphs, 2 of them distinct"


def test_a_call_without_piecewise_compilations_is_not_recorded_as_none() -> None:
    loaded = report_of(artifact("vllm_compile_event", {"type": "aot_cache_hit"}))
    assert VllmView(loaded).title == "vLLM made 1 call; no piecewise compilation is in this log"
    assert "Piecewise compilations of this call: not in this log" in as_text(vllm(loaded, str))


def test_rows_name_sizes_caches_and_the_equal_subgraph() -> None:
    rows = tables()["pieces-0"]
    assert [(row[0], row[1], row[3], row[4]) for row in rows] == [
        ("submod_0", "1–64", "", "fx_graph miss"),
        ("submod_0", "8, CUDA graph", "", "fx_graph hit"),
        ("submod_2", "1–64", "submod_0", "not in this log"),
        ("submod_4", "1–64", "", "not in this log"),
    ]


def test_notes_name_loaded_calls_and_subgraphs_that_differ_in_a_text() -> None:
    lines = [*as_text(vllm(VLLM.report, str))]
    assert (
        "Call 3 · aot_cache_hit loaded its code from vLLM's AOT cache: torch traced and compiled nothing, "
        "so its graphs, guards and kernels are not in this log."
    ) in lines
    assert (
        "2 distinct subgraphs of this call differ only in a text constant, such as `attn`: vLLM compiles each of them, "
        "and no cache entry serves two."
    ) in lines


def test_settings_that_differ_have_a_column_for_each_call() -> None:
    (differing,) = (block for block in flat(vllm(VLLM.report, str)) if is_table(block, "settings that differ"))
    assert [column.name for column in differing.shown] == [
        "setting",
        "Call 1 · backbone · fresh_compile · [0/0]",
        "Call 2 · eagle_head · fresh_compile · [0/0]",
    ]
    assert tables()["settings that differ"] == (("prefix", "backbone", "eagle_head"),)
    assert tables()["settings"] == (
        ("model", "tiny"),
        ("mode", "VLLM_COMPILE"),
        ("use_inductor_graph_partition", "false"),
    )


def test_records_that_the_log_lacks_are_named() -> None:
    missing = [name for name, number in tables()["records"] if number == "not in this log"]
    assert missing == ["Dynamo's graph", "compilation metrics"]


def test_a_log_without_vllm_says_how_to_record_it() -> None:
    assert VllmView(Report(setting=VLLM.report.setting)).title == "This log has no record of vLLM"
