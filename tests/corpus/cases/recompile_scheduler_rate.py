r"""A compiled optimizer step recompiles, since a scheduler changes a float `lr`.

Source: https://github.com/pytorch/pytorch/pull/170477
Finds: recompiles or near the recompile limit
Cause: lr|ExponentialLR
Cure: torch\.tensor
Expects: recompiles 1
Run: --script
"""

import torch

net = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
plan = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
step = torch.compile(optimizer.step, backend="aot_eager")
for _ in range(5):
    net(torch.ones(3, 4)).square().mean().backward()
    step()
    plan.step()


# Cured
net = torch.nn.Linear(4, 2)
optimizer = torch.optim.SGD(net.parameters(), lr=torch.tensor(0.1))
plan = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.9)
torch._dynamo.reset()
torch._dynamo.utils.counters.clear()
torch._dynamo.utils.clear_compilation_metrics()
step = torch.compile(optimizer.step, backend="aot_eager")
for _ in range(5):
    net(torch.ones(3, 4)).square().mean().backward()
    step()
    plan.step()
