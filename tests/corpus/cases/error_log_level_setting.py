"""A page advises to set dynamo's log level, which is no setting any more.

Source: https://errorcanon.top/errors/pytorch/compile-graph-break-fallback/index.json
Finds: unknown setting or raised in a script
Cause: log_level|no (such )?(setting|attribute|option)|does not exist|unknown
Cure: set_logs|TORCH_LOGS
Expects: graphs 1, breaks 0
Run: --script
Lacks: cured
"""

import logging

import torch
import torch._dynamo

torch._dynamo.config.log_level = logging.INFO
torch._dynamo.config.verbose = True
torch.compile(lambda x: x.sin() + 1, backend="eager")(torch.randn(3))

# Cured
import logging

import torch

torch._logging.set_logs(dynamo=logging.INFO, graph_breaks=True)
torch.compile(lambda x: x.sin() + 1, backend="eager")(torch.randn(3))
