"""What a backend did in a run: the finding, its strip of invocations and executions, its problems, and what it told."""

from dataclasses import replace

from core.analysis.backend import (
    BackendProblem,
    NodeValues,
    StripCell,
    backend_problems,
    backend_rows,
    node_values,
    requested_backend,
)
from core.report import (
    AnnotationTable,
    BackendNode,
    Call,
    Compilation,
    EntryPoint,
    Execution,
    Executions,
    Frame,
    Guard,
    Invocation,
    Place,
    Recompile,
    Report,
    Script,
    Setting,
)
from core.report.model import Status
from core.views.backend.run import BackendView, backend_lines, backend_sentence, strip_words

NODES = (
    BackendNode("l_x_", "placeholder", "L_x_", "()", "{}", ("relu",), "f32[4, 8]"),
    BackendNode("relu", "call_function", "torch.relu", "(l_x_,)", "{}", ("output",), "f32[4, 8]"),
    BackendNode("output", "output", "output", "((relu,),)", "{}", (), ""),
)
MADE = Invocation("inspect", ("f32[4, 8]",), NODES, 0, "def forward(self, l_x_): ...", "function `forward`", 0.002)
GUARD = Guard("TENSOR_MATCH", "L['x']", "check_tensor(L['x'], size=[4, 8])", 1)
OTHER = Guard("GLOBAL_STATE", "", "___check_global_state()", 0)
REASON = "tensor 'x' size mismatch at index 0. expected 4, actual 6"


def compilation(name: str, call: int, *made: Invocation, status: Status = "ok") -> Compilation:
    frame = Frame("m.py", 1, "f")
    guards = (OTHER, GUARD)
    return Compilation(
        name,
        frame,
        (),
        1,
        status,
        "",
        (),
        guards,
        None,
        (),
        (),
        (),
        call=call,
        invocations=made,
    )


def made_call(index: int, newest: str, compilations: int) -> Call:
    return Call(
        index, "f32[4, 8]", 1.0, 1.0, (), entered=int(not compilations), newest=(newest,), compilations=compilations
    )


def ran(name: str, call: int | None, number: int, problem: str = "") -> Execution:
    return Execution(name, number, call, 0.001, ("f32[4, 8]",), ("f32[4, 8]",), problem)


TWO = Report(
    Setting(job={"compile": {"backend": "inspect"}}),
    (compilation("0/0", 0, MADE),),
    calls=(made_call(0, "0/0", 1), made_call(1, "0/0", 0)),
    executions=(ran("0/0", 0, 0), ran("0/0", 1, 1)),
    ran=(Executions("0/0", 2, 40, 0.5),),
)
THREE = replace(
    TWO,
    compilations=(compilation("0/0", 0, MADE), compilation("0/1", 2, MADE)),
    calls=(*TWO.calls, made_call(2, "0/1", 1)),
    recompiles=(Recompile("0/1", "0/0", REASON, "4", "6", call=2),),
    executions=(*TWO.executions, ran("0/1", 2, 0)),
    ran=(*TWO.ran, Executions("0/1", 1, 0, 0.001)),
)


def test_two_calls_of_one_graph_are_one_invocation_and_two_executions() -> None:
    assert (
        backend_sentence(TWO) == "`inspect` received 1 graph; executed 2 times in 2 calls; the second compiled nothing."
    )
    assert strip_words(TWO) == "2 calls, 1 invocation, 2 executions"
    (row,) = backend_rows(TWO)
    assert row.ran == Executions("0/0", 2, 40, 0.5)
    assert row.cells == (
        StripCell(0, "compiled", (ran("0/0", 0, 0),), "there was no code for it yet"),
        StripCell(1, "used", (ran("0/0", 1, 1),), "its 2 guards held"),
    )


def test_a_call_is_let_through_by_the_guard_that_another_call_failed() -> None:
    told = "`inspect` received 2 graphs; executed 3 times in 3 calls; 1 call compiled nothing."
    assert backend_sentence(THREE) == told
    assert strip_words(THREE) == "3 calls, 2 invocations, 3 executions"
    first, second = backend_rows(THREE)
    assert first.cells[1:] == (
        StripCell(1, "used", (ran("0/0", 1, 1),), f"the guard held that call 2 failed: `{REASON}`", GUARD),
        StripCell(2, ""),
    )
    because = f"[0/0] could not be used: `{REASON}`"
    assert second.cells[2] == StripCell(2, "compiled", (ran("0/1", 2, 0),), because, GUARD, "0/0")


