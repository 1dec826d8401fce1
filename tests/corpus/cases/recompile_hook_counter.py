r"""Forward-pre-hooks count how often each linear layer ran, in a number on the module.

Source: https://github.com/openai/parameter-golf/pull/1907
Finds: recompiles or near the recompile limit
Cause: counter|hook|(int|integer|number|attribute).{0,60}chang|chang\w*.{0,60}(int|integer|attribute)
Cure: tensor|buffer|remove|outside|allow_unspec_int_on_nn_module
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch
from torch import nn


def count(module, args):
    module._n += 1
    if module._n % 100 == 0:
        module.seen = args[0].detach().mean()


model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
for layer in (model[0], model[2]):
    layer._n = 0
    layer.register_forward_pre_hook(count)
calls = [(torch.randn(3, 4),) for _ in range(5)]


# Cured: counted in a tensor, without a branch
def count(module, args):
    module.count += 1


cured = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
cured.load_state_dict(model.state_dict())
model = cured
for layer in (model[0], model[2]):
    layer.register_buffer("count", torch.zeros((), dtype=torch.long))
    layer.register_forward_pre_hook(count)
