"""An inverse transform is longer than its frames, which older versions could not trace.

Source: https://github.com/pytorch/pytorch/issues/183886
"""

import torch


def model(real, imaginary):
    spectrum = torch.complex(real, imaginary)
    return torch.istft(spectrum, 64, 32, window=torch.hann_window(64), length=352)


inputs = (torch.randn(3, 33, 10), torch.randn(3, 33, 10))
