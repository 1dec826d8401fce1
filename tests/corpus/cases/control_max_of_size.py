"""The padded size is the larger of a dynamic size and 16.

Source: https://github.com/pytorch/pytorch/issues/149635
"""

import torch


def model(rows):
    padded_size = max(rows.shape[0], 16)
    padded = torch.ones(padded_size, *rows.shape[1:])
    return padded.sum() + rows.sum()


def calls():
    for count in (15, 17, 12, 20):
        rows = torch.arange(float(count))
        torch._dynamo.mark_dynamic(rows, 0)
        yield (rows,)
