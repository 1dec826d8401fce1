r"""Attention metadata has the numbers of prefill and decode tokens of a step.

Source: https://github.com/vllm-project/vllm/issues/8821
Finds: recompiles
Cause: num_prefill|num_decode|metadata|\b0\b|zero
Cure: tensor|outside|separate|argument|mark
Expects: recompiles 0
"""

from dataclasses import dataclass

import torch


@dataclass
class AttentionMetadata:
    num_prefill_tokens: int
    num_decode_tokens: int


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.qkv = torch.nn.Linear(4, 12)

    def forward(self, hidden, attn_metadata):
        query, key, value = self.qkv(hidden).chunk(3, -1)
        if attn_metadata.num_prefill_tokens > 0:
            value = value.cumsum(0)
        return query * key.sigmoid() * value


model = Attention()
hidden = torch.ones(3, 4)
steps = [(3, 0), (0, 3), (1, 2), (0, 1), (2, 1)]
calls = [(hidden, AttentionMetadata(*step)) for step in steps]


# Cured
class Masked(Attention):
    def forward(self, hidden, prefill):
        query, key, value = self.qkv(hidden).chunk(3, -1)
        return query * key.sigmoid() * torch.where(prefill > 0, value.cumsum(0), value)


model = Masked()
calls = [(hidden, torch.tensor(step[0])) for step in steps]
