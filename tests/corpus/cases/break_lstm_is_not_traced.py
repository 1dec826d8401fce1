"""A model with a basic `nn.LSTM` does not compile as one graph.

Source: https://github.com/pytorch/pytorch/issues/158007
Finds: graph breaks at line 21 or graph breaks
Cause: (?i)rnn|lstm|gru
Cure: (?i)allow_rnn|LSTMCell|own cell|loop|replace
Expects: graphs 1, breaks 0, recompiles 0
"""

import torch


class Tagger(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Linear(4, 8)
        self.lstm = torch.nn.LSTM(8, 5, batch_first=True)
        self.head = torch.nn.Linear(5, 3)

    def forward(self, x):
        x = torch.relu(self.embedding(x))
        hidden, _ = self.lstm(x)
        return self.head(hidden)


model = Tagger()
inputs = (torch.randn(2, 3, 4),)

# Cured
torch._dynamo.config.allow_rnn = True
