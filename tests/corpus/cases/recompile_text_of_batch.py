"""A text is an argument, and the function makes a tensor of its bytes.

Source: https://github.com/pytorch/pytorch/issues/100455
Finds: recompiles
Cause: text
Cure: outside|before the call
Expects: recompiles 1
"""

import torch


def model(text):
    codes = torch.tensor(list(bytes(text, "utf8")))
    return codes + codes


calls = [("one",), ("three",), ("seven!",), ("twelve.",)]


# Cured
def model(codes):
    return codes + codes


calls = [(torch.tensor(list(bytes(text, "utf8"))),) for text in ("one", "three", "seven!", "twelve.")]
