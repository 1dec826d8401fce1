"""Advice fits the run that it is given to: its backend, its files, the sizes that its guards leave open."""

from dataclasses import replace

import pytest

from core.analysis.findings import findings
from core.analysis.findings.answers import set_logs_call
from core.analysis.findings.break_advice import DYNAMIC
from core.report import (
    Difference,
    Frame,
    GraphBreak,
    Guard,
    Payload,
    Place,
    Recompile,
    Report,
    Setting,
    Source,
    Specialization,
    Symbol,
)
from core.trace.parsers.worker import source_remarks
from tests.support.reports.findings import FALLS_BACK, FIRES, QUIET, asking, call, frame, of

DIFFERS = replace(QUIET, calls=call(Difference("output", False, actual="off")))


def tensor(name: str, *sizes: int | None) -> Guard:
    return Guard("TENSOR_MATCH", f"L['{name}']", f"check_tensor(L['{name}'], size={list(sizes)}, stride=[])", 1)


def condition(text: str) -> Guard:
    return Guard("LAMBDA_GUARD", "", text, 1)


def resized(later: tuple[Guard, ...], first: tuple[Guard, ...] = (tensor("h", 50, 8), tensor("batch", 50))) -> Report:
    """A frame that was compiled again for another size of `h`."""
    symbols = (Symbol("s0", "L['h'].size()[0]", "70", ""), Symbol("s1", "L['batch'].size()[0]", "70", ""))
    frames = frame("0/0", guards=first), frame("0/1", guards=later, symbols=symbols)
    reason = "tensor 'h' size mismatch at index 0. expected 50, actual 70"
    return replace(QUIET, compilations=frames, recompiles=(Recompile("0/1", "0/0", reason),))


def advice(report: Report, rule: str = "recompiles") -> str:
    (found,) = of(report, rule)
    return found.advice


def test_all_inputs_of_the_size_that_changed_are_marked_together() -> None:
    tied = condition("L['batch'].size()[0] == L['h'].size()[0]  # (unknown var s2, please file a bug)")
    assert advice(resized((tensor("h", None, 8), tensor("batch", None), tied))) == (
        "Before the first call together: `torch._dynamo.mark_dynamic(h, 0)`, `torch._dynamo.mark_dynamic(batch, 0)`; "
        "or `dynamic=True`. One graph then takes all of these sizes."
    )


@pytest.mark.parametrize(
    ("later", "first", "words"),
    [
        ((tensor("h", 70, 8),), (tensor("h", 50, 8),), "Tracing specializes on this size"),
        (
            (tensor("h", None, 8), condition("L['h'].size()[0] != 50")),
            (tensor("h", 50, 8),),
            "takes a different branch in the code, and each branch needs a compilation",
        ),
        ((tensor("h", None, 50),), (tensor("h", 50, 50),), "`dynamic=True` is not enough"),
        ((), (), "`dynamic=True` makes sizes symbolic from the first call."),
    ],
)
def test_what_the_guards_refute_is_not_advised(later: tuple[Guard, ...], first: tuple[Guard, ...], words: str) -> None:
    assert words in advice(resized(later, first))


def test_the_line_that_makes_a_size_a_constant_is_named() -> None:
    first, again = resized((tensor("h", 70, 8),)).compilations
    made = Specialization("s0", ("L['h'].size()[0]",), "70", stack=(Frame("/runs/model.py", 9, "forward"),))
    report = replace(resized(()), compilations=(first, replace(again, specializations=(made,))))
    assert advice(report) == (
        "Tracing specializes on this size at `model.py:9`, so each size needs a compilation: pad inputs to few sizes."
    )


def test_a_call_of_size_one_keeps_a_compilation_of_its_own() -> None:
    report = resized((tensor("h", None, 8),), (tensor("h", 1, 8),))
    reason = "tensor 'h' size mismatch at index 0. expected 1, actual 70"
    said = advice(replace(report, recompiles=(Recompile("0/1", "0/0", reason),)))
    assert "torch specializes size 1: a call with it always needs its own compilation." in said
    assert "make the first call with 2 or more" in said
    assert "mark_dynamic" not in said


