r"""A transformer ignores its attention mask if all of it is one, in training too.

Source: https://github.com/huggingface/transformers/pull/32613
Finds: graph breaks at line 20
Cause: (?i)data.depend|value of a tensor|tensor'?s? value|branch|torch\.all|control flow|\bif\b
Cure: (?i)where|cond|always|unconditional|outside|before|is_compiling|remove|pass None
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch
import torch.nn.functional as F


class Attention(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = torch.nn.Linear(16, 48)

    def forward(self, hidden, attention_mask):
        query, key, value = self.qkv(hidden).chunk(3, dim=-1)
        if torch.all(attention_mask == 1):
            mask = None
        else:
            mask = attention_mask[:, None, :].bool()
        return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)


model = Attention()
inputs = (torch.randn(2, 6, 16), torch.tensor([[1, 1, 1, 1, 0, 0], [1] * 6]))
training = True

# Cured


class Cured(Attention):
    def forward(self, hidden, attention_mask):
        query, key, value = self.qkv(hidden).chunk(3, dim=-1)
        mask = attention_mask[:, None, :].bool()
        return F.scaled_dot_product_attention(query, key, value, attn_mask=mask)


cured = Cured()
cured.load_state_dict(model.state_dict())
model = cured
