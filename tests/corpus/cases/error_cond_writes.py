"""A branch of `torch.cond` adds to its operand in place during training.

Source: https://github.com/pytorch/pytorch/pull/172836
Run: --script
Finds: mutation in a branch
Cause: mutat|in.place|higher order
Cure: clone|out.of.place|functional|no_grad|return|instead
Expects: skipped 0
"""

import torch


class Gated(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, rows):
        hidden = self.linear(rows)

        def boosted(states):
            states.add_(1.0)
            return states.sin()

        def plain(states):
            return states.cos()

        return torch.cond(hidden.sum() > 0, boosted, plain, (hidden,))


torch.manual_seed(0)
torch.compile(Gated(), backend="aot_eager")(torch.ones(2, 3)).sum().backward()

# Cured
import torch


class Gated(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(3, 3)

    def forward(self, rows):
        hidden = self.linear(rows)

        def boosted(states):
            return (states + 1.0).sin()

        def plain(states):
            return states.cos()

        return torch.cond(hidden.sum() > 0, boosted, plain, (hidden,))


torch.manual_seed(0)
torch.compile(Gated(), backend="aot_eager")(torch.ones(2, 3)).sum().backward()
