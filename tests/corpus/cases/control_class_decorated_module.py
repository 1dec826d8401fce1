"""The class of a module is decorated, which compiles the calls of its objects.

Source: https://github.com/pytorch/pytorch/pull/124187
Run: --script
"""

import torch


@torch.compile(backend="eager")
class Head(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.out = torch.nn.Linear(4, 2)

    def forward(self, rows):
        return torch.relu(self.out(rows))


head = Head()
for _ in range(3):
    print(head(torch.ones(2, 4)).shape)
