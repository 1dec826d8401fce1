"""Errors are advised by their phase and their line, and no later phase is blamed for them."""

from dataclasses import replace
from typing import Any, cast

import pytest

from core.analysis.dynamo.failures import Phase, failed_phase
from core.analysis.findings import Finding, findings
from core.report import (
    Bisection,
    Call,
    Compilation,
    Difference,
    EntryPoint,
    Frame,
    FxGraph,
    Payload,
    Place,
    Report,
    RunError,
    Script,
    Setting,
    Source,
    Stage,
)
from tests.support.reports.findings import FIRES, QUIET, call, frame

INDUCTOR = {"compile": {"backend": "inductor", "fullgraph": True}}
UNCAPTURED = "UncapturedHigherOrderOpError"
HINTS = "Data-dependent branching\n  Hint: This graph break is fundamental.\n  Hint: Use `torch.cond` to express it.\n"


def failing(error_type: str, error: str, line: str, message: str = "", **fields: Any) -> tuple[Report, str]:
    """A compilation that failed at line 2 of the model's file."""
    lost: Compilation = frame("0/0", status="failed", error=error, error_type=error_type, error_place=Place("m.py", 2))
    return (
        replace(
            QUIET,
            setting=Setting(job=INDUCTOR),
            sources=(Source("m.py", Payload(0, 0)),),
            compilations=(replace(lost, **fields),),
            error=RunError("call 0: compiled", error_type, "", message or error, (), ""),
        ),
        f"def f(x):\n    {line}\n",
    )


def card(report: Report, source: str) -> Finding:
    (found,) = [finding for finding in findings(report, "", source) if finding.rule == "not compiled: failed"]
    return found


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("ok = a.all() and b.any()", "torch.logical_and(a.all(), b.any())"),
        ("return budget > 0 and moving", "torch.logical_and(budget > 0, moving)"),
        ("return a or b and not c", "torch.logical_or(a, torch.logical_and(b, torch.logical_not(c)))"),
    ],
)
def test_logical_operators_in_a_function_of_while_loop_have_torchs_functions(line: str, code: str) -> None:
    message = f"Got graph break/error:\nHigher Order Operator: torch.while_loop\n{HINTS}"
    found = card(*failing(UNCAPTURED, HINTS, line, message))
    assert found.advice == (
        "Dynamo raised it while it traced `m.py:2`, before any backend: no other backend helps. Python's `and`, `or` "
        f"and `not` need a bool. Write `{code}`. `torch.while_loop` raises it without `torch.compile`, too: it "
        "compiles code by itself."
    )
    assert found.proposal is None


def test_a_guard_on_data_names_the_condition_to_check_and_the_option_to_drop() -> None:
    error = "Could not guard on data-dependent expression u0 > 0"
    found = card(*failing("UserError", error, "if rows.numel() > 0:\n        x = x + 1\n    return x"))
    assert "write `torch._check(rows.numel() > 0)` before it; otherwise" in found.advice
    assert found.proposal is not None
    assert dict(found.proposal.compile) == {"fullgraph": False}


SYMBOL = "Pending unbacked symbols {u0} not in returned outputs"


@pytest.mark.parametrize(("fullgraph", "is_left_out"), [(False, True), (True, False)])
def test_a_symbol_that_torch_cannot_resolve_is_read_before_the_call(fullgraph: bool, is_left_out: bool) -> None:
    report, source = failing("PendingUnbackedSymbolNotFound", SYMBOL, "return torch.arange(n.item())")
    job = {"compile": {"fullgraph": fullgraph}, "conditions": {"dynamo": {"capture_scalar_outputs": True}}}
    found = card(replace(report, setting=Setting(job=job)), source)
    assert "Read the number before the call" in found.advice.replace("read the", "Read the")
    assert ("Leave `torch._dynamo.config.capture_scalar_outputs` out" in found.advice) == is_left_out
    assert (found.proposal is not None and found.proposal.dynamo == {"capture_scalar_outputs": False}) == is_left_out


