"""Points are ordered by two keys with NumPy's lexsort.

Source: https://github.com/pytorch/pytorch/pull/196160
Finds: graph breaks at line 16
Cause: lexsort|numpy
Cure: argsort|torch|stable|outside
Expects: breaks 0, graphs 1
"""

import numpy as np
import torch


def model(rows, columns):
    rows = rows + 1
    order = np.lexsort((columns, rows))
    return rows[order] * 10 + columns[order]


inputs = (np.array([2, 0, 1, 0, 2]), np.array([1, 4, 3, 2, 0]))

# Cured


def model(rows, columns):
    rows = rows + 1
    by_column = np.argsort(columns)
    order = by_column[np.argsort(rows[by_column], kind="stable")]
    return rows[order] * 10 + columns[order]
