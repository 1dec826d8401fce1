"""The conditions of a job, as the worker holds them: what became of each call, and what the caches gave."""

from importlib.util import find_spec

import pytest

from core import open_report
from core.analysis.durations import cache_totals
from core.job import Conditions
from tests.support.user_code import EAGER, INPUTS, RunCode

pytestmark = pytest.mark.torch
CODE = f"import torch\ndef model(x):\n    return x.sin() + 1{INPUTS}"
SIZES = ("f32[2]", "f32[3]", "f32[4]")


def test_a_call_that_the_stance_refuses_is_reported_in_torchs_words_and_the_run_goes_on(run_code: RunCode) -> None:
    conditions = Conditions(stance="fail_on_recompile", primed=True, threads=1, dynamo={"recompile_limit": 3})
    run = run_code(CODE, compile=EAGER, calls=SIZES, conditions=conditions, measure=True)
    report = open_report(run)
    assert run.status().state == "done"
    assert [(call.how, call.compilations, call.compiled_s is None) for call in report.calls] == [
        ("compiled", 1, False),
        ("raised", 0, True),
        ("raised", 0, True),
    ]
    assert report.calls[1].raised.startswith(
        "Detected recompile when torch.compile stance is 'fail_on_recompile'. filename:"
    )
    assert report.notes == ("The last call was not made compiled, since its stance refused it: nothing was measured.",)
    assert (report.timing, report.setting.threads) == (None, 1)
    assert report.counters is not None
    assert report.counters.recompile_limit == 3


def test_calls_are_compiled_reused_or_eager_and_sizes_and_marks_are_the_jobs(run_code: RunCode) -> None:
    run = run_code(CODE, compile=EAGER, calls=SIZES, sizes={"batch": 7}, marks=("0.0",))
    delayed = run_code(CODE, compile=EAGER, calls=SIZES, conditions=Conditions(stance="eager_then_compile"))
    told = [[(call.inputs, call.how, call.compilations) for call in open_report(one).calls] for one in (run, delayed)]
    assert told == [
        [("f32[7]", "compiled", 1), ("f32[7]", "reused", 0), ("f32[7]", "reused", 0)],
        [("f32[2]", "eager", 0), ("f32[3]", "compiled", 1), ("f32[4]", "reused", 0)],
    ]
    (symbol,) = open_report(run).compilations[0].symbols
    assert symbol.value == "7"


def test_a_bundle_is_loaded_into_empty_caches_and_sized_by_its_parts(run_code: RunCode) -> None:
    report = open_report(run_code(CODE, conditions=Conditions(caches="bundle")))
    filled = report.filled_caches
    assert filled is not None
    assert [(event.cache, event.outcome) for event in report.caches] == [("fx_graph", "hit"), ("aotautograd", "hit")]
    assert sorted(part.kind for part in filled.bundle) == ["aot_autograd", "inductor"]
    assert sum(part.bytes for part in filled.bundle) < filled.bundle_bytes
    assert len(filled.calls_s) == len(report.calls)
    assert filled.load_s is not None


@pytest.mark.skipif(find_spec("torch._dynamo.dynamo_profiler") is None, reason="torch 2.13 and later")
def test_dynamos_code_in_a_bundle_is_reused_without_tracing(run_code: RunCode) -> None:
    conditions = Conditions(caches="bundle", dynamo={"caching_precompile": True})
    report = open_report(run_code(CODE, conditions=conditions))
    assert [(call.how, call.compilations) for call in report.calls] == [("reused", 0)]
    assert [compilation.status for compilation in report.compilations] == ["ok"]
    assert (cache_totals(report)[0].hits, report.compilations[0].traced) == (1, None)
    traced = open_report(run_code(CODE)).compilations[0].traced
    assert traced is not None
    assert [(function.name, function.parent, function.calls) for function in traced.functions] == [("model", None, 1)]


def test_warm_caches_are_found_by_the_run_that_is_measured(run_code: RunCode) -> None:
    run = run_code(CODE, conditions=Conditions(caches="warm"))
    report = open_report(run)
    assert [(event.cache, event.outcome) for event in report.caches] == [("fx_graph", "hit"), ("aotautograd", "hit")]
    (note,) = report.notes
    assert note.startswith("A first process made the same compiled calls in ")
    assert note.endswith("This one found 1 of 1 FX graphs and 1 of 1 AOTAutograd's results there.")
    assert not (run.path / "caches").exists()
