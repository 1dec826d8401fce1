"""Planted passes: what *Rewrites* reports of passes whose effect is known, again and again.

Two models have the same passes in torch's hooks for custom ones. One pass does a matmul twice, about a tenth of a call.
One reorders a chain of matmuls, which helps one model and hurts the other. Three swap the operands of an op, which
changes the code alone. In two more models, passes depend on each other: one undoes the other, or either one does the
work. COMPILEBOARD_BENCH_TIMES is how often, COMPILEBOARD_BENCH_NAMES which models, and COMPILEBOARD_BENCH_RULES=1 also
turns off the rules of code generation. Needs a quiet machine; minutes each time.
"""

from __future__ import annotations

import json
import os
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.homes import temporary_home
from benchmarks.table import Result, print_table, tell
from core import CompileJob, LocalEngine, Model, Runner, Store, SweepRunner, new_sweep
from core.sweep.presets import REWRITES, Question
from core.sweep.presets.changes import RULES
from core.sweep.presets.preset import Answer, TriedFact

TIMES = int(os.environ.get("COMPILEBOARD_BENCH_TIMES", "1"))
NAMES = tuple(filter(None, os.environ.get("COMPILEBOARD_BENCH_NAMES", "").split(",")))
WITH_RULES = os.environ.get("COMPILEBOARD_BENCH_RULES", "") == "1"
LINES = os.environ.get("COMPILEBOARD_BENCH_JSON", "")
FIRST, LAST = "post_grad_custom_pre_pass", "post_grad_custom_post_pass"
SWAPS = {
    "pre_grad_custom_pass": "swap(torch.maximum)",
    "joint_custom_pre_pass": "swap(aten.add.Tensor)",
    "joint_custom_post_pass": "swap(aten.mul.Tensor)",
}
SOURCE = """
import torch
from torch._inductor import config
from torch._inductor.custom_graph_pass import CustomGraphPass

aten = torch.ops.aten
ROWS, WIDTH, CHAIN, LAYERS, TWICE = {sizes}

class Planted(CustomGraphPass):
    def __init__(self, change):
        self.change = change

    def __call__(self, graph):
        self.change(graph)

    def uuid(self):
        return self.change.__qualname__

def is_square(node):
    return node.target is aten.mm.default and node.args[1].meta["val"].shape == (WIDTH, WIDTH)

def is_twice(node):
    same = [each for each in node.args if isinstance(each, torch.fx.Node) and each.target is aten.mm.default]
    return node.target is aten.maximum.default and len(same) == 2 and same[0].args == same[1].args

def twice(graph):
    "Do some matmuls twice, unless they are done twice already."
    if any(map(is_twice, graph.nodes)):
        return
    for node in [node for node in graph.nodes if is_square(node)][:TWICE]:
        with graph.inserting_after(node):
            again = graph.call_function(node.target, node.args)
        with graph.inserting_after(again):
            both = graph.call_function(aten.maximum.default, (node, again))
        again.meta.update(node.meta)
        both.meta.update(node.meta)
        node.replace_all_uses_with(both, delete_user_cb=lambda user: user is not both)

def once(graph):
    "Undo `twice`."
    for node in [node for node in graph.nodes if is_twice(node)]:
        node.replace_all_uses_with(node.args[0])
        again = node.args[1]
        graph.erase_node(node)
        graph.erase_node(again)

def reorder(graph):
    "Do (x a) b as x (a b)."
    for node in list(graph.nodes):
        if node.target is not aten.mm.default or getattr(node.args[0], "target", None) is not aten.mm.default:
            continue
        inner = node.args[0]
        with graph.inserting_before(node):
            product = graph.call_function(aten.mm.default, (inner.args[1], node.args[1]))
        product.meta["val"] = torch.mm(inner.args[1].meta["val"], node.args[1].meta["val"])
        node.args = (inner.args[0], product)
        graph.erase_node(inner)

def swap(target):
    def swapped(graph):
        for node in graph.nodes:
            if node.target is target and all(isinstance(each, torch.fx.Node) for each in node.args):
                node.args = node.args[::-1]
    swapped.__qualname__ = f"swap {{target}}"
    return swapped

{passes}

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        parameter = lambda *shape: torch.nn.Parameter(torch.randn(*shape) / shape[0] ** 0.5)
        self.squares = torch.nn.ParameterList(parameter(WIDTH, WIDTH) for _ in range(LAYERS))
        self.scales = torch.nn.ParameterList(parameter(WIDTH) for _ in range(LAYERS))
        self.chain = torch.nn.ParameterList((parameter(WIDTH, CHAIN), parameter(CHAIN, WIDTH)))

    def forward(self, x):
        y = x
        for square, scale in zip(self.squares, self.scales):
            y = torch.maximum(torch.tanh(y @ square) + y * scale, x)
        return y + x @ self.chain[0] @ self.chain[1]

torch.manual_seed(0)
model = Net().eval()
inputs = (torch.randn(ROWS, WIDTH),)
"""
# Model → rows, width, length of the chain, layers and how many matmuls are done twice; the passes by their hook.
MODELS: dict[str, tuple[tuple[int, ...], dict[str, str]]] = {
    "helped": ((1024, 256, 512, 5, 1), {FIRST: "reorder", LAST: "twice", **SWAPS}),
    "hurt": ((64, 256, 512, 8, 2), {FIRST: "reorder", LAST: "twice", **SWAPS}),
    "undone": ((512, 256, 256, 4, 1), {FIRST: "twice", LAST: "once"}),
    "either": ((512, 256, 256, 4, 1), {FIRST: "twice", LAST: "twice"}),
}
# Model → hook → what its pass does to a call. A pass without an entry does nothing alone.
KNOWN: dict[str, dict[str, str]] = {
    "helped": {FIRST: "saves", LAST: "costs"},
    "hurt": {FIRST: "costs", LAST: "costs"},
    "undone": {LAST: "saves"},
    "either": {},
}


