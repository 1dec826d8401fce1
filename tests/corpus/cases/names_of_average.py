r"""A moving average looks parameters up by the names of the original, and finds none of the compiled one.

Source: https://github.com/wandb/senpai/pull/2899
Run: --script
Finds: names of a compiled module
Cause: _orig_mod
Cure: original|\.compile\(\)|_orig_mod
Expects: graphs 1, results other
"""

import torch


class Scorer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.out = torch.nn.Linear(3, 1)

    def forward(self, rows):
        return torch.tanh(self.out(rows))


torch.manual_seed(0)
network = Scorer()
average = {name: each.detach().clone() for name, each in network.named_parameters()}
network = torch.compile(network, backend="eager")
network(torch.ones(1, 3)).sum().backward()
with torch.no_grad():
    for name, each in network.named_parameters():
        each.sub_(each.grad)
        if name in average:
            average[name].mul_(0.9).add_(each, alpha=0.1)
print(sum(1 for name, _ in network.named_parameters() if name in average))

# Cured
import torch


class Scorer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.out = torch.nn.Linear(3, 1)

    def forward(self, rows):
        return torch.tanh(self.out(rows))


torch.manual_seed(0)
network = Scorer()
average = {name: each.detach().clone() for name, each in network.named_parameters()}
network.compile(backend="eager")
network(torch.ones(1, 3)).sum().backward()
with torch.no_grad():
    for name, each in network.named_parameters():
        each.sub_(each.grad)
        if name in average:
            average[name].mul_(0.9).add_(each, alpha=0.1)
kept = sum(1 for name, _ in network.named_parameters() if name in average)
print(kept)


def confirmed():
    return kept == 2 and torch._dynamo.utils.counters["stats"]["unique_graphs"] == 1
