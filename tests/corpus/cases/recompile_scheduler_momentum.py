"""A compiled optimizer step recompiles, since a scheduler changes `betas`.

Source: https://github.com/pytorch/pytorch/issues/133898
Finds: recompiles or near the recompile limit
Cause: OneCycleLR|betas
Cure: cycle_momentum=False
Expects: recompiles 1
Not: `dynamic=True`
Run: --script
"""

import torch

net = torch.nn.Linear(4, 2)
optimizer = torch.optim.AdamW(net.parameters(), lr=torch.tensor(0.01))
plan = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=12)
step = torch.compile(optimizer.step, backend="aot_eager")
for _ in range(5):
    net(torch.ones(3, 4)).square().mean().backward()
    step()
    plan.step()


# Cured
net = torch.nn.Linear(4, 2)
optimizer = torch.optim.AdamW(net.parameters(), lr=torch.tensor(0.01))
plan = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.1, total_steps=12, cycle_momentum=False)
torch._dynamo.reset()
torch._dynamo.utils.counters.clear()
torch._dynamo.utils.clear_compilation_metrics()
step = torch.compile(optimizer.step, backend="aot_eager")
for _ in range(5):
    net(torch.ones(3, 4)).square().mean().backward()
    step()
    plan.step()
