"""What a frame is called: by its class, or where it stands, or what it goes on in."""

from dataclasses import replace

import pytest

from core.analysis.dynamo.failures import frame_names
from core.report import Bytecode, Compilation, Frame, Module
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.reports.findings import QUIET
from tests.support.reports.generating import GENERATING, LIB, UTILS, made


def named(*compilations: Compilation) -> list[str]:
    return list(frame_names(replace(QUIET, compilations=compilations)).values())


def test_a_method_has_its_class_and_what_resumes_it_and_its_recompiles_have_it_too() -> None:
    names = frame_names(GENERATING)
    assert [names[number] for number in ("0/0", "1/0", "2/0", "3/0", "4/0", "4/1", "6/0")] == [
        "model",
        "GPT.generate",
        "GPT.generate, after line 2845",
        "GPT._sample",
        "GPT (wrapper)",
        "GPT (wrapper)",
        "helper_6",
    ]


def test_a_log_from_elsewhere_shows_the_class_in_a_guard() -> None:
    assert list(frame_names(recorded_report(TRACES / "foreign" / "trace.log")).values()) == [
        *("Classifier.forward", "Classifier.forward, after line 15", "Classifier.forward, after line 17"),
        *("Classifier.forward", "Classifier.forward, after line 15", "Classifier.forward, after line 17"),
    ]


@pytest.mark.parametrize(
    ("qualname", "name"),
    [
        ("Net.forward", "Net.forward"),
        ("decorated.<locals>.forward", "decorated.forward"),
        ("forward", "forward at modeling.py:31"),
    ],
)
def test_without_a_class_the_qualified_name_counts_and_then_the_place(qualname: str, name: str) -> None:
    found = replace(made("0/0", "forward", LIB, 31, 5), bytecode=Bytecode(qualname=qualname))
    assert named(found) == [name]


def test_an_op_shows_the_class_where_no_guard_does() -> None:
    found = replace(
        made("0/0", "forward", LIB, 31, 5),
        modules={"pre_grad": {"add": Module("L['self'].norm", "RMSNorm"), "mul": Module("L['self']", "Block")}},
    )
    assert named(found) == ["Block.forward"]


def test_a_decorator_that_a_module_s_call_calls_is_its_forward() -> None:
    callers = tuple(Frame("module.py", line, name) for line, name in enumerate(("_wrapped_call_impl", "_call_impl"), 1))
    found = made("0/0", "wrapper", LIB, 937, 5, "Llama", (*callers, Frame("eval_frame.py", 9, "compile_wrapper")))
    assert named(found) == ["Llama.forward"]
    assert named(replace(found, stack=found.stack[2:])) == ["Llama (wrapper)"]


def test_of_functions_of_one_name_a_resume_is_of_the_last_that_begins_above() -> None:
    resume = "torch_dynamo_resume_in_forward_at_40"
    first, second = made("0/0", "forward", LIB, 10, 5, "One"), made("1/0", "forward", LIB, 30, 5, "Two")
    assert named(first, second, made("2/0", resume, LIB, 40))[-1] == "Two.forward, after line 40"
    assert named(made("2/0", resume, UTILS, 40)) == ["forward in utils.py, after line 40"]