def test_an_error_of_dynamo_that_torch_wraps_is_one_card() -> None:
    report, source = failing("PendingUnbackedSymbolNotFound", SYMBOL, "return torch.arange(n.item())")
    error = RunError(
        "call 0: compiled", "InternalTorchDynamoError", "", f"PendingUnbackedSymbolNotFound: {SYMBOL}", (), ""
    )
    assert [each.rule for each in findings(replace(report, error=error), "", source)] == ["not compiled: failed"]


def test_a_break_under_fullgraph_has_the_fix_of_its_line() -> None:
    error = (
        f"Data-dependent branching\n{HINTS}\n https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0170.html"
    )
    found = card(*failing("Unsupported", error, "return x if x.sum() > 0 else -x"))
    assert "Choose with `torch.where`." in found.advice


CAPTURED = ("dynamo_output_graph", "before_pre_grad_graph")
OF_AOT = "backend='inductor' raised:\nRuntimeError: no"


@pytest.mark.parametrize(
    ("error_type", "error", "stages", "phase"),
    [
        ("UserError", "no", CAPTURED[:0], "capture"),
        ("UserError", "no", CAPTURED[:1], "capture"),
        ("BackendCompilerFailed", OF_AOT, CAPTURED, "Inductor"),
        ("BackendCompilerFailed", OF_AOT, (*CAPTURED, "after_pre_grad_graph"), "AOTAutograd"),
        ("BackendCompilerFailed", OF_AOT.replace("inductor", "aot_eager"), CAPTURED[:1], "AOTAutograd"),
        ("BackendCompilerFailed", OF_AOT.replace("inductor", "aot_eager"), (CAPTURED[0], "dumped"), "AOTAutograd"),
        ("BackendCompilerFailed", OF_AOT.replace("inductor", "mine"), CAPTURED[:1], ""),
        ("InductorError", "LoweringException: no", ("aot_inference_graph",), "Inductor"),
        ("InductorError", "CppCompileError: C++ compile error", ("aot_inference_graph",), "generated code"),
    ],
)
def test_the_phase_of_an_error_follows_from_its_type_and_the_graphs_before_it(
    error_type: str, error: str, stages: tuple[str, ...], phase: Phase
) -> None:
    graphs = tuple(FxGraph(stage, cast(Stage, stage), "forward", 0, Payload(0, 0), {}, {}) for stage in stages)
    report, source = failing(error_type, error, "return x", graphs=graphs)
    assert failed_phase(report) == phase
    assert ("Try `backend=" in card(report, source).advice) is (phase == "")


def test_a_call_that_fails_without_a_failed_compilation_is_a_phase_of_its_own() -> None:
    report, _ = failing("AssertionError", "wrong stride", "return x")
    report = replace(report, compilations=(frame("0/0"),))
    assert failed_phase(report) == "run time"
    assert report.error is not None
    eager = replace(report, error=replace(report.error, stage="call 2: eager"))
    assert [failed_phase(each) for each in (eager, replace(report, compilations=()), QUIET)] == ["eager", "", ""]
    (found,) = [finding for finding in findings(report) if finding.rule == "raised at run time"]
    assert found.title == "Compiled code raised `AssertionError` in 1 call that eager made."


@pytest.mark.parametrize(
    ("raises", "says"), [(None, True), (True, True), (False, False)], ids=["not tried", "raises", "does not"]
)
def test_eager_is_blamed_as_tried_and_otherwise_by_the_operator(raises: bool | None, says: bool) -> None:
    message = f"Got graph break/error:\nHigher Order Operator: torch.while_loop\n{HINTS}"
    report, source = failing(UNCAPTURED, HINTS, "return a and b", message)
    assert report.error is not None
    report = replace(report, error=replace(report.error, eager_raises=raises))
    assert ("raises it without `torch.compile`, too" in card(report, source).advice) is says


