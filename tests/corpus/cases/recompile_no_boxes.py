r"""The number of detected boxes varies, and some images have none or one.

Source: https://github.com/pytorch/pytorch/issues/106067
Finds: recompiles
Cause: size|shape|\b0\b|empty|\b1\b
Cure: pad|mask|mark_unbacked|fixed
Expects: recompiles 0
"""

import torch


def area_of_boxes(boxes, image_area):
    sides = boxes[:, 2:] - boxes[:, :2]
    return sides.clamp(min=0).prod(-1).sum() / image_area


model = area_of_boxes
area = torch.tensor(64.0)
found = [torch.tensor([[0.0, 0.0, 2.0, 3.0], [1.0, 1.0, 4.0, 2.0], [0.0, 0.0, 1.0, 1.0]])]
found += [found[0][:0], found[0][:1], torch.cat([found[0], found[0]])]
calls = [(boxes, area) for boxes in found]

# Cured
calls = [(torch.nn.functional.pad(boxes, (0, 0, 0, 8 - len(boxes))), area) for boxes in found]
