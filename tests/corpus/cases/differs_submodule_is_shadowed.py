r"""A submodule that is shadowed by an entry of `__dict__` stays in the compiled module.

Source: https://github.com/pytorch/pytorch/issues/197859
Finds: results differ
Run: --script
Cause: (?i)stale|shadow|__dict__|replac|submodule|attribute|guard
Cure: (?i)model\.sub|setattr|assign|reset|again|load_state_dict
Lacks: detected, explained, cured
"""

import torch


class Wrapper(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.sub = torch.nn.Linear(4, 4, bias=False)

    def forward(self, x):
        return self.sub(x)


model = Wrapper()
compiled = torch.compile(model, backend="eager")
x = torch.arange(4.0)
compiled(x)
replacement = torch.nn.Linear(4, 4, bias=False)
with torch.no_grad():
    replacement.weight.fill_(5.0)
object.__setattr__(model, "sub", replacement)
print(model(x), compiled(x))


def confirmed():
    return torch.equal(model(x), compiled(x))


# Cured
import torch


class Wrapper(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.sub = torch.nn.Linear(4, 4, bias=False)

    def forward(self, x):
        return self.sub(x)


model = Wrapper()
compiled = torch.compile(model, backend="eager")
x = torch.arange(4.0)
compiled(x)
replacement = torch.nn.Linear(4, 4, bias=False)
with torch.no_grad():
    replacement.weight.fill_(5.0)
model.sub = replacement
print(model(x), compiled(x))


def confirmed():
    return torch.equal(model(x), compiled(x))
