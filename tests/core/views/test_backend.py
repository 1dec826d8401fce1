"""Calls of a custom backend in words, rows and links."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core import CompileOptions, build_report
from core.report import AnnotationTable, FxGraph, Report
from core.trace.parsers.build import load_graph
from core.views.backend.compilation import BackendCompilationView, ExecutionBar
from core.views.backend.run import BackendView
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.reports.backends import BACKEND, JOB, SIZES, backend_log
from tests.support.tables import texts, values


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Place of a log."""
    return tmp_path / "trace.log"


def report_of(log: Path, problem: str = "", **fields: Any) -> Report:
    log.write_bytes(backend_log(problem, **fields))
    return build_report(log)


def views_of(log: Path, problem: str = "", **fields: Any) -> tuple[BackendCompilationView, ...]:
    return BackendView(report_of(log, problem, **fields)).compilations


def test_the_contract_has_the_numbers_of_all_compilations(log: Path) -> None:
    backend = BackendView(report_of(log))
    assert backend.title == r"`mine` received 2 graphs; executed 3 times in 3 calls; 1 call compiled nothing\."
    assert [(station.name, station.number, station.is_bad) for station in backend.stations] == [
        ("Dynamo", "2 compilations", False),
        ("graph", "2 graphs, 10 nodes", False),
        ("mine", "called 2 times, 800 µs", False),
        ("callable", "2 callables", False),
        ("executions", "3 in 3 calls", False),
    ]
    assert (backend.problems, backend.more_problems) == ([], "")


def test_a_failure_marks_the_backend_and_names_its_line(log: Path) -> None:
    backend = BackendView(report_of(log, "raised ValueError: no relu", place=["/gone/backend.py", 2]))
    assert backend.problems == [r"\[0/1\]: `mine` raised ValueError\: no relu at `backend.py:2`"]
    assert [(station.name, station.number) for station in backend.stations if station.is_bad] == [
        ("mine", "called 2 times, 800 µs"),
        ("callable", "1 callable, 1 failed"),
    ]
    assert [view.is_failed for view in backend.compilations] == [False, True]
    source = backend.compilations[1].source(JOB, lambda _: "")
    assert source is not None
    assert (source.title, source.code, source.notes) == ("backend.py", BACKEND, {2: "raised ValueError: no relu"})
    elsewhere = views_of(log, "raised ValueError: no relu", place=["/gone/library.py", 2])[1].source(JOB, lambda _: "")
    assert elsewhere is not None
    assert (elsewhere.title, elsewhere.notes) == ("backend.py", {})


def test_failures_beyond_the_first_are_counted(log: Path) -> None:
    report = report_of(log)
    failed = tuple(replace(execution, problem="raised KeyError") for execution in report.executions)
    backend = BackendView(replace(report, executions=failed))
    assert len(backend.problems) == 3
    assert backend.problems[0] == r"\[0/0\], execution 0: `mine` raised KeyError"
    assert backend.more_problems == "1 more problem of this kind."


@pytest.mark.parametrize(
    ("scenario", "missing"),
    [
        ("measured", "Inductor received the Dynamo graph and generated kernels."),
        (
            "foreign",
            "Not recorded: only Compileboard runs record the graphs that a backend receives.",
        ),
    ],
)
def test_a_run_without_a_call_of_a_backend_says_why(scenario: str, missing: str) -> None:
    backend = BackendView(recorded_report(TRACES / scenario / "trace.log"))
    assert (backend.rows, backend.missing, backend.is_inductor) == ((), missing, scenario == "measured")


def test_executions_are_unknown_until_the_run_ends(log: Path) -> None:
    report = replace(report_of(log), ran=(), executions=())
    for is_live, words in ((True, "recorded at the end of the run"), (False, "not recorded")):
        backend = BackendView(report, is_live)
        assert backend.stations[-1].number == words
        assert [view.execution_count for view in backend.compilations] == [words, words]
    assert backend.compilations[0].execution_words == "How often it ran was not recorded."


def test_a_compilation_has_a_mark_and_a_text_for_each_call(log: Path) -> None:
    first, second = views_of(log)
    assert first.cells == (
        "model · model.py:4",
        "5 nodes: f32[4, 8], f32[8, 16]",
        "400 µs",
        "method forward of GraphModule",
    )
    assert (first.marks, second.marks) == ("gr ", "  g")
    assert first.mark_texts[1:] == (
        "call 1 with f32[4, 8], f32[8, 16]: guards passed: the returned callable ran again; the guard held that call 2 "
        f"failed: {SIZES}; 1 execution, 20.0 µs",
        "call 2 with f32[6, 8], f32[8, 16]: not of this compilation",
    )
    assert texts(second.call_table) == [
        {
            "call": "2",
            "with": "f32[6, 8], f32[8, 16]",
            "what became of it": "the backend received the graph",
            "why": f"[0/0] could not be used: {SIZES}",
            "executions": "1 execution, 60.0 µs",
        }
    ]


def test_the_shown_compilation_is_the_first_one_if_the_picked_one_called_no_backend(log: Path) -> None:
    backend = BackendView(report_of(log))
    first, second = backend.compilations
    assert backend.of(second.compilation) == second
    assert backend.of(replace(second.compilation, id="7/0")) == first
    assert backend.of(None) == first


