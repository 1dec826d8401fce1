"""A compiled recognizer computes its CTC loss from lengths that are tensors.

Source: https://github.com/pytorch/pytorch/issues/183396
Finds: graph breaks
Cause: ctc
Cure: outside|list|tuple|after|before|not compile|disable|separate|eager
Expects: graphs 1, breaks 0
Run: --script
"""

import torch
from torch import nn


class Recognizer(nn.Module):
    def __init__(self, dim=8, vocabulary=6):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(dim, 16), nn.ReLU(), nn.Linear(16, vocabulary))
        self.loss = nn.CTCLoss(zero_infinity=True)

    def forward(self, audio, targets, audio_lengths, target_lengths):
        log_probs = self.encoder(audio).log_softmax(-1).transpose(0, 1)
        return self.loss(log_probs, targets, audio_lengths, target_lengths)


torch.manual_seed(0)
recognizer = Recognizer()
step = torch.compile(recognizer, backend="eager")
for _ in range(3):
    audio, targets = torch.randn(2, 12, 8), torch.randint(1, 6, (2, 4))
    loss = step(audio, targets, torch.tensor([12, 9]), torch.tensor([4, 3]))
    loss.backward()
    print(round(float(loss.detach()), 4))

# Cured
import torch
from torch import nn


class Recognizer(nn.Module):
    def __init__(self, dim=8, vocabulary=6):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(dim, 16), nn.ReLU(), nn.Linear(16, vocabulary))
        self.loss = nn.CTCLoss(zero_infinity=True)

    def forward(self, audio):
        return self.encoder(audio).log_softmax(-1).transpose(0, 1)


torch.manual_seed(0)
recognizer = Recognizer()
encode = torch.compile(recognizer, backend="eager")
for _ in range(3):
    audio, targets = torch.randn(2, 12, 8), torch.randint(1, 6, (2, 4))
    loss = recognizer.loss(encode(audio), targets, torch.tensor([12, 9]), torch.tensor([4, 3]))
    loss.backward()
    print(round(float(loss.detach()), 4))
