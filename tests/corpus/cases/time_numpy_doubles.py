"""k-means in NumPy is compiled for its speed, and its points are doubles.

Source: https://pytorch.org/blog/compiling-numpy-code/
Finds: float64 inputs
Cause: float64|double
Cure: float32|single
Expects: graphs 1, breaks 0, results other
Run: --backend inductor
"""

import numpy as np


def kmeans(points, means):
    return np.argmin(np.linalg.norm(points - means[:, None], axis=2), axis=0)


generator = np.random.default_rng(0)
points = np.repeat([[5.0, 5.0], [10.0, 10.0]], [20000, 20000], axis=0) + generator.normal(size=(40000, 2))
model, inputs = kmeans, (points, np.array([[4.0, 5.0], [9.0, 11.0]]))

# Cured
inputs = tuple(each.astype(np.float32) for each in inputs)
