r"""A number that is an argument changes from call to call, as in torch's page on recompilation.

Source: https://docs.pytorch.org/docs/stable/user_guide/torch_compiler/compile/programming_model.recompilation.html
Finds: recompiles
Cause: `y`|\by\b
Cure: dynamic|tensor
Expects: recompiles 0
Run: --backend eager --no-dynamic
"""

import torch


def model(x, y):
    return x + y


calls = [(torch.ones(3), number) for number in (1, 2, 3, 4)]


# Cured
calls = [(torch.ones(3), torch.tensor(number)) for number in (1, 2, 3, 4)]
