"""The guide to passes is carried out: its pass is a step of the film, and the result equals eager."""

import re

import pytest

from core import CompileJob, Model, Runner, open_report
from core.analysis.results import results
from tests.support.documents import blocks
from tests.support.places import ROOT

pytestmark = pytest.mark.torch


def test_the_pass_of_the_guide_removes_both_negations_and_keeps_the_result(runner: Runner) -> None:
    (code,) = blocks("docs/adding-a-pass.md", "python")
    run = runner.wait(runner.submit(CompileJob(Model("code", code), measure=False)))
    assert run.status().state == "done", run.output_tail()
    report = open_report(run)
    compared = results(report)
    assert compared is not None
    assert compared.outcome == "same"
    (compilation,) = report.compilations
    (step,) = (step for step in compilation.passes if "post_grad_custom_post_pass" in step.name)
    assert step.removed == ("neg", "neg_1")
    lowered = compilation.lowered("inference")
    assert lowered is not None
    assert lowered.calls == 2


def test_the_options_and_places_of_the_guide_exist() -> None:
    import torch._inductor.config as inductor

    guide = (ROOT / "docs" / "adding-a-pass.md").read_text(encoding="utf-8")
    options = re.findall(r"`((?:pre|joint|post)_\w+)`", guide)
    assert len(options) == 5
    assert [name for name in options if not hasattr(inductor, name)] == []
    assert [path for path in re.findall(r"`(core/[\w./]+)`", guide) if not (ROOT / path).exists()] == []