def measure() -> list[Result]:
    """Run the sweeps of all models; return how often each planted pass is reported right."""
    with temporary_home() as home, closing(LocalEngine(home / "cache")) as engine:
        sweeps = SweepRunner(Runner(Store(home), engine))
        answers = {name: [_answered(sweeps, name) for _ in range(TIMES)] for name in NAMES or MODELS}
    return [result for name, each in answers.items() for result in _results(name, each)]


def _answered(sweeps: SweepRunner, name: str) -> dict[str, Any]:
    """Run a model's sweep; return the effects, outcomes and notes of its answer."""
    environment = sweeps.runner.engine.environment()
    if not WITH_RULES:
        rules = {option for option, _ in RULES.values()}
        environment = replace(
            environment, options=tuple(each for each in environment.options if each.name not in rules)
        )
    plan = REWRITES.plan(CompileJob(Model("code", source_of(name))), environment)
    sweep = sweeps.start(new_sweep(plan.base, plan.axes, REWRITES.name))
    sweeps.wait(sweep.id)
    stored = sweeps.store.open(sweep.id)
    rows = sweeps.rows(stored)
    answer = REWRITES.answer(Question(stored, rows, environment))
    found = _of_answer(name, answer)
    found |= {"cells": len(rows), "seconds": sum(row.took_s or 0.0 for row in rows), "reason": stored.reason}
    found |= {"disturbed": sum(bool(row.disturbed) for row in rows)}
    found |= {"states": [f"{row.at[0]}: {row.error}" for row in rows if row.state != "done"]}
    tell(json.dumps(found))
    if LINES:
        with Path(LINES).open("a") as file:
            file.write(f"{json.dumps(found)}\n")
    return found


def source_of(name: str) -> str:
    """Return a model's file."""
    sizes, passes = MODELS[name]
    lines = [f"config.{hook} = Planted({change})" for hook, change in passes.items()]
    return SOURCE.format(sizes=sizes, passes="\n".join(lines))


def _of_answer(name: str, answer: Answer) -> dict[str, Any]:
    facts = [fact for fact in answer.facts if isinstance(fact, TriedFact)]
    effects = {fact.change: (fact.gain.low, fact.gain.middle, fact.gain.high) for fact in facts if fact.gain}
    outcomes = {fact.change: fact.outcome for fact in facts}
    return {"model": name, "effects": effects, "outcomes": outcomes, "notes": answer.notes, "sentence": answer.sentence}


def _results(name: str, answers: list[dict[str, Any]]) -> list[Result]:
    count = len(answers)
    results = []
    for hook, change in MODELS[name][1].items():
        known = KNOWN[name].get(hook, "")
        right = [_is_right(answer, hook, known) for answer in answers]
        calls = [f"{answer['effects'][hook][1]:.3f}" for answer in answers if hook in answer["effects"]]
        figure = f"{sum(right)} of {count}" + (f", a call without it ÷ {', '.join(calls)}" if calls else "")
        results.append(Result(f"{name}: {change} {known or 'does nothing alone'}", figure, f"= {count}", all(right)))
    if name in ("undone", "either"):
        named = [any(FIRST in note and LAST in note for note in answer["notes"]) for answer in answers]
        results.append(Result(f"{name}: both are named", f"{sum(named)} of {count}", f"= {count}", all(named)))
    others = [[f"{change} {answer['outcomes'][change]}" for change in answer["effects"]] for answer in answers]
    blamed = sorted({each for names in others for each in names if each.split(" ")[0] not in MODELS[name][1]})
    return [*results, Result(f"{name}: other rewrites with an effect", "; ".join(blamed) or "none")]


def _is_right(answer: dict[str, Any], hook: str, known: str) -> bool:
    """Return True if a pass was run, and has the known effect or none."""
    effect = answer["effects"].get(hook)
    if not known:
        return effect is None and answer["outcomes"].get(hook) in ("no difference seen", "the same code without it")
    return effect is not None and (effect[1] > 1) == (known == "costs")


if __name__ == "__main__":
    print_table((__doc__ or "").partition("\n")[0], measure())
