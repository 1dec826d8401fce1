"""A caption loss packs the scores of padded sentences.

Source: https://github.com/pytorch/pytorch/issues/162375
Finds: graph breaks at line 25
Cause: pack_padded_sequence|packed|skipped|dynamic
Cure: mask|where|disable|outside|before
Expects: breaks 0
"""

import torch
from torch.nn.utils.rnn import pack_padded_sequence

torch.manual_seed(0)


class Captioner(torch.nn.Module):
    def __init__(self, words=20, width=16):
        super().__init__()
        self.embed = torch.nn.Embedding(words, width)
        self.body = torch.nn.Sequential(torch.nn.Linear(width, width), torch.nn.ReLU(), torch.nn.Dropout(0.0))
        self.head = torch.nn.Linear(width, words)

    def forward(self, tokens, lengths):
        scores = self.head(self.body(self.embed(tokens)))
        packed = pack_padded_sequence(scores, lengths, batch_first=True)
        return packed.data.logsumexp(-1).mean()


model = Captioner()
inputs = (torch.randint(0, 20, (3, 5)), torch.tensor([5, 3, 2]))


# Cured
class Masked(Captioner):
    def forward(self, tokens, lengths):
        scores = self.head(self.body(self.embed(tokens)))
        mask = torch.arange(tokens.shape[1])[None, :] < lengths[:, None]
        sums = scores.logsumexp(-1)
        return torch.where(mask, sums, 0.0).sum() / mask.sum()


torch.manual_seed(0)
model = Masked()
