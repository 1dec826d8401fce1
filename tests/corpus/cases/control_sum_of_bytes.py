"""Bytes overflow before they become wider integers.

Source: https://github.com/pytorch/pytorch/issues/105264
Run: --backend inductor
"""

import torch


def model(pixels):
    return (pixels + pixels).to(torch.int16)


inputs = (torch.arange(250, 256, dtype=torch.uint8),)
