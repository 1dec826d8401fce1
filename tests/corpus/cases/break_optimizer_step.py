r"""A whole training step, compiled: the optimizer breaks the graph itself.

Source: https://github.com/pytorch/pytorch/issues/120814
Finds: graph breaks
Cause: optimizer|backward
Cure: torch\.compile\(optimizer\.step\)|compile the step separately
Expects: breaks 2, skipped 0
Run: --script
"""

import torch

net = torch.nn.Linear(8, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


def train(x):
    optimizer.zero_grad()
    loss = net(x).square().mean()
    loss.backward()
    optimizer.step()
    return loss.detach()


train = torch.compile(train, backend="eager")
for _ in range(2):
    train(torch.ones(4, 8))


# Cured
torch._dynamo.reset()
torch._dynamo.utils.counters.clear()
torch._dynamo.utils.clear_compilation_metrics()
net = torch.nn.Linear(8, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
forward = torch.compile(lambda x: net(x).square().mean(), backend="eager")
step = torch.compile(optimizer.step, backend="eager")
for _ in range(2):
    optimizer.zero_grad()
    forward(torch.ones(4, 8)).backward()
    step()
