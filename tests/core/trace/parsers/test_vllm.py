"""vLLM's records: calls of its backend, piecewise compilations, and equal subgraphs."""

import pytest

from core.report import VllmCall
from tests.support.logs import record, report_of
from tests.support.vllm import AT, LOG, artifact, at, graph, start

BACKBONE, EAGLE, LOADED = report_of(LOG).vllm


def test_each_event_begins_a_call_with_its_configuration() -> None:
    assert [(call.event, call.config.get("prefix"), call.compile_id) for call in (BACKBONE, EAGLE, LOADED)] == [
        ("fresh_compile", "backbone", "0/0"),
        ("fresh_compile", "eagle_head", "0/0"),
        ("aot_cache_hit", None, ""),
    ]
    assert BACKBONE.config["use_inductor_graph_partition"] == "false"
    assert (EAGLE.split, EAGLE.graphs, EAGLE.compilations) == (None, (), ())


def test_each_configuration_without_an_event_begins_a_call() -> None:
    config = artifact("vllm_compilation_config", {"prefix": "backbone"})
    assert [call.event for call in report_of(config + start("submod_0", 1, 8) + config).vllm] == ["", ""]


def test_a_start_without_configuration_begins_a_call() -> None:
    (call,) = report_of(start("submod_0", 1, 8)).vllm
    assert [piece.subgraph for piece in call.compilations] == ["submod_0"]


def test_a_piecewise_compilation_has_torchs_records_up_to_the_next_start() -> None:
    assert [
        (piece.subgraph, piece.first, piece.last, piece.is_single_size, piece.caches, piece.seconds)
        for piece in BACKBONE.compilations
    ] == [
        ("submod_0", 1, 64, False, {"fx_graph": "miss"}, 2.5),
        ("submod_0", 8, 8, True, {"fx_graph": "hit"}, 0.0),
        ("submod_2", 1, 64, False, {}, None),
        ("submod_4", 1, 64, False, {}, None),
    ]
    assert [artifact.kind for artifact in BACKBONE.compilations[0].artifacts] == [
        "artifact:fx_graph_cache_miss",
        "inductor_output_code",
    ]


def test_a_record_with_a_subgraphs_name_belongs_to_that_subgraph() -> None:
    named = record({"inductor_output_code": {}, "subgraph_name": "submod_0", **AT}, "code")
    (call,) = report_of(start("submod_0", 1, 8) + start("submod_2", 1, 8) + named).vllm
    assert [len(piece.artifacts) for piece in call.compilations] == [1, 0]


def test_equal_subgraphs_differ_in_names_alone() -> None:
    first, second, third = BACKBONE.graphs
    assert first.computation == second.computation != third.computation
    assert first.structure == second.structure == third.structure
    assert third.constants == ("layers.4.attn",)
    assert [graph.ops for graph in BACKBONE.graphs] == [1, 1, 1]


def test_subgraphs_with_other_shapes_are_not_equal() -> None:
    shape = graph("submod_2", "a", "b", "attn").replace(b"s0, 32]", b"s0, 64]").replace(b'"has_payload"', b'"has"')
    other = record({"graph_dump": {"name": "vllm_submod_2"}, **AT}, shape.decode().partition("\n")[2].replace("\t", ""))
    (call,) = report_of(start("submod_0", 1, 8) + graph("submod_0", "a", "b", "attn") + other).vllm
    first, second = call.graphs
    assert first.structure != second.structure


def test_a_graph_that_is_no_python_is_equal_to_none() -> None:
    (call,) = report_of(record({"graph_dump": {"name": "vllm_submod_0"}, **AT}, "<graph>")).vllm
    assert [(graph.name, graph.computation) for graph in call.graphs] == [("submod_0", "")]


def test_a_clock_that_went_back_gives_no_seconds() -> None:
    (call,) = report_of(start("submod_0", 1, 8) + at("01:00:00.000000", artifact("fx_graph_cache_hit", "{}"))).vllm
    assert call.compilations[0].seconds is None


@pytest.mark.parametrize("payload", ["[]", "{}", '{"piecewise_index": "x"}'])
@pytest.mark.parametrize("name", ["vllm_piecewise_compile_start", "vllm_compile_event"])
def test_an_unreadable_record_is_counted_and_skipped(name: str, payload: str) -> None:
    report = report_of(artifact(name, payload) + artifact("vllm_compilation_config", {"prefix": "backbone"}))
    assert report.vllm == (VllmCall("", {"prefix": "backbone"}, "0/0"),)
    assert sum(problem.count for problem in report.problems) == 1
