"""Sentences of different lengths become a nested tensor of strided layout.

Source: https://github.com/pytorch/pytorch/issues/126025
Finds: graph breaks at line 17
Cause: nested|strided
Cure: jagged|pad_sequence|pad
Expects: breaks 0
"""

import torch

torch.manual_seed(0)
projection = torch.nn.Linear(6, 3)


def collate_and_project(sentences):
    batch = torch.nested.nested_tensor(sentences)
    padded = torch.nested.to_padded_tensor(batch, 0.0)
    return projection(padded)


model = collate_and_project
inputs = ([torch.randn(4, 6), torch.randn(2, 6), torch.randn(3, 6)],)


# Cured
def model(sentences):
    return projection(torch.nn.utils.rnn.pad_sequence(sentences, batch_first=True))
