"""Errors are suppressed, so that a model runs without its compiled code.

Source: https://github.com/roboflow/rf-detr/issues/1410
Run: --script
Finds: not compiled: failed
Cause: suppress_errors|suppress|fall.*eager|eager.*fall|backend
Cure: suppress_errors|backend|operator|remove|raise
Expects: skipped 0, graphs 1
"""

import torch

torch._dynamo.config.suppress_errors = True


def backend(graph, inputs):
    """Reject operators that the accelerator's compiler does not have."""
    names = {node.target for node in graph.graph.nodes if node.op == "call_function"}
    if torch.nn.functional.softsign in names:
        raise NotImplementedError("the compiler has no such operator")
    return graph.forward


class Head(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(3, 6), torch.nn.Linear(6, 3)])

    def forward(self, rows):
        for layer in self.layers:
            rows = torch.nn.functional.softsign(layer(rows))
        return rows.sum(-1)


torch.manual_seed(0)
head = torch.compile(Head(), backend=backend)
print([round(each, 4) for each in head(torch.ones(4, 3)).tolist()])


def confirmed():
    return torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1


# Cured
import torch


def backend(graph, inputs):
    """Reject operators that the accelerator's compiler does not have."""
    names = {node.target for node in graph.graph.nodes if node.op == "call_function"}
    if torch.nn.functional.softsign in names:
        raise NotImplementedError("the compiler has no such operator")
    return graph.forward


def softsign(rows):
    return rows / (1 + rows.abs())


class Head(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(3, 6), torch.nn.Linear(6, 3)])

    def forward(self, rows):
        for layer in self.layers:
            rows = softsign(layer(rows))
        return rows.sum(-1)


torch.manual_seed(0)
head = torch.compile(Head(), backend=backend)
print([round(each, 4) for each in head(torch.ones(4, 3)).tolist()])


def confirmed():
    return torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1
