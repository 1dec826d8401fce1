r"""The longest sequence of a prompt is an integer in a dictionary, and differs for each prompt.

Source: https://github.com/kijai/ComfyUI-MochiWrapper/issues/44
Finds: recompiles or near the recompile limit or not compiled: over the limit
Cause: (?i)max_seqlen|integer|\bint\b|\brange
Cure: (?i)tensor|bucket|pad|fixed|shape|vectori|without a loop|dynamic
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch


def model(x, packed_indices):
    total = torch.zeros_like(x[0])
    for position in range(packed_indices["max_seqlen_in_batch"]):
        total = total + torch.sin(x[position])
    return total


x = torch.randn(16, 4)
calls = [(x, {"max_seqlen_in_batch": length}) for length in (3, 5, 6, 7, 9)]
inputs = calls[0]

# Cured


def model(x, packed_indices):
    inside = torch.arange(x.shape[0]) < packed_indices["max_seqlen_in_batch"]
    return torch.where(inside[:, None], torch.sin(x), 0).sum(dim=0)


calls = [(x, {"max_seqlen_in_batch": torch.tensor(length)}) for length in (3, 5, 6, 7, 9)]
inputs = calls[0]
