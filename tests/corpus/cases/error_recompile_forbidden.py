"""A server forbids recompilation after its warm-up, and gets a longer request.

Source: https://github.com/pytorch/pytorch/issues/163500
Finds: recompile forbidden
Cause: fail_on_recompile|recompil|size|shape|stance
Cure: warm|mark_dynamic|dynamic|pad|bucket|eager_on_recompile
Expects: recompiles 0
Run: --script
"""

import torch
from torch import nn

torch.manual_seed(0)
encoder = nn.Sequential(nn.Embedding(50, 8), nn.Linear(8, 8), nn.GELU()).eval()
serve = torch.compile(encoder, backend="eager")
with torch.no_grad():
    serve(torch.zeros(4, 16, dtype=torch.long))
    with torch.compiler.set_stance("fail_on_recompile"):
        for length in (16, 24, 40):
            print(tuple(serve(torch.ones(4, length, dtype=torch.long)).shape))

# Cured
import torch
from torch import nn

torch.manual_seed(0)
encoder = nn.Sequential(nn.Embedding(50, 8), nn.Linear(8, 8), nn.GELU()).eval()
serve = torch.compile(encoder, backend="eager")
with torch.no_grad():
    tokens = torch.zeros(4, 16, dtype=torch.long)
    torch._dynamo.mark_dynamic(tokens, 1)
    serve(tokens)
    with torch.compiler.set_stance("fail_on_recompile"):
        for length in (16, 24, 40):
            print(tuple(serve(torch.ones(4, length, dtype=torch.long)).shape))
