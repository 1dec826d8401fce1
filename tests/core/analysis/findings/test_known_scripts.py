"""Causes of the book for errors of scripts, by their message and the script's code."""

from dataclasses import replace

import pytest

from core.analysis.findings import findings
from core.report import RunError
from tests.support.reports.findings import FIRES

EXPORT = "torch.export.export(net, (x,))"
TITLES = {
    ("TypeError: no denoiser: OptimizedModule", ""): "The code gets the wrapper of a compiled module",
    ("ValueError: OptimizedModule is no sampler", ""): "The code gets the wrapper of a compiled module",
    ("AttributeError: 'OptimizedModule' object has no attribute 'widht'", ""): "The script ended with `AttributeError`",
    ("Unsupported: Unsupported functorch tracing attempt", ""): "A transform of `torch.func` calls compiled code.",
    (
        "RuntimeError: Trying to run Pytorch Eager Module after Dynamo Freezing.",
        "",
    ): "The call needs the model's weights",
    ("E: Could not guard on data-dependent expression u0 > 2 (unhinted: u0 > 2).", EXPORT): "The export needs `u0 > 2`",
    (
        "E: Could not guard on data-dependent expression Eq(zuf0, -oo) (unhinted: a)",
        EXPORT,
    ): "The export needs `Eq(zuf0",
    (
        "E: Could not guard on data-dependent expression u0 > 2 (unhinted: u0 > 2).",
        "net(x)",
    ): "The script ended with `E`",
}


@pytest.mark.parametrize(("message", "source"), TITLES)
def test_an_error_of_a_script_has_the_card_of_its_cause(message: str, source: str) -> None:
    kind, _, text = message.partition(": ")
    error = RunError("running the script", kind, "", text, (), "")
    found = findings(replace(FIRES["raised in a script"], error=error), source=source)
    assert [each.title.startswith(TITLES[message, source]) for each in found] == [True]
    assert "{" not in f"{found[0].reason}{found[0].advice}"
