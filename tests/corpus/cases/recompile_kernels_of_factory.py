"""A factory makes a compiled pooling for each reduction: all of them share one code object, and so one limit.

Source: https://docs.pytorch.org/devlogs/dynamo/2026-05-04-dynamo-isolate-recompiles/
Finds: recompiles or not compiled: over the limit or near the recompile limit
Cause: reduce|closure|factory|share|same code|code object
Cure: isolate_recompiles|recompile_limit|argument|once|own (code|function)
Expects: recompiles 0
Run: --script
Lacks: cured
"""

import torch


def pooling(reduce):
    def pool(x):
        return reduce(x, -1)

    return torch.compile(pool, backend="eager")


reductions = [
    torch.sum,
    torch.mean,
    torch.amax,
    torch.amin,
    torch.std,
    torch.var,
    torch.prod,
    torch.argmax,
    torch.argmin,
    torch.logsumexp,
]
poolings = [pooling(reduce) for reduce in reductions]
x = torch.linspace(-1, 1, 8).view(2, 4)
for pool in poolings:
    pool(x)

# Cured
import torch


def pooling(reduce):
    def pool(x):
        return reduce(x, -1)

    return torch.compile(pool, backend="eager", isolate_recompiles=True)


reductions = [
    torch.sum,
    torch.mean,
    torch.amax,
    torch.amin,
    torch.std,
    torch.var,
    torch.prod,
    torch.argmax,
    torch.argmin,
    torch.logsumexp,
]
poolings = [pooling(reduce) for reduce in reductions]
x = torch.linspace(-1, 1, 8).view(2, 4)
for pool in poolings:
    pool(x)
