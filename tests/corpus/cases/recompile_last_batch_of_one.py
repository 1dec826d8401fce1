"""A last batch that is smaller, and one request of a single sample, compile again.

Source: https://theneuralbase.com/pytorch/learn/advanced/first-run-compilation-cost/
Finds: recompiles
Cause: (?i)size|shape|dimension|batch
Cure: (?i)mark_dynamic|dynamic|pad|drop_last|same size|bucket|mark_unbacked
Expects: graphs 1, breaks 0, recompiles 0, results other
"""

import torch

model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
calls = [(torch.randn(size, 8),) for size in (8, 8, 5, 1)]
inputs = calls[0]

# Cured
calls = [(torch.cat([x, x.new_zeros(8 - x.shape[0], 8)]),) for (x,) in calls]
inputs = calls[0]
