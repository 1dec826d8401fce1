"""A script sets an option of Dynamo that torch has renamed.

Source: https://github.com/pytorch/pytorch/issues/104022
Run: --script
Finds: unknown setting
Cause: no setting|renamed
Cure: leave the line out|name in this version
Expects: skipped 0
"""

import torch

torch._dynamo.config.log_level = 10
compiled = torch.compile(torch.nn.Linear(4, 4), backend="eager")
compiled(torch.ones(2, 4))

# Cured
import torch

compiled = torch.compile(torch.nn.Linear(4, 4), backend="eager")
compiled(torch.ones(2, 4))
