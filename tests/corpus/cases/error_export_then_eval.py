r"""An exported network is switched to evaluation after its export.

Source: https://github.com/pytorch/pytorch/issues/151726
Run: --script
Finds: input of an export
Cause: eval\(\)
Cure: before the export|before exporting|eval\(\).*before|export.*(twice|each mode)
Expects: skipped 0
"""

import torch

network = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2))
program = torch.export.export(network, (torch.rand(2, 1, 6, 6),))
served = program.module().eval()
print(served(torch.zeros(2, 1, 6, 6)).shape)

# Cured
import torch

network = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.BatchNorm2d(2)).eval()
program = torch.export.export(network, (torch.rand(2, 1, 6, 6),))
served = program.module()
print(served(torch.zeros(2, 1, 6, 6)).shape)
