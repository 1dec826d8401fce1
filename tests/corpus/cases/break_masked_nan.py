"""Values that are not finite are replaced where a mask is true.

Source: https://github.com/pytorch/vision/pull/8171
Finds: graph breaks at line 15
Cause: mask|bool|nonzero|dynamic
Cure: where|masked_fill|capture_dynamic_output_shape_ops
Expects: breaks 0
"""

import torch


def model(image):
    image = image * 2
    high = image[image > 1]
    return image.clamp(max=1), high.sum()


inputs = (torch.linspace(0, 1, 9),)


# Cured
def model(image):
    image = image * 2
    return image.clamp(max=1), torch.where(image > 1, image, 0).sum()
