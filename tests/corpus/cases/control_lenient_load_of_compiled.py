"""A compiled model lends its state to another compiled one, by lenient loading.

Source: https://github.com/pytorch/pytorch/issues/101107
Run: --script
"""

import torch
from torch import nn

model = torch.compile(nn.Linear(4, 4), backend="eager")
teacher = torch.compile(nn.Linear(4, 4), backend="eager")
teacher.load_state_dict(model.state_dict(), strict=False)
x = torch.ones(2, 4)
same = torch.equal(model(x), teacher(x))
for name, weight in model.named_parameters():
    weight.requires_grad = "bias" not in name
