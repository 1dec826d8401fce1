"""The attention mask of a generation grows with each token.

Source: https://github.com/huggingface/transformers/issues/29165
Finds: recompiles
Cause: (?i)size|shape|dimension|length
Cure: (?i)mark_dynamic|dynamic|pad|static|fixed|bucket
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch


class Decoder(torch.nn.Module):
    def __init__(self, length=16):
        super().__init__()
        self.embedding = torch.nn.Embedding(32, 8)
        self.register_buffer("cache", torch.randn(2, length, 8))

    def forward(self, tokens, attention_mask):
        hidden = self.embedding(tokens)
        keys = self.cache[:, : attention_mask.shape[1]]
        scores = hidden @ keys.transpose(1, 2)
        scores = scores.masked_fill(attention_mask[:, None, :] == 0, float("-inf"))
        return torch.softmax(scores, dim=-1) @ keys


model = Decoder()
token = torch.tensor([[3], [4]])
calls = [(token, torch.ones(2, length, dtype=torch.long)) for length in (7, 8, 9, 10)]
inputs = calls[0]

# Cured
calls = [
    (token, torch.cat([torch.ones(2, length, dtype=torch.long), torch.zeros(2, 16 - length, dtype=torch.long)], dim=1))
    for length in (7, 8, 9, 10)
]
inputs = calls[0]
