"""A server warms the model up outside of inference mode, and serves in it.

Source: https://github.com/pytorch/pytorch/issues/114119
Finds: recompiles
Cause: inference|grad_mode|grad mode|global state
Cure: inference_mode|no_grad|same mode|within|inside
Expects: recompiles 0
"""

import torch


class Residual(torch.nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.body = torch.nn.Sequential(
            torch.nn.Conv2d(channels, channels, 3, padding=1),
            torch.nn.BatchNorm2d(channels),
            torch.nn.ReLU(),
        )

    def forward(self, image):
        return image + self.body(image)


torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 1), Residual(2), Residual(2), torch.nn.Flatten()).eval()
image = torch.ones(1, 1, 4, 4)


def calls():
    yield (image,)
    with torch.inference_mode():
        yield (image,)
        yield (image,)


# Cured
def calls():
    with torch.inference_mode():
        for _ in range(3):
            yield (image,)
