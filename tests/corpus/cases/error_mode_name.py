r"""A script names a mode that does not exist.

Source: https://github.com/pytorch/pytorch/issues/151254
Run: --script
Finds: unknown mode or raised in a script or unknown setting
Cause: max-autotune-without-cudagraph|mode
Cure: max-autotune-no-cudagraphs
Expects: graphs 0
"""

import torch

network = torch.nn.Linear(3, 3)
compiled = torch.compile(network, mode="max-autotune-without-cudagraph")

# Cured
import torch

network = torch.nn.Linear(3, 3)
compiled = torch.compile(network, mode="max-autotune-no-cudagraphs")