@pytest.mark.parametrize(
    ("backend", "words", "tried"),
    [
        ("inductor", "Try `backend='aot_eager'`: if the problem is gone, Inductor causes it.", "aot_eager"),
        ("aot_eager", "Try `backend='eager'`: if the problem is gone, AOTAutograd causes it.", "eager"),
        ("eager", "No backend is involved: compare the graph that Dynamo captured", None),
        ("mine", "`mine` causes it. The page Backend shows its output (execution 0, output).", "eager"),
    ],
)
def test_the_next_backend_to_try_is_below_the_one_that_ran(backend: str, words: str, tried: str | None) -> None:
    (found,) = of(replace(DIFFERS, setting=Setting(job={"compile": {"backend": backend}})), "results differ")
    assert words in found.advice
    assert (found.proposal.compile["backend"] if found.proposal else None) == tried


def test_code_that_asks_whether_it_is_compiled_is_the_first_suspect_of_a_difference() -> None:
    report = replace(DIFFERS, sources=(asking(),), setting=Setting(job={"compile": {"backend": "inductor"}}))
    (differs,) = of(report, "results differ")
    assert differs.advice.startswith("The code branches on being compiled, at `m.py:5`: try `backend='eager'`")
    assert [found.weight for found in of(report, "asks whether it is compiled")] == ["wrong"]
    assert [found.weight for found in of(FIRES["asks whether it is compiled"], "asks whether it is compiled")] == [
        "note"
    ]


def test_lines_that_ask_are_found_in_code_and_not_in_text() -> None:
    code = '"""is_compiling()"""\nimport os, torch\nif torch.compiler.is_compiling():  # is_compiling\n    pass\n'
    code += 'os.environ["TORCH_LOGS"] = "dynamo"\nos.environ.setdefault("TORCH_LOGS", "x")\n'
    code += 'print(os.environ["TORCH_LOGS"])\n'
    assert [(item.kind, item.line.line, item.line.text) for item in source_remarks("m.py", code)] == [
        ("asks whether it is compiled", 3, "if torch.compiler.is_compiling():  # is_compiling"),
        ("sets TORCH_LOGS", 5, 'os.environ["TORCH_LOGS"] = "dynamo"'),
        ("sets TORCH_LOGS", 6, 'os.environ.setdefault("TORCH_LOGS", "x")'),
    ]
    assert source_remarks("m.py", "is_compiling( no Python") == ()
    before = 'import os\nos.environ["TORCH_LOGS"] = "dynamo"\nfrom torch import nn\nprint(f"{nn} is deprecated")\n'
    assert [(item.kind, item.line.text) for item in source_remarks("m.py", before)] == [("slow text", "is deprecated")]


def broken(file: str, *hints: str, reason: str = "no") -> Report:
    stack = (Frame("/home/me/m.py", 9, "train", "opt.step()"), Frame(file, 79, "step"))
    return replace(QUIET, graph_breaks=(GraphBreak(reason, "", hints, "", "", Place(file, 79), "", stack, ()),))


def test_no_line_of_a_library_is_advised_to_be_edited() -> None:
    torchs = "/venv/lib/python3.11/site-packages/torch/optim/optimizer.py"
    remove = "Remove the `torch._dynamo.graph_break()` call."
    of_torch = broken(torchs, remove, reason="Call to `torch._dynamo.graph_break()`")
    assert "`torch.compile(optimizer.step)`" in advice(of_torch, "graph breaks")
    library = advice(broken("/venv/lib/python3.11/site-packages/lib/a.py", remove), "graph breaks")
    assert "it is reached from `m.py:9`, `opt.step()`" in library
    assert "Remove" not in library
    assert advice(broken("/home/me/m.py", remove), "graph breaks") == f"torch's hint: {remove}"


