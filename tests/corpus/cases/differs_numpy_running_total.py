r"""NumPy code adds up counts that are kept as bytes.

Source: https://github.com/pytorch/pytorch/issues/198056
Finds: results differ
Cause: numpy|np\.|int8|overflow|dtype|cumsum
Cure: dtype|int64|astype|outside|disable|eager
Expects: graphs 1, breaks 0
"""

import numpy as np
import torch


def totals(counts):
    running = np.cumsum(counts)
    return torch.from_numpy(running)


model, inputs = totals, (np.array([100, 100, 27, 5, 60], dtype=np.int8),)


# Cured
def totals(counts):
    running = np.cumsum(counts, dtype=np.int64)
    return torch.from_numpy(running)


model = totals
