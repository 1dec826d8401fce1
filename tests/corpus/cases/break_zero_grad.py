"""The compiled step clears the gradients before it computes the loss.

Source: https://github.com/pytorch/pytorch/issues/120814
Finds: graph breaks at line 18
Cause: zero_grad|skipped|optimizer
Cure: outside|before|after|disable
Expects: breaks 0
"""

import torch

torch.manual_seed(0)
network = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3)


def loss_of_batch(rows, targets):
    optimizer.zero_grad()
    predicted = network(rows)
    return torch.nn.functional.huber_loss(predicted, targets)


model = loss_of_batch
inputs = (torch.ones(3, 4), torch.zeros(3, 1))


# Cured
def model(rows, targets):
    return torch.nn.functional.huber_loss(network(rows), targets)
