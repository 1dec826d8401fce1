"""A contrastive loss divides by the number of distinct labels.

Source: https://github.com/pytorch/pytorch/issues/134081
Finds: graph breaks at line 17
Cause: unique|dynamic|depends
Cure: capture_dynamic_output_shape_ops|sort|one_hot|scatter|outside|bincount
Expects: breaks 0
"""

import torch


def model(features, labels):
    normed = torch.nn.functional.normalize(features, dim=-1)
    same = labels[:, None] == labels[None, :]
    pulled = (normed @ normed.T)[same].sum() if False else torch.where(same, normed @ normed.T, 0.0).sum()
    return pulled / torch.unique(labels).numel()


torch.manual_seed(0)
inputs = (torch.randn(6, 4), torch.tensor([0, 2, 2, 1, 0, 2]))


# Cured
def model(features, labels):
    normed = torch.nn.functional.normalize(features, dim=-1)
    same = labels[:, None] == labels[None, :]
    pulled = torch.where(same, normed @ normed.T, 0.0).sum()
    ordered = labels.sort().values
    return pulled / (1 + (ordered[1:] != ordered[:-1]).sum())
