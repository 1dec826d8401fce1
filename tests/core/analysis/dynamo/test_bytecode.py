"""Bytecode: the rows of a listing, in the words of several Pythons, and what goes on after a break."""

from dataclasses import replace

from core import load_text
from core.analysis.dynamo.compilations import Instruction, instructions, resume_compilations
from core.report import Bytecode
from tests.support.logs import recorded_report
from tests.support.places import TRACES
from tests.support.reports.findings import QUIET
from tests.support.reports.generating import MODELS, RESUME

PYTHON_3_11 = """
 18           0 RESUME                   0

 20          42 LOAD_GLOBAL              3 (NULL + print)
        >>   54 LOAD_CONST               1 ('mean')
             56 LOAD_GLOBAL              9 (NULL + __compiled_fn_5_900e544f_9efd)
             58 LOAD_GLOBAL              7 (NULL + __resume_at_108_6)
             60 RETURN_VALUE
ExceptionTable:
  2 to 4 -> 6 [0]
"""
PYTHON_3_13 = """
  18           RESUME                   0

  --   L1:     LOAD_FAST                1 (y)
  20           LOAD_CONST               2 (<code of torch_dynamo_resume_in_look_at_20, line 20>)
               RETURN_VALUE
"""


def test_a_row_has_its_line_offset_op_and_what_it_is_about() -> None:
    assert instructions(PYTHON_3_11) == (
        Instruction(18, "0", "RESUME", "0"),
        Instruction(20, "42", "LOAD_GLOBAL", "NULL + print"),
        Instruction(20, "54", "LOAD_CONST", "'mean'"),
        Instruction(20, "56", "LOAD_GLOBAL", "NULL + __compiled_fn_5_900e544f_9efd", "__compiled_fn_5_900e544f_9efd"),
        Instruction(20, "58", "LOAD_GLOBAL", "NULL + __resume_at_108_6", "", "__resume_at_108_6"),
        Instruction(20, "60", "RETURN_VALUE", ""),
    )


def test_a_newer_python_writes_labels_and_no_offsets() -> None:
    name = "torch_dynamo_resume_in_look_at_20"
    assert instructions(PYTHON_3_13) == (
        Instruction(18, "", "RESUME", "0"),
        Instruction(None, "", "LOAD_FAST", "y"),
        Instruction(20, "", "LOAD_CONST", f"<code of {name}, line 20>", "", name),
        Instruction(20, "", "RETURN_VALUE", ""),
    )


def test_torchs_own_listing_of_a_resume_function_is_found_in_a_log() -> None:
    log = TRACES / "foreign" / "trace.log"
    report = recorded_report(log)
    found = {item.id: item.bytecode for item in report.compilations}
    assert found["0/0"] is None
    resume = found["1/0"]
    assert resume is not None
    assert resume.original is not None
    assert resume.modified is not None
    rows = instructions(load_text(log, resume.modified))
    assert {item.graph.partition("_fn_")[0] for item in rows if item.graph} == {"__compiled"}


def test_a_name_in_the_modified_code_leads_to_the_compilations_of_its_function() -> None:
    _, generate, resume, *_ = MODELS
    broken = replace(generate, bytecode=Bytecode(resumes={"__resume_at_30_2": RESUME, "__resume_at_60_3": "unknown"}))
    report = replace(QUIET, compilations=(broken, resume))
    found = resume_compilations(report, broken)
    assert (found["__resume_at_30_2"], found[RESUME], found["__resume_at_60_3"]) == ((resume,), (resume,), ())
