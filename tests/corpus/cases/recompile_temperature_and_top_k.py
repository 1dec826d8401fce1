"""A sampler gets its temperature and top-k as Python numbers from each request.

Source: https://github.com/WhisperSpeech/WhisperSpeech/issues/44
Finds: recompiles
Cause: top_k|temperature|number|integer|int|float
Cure: tensor|mark_dynamic|dynamic
Expects: recompiles 0
"""

import torch
from torch import nn


class Sampler(nn.Module):
    def __init__(self, dim=16, vocab=64):
        super().__init__()
        self.head = nn.Linear(dim, vocab)

    def forward(self, hidden, temperature: float, top_k: int):
        logits = self.head(hidden[:, -1]) / max(temperature, 1e-5)
        values, _ = torch.topk(logits, top_k)
        logits = torch.where(logits < values[:, -1:], -float("inf"), logits)
        return torch.softmax(logits, dim=-1)


model = Sampler().eval()
hidden = torch.randn(2, 5, 16)
calls = [(hidden, 0.7, 8), (hidden, 0.8, 10), (hidden, 0.9, 12), (hidden, 1.0, 20)]


# Cured
class Sampler(nn.Module):
    def __init__(self, dim=16, vocab=64):
        super().__init__()
        self.head = nn.Linear(dim, vocab)

    def forward(self, hidden, temperature, top_k):
        logits = self.head(hidden[:, -1]) / temperature.clamp(min=1e-5)
        values = torch.sort(logits, descending=True).values
        threshold = values.gather(1, (top_k - 1).expand(len(values), 1))
        logits = torch.where(logits < threshold, -float("inf"), logits)
        return torch.softmax(logits, dim=-1)


torch.manual_seed(0)
model = Sampler().eval()
calls = [(x, torch.tensor(t), torch.tensor(k)) for x, t, k in calls]