def test_executions_are_bars_with_the_mean_of_those_outside_of_calls(log: Path) -> None:
    first, second = views_of(log)
    tensors = "f32[6, 8], f32[8, 16] → f32[6, 16]"
    assert second.execution_bars == (
        ExecutionBar("call 2", 0, 2, 6e-5, False, ("call 2: 60.0 µs", tensors)),
        ExecutionBar("outside of the calls", 1, None, 2e-5, False, ("outside of the calls: 20.0 µs", tensors)),
    )
    assert second.outside_s == pytest.approx(1.97e-5)
    assert (second.outside_name, second.execution_count) == (
        "mean of 200 outside of the calls",
        "1 execution, 200 outside of calls",
    )
    assert (first.outside_s, first.outside_name, first.execution_count) == (None, "", "2 executions")
    assert second.execution_words == (
        "The backend's callable ran 1 time in the calls of the run, and 200 times outside of them, for example "
        "while measuring."
    )
    assert [row["returned"] for row in texts(second.execution_table)] == ["f32[6, 16]", "f32[6, 16]"]


def test_a_mean_needs_all_executions_of_the_calls(log: Path) -> None:
    report = report_of(log)
    _, second = BackendView(replace(report, executions=report.executions[:2])).compilations
    assert second.outside_s is None
    assert second.execution_words.endswith(", for example while measuring. No execution is listed.")


def test_nodes_are_a_table_in_the_format_of_print_tabular(log: Path) -> None:
    view, _ = views_of(log, left_out=3)
    assert texts(view.node_table)[3] == {
        "opcode": "call_function",
        "name": "relu",
        "target": "<built-in method relu>",
        "args": "(matmul,)",
        "kwargs": "",
        "users": "output",
        "value": "f32[4, 16]",
    }
    assert view.node_ids == ["n:l_x_", "n:l_w_", "n:matmul", "n:relu", "n:output"]
    assert view.node_text.splitlines()[:3] == [
        "opcode         name    target                      args          kwargs  users   value",
        "-------------  ------  --------------------------  ------------  ------  ------  ----------",
        "placeholder    l_x_    L_x_                        ()            {}      matmul  f32[4, 8]",
    ]
    assert [view.nodes_left_out for view in views_of(log, left_out=3)] == ["", "3 more nodes not shown."]


def test_lines_of_the_graphs_code_link_to_the_nodes_that_they_compute(log: Path) -> None:
    view, _ = views_of(log)
    assert view.code.splitlines()[0] == "def forward(self, L_x_ : torch.Tensor, L_w_ : torch.Tensor):"
    assert view.code_links == {
        1: ("n:l_x_", "n:l_w_"),
        2: ("n:l_x_",),
        3: ("n:l_w_",),
        4: ("n:matmul",),
        5: ("n:relu",),
        6: ("n:output",),
    }


def test_the_code_of_a_backend_is_the_jobs_a_built_in_one_or_the_models() -> None:
    (view,) = BackendView(recorded_report(TRACES / "eager_backend" / "trace.log")).compilations
    built_in = view.source(replace(JOB, compile=CompileOptions(backend="registry")), lambda _: "")
    model = view.source(replace(JOB, compile=CompileOptions(backend="eager")), lambda _: "def eager(gm, inputs): ...")
    assert built_in is not None
    assert model is not None
    assert (built_in.title, "def backend(" in built_in.code, built_in.notes) == ("registry.py", True, {})
    assert (model.code, model.notes) == ("def eager(gm, inputs): ...", {})
    assert view.source(replace(JOB, compile=CompileOptions(backend="eager")), lambda _: "") is None
    assert view.source(None, lambda _: BACKEND) is None


def test_the_reports_of_a_backend_are_tables_texts_and_annotations_of_a_graph(log: Path) -> None:
    first, second = views_of(log)

    def annotated(view: BackendCompilationView) -> FxGraph | None:
        return view.annotated_graph(lambda graph: load_graph(log, view.compilation, graph))

    (table,), (text,) = first.tables, first.texts
    assert (
        table.label,
        table.columns,
        [[*row.values()] for row in values(table.block("t"))],
        table.node_ids,
        table.left_out,
    ) == (
        "The program",
        ["node", "run by", "µs"],
        [["matmul", "kernel", 12.5], ["relu", "torch", 3.0]],
        ["n:matmul", "n:relu"],
        "",
    )
    assert (text.label, text.title, text.language) == ("IR", "IR", "python")
    assert (annotated(first), annotated(second)) == (first.first_graph, None)
    assert (second.tables, second.texts) == ((), ())


def test_columns_of_a_reported_table_are_distinct(log: Path) -> None:
    told = AnnotationTable("", "", ("", "µs", "µs"), ((1, None, "a\nb"),), left_out=2)
    (table,) = BackendView(replace(report_of(log), told_tables=(told,))).compilations[1].tables
    assert (table.label, table.columns, [[*row.values()] for row in values(table.block("t"))]) == (
        "without a title",
        ["column 1", "µs", "µs (3)"],
        [[1, None, "a b"]],
    )
    assert (table.node_ids, table.left_out) == (None, "2 more rows not shown.")


def test_nodes_beyond_those_that_have_a_row_are_counted_with_the_unrecorded_ones(
    log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("core.views.backend.compilation.MOST_NODES", 3)
    assert [view.nodes_left_out for view in views_of(log, left_out=3)] == [
        "2 more nodes not shown.",
        "5 more nodes not shown.",
    ]
