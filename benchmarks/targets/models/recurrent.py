"""A sequence tagger with `nn.LSTM`, `nn.GRUCell` and `nn.LSTMCell`; kernels depend on the device.

Dynamo traces `nn.LSTM` with `--dynamo allow_rnn=true`.
"""

import torch


class Tagger(torch.nn.Module):
    """Embedding, two layers of LSTM, and cells that are unrolled by hand."""

    def __init__(self, words: int = 100, size: int = 64, tags: int = 12) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(words, size)
        self.lstm = torch.nn.LSTM(size, size, num_layers=2, batch_first=True)
        self.gru_cell = torch.nn.GRUCell(size, size)
        self.lstm_cell = torch.nn.LSTMCell(size, size)
        self.tags = torch.nn.Linear(size, tags)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return scores of every tag for `tokens` of [batch, length]: [batch, length, tags]."""
        outputs, _ = self.lstm(self.embedding(tokens))
        state, (h, c) = outputs[:, -1], (outputs[:, -1], outputs[:, 0])
        steps = []
        for step in outputs.unbind(1):
            state = self.gru_cell(step, state)
            h, c = self.lstm_cell(state, (h, c))
            steps.append(h)
        return self.tags(torch.stack(steps, dim=1))


model = Tagger()
inputs = (torch.randint(0, 100, (8, 6)),)
