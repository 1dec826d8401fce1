"""AOTAutograd with a compiler of one's own, which sees the ATen graphs."""

import torch
from torch._functorch.aot_autograd import aot_function


def fn(x):
    return (x.sin() * 2).sum()


def my_compiler(gm, example_inputs):
    print("compiler:", [str(node.target) for node in gm.graph.nodes if node.op == "call_function"])
    return gm.forward


aot_fn = aot_function(fn, my_compiler)
x = torch.ones(4, requires_grad=True)
aot_fn(x).backward()
print("gradient:", x.grad)
