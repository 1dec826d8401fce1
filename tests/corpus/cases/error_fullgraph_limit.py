"""With fullgraph=True, a frame over the recompile limit raises.

Source: https://github.com/pytorch/pytorch/issues/141589
Run: --backend eager --fullgraph
Finds: not compiled: failed
Cause: changed value
Cure: needs a compilation
Expects: recompiles 0, results other
Not: Dynamo breaks the graph here
"""

import torch


def model(rows, name):
    return rows * len(name)


calls = [(torch.randn(4), "n" * count) for count in range(1, 12)]

# Cured
calls = [(torch.randn(4), "name") for _ in range(1, 12)]
