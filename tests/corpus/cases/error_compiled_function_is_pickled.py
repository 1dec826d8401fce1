r"""A function of a linker is compiled and then sent to another process.

Source: https://github.com/pymc-devs/pytensor/issues/1072
Finds: compiled function pickled or raised in a script
Run: --script
Cause: (?i)pickl|serial
Cure: (?i)(compile|torch\.compile).*(after|there|process|load)|original|uncompiled|undecorated|plain|in the (other|worker)
"""

import pickle

import torch


def function(x):
    return torch.sin(x) + 1


compiled = torch.compile(function, backend="eager")
compiled(torch.randn(4))
restored = pickle.loads(pickle.dumps(compiled))
print(restored(torch.zeros(2)))

# Cured
import pickle

import torch


def function(x):
    return torch.sin(x) + 1


restored = torch.compile(pickle.loads(pickle.dumps(function)), backend="eager")
print(restored(torch.zeros(2)))
