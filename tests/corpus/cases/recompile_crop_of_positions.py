"""The table of positions is cropped to the height and width of the latents.

Source: https://github.com/pytorch/pytorch/issues/150702
Finds: recompiles
Cause: size|shape|equal|height|width
Cure: mark_dynamic|use_duck_shape|dynamic|outside|index
Expects: recompiles 0
"""

import torch


class PatchEmbed(torch.nn.Module):
    def __init__(self, side=16, width=4):
        super().__init__()
        torch.manual_seed(0)
        self.side = side
        self.positions = torch.nn.Parameter(torch.randn(side, side, width))
        self.proj = torch.nn.Conv2d(2, width, 1)

    def forward(self, latents):
        height, width = latents.shape[-2:]
        top, left = self.side // 2 - height // 2, self.side // 2 - width // 2
        table = self.positions[top : top + height, left : left + width]
        return (self.proj(latents).permute(0, 2, 3, 1) + table).sum((1, 2))


model = PatchEmbed()
sizes = [(8, 8), (10, 12), (12, 12), (6, 14), (10, 10)]
calls = [(torch.ones(1, 2, *size),) for size in sizes]


# Cured
class Indexed(PatchEmbed):
    def forward(self, latents, table):
        return (self.proj(latents).permute(0, 2, 3, 1) + table).sum((1, 2))


model = Indexed()


def calls():
    for height, width in sizes:
        top, left = 8 - height // 2, 8 - width // 2
        latents = torch.ones(1, 2, height, width)
        table = model.positions.detach()[top : top + height, left : left + width].contiguous()
        torch._dynamo.mark_dynamic(latents, (2, 3))
        torch._dynamo.mark_dynamic(table, (0, 1))
        yield latents, table
