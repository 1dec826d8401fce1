"""The number of threads differs between training and recomputation.

Source: https://github.com/ecmwf/anemoi-core/issues/1330
Finds: recompiles
Cause: thread|global state
Cure: set_num_threads|same number|once|before
Expects: recompiles 0
"""

import torch


class ConditionalNorm(torch.nn.Module):
    def __init__(self, width, conditions):
        super().__init__()
        self.norm = torch.nn.LayerNorm(width, elementwise_affine=False)
        self.scale = torch.nn.Linear(conditions, width)
        self.shift = torch.nn.Linear(conditions, width)

    def forward(self, rows, noise):
        return self.norm(rows) * (1 + self.scale(noise)) + self.shift(noise)


torch.manual_seed(0)
model = ConditionalNorm(4, 2)
batch = (torch.randn(3, 4), torch.randn(3, 2))


def calls():
    for threads in (1, 2, 1, 2):
        torch.set_num_threads(threads)
        yield batch
    torch.set_num_threads(1)


# Cured
def calls():
    for _ in range(4):
        yield batch
