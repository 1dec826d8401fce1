r"""A backend that only counts the nodes of the graph returns nothing.

Source: https://docs.pytorch.org/docs/stable/torch.compiler_custom_backends.html
Run: --script
Finds: not compiled: failed or raised in a script
Cause: callable|return
Cure: must return|return (the|a|graph)|let it return
Expects: graphs 1
"""

import torch

sizes = []


def show(graph, example_inputs):
    sizes.append(len(graph.graph.nodes))


compiled = torch.compile(torch.nn.Linear(2, 2), backend=show)
print(compiled(torch.ones(1, 2)).shape)

# Cured
import torch

sizes = []


def show(graph, example_inputs):
    sizes.append(len(graph.graph.nodes))
    return graph.forward


compiled = torch.compile(torch.nn.Linear(2, 2), backend=show)
print(compiled(torch.ones(1, 2)).shape)