def test_a_librarys_line_is_marked_by_its_function_where_the_log_has_no_line_of_the_user() -> None:
    report = broken("/venv/lib/python3.11/site-packages/lib/a.py", "Try `torch.compiler.set_stance('force_eager')`.")
    (found,) = report.graph_breaks
    own = advice(report, "graph breaks")
    assert (
        "Move that call out of the compiled function, or into a separate function marked with `torch.compiler.disable`"
        in own
    )
    assert "set_stance" not in own
    theirs = replace(report, graph_breaks=(replace(found, stack=found.stack[1:]),))
    assert "or mark `step` of `a.py:79` with `torch.compiler.disable`" in advice(theirs, "graph breaks")


DDP = "/venv/lib/python3.11/site-packages/torch/nn/parallel/distributed.py"
HOOKS = "/venv/lib/python3.11/site-packages/torch/utils/hooks.py"
CONTEXT = "/usr/lib/python3.11/contextlib.py"


@pytest.mark.parametrize(
    ("files", "title"),
    [
        ((DDP, CONTEXT), "1 graph break in the code of DistributedDataParallel itself."),
        (("/home/me/m.py", DDP, CONTEXT), "1 graph break in the code of DistributedDataParallel itself."),
        ((HOOKS,), "1 graph break in the code of torch itself."),
        ((DDP, "/home/me/m.py", HOOKS), "Graph break at `m.py:5`, in `hooks.py:5`."),
    ],
)
def test_breaks_of_torchs_own_code_are_one_note_without_a_duty(files: tuple[str, ...], title: str) -> None:
    stack = tuple(Frame(file, 5, "call") for file in files)
    own = GraphBreak("no", "", ("Move it.",), "", "", Place(files[-1], 5), "", stack, ("0/0",))
    (found,) = of(replace(QUIET, graph_breaks=(own,), compilations=(frame("0/0"),)), "graph breaks")
    assert found.title == title
    is_own = "itself" in title
    assert (found.weight == "note") is is_own
    assert ("There is nothing to change" in found.advice) is is_own


def test_a_line_of_torch_below_a_library_is_marked_by_the_librarys_function() -> None:
    library = "/venv/lib/python3.11/site-packages/lib/a.py"
    stack = (Frame(library, 40, "register"), Frame(HOOKS, 27, "__init__"))
    broken_in_torch = GraphBreak("no", "", (), "", "", Place(HOOKS, 27), "", stack, ("0/0",))
    said = advice(replace(QUIET, graph_breaks=(broken_in_torch,), compilations=(frame("0/0"),)), "graph breaks")
    assert "or mark `register` of `a.py:40` with `torch.compiler.disable`" in said


def test_a_frame_that_is_given_up_is_not_advised_another_break() -> None:
    report = broken("/venv/lib/python3.11/site-packages/lib/a.py")
    (found,) = report.graph_breaks
    given_up = replace(
        report,
        compilations=(frame("0/0", status="failed", error_type="Unsupported"),),
        graph_breaks=(replace(found, compilations=("0/0",)),),
    )
    assert advice(given_up, "graph breaks").endswith("Move that call out of the compiled function.")
    assert "makes Dynamo skip the whole frame" in advice(given_up, "not compiled")


def test_a_frame_with_an_rnn_is_offered_the_setting_that_lets_dynamo_trace_it() -> None:
    report = broken("/home/me/m.py", reason="Attempted to wrap RNN, GRU, or LSTM")
    (found,) = report.graph_breaks
    given_up = replace(
        report,
        compilations=(frame("0/0", status="failed", error_type="Unsupported"),),
        graph_breaks=(replace(found, registry_id="GB0014", compilations=("0/0",)),),
    )
    for rule in ("not compiled", "graph breaks"):
        (card,) = of(given_up, rule)
        assert card.proposal is not None
        assert (card.proposal.words, dict(card.proposal.dynamo)) == (
            "torch._dynamo.config.allow_rnn = True",
            {"allow_rnn": True},
        )
    assert advice(given_up, "not compiled").startswith("Set `torch._dynamo.config.allow_rnn = True`. Dynamo then")


