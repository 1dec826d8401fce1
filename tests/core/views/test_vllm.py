"""vLLM's calls in words and rows."""

from core.report import Report
from core.views.vllm import VllmView
from tests.support.logs import report_of
from tests.support.vllm import LOG, artifact

VLLM = VllmView(report_of(LOG))


def test_the_title_counts_compilations_calls_and_distinct_subgraphs() -> None:
    assert VLLM.title == "4 piecewise compilations in 3 calls of vLLM: 3 subgraphs, 2 of them distinct"


def test_a_call_without_piecewise_compilations_is_not_recorded_as_none() -> None:
    loaded = VllmView(report_of(artifact("vllm_compile_event", {"type": "aot_cache_hit"})))
    assert loaded.title == "vLLM made 1 call; no piecewise compilation is in this log"
    assert loaded.no_compilation == "Piecewise compilations of this call: not in this log"
    assert loaded.rows == []


def test_rows_name_sizes_caches_and_the_equal_subgraph() -> None:
    assert [(row["subgraph"], row["tokens"], row["equal to"], row["caches"]) for row in VLLM.rows] == [
        ("submod_0", "1–64", "", "fx_graph miss"),
        ("submod_0", "8, CUDA graph", "", "fx_graph hit"),
        ("submod_2", "1–64", "submod_0", "not in this log"),
        ("submod_4", "1–64", "", "not in this log"),
    ]


def test_notes_name_loaded_calls_and_subgraphs_that_differ_in_a_text() -> None:
    loaded, constants = VLLM.notes
    assert loaded == (
        "Call 3 · aot\\_cache\\_hit loaded its code from vLLM's AOT cache: torch traced and compiled nothing, "
        "so its graphs, guards and kernels are not in this log."
    )
    assert constants == (
        "2 distinct subgraphs of this call differ only in a text constant, such as `attn`: vLLM compiles each of them, "
        "and no cache entry serves two."
    )


def test_settings_that_differ_have_a_column_for_each_call() -> None:
    assert VLLM.config_tables == [
        (
            "Settings that differ",
            [
                {
                    "setting": "prefix",
                    "Call 1 · backbone · fresh_compile · [0/0]": "backbone",
                    "Call 2 · eagle_head · fresh_compile · [0/0]": "eagle_head",
                }
            ],
        ),
        (
            "Settings",
            [
                {"setting": "model", "value": "tiny"},
                {"setting": "mode", "value": "VLLM_COMPILE"},
                {"setting": "use_inductor_graph_partition", "value": "false"},
            ],
        ),
    ]


def test_records_that_the_log_lacks_are_named() -> None:
    missing = [row["records"] for row in VLLM.record_rows if row["number"] == "not in this log"]
    assert missing == ["Dynamo's graph", "compilation metrics"]


def test_a_log_without_vllm_says_how_to_record_it() -> None:
    assert VllmView(Report(setting=VLLM.report.setting)).title == "This log has no record of vLLM"
