r"""A loop over experts splits the tokens by counts that it reads with tolist.

Source: https://github.com/PrimeIntellect-ai/prime-rl/issues/996
Finds: graph breaks at line 20
Cause: tolist|\.item|scalar|number of python|data.dependent
Cure: capture_scalar_outputs|mask|one_hot|grouped|every expert|all experts|outside
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch
from torch import nn


class Experts(nn.Module):
    def __init__(self, experts, width):
        super().__init__()
        self.weights = nn.Parameter(torch.randn(experts, width, width) * 0.1)

    def forward(self, x, counts):
        sizes = counts.tolist()
        parts = torch.split(x, sizes, dim=0)
        return torch.cat([part @ weight for part, weight in zip(parts, self.weights)])


model = Experts(4, 8)
inputs = (torch.randn(12, 8), torch.tensor([3, 4, 2, 3]))


# Cured: every expert sees every token, and a mask selects
class Dense(Experts):
    def forward(self, x, counts):
        last = counts.cumsum(0)
        expert = (torch.arange(x.shape[0])[:, None] >= last[None, :]).sum(1)
        mask = torch.arange(self.weights.shape[0])[:, None] == expert[None, :]
        return ((x[None] @ self.weights) * mask[..., None]).sum(0)


cured = Dense(4, 8)
cured.load_state_dict(model.state_dict())
model = cured
