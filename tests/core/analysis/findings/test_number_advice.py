"""Advice for a number that varies holds for the run: what torch specializes again gets no `dynamic=True`."""

from dataclasses import replace

from core.analysis.findings import Finding, findings
from core.analysis.findings.number_advice import counters
from core.report import Guard, Payload, Place, Recompile, Report, Source, Symbol
from tests.support.reports.findings import QUIET, frame

BETAS = "L['self'].param_groups[0]['betas'][0]"
SCHEDULER = "plan = torch.optim.lr_scheduler.OneCycleLR(adam, max_lr=rate)\nadam.step()\nplan.step()\n"
SYMBOL = Symbol("zf0", "L['n']", "2.5", "")


def varied(*, guards: tuple[Guard, ...] = (), more: tuple[Recompile, ...] = ()) -> Report:
    """A frame that recompiled for another `n`, which became a symbol."""
    frames = frame("0/0"), frame("0/1", symbols=(SYMBOL,), guards=guards), frame("0/2", symbols=(SYMBOL,))
    return replace(QUIET, compilations=frames, recompiles=(Recompile("0/1", "0/0", "n == 1.5"), *more))


def advice(report: Report, source: str = "") -> Finding:
    (found,) = [finding for finding in findings(report, "", source) if finding.rule == "recompiles"]
    return found


def test_dynamic_is_advised_for_a_number_that_stays_symbolic() -> None:
    assert advice(varied()).advice == "`dynamic=True` makes it symbolic from the first call."


def test_dynamic_is_not_advised_for_a_number_that_is_specialized_again() -> None:
    again = Guard("LAMBDA_GUARD", "", "L['n'] == 2.5\nL['n'] == 2.5", 1)
    failed = Recompile("0/2", "0/1", "n == 2.5")
    for report in (varied(guards=(again,)), varied(more=(failed,))):
        assert "dynamic=True" not in advice(report).advice
        assert advice(report).proposal is None


def test_a_hyperparameter_names_the_scheduler_and_its_line() -> None:
    reason = Recompile("0/1", "0/0", f"{BETAS} == 0.95".replace("L['self']", "self"))
    sources = (Source("/home/me/train.py", Payload(0, 0)),)
    found = advice(
        replace(QUIET, compilations=(frame("0/0"), frame("0/1")), recompiles=(reason,), sources=sources), SCHEDULER
    )
    assert found.title.endswith("the optimizer's `betas` changed value.")
    assert found.advice == (
        "`OneCycleLR` changes `betas` in its step at `train.py:3`. `OneCycleLR` and `CyclicLR` keep `betas` with "
        "`cycle_momentum=False`: one compilation is then enough."
    )


def test_a_key_is_looked_up_outside_instead_of_stored_in_a_tensor() -> None:
    reason = Recompile(
        "0/1", "0/0", "self.level == 1.0", code="return x + table[self.level]", location=Place("m.py", 3)
    )
    found = advice(replace(QUIET, compilations=(frame("0/0"), frame("0/1")), recompiles=(reason,)))
    assert found.advice == (
        "`table[self.level]` needs the value itself. Look it up where `self.level` is set, and keep the result in an "
        "attribute."
    )


def test_one_attribute_that_recompiles_several_functions_has_one_finding() -> None:
    frames = (
        frame("0/0"),
        frame("0/1"),
        frame("1/0", "torch_dynamo_resume_in_forward_at_3"),
        frame("1/1", "torch_dynamo_resume_in_forward_at_3"),
    )
    reasons = Recompile("0/1", "0/0", "self.index == 0"), Recompile("1/1", "1/0", "self.index == 0")
    source = "class A:\n    def __init__(self, i):\n        self.index = i\n"
    source += "    def forward(self, x):\n        return x if self.index else -x\n"
    found = advice(replace(QUIET, compilations=frames, recompiles=reasons), source)
    assert (
        found.title
        == "`forward at m.py:3` and 1 other function recompiled 2 times: `self.index` differs between instances."
    )
    assert found.advice == (
        "It never changes; instances with other values share this code. Compute `self.index` once, in `__init__`, and "
        "test the result: instances with equal results share a compilation."
    )


def test_a_counter_is_named_if_a_condition_needs_it() -> None:
    code = "class M:\n    def forward(self, x):\n        self.steps += 1\n        return x if self.steps < 9 else -x\n"
    reasons = (Recompile("0/1", "0/0", "self.steps == 2"), Recompile("0/2", "0/1", "self.other == 2"))
    (named,) = counters(code, replace(QUIET, recompiles=reasons))
    assert named.words == (
        "Compute `self.steps < 9` outside of the compiled function, and pass the result: two compilations take all "
        "values."
    )
    assert not list(
        counters(code.replace("if self.steps < 9 else -x", "+ self.steps"), replace(QUIET, recompiles=reasons))
    )
