r"""A backend of the user prints nothing, since its function was only compiled.

Source: https://github.com/pytorch/pytorch/issues/127502
Finds: not called
Cause: (not|never|no) (been )?call|without a call|is not run|never run
Cure: \bcall|run it|invoke
Expects: graphs 1
Run: --script
"""

import torch

graphs = []


def custom_backend(gm, example_inputs):
    graphs.append(len(gm.graph.nodes))
    return gm.forward


def bar(a, b):
    return a / (torch.abs(a) + 1) * b


compiled = torch.compile(bar, backend=custom_backend)
print("compiled")

# Cured
import torch

graphs = []


def custom_backend(gm, example_inputs):
    graphs.append(len(gm.graph.nodes))
    return gm.forward


def bar(a, b):
    return a / (torch.abs(a) + 1) * b


compiled = torch.compile(bar, backend=custom_backend)
compiled(torch.ones(4), torch.ones(4))
print("compiled")


def confirmed():
    return len(graphs) == 1
