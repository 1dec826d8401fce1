"""Backends that ship: what they compute is eager's, and what they tell is so."""

from typing import Any

import pytest

from core import CompileOptions
from core.accelerator.backends import SHIPPED_BACKENDS
from core.report import AnnotationTable, Report
from tests.support.user_code import RunCode, records

pytestmark = pytest.mark.torch

SEED = """import torch
def model(x, w):
    return torch.softmax(torch.relu(x @ w), -1)
calls = [(torch.randn(4, 8), torch.randn(8, 16)) for _ in range(2)]
"""
TRAINED = """import torch
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.GELU())
inputs = (torch.randn(4, 8),)
training = True
"""
# The second product has the first as its weight, and the distances are of an op that Inductor has no code for. Once it
# is compiled, Inductor's patterns are there, and are held against attention with a cast before its last product.
FALLBACK = """import torch
from torch._inductor import config, ir
from torch._inductor.decomposition import select_decomp_table
from torch._inductor.fx_passes import joint_graph
from torch.fx.experimental.proxy_tensor import make_fx
from core.accelerator.backends.pattern import attempts

def count(nodes):
    print(sum(isinstance(node.node, ir.FallbackKernel) for node in nodes))
    return nodes

config._pre_fusion_custom_pass = count

def model(x, w):
    first = x @ w
    return x @ first, torch.cdist(first, w)

def attention(q, k, v):
    return (q @ k.transpose(-2, -1) / 4).softmax(-1).double() @ v.double()

def calls():
    yield torch.randn(8, 8), torch.randn(8, 8)
    inputs = [torch.randn(2, 4, 8, 16) for _ in range(3)]
    graph = make_fx(attention, select_decomp_table(), tracing_mode="fake")(*inputs).graph
    cast = [node.name for node in graph.nodes if "convert_element_type" in str(node.target)][0]
    print(any(found.stopped.name == cast for found in attempts(graph, joint_graph.pass_patterns[0])))
"""
# What runs without a compilation, since it is about graphs alone.
GRAPHS = """import gc, weakref, torch
from torch.fx.experimental.proxy_tensor import make_fx
from core.accelerator.backends import pattern, registry

def long(x, w):
    return torch.softmax(torch.relu(x @ w), -1).cumsum(0)

def plain(x, w1, w2):
    return x @ w1, x @ w2

def apart(x, w1, w2):
    return x @ w1, x.relu() @ w2

x, w1, w2 = torch.randn(4, 8), torch.randn(8, 8), torch.randn(8, 16)
graph = make_fx(long, tracing_mode="fake")(x, w1)
program, there = registry.Program(graph, "inference", []), weakref.ref(graph)
print(*(f"{step.ran_by}: {step.reason}" if step.reason else step.ran_by for step in program.instructions))
del graph
gc.collect()
same = torch.allclose(program(x, w1), long(x, w1))
print(f"the graph is {'there' if there() else 'gone'}, and the result is eager's: {same}")
try:
    program(x, x)
except RuntimeError as error:
    print(error)
pattern.register()
for function in (plain, apart):
    graph = make_fx(function, tracing_mode="fake")(x, w1, w2)
    rows = [attempt.row() for attempt in pattern.attempts(graph.graph, pattern.OWN)]
    found = ", ".join(row[1] if row[1] == "match" else f"{row[1]}, {row[4]}" for row in rows)
    pattern.own_pass(graph.graph)
    graph.recompile()
    products = len(graph.graph.find_nodes(op="call_function", target=torch.ops.aten.mm.default))
    same = all(map(torch.allclose, graph(x, w1, w2), function(x, w1, w2)))
    print(f"{function.__name__}: {found}; {products} product{'s' * (products != 1)}, equal to eager: {same}")
model, inputs = torch.sin, (torch.ones(4),)
"""


def told(report: Report, title: str) -> list[tuple[Any, ...]]:
    """The rows of the table of that title."""
    (table,) = [table for table in report.told_tables if table.title == title]
    assert isinstance(table, AnnotationTable)
    return list(table.rows)


@pytest.mark.parametrize("name", SHIPPED_BACKENDS)
def test_a_backend_that_ships_fits_one_screen_or_three(name: str) -> None:
    lines = SHIPPED_BACKENDS[name].path.read_text(encoding="utf-8").splitlines()
    assert (len(lines) <= 150, len(lines) <= 50) == (True, name in ("template", "inspect"))


