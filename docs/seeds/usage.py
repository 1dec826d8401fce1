"""Ways to call torch.compile, and a function with a print, which ends a graph."""

import torch
from torch._dynamo import register_backend


@torch.compile
def my_function(x):
    return torch.sin(x) + torch.cos(x)


model = torch.nn.Linear(4, 4)
optimized_model = torch.compile(model)
compiled_fn = torch.compile(lambda x: model(x))


@torch.compile
def fn(x):
    x = x + 1
    print(f"x = {x}")
    x = x * 2
    return x


@register_backend
def my_backend(gm, example_inputs):
    print("my_backend:", len(gm.graph.nodes), "nodes")
    return gm.forward


registered = torch.compile(my_function, backend="my_backend")
x = torch.ones(2, 4)
print("usage:", my_function(x).shape, optimized_model(x).shape, compiled_fn(x).shape)
print("fn:", fn(x).shape)
print("registered:", registered(x).shape)
explained = torch._dynamo.explain(lambda x: x + 1)(torch.randn(10))
print("explain:", explained.graph_count, "graph,", explained.graph_break_count, "breaks")
