"""The position of the next token is a column of a table that is as wide as the prompt and its answer.

Source: https://github.com/meta-pytorch/torchtune/issues/1402
Finds: recompiles
Cause: stride|contiguous|layout
Cure: contiguous|clone|same (layout|stride)|fixed|pad
Expects: recompiles 0
"""

import torch

embedding = torch.nn.Embedding(64, 8)


def model(tokens, input_pos):
    return embedding(tokens) + input_pos.unsqueeze(-1) * 0.1


def calls():
    for total in (20, 24, 33):
        table = torch.arange(total).repeat(2, 1)
        for step in (3, 4):
            yield torch.tensor([[step], [step + 1]]), table[:, step : step + 1]


# Cured


def calls():
    for total in (20, 24, 33):
        table = torch.arange(total).repeat(2, 1)
        for step in (3, 4):
            yield torch.tensor([[step], [step + 1]]), table[:, step : step + 1].contiguous()