def test_the_line_of_a_failure_is_the_users_and_not_the_librarys() -> None:
    report, source = failing("TorchRuntimeError", "no fake kernel", "return x", error_place=Place("torch/ops.py", 863))
    assert "`torch/ops.py:863`" in card(report, source).reason.replace("ops.py", "torch/ops.py")
    assert report.error is not None
    report = replace(report, error=replace(report.error, frames=(Frame("m.py", 2, "f"),)))
    assert "at `m.py:2`" in card(report, source).reason


def test_the_bisectors_answer_takes_the_place_of_the_next_backend() -> None:
    report = replace(QUIET, calls=call(Difference("output", False, actual="off")), setting=Setting(job=INDUCTOR))
    (found,) = findings(replace(report, bisection=Bisection(backend="aot_eager", trials=4, seconds=2.0)))
    assert (found.advice, found.proposal) == (
        "`aot_eager` is the first backend that fails or differs; no single part of it is the cause (torch's "
        "CompilerBisector, 4 trials in 2.00 s).",
        None,
    )
    (found,) = findings(replace(report, bisection=Bisection(problem="it took too long")))
    assert found.advice.startswith("Try `backend='aot_eager'`")


@pytest.mark.parametrize(
    ("calls", "exit_code", "compilations", "cards"),
    [(0, 0, (), 1), (2, 0, (), 0), (0, 1, (), 0), (0, 0, (frame("0/0"),), 0)],
)
def test_a_whole_script_that_never_called_its_compiled_model_has_a_card(
    calls: int, exit_code: int, compilations: tuple[Compilation, ...], cards: int
) -> None:
    entry = EntryPoint("Flow", Place("m.py", 7), "inductor")
    script = Script(arguments=(), exit_code=exit_code, seconds=1.0, entries=(entry,), calls=(calls,))
    found = findings(replace(QUIET, compilations=compilations, script=script), "", "")
    assert [each.title for each in found if each.rule == "not called"] == cards * [
        "What `torch.compile` returned for `Flow` at `m.py:7` was never called, so that nothing of it was compiled."
    ]


@pytest.mark.parametrize(
    ("stance", "source", "cause"),
    [
        ("force_eager", "", "the stance `force_eager`"),
        ("", "torch._dynamo.config.disable = True", "`torch._dynamo.config.disable` is set"),
        ("", 'os.environ["TORCHDYNAMO_DISABLE"] = "1"', "the code sets `TORCHDYNAMO_DISABLE`"),
        ("", "net = torch.compile(net, disable=True)", "`disable=True`"),
        ("", "# net = torch.compile(net, disable=True)", ""),
        ("", "\n\n\n\n\n\nnet.compile(backend='eager')", "compiled in place"),
        ("", "\n\n\n\n\n\nnet = torch.compile(net)", ""),
        ("", "with FlopCounterMode(display=False):\n    net(x)", "dispatch mode was active"),
        ("", "class Log(TorchDispatchMode): pass", "dispatch mode was active"),
    ],
)
def test_a_setting_that_keeps_a_script_from_compiling_has_a_card(stance: str, source: str, cause: str) -> None:
    script = Script((), 0, 1.0, entries=(EntryPoint("Flow", Place("m.py", 7), "inductor"),), calls=(1,))
    calls = (Call(0, "f32[2]", None, 1.0, (), stance=stance),)
    sources = (Source("m.py", Payload(0, 0)),)
    report = replace(QUIET, compilations=(), script=script, calls=calls, sources=sources)
    found = findings(report, "", source)
    titles = [each.title for each in found if each.rule == "nothing compiled"]
    assert len(titles) == bool(cause)
    assert all(cause in title for title in titles)