@pytest.mark.parametrize(
    ("line", "call"),
    [
        (
            'os.environ["TORCH_LOGS"] = "+dynamo,graph_breaks,torch.fx,-cache"',
            "torch._logging.set_logs(dynamo=logging.DEBUG, graph_breaks=True, "
            "modules={'torch.fx': logging.INFO, 'cache': logging.ERROR})",
        ),
        ('os.environ.setdefault("TORCH_LOGS", "guards")', "torch._logging.set_logs(guards=True)"),
        ('os.environ["TORCH_LOGS"] = chosen', ""),
        ('os.environ["TORCH_LOGS"] = "a b);x"', ""),
        ('os.environ["TORCH_LOGS"] = (', ""),
    ],
)
def test_torch_logs_has_a_call_that_does_the_same(line: str, call: str) -> None:
    assert set_logs_call(line) == call


def test_torch_logs_that_is_set_after_the_import_has_no_effect_and_a_call_has() -> None:
    (remark,) = asking("sets TORCH_LOGS").remarks
    line = 'os.environ["TORCH_LOGS"] = "guards"'
    source = replace(asking(), remarks=(replace(remark, line=replace(remark.line, text=line)),))
    (finding,) = of(replace(QUIET, sources=(source,)), "TORCH_LOGS set too late")
    assert (finding.title, finding.reason, finding.advice, finding.weight) == (
        "`TORCH_LOGS` at `m.py:5` has no effect: it is set after torch was imported.",
        "torch reads the variable once, at import.",
        "Replace it with `torch._logging.set_logs(guards=True)`. While the variable is set, torch ignores that call.",
        "note",
    )


def test_random_numbers_are_drawn_as_eager_draws_them_by_an_option_of_inductor_alone() -> None:
    drawn = FIRES["random numbers"]
    for backend, fires in (("inductor", True), ("aot_eager", False), ("mine", False)):
        setting = Setting(job={"compile": {"backend": backend}})
        assert bool(of(replace(drawn, setting=setting), "random numbers")) is fires


def test_a_hint_to_do_what_the_run_does_is_left_out() -> None:
    report = broken("/home/me/m.py", "Consider using fullgraph=False.", "Use a tensor.")
    assert advice(report, "graph breaks") == "torch's hint: Use a tensor."
    whole = replace(report, setting=Setting(job={"compile": {"fullgraph": True}}))
    assert advice(whole, "graph breaks") == "torch's hint: Consider using fullgraph=False."


def at_line(code: str, kind: str = "GB0170") -> tuple[Report, str]:
    """A break at line 2 of a function."""
    found = GraphBreak("no", "", (), "", kind, Place("m.py", 2), code.split("\n")[0], (), ("0/0",))
    return replace(
        QUIET, graph_breaks=(found,), sources=(Source("m.py", Payload(0, 0)),)
    ), f"def f(x, y):\n    {code}\n"


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("ok = x.all() and not y.any()", "Write `torch.logical_and(x.all(), torch.logical_not(y.any()))`."),
        ("ok = x is not None and y.any()", "Python decides here by a tensor's value."),
        ("if x.isnan().any():\n        raise ValueError", "_assert_async(torch.logical_not(x.isnan().any()), '…')"),
        ("while x.isnan().any():\n        x = x + y", "`torch.while_loop`"),
    ],
)
def test_a_line_that_decides_by_a_tensor_gets_the_advice_for_what_it_does(code: str, words: str) -> None:
    report, source = at_line(code)
    assert words in findings(report, "", source)[0].advice


@pytest.mark.parametrize(
    ("later", "is_set"),
    [
        ("return x[i]", True),
        ("if i.numel():\n        x = x[i]", False),
        ("n = len(i)\n    return n if n else x", False),
    ],
)
def test_a_size_that_decides_later_gets_no_setting(later: str, is_set: bool) -> None:
    report, source = at_line(f"i = x.nonzero()\n    {later}", "GB0036")
    found = findings(report, "", source)[0]
    assert ("capture_dynamic_output_shape_ops = True" in found.advice) == is_set == (found.proposal is not None)


