"""A small memory budget makes backward draw the dropout mask again, with other numbers.

Source: https://github.com/pytorch/pytorch/issues/190758
Run: --backend inductor
Finds: backward draws
Cause: Backward draws its own random numbers
Cure: activation_memory_budget
Expects: graphs 1, results other
Not: fallback_random
"""

import torch
import torch._functorch.config

torch._functorch.config.activation_memory_budget = 0.0
torch.manual_seed(0)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.up, self.down = torch.nn.Linear(16, 64), torch.nn.Linear(64, 16)

    def forward(self, rows):
        hidden = torch.nn.functional.dropout(torch.relu(self.up(rows)), 0.5)
        return self.down(torch.sin(hidden)).sum()


model = Net()
inputs = (torch.randn(32, 16),)
training = True

# Cured
torch._functorch.config.activation_memory_budget = 1.0