FAST = "fast = torch.compile(f)\n"
ONCE = "start = time.perf_counter()\nfast(x)\nprint(time.perf_counter() - start)\n"
STEP = "start = time.time()\n    {name}(x)\n"
BOTH = (
    f"for label, g in (('eager', f), ('compiled', fast)):\n    {STEP.format(name='g')}    print(time.time() - start)\n"
)
TIMES = f"times = []\nfor x in data:\n    {STEP.format(name='fast')}    times.append(time.time() - start)\n"
HELPER = "def bench(g):\n    start = time.time()\n    g(x)\n    return time.time() - start\n"


@pytest.mark.parametrize(
    ("source", "is_timed"),
    [
        (f"{FAST}{ONCE}", True),
        (f"{FAST}a.record()\nfast(x)\nb.record()\nprint(a.elapsed_time(b))\n", True),
        (f"{FAST}print(timeit.timeit(lambda: fast(x), number=9))\n", True),
        (f"{HELPER}{FAST}bench(f), bench(fast)\n", True),
        (f"{FAST}{BOTH}", True),
        (BOTH.replace("fast)", "torch.compile(f))"), True),
        (BOTH.replace("fast)", "f)"), False),
        (f"{FAST}{BOTH.replace('start', 'g(x)', 1).replace('g(x) =', 'g(x); start =')}", False),
        (f"{FAST}{TIMES}print(np.mean(times))\n", True),
        (f"{FAST}{TIMES}print(sum(times) / 9)\n", True),
        (f"{FAST}{TIMES}print(median(times))\n", False),
        (f"{FAST}{TIMES}print(np.mean(times[1:]))\n", False),
        (f"{FAST}{TIMES}times.pop(0)\nprint(np.mean(times))\n", False),
        (f"{FAST}warm_up(fast)\n{TIMES}print(np.mean(times))\n", False),
        (f"{FAST}fast(x)\n{ONCE}", False),
        (f"{FAST}{ONCE}{ONCE}", False),
        (f"{FAST}for x in data:\n    start = time.time()\n    fast(x)\n    print(time.time() - start)\n", False),
        (f"{HELPER}{FAST}bench(fast)\nbench(fast)\n", False),
        (f"{HELPER}{FAST}fast(x)\nbench(fast)\n", False),
        (f"{FAST}start = time.time()\nf(x)\nprint(time.time() - start)\nfast(x)\n", False),
    ],
)
def test_a_clock_around_the_first_compiled_call_is_a_finding(source: str, is_timed: bool) -> None:
    found = findings(FIRES["first call timed"], source=source)
    assert ("first call timed" in {each.rule for each in found}) == is_timed


@pytest.mark.parametrize(("later", "is_stale"), [("scale = 3", True), ("other = 3", False)])
def test_a_script_whose_cached_function_reads_what_changes_has_a_card(later: str, is_stale: bool) -> None:
    source = f"scale = 2\n@functools.cache\ndef factor():\n    return scale\nf = torch.compile(g)\nf(x)\n{later}\n"
    output = "Dynamo ignores the cache wrapper and directly traces the wrapped function."
    rules = {each.rule for each in findings(FIRES["results may differ"], output, source)}
    assert ("results may differ" in rules) == is_stale
    assert "results may differ" not in {each.rule for each in findings(FIRES["results may differ"], "", source)}


def test_an_error_of_a_script_has_one_card() -> None:
    error = RunError("running the script", "ValueError", "", "4 is odd", (Frame("m.py", 9),), "")
    report = replace(QUIET, compilations=(), script=Script((), 1, 1.0, (), ()), error=error)
    (found,) = findings(report)
    assert (found.title, found.reason) == ("The script ended with `ValueError` at `m.py:9`.", "4 is odd.")
    long = replace(error, message="The backend raised:\n\nit takes no tensors.\nMore:\n  ...")
    assert findings(replace(report, error=long))[0].reason == "The backend raised: it takes no tensors."
    failed = replace(report, compilations=(frame("0/0", status="failed", error="no"),))
    assert "raised in a script" not in [each.rule for each in findings(failed)]
