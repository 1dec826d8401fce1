"""Three demos: a compiled function, a backend that prints its graph, and TORCH_LOGS in the file."""

import os

import torch


@torch.compile
def simple_fn(x, y):
    return torch.relu(x @ y.T)


def my_custom_backend(gm, example_inputs):
    print("Nodes:", len(gm.graph.nodes))
    gm.graph.print_tabular()
    print(gm.code)
    return gm.forward


def model_to_trace(x, w):
    h = torch.relu(x)
    y = torch.matmul(h, w)
    return torch.softmax(y, dim=-1)


print("Example 1:", simple_fn(torch.randn(128, 64), torch.randn(128, 64)).shape)

compiled = torch.compile(model_to_trace, backend=my_custom_backend)
print("Example 2:", compiled(torch.randn(32, 128), torch.randn(128, 64)).shape)

os.environ["TORCH_LOGS"] = "output_code"


@torch.compile
def inductor_example(x):
    return torch.sin(x) + torch.cos(x)


print("Example 3:", inductor_example(torch.ones(8)).sum())
