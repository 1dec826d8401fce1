"""What is on screen against what torch had in its hands: graphs as they were lowered, passes, fused nodes, kernels."""

import re

import pytest

from core import load_text
from core.analysis.work import groups_after, steps
from tests.live.witness import Both

pytestmark = pytest.mark.torch

# Rewrites of a whole graph that torch does without an observer; they are recorded as passes, too.
UNOBSERVED = ("tensorify_python_scalars", "run_joint_graph_passes_on_hops", "view_to_reshape")
DEFINED = re.compile(r"^\w+ = async_compile\.", re.MULTILINE)


def test_nodes_are_torchs_nodes(both: Both) -> None:
    assert [[(node.name, node.op) for node in graph] for graph in both.ours] == [
        [(node.name, node.op) for node in graph] for graph in both.torch
    ]


def test_shapes_are_torchs_shapes(both: Both) -> None:
    for ours, torchs in zip(both.ours, both.torch, strict=True):
        shapes = {node.name: node.meta.shape if node.meta else None for node in ours}
        assert shapes == {node.name: node.shape for node in torchs}


def test_lines_are_torchs_lines(both: Both) -> None:
    for ours, torchs in zip(both.ours, both.torch, strict=True):
        lines = {
            node.name: node.source and (node.source.file, node.source.line)
            for node in ours
            if node.op.startswith("call_")
        }
        assert lines == {node.name: node.line for node in torchs if node.op.startswith("call_")}


def test_modules_are_torchs_modules(both: Both) -> None:
    for ours, torchs in zip(both.ours, both.torch, strict=True):
        modules = {node.name: node.module for node in ours}
        named = {node.name: node.module for node in torchs if node.module and node.op.startswith("call_")}
        assert {name: modules[name] for name in named} == named


def test_passes_are_those_whose_graph_changed(both: Both) -> None:
    observed = [
        one for compilation in both.report.compilations for one in compilation.passes if one.stage != "before_post_grad"
    ]
    assert sorted(one.name for one in observed if one.name and one.name not in UNOBSERVED) == sorted(both.passes)


def test_fusions_lead_to_torchs_own_fused_nodes(both: Both) -> None:
    for schedule in (schedule for compilation in both.report.compilations for schedule in compilation.schedules):
        replayed = groups_after(schedule, len(steps(schedule)))
        assert {frozenset(group) for group in replayed} == {frozenset(node.nodes) for node in schedule.after}


def test_generated_kernels_are_as_many_as_the_output_code_defines(both: Both) -> None:
    log = both.run.log_path()
    assert log is not None
    for compilation in both.report.compilations:
        generated = [kernel for kernel in compilation.kernels if not kernel.extern]
        codes = {kernel.output_code for kernel in compilation.kernels}
        assert len(generated) == sum(len(DEFINED.findall(load_text(log, code))) for code in codes)
