"""Each call passes a fresh mask function, with another number in its closure.

Source: https://github.com/vllm-project/speculators/pull/731
Finds: recompiles or near the recompile limit or not compiled: over the limit
Cause: (?i)closure|lambda|captured|free variable|window|callable
Cure: (?i)tensor|same function|once|reuse|outside|argument
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch


def mask_function(window):
    def mask(query, key):
        return (query - key).abs() < window

    return mask


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(8, 8)

    def forward(self, x, mask):
        positions = torch.arange(x.shape[0])
        allowed = mask(positions[:, None], positions[None, :])
        x = self.linear(x)
        scores = (x @ x.T).masked_fill(~allowed, float("-inf"))
        return torch.softmax(scores, dim=-1) @ x


model = Attention()
x = torch.randn(6, 8)
calls = [(x, mask_function(window)) for window in (2.5, 3.5, 4.5, 5.5)]
inputs = calls[0]

# Cured


class Cured(Attention):
    def forward(self, x, window):
        return super().forward(x, lambda query, key: (query - key).abs() < window)


cured = Cured()
cured.load_state_dict(model.state_dict())
model = cured
calls = [(x, torch.tensor(window)) for window in (2.5, 3.5, 4.5, 5.5)]
inputs = calls[0]