def test_an_execution_shows_a_use_that_dynamo_does_not() -> None:
    unheard = replace(TWO, calls=tuple(replace(call, entered=None, newest=()) for call in TWO.calls))
    assert [cell.use for cell in backend_rows(unheard)[0].cells] == ["compiled", "used"]
    without = replace(unheard, executions=())
    assert [cell.use for cell in backend_rows(without)[0].cells] == ["compiled", "unknown"]


def test_what_is_not_recorded_is_reported() -> None:
    assert backend_sentence(replace(TWO, ran=())) == (
        "`inspect` received 1 graph; executions not recorded; the second compiled nothing."
    )
    assert strip_words(replace(TWO, ran=())) == "2 calls, 1 invocation, executions not recorded"
    assert backend_sentence(Report(Setting())) == (
        "No backend call was recorded: an imported log does not contain them."
    )
    assert backend_sentence(Report(Setting(job={"compile": {"backend": "inductor"}}))) == "The backend was `inductor`."
    assert backend_sentence(Report(Setting(job={"compile": {"backend": "mine"}}))) == "`mine` received no graph."
    assert list(backend_lines(Report(Setting()))) == []


def test_what_a_backend_raised_ends_the_sentence_with_its_line() -> None:
    raised = replace(MADE, returned="", problem="raised ValueError: no\nsuch op", place=("mine.py", 7))
    failed = replace(TWO, compilations=(compilation("0/0", 0, raised, status="failed"),), executions=(), ran=())
    assert backend_sentence(failed) == "`inspect` received 1 graph, and raised ValueError: no such op."
    assert backend_problems(failed) == (
        BackendProblem("0/0", "inspect", "raised ValueError: no\nsuch op", ("mine.py", 7)),
    )
    assert "  [0/0] `inspect` raised ValueError: no such op at mine.py:7" in list(backend_lines(failed))


def test_what_an_execution_returned_wrongly_is_reported_with_its_number() -> None:
    short = ran("0/0", 1, 1, "returned 1 value where the graph has 2")
    wrong = replace(TWO, executions=(ran("0/0", 0, 0), short))
    assert backend_sentence(wrong).endswith("; execution 1 returned 1 value where the graph has 2.")
    (problem,) = backend_problems(wrong)
    assert problem == BackendProblem("0/0", "inspect", short.problem, execution=short)


def test_a_reported_table_gives_each_node_the_value_of_the_column_after_it() -> None:
    tables = (
        AnnotationTable(
            "0/0", "kernels", ("step", "node", "kernel"), ((0, "relu", "relu"), (1, "relu", "again"), (2, None, 1))
        ),
        AnnotationTable("0/0", "node last", ("kernel", "node"), (("relu", "relu"),)),
        AnnotationTable("0/1", "other", ("node", "kernel"), (("relu", "relu"),)),
    )
    found = node_values(replace(TWO, told_tables=tables), "0/0")
    assert found == (NodeValues("kernels", "kernel", {"relu": "relu"}),)


def test_a_run_is_reported_line_by_line() -> None:
    tables = (AnnotationTable("0/0", "kernels", ("node",), (("relu",),), 3),)
    assert list(backend_lines(replace(TWO, told_tables=tables))) == [
        "`inspect` received 1 graph; executed 2 times in 2 calls; the second compiled nothing.",
        "  2 calls, 1 invocation, 2 executions",
        "  [0/0] `inspect` received 3 nodes (1 placeholder, 1 call_function, 1 output) with f32[4, 8]; "
        "returned function `forward`, in 2.00 ms",
        "    ran 2 times in calls and 40 times beside them, 500 ms in all",
        "    call 0: compiled, since there was no code for it yet",
        "    call 1: used, since its 2 guards held",
        "  [0/0] reported 'kernels': 4 rows",
    ]


def test_the_backend_of_a_script_is_that_of_its_entry_points() -> None:
    job = {"compile": {"backend": "inductor"}}
    script = Script(arguments=(), exit_code=0, seconds=1.0, entries=(), calls=())
    entry = EntryPoint("f", Place("train.py", 4), "eager")
    of = [Report(Setting(job=job), script=replace(script, entries=entries)) for entries in ((), (entry,))]
    assert [requested_backend(report) for report in of] == ["", "eager"]
    assert [backend_sentence(report) for report in of] == [
        "The script gave no callable to torch.compile, so no backend was called.",
        "`eager` received no graph.",
    ]
    assert "without torch.compile" in BackendView(of[0]).missing
