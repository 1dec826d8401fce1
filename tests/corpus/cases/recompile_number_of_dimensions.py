"""A transform is called with fields of two, three and four dimensions.

Source: https://github.com/NVIDIA/torch-harmonics/issues/209
Finds: recompiles
Cause: rank|dimensions|ndim
Cure: reshape|flatten|same number|unsqueeze|view
Expects: recompiles 1
"""

import torch


class Energy(torch.nn.Module):
    def __init__(self, latitudes, longitudes, modes):
        super().__init__()
        self.latitudes, self.longitudes, self.modes = latitudes, longitudes, modes
        self.register_buffer("weights", torch.linspace(0.1, 1, latitudes * modes).reshape(modes, latitudes))

    def forward(self, field):
        assert field.shape[-2] == self.latitudes
        assert field.shape[-1] == self.longitudes
        spectrum = torch.matmul(self.weights, field)
        return spectrum.square().sum()


model = Energy(5, 7, 3)
torch.manual_seed(0)
fields = [torch.randn(5, 7), torch.randn(4, 5, 7), torch.randn(2, 3, 5, 7), torch.randn(2, 2, 2, 5, 7)]
calls = [(field,) for field in fields]

# Cured
calls = [(field.reshape(-1, 5, 7).clone(),) for field in fields]
