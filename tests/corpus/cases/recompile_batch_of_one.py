r"""Warm-up is with a batch of one, and production with more.

Source: https://github.com/sgl-project/sglang/pull/24307
Finds: recompiles
Cause: \b(size|batch|dimension)\b.{0,80}(\b1\b|one|chang|differ)|0/1|speciali[sz]
Cure: mark_unbacked|batch of (two|2)|at least (two|2)|warm|pad|mark_dynamic|dynamic
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch


def model(tokens, low, high):
    inside = (tokens >= low) & (tokens < high)
    return torch.where(inside, tokens - low, 0), ~inside


calls = [(torch.arange(30, 30 + n), 20, 60) for n in (1, 4, 6)]

# Cured
for call in calls:
    torch._dynamo.decorators.mark_unbacked(call[0], 0)
