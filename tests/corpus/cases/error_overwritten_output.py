"""An output of a CUDA graph is read after the next call; the code raises that error here, without a GPU.

Source: https://github.com/pytorch/pytorch/issues/170604
Run: --script
Finds: output overwritten
Cause: same memory
Cure: cudagraph_mark_step_begin
Lacks: cured
"""

import torch

compiled = torch.compile(torch.sin, backend="eager")
compiled(torch.ones(4))
raise RuntimeError(
    "Error: accessing tensor output of CUDAGraphs that has been overwritten by a subsequent run. Stack trace: []"
)
