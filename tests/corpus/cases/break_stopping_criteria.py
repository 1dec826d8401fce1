r"""Generation asks each criterion for a tensor, and Python whether any holds.

Source: https://github.com/pytorch/pytorch/issues/96130
Finds: graph breaks at line 18
Cause: branch|any|value of a tensor|data.dependent
Cure: torch\.any|\.any\(|logical_or|stack|torch\.where|\|
Expects: breaks 0, graphs 1, results other
"""

import torch

criteria = [lambda ids: ids[:, -1].eq(0).all(), lambda ids: ids.ge(0).sum() > 100]


def model(ids, logits):
    following = logits.argmax(-1, keepdim=True)
    ids = torch.cat([ids, following], 1)
    done = any(criterion(ids) for criterion in criteria)
    return ids * 1, done


inputs = (torch.ones(2, 5, dtype=torch.int64), torch.randn(2, 7))

# Cured


def model(ids, logits):
    following = logits.argmax(-1, keepdim=True)
    ids = torch.cat([ids, following], 1)
    done = torch.stack([criterion(ids) for criterion in criteria]).any()
    return ids * 1, done
