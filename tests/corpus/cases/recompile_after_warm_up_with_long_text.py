"""A pipeline is warmed up with one long text, so that the first short one compiles again.

Source: https://github.com/huggingface/optimum-intel/pull/1189
Finds: recompiles
Cause: size|length|shape
Cure: mark_dynamic|dynamic=True|pad|warm
Expects: recompiles 0
"""

import torch

embedding = torch.nn.Embedding(20, 8)


def model(ids):
    return embedding(ids).mean(1)


calls = [(torch.ones(1, 34, dtype=torch.int64),)] * 3 + [(torch.ones(1, 6, dtype=torch.int64),)]

# Cured
torch_compile = {"dynamic": True}
