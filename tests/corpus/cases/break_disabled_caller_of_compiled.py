"""`torch.compiler.disable` of a caller does not disable the compiled function inside.

Source: https://github.com/pytorch/pytorch/issues/123771
Finds: graph breaks or raised in a script
Run: --script
Cause: (?i)disable|print
Cure: (?i)set_stance|force_eager|fullgraph|remove|print
Lacks: detected
"""

import torch


@torch.compile(fullgraph=True, backend="eager")
def function(x):
    x = x.cos()
    print(x.shape)
    return x.cos()


def caller(x):
    return function(x)


torch.compiler.disable(caller)(torch.randn(5))

# Cured
import torch


@torch.compile(fullgraph=True, backend="eager")
def function(x):
    x = x.cos()
    print(x.shape)
    return x.cos()


with torch.compiler.set_stance("force_eager"):
    function(torch.randn(5))
