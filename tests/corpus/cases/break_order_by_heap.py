"""A heap of Python numbers decides the order of the branches.

Source: https://github.com/pytorch/pytorch/pull/161093
Finds: graph breaks at line 23
Cause: heap|builtin|C function|trace
Cure: sorted|outside|before|__init__
Expects: breaks 0
"""

import heapq

import torch


class Mixture(torch.nn.Module):
    def __init__(self, priorities):
        super().__init__()
        self.priorities = priorities
        self.branches = torch.nn.ModuleList(torch.nn.Linear(3, 3) for _ in priorities)

    def forward(self, rows):
        queue = [(priority, index) for index, priority in enumerate(self.priorities)]
        heapq.heapify(queue)
        while queue:
            _, index = heapq.heappop(queue)
            rows = torch.relu(self.branches[index](rows))
        return rows


torch.manual_seed(0)
model = Mixture([2, 0, 1])
inputs = (torch.ones(2, 3),)


# Cured
class Sorted(Mixture):
    def forward(self, rows):
        for _, index in sorted((priority, index) for index, priority in enumerate(self.priorities)):
            rows = torch.relu(self.branches[index](rows))
        return rows


torch.manual_seed(0)
model = Sorted([2, 0, 1])
