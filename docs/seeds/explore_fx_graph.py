"""The FX graph of a small module by torch.fx.symbolic_trace, with the attributes of each node."""

import torch


class SimpleModel(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(64, 32)

    def forward(self, x):
        x = self.linear(x)
        x = torch.relu(x)
        return x


traced = torch.fx.symbolic_trace(SimpleModel())
traced.graph.print_tabular()
for node in traced.graph.nodes:
    print(node.op, node.name, node.target, node.args, node.kwargs)
print(traced.code)
