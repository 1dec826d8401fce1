r"""A checkpoint of a compiled model is loaded into one that isn't.

Source: https://github.com/google-research/flood-forecasting/pull/263
Finds: names of a compiled module
Cause: _orig_mod
Cure: _orig_mod|\.compile\(\)|removeprefix
Expects: breaks 0
Run: --script
"""

import torch

net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
compiled = torch.compile(net, backend="eager")
print(compiled(torch.ones(1, 3)).shape)
kept = compiled.state_dict()
other = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
other.load_state_dict(kept)
print(other(torch.ones(1, 3)).shape)


# Cured
import torch

net = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
net.compile(backend="eager")
print(net(torch.ones(1, 3)).shape)
kept = net.state_dict()
other = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.ReLU())
other.load_state_dict(kept)
print(other(torch.ones(1, 3)).shape)
