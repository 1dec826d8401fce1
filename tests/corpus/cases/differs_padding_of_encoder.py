r"""An encoder gets a padding mask, and eager's fast path writes zeros at the padding.

Source: https://github.com/pytorch/pytorch/issues/178677
Finds: results differ
Cause: fast path
Cure: set_fastpath_enabled
Expects: results other
"""

import torch

torch.manual_seed(0)
layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
encoder = torch.nn.TransformerEncoder(layer, 1).eval().requires_grad_(False)


def model(rows, lengths):
    mask = torch.arange(rows.shape[1])[None] >= lengths[:, None]
    return encoder(rows, src_key_padding_mask=mask)


inputs = (torch.randn(2, 5, 8), torch.tensor([5, 3]))

# Cured
torch.backends.mha.set_fastpath_enabled(False)


def confirmed():
    compiled = torch.compile(model, backend="eager")
    return torch.allclose(compiled(*inputs), model(*inputs), atol=1e-5)
