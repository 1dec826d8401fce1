r"""A custom op has an argument that is a tuple of sizes.

Source: https://github.com/pytorch/pytorch/issues/129370
Run: --script
Finds: raised in a script or custom op schema
Cause: tuple|infer_schema
Cure: list\[int\]|List
Expects: skipped 0
"""

import torch


@torch.library.custom_op("images::tile", mutates_args=())
def tile(image: torch.Tensor, times: tuple[int, int]) -> torch.Tensor:
    return image.repeat(*times)


@torch.compile(backend="eager")
def doubled(image):
    return tile(image, (2, 1)) * 2


print(doubled(torch.ones(2, 2)))

# Cured
import torch


@torch.library.custom_op("images::tile_of_list", mutates_args=())
def tile(image: torch.Tensor, times: list[int]) -> torch.Tensor:
    return image.repeat(*times)


@tile.register_fake
def _(image, times):
    return image.new_empty([size * time for size, time in zip(image.shape, times)])


@torch.compile(backend="eager")
def doubled(image):
    return tile(image, [2, 1]) * 2


print(doubled(torch.ones(2, 2)))