def test_inspect_prints_the_nodes_that_are_recorded_and_code_that_is_the_graph(run_code: RunCode) -> None:
    run = run_code(SEED, compile=CompileOptions(backend="inspect"))
    ((invocation,),) = [found.invocations for found in records(run).compilations]
    inputs, _, rest = run.output_tail().partition("\n\nNodes:\n")
    nodes, _, printed = rest.partition("\n\nCode:\n")
    assert inputs.splitlines()[1:] == ["  l_x_: torch.float32[4, 8] on cpu", "  l_w_: torch.float32[8, 16] on cpu"]
    rows = [line.split()[:3] for line in nodes.splitlines()[1:]]
    assert rows == [[node.op, node.name, node.target] for node in invocation.nodes]
    assert [op for op, _, _ in rows] == ["placeholder"] * 2 + ["call_function"] * 3 + ["output"]
    assert printed.strip() == invocation.code.strip()


def test_registry_runs_a_program_of_kernels_and_logs_the_first_executions(run_code: RunCode) -> None:
    report = records(run_code(SEED, compile=CompileOptions(backend="registry", options={"without": "relu"})))
    assert told(report, "Program, inference") == [
        ("arg0_1", "input", "", ""),
        ("arg1_1", "input", "", ""),
        ("mm", "kernel", "aten.mm.default", ""),
        ("relu", "torch", "aten.relu.default", "switched off"),
        ("_softmax", "kernel", "aten._softmax.default", ""),
        ("output", "output", "", ""),
    ]
    logs = [told(report, f"Execution {number}, inference") for number in (1, 2)]
    assert [[(node, ran, out) for node, _, ran, _, out in log] for log in logs] == [
        [("mm", "kernel", "[4, 16]"), ("relu", "torch", "[4, 16]"), ("_softmax", "kernel", "[4, 16]")]
    ] * 2
    assert [log[0][3] for log in logs] == ["[4, 8], [8, 16]"] * 2
    assert {table.compilation for table in report.told_tables} == {"0/0"}


def test_aot_shows_each_level_of_both_graphs_and_what_each_partitioner_saves(run_code: RunCode) -> None:
    report = records(run_code(TRAINED, compile=CompileOptions(backend="aot"), training=True))
    sets = ("none", "core aten", "inductor", "prims")
    assert [text.title for text in report.told_texts] == [
        "torch",
        *(f"{direction}, decompositions: {name}" for direction in ("forward", "backward") for name in sets),
    ]
    assert [row[0] for row in told(report, "Calls in the forward graph")] == list(sets)
    saved = {row[0]: row[1:3] for row in told(report, "What the forward saves for the backward")}
    assert saved == {"min-cut": (1, 4 * 16 * 4), "default": (1, 4 * 16 * 4)}


def test_pattern_shows_what_its_check_refuses_and_each_op_that_becomes_a_fallback(run_code: RunCode) -> None:
    run = run_code(FALLBACK, compile=CompileOptions(backend="pattern"))
    report = records(run)
    ways = [row[:2] for row in told(report, "Lowering, decomposition or fallback")]
    assert ways == [("mm", "lowering"), ("mm_1", "lowering"), ("_cdist_forward", "fallback")]
    assert run.output_tail() == "1\nTrue\nTrue\n"
    products = told(report, "Two products of one input, replaced 0 ×")
    assert [(row[0], row[1], row[4]) for row in products] == [
        ("mm", "near miss", "the check refuses it"),
        ("mm_1", "near miss", "the check refuses it"),
    ]
    attention = told(report, "Attention patterns of torch")
    assert (len(attention) >= 30, {row[2] for row in attention}) == (True, {"no node to begin at"})


def test_programs_need_no_graph_errors_name_the_instruction_and_two_products_become_one(run_code: RunCode) -> None:
    told_by_each_twin = [
        "kernel kernel kernel torch: no kernel for aten.cumsum.default",
        "the graph is gone, and the result is eager's: True",
        "mm = aten.mm.default of [4, 8], [4, 8], by kernel: mat1 and mat2 shapes cannot be multiplied (4x8 and 4x8)",
        "plain: match, match; 1 product, equal to eager: True",
        f"apart: {', '.join(['near miss, exclusive arg appears twice'] * 2)}; 2 products, equal to eager: True",
    ]
    run = run_code(GRAPHS, compile=CompileOptions(backend="eager"))
    assert run.output_tail().splitlines() == told_by_each_twin * 2