@pytest.mark.parametrize(
    ("op", "is_set"),
    [
        ("aten.nonzero.default", True),
        ("aten._unique2.default", True),
        ("own.kept.default", True),
        ("aten._ctc_loss.Tensor", False),
        ("aten.linalg_lstsq.default", False),
    ],
)
def test_an_op_without_a_symbol_for_its_size_gets_no_setting(op: str, is_set: bool) -> None:
    report, source = at_line("i = sized(x)", "GB0036")
    broken = replace(report.graph_breaks[0], context=op)
    found = findings(replace(report, graph_breaks=(broken,)), "", source)[0]
    assert ("capture_dynamic_output_shape_ops" in found.advice) == is_set == (found.proposal is not None)
    assert ("torch has no symbol for this size" in found.advice) == (not is_set)


def test_a_hint_that_eager_may_raise_is_dropped_for_the_explanation() -> None:
    hint = "Your code may result in an error when running in eager."
    found = replace(broken("/home/me/m.py", hint).graph_breaks[0], explanation="No handler.")
    assert advice(replace(QUIET, graph_breaks=(found,)), "graph breaks").endswith("torch's explanation: No handler.")


def test_a_size_that_follows_a_parameter_gets_the_setting_for_parameters() -> None:
    weight = "L['norm']._parameters['weight']"
    guards = [
        (tensor("h", 50, size), Guard("TENSOR_MATCH", weight, f"check_tensor({weight}, size=[{size}], stride=[])", 1))
        for size in (8, 9)
    ]
    reasons = (Recompile("0/1", "0/0", "tensor 'h' size mismatch at index 1. expected 8, actual 9"),)
    frames = frame("0/0", guards=guards[0]), frame("0/1", guards=guards[1])
    static = Setting(job={"compile": {"dynamic": False}})
    for setting in (QUIET.setting, static):
        (found,) = of(replace(QUIET, setting=setting, compilations=frames, recompiles=reasons), "recompiles")
        assert "`torch._dynamo.config.force_parameter_static_shapes = False`" in found.advice
        assert found.proposal is not None
        assert (found.proposal.dynamo, found.proposal.compile) == (
            {"force_parameter_static_shapes": False, "force_nn_module_property_static_shapes": False},
            {"dynamic": True},
        )


def test_an_array_is_not_marked() -> None:
    first, later = tensor("a", 3), tensor("a", None)
    guards = [replace(each, source="___from_numpy(L['a'])") for each in (first, later)]
    reasons = (Recompile("0/1", "0/0", "tensor '___from_numpy(a)' size mismatch at index 0. expected 3, actual 4"),)
    frames = frame("0/0", guards=(guards[0],)), frame("0/1", guards=(guards[1],))
    assert "mark_dynamic" not in advice(replace(QUIET, compilations=frames, recompiles=reasons))


def test_complex_numbers_are_no_missing_package() -> None:
    text = "Torchinductor does not support code generation for complex operators. Performance may be worse than eager."
    (found,) = findings(QUIET, f"/lib/lowering.py:9: UserWarning: {text}\n")
    assert (found.weight, "torch.view_as_real" in found.advice) == ("note", True)


def test_a_break_without_a_cost_has_no_zeros() -> None:
    (found,) = of(broken("/home/me/m.py"), "graph breaks")
    assert found.title == "Graph break at `m.py:79`."


def test_a_library_that_says_it_is_slow_is_quoted_with_its_line() -> None:
    printed = f"\x1b[33m/lib/conv.py:7: UserWarning: {FALLS_BACK}\x1b[0m\n  warnings.warn(text)\nplain text\n"
    (found,) = findings(QUIET, printed * 2)
    assert (found.title, found.weight) == (f"The library printed: {FALLS_BACK}", "cost")
    assert found.reason == "`conv.py:7` printed it, 2 times."


def test_a_print_of_the_code_itself_is_no_advice() -> None:
    code = "import torch\nfor n in range(2):\n    print(f'Segment {n}: fallback (2 ops)')\n"
    report = replace(QUIET, sources=(Source("m.py", Payload(0, 0), source_remarks("m.py", code)),))
    printed = "Segment 0: fallback (2 ops)\nSegment 1: fallback (2 ops)\n"
    assert findings(report, printed) == findings(report, "")
    assert [found.rule for found in findings(report, f"{printed}{FALLS_BACK}\n")] == ["printed"]


