r"""A result that was unsqueezed in place can't be changed in place by the caller.

Source: https://github.com/pytorch/pytorch/issues/90507
Finds: raised in a script or raised at run time
Run: --script
Cause: (?i)view|in.?place|unsqueeze_
Cure: (?i)unsqueeze\(|clone|out.of.place|without|not in place
"""

import torch


@torch.compile(backend="aot_eager")
def function(x):
    out = x * 2
    out.unsqueeze_(0)
    return out


x = torch.ones(2, requires_grad=True)
out = function(x)
out.mul_(2)
print(out)

# Cured
import torch


@torch.compile(backend="aot_eager")
def function(x):
    out = x * 2
    return out.unsqueeze(0).clone()


x = torch.ones(2, requires_grad=True)
out = function(x)
out.mul_(2)
print(out)
