r"""An attention layer asks by the values of the positions whether several texts are packed into one row.

Source: https://github.com/huggingface/transformers/pull/41827
Finds: graph breaks
Cause: data-dependent|value|tensor|positions
Cure: flag|argument|torch\.where|torch\.cond|outside
Expects: breaks 0
"""

import torch


class Packed(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.query = torch.nn.Linear(6, 6)

    def forward(self, rows, positions):
        scores = self.query(rows) @ rows.transpose(-1, -2)
        if (positions.diff(dim=-1) < 0).any():
            texts = (positions == 0).cumsum(-1)
            scores = scores.masked_fill(texts[:, :, None] != texts[:, None, :], -1e9)
        return torch.softmax(scores, dim=-1)


model, inputs = Packed(), (torch.randn(1, 5, 6), torch.tensor([[0, 1, 0, 1, 2]]))

# Cured


class Always(Packed):
    def forward(self, rows, positions):
        scores = self.query(rows) @ rows.transpose(-1, -2)
        texts = (positions == 0).cumsum(-1)
        scores = scores.masked_fill(texts[:, :, None] != texts[:, None, :], -1e9)
        return torch.softmax(scores, dim=-1)


torch.manual_seed(0)
model = Always()