@pytest.mark.parametrize(("device", "weight"), [("cpu", "note"), ("cuda", "cost")])
def test_a_fast_path_that_may_be_of_another_device_costs_nothing_on_a_cpu(device: str, weight: str) -> None:
    (found,) = findings(replace(QUIET, setting=Setting(job={"device": device})), FALLS_BACK)
    assert (found.weight, "runs on a CPU" in found.advice) == (weight, device == "cpu")


@pytest.mark.parametrize(
    ("device", "words"), [("cpu", "leave out `mode='reduce-overhead'`"), ("cuda", "set_logs(cudagraphs")]
)
def test_cuda_graphs_are_advised_on_where_there_are_any(device: str, words: str) -> None:
    report = replace(FIRES["CUDA graphs skipped"], setting=Setting(job={"device": device}))
    assert words in advice(report, "CUDA graphs skipped")


@pytest.mark.parametrize(
    ("job", "inputs", "words"),
    [
        ({"device": "cuda"}, "bf16[1, 100]", "with a single row"),
        ({"device": "cuda"}, "bf16[1, 1, 100]", "with a single row"),
        ({"device": "cuda"}, "bf16[16, 100]", ""),
        ({"device": "cuda", "compile": {"mode": "max-autotune"}}, "bf16[1, 100]", "with a single row"),
        ({"device": "cpu"}, "bf16[1, 100]", "with three dimensions"),
        ({"device": "cpu"}, "bf16[2, 1, 100]", ""),
        ({"device": "cpu"}, "f32[1, 100]", ""),
    ],
)
def test_converted_int8_weights_have_the_advice_of_their_device_and_input(
    job: dict[str, object], inputs: str, words: str
) -> None:
    report = FIRES["weights converted"]
    (item,) = report.compilations
    (schedule,) = item.schedules
    buffers = (schedule.buffers[0], replace(schedule.buffers[1], dtype="bfloat16"))
    item = replace(item, schedules=(replace(schedule, buffers=buffers),))
    calls = tuple(replace(one, inputs=inputs) for one in call())
    (found,) = of(replace(report, compilations=(item,), calls=calls, setting=Setting(job=job)), "weights converted")
    assert words in found.advice
    assert found.advice.endswith("Convert the weights once, before the first call, if the memory suffices: they take "
                                 "4.00 kB instead of 1.00 kB.")  # fmt: skip
    assert found.advice.startswith("Convert the weights once") == (not words)
    offered = {"options": {"coordinate_descent_tuning": True}} if words == "with a single row" else None
    # torch.compile takes no options beside a mode.
    assert (found.proposal.compile if found.proposal else None) == (offered if "compile" not in job else None)


def test_attention_that_was_taken_apart_is_counted_and_a_fused_call_is_not() -> None:
    (found,) = of(FIRES["attention decomposed"], "attention decomposed")
    assert found.title.startswith("1 call of scaled_dot_product_attention became bmm, softmax and bmm")
    (item,) = FIRES["attention decomposed"].compilations
    fused = replace(item.graphs[1], targets={"torch.ops.aten._scaled_dot_product_flash_attention.default": 1})
    assert (
        of(replace(QUIET, compilations=(replace(item, graphs=(item.graphs[0], fused)),)), "attention decomposed") == []
    )


def test_a_tensor_of_the_model_is_not_marked() -> None:
    report = resized((tensor("h", None, 8), tensor("batch", None)))
    stack = (
        Frame("torch/_dynamo/eval_frame.py", 1, "compile_wrapper"),
        Frame("m.py", 3, "forward"),
        Frame("m.py", 9, "helper"),
    )
    inner = replace(report, compilations=tuple(replace(item, stack=stack) for item in report.compilations))
    assert advice(inner) == f"{DYNAMIC}; `h` is created inside the model, where no size can be marked."
    static = replace(inner, setting=Setting(job={"compile": {"dynamic": True}}))
    assert advice(static).endswith("where no size can be marked. Remove the graph break instead.")
