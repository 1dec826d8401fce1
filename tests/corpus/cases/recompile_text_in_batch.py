"""An unused text in the input dictionary has another value in each call.

Source: https://github.com/pytorch/pytorch/issues/91099
Finds: recompiles
Cause: text
Cure: before the call
Expects: recompiles 0
"""

import torch


def model(batch):
    return batch["data"].norm() * len(batch["text"])


calls = [({"data": torch.ones(10), "text": f"text {step}"},) for step in range(4)]


# Cured
def model(batch):
    return batch["data"].norm() * batch["letters"]


calls = [({"data": torch.ones(10), "letters": len(f"text {step}")},) for step in range(4)]
