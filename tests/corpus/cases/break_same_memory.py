r"""An attention wrapper asks whether its output has the memory of the query.

Source: https://github.com/pytorch/pytorch/issues/137811
Finds: graph breaks at line 14
Cause: data_ptr|pointer|address
Cure: \bis\b|argument|outside|flag
Expects: breaks 0
"""

import torch


def attend(query, key, value, out):
    if query.data_ptr() == out.data_ptr():
        query = query.clone()
    weights = torch.softmax(query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5, dim=-1)
    return out + weights @ value


model = attend
torch.manual_seed(1)
inputs = tuple(torch.randn(2, 4, 8) for _ in range(4))


# Cured
def model(query, key, value, out):
    if query is out:
        query = query.clone()
    weights = torch.softmax(query @ key.transpose(-1, -2) / query.shape[-1] ** 0.5, dim=-1)
    return out + weights @ value
